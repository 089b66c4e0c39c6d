"""Readers of numbers and score vectors: regressors that are scored by the squared error.

From the explanation alone, no guess has a smaller mean squared error than the mean of all rows that share it.
So 1 − the mean squared error, in units in which that of a constant explanation is 1, is at most the
consistency.
"""

from typing import Any

import attrs
import numpy as np

import faithkit
from faithkit_diagnostics.reader.crossfit import CrossFit, Guesses
from faithkit_diagnostics.reader.features import MAX_WORDS, Floats, Rows
from faithkit_diagnostics.reader.models import (
    LINEAR_VALUES,
    TREE_COLUMNS,
    TREE_VALUES,
    WORD_REGULARIZATION,
    WORDS,
    Candidate,
    Scaled,
    boosting,
    select_candidates,
    weight_arguments,
)


class Linear(Scaled):
    """Ridge regression on scaled columns, in which gaps are filled and marked."""

    def fit(self, X: Floats, y: Floats, sample_weight: Floats | None = None) -> "Linear":
        """Fit the scaling of the columns, and then the regression."""
        from sklearn.linear_model import Ridge

        self._model: Any = Ridge().fit(self.fit_transform(X), y, sample_weight)
        return self

    def predict(self, X: Floats) -> Floats:
        """Return the predicted numbers of every row."""
        return np.asarray(self._model.predict(self.transform(X)))


class Trees:
    """Boosted trees, one model for each number of a prediction."""

    def __init__(self, rows: int, seed: int) -> None:
        self.rows, self.seed = rows, seed

    def fit(self, X: Floats, y: Floats, sample_weight: Floats | None = None) -> "Trees":
        """Fit a model for each column of y."""
        from sklearn.ensemble import HistGradientBoostingRegressor

        parameters = boosting(self.rows, 1, self.seed)
        self._models = [
            HistGradientBoostingRegressor(**parameters).fit(X, column, sample_weight)
            for column in y.reshape(len(y), -1).T
        ]
        return self

    def predict(self, X: Floats) -> Floats:
        """Return the predicted numbers of every row."""
        return np.column_stack([model.predict(X) for model in self._models])


@attrs.frozen(eq=False)
class Regressor(Candidate):
    """A regressor that can be a reader."""

    noun = "regressor"
    advice = "Give a scikit-learn regressor that takes numbers, NaN among them."

    def fit_predictor(self, X: Floats, y: Floats, weights: Floats | None, seed: int) -> Any:
        """Fit a new regressor on rows; return the function that predicts others."""
        with self.calling():
            model = self.make(X.shape[0], y.shape[1], seed)
            model.fit(X, y if y.shape[1] > 1 else y[:, 0], **weight_arguments(model, weights))

        def predict(rows: Floats) -> Floats:
            with self.calling():
                points = np.asarray(model.predict(rows), dtype=np.float64).reshape(rows.shape[0], -1)
            if points.shape != (rows.shape[0], y.shape[1]) or not np.isfinite(points).all():
                raise faithkit.errors.InputError(
                    f"the regressor {self.name} gave no finite number for some rows, or of shape "
                    f"{points.shape}; expected {(rows.shape[0], y.shape[1])}. {self.advice}"
                )
            return points

        return predict


def regressors(choice: Any = None) -> tuple[Regressor, ...]:
    """Return the regressors to choose from; see `candidates` for the choice.

    Examples
    --------
    >>> [each.name for each in regressors()], [each.name for each in regressors("trees")]
    (['linear', 'trees', 'words'], ['trees'])
    """
    by_name = {
        "linear": Regressor("linear", lambda _rows, _outputs, _seed: Linear(), LINEAR_VALUES, words=0),
        "trees": Regressor(
            "trees", lambda rows, _, seed: Trees(rows, seed), TREE_VALUES, TREE_COLUMNS, words=0
        ),
        WORDS: Regressor(WORDS, _make_word_model, columns=0, words=MAX_WORDS, is_sparse=True),
    }
    return select_candidates(choice, by_name, Regressor, "regressor such as sklearn.linear_model.Lasso()")


def _make_word_model(_rows: int, _outputs: int, _seed: int) -> Any:
    from sklearn.linear_model import Ridge

    return Ridge(alpha=1 / WORD_REGULARIZATION)


@attrs.frozen(eq=False)
class NumberCrossFit(CrossFit):
    """Rows whose predictions are points: numbers or score vectors.

    Attributes
    ----------
    points : (n, d) float
        The predictions of the rows in the order of their content. Numbers are in units in which the mean
        squared error of a constant explanation is 1; score vectors are unchanged.
    unit : float
        The value of 1 in the unit of the predictions.
    are_scores : bool
        Whether predictions are vectors of probabilities. Then guesses are probabilities as well.
    """

    points: Floats
    unit: float
    are_scores: bool

    def guesses(self, candidate: Candidate, train: Rows, rows: Rows) -> Guesses:
        """Fit a regressor on the training rows, and guess the points of other rows.

        The guesses have the distances of the regressor's guess and of the training rows' mean from each
        point. For a row without an explanation, the guess is that mean. It scores 0, as a constant
        explanation does.
        """
        mean = self._mean(train)
        guess = np.tile(mean, (len(rows), 1))
        is_explained = self.position[rows] >= 0
        if is_explained.any():
            guess[is_explained] = self._predict_points(candidate, train, rows[is_explained], mean)
        points = self.points[rows]
        squares, mean_squares = ((points - guess) ** 2).sum(axis=1), ((points - mean) ** 2).sum(axis=1)
        scores = np.where(is_explained, 1.0 - squares, 0.0)
        return Guesses(scores, np.sqrt(squares), np.sqrt(mean_squares))

    def _predict_points(self, candidate: Candidate, train: Rows, rows: Rows, mean: Floats) -> Floats:
        assert isinstance(candidate, Regressor)
        usable = self._training_rows(train)
        columns = self.features.columns(self.position[usable], candidate.columns, candidate.words)
        fit_rows = self._first_rows(usable, candidate.max_rows(len(columns), self.points.shape[1]))
        if not len(columns) or not np.ptp(self.points[fit_rows], axis=0).any():
            return np.tile(self._mean(usable) if len(usable) else mean, (len(rows), 1))
        table = self._table(candidate, fit_rows, columns)
        predict = candidate.fit_predictor(table, self.points[fit_rows], self._weights(fit_rows), self.seed)
        points: Floats = predict(self._table(candidate, rows, columns))
        return _to_probabilities(points) if self.are_scores else points

    def _mean(self, rows: Rows) -> Floats:
        return np.asarray(np.average(self.points[rows], axis=0, weights=self._weights(rows)))


def scale_points(points: Floats, are_scores: bool) -> dict[str, Any]:
    """Return fields of `NumberCrossFit`; numbers are centred, in units of their standard deviation."""
    if are_scores:
        return {"points": points, "unit": 1.0, "are_scores": True}
    exponent = int(np.frexp(np.abs(points).max())[1])
    scaled = np.ldexp(points, -exponent)  # otherwise squares could overflow or vanish
    centred = scaled - scaled.mean(axis=0)
    unit = float(np.sqrt(centred.var(axis=0, ddof=1).sum()))
    return {"points": centred / unit, "unit": float(np.ldexp(unit, exponent)), "are_scores": False}


def _to_probabilities(guesses: Floats) -> Floats:
    """Turn guesses into probabilities, so that every score is from −1 to 1."""
    positive = guesses.clip(0.0, None) + 1e-12
    probabilities: Floats = positive / positive.sum(axis=1, keepdims=True)
    return probabilities
