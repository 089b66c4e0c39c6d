"""Trees of scikit-learn, which compares in float32, and in histogram boosting in float64."""

from collections.abc import Iterator
from functools import partial
from typing import Any

import numpy as np

from faithkit_feature_importance.shap_values.leaf_by_leaf.ensembles import (
    Ensemble,
    Floats,
    Tree,
    UnreadableError,
    outputs_of,
)
from faithkit_feature_importance.shap_values.leaf_by_leaf.readers.numeric import as_numbers

IN_FLOAT32 = partial(as_numbers, dtype=np.float32)


def read_decision_tree(model: Any) -> Ensemble:
    """Read a DecisionTreeClassifier or DecisionTreeRegressor."""
    return _averaged(model, [model])


def read_forest(model: Any) -> Ensemble:
    """Read a random forest or extra trees, of classes or numbers."""
    return _averaged(model, model.estimators_)


def _averaged(model: Any, members: list[Any]) -> Ensemble:
    shares = _shares if hasattr(model, "classes_") else _numbers
    trees, outputs = shares(model, members)
    return Ensemble(trees, len(outputs), 0.0, IN_FLOAT32, np.arange(model.n_features_in_))


def _numbers(model: Any, members: list[Any]) -> tuple[list[Tree], tuple[int, ...]]:
    """Read the leaves' numbers, less what is the same in all: far from 0 the sums would lose digits."""
    outputs = tuple(range(model.n_outputs_))
    told = [(member.tree_, member.tree_.value[:, :, 0]) for member in members]
    return [_sklearn_tree(tree, (at - at[0]) / len(members), outputs) for tree, at in told], outputs


def _shares(model: Any, members: list[Any]) -> tuple[list[Tree], tuple[int, ...]]:
    if getattr(model, "n_outputs_", 1) != 1:
        raise UnreadableError(f"{type(model).__name__} predicts several targets")
    outputs = outputs_of(model)
    chosen = [1] if len(model.classes_) == 2 else list(outputs)
    trees = []
    for member in members:
        counts = member.tree_.value[:, 0, :]
        shares = counts / counts.sum(axis=1, keepdims=True) / len(members)
        trees.append(_sklearn_tree(member.tree_, shares[:, chosen], outputs))
    return trees, outputs


def read_gradient_boosting(model: Any) -> Ensemble:
    """Read a GradientBoostingClassifier or GradientBoostingRegressor."""
    if type(model.init_).__name__ not in ("DummyClassifier", "DummyRegressor") and model.init_ != "zero":
        raise UnreadableError(f"{type(model).__name__} starts from {type(model.init_).__name__}")
    outputs = outputs_of(model)
    trees = [
        _sklearn_tree(member.tree_, member.tree_.value[:, 0, :] * model.learning_rate, (output,))
        for stage in model.estimators_
        for output, member in zip(outputs, stage, strict=True)
    ]
    log_odds = 2.0 if model.loss == "exponential" else 1.0  # a regressor has no such loss, nor needs any
    return Ensemble(trees, len(outputs), log_odds, IN_FLOAT32, np.arange(model.n_features_in_))


def _sklearn_tree(tree: Any, values: Floats, outputs: tuple[int, ...]) -> Tree:
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
    outputs = outputs_of(model)
    trees = [
        _histogram_tree(member, output)
        for stage in model._predictors
        for output, member in zip(outputs, stage, strict=True)
    ]
    places = np.arange(model.n_features_in_)
    if model._preprocessor is not None:  # which puts the columns of categories first
        places = np.concatenate([places[model.is_categorical_], places[~model.is_categorical_]])

    def cells(table: Any) -> Any:
        return np.asarray(model._preprocess_X(table, reset=False), dtype=np.float64)

    link = f"loss={model.loss}" if model.loss in ("gamma", "poisson") else None
    return Ensemble(trees, len(outputs), 1.0, cells, places, link=link)


def _histogram_tree(predictor: Any, output: int) -> Tree:
    nodes = predictor.nodes
    leaf = nodes["is_leaf"].astype(bool)
    asked = np.flatnonzero(nodes["is_categorical"].astype(bool) & ~leaf)
    sets = predictor.raw_left_cat_bitsets
    return Tree(
        np.where(leaf, -1, nodes["left"].astype(np.int64)),
        np.where(leaf, -1, nodes["right"].astype(np.int64)),
        nodes["feature_idx"].astype(np.int64),
        nodes["num_threshold"].astype(np.float64),
        nodes["missing_go_to_left"].astype(bool),
        nodes["value"].astype(np.float64)[:, None],
        (output,),
        {int(i): frozenset(_members(sets[nodes["bitset_idx"][i]])) for i in asked},
    )


def _members(bitset: Any) -> Iterator[float]:
    """Return the numbers in a set of bits, 32 of them in each word."""
    for word, bits in enumerate(np.asarray(bitset).tolist()):
        yield from (float(32 * word + bit) for bit in range(32) if bits >> bit & 1)
