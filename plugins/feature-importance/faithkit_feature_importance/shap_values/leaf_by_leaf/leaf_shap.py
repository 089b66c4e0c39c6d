"""Exact SHAP values of tree models by raw column. Time grows with rows plus reference rows."""

from typing import Any

import numpy as np
from numpy.typing import NDArray

import faithkit
from faithkit_feature_importance.shap_values.errors import NoSumError, unreadable_trees_error
from faithkit_feature_importance.shap_values.explained_output import raw_method
from faithkit_feature_importance.shap_values.leaf_by_leaf.ensembles import Ensemble
from faithkit_feature_importance.shap_values.leaf_by_leaf.games import LeafGames, sum_leaves
from faithkit_feature_importance.shap_values.leaf_by_leaf.leaves import Leaves, check_table_size
from faithkit_feature_importance.shap_values.leaf_by_leaf.rescaling import Rescaling, probability
from faithkit_feature_importance.shap_values.leaf_by_leaf.tree_inputs import TreeInputs

Floats = NDArray[np.float64]


class LeafShap:
    """SHAP values of decision trees, forests and boosted trees, alone or behind column-wise transformers.

    Parameters
    ----------
    model : fitted model, or a Pipeline that ends in one
    output : str
        "probability", "raw" or "prediction".
    reference : array
        The codes of the reference rows.
    encoder : Encoder
        The encoder of the codes.

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
            self._inputs = TreeInputs.read(model, encoder.names)
            self._build_games(output, encoder.decode(reference), encoder.n_columns)
        except Exception as error:
            raise unreadable_trees_error(model, str(error)) from error

    def values(self, table: Any) -> Floats:
        """Return SHAP values (rows, columns, classes); of two classes, only those of the second."""
        values = self._to_values(table)
        return self._games.values(values, self._row_weights)

    def sums(self, table: Any) -> Floats:
        """Return the sums of the values of each row, (rows, classes), without computing the values."""
        return self._sums(self._to_values(table))

    def sums_of_mixtures(self, table: Any, source_rows: NDArray[np.int64]) -> Floats:
        """Return the sums of mixed rows: column j of mixture i is taken from row source_rows[i, j].

        Rows are mixed after preprocessing, which shows whether every column has the right raw column.
        """
        values = self._to_values(table)
        return self._sums(np.take_along_axis(values, source_rows.T[self._inputs.raw_columns], axis=1))

    def _build_games(self, output: str, reference: Any, columns: int) -> None:
        ensemble, log_odds_factor = self._inputs.ensemble, self._inputs.ensemble.log_odds_factor
        if output == "prediction" and ensemble.link is not None:
            raise NoSumError(f"it predicts a function of the sum over trees: {ensemble.link}")
        if output == "probability" and log_odds_factor:
            ensemble = ensemble.to_log_odds()
        self._leaves = Leaves.of(ensemble, self._inputs.used_columns, self._inputs.raw_columns)
        preprocessed = self._inputs.preprocess(reference)
        values = self._inputs.to_values(preprocessed)
        self._offset, self._rescaling = 0.0, None
        if output == "probability" and log_odds_factor:
            first = faithkit.plugin.take_rows(preprocessed, slice(0, 1))
            self._offset = (
                _raw_score(self._inputs.model, first) * log_odds_factor - self._scores(values[:, :1])[0, 0]
            )
            self._rescaling = _rescaling(ensemble, self._offset)
        row_sums = self._scores(values)
        weights = self._rescaling.terms(row_sums[:, 0]) if self._rescaling else np.ones((len(row_sums), 1))
        check_table_size(self._leaves.n_table_entries * weights.shape[1])
        shape = (columns, ensemble.n_outputs)
        self._games = LeafGames.count_reference(self._leaves, shape, values, weights / len(weights))
        self._mean = self._to_output(row_sums).mean(axis=0)

    def _to_values(self, table: Any) -> NDArray[Any]:
        return self._inputs.to_values(self._inputs.preprocess(table))

    def _scores(self, values: NDArray[Any]) -> Floats:
        return sum_leaves(self._leaves, values) + self._offset

    def _row_weights(self, row_sums: Floats) -> Floats:
        """Return by how much each row multiplies the contributions of the reference rows, (rows, weights)."""
        if self._rescaling is None:
            return np.ones((len(row_sums), 1))
        return self._rescaling.signs * self._rescaling.terms(row_sums[:, 0] + self._offset)

    def _to_output(self, sums: Floats) -> Floats:
        return probability(sums) if self._rescaling else sums

    def _sums(self, values: NDArray[Any]) -> Floats:
        return self._to_output(self._scores(values)) - self._mean


def _raw_score(model: Any, row: Any) -> float:
    return float(np.ravel(raw_method(model)(row))[0])


def _rescaling(ensemble: Ensemble, offset: float) -> Rescaling:
    """Return the rescaling from log-odds to probability, for all log-odds that the trees can add up to."""
    if ensemble.n_outputs > 1:
        raise NoSumError("its probabilities of three classes or more are not a sum over trees")
    leaf_values = [tree.values[tree.leaves] for tree in ensemble.trees]
    low, high = (
        offset + sum(float(extreme(tree_values)) for tree_values in leaf_values)
        for extreme in (np.min, np.max)
    )
    return Rescaling.on_interval(low, high)
