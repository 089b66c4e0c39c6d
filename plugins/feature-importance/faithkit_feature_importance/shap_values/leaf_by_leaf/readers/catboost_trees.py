"""Read trees of CatBoost, which compares in float32, from its JSON format."""

import json
from functools import partial
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import numpy as np

from faithkit_feature_importance.shap_values.errors import UnreadableError
from faithkit_feature_importance.shap_values.leaf_by_leaf.ensembles import (
    Ensemble,
    Floats,
    Integers,
    Tree,
    output_numbers,
)
from faithkit_feature_importance.shap_values.leaf_by_leaf.readers.common import flatten_tree, to_numbers


def read_catboost(model: Any) -> Ensemble:
    """Read a CatBoostClassifier or CatBoostRegressor whose trees compare numbers."""
    document = _model_as_json(model)
    scale, bias = document["scale_and_bias"]
    outputs = output_numbers(model, len(bias))
    if len(bias) != len(outputs):
        raise UnreadableError(f"{type(model).__name__} has other scores than one for each class")
    features = document["features_info"].get("float_features", [])
    missing_left = np.array([feature["nan_value_treatment"] != "AsTrue" for feature in features], dtype=bool)
    positions = np.array([feature["flat_feature_index"] for feature in features], dtype=np.int64)
    trees = [
        _read_symmetric_tree(tree, outputs, scale, missing_left)
        for tree in document.get("oblivious_trees", [])
    ]
    trees += [_read_nested_tree(tree, outputs, scale, missing_left) for tree in document.get("trees", [])]
    return Ensemble(trees, len(outputs), 1.0, partial(_to_values, positions=positions), positions)


def _model_as_json(model: Any) -> Any:
    with TemporaryDirectory() as folder:
        path = Path(folder) / "model.json"
        model.save_model(str(path), format="json")
        return json.loads(path.read_text(encoding="utf-8"))


def _read_symmetric_tree(tree: Any, outputs: tuple[int, ...], scale: float, missing_left: Any) -> Tree:
    """Read a tree with the same split at all nodes of a level: bit i of a leaf's number answers split i."""
    splits = tree["splits"] or []
    n_inner = 2 ** len(splits) - 1
    node_splits = [splits[-level] for level in range(1, len(splits) + 1) for _ in range(2 ** (level - 1))]
    nodes = np.arange(2 * n_inner + 1)
    leaves = np.reshape(tree["leaf_values"], (n_inner + 1, len(outputs))) * scale
    return _build_tree(
        np.where(nodes < n_inner, 2 * nodes + 1, -1),
        np.where(nodes < n_inner, 2 * nodes + 2, -1),
        [*node_splits, *[None] * (n_inner + 1)],
        np.concatenate([np.zeros((n_inner, len(outputs))), leaves]),
        outputs,
        missing_left,
    )


def _read_nested_tree(tree: Any, outputs: tuple[int, ...], scale: float, missing_left: Any) -> Tree:
    nodes, left, right = flatten_tree(tree, "left", "right")
    zeros = [0.0] * len(outputs)
    values = np.array([np.atleast_1d(node.get("value", zeros)) for node in nodes]) * scale
    return _build_tree(left, right, [node.get("split") for node in nodes], values, outputs, missing_left)


def _build_tree(
    left: Integers, right: Integers, splits: list[Any], values: Floats, outputs: Any, missing_left: Any
) -> Tree:
    for kind in {split["split_type"] for split in splits if split is not None} - {"FloatFeature"}:
        raise UnreadableError(f"CatBoost splits by more than numbers ({kind})")
    columns = np.array([0 if split is None else split["float_feature_index"] for split in splits])
    borders = np.array([0.0 if split is None else split["border"] for split in splits], dtype=np.float32)
    missing_goes_left = missing_left[columns] if len(missing_left) else np.zeros(len(columns), dtype=bool)
    return Tree(left, right, columns, borders.astype(np.float64), missing_goes_left, values, outputs)


def _to_values(table: Any, positions: Integers) -> Any:
    if hasattr(table, "iloc"):
        return to_numbers(table.iloc[:, positions], np.float32)
    matrix = table.tocsc() if hasattr(table, "toarray") else np.asarray(table)
    return to_numbers(matrix[:, positions], np.float32)
