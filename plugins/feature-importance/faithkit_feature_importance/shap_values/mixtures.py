"""Games of columns for any model: mean scores of rows that are mixed from an instance and reference rows.

The mixtures of many instances are asked about in one call, and equal ones once: a mixture says nothing of the
columns in which the instance and the reference row agree, and a small coalition of one instance is often that
of another. On the Adult data this leaves about a fifth of the questions.

shap's own explainers take cells that are nearly equal for equal, so that a date in seconds or a very small
number loses its importance. Here equal means equal.
"""

from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any, Protocol

import attrs
import numpy as np
import pandas as pd
from numpy.typing import NDArray

import faithkit
from faithkit_feature_importance.shap_values.coded_model import CodedModel

Floats = NDArray[np.float64]
Flags = NDArray[np.bool_]
Words = NDArray[np.uint64]
CELLS = 2**24  # of the rows that are mixed at a time


class Plan(Protocol):
    """Which coalitions of a number of players are tried, and how their worth becomes each player's value."""

    @property
    def coalitions(self) -> Flags:
        """The players of each coalition, (coalitions, players)."""

    def values(self, worth: Floats) -> Floats:
        """Return the values (players, classes), given what coalitions are worth, (coalitions, classes)."""


@attrs.frozen
class Mixtures:
    """The model's mean scores where some columns are an instance's and the others a reference row's, in turn.

    Examples
    --------
    >>> import faithkit
    >>> from sklearn.naive_bayes import GaussianNB
    >>> from faithkit_feature_importance.shap_values.outputs import Output
    >>> X = np.array([[1.0, 5.0], [2.0, 7.0], [4.0, 6.0]])
    >>> predictor = faithkit.Predictor(GaussianNB().fit(X, [0, 1, 1]))
    >>> model = CodedModel(Output.choose("probability", predictor, X), faithkit.plugin.Encoder(X))
    >>> none, every = np.array([[False, False], [True, True]])
    >>> (worth,) = Mixtures(model, X).worth(X[:1], {}, [np.array([none, every])])
    >>> bool(np.allclose(worth, [model.scores(X).mean(axis=0), model.scores(X[:1])[0]]))
    True
    """

    model: CodedModel
    reference: Floats

    def values(
        self, codes: Floats, unseen: Sequence[Mapping[int, Any]], plan: Callable[[int, int], Plan]
    ) -> Floats:
        """Return the values (rows, columns, classes), by a plan for each row and its number of players."""
        found: dict[int, Floats] = {}
        for games in self._together(codes, unseen, plan):
            rows = [game.row for game in games]
            worths = self.worth(codes[rows], unseen[rows[0]], [game.coalitions for game in games])
            found |= {game.row: game.values(worth) for game, worth in zip(games, worths, strict=True)}
            faithkit.plugin.rows_done(len(games))
        return np.array([found[row] for row in range(len(codes))])

    def _together(
        self, codes: Floats, unseen: Sequence[Mapping[int, Any]], plan: Callable[[int, int], Plan]
    ) -> Iterator[list["_Game"]]:
        """Divide the games of rows into those that are asked about together."""
        games: list[_Game] = []
        left = self._at_once
        for row, cells in enumerate(codes):
            differ = (self.reference != cells) & ~(np.isnan(self.reference) & np.isnan(cells))
            players = differ.any(axis=0)
            game = _Game(row, players, plan(row, int(players.sum())))
            if unseen[row]:  # which can change the type of a column, and so what the model makes of others
                yield [game]
                continue
            if games and len(game.coalitions) > left:
                yield games
                games, left = [], self._at_once
            games.append(game)
            left -= len(game.coalitions)
        if games:
            yield games

    @property
    def _at_once(self) -> int:
        """How many coalitions are mixed with all reference rows at a time."""
        return max(1, CELLS // self.reference.size)

    def worth(self, codes: Floats, unseen: Mapping[int, Any], coalitions: Sequence[Flags]) -> list[Floats]:
        """Return what each row's coalitions of columns are worth: (coalitions, classes) for every row."""
        sizes = [len(own) for own in coalitions]
        owners, columns = np.repeat(np.arange(len(codes)), sizes), np.concatenate(coalitions)
        parts = [slice(i, i + self._at_once) for i in range(0, len(owners), self._at_once)]
        words = self._words(codes)
        worth = [self._mean_scores(codes, owners[part], columns[part], words, unseen) for part in parts]
        return np.split(np.concatenate(worth), np.cumsum(sizes)[:-1])

    def _words(self, codes: Floats) -> tuple[Words, Words]:
        """Give every value of a column a random word of 64 bits: those of the rows, and of the reference.

        A mixture is known by the sum of its words. Two that are not equal have the same sum with a chance of
        2⁻⁶⁴.
        """
        cells = np.concatenate([codes, self.reference])
        words, random = np.empty(cells.shape, dtype=np.uint64), np.random.default_rng(0)
        for j, column in enumerate(cells.T):
            place, known = pd.factorize(column, use_na_sentinel=False)
            words[:, j] = random.integers(2**64, size=len(known), dtype=np.uint64)[place]
        return words[: len(codes)], words[len(codes) :]

    def _mean_scores(
        self, codes: Floats, owners: NDArray[np.int64], columns: Flags, words: Any, unseen: Any
    ) -> Floats:
        """Return the mean scores of coalitions of columns, each of the row that owns it."""
        own, others = words
        taken = np.where(columns, own[owners], np.uint64(0)).sum(axis=1, keepdims=True)
        place, known = pd.factorize((taken + _sums(~columns, others)).ravel())
        first = np.empty(len(known), dtype=np.int64)
        first[place[::-1]] = np.arange(len(place))[::-1]
        which, other = np.divmod(first, len(others))
        scores = self.model.scores(self._mixed(codes, owners[which], columns, which, other), unseen)
        shape = len(owners), len(others)
        return np.column_stack([score.take(place).reshape(shape).mean(axis=1) for score in scores.T.copy()])

    def _mixed(self, codes: Floats, owners: Any, columns: Flags, which: Any, other: Any) -> Floats:
        """Return mixtures; those of a row stand together. By take, which is far faster than indexing."""
        mixed = self.reference.take(other, axis=0)
        for owner in range(owners[0], owners[-1] + 1):
            part = slice(*np.searchsorted(owners, [owner, owner + 1]))
            np.copyto(mixed[part], codes[owner], where=columns.take(which[part], axis=0))
        return mixed


@attrs.frozen(eq=False)
class _Game:
    """A row whose players are the columns in which it differs from some reference row; others get 0."""

    row: int
    players: Flags
    plan: Plan
    coalitions: Flags = attrs.field(init=False)  # as columns, (coalitions, columns)

    @coalitions.default
    def _of_columns(self) -> Flags:
        planned = self.plan.coalitions
        columns = np.zeros((len(planned), len(self.players)), dtype=bool)
        columns[:, self.players] = planned
        return columns

    def values(self, worth: Floats) -> Floats:
        """Return the values of all columns, (columns, classes)."""
        found = np.zeros((len(self.players), worth.shape[1]))
        found[self.players] = self.plan.values(worth)
        return found


def _sums(columns: Flags, words: Words) -> Words:
    """Return the sum of the columns' words, (coalitions, rows), modulo 2⁶⁴.

    Products of floats are ten times as fast as those of integers, and exact for halves of words.
    """
    halves = np.concatenate([words >> np.uint64(32), words & np.uint64(2**32 - 1)]).astype(np.float64)
    high, low = np.split((columns.astype(np.float64) @ halves.T).astype(np.uint64), 2, axis=1)
    return (high << np.uint64(32)) + low
