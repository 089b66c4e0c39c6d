"""Trees of LightGBM, which compares in float64, out of what it dumps."""

from functools import partial
from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from faithkit_feature_importance.shap_values.leaf_by_leaf.ensembles import (
    Ensemble,
    Tree,
    UnreadableError,
    outputs_of,
)
from faithkit_feature_importance.shap_values.leaf_by_leaf.readers.nested import unfolded
from faithkit_feature_importance.shap_values.leaf_by_leaf.readers.numeric import as_numbers, with_missing

FUNCTIONS_OF_SUMS = {"poisson", "gamma", "tweedie", "cross_entropy", "cross_entropy_lambda"}
ZERO = float(np.float32(1e-35))  # up to where it takes a number for 0


def read_lightgbm(model: Any) -> Ensemble:
    """Read an LGBMClassifier or LGBMRegressor: the rounds that it predicts with."""
    found, who = model.booster_.dump_model(), type(model).__name__
    outputs, told = outputs_of(model), found["tree_info"]
    if found["num_tree_per_iteration"] != len(outputs):
        raise UnreadableError(f"{who} has other scores than one for each class")
    nodes = [unfolded(one["tree_structure"], "left_child", "right_child") for one in told]
    if any("leaf_coeff" in node for each, _, _ in nodes for node in each):
        raise UnreadableError(f"{who} with linear_tree has linear models at its leaves")
    trees = [_tree(*each, (i % len(outputs),)) for i, each in enumerate(nodes)]
    zeros = _zeros([node for each, _, _ in nodes for node in each], model.n_features_in_)
    cells = partial(_cells, categories=found["pandas_categorical"] or [], zeros=zeros)
    # raw scores of a forest are sums, and averaged for probabilities only
    rounds = len(told) // len(outputs) if found["average_output"] else 1
    objective = found.get("objective", "")
    log_odds = _steepness(objective) / max(1, rounds)
    absent = np.where(zeros, np.nan, 0.0)
    places = np.arange(model.n_features_in_)
    return Ensemble(trees, len(outputs), log_odds, cells, places, absent, _link(objective, rounds))


def _link(objective: str, rounds: int) -> str | None:
    """Return what a regressor predicts of its sums, where it is not the sums.

    >>> _link("poisson", 1), _link("regression sqrt", 1), _link("regression", 1), _link("regression", 9)
    ('objective=poisson', 'objective=regression sqrt', None, 'their mean')
    """
    is_function = not FUNCTIONS_OF_SUMS.isdisjoint(objective.split()) or "sqrt" in objective.split()
    return f"objective={objective}" if is_function else "their mean" if rounds > 1 else None


def _tree(nodes: list[Any], left: Any, right: Any, outputs: tuple[int, ...]) -> Tree:
    return Tree(
        left,
        right,
        np.array([node.get("split_feature", 0) for node in nodes]),
        np.array([0.0 if _is_set(node) else node.get("threshold", 0.0) for node in nodes]),
        np.array([_missing_left(node) for node in nodes]),
        np.array([[node.get("leaf_value", 0.0)] for node in nodes]),
        outputs,
        {
            i: frozenset(map(float, node["threshold"].split("||")))
            for i, node in enumerate(nodes)
            if _is_set(node)
        },
    )


def _steepness(objective: str) -> float:
    """Return the factor of scores within the sigmoid function.

    >>> _steepness("binary sigmoid:0.5"), _steepness("cross_entropy")
    (0.5, 1.0)
    """
    return float(dict(part.split(":") for part in objective.split() if ":" in part).get("sigmoid", 1.0))


def _is_set(node: Any) -> bool:
    return bool(node.get("decision_type") == "==")


def _missing_left(node: Any) -> bool:
    """Whether NaN goes to the left: to no set of categories; where none is expected, where 0 goes."""
    if "threshold" not in node or _is_set(node):
        return False
    return bool(node["threshold"] >= 0 if node["missing_type"] == "None" else node["default_left"])


def _zeros(nodes: list[Any], columns: int) -> NDArray[np.bool_]:
    """Return in which columns 0 is missing."""
    kinds: list[set[str]] = [set() for _ in range(columns)]
    for node in nodes:
        if "threshold" in node and not _is_set(node):
            kinds[node["split_feature"]].add(node["missing_type"])
    if any("Zero" in kind and len(kind) > 1 for kind in kinds):
        raise UnreadableError("LightGBM takes zeros for missing in some of its trees, in others not")
    return np.array(["Zero" in kind for kind in kinds], dtype=bool)


def _cells(table: Any, categories: list[Any], zeros: NDArray[np.bool_]) -> Any:
    dtypes = getattr(table, "dtypes", [])
    coded = [j for j, kind in enumerate(dtypes) if isinstance(kind, pd.CategoricalDtype)]
    cells = as_numbers(table, np.float64, dict(zip(coded, categories, strict=True)))
    return with_missing(cells, lambda numbers, columns: zeros[columns] & (np.abs(numbers) <= ZERO))
