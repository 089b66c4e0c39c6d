"""SHAP values of tree models by raw column, exact, in time that grows with rows plus reference rows."""

from typing import Any

import numpy as np
from numpy.typing import NDArray

import faithkit
from faithkit_feature_importance.shap_values.leaf_by_leaf.cells import Cells
from faithkit_feature_importance.shap_values.leaf_by_leaf.ensembles import (
    Ensemble,
    NoSumError,
)
from faithkit_feature_importance.shap_values.leaf_by_leaf.games import LeafGames, scores
from faithkit_feature_importance.shap_values.leaf_by_leaf.leaves import Leaves, check_room
from faithkit_feature_importance.shap_values.leaf_by_leaf.rescaling import Rescaling, probability
from faithkit_feature_importance.shap_values.outputs import raw_method
from faithkit_feature_importance.shap_values.refusals import refusal

Floats = NDArray[np.float64]


class LeafShap:
    """SHAP values of decision trees, forests and boosted trees, alone or behind column-wise transformers.

    Parameters
    ----------
    model : fitted model, or a Pipeline that ends in one
    output : str
        "probability", "raw" or "prediction".
    reference : array
        The codes of the rows to compare with.
    encoder : Encoder
        What the codes stand for.

    Examples
    --------
    >>> from sklearn.pipeline import make_pipeline
    >>> from sklearn.preprocessing import OneHotEncoder
    >>> from sklearn.tree import DecisionTreeClassifier
    >>> X = np.array([["a", "x"], ["b", "x"]])
    >>> model = make_pipeline(OneHotEncoder(), DecisionTreeClassifier()).fit(X, [0, 1])
    >>> encoder = faithkit.plugin.Encoder(X)
    >>> leaves = LeafShap(model, "probability", encoder.encode(X), encoder)
    >>> leaves.values(X)[:, :, 0] + 0.0
    array([[-0.5,  0. ],
           [ 0.5,  0. ]])
    >>> leaves.sums(X)[:, 0]
    array([-0.5,  0.5])
    """

    name = "leaves"
    title = "TreeSHAP"
    background = "rows"
    takes_codes = False

    def __init__(self, model: Any, output: str, reference: Floats, encoder: faithkit.plugin.Encoder) -> None:
        try:
            self._cells = Cells.of(model, encoder.names)
            self._read(output, encoder.decode(reference), encoder.n_columns)
        except Exception as error:
            raise refusal(model, str(error)) from error

    def values(self, table: Any) -> Floats:
        """Return SHAP values (rows, columns, classes); of two classes those of the second alone."""
        cells = self._compared(table)
        return self._games.values(cells, self._weights)

    def sums(self, table: Any) -> Floats:
        """Return what the values of rows add up to, (rows, classes), without working them out."""
        return self._sums(self._compared(table))

    def mixed_sums(self, table: Any, picked: NDArray[np.int64]) -> Floats:
        """Return the same for rows mixed from a table's: cell j of row i is that of the row picked[i, j].

        They are mixed after their preparation, which tells whether every column was rightly followed.
        """
        cells = self._compared(table)
        return self._sums(np.take_along_axis(cells, picked.T[self._cells.owners], axis=1))

    def _read(self, output: str, reference: Any, columns: int) -> None:
        ensemble, log_odds = self._cells.ensemble, self._cells.ensemble.log_odds
        if output == "prediction" and ensemble.link is not None:
            raise NoSumError(f"it predicts no sum over trees but a function of one: {ensemble.link}")
        if output == "probability" and log_odds:
            ensemble = ensemble.in_log_odds()
        self._leaves = Leaves.of(ensemble, self._cells.used, self._cells.owners)
        prepared = self._cells.prepared(reference)
        cells = self._cells.compared(prepared)
        self._offset, self._rescaling = 0.0, None
        if output == "probability" and log_odds:
            first = faithkit.plugin.take_rows(prepared, slice(0, 1))
            self._offset = _raw_score(self._cells.model, first) * log_odds - self._scores(cells[:, :1])[0, 0]
            self._rescaling = _rescaling(ensemble, self._offset)
        reached = self._scores(cells)
        weights = self._rescaling.terms(reached[:, 0]) if self._rescaling else np.ones((len(reached), 1))
        check_room(self._leaves.cells * weights.shape[1])
        shape = (columns, ensemble.n_outputs)
        self._games = LeafGames.counted(self._leaves, shape, cells, weights / len(weights))
        self._mean = self._outcomes(reached).mean(axis=0)

    def _compared(self, table: Any) -> NDArray[Any]:
        return self._cells.compared(self._cells.prepared(table))

    def _scores(self, cells: NDArray[Any]) -> Floats:
        return scores(self._leaves, cells) + self._offset

    def _weights(self, reached: Floats) -> Floats:
        """Return by how much a row multiplies what the reference rows with each weight give."""
        if self._rescaling is None:
            return np.ones((len(reached), 1))
        return self._rescaling.signs * self._rescaling.terms(reached[:, 0] + self._offset)

    def _outcomes(self, found: Floats) -> Floats:
        return probability(found) if self._rescaling else found

    def _sums(self, cells: NDArray[Any]) -> Floats:
        return self._outcomes(self._scores(cells)) - self._mean


def _raw_score(model: Any, row: Any) -> float:
    return float(np.ravel(raw_method(model)(row))[0])


def _rescaling(ensemble: Ensemble, offset: float) -> Rescaling:
    """Return the factor between log-odds and probability, for all log-odds that the trees can add up to."""
    if ensemble.n_outputs > 1:
        raise NoSumError("its probabilities of three classes or more are no sum over trees")
    leaves = [tree.values[tree.leaves] for tree in ensemble.trees]
    low, high = (offset + sum(float(worst(part)) for part in leaves) for worst in (np.min, np.max))
    return Rescaling.on(low, high)
