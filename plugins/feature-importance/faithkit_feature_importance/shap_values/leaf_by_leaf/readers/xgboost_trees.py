"""Read trees of XGBoost, which compares in float32, from its JSON format."""

import json
from functools import partial
from typing import Any

import numpy as np

from faithkit_feature_importance.shap_values.errors import UnreadableError
from faithkit_feature_importance.shap_values.leaf_by_leaf.ensembles import (
    Ensemble,
    Integers,
    Tree,
    output_numbers,
)
from faithkit_feature_importance.shap_values.leaf_by_leaf.readers.common import mark_missing, to_numbers

# Objectives of regressors whose predictions are not sums. Others are detected by comparing scores.
FUNCTIONS_OF_SUMS = {
    "count:poisson", "reg:gamma", "reg:tweedie", "reg:logistic", "survival:cox", "survival:aft",
}  # fmt: skip


def read_xgboost(model: Any) -> Ensemble:
    """Read an XGBClassifier or XGBRegressor: the rounds used for prediction, with the weight of each tree."""
    learner = json.loads(model.get_booster().save_raw("json"))["learner"]
    booster = learner["gradient_booster"]
    if booster["name"] == "gblinear":
        raise UnreadableError(f"{type(model).__name__} with booster=gblinear has no trees")
    n_targets = learner["learner_model_param"]["num_target"]
    outputs = output_numbers(model, int(n_targets))
    tree_model = booster.get("gbtree", booster)["model"]  # DART nests it
    used_trees = tree_model["trees"][: _count_used_trees(model, tree_model)]
    if any(tree["tree_param"]["size_leaf_vector"] not in ("0", "1") for tree in used_trees):
        raise UnreadableError(
            f"{type(model).__name__} with multi_strategy=multi_output_tree has vectors at its leaves"
        )
    if not {0, *tree_model["tree_info"]} <= set(outputs) or (hasattr(model, "classes_") and n_targets != "1"):
        raise UnreadableError(f"{type(model).__name__} has other scores than one for each class or target")
    weights = booster.get("weight_drop", np.ones(len(used_trees)))
    trees = [
        _build_tree(*tree_args)
        for tree_args in zip(used_trees, tree_model["tree_info"], weights, strict=False)
    ]
    to_values = partial(
        _to_values, categories=_read_categories(tree_model), missing=np.float32(model.missing)
    )
    objective = learner["objective"]["name"]
    return Ensemble(
        trees,
        len(outputs),
        1.0,
        to_values,
        np.arange(model.n_features_in_),
        absent_value=np.nan,
        link=f"objective={objective}" if objective in FUNCTIONS_OF_SUMS else None,
    )


def _count_used_trees(model: Any, tree_model: Any) -> int:
    best_round = getattr(model, "best_iteration", None)  # set by early stopping
    return int(tree_model["iteration_indptr"][-1 if best_round is None else best_round + 1])


def _build_tree(tree: Any, output: int, weight: float) -> Tree:
    """Build a tree. Splits by category are swapped: XGBoost sends the set of categories to the right."""
    left, right = np.array(tree["left_children"]), np.array(tree["right_children"])
    conditions = np.array(tree["split_conditions"], dtype=np.float32)
    by_category = np.array(tree["split_type"], dtype=bool) & (left >= 0)
    return Tree(
        np.where(by_category, right, left),
        np.where(left < 0, -1, np.where(by_category, left, right)),
        np.array(tree["split_indices"], dtype=np.int64),
        # x < c is the same as x ≤ the float before c
        np.nextafter(conditions, np.float32(-np.inf)).astype(np.float64),
        np.array(tree["default_left"], dtype=bool) ^ by_category,
        conditions.astype(np.float64)[:, None] * weight,
        (output,),
        _left_categories(tree),
    )


def _left_categories(tree: Any) -> dict[int, frozenset[float]]:
    ends: Integers = np.add(tree["categories_segments"], tree["categories_sizes"])
    return {
        node: frozenset(map(float, tree["categories"][start:end]))
        for node, start, end in zip(tree["categories_nodes"], tree["categories_segments"], ends, strict=True)
    }


def _read_categories(tree_model: Any) -> dict[int, list[Any]]:
    """Return the categories of each column in the order of their codes; XGBoost stores them since 3.1."""
    encodings = tree_model.get("cats", {}).get("enc", [])
    return {
        j: categories for j, encoding in enumerate(encodings) if (categories := _decode_categories(encoding))
    }


def _decode_categories(encoding: Any) -> list[Any] | None:
    if "offsets" not in encoding:
        return list(encoding["values"])
    text = bytes(byte % 256 for byte in encoding["values"])
    if not text.isascii():  # XGBoost splits such texts wrongly, so only the codes can be used
        return None
    ends = zip(encoding["offsets"], encoding["offsets"][1:], strict=False)
    return [text[start:end].decode() for start, end in ends]


def _to_values(table: Any, categories: dict[int, list[Any]], missing: np.float32) -> Any:
    to_values = to_numbers(table, np.float32, categories)
    return mark_missing(to_values, lambda numbers, _: numbers == missing)
