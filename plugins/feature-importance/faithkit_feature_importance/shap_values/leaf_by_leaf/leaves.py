"""The leaves of an ensemble, in blocks of parts with equally many bits; and what a row is to each part."""

from collections.abc import Iterator
from typing import Any

import attrs
import numpy as np
from numpy.typing import NDArray

from faithkit_feature_importance.shap_values.leaf_by_leaf.conditions import Answers, Conditions
from faithkit_feature_importance.shap_values.leaf_by_leaf.ensembles import Ensemble, UnreadableError
from faithkit_feature_importance.shap_values.leaf_by_leaf.parts import Part, Walk, is_deep

Floats = NDArray[np.float64]
Integers = NDArray[np.int64]
Patterns = NDArray[np.uint16]
TABLE_CELLS = 2**26  # of all parts together, 512 MiB
CELLS_AT_ONCE = 2**16  # of the tables of a block, which should stay near the processor
PARTS_AT_ONCE = 2**8


@attrs.frozen(eq=False)
class Alike:
    """Leaves of a block with equally many players.

    Parameters
    ----------
    parts : (leaves,)
        The part to which each belongs.
    players : (leaves, k)
        The raw columns.
    on, off : (leaves, k)
        The bits of the part's pattern that each player demands to be set, and to be not.
    values, outputs : (leaves,)
        What the leaf adds, and to which output.
    """

    parts: Integers
    players: Integers
    on: Integers
    off: Integers
    values: Floats
    outputs: Integers

    @property
    def k(self) -> int:
        """How many players each leaf has."""
        return self.players.shape[1]

    def taken(self, leaves: slice) -> "Alike":
        """Return some of the leaves."""
        return Alike(*(getattr(self, field.name)[leaves] for field in attrs.fields(Alike)))

    def patterns(self, bits: int) -> Integers:
        """Return which players meet the demands of a leaf, bit by bit, for each pattern of its part."""
        told = np.arange(1 << bits)
        found = np.zeros((len(self.parts), 1 << bits), dtype=np.int64)
        for j in range(self.k):
            on, off = self.on[:, j, None], self.off[:, j, None]
            found |= ((told & on == on) & (told & off == 0)).astype(np.int64) << j
        return found


@attrs.frozen(eq=False)
class Block:
    """Some parts with equally many bits.

    Parameters
    ----------
    conditions : (parts, bits)
        Which condition each bit of a pattern stands for.
    leaves : list of Alike
    reached : (parts · 2^bits, outputs)
        What a part adds to the outputs of a row with each pattern.
    """

    conditions: Integers
    leaves: list[Alike]
    reached: Floats

    @property
    def bits(self) -> int:
        """How many bits a pattern has."""
        return self.conditions.shape[1]

    @property
    def is_deep(self) -> bool:
        """Whether its parts are single leaves, with tables that all players share."""
        return is_deep(self.bits)

    def places(self, met: NDArray[np.bool_]) -> NDArray[np.int32]:
        """Return where each part finds each row, (parts, rows), in tables that lie one after the other."""
        found = np.zeros((len(self.conditions), met.shape[1]), dtype=np.uint16)
        for j in range(self.bits):
            found |= met[self.conditions[:, j]].astype(np.uint16) << np.uint16(j)
        return found + (np.arange(len(found), dtype=np.int32) << self.bits)[:, None]


@attrs.frozen(eq=False)
class Leaves:
    """The leaves of an ensemble whose columns belong to players."""

    conditions: Conditions
    blocks: list[Block]
    n_outputs: int
    cells: int  # of all tables

    @classmethod
    def of(cls, ensemble: Ensemble, used: Integers, owners: Integers) -> "Leaves":
        """Walk through all trees.

        Parameters
        ----------
        ensemble : Ensemble
        used, owners : (cells,)
            The columns that the trees compare, and the player to whom each belongs.

        Raises
        ------
        UnreadableError
            Where the tables would be too large.
        """
        walk = Walk(dict(zip(used.tolist(), owners.tolist(), strict=True)))
        found: dict[int, list[Part]] = {}
        size = 0
        for tree in ensemble.trees:
            for part in walk.parts(tree):
                found.setdefault(len(part.bits), []).append(part)
                size += part.cells
                check_room(size)
        places = {column: i for i, column in enumerate(used.tolist())}
        splits = {(places[column], *rest): i for (column, *rest), i in walk.splits.items()}
        told = (bit for parts in found.values() for part in parts for bit in part.bits)
        conditions, place = Conditions.told_apart(splits, told)  # type: ignore[arg-type]
        blocks = [
            _block(parts, place, ensemble.n_outputs) for bits in sorted(found) for parts in _cut(found[bits])
        ]
        return cls(conditions, blocks, ensemble.n_outputs, size)


def check_room(cells: int) -> None:
    """Refuse tables that take more memory and time than they save."""
    if cells > TABLE_CELLS:
        raise UnreadableError("its trees have too many leaves with too many columns on their paths")


def _cut(parts: list[Part]) -> Iterator[list[Part]]:
    """Cut parts into blocks; whatever the rows, for sums must not depend on them."""
    start, cells = 0, 0
    for end, part in enumerate(parts):
        cells += part.cells
        if end > start and (cells > CELLS_AT_ONCE or end - start >= PARTS_AT_ONCE):
            yield parts[start:end]
            start, cells = end, part.cells
    yield parts[start:]


def _block(parts: list[Part], place: dict[Answers, int], n_outputs: int) -> Block:
    by_players: dict[int, list[Any]] = {}
    for number, part in enumerate(parts):
        for leaf in part.leaves:
            by_players.setdefault(len(leaf.demands), []).append((number, leaf))
    leaves = [_alike(by_players[k]) for k in sorted(by_players)]
    conditions = np.array([[place[bit] for bit in part.bits] for part in parts])
    return Block(conditions, leaves, _reached(leaves, conditions.shape, n_outputs))


def _alike(leaves: list[Any]) -> Alike:
    demands = np.array([list(leaf.demands.values()) for _, leaf in leaves])
    return Alike(
        np.array([part for part, _ in leaves]),
        np.array([list(leaf.demands) for _, leaf in leaves]),
        demands[:, :, 0],
        demands[:, :, 1],
        np.array([leaf.value for _, leaf in leaves]),
        np.array([leaf.output for _, leaf in leaves]),
    )


def _reached(leaves: list[Alike], shape: tuple[int, ...], n_outputs: int) -> Floats:
    parts, bits = shape
    found = np.zeros((parts, 1 << bits, n_outputs))
    for alike in leaves:
        leaf, pattern = np.nonzero(alike.patterns(bits) == (1 << alike.k) - 1)
        # a row reaches one leaf of a part; what it adds to several outputs are leaves of their own
        found[alike.parts[leaf], pattern, alike.outputs[leaf]] = alike.values[leaf]
    return found.reshape(parts << bits, n_outputs)
