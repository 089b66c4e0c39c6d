"""Gradients of scores without a known formula, by central differences."""

from typing import Any

import attrs
import numpy as np
import pandas as pd
from numpy.typing import NDArray

import faithkit
from faithkit_feature_importance.scores import ScoreScale

# The step, as a share of a column's standard deviation, and the number of digits of a score that are exact.
# Further digits are rounding noise, which depends on the batch.
DOUBLE = (2.0**-10, 10)
SINGLE = (2.0**-6, 6)  # for models that compute in float32

Floats = NDArray[np.float64]


@attrs.frozen(eq=False)
class FiniteDifferences:
    """Central differences of a predictor's scores along every numeric column.

    Categories and missing values have no derivative and get 0.

    Parameters
    ----------
    predictor : faithkit.Predictor
        The model whose scores are differentiated.
    encoder : faithkit.plugin.Encoder
    steps : (columns,)
        The step to either side; NaN for categories.
    digits : int
        To how many digits scores are rounded: decimals, or for a regressor digits of the deviation.
    scale : ScoreScale
        The scale of the scores.

    Examples
    --------
    >>> class Model:
    ...     classes_ = [0, 1]
    ...     def predict(self, X):
    ...         return (X[:, 0] > 0).astype(int)
    ...     def decision_function(self, X):
    ...         return X[:, 0] ** 2
    >>> X = np.array([[1.0], [3.0]])
    >>> encoder = faithkit.plugin.Encoder(X)
    >>> scores, gradient = FiniteDifferences.fit(faithkit.Predictor(Model()), encoder, X)(X)
    >>> gradient[:, 0, 1]
    array([2., 6.])
    """

    predictor: faithkit.Predictor
    encoder: faithkit.plugin.Encoder
    steps: Floats
    digits: int
    scale: ScoreScale

    @classmethod
    def fit(
        cls, predictor: faithkit.Predictor, encoder: faithkit.plugin.Encoder, background: Any
    ) -> "FiniteDifferences":
        """Choose the steps by the standard deviations of the background and the precision of the scores."""
        scores = predictor.scores(background)
        step_share, digits = SINGLE if (scores == scores.astype(np.float32)).all() else DOUBLE
        steps = np.array(
            [
                _power_of_two(step_share * _standard_deviation(column))
                for column in encoder.encode(background).T
            ]
        )
        steps[list(encoder.categorical)] = np.nan
        if np.isnan(steps).all():
            raise faithkit.errors.InputError(
                "gradient: no column is numeric, and a category has no derivative: choose another explainer, "
                "such as shap."
            )
        return cls(predictor, encoder, steps, digits, ScoreScale.of_predictor(predictor, background))

    def __call__(self, X: Any) -> tuple[Floats, Floats]:
        """Return the scores (n, classes) and their gradients (n, columns, classes)."""
        codes = self.encoder.encode(X, unseen="keep")
        scores = self._scores(X)
        gradient = np.zeros((len(codes), codes.shape[1], scores.shape[1]))
        for j in np.flatnonzero(~np.isnan(self.steps)):
            neighbours = [codes[:, j] + self.steps[j], codes[:, j] - self.steps[j]]
            scores_above, scores_below = (
                self._scores(self._with_column(X, int(j), values)) for values in neighbours
            )
            slope = (scores_above - scores_below) / (neighbours[0] - neighbours[1])[:, None]
            gradient[:, j] = np.where(np.isnan(codes[:, j, None]), 0.0, slope)
        return scores, gradient

    def _scores(self, X: Any) -> Floats:
        return self.scale.round(self.predictor.scores(X), self.digits)

    def _with_column(self, X: Any, j: int, values: Floats) -> Any:
        """Return X with column j replaced by these values."""
        if isinstance(X, pd.DataFrame):
            changed = X.copy(deep=False)
            names = [str(name) for name in X.columns]  # the columns of X may have another order
            position = names.index(self.encoder.names[j])
            is_number = pd.api.types.is_numeric_dtype(X.dtypes.iloc[position])
            column = pd.Series(values) if is_number else self._decode_dates(j, values)
            changed.isetitem(position, column.set_axis(X.index))
            return changed
        changed = X.astype(np.float64) if X.dtype.kind in "biuf" else X.copy()
        changed[:, j] = values
        return changed

    def _decode_dates(self, j: int, values: Floats) -> Any:
        """Return numbers as the dates that they encode in column j."""
        codes = np.zeros((len(values), self.encoder.n_columns))
        codes[:, j] = values
        return self.encoder.decode(codes).iloc[:, j]


def _standard_deviation(column: Floats) -> float:
    """Return the standard deviation, in an order of its own; of a constant column, its absolute value."""
    ordered = np.sort(column[np.isfinite(column)])
    if not len(ordered):
        return 1.0
    return float(ordered.std()) or abs(float(ordered[0])) or 1.0


def _power_of_two(step: float) -> float:
    """Return the power of two nearest to a step: adding it to a number rounds least."""
    return float(2.0 ** np.round(np.log2(step)))
