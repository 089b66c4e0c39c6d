"""The leaves of an ensemble, in batches of subtrees whose patterns have equally many bits."""

from collections.abc import Iterator
from typing import Any

import attrs
import numpy as np
from numpy.typing import NDArray

from faithkit_feature_importance.shap_values.errors import UnreadableError
from faithkit_feature_importance.shap_values.leaf_by_leaf.conditions import Answers, Conditions
from faithkit_feature_importance.shap_values.leaf_by_leaf.ensembles import Ensemble
from faithkit_feature_importance.shap_values.leaf_by_leaf.subtrees import Subtree, SubtreeCutter, is_deep

Floats = NDArray[np.float64]
Integers = NDArray[np.int64]
MAX_TABLE_ENTRIES = 2**26  # of all subtrees together, 512 MiB
VALUES_PER_BATCH = 2**16  # so that the tables of a batch stay in the processor's cache
SUBTREES_PER_BATCH = 2**8


@attrs.frozen(eq=False)
class LeafGroup:
    """The leaves of a batch with equally many players.

    Parameters
    ----------
    subtrees : (leaves,)
        The subtree of each leaf.
    players : (leaves, k)
        The raw columns on its path.
    required_on, required_off : (leaves, k)
        The bits of the pattern that each player requires to be set, and to be not set.
    values, outputs : (leaves,)
        What the leaf adds, and to which output.
    """

    subtrees: Integers
    players: Integers
    required_on: Integers
    required_off: Integers
    values: Floats
    outputs: Integers

    @property
    def k(self) -> int:
        """The number of players of each leaf."""
        return self.players.shape[1]

    def subset(self, leaves: slice) -> "LeafGroup":
        """Return some of the leaves."""
        return LeafGroup(*(getattr(self, field.name)[leaves] for field in attrs.fields(LeafGroup)))

    def patterns(self, bits: int) -> Integers:
        """Return which players meet the requirements of a leaf, as bits, for each pattern of its subtree."""
        all_patterns = np.arange(1 << bits)
        met_players = np.zeros((len(self.subtrees), 1 << bits), dtype=np.int64)
        for j in range(self.k):
            required_on, required_off = self.required_on[:, j, None], self.required_off[:, j, None]
            met_players |= (
                (all_patterns & required_on == required_on) & (all_patterns & required_off == 0)
            ).astype(np.int64) << j
        return met_players


@attrs.frozen(eq=False)
class SubtreeBatch:
    """Some subtrees whose patterns have equally many bits.

    Parameters
    ----------
    conditions : (subtrees, bits)
        The number of the condition of each bit of a pattern.
    leaves : list of LeafGroup
    output_sums : (subtrees · 2^bits, outputs)
        What a part adds to the outputs of a row with each pattern.
    """

    conditions: Integers
    leaves: list[LeafGroup]
    output_sums: Floats

    @property
    def bits(self) -> int:
        """The number of bits of a pattern."""
        return self.conditions.shape[1]

    @property
    def is_deep(self) -> bool:
        """Whether its subtrees are single leaves, with tables that all players share."""
        return is_deep(self.bits)

    def table_positions(self, is_met: NDArray[np.bool_]) -> NDArray[np.int32]:
        """Return the position of each row in the concatenated tables of the subtrees, (subtrees, rows)."""
        patterns = np.zeros((len(self.conditions), is_met.shape[1]), dtype=np.uint16)
        for j in range(self.bits):
            patterns |= is_met[self.conditions[:, j]].astype(np.uint16) << np.uint16(j)
        return patterns + (np.arange(len(patterns), dtype=np.int32) << self.bits)[:, None]


@attrs.frozen(eq=False)
class Leaves:
    """The leaves of an ensemble whose columns belong to players."""

    conditions: Conditions
    batches: list[SubtreeBatch]
    n_outputs: int
    n_table_entries: int  # of all tables

    @classmethod
    def of(cls, ensemble: Ensemble, used_columns: Integers, raw_columns: Integers) -> "Leaves":
        """Cut all trees into subtrees.

        Parameters
        ----------
        ensemble : Ensemble
        used_columns, raw_columns : (values,)
            The columns that the trees compare, and the raw column of each, which is its player.

        Raises
        ------
        UnreadableError
            If the tables would be too large.
        """
        cutter = SubtreeCutter(dict(zip(used_columns.tolist(), raw_columns.tolist(), strict=True)))
        by_bits: dict[int, list[Subtree]] = {}
        n_values = 0
        for tree in ensemble.trees:
            for subtree in cutter.cut(tree):
                by_bits.setdefault(len(subtree.bits), []).append(subtree)
                n_values += subtree.n_table_entries
                check_table_size(n_values)
        positions = {column: i for i, column in enumerate(used_columns.tolist())}
        splits = {(positions[column], *test): i for (column, *test), i in cutter.splits.items()}
        bits_of_subtrees = (
            bit for subtrees in by_bits.values() for subtree in subtrees for bit in subtree.bits
        )
        conditions, numbers = Conditions.deduplicate(splits, bits_of_subtrees)  # type: ignore[arg-type]
        batches = [
            _build_batch(subtrees, numbers, ensemble.n_outputs)
            for bits in sorted(by_bits)
            for subtrees in _divide_into_batches(by_bits[bits])
        ]
        return cls(conditions, batches, ensemble.n_outputs, n_values)


def check_table_size(n_table_entries: int) -> None:
    """Reject tables that cost more memory and time than they save."""
    if n_table_entries > MAX_TABLE_ENTRIES:
        raise UnreadableError("its trees have too many leaves with too many columns on their paths")


def _divide_into_batches(subtrees: list[Subtree]) -> Iterator[list[Subtree]]:
    """Divide subtrees into batches, independently of the rows: sums must not depend on them."""
    start, n_values = 0, 0
    for end, subtree in enumerate(subtrees):
        n_values += subtree.n_table_entries
        if end > start and (n_values > VALUES_PER_BATCH or end - start >= SUBTREES_PER_BATCH):
            yield subtrees[start:end]
            start, n_values = end, subtree.n_table_entries
    yield subtrees[start:]


def _build_batch(
    subtrees: list[Subtree], condition_numbers: dict[Answers, int], n_outputs: int
) -> SubtreeBatch:
    by_players: dict[int, list[Any]] = {}
    for number, subtree in enumerate(subtrees):
        for leaf in subtree.leaves:
            by_players.setdefault(len(leaf.requirements), []).append((number, leaf))
    leaves = [_build_group(by_players[k]) for k in sorted(by_players)]
    conditions = np.array([[condition_numbers[bit] for bit in subtree.bits] for subtree in subtrees])
    return SubtreeBatch(conditions, leaves, _sum_outputs(leaves, conditions.shape, n_outputs))


def _build_group(leaves: list[Any]) -> LeafGroup:
    requirements = np.array([list(leaf.requirements.values()) for _, leaf in leaves])
    return LeafGroup(
        np.array([subtree for subtree, _ in leaves]),
        np.array([list(leaf.requirements) for _, leaf in leaves]),
        requirements[:, :, 0],
        requirements[:, :, 1],
        np.array([leaf.value for _, leaf in leaves]),
        np.array([leaf.output for _, leaf in leaves]),
    )


def _sum_outputs(leaves: list[LeafGroup], shape: tuple[int, ...], n_outputs: int) -> Floats:
    subtrees, bits = shape
    sums = np.zeros((subtrees, 1 << bits, n_outputs))
    for group in leaves:
        leaf, pattern = np.nonzero(group.patterns(bits) == (1 << group.k) - 1)
        # a row reaches one leaf of a subtree; a leaf with several outputs counts as several leaves
        sums[group.subtrees[leaf], pattern, group.outputs[leaf]] = group.values[leaf]
    return sums.reshape(subtrees << bits, n_outputs)
