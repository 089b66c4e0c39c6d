"""Read trees of LightGBM, which compares in float64, from its dumped model."""

from functools import partial
from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from faithkit_feature_importance.shap_values.errors import UnreadableError
from faithkit_feature_importance.shap_values.leaf_by_leaf.ensembles import (
    Ensemble,
    Tree,
    output_numbers,
)
from faithkit_feature_importance.shap_values.leaf_by_leaf.readers.common import (
    flatten_tree,
    mark_missing,
    to_numbers,
)

FUNCTIONS_OF_SUMS = {"poisson", "gamma", "tweedie", "cross_entropy", "cross_entropy_lambda"}
ZERO = float(np.float32(1e-35))  # LightGBM treats numbers up to this as 0


def read_lightgbm(model: Any) -> Ensemble:
    """Read an LGBMClassifier or LGBMRegressor: the rounds used for prediction."""
    dump, name = model.booster_.dump_model(), type(model).__name__
    outputs, dumped_trees = output_numbers(model), dump["tree_info"]
    if dump["num_tree_per_iteration"] != len(outputs):
        raise UnreadableError(f"{name} has other scores than one for each class")
    flat_trees = [flatten_tree(tree["tree_structure"], "left_child", "right_child") for tree in dumped_trees]
    if any("leaf_coeff" in node for nodes_of_tree, _, _ in flat_trees for node in nodes_of_tree):
        raise UnreadableError(f"{name} with linear_tree has linear models at its leaves")
    trees = [_build_tree(*flat_tree, (i % len(outputs),)) for i, flat_tree in enumerate(flat_trees)]
    zero_is_missing = _columns_with_missing_zeros(
        [node for nodes_of_tree, _, _ in flat_trees for node in nodes_of_tree], model.n_features_in_
    )
    to_values = partial(
        _to_values, categories=dump["pandas_categorical"] or [], zero_is_missing=zero_is_missing
    )
    # raw scores of a forest are sums; they are averaged only for probabilities
    rounds = len(dumped_trees) // len(outputs) if dump["average_output"] else 1
    objective = dump.get("objective", "")
    log_odds_factor = _sigmoid_factor(objective) / max(1, rounds)
    absent = np.where(zero_is_missing, np.nan, 0.0)
    positions = np.arange(model.n_features_in_)
    return Ensemble(
        trees, len(outputs), log_odds_factor, to_values, positions, absent, _describe_link(objective, rounds)
    )


def _describe_link(objective: str, rounds: int) -> str | None:
    """Return the function of the sums that a regressor predicts; None if it predicts the sums.

    >>> [_describe_link(objective, 1) for objective in ("poisson", "regression sqrt", "regression")]
    ['objective=poisson', 'objective=regression sqrt', None]
    >>> _describe_link("regression", 9)
    'their mean'
    """
    is_function = not FUNCTIONS_OF_SUMS.isdisjoint(objective.split()) or "sqrt" in objective.split()
    return f"objective={objective}" if is_function else "their mean" if rounds > 1 else None


def _build_tree(nodes: list[Any], left: Any, right: Any, outputs: tuple[int, ...]) -> Tree:
    return Tree(
        left,
        right,
        np.array([node.get("split_feature", 0) for node in nodes]),
        np.array([0.0 if _splits_by_category(node) else node.get("threshold", 0.0) for node in nodes]),
        np.array([_missing_left(node) for node in nodes]),
        np.array([[node.get("leaf_value", 0.0)] for node in nodes]),
        outputs,
        {
            i: frozenset(map(float, node["threshold"].split("||")))
            for i, node in enumerate(nodes)
            if _splits_by_category(node)
        },
    )


def _sigmoid_factor(objective: str) -> float:
    """Return the factor of raw scores within the sigmoid function.

    >>> _sigmoid_factor("binary sigmoid:0.5"), _sigmoid_factor("cross_entropy")
    (0.5, 1.0)
    """
    return float(dict(part.split(":") for part in objective.split() if ":" in part).get("sigmoid", 1.0))


def _splits_by_category(node: Any) -> bool:
    return bool(node.get("decision_type") == "==")


def _missing_left(node: Any) -> bool:
    """Return whether NaN goes to the left: never for categories; like 0 if no missing values are expected."""
    if "threshold" not in node or _splits_by_category(node):
        return False
    return bool(node["threshold"] >= 0 if node["missing_type"] == "None" else node["default_left"])


def _columns_with_missing_zeros(nodes: list[Any], n_columns: int) -> NDArray[np.bool_]:
    """Return for each column whether LightGBM treats 0 as missing."""
    missing_types: list[set[str]] = [set() for _ in range(n_columns)]
    for node in nodes:
        if "threshold" in node and not _splits_by_category(node):
            missing_types[node["split_feature"]].add(node["missing_type"])
    if any("Zero" in types and len(types) > 1 for types in missing_types):
        raise UnreadableError("LightGBM treats zeros as missing in some of its trees only")
    return np.array(["Zero" in types for types in missing_types], dtype=bool)


def _to_values(table: Any, categories: list[Any], zero_is_missing: NDArray[np.bool_]) -> Any:
    dtypes = getattr(table, "dtypes", [])
    categorical = [j for j, dtype in enumerate(dtypes) if isinstance(dtype, pd.CategoricalDtype)]
    to_values = to_numbers(table, np.float64, dict(zip(categorical, categories, strict=True)))
    return mark_missing(
        to_values, lambda numbers, columns: zero_is_missing[columns] & (np.abs(numbers) <= ZERO)
    )
