"""Readers of numbers and score vectors: they guess a mean, and are scored by its squared distance.

Whoever knows the explanation only cannot come nearer, on average, than the mean of all who share it. So 1
less the mean squared error, in units in which a constant explanation leaves 1, is at most the consistency.
"""

from typing import Any

import attrs
import numpy as np

import faithkit
from faithkit_diagnostics.reader.crossfit import CrossFit, Guesses
from faithkit_diagnostics.reader.features import MOST_WORDS, Floats, Rows
from faithkit_diagnostics.reader.models import (
    LINEAR_CELLS,
    TREE_CELLS,
    TREE_COLUMNS,
    WEIGHT_OF_WORDS,
    WORDS,
    Candidate,
    Counts,
    Scaled,
    boosting,
    chosen_by,
    weighted,
)


class Linear(Scaled):
    """Ridge regression on scaled columns, in which gaps are filled and marked."""

    def fit(self, X: Floats, y: Floats, sample_weight: Floats | None = None) -> "Linear":
        """Learn means and spreads of the columns, then the regression."""
        from sklearn.linear_model import Ridge

        self._model: Any = Ridge().fit(self.fit_transform(X), y, sample_weight)
        return self

    def predict(self, X: Floats) -> Floats:
        """Return the numbers of every row."""
        return np.asarray(self._model.predict(self.transform(X)))


class Trees:
    """Boosted trees, for each number of a row its own."""

    def __init__(self, rows: int, seed: int) -> None:
        self.rows, self.seed = rows, seed

    def fit(self, X: Floats, y: Floats, sample_weight: Floats | None = None) -> "Trees":
        """Learn each column of y."""
        from sklearn.ensemble import HistGradientBoostingRegressor

        made = boosting(self.rows, 1, self.seed)
        self._models = [
            HistGradientBoostingRegressor(**made).fit(X, column, sample_weight)
            for column in y.reshape(len(y), -1).T
        ]
        return self

    def predict(self, X: Floats) -> Floats:
        """Return the numbers of every row."""
        return np.column_stack([model.predict(X) for model in self._models])


@attrs.frozen(eq=False)
class Regressor(Candidate):
    """A regressor that can be a reader."""

    what = "regressor"
    advice = "Give a scikit-learn regressor that takes numbers, NaN among them."

    def guessing(self, X: Floats, y: Floats, weights: Floats | None, seed: int) -> Any:
        """Let a new one learn from rows; return what it says of others."""
        with self.called():
            model = self.make(X.shape[0], y.shape[1], seed)
            model.fit(X, y if y.shape[1] > 1 else y[:, 0], **weighted(model, weights))

        def guess(rows: Floats) -> Floats:
            with self.called():
                found = np.asarray(model.predict(rows), dtype=np.float64).reshape(rows.shape[0], -1)
            if found.shape != (rows.shape[0], y.shape[1]) or not np.isfinite(found).all():
                raise faithkit.errors.InputError(
                    f"the regressor {self.name} gave no finite number for some rows, or of shape "
                    f"{found.shape}; expected {(rows.shape[0], y.shape[1])}. {self.advice}"
                )
            return found

        return guess


def regressors(given: Any = None) -> tuple[Regressor, ...]:
    """Return the regressors to choose from.

    Examples
    --------
    >>> [one.name for one in regressors()], [one.name for one in regressors("trees")]
    (['linear', 'trees', 'words'], ['trees'])
    """
    ours = {
        "linear": Regressor("linear", lambda _rows, _outputs, _seed: Linear(), LINEAR_CELLS, words=0),
        "trees": Regressor(
            "trees", lambda rows, _, seed: Trees(rows, seed), TREE_CELLS, TREE_COLUMNS, words=0
        ),
        WORDS: Regressor(WORDS, _of_words, columns=0, words=MOST_WORDS, is_sparse=True),
    }
    return chosen_by(given, ours, Regressor, "regressor such as sklearn.linear_model.Lasso()")


def _of_words(_rows: int, _outputs: int, _seed: int) -> Any:
    from sklearn.linear_model import Ridge

    return Ridge(alpha=1 / WEIGHT_OF_WORDS)


@attrs.frozen(eq=False)
class NumberCrossFit(CrossFit):
    """Rows whose predictions are points.

    Attributes
    ----------
    points : (n, d) float
        Of the rows in the order of their content, in units in which a constant explanation leaves 1, or score
        vectors as they are.
    unit : float
        How much 1 is in the predictions' own unit.
    are_scores : bool
        Whether they are vectors of probabilities, as guesses are then, too.
    """

    points: Floats
    unit: float
    are_scores: bool

    def guesses(self, candidate: Candidate, train: Rows, rows: Rows) -> Guesses:
        """Let a regressor learn from some rows and read others.

        It is off by so much, and so much is the mean of the rows it learnt from. A row without an explanation
        is guessed as that mean, and it scores 0, which is what a constant explanation is worth.
        """
        usual = self._mean(train)
        guess = np.tile(usual, (len(rows), 1))
        seen = np.flatnonzero(self.place[rows] >= 0)
        if len(seen):
            guess[seen] = self._guessed(candidate, train, rows[seen], usual)
        squares, plain = (((self.points[rows] - one) ** 2).sum(axis=1) for one in (guess, usual))
        scores = np.where(self.place[rows] >= 0, 1.0 - squares, 0.0)
        return Guesses(scores, np.sqrt(squares), np.sqrt(plain))

    def _guessed(self, candidate: Candidate, train: Rows, rows: Rows, usual: Floats) -> Floats:
        assert isinstance(candidate, Regressor)
        taught = self._taught(train)
        columns = self.features.columns(self.place[taught], candidate.columns, candidate.words)
        some = self._first(taught, candidate.most_rows(len(columns), self.points.shape[1]))
        if not len(columns) or not np.ptp(self.points[some], axis=0).any():
            return np.tile(self._mean(taught) if len(taught) else usual, (len(rows), 1))
        table = self._table(candidate, some, columns)
        guess = candidate.guessing(table, self.points[some], self._weights(some), self.seed)
        found: Floats = guess(self._table(candidate, rows, columns))
        return _probabilities(found) if self.are_scores else found

    def _mean(self, rows: Rows) -> Floats:
        return np.asarray(np.average(self.points[rows], axis=0, weights=self._weights(rows)))

    def _weights(self, rows: Rows) -> Floats | None:
        return None if self.weights is None else self.weights[rows]


@attrs.frozen(eq=False)
class Points:
    """What codes of predictions stand for: one number or several, or score vectors."""

    values: Floats  # (k, d)
    are_scores: bool

    def of_rows(self, codes: Counts) -> dict[str, Any]:
        """Return what a reader knows of rows: numbers are in units of how they spread, about their mean."""
        found = self.values[codes]
        if self.are_scores:
            return {"points": found, "unit": 1.0, "are_scores": True}
        exponent = int(np.frexp(np.abs(found).max())[1])
        scaled = np.ldexp(found, -exponent)  # or squares would be too large, or nothing
        apart = scaled - scaled.mean(axis=0)
        unit = float(np.sqrt(apart.var(axis=0, ddof=1).sum()))
        return {"points": apart / unit, "unit": float(np.ldexp(unit, exponent)), "are_scores": False}


def _probabilities(found: Floats) -> Floats:
    """Return guesses as probabilities: only then is every score from −1 to 1."""
    positive = found.clip(0.0, None) + 1e-12
    probabilities: Floats = positive / positive.sum(axis=1, keepdims=True)
    return probabilities
