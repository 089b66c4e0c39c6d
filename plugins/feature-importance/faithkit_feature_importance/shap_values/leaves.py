"""The leaves of an ensemble, each as the conditions that its players must meet; and which rows meet them."""

from collections.abc import Iterator
from typing import Any

import attrs
import numpy as np
from numpy.typing import NDArray

from faithkit_feature_importance.shap_values.ensembles import Ensemble, Tree, UnreadableError
from faithkit_feature_importance.shap_values.leaf_tables import MOST_PLAYERS

Floats = NDArray[np.float64]
Bools = NDArray[np.bool_]
Split = tuple[int, float, bool, frozenset[float] | None]  # column, threshold, missing to the left, categories
TABLE_CELLS = 2**25  # of all leaves together, 256 MiB: beyond, looking up takes longer than shap's own way
CELLS_AT_ONCE = 2**16  # of the tables of the leaves of a block, which should stay near the processor
PAIRS_AT_ONCE = 2**10  # of leaves and players in a block


@attrs.frozen(eq=False)
class Block:
    """Some leaves with equally many players.

    Parameters
    ----------
    conditions : (leaves, k)
        Which condition each player must meet.
    players : (leaves, k)
        The raw columns.
    values, outputs : (leaves,)
        What the leaf adds, and to which output.
    """

    conditions: NDArray[np.int64]
    players: NDArray[np.int64]
    values: Floats
    outputs: NDArray[np.int64]

    @property
    def k(self) -> int:
        """How many players each leaf has."""
        return self.players.shape[1]

    def patterns(self, met: Bools) -> NDArray[np.uint16]:
        """Return for every leaf and row which players meet their conditions, bit by bit."""
        found = np.zeros((len(self.values), met.shape[1]), dtype=np.uint16)
        for j in range(self.k):
            found |= met[self.conditions[:, j]].astype(np.uint16) << np.uint16(j)
        return found


@attrs.frozen(eq=False)
class Conditions:
    """All conditions that occur: each a conjunction of answers at splits.

    Parameters
    ----------
    columns, thresholds, missing_left : (splits,)
        The distinct splits of the ensemble.
    categories : dict
        For each split by category: those that go to the left.
    answers : list of array
        For the first, second, … answer of every condition that has so many: which it is, 2 · split for "to
        the left" and 2 · split + 1 for "to the right". Conditions with more answers come first.
    """

    columns: NDArray[np.int64]
    thresholds: Floats
    missing_left: Bools
    categories: dict[int, Floats]
    answers: list[NDArray[np.int64]]

    def met(self, cells: Floats) -> Bools:
        """Return which conditions each row meets, (conditions, n); `cells` has a row for each column."""
        if not self.answers:
            return np.zeros((0, cells.shape[1]), dtype=bool)
        asked = cells[self.columns]
        left = asked <= self.thresholds[:, None]
        for split, categories in self.categories.items():
            left[split] = np.isin(asked[split], categories)
        left |= np.isnan(asked) & self.missing_left[:, None]
        answers = np.stack([left, ~left], axis=1).reshape(2 * len(left), -1)
        found = answers[self.answers[0]]
        for more in self.answers[1:]:
            found[: len(more)] &= answers[more]
        return found


@attrs.frozen(eq=False)
class Leaves:
    """The leaves of an ensemble whose columns belong to players."""

    conditions: Conditions
    blocks: list[Block]

    @classmethod
    def of(cls, ensemble: Ensemble, used: NDArray[np.int64], owners: NDArray[np.int64]) -> "Leaves":
        """Walk through all trees.

        Parameters
        ----------
        ensemble : Ensemble
        used, owners : (cells,)
            The columns that the trees compare, and the player to whom each belongs.

        Raises
        ------
        UnreadableError
            Where the tables of the leaves would be too large.
        """
        splits: dict[Split, int] = {}
        found: dict[int, list[Any]] = {}
        size, player = 0, dict(zip(used.tolist(), owners.tolist(), strict=True))
        for tree in ensemble.trees:
            for node, path in _paths(tree, splits):
                players = _by_player(path, player)
                values = zip(tree.outputs, tree.values[node].tolist(), strict=True)
                told = [(players, value, output) for output, value in values if value]
                size += len(told) * table_size(len(players))
                _check_size(size)
                found.setdefault(len(players), []).extend(told)
        place = {column: i for i, column in enumerate(used.tolist())}
        splits = {(place[column], *rest): i for (column, *rest), i in splits.items()}  # type: ignore[misc]
        return _interned(splits, {k: found[k] for k in sorted(found) if k})


def check_room(leaves: Leaves, weights: int) -> None:
    """Refuse leaves whose tables, one for each weight, take more memory and time than they save."""
    _check_size(weights * sum(len(block.values) * table_size(block.k) for block in leaves.blocks))


def _check_size(cells: int) -> None:
    if cells > TABLE_CELLS:
        raise UnreadableError("its trees have too many leaves with too many columns on their paths")


def table_size(k: int) -> int:
    """Return how many cells the table of a leaf with k players has, or refuse."""
    if k > MOST_PLAYERS:
        raise UnreadableError(f"a path of its trees has {k} columns, more than {MOST_PLAYERS}")
    return k << k


def _paths(tree: Tree, splits: dict[Split, int]) -> Iterator[tuple[int, list[tuple[int, int]]]]:
    """Return each leaf that can be reached with its path: the column and the answer at every split."""
    waiting: list[tuple[int, list[tuple[int, int]]]] = [(0, [])]
    left, right, column = tree.left.tolist(), tree.right.tolist(), tree.column.tolist()
    while waiting:
        node, path = waiting.pop()
        if left[node] < 0:
            yield node, path
            continue
        categories = tree.categories.get(node)
        threshold = float(tree.threshold[node]) if categories is None else 0.0
        told = (column[node], threshold, bool(tree.missing_left[node]), categories)
        split = splits.setdefault(told, len(splits))
        waiting.append((left[node], [*path, (column[node], 2 * split)]))
        waiting.append((right[node], [*path, (column[node], 2 * split + 1)]))


def _by_player(path: list[tuple[int, int]], player: dict[int, int]) -> dict[int, tuple[int, ...]]:
    """Return what each player must answer for a path to be taken."""
    answers: dict[int, set[int]] = {}
    for column, answer in path:
        answers.setdefault(player[column], set()).add(answer)
    return {one: tuple(sorted(answers[one])) for one in sorted(answers)}


def _interned(splits: dict[Split, int], found: dict[int, list[Any]]) -> Leaves:
    """Give distinct conditions a number, and put leaves with equally many players into blocks."""
    told = {answers for leaves in found.values() for players, _, _ in leaves for answers in players.values()}
    ordered = sorted(told, key=lambda answers: (-len(answers), answers))
    place = {answers: i for i, answers in enumerate(ordered)}
    blocks = []
    for k, leaves in found.items():
        step = max(
            1, min(CELLS_AT_ONCE // table_size(k), PAIRS_AT_ONCE // k)
        )  # whatever the rows: sums must not depend on them
        blocks += [_block(leaves[start : start + step], place) for start in range(0, len(leaves), step)]
    return Leaves(_conditions(splits, ordered), blocks)


def _block(leaves: list[Any], place: dict[tuple[int, ...], int]) -> Block:
    return Block(
        np.array([[place[answers] for answers in players.values()] for players, _, _ in leaves]),
        np.array([list(players) for players, _, _ in leaves]),
        np.array([value for _, value, _ in leaves]),
        np.array([output for _, _, output in leaves]),
    )


def _conditions(splits: dict[Split, int], ordered: list[tuple[int, ...]]) -> Conditions:
    most = len(ordered[0]) if ordered else 0
    return Conditions(
        np.array([column for column, _, _, _ in splits], dtype=np.int64),
        np.array([threshold for _, threshold, _, _ in splits]),
        np.array([missing for _, _, missing, _ in splits], dtype=bool),
        {i: np.array(sorted(sets)) for (_, _, _, sets), i in splits.items() if sets is not None},
        [np.array([answers[i] for answers in ordered if len(answers) > i]) for i in range(most)],
    )
