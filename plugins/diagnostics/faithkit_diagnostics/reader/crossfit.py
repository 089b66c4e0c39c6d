"""Cross-fitting: readers learn from some folds of the rows, and are scored on the others.

Rows are first sorted by their content, so that their order does not matter. Then every row draws a random
turn, and the turns are divided into folds. A shuffled sort is a shuffle: given all contents, each of them has
each turn with the same probability. Folds with balanced labels would not have this property: a label would
reveal something about the fold that it is in.
"""

from collections.abc import Callable, Sequence
from typing import Any

import attrs
import numpy as np
from numpy.typing import NDArray

from faithkit_diagnostics.reader.features import Columns, Features, Floats, Rows, Words
from faithkit_diagnostics.reader.models import MAX_CLASSES, Candidate, Counts

FOLDS = 5
CHOICE_ROWS = 4_000  # rows that are used to choose between classifiers
MIN_CHOICE_ROWS = 60  # training rows of a choice: with fewer, trees are seldom better, and they take time
VALIDATION_SHARE = 0.25  # of the rows that are used for a choice
BATCH_ROWS = 50_000  # rows that are predicted at once

Predict = Callable[[Rows], tuple[Counts, Floats]]
"""A function that returns labels, and the probability of each label for the rows."""


@attrs.frozen(eq=False)
class Turns:
    """The rows in order of content, the random fold of each, and the number of folds.

    Rows of the same cluster have the same turn, so that they are always in the same fold.
    """

    order: NDArray[np.intp]
    turn: Counts
    n: int

    @classmethod
    def draw(cls, contents: Words, unit: Counts, seed: int) -> "Turns":
        """Draw folds for the clusters of rows; `contents` has a hash of each row's content.

        Examples
        --------
        >>> words, unit = np.array([7, 8, 7], dtype=np.uint64), np.array([0, 1, 0])
        >>> turns = Turns.draw(words, unit, seed=0)
        >>> turns.n, len(set(turns.turn[np.argsort(turns.order)[[0, 2]]].tolist()))
        (2, 1)
        """
        n = int(unit.max()) + 1
        sums = np.zeros(n, dtype=np.uint64)
        np.add.at(sums, unit, contents)
        position = np.argsort(np.argsort(sums, kind="stable"))  # the rank of every cluster
        order = np.lexsort((contents, position[unit]))
        rng = np.random.default_rng([-seed, 1] if seed < 0 else seed)
        return cls(order, rng.permutation(n)[position][unit[order]], n)

    def folds(self, max_folds: int) -> Counts:
        """Return the fold of every row, in the order of contents."""
        return self.turn % min(max_folds, self.n)


@attrs.frozen(eq=False)
class Guesses:
    """The scores of a reader, whether it is `right`, and whether the most common label (`usual`) is right.

    For numbers, `right` and `usual` are the distances of the guess and of the mean from the prediction.
    """

    scores: Floats
    right: NDArray[Any]
    usual: NDArray[Any]


@attrs.frozen(eq=False)
class CrossFit:
    """Rows in an order of their content, with the candidates that may read them.

    Attributes
    ----------
    features : Features
        The features of the rows with an explanation.
    position : (n,) int
        The position of each row among the features; −1 for a row without an explanation.
    labels : (n,) int
    weights : (n,) float or None
    turns : Turns
    candidates : sequence of Candidate
        If there are several, each reader is chosen by the rows that it learns from.
    seed : int
    """

    features: Features
    position: Counts
    labels: Counts
    weights: Floats | None
    turns: Turns
    candidates: Sequence[Candidate]
    seed: int

    def cross_fit(self) -> tuple[Guesses, list[str]]:
        """Guess every fold with a reader of all others; return the guesses and the readers' names."""
        n, folds, names = len(self.labels), self.turns.folds(FOLDS), []
        all_guesses = Guesses(*np.zeros((3, n)))
        for fold in range(int(folds.max()) + 1):
            rows, train = np.flatnonzero(folds == fold), np.flatnonzero(folds != fold)
            candidate = self.choose(train)
            guesses = self.guesses(candidate, train, rows)
            all_guesses.scores[rows] = guesses.scores
            all_guesses.right[rows] = guesses.right
            all_guesses.usual[rows] = guesses.usual
            names.append(candidate.name)
        return all_guesses, names

    def choose(self, train: Rows) -> Candidate:
        """Choose the candidate that scores best on some training rows, after learning from the rest."""
        rows = self._first_rows(self._training_rows(train), CHOICE_ROWS)
        turn = self.turns.turn[rows]
        if len(self.candidates) == 1 or not len(rows):
            return self.candidates[0]
        cut = np.sort(turn)[int((1 - VALIDATION_SHARE) * len(rows))]  # no cluster is on both sides
        fit_rows, validation_rows = rows[turn < cut], rows[turn >= cut]
        if len(fit_rows) < MIN_CHOICE_ROWS:
            return self.candidates[0]
        guesses = (self.guesses(candidate, fit_rows, validation_rows) for candidate in self.candidates)
        means = [self.mean(guess.scores, validation_rows) for guess in guesses]
        return self.candidates[int(np.argmax(means))]

    def n_columns(self, name: str) -> int:
        """Return how many columns of numbers a candidate sees."""
        (candidate,) = (candidate for candidate in self.candidates if candidate.name == name)
        return min(candidate.columns, self.features.n_numbers)

    def mean(self, values: Floats, rows: Rows | slice = slice(None)) -> float:
        """Return the weighted mean over rows."""
        return float(np.average(values, weights=self._weights(rows)))

    def _weights(self, rows: Rows | slice) -> Floats | None:
        return None if self.weights is None else self.weights[rows]

    def _training_rows(self, rows: Rows) -> Rows:
        """Return the rows with an explanation and a weight."""
        is_explained = self.position[rows] >= 0
        return rows[is_explained if self.weights is None else is_explained & (self.weights[rows] > 0)]

    def _first_rows(self, rows: Rows, max_rows: int | None) -> Rows:
        """Return the rows with the first turns, in the order of contents."""
        if max_rows is None or len(rows) <= max_rows:
            return rows
        return np.sort(rows[np.argsort(self.turns.turn[rows], kind="stable")[:max_rows]])

    def guesses(self, candidate: Candidate, train: Rows, rows: Rows) -> Guesses:
        """Fit a classifier on the training rows, and guess the labels of other rows.

        For a row without an explanation, the guess is the most common label. It scores 0, because a missing
        explanation is shared with no row and adds nothing certain to consistency.
        """
        common_label = int(np.argmax(self._label_shares(train)))
        guess, scores = np.full(len(rows), common_label), np.zeros(len(rows))
        explained_rows = np.flatnonzero(self.position[rows] >= 0)
        predict = self._fit_reader(candidate, train)
        for start in range(0, len(explained_rows), BATCH_ROWS):
            batch = explained_rows[start : start + BATCH_ROWS]
            labels, probabilities = predict(rows[batch])
            guess[batch] = labels[probabilities.argmax(axis=1)]
            scores[batch] = quadratic(labels, probabilities, self.labels[rows[batch]])
        true = self.labels[rows]
        return Guesses(scores, guess == true, true == common_label)

    def _fit_reader(self, candidate: Candidate, train: Rows) -> Predict:
        """Fit a classifier on the training rows; return the function that predicts others."""
        usable = self._training_rows(train)
        columns = self.features.columns(self.position[usable], candidate.columns, candidate.words)
        n_labels = len(np.unique(self.labels[usable]))
        fit_rows = self._first_rows(usable, candidate.max_rows(len(columns), n_labels))
        if not len(columns) or len(np.unique(self.labels[fit_rows])) < 2:
            return self._predict_shares(usable if len(usable) else train)
        table = self._table(candidate, fit_rows, columns)
        reader = candidate.fit(table, self.labels[fit_rows], self._weights(fit_rows), self.seed)
        return lambda rows: reader.probabilities(self._table(candidate, rows, columns))

    def _table(self, candidate: Candidate, rows: Rows, columns: Columns) -> Any:
        """Return the features of rows that a classifier sees."""
        features = self.features
        return (features.sparse_table if candidate.is_sparse else features.table)(
            self.position[rows], columns
        )

    def _predict_shares(self, train: Rows) -> Predict:
        """Return a function that predicts the shares of the labels, for rows that nothing distinguishes."""
        shares = self._label_shares(train)
        common = np.sort(np.argsort(-shares, kind="stable")[:MAX_CLASSES])
        return lambda rows: (common, np.tile(shares[common], (len(rows), 1)))

    def _label_shares(self, rows: Rows) -> Floats:
        """Return the share of each label among rows."""
        weights = None if self.weights is None or not self.weights[rows].any() else self.weights[rows]
        counts = np.bincount(self.labels[rows], weights, minlength=int(self.labels.max()) + 1)
        return counts / counts.sum()


def quadratic(labels: Counts, probabilities: Floats, true: Counts) -> Floats:
    """Return the quadratic score of every row, 2 r(Y) − Σ r²; a label that is not listed has probability 0.

    Examples
    --------
    >>> quadratic(np.array([0, 2]), np.array([[0.75, 0.25], [0.75, 0.25]]), np.array([0, 1]))
    array([ 0.875, -0.625])
    """
    of_true_label = np.where(labels == true[:, None], probabilities, 0.0).sum(axis=1)
    return 2.0 * of_true_label - (probabilities**2).sum(axis=1)
