"""From a table to the values that the trees of a model compare, with the raw column of each."""

from collections.abc import Sequence
from typing import Any

import attrs
import numpy as np
from numpy.typing import NDArray

from faithkit_feature_importance.shap_values.leaf_by_leaf.column_origins import (
    input_columns,
    split_pipeline,
    trace_columns,
)
from faithkit_feature_importance.shap_values.leaf_by_leaf.ensembles import Ensemble
from faithkit_feature_importance.shap_values.leaf_by_leaf.readers import read_ensemble


@attrs.frozen(eq=False)
class TreeInputs:
    """The inputs of an ensemble of trees, each computed from one column of the table.

    Parameters
    ----------
    steps : list of fitted transformers
        The preprocessing of the table.
    model : fitted model
        The model after the preprocessing.
    ensemble : Ensemble
        The trees of the model.
    used_columns : (values,)
        The preprocessed columns that occur in the trees.
    raw_columns : (values,)
        The column of the table from which each of them is computed.

    Examples
    --------
    >>> from sklearn.pipeline import make_pipeline
    >>> from sklearn.preprocessing import OrdinalEncoder
    >>> from sklearn.tree import DecisionTreeClassifier
    >>> X = np.array([["a", "x"], ["b", "x"]])
    >>> model = make_pipeline(OrdinalEncoder(), DecisionTreeClassifier()).fit(X, [0, 1])
    >>> inputs = TreeInputs.read(model, names=["job", "colour"])
    >>> inputs.raw_columns, inputs.to_values(inputs.preprocess(X))
    (array([0]), array([[0., 1.]], dtype=float32))
    """

    steps: list[Any]
    model: Any
    ensemble: Ensemble
    used_columns: NDArray[np.int64]
    raw_columns: NDArray[np.int64]

    @classmethod
    def read(cls, model: Any, names: Sequence[str]) -> "TreeInputs":
        """Read a model of tables with these columns."""
        steps, estimator = split_pipeline(model)
        ensemble = read_ensemble(estimator)
        first_columns = input_columns([*steps, estimator][0], names)
        origins = np.array(trace_columns(steps, first_columns, getattr(estimator, "n_features_in_", None)))
        split_columns = [tree.column[tree.left >= 0] for tree in ensemble.trees]
        used_columns = (
            np.unique(np.concatenate(split_columns)) if split_columns else np.zeros(0, dtype=np.int64)
        )
        return cls(steps, estimator, ensemble, used_columns, origins[ensemble.positions[used_columns]])

    def preprocess(self, table: Any) -> Any:
        """Apply the transformers and return the table that the model receives."""
        for step in self.steps:
            table = step.transform(table)
        return table

    def to_values(self, preprocessed: Any) -> NDArray[Any]:
        """Return the values that trees compare, (used columns, rows)."""
        values = self.ensemble.to_values(preprocessed)[:, self.used_columns]
        if hasattr(values, "toarray"):
            absent = np.broadcast_to(self.ensemble.absent_value, len(self.ensemble.positions))
            values = _to_dense(values, absent[self.used_columns])
        return np.ascontiguousarray(values.T)


def _to_dense(sparse: Any, absent: NDArray[np.float64]) -> NDArray[Any]:
    """Return a sparse matrix as an array; values that it does not store get the value `absent`."""
    stored = sparse.tocoo()
    dense = np.tile(absent.astype(stored.dtype), (stored.shape[0], 1))
    dense[stored.row, stored.col] = stored.data
    return dense
