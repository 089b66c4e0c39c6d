"""Gradients of scores that no formula is known for, by central differences."""

from typing import Any

import attrs
import numpy as np
import pandas as pd
from numpy.typing import NDArray

import faithkit
from faithkit_feature_importance.units import Unit

# The step, as a part of a column's standard deviation, and the digits of scores that are believed: what
# lies beyond is the noise of the model's own sums, which depends on the batch.
DOUBLE = (2.0**-10, 10)
SINGLE = (2.0**-6, 6)  # for models that compute in float32

Floats = NDArray[np.float64]


@attrs.frozen(eq=False)
class FiniteDifferences:
    """Central differences of a predictor's scores along every numeric column.

    A category has no derivative, and neither has a missing cell: both get 0.

    Parameters
    ----------
    predictor : faithkit.Predictor
        Whose scores are differentiated.
    encoder : faithkit.plugin.Encoder
    steps : (columns,)
        How far to go to either side; NaN for categories.
    digits : int
        Of the scores that are believed: behind the point, or for numbers behind the first of their deviation.
    unit : Unit
        That of the scores.

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
    >>> scores, gradient = FiniteDifferences.learn(faithkit.Predictor(Model()), encoder, X)(X)
    >>> gradient[:, 0, 1]
    array([2., 6.])
    """

    predictor: faithkit.Predictor
    encoder: faithkit.plugin.Encoder
    steps: Floats
    digits: int
    unit: Unit

    @classmethod
    def learn(
        cls, predictor: faithkit.Predictor, encoder: faithkit.plugin.Encoder, background: Any
    ) -> "FiniteDifferences":
        """Choose the steps by the background's standard deviations, and by the precision of the scores."""
        scores = predictor.scores(background)
        part, digits = SINGLE if (scores == scores.astype(np.float32)).all() else DOUBLE
        steps = np.array([_power_of_two(part * _spread(column)) for column in encoder.encode(background).T])
        steps[list(encoder.categorical)] = np.nan
        if np.isnan(steps).all():
            raise faithkit.errors.InputError(
                "gradient: no column is numeric, and a category has no derivative: choose another explainer, "
                "such as shap."
            )
        return cls(predictor, encoder, steps, digits, Unit.learnt(predictor, background))

    def __call__(self, X: Any) -> tuple[Floats, Floats]:
        """Return the scores (n, classes) and their gradients (n, columns, classes)."""
        codes = self.encoder.encode(X, unseen="keep")
        scores = self._scores(X)
        gradient = np.zeros((len(codes), codes.shape[1], scores.shape[1]))
        for j in np.flatnonzero(~np.isnan(self.steps)):
            ends = [codes[:, j] + self.steps[j], codes[:, j] - self.steps[j]]
            up, down = (self._scores(self._moved(X, int(j), end)) for end in ends)
            slope = (up - down) / (ends[0] - ends[1])[:, None]
            gradient[:, j] = np.where(np.isnan(codes[:, j, None]), 0.0, slope)
        return scores, gradient

    def _scores(self, X: Any) -> Floats:
        return self.unit.rounded(self.predictor.scores(X), self.digits)

    def _moved(self, X: Any, j: int, values: Floats) -> Any:
        """Return X with other numbers in one column, and all else as it was."""
        if isinstance(X, pd.DataFrame):
            moved = X.copy(deep=False)
            names = [str(name) for name in X.columns]  # X may have its columns in another order
            place = names.index(self.encoder.names[j])
            is_number = pd.api.types.is_numeric_dtype(X.dtypes.iloc[place])
            column = pd.Series(values) if is_number else self._dates(j, values)
            moved.isetitem(place, column.set_axis(X.index))
            return moved
        moved = X.astype(np.float64) if X.dtype.kind in "biuf" else X.copy()
        moved[:, j] = values
        return moved

    def _dates(self, j: int, values: Floats) -> Any:
        """Return numbers as dates of a column."""
        codes = np.zeros((len(values), self.encoder.n_columns))
        codes[:, j] = values
        return self.encoder.decode(codes).iloc[:, j]


def _spread(column: Floats) -> float:
    """Return the standard deviation, whatever the order; of a constant column its size."""
    known = np.sort(column[np.isfinite(column)])
    if not len(known):
        return 1.0
    return float(known.std()) or abs(float(known[0])) or 1.0


def _power_of_two(step: float) -> float:
    """Return a power of two near a step: adding it to a number rounds least."""
    return float(2.0 ** np.round(np.log2(step)))
