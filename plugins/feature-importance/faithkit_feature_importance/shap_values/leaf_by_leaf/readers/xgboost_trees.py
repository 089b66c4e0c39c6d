"""Trees of XGBoost, which compares in float32, out of the JSON that it writes models as."""

import json
from functools import partial
from typing import Any

import numpy as np

from faithkit_feature_importance.shap_values.leaf_by_leaf.ensembles import (
    Ensemble,
    Integers,
    Tree,
    UnreadableError,
    outputs_of,
)
from faithkit_feature_importance.shap_values.leaf_by_leaf.readers.numeric import as_numbers, with_missing

# objectives of regressors whose predictions are no sums; what is not among them is found out by comparing
FUNCTIONS_OF_SUMS = {
    "count:poisson", "reg:gamma", "reg:tweedie", "reg:logistic", "survival:cox", "survival:aft",
}  # fmt: skip


def read_xgboost(model: Any) -> Ensemble:
    """Read an XGBClassifier or XGBRegressor: the rounds that it predicts with, each tree by its weight."""
    learner = json.loads(model.get_booster().save_raw("json"))["learner"]
    booster = learner["gradient_booster"]
    if booster["name"] == "gblinear":
        raise UnreadableError(f"{type(model).__name__} with booster=gblinear has no trees")
    targets = learner["learner_model_param"]["num_target"]
    outputs = outputs_of(model, int(targets))
    found = booster.get("gbtree", booster)["model"]  # within DART's own
    told = found["trees"][: _trees_in_use(model, found)]
    if any(tree["tree_param"]["size_leaf_vector"] not in ("0", "1") for tree in told):
        raise UnreadableError(
            f"{type(model).__name__} with multi_strategy=multi_output_tree has vectors at its leaves"
        )
    if not {0, *found["tree_info"]} <= set(outputs) or (hasattr(model, "classes_") and targets != "1"):
        raise UnreadableError(f"{type(model).__name__} has other scores than one for each class or target")
    weights = booster.get("weight_drop", np.ones(len(told)))
    trees = [_tree(*each) for each in zip(told, found["tree_info"], weights, strict=False)]
    cells = partial(_cells, categories=_categories(found), missing=np.float32(model.missing))
    objective = learner["objective"]["name"]
    return Ensemble(
        trees,
        len(outputs),
        1.0,
        cells,
        np.arange(model.n_features_in_),
        absent=np.nan,
        link=f"objective={objective}" if objective in FUNCTIONS_OF_SUMS else None,
    )


def _trees_in_use(model: Any, found: Any) -> int:
    rounds = getattr(model, "best_iteration", None)  # which it has where it was stopped early
    return int(found["iteration_indptr"][-1 if rounds is None else rounds + 1])


def _tree(told: Any, output: int, weight: float) -> Tree:
    """Read a tree, turned around where it asks for categories: XGBoost sends its set of them to the right."""
    left, right = np.array(told["left_children"]), np.array(told["right_children"])
    numbers = np.array(told["split_conditions"], dtype=np.float32)
    by_category = np.array(told["split_type"], dtype=bool) & (left >= 0)
    return Tree(
        np.where(by_category, right, left),
        np.where(left < 0, -1, np.where(by_category, left, right)),
        np.array(told["split_indices"], dtype=np.int64),
        # less than a number is at most the one before it
        np.nextafter(numbers, np.float32(-np.inf)).astype(np.float64),
        np.array(told["default_left"], dtype=bool) ^ by_category,
        numbers.astype(np.float64)[:, None] * weight,
        (output,),
        _sets(told),
    )


def _sets(told: Any) -> dict[int, frozenset[float]]:
    ends: Integers = np.add(told["categories_segments"], told["categories_sizes"])
    return {
        node: frozenset(map(float, told["categories"][start:end]))
        for node, start, end in zip(told["categories_nodes"], told["categories_segments"], ends, strict=True)
    }


def _categories(found: Any) -> dict[int, list[Any]]:
    """Return the categories behind the codes of each column, where XGBoost keeps them (since 3.1)."""
    kept = found.get("cats", {}).get("enc", [])
    return {j: told for j, one in enumerate(kept) if (told := _kept(one))}


def _kept(told: Any) -> list[Any] | None:
    if "offsets" not in told:
        return list(told["values"])
    text = bytes(byte % 256 for byte in told["values"])
    if not text.isascii():  # which it cuts in the wrong places: there are only codes to go by
        return None
    ends = zip(told["offsets"], told["offsets"][1:], strict=False)
    return [text[start:end].decode() for start, end in ends]


def _cells(table: Any, categories: dict[int, list[Any]], missing: np.float32) -> Any:
    cells = as_numbers(table, np.float32, categories)
    return with_missing(cells, lambda numbers, _: numbers == missing)
