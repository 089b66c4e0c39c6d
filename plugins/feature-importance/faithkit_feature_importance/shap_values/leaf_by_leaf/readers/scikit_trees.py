"""Read trees of scikit-learn, which compares in float32, and in float64 for histogram boosting."""

from collections.abc import Iterator
from functools import partial
from typing import Any

import numpy as np

from faithkit_feature_importance.shap_values.errors import UnreadableError
from faithkit_feature_importance.shap_values.leaf_by_leaf.ensembles import (
    Ensemble,
    Floats,
    Tree,
    output_numbers,
)
from faithkit_feature_importance.shap_values.leaf_by_leaf.readers.common import to_numbers

TO_FLOAT32 = partial(to_numbers, dtype=np.float32)


def read_forest(model: Any) -> Ensemble:
    """Read a decision tree, a random forest or extra trees, of classes or numbers."""
    members = getattr(model, "estimators_", [model])
    read_members = _classification_trees if hasattr(model, "classes_") else _regression_trees
    trees, outputs = read_members(model, members)
    return Ensemble(trees, len(outputs), 0.0, TO_FLOAT32, np.arange(model.n_features_in_))


def _regression_trees(model: Any, members: list[Any]) -> tuple[list[Tree], tuple[int, ...]]:
    """Read the values of leaves relative to the root: sums of values far from 0 would lose digits."""
    outputs = tuple(range(model.n_outputs_))
    trees_with_values = [(member.tree_, member.tree_.value[:, :, 0]) for member in members]
    return [
        _build_tree(tree, (values - values[0]) / len(members), outputs) for tree, values in trees_with_values
    ], outputs


def _classification_trees(model: Any, members: list[Any]) -> tuple[list[Tree], tuple[int, ...]]:
    if getattr(model, "n_outputs_", 1) != 1:
        raise UnreadableError(f"{type(model).__name__} predicts several targets")
    outputs = output_numbers(model)
    columns = [1] if len(model.classes_) == 2 else list(outputs)
    trees = []
    for member in members:
        counts = member.tree_.value[:, 0, :]
        shares = counts / counts.sum(axis=1, keepdims=True) / len(members)
        trees.append(_build_tree(member.tree_, shares[:, columns], outputs))
    return trees, outputs


def read_gradient_boosting(model: Any) -> Ensemble:
    """Read a GradientBoostingClassifier or GradientBoostingRegressor."""
    if type(model.init_).__name__ not in ("DummyClassifier", "DummyRegressor") and model.init_ != "zero":
        raise UnreadableError(f"{type(model).__name__} starts from {type(model.init_).__name__}")
    outputs = output_numbers(model)
    trees = [
        _build_tree(member.tree_, member.tree_.value[:, 0, :] * model.learning_rate, (output,))
        for stage in model.estimators_
        for output, member in zip(outputs, stage, strict=True)
    ]
    log_odds_factor = 2.0 if model.loss == "exponential" else 1.0  # regressors ignore this factor
    return Ensemble(trees, len(outputs), log_odds_factor, TO_FLOAT32, np.arange(model.n_features_in_))


def _build_tree(tree: Any, values: Floats, outputs: tuple[int, ...]) -> Tree:
    return Tree(
        tree.children_left.astype(np.int64),
        tree.children_right.astype(np.int64),
        tree.feature.astype(np.int64),
        tree.threshold,
        tree.missing_go_to_left.astype(bool),
        values,
        outputs,
    )


def read_histogram_boosting(model: Any) -> Ensemble:
    """Read a HistGradientBoostingClassifier or HistGradientBoostingRegressor."""
    outputs = output_numbers(model)
    trees = [
        _build_histogram_tree(member, output)
        for stage in model._predictors
        for output, member in zip(outputs, stage, strict=True)
    ]
    positions = np.arange(model.n_features_in_)
    if model._preprocessor is not None:  # it moves categorical columns to the front
        positions = np.concatenate([positions[model.is_categorical_], positions[~model.is_categorical_]])

    def to_values(table: Any) -> Any:
        return np.asarray(model._preprocess_X(table, reset=False), dtype=np.float64)

    link = f"loss={model.loss}" if model.loss in ("gamma", "poisson") else None
    return Ensemble(trees, len(outputs), 1.0, to_values, positions, link=link)


def _build_histogram_tree(predictor: Any, output: int) -> Tree:
    nodes = predictor.nodes
    is_leaf = nodes["is_leaf"].astype(bool)
    categorical_nodes = np.flatnonzero(nodes["is_categorical"].astype(bool) & ~is_leaf)
    bitsets = predictor.raw_left_cat_bitsets
    return Tree(
        np.where(is_leaf, -1, nodes["left"].astype(np.int64)),
        np.where(is_leaf, -1, nodes["right"].astype(np.int64)),
        nodes["feature_idx"].astype(np.int64),
        nodes["num_threshold"].astype(np.float64),
        nodes["missing_go_to_left"].astype(bool),
        nodes["value"].astype(np.float64)[:, None],
        (output,),
        {int(i): frozenset(_bit_numbers(bitsets[nodes["bitset_idx"][i]])) for i in categorical_nodes},
    )


def _bit_numbers(bitset: Any) -> Iterator[float]:
    """Yield the numbers in a bitset of 32-bit words."""
    for word, bits in enumerate(np.asarray(bitset).tolist()):
        yield from (float(32 * word + bit) for bit in range(32) if bits >> bit & 1)
