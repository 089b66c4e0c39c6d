"""The worth of coalitions of columns, for any model: mean scores of rows mixed with reference rows.

One call of the model scores the mixtures of many instances, and equal mixtures are scored once. Mixtures are
often equal: the columns in which the instance and the reference row agree do not matter, and instances share
small coalitions. On the Adult data, about a fifth of the mixtures are distinct.

The explainers of shap treat nearly equal values as equal, so that a date in seconds or a very small number
loses its importance. Here equal means equal.
"""

from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any, Protocol

import attrs
import numpy as np
import pandas as pd
from numpy.typing import NDArray

import faithkit
from faithkit_feature_importance.shap_values.explained_output import CodedModel

Floats = NDArray[np.float64]
Flags = NDArray[np.bool_]
Hashes = NDArray[np.uint64]
VALUES_PER_BATCH = 2**24  # values of the rows that are mixed together


class CoalitionPlan(Protocol):
    """A choice of coalitions, and the map from their worth to the values of the players."""

    @property
    def coalitions(self) -> Flags:
        """The players of each coalition, (coalitions, players)."""

    def values(self, worth: Floats) -> Floats:
        """Return the values (players, classes) from the worth (coalitions, classes)."""


@attrs.frozen
class Mixtures:
    """The model's mean scores of rows with some columns from an instance and the others from reference rows.

    Examples
    --------
    >>> import faithkit
    >>> from sklearn.naive_bayes import GaussianNB
    >>> from faithkit_feature_importance.shap_values.explained_output import Output
    >>> X = np.array([[1.0, 5.0], [2.0, 7.0], [4.0, 6.0]])
    >>> predictor = faithkit.Predictor(GaussianNB().fit(X, [0, 1, 1]))
    >>> model = CodedModel(Output.choose("probability", predictor, X), faithkit.plugin.Encoder(X))
    >>> empty, full = np.array([[False, False], [True, True]])
    >>> (worth,) = Mixtures(model, X).worth(X[:1], {}, [np.array([empty, full])])
    >>> bool(np.allclose(worth, [model.scores(X).mean(axis=0), model.scores(X[:1])[0]]))
    True
    """

    model: CodedModel
    reference: Floats

    def values(
        self,
        codes: Floats,
        unseen_values: Sequence[Mapping[int, Any]],
        plan: Callable[[int, int], CoalitionPlan],
    ) -> Floats:
        """Return values (rows, columns, classes). `plan` maps a row and its number of players to a plan."""
        values_by_row: dict[int, Floats] = {}
        for games in self._batches_of_games(codes, unseen_values, plan):
            rows = [game.row for game in games]
            worths = self.worth(codes[rows], unseen_values[rows[0]], [game.coalitions for game in games])
            values_by_row |= {game.row: game.values(worth) for game, worth in zip(games, worths, strict=True)}
            faithkit.plugin.report_progress(len(games))
        return np.array([values_by_row[row] for row in range(len(codes))])

    def _batches_of_games(
        self,
        codes: Floats,
        unseen_values: Sequence[Mapping[int, Any]],
        plan: Callable[[int, int], CoalitionPlan],
    ) -> Iterator[list["_Game"]]:
        """Divide the games of rows into batches that are scored in one call."""
        games: list[_Game] = []
        n_remaining = self._coalitions_per_batch
        for row, values in enumerate(codes):
            is_different = (self.reference != values) & ~(np.isnan(self.reference) & np.isnan(values))
            players = is_different.any(axis=0)
            game = _Game(row, players, plan(row, int(players.sum())))
            if unseen_values[row]:  # it can change the type of a column, and so the scores of other rows
                yield [game]
                continue
            if games and len(game.coalitions) > n_remaining:
                yield games
                games, n_remaining = [], self._coalitions_per_batch
            games.append(game)
            n_remaining -= len(game.coalitions)
        if games:
            yield games

    @property
    def _coalitions_per_batch(self) -> int:
        """The number of coalitions that are mixed with all reference rows in a batch."""
        return max(1, VALUES_PER_BATCH // self.reference.size)

    def worth(
        self, codes: Floats, unseen_values: Mapping[int, Any], coalitions: Sequence[Flags]
    ) -> list[Floats]:
        """Return the worth (coalitions, classes) of the coalitions of columns of each row."""
        sizes = [len(row_coalitions) for row_coalitions in coalitions]
        row_numbers, columns = np.repeat(np.arange(len(codes)), sizes), np.concatenate(coalitions)
        batches = [
            slice(i, i + self._coalitions_per_batch)
            for i in range(0, len(row_numbers), self._coalitions_per_batch)
        ]
        hashes = self._hash_values(codes)
        worth = [
            self._mean_scores(codes, row_numbers[batch], columns[batch], hashes, unseen_values)
            for batch in batches
        ]
        return np.split(np.concatenate(worth), np.cumsum(sizes)[:-1])

    def _hash_values(self, codes: Floats) -> tuple[Hashes, Hashes]:
        """Return a random 64-bit hash for every value of the rows and the reference; equal values share it.

        A mixture is identified by the sum of its hashes. Different mixtures have the same sum with
        probability 2⁻⁶⁴.
        """
        values = np.concatenate([codes, self.reference])
        hashes, rng = np.empty(values.shape, dtype=np.uint64), np.random.default_rng(0)
        for j, column in enumerate(values.T):
            value_numbers, distinct = pd.factorize(column, use_na_sentinel=False)
            hashes[:, j] = rng.integers(2**64, size=len(distinct), dtype=np.uint64)[value_numbers]
        return hashes[: len(codes)], hashes[len(codes) :]

    def _mean_scores(
        self, codes: Floats, row_numbers: NDArray[np.int64], columns: Flags, hashes: Any, unseen_values: Any
    ) -> Floats:
        """Return the mean scores of coalitions of columns. `row_numbers` says which row each belongs to."""
        row_hashes, reference_hashes = hashes
        instance_sums = np.where(columns, row_hashes[row_numbers], np.uint64(0)).sum(axis=1, keepdims=True)
        mixture_numbers, distinct = pd.factorize(
            (instance_sums + _sum_hashes(~columns, reference_hashes)).ravel()
        )
        first_index = np.empty(len(distinct), dtype=np.int64)
        first_index[mixture_numbers[::-1]] = np.arange(len(mixture_numbers))[::-1]
        coalition, reference_row = np.divmod(first_index, len(reference_hashes))
        scores = self.model.scores(
            self._mix(codes, row_numbers[coalition], columns, coalition, reference_row), unseen_values
        )
        shape = len(row_numbers), len(reference_hashes)
        return np.column_stack(
            [score.take(mixture_numbers).reshape(shape).mean(axis=1) for score in scores.T.copy()]
        )

    def _mix(
        self, codes: Floats, row_numbers: Any, columns: Flags, coalition: Any, reference_row: Any
    ) -> Floats:
        """Return mixtures, ordered by row. `take` is far faster than indexing."""
        mixed = self.reference.take(reference_row, axis=0)
        for row in range(row_numbers[0], row_numbers[-1] + 1):
            of_row = slice(*np.searchsorted(row_numbers, [row, row + 1]))
            np.copyto(mixed[of_row], codes[row], where=columns.take(coalition[of_row], axis=0))
        return mixed


@attrs.frozen(eq=False)
class _Game:
    """The game of a row: its players are the columns that differ from some reference row; others get 0."""

    row: int
    players: Flags
    plan: CoalitionPlan
    coalitions: Flags = attrs.field(init=False)  # as columns, (coalitions, columns)

    @coalitions.default
    def _planned_columns(self) -> Flags:
        planned = self.plan.coalitions
        columns = np.zeros((len(planned), len(self.players)), dtype=bool)
        columns[:, self.players] = planned
        return columns

    def values(self, worth: Floats) -> Floats:
        """Return the values of all columns, (columns, classes)."""
        values = np.zeros((len(self.players), worth.shape[1]))
        values[self.players] = self.plan.values(worth)
        return values


def _sum_hashes(columns: Flags, hashes: Hashes) -> Hashes:
    """Return the sums of the columns' hashes, (coalitions, rows), modulo 2⁶⁴.

    Matrix products of floats are ten times as fast as those of integers, and exact for halves of a hash.
    """
    halves = np.concatenate([hashes >> np.uint64(32), hashes & np.uint64(2**32 - 1)]).astype(np.float64)
    high, low = np.split((columns.astype(np.float64) @ halves.T).astype(np.uint64), 2, axis=1)
    return (high << np.uint64(32)) + low
