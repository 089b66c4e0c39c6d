"""Let readers learn from some rows, and score them on others, by folds.

Rows are first sorted by what they contain, so that their order does not matter. Then turns are drawn, and
folds are cut from these. A shuffled sort is a shuffle: given all contents, each of them has each turn with
the same probability. Folds in which labels are balanced would not be such: a label would tell something about
the rows that it was read by.
"""

from collections.abc import Callable, Sequence
from typing import Any

import attrs
import numpy as np
from numpy.typing import NDArray

from faithkit_diagnostics.reader.features import Columns, Features, Floats, Rows, Words
from faithkit_diagnostics.reader.models import MOST_CLASSES, Candidate, Counts

FOLDS = 5
CHOICE_ROWS = 4_000  # that a choice between classifiers looks at
LEAST_CHOICE = 60  # rows to learn from in a choice: with fewer, trees are seldom better, and they take time
HELD_OUT = 0.25  # of the rows that a choice looks at, to judge by
PIECE = 50_000  # rows that are read at once

Read = Callable[[Rows], tuple[Counts, Floats]]
"""Return labels, and the probability of each of them in some rows."""


@attrs.frozen(eq=False)
class Turns:
    """The rows in an order of their content, the turn of each of them there, and how many turns there are.

    Rows of one cluster have one turn, so that nothing separates them.
    """

    order: NDArray[np.intp]
    turn: Counts
    n: int

    @classmethod
    def drawn(cls, contents: Words, unit: Counts, seed: int) -> "Turns":
        """Draw turns for the clusters of rows; `contents` has a word for what each row is.

        Examples
        --------
        >>> words, unit = np.array([7, 8, 7], dtype=np.uint64), np.array([0, 1, 0])
        >>> turns = Turns.drawn(words, unit, seed=0)
        >>> turns.n, len(set(turns.turn[np.argsort(turns.order)[[0, 2]]].tolist()))
        (2, 1)
        """
        n = int(unit.max()) + 1
        sums = np.zeros(n, dtype=np.uint64)
        np.add.at(sums, unit, contents)
        place = np.argsort(np.argsort(sums, kind="stable"))  # of every cluster
        order = np.lexsort((contents, place[unit]))
        rng = np.random.default_rng([-seed, 1] if seed < 0 else seed)
        return cls(order, rng.permutation(n)[place][unit[order]], n)

    def folds(self, most: int) -> Counts:
        """Return the fold of every row, in the order of contents."""
        return self.turn % min(most, self.n)


@attrs.frozen(eq=False)
class Guesses:
    """What a reader made of rows: its scores, and whether it and the commonest label were right.

    Of numbers, how far it and the mean are off.
    """

    scores: Floats
    right: NDArray[Any]
    usual: NDArray[Any]


@attrs.frozen(eq=False)
class CrossFit:
    """Rows in an order of their content, and who may read them.

    Attributes
    ----------
    features : Features
        Those of the rows that have an explanation.
    place : (n,) int
        Where the features of each row are; −1 for a row without an explanation.
    labels : (n,) int
    weights : (n,) float or None
    turns : Turns
    candidates : sequence of Candidate
        If there are several, each reader chooses by the rows it learns from.
    seed : int
    """

    features: Features
    place: Counts
    labels: Counts
    weights: Floats | None
    turns: Turns
    candidates: Sequence[Candidate]
    seed: int

    def crossfitted(self) -> tuple[Guesses, list[str]]:
        """Let every fold be read by a reader of all others; return the classifiers that were chosen, too."""
        n, folds, names = len(self.labels), self.turns.folds(FOLDS), []
        whole = Guesses(*np.zeros((3, n)))
        for fold in range(int(folds.max()) + 1):
            rows = np.flatnonzero(folds == fold)
            others = np.flatnonzero(folds != fold)
            chosen = self.chosen(others)
            found = self.guesses(chosen, others, rows)
            whole.scores[rows], whole.right[rows], whole.usual[rows] = attrs.astuple(found, recurse=False)
            names.append(chosen.name)
        return whole, names

    def chosen(self, train: Rows) -> Candidate:
        """Choose the classifier that scores best on a part of the rows, having learnt from the others."""
        some = self._first(self._taught(train), CHOICE_ROWS)
        turn = self.turns.turn[some]
        if len(self.candidates) == 1 or not len(some):
            return self.candidates[0]
        cut = np.sort(turn)[int((1 - HELD_OUT) * len(some))]  # a cluster is on one side of it
        learnt, held = some[turn < cut], some[turn >= cut]
        if len(learnt) < LEAST_CHOICE:
            return self.candidates[0]
        means = [self.mean(self.guesses(one, learnt, held).scores, held) for one in self.candidates]
        return self.candidates[int(np.argmax(means))]

    def seen(self, name: str) -> int:
        """Return how many columns of numbers a classifier is shown."""
        (chosen,) = (one for one in self.candidates if one.name == name)
        return min(chosen.columns, self.features.n_numbers)

    def mean(self, values: Floats, rows: Rows | slice = slice(None)) -> float:
        """Return the mean over some rows, by weight."""
        weights = None if self.weights is None else self.weights[rows]
        return float(np.average(values, weights=weights))

    def _taught(self, rows: Rows) -> Rows:
        """Return the rows that can teach something: they have an explanation, and count."""
        taught = self.place[rows] >= 0
        return rows[taught if self.weights is None else taught & (self.weights[rows] > 0)]

    def _first(self, rows: Rows, most: int | None) -> Rows:
        """Return those of the first turns, in the order of contents."""
        if most is None or len(rows) <= most:
            return rows
        return np.sort(rows[np.argsort(self.turns.turn[rows], kind="stable")[:most]])

    def guesses(self, candidate: Candidate, train: Rows, rows: Rows) -> Guesses:
        """Let a classifier learn from some rows and read others.

        A row without an explanation cannot be read. It is guessed as without one, the commonest label, and it
        scores 0: nobody shares what it does not have, so it adds nothing that is certain to consistency.
        """
        usual = int(np.argmax(self._shares(train)))
        guess, scores = np.full(len(rows), usual), np.zeros(len(rows))
        seen = np.flatnonzero(self.place[rows] >= 0)
        read = self._reading(candidate, train)
        for start in range(0, len(seen), PIECE):
            some = seen[start : start + PIECE]
            labels, found = read(rows[some])
            guess[some] = labels[found.argmax(axis=1)]
            scores[some] = quadratic(labels, found, self.labels[rows[some]])
        true = self.labels[rows]
        return Guesses(scores, guess == true, true == usual)

    def _reading(self, candidate: Candidate, train: Rows) -> Read:
        """Return what a classifier that has learnt from some rows says about others."""
        taught = self._taught(train)
        columns = self.features.columns(self.place[taught], candidate.columns, candidate.words)
        labels = len(np.unique(self.labels[taught]))
        some = self._first(taught, candidate.most_rows(len(columns), labels))
        if not len(columns) or len(np.unique(self.labels[some])) < 2:
            return self._unread(taught if len(taught) else train)
        weights = None if self.weights is None else self.weights[some]
        table = self._table(candidate, some, columns)
        fitted = candidate.fitted(table, self.labels[some], weights, self.seed)
        return lambda rows: fitted.probabilities(self._table(candidate, rows, columns))

    def _table(self, candidate: Candidate, rows: Rows, columns: Columns) -> Any:
        """Return what a classifier is shown of some rows."""
        features = self.features
        return (features.sparse_table if candidate.is_sparse else features.table)(self.place[rows], columns)

    def _unread(self, train: Rows) -> Read:
        """Give every row the shares of the labels, where there is nothing to tell rows apart by."""
        shares = self._shares(train)
        common = np.sort(np.argsort(-shares, kind="stable")[:MOST_CLASSES])
        return lambda rows: (common, np.tile(shares[common], (len(rows), 1)))

    def _shares(self, rows: Rows) -> Floats:
        """Return the share of each label among some rows."""
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
    given = np.where(labels == true[:, None], probabilities, 0.0).sum(axis=1)
    return 2.0 * given - (probabilities**2).sum(axis=1)
