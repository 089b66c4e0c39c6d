"""Trees of CatBoost, which compares in float32, out of the JSON that it writes models as."""

import json
from functools import partial
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import numpy as np

from faithkit_feature_importance.shap_values.leaf_by_leaf.ensembles import (
    Ensemble,
    Floats,
    Integers,
    Tree,
    UnreadableError,
    outputs_of,
)
from faithkit_feature_importance.shap_values.leaf_by_leaf.readers.nested import unfolded
from faithkit_feature_importance.shap_values.leaf_by_leaf.readers.numeric import as_numbers


def read_catboost(model: Any) -> Ensemble:
    """Read a CatBoostClassifier or CatBoostRegressor whose trees compare numbers."""
    found = _written(model)
    scale, bias = found["scale_and_bias"]
    outputs = outputs_of(model, len(bias))
    if len(bias) != len(outputs):
        raise UnreadableError(f"{type(model).__name__} has other scores than one for each class")
    features = found["features_info"].get("float_features", [])
    missing_left = np.array([one["nan_value_treatment"] != "AsTrue" for one in features], dtype=bool)
    places = np.array([one["flat_feature_index"] for one in features], dtype=np.int64)
    trees = [_symmetric(told, outputs, scale, missing_left) for told in found.get("oblivious_trees", [])]
    trees += [_other(told, outputs, scale, missing_left) for told in found.get("trees", [])]
    return Ensemble(trees, len(outputs), 1.0, partial(_cells, places=places), places)


def _written(model: Any) -> Any:
    with TemporaryDirectory() as folder:
        path = Path(folder) / "model.json"
        model.save_model(str(path), format="json")
        return json.loads(path.read_text(encoding="utf-8"))


def _symmetric(told: Any, outputs: tuple[int, ...], scale: float, missing_left: Any) -> Tree:
    """Read a tree that asks all rows the same: bit i of a leaf's number is the answer at split i."""
    splits = told["splits"] or []
    inner = 2 ** len(splits) - 1
    asked = [splits[-level] for level in range(1, len(splits) + 1) for _ in range(2 ** (level - 1))]
    nodes = np.arange(2 * inner + 1)
    leaves = np.reshape(told["leaf_values"], (inner + 1, len(outputs))) * scale
    return _tree(
        np.where(nodes < inner, 2 * nodes + 1, -1),
        np.where(nodes < inner, 2 * nodes + 2, -1),
        [*asked, *[None] * (inner + 1)],
        np.concatenate([np.zeros((inner, len(outputs))), leaves]),
        outputs,
        missing_left,
    )


def _other(told: Any, outputs: tuple[int, ...], scale: float, missing_left: Any) -> Tree:
    nodes, left, right = unfolded(told, "left", "right")
    nothing = [0.0] * len(outputs)
    values = np.array([np.atleast_1d(node.get("value", nothing)) for node in nodes]) * scale
    return _tree(left, right, [node.get("split") for node in nodes], values, outputs, missing_left)


def _tree(
    left: Integers, right: Integers, splits: list[Any], values: Floats, outputs: Any, missing_left: Any
) -> Tree:
    for kind in {split["split_type"] for split in splits if split is not None} - {"FloatFeature"}:
        raise UnreadableError(f"CatBoost splits by more than numbers ({kind})")
    columns = np.array([0 if split is None else split["float_feature_index"] for split in splits])
    borders = np.array([0.0 if split is None else split["border"] for split in splits], dtype=np.float32)
    goes_left = missing_left[columns] if len(missing_left) else np.zeros(len(columns), dtype=bool)
    return Tree(left, right, columns, borders.astype(np.float64), goes_left, values, outputs)


def _cells(table: Any, places: Integers) -> Any:
    if hasattr(table, "iloc"):
        return as_numbers(table.iloc[:, places], np.float32)
    chosen = table.tocsc() if hasattr(table, "toarray") else np.asarray(table)
    return as_numbers(chosen[:, places], np.float32)
