"""From a table to what the trees behind a model compare, and from there back to the table's columns."""

from collections.abc import Sequence
from typing import Any

import attrs
import numpy as np
from numpy.typing import NDArray

from faithkit_feature_importance.shap_values.leaf_by_leaf.ensembles import Ensemble
from faithkit_feature_importance.shap_values.leaf_by_leaf.owners import columns_seen, follow, split
from faithkit_feature_importance.shap_values.leaf_by_leaf.readers import read_ensemble


@attrs.frozen(eq=False)
class Cells:
    """The cells that an ensemble of trees compares, each made from one column of the table.

    Parameters
    ----------
    steps : list of fitted transformers
        What prepares the table.
    model : fitted model
        What sees it prepared.
    ensemble : Ensemble
        Its trees.
    used : (cells,)
        The columns that occur in the trees; the others need not be looked at.
    owners : (cells,)
        The column of the table that each of them is made from.

    Examples
    --------
    >>> from sklearn.pipeline import make_pipeline
    >>> from sklearn.preprocessing import OrdinalEncoder
    >>> from sklearn.tree import DecisionTreeClassifier
    >>> X = np.array([["a", "x"], ["b", "x"]])
    >>> model = make_pipeline(OrdinalEncoder(), DecisionTreeClassifier()).fit(X, [0, 1])
    >>> cells = Cells.of(model, names=["job", "colour"])
    >>> cells.owners, cells.compared(cells.prepared(X))
    (array([0]), array([[0., 1.]], dtype=float32))
    """

    steps: list[Any]
    model: Any
    ensemble: Ensemble
    used: NDArray[np.int64]
    owners: NDArray[np.int64]

    @classmethod
    def of(cls, model: Any, names: Sequence[str]) -> "Cells":
        """Read a model that is given tables with these columns."""
        steps, last = split(model)
        ensemble = read_ensemble(last)
        seen = columns_seen([*steps, last][0], names)
        owners = np.array(follow(steps, seen, getattr(last, "n_features_in_", None)))
        asked = [tree.column[tree.left >= 0] for tree in ensemble.trees]
        used = np.unique(np.concatenate(asked)) if asked else np.zeros(0, dtype=np.int64)
        return cls(steps, last, ensemble, used, owners[ensemble.places[used]])

    def prepared(self, table: Any) -> Any:
        """Return the table as the model behind the transformers is given it."""
        for step in self.steps:
            table = step.transform(table)
        return table

    def compared(self, prepared: Any) -> NDArray[Any]:
        """Return what the trees compare, a row for each column that occurs in them."""
        found = self.ensemble.cells(prepared)[:, self.used]
        if hasattr(found, "toarray"):
            absent = np.broadcast_to(self.ensemble.absent, len(self.ensemble.places))
            found = _dense(found, absent[self.used])
        return np.ascontiguousarray(found.T)


def _dense(cells: Any, absent: NDArray[np.float64]) -> NDArray[Any]:
    """Return a sparse matrix as an array, with what cells that it does not store stand for."""
    stored = cells.tocoo()
    found = np.tile(absent.astype(stored.dtype), (stored.shape[0], 1))
    found[stored.row, stored.col] = stored.data
    return found
