"""The counts of a relation: which rows an explanation holds for, how far they agree, and sums over pairs.

The cells of a count come from one of three sources: groups of rows that share an explanation (`groups`), the
matrix of a relation as bits (`bits`), or cell by cell where rows have clusters or many weights (`matrix`).
"""

from collections.abc import Callable, Iterator
from functools import cached_property
from typing import Any, Protocol, TypeVar

import attrs
import numpy as np
from numpy.typing import NDArray

from faithkit.arrays import Floats, Ints, divide_safely, sum_by
from faithkit.arrays.batches import spans
from faithkit.arrays.bitsets import Bits, n_words, pack_bits, unpack_bits
from faithkit.errors import InputError
from faithkit.explanations.explanations import Explanations, Sample
from faithkit.explanations.relations import Relation, WithinBlock, group_explanations, holds_bits
from faithkit.measure.agreement.base import Agreement
from faithkit.measure.agreement.same_label import SAME_LABEL, SameLabel
from faithkit.measure.counting import bits
from faithkit.measure.counting.bits import Piece, RowBits, Slots
from faithkit.measure.counting.cells import Cells, mark_run_starts
from faithkit.measure.counting.constant import Constant, rescale
from faithkit.measure.counting.design import Design
from faithkit.measure.counting.groups import Groups, count_owners, grouped_owners
from faithkit.measure.counting.matrix import MatrixCells
from faithkit.measure.counting.owners import (
    Owners,
    broadcast_ones,
    count_codes,
    find_positions,
    index_codes,
)
from faithkit.measure.counting.pair_ratio import CellSizes, PairRatio, Sums
from faithkit.measure.counting.pool import Pool
from faithkit.measure.counting.tally import Tally, check_size, narrow_spans

T = TypeVar("T")
FEW_WEIGHTS = 16  # different weights of rows whose matrix is counted as bits
MOST = 32.0  # how much heavier one of them may be: without it, five bits are lost
NOTHING = 1e-12  # share of a sum that is rounding
NEARLY = 1e-9  # cells whose weights differ by less weigh the same


class Source(Protocol):
    """Where the cells of a count come from."""

    @property
    def cell_range(self) -> tuple[int, int]:
        """The weights of the smallest and the largest cell that holds something."""

    def sizes(self, label: int | None = None) -> CellSizes:
        """Return how unequal the cells are that owners, or a label's owners, are compared with."""

    def pair_sums(self, ratio: PairRatio, label: int | None = None, shares: Floats | None = None) -> Sums:
        """Sum over the pairs of all owners, or of a label's owners; rows own `shares` of their weights."""

    def label_counts(self, explanations: Ints, by_weight: bool = False) -> Ints:
        """Return the number of rows, or their weight, of every label for which these explanations hold."""


class LoggedRows(Protocol):
    """The rows of a log that is read in pieces, by explanation and label."""

    def sort_labels(self, count: "Count") -> "Count":
        """Return the same counts with predictions sorted and each of them once."""

    def owned_rows(self) -> tuple[Ints, Ints, Ints, Ints]:
        """Return explanation, label, first row and number of rows of each pair of explanation and label."""


@attrs.frozen(eq=False)
class Units:
    """What is left out one by one: rows, clusters or blocks.

    Attributes
    ----------
    owned : (u,) float
        The weight of each unit's explained rows.
    is_explained, is_pool : (u,) bool
        Whether a unit has explained rows with a weight, or only rows of the pool.
    times : (u,) int or None
        How many equal units each entry stands for; None if one.
    """

    owned: Floats
    is_explained: NDArray[np.bool_]
    is_pool: NDArray[np.bool_]
    times: Ints | None = None

    @property
    def all_times(self) -> Ints:
        """How many equal units each entry stands for."""
        return broadcast_ones(len(self.owned)) if self.times is None else self.times


@attrs.frozen(eq=False, slots=False, kw_only=True)
class Count:
    """The counts of a relation over a sample and its pool, or over a log.

    Attributes
    ----------
    relation : Relation
    explanations : Explanations
        The distinct ones, in order of first appearance; in blocks, those of each block.
    n_labels : int
    agreement : Agreement
        Measures how far two labels agree.
    scale : float
        The disagreement that a constant explanation leaves, if numbers are divided by it here.
    design : Design
        The weights, clusters and blocks of all rows.
    owners : Owners
    source : Source
    sample : Sample
        The explained rows; empty for a log that is read in pieces.
    pool : Pool or None
        Rows that own no explanation.
    labels, owned : (n,) int
        The label and the explanation of each row. Those of the pool are last, and own −1.
    row_numbers : (n,) int or None
        The number of each row in the whole sample, if only some of its rows own their explanation.
    logged_rows : LoggedRows or None
        What a log has instead of rows in memory.
    """

    relation: Relation
    explanations: Explanations
    n_labels: int
    agreement: Agreement = SAME_LABEL
    scale: float = 1.0
    design: Design
    owners: Owners
    source: Source
    sample: Sample
    pool: Pool | None = None
    labels: Ints
    owned: Ints
    row_numbers: Ints | None = None
    logged_rows: LoggedRows | None = None
    _owner_index: Ints | None = None
    merging_cache: list[Any] = attrs.field(factory=list, init=False)  # one `Merging`: to match is slow

    # -- rows --

    @cached_property
    def owner_index(self) -> Ints:
        """The entry of each explained row in `owners`."""
        if self._owner_index is not None:
            return self._owner_index
        codes = self.owners.explanation * self.n_labels + self.owners.label
        size = len(self.explanations) * self.n_labels
        return find_positions(codes, self.owned * self.n_labels + self.labels, size)

    @cached_property
    def n_explained(self) -> int:
        """The number of rows that own an explanation."""
        return int((self.owned >= 0).sum())

    @property
    def is_plain(self) -> bool:
        """Whether rows are equal and checked only against each other."""
        return self.design.is_equal and self.pool is None

    @property
    def is_in_blocks(self) -> bool:
        """Whether rows are compared only within blocks."""
        return self.design.block is not None

    @property
    def pool_labels(self) -> Ints:
        """The labels of the rows of the pool that have a weight."""
        in_pool = slice(self.n_explained, None)
        return self.labels[in_pool][self.design.steps[in_pool] > 0]

    def pieces(self) -> Iterator[tuple[Sample, Ints]]:
        """Yield the sample and the pieces of its pool, with their labels."""
        start = 0
        for sample in (self.sample, *(() if self.pool is None else self.pool.samples())):
            yield sample, self.labels[start : start + len(sample)]
            start += len(sample)

    def batches(self, explanations: Explanations | None = None) -> Iterator[tuple[int, int, Bits]]:
        """Yield the relation's matrix over all rows, those of the pool last, in batches of explanations."""
        explanations = self.explanations if explanations is None else explanations
        for start, stop in spans(
            len(explanations), bits.BATCH_BYTES // max(1, 8 * n_words(len(self.labels)))
        ):
            batch = explanations.take(slice(start, stop))
            matrices = [holds_bits(self.relation, sample, batch) for sample, _ in self.pieces()]
            if len(matrices) > 1:
                unpacked = map(unpack_bits, matrices, (len(labels) for _, labels in self.pieces()))
                matrices = [pack_bits(np.concatenate(list(unpacked), axis=1))]
            yield start, stop, matrices[0]

    # -- explanations --

    @cached_property
    def without_block(self) -> Ints:
        """The number of each explanation; an explanation has the same number in all blocks."""
        if not isinstance(self.relation, WithinBlock):
            return np.arange(len(self.explanations))
        return group_explanations(self.relation.relation, self.explanations, missing_apart=True).codes

    @property
    def n_explanations(self) -> int:
        """The number of distinct explanations; one that occurs in several blocks counts once."""
        return int(self.without_block.max(initial=-1)) + 1

    # -- levels --

    def lowest_value(self, n_classes: int | None) -> float | None:
        """Return the smallest possible value of the measure, by convexity; None where it is unknown.

        The model declares `n_classes` labels. Rows without an explanation agree with no other.
        """
        if self.agreement.is_normalised:
            return 0.0 if self.relation.groups else None
        if n_classes is None or n_classes < self.n_labels:
            return None
        if not self.relation.groups or self.explanations.missing.any():
            return None
        return 1.0 / n_classes

    def max_disagreement(self, n_classes: int | None) -> float:
        """Return d_max: the largest disagreement of a row that is compared with no other.

        In a group, the mean disagreement of two rows is that of one row from the group's mean. With k labels
        it is at most 1 − 1/k, and for numbers a quarter of the squared range.
        """
        agreement = self.agreement
        if agreement.is_normalised and agreement.is_bounded:
            return agreement.max_disagreement / (2.0 if self.relation.groups else 1.0)
        is_label = isinstance(agreement, SameLabel)
        return 1.0 - (self.lowest_value(n_classes) or 0.0) if is_label else 1.0

    @cached_property
    def constant(self) -> Constant:
        """One explanation for all rows."""
        if not self.design.is_equal:
            return Constant.of_rows(self.design, self.labels, self.n_explained, self.agreement)
        sizes = sum_by(self.owners.label, self.owners.rows, self.n_labels)
        pool_sizes = np.bincount(self.pool_labels, minlength=self.n_labels)
        return Constant.of_equal_rows(sizes, pool_sizes, self.agreement)

    def chance(self) -> float | None:
        """Return the score of one explanation for all rows; None if no two rows can be compared."""
        return 0.0 if self.agreement.is_normalised else self.constant.score()

    def checked_chance(self) -> float | None:
        """Return the chance level of the rows that can be checked: usually the same."""
        if not self.is_in_blocks or self.agreement.is_normalised:
            return self.chance()
        assert self.explanations.block is not None
        block = self.explanations.block[self.owners.explanation]
        checked = sum_by(block, self.owners.weight * (self.owners.others > 0), self.n_left_out)
        return self.constant.score(weight=checked.astype(np.float64))

    # -- sums over pairs --

    @cached_property
    def n_left_out(self) -> int:
        """The number of rows, clusters or blocks that are left out one by one."""
        return int(self.design.independent_unit.max()) + 1

    @cached_property
    def has_equal_cells(self) -> bool:
        """Whether all cells weigh the same."""
        smallest, largest = self.source.cell_range
        return largest - smallest <= NEARLY * largest

    @property
    def has_classes(self) -> bool:
        """Whether equal rows that share explanation and label are one unit, left out several times."""
        return self.relation.groups and self.design.is_equal

    def units(self, label: int | None = None) -> Units:
        """Return what is left out one by one; with a `label`, only rows of this label own something."""
        if self.has_classes:
            owners = self.owners
            everywhere = np.ones(len(owners), dtype=bool)
            owned = np.ones(len(owners)) if label is None else (owners.label == label).astype(np.float64)
            return Units(owned, everywhere, ~everywhere, owners.rows)
        n, n_units, design = self.n_explained, self.n_left_out, self.design
        unit, steps = design.independent_unit, design.steps
        is_explained = sum_by(unit[:n], steps[:n], n_units) > 0
        is_pool = ~is_explained & (sum_by(unit, steps, n_units) > 0)
        steps = steps[:n] if label is None else np.where(self.labels[:n] == label, steps[:n], 0)
        owned = sum_by(unit[:n], steps, n_units) * design.step
        return Units(owned, is_explained, is_pool)

    def pair_sums(
        self, label: int | None = None, has_influence: bool = False, shares: Floats | None = None
    ) -> Sums:
        """Sum over the pairs of all owners, or of a label's owners, by unit.

        If rows own `shares` of their weights, everything that has a pair counts as checked.
        """
        smallest, largest = self.source.cell_range
        # the explanation of a row may hold for other rows of its cluster, and not for the row itself
        may_hold_for_cluster = self.design.is_clustered and not self.relation.groups
        is_mixed = not self.design.uninformative and (smallest < largest or may_hold_for_cluster)
        sizes = self._sizes(label) if is_mixed and shares is None else None
        n_units = len(self.owners) if self.has_classes else self.n_left_out
        block = self.explanations.block
        ratio = PairRatio(self.agreement, n_units, sizes, is_mixed, block, has_influence)
        return self.source.pair_sums(ratio, label, shares)

    def _sizes(self, label: int | None) -> CellSizes:
        return self._all_sizes if label is None or self.has_equal_cells else self.source.sizes(label)

    @cached_property
    def _all_sizes(self) -> CellSizes:
        return self.source.sizes()

    def divisor_left(self) -> Floats | None:
        """Return the share of what one explanation leaves of numbers, without each unit; None for others."""
        if not self.agreement.is_normalised:
            return None
        sums = self.constant.sums()
        compared = sums.compared - sums.lost_compared
        left = divide_safely(
            sums.disagreement - sums.lost_disagreement, np.where(compared > NOTHING, compared, 0.0)
        )
        left = np.where(left > NOTHING, left, 0.0)
        if not self.design.is_equal:
            return left
        if self.has_classes:
            return left[2 * self.owners.label]
        return left[2 * self.labels + (np.arange(len(self.labels)) >= self.n_explained)]

    # -- tables for estimators and reports --

    @property
    def with_sorted_labels(self) -> "Count":
        """The same counts with predictions sorted and each of them once, for access to single predictions."""
        return self if self.logged_rows is None else self.logged_rows.sort_labels(self)

    def label_counts(self, explanations: Ints, by_weight: bool = False) -> Ints:
        """Return the number of rows of every label for which each of these explanations holds.

        If `by_weight`, return their weights, in steps.
        """
        if not self.relation.groups:
            return self.source.label_counts(explanations, by_weight)
        table = np.zeros((len(explanations), self.n_labels), dtype=np.int64)
        owners, has_explanation = self.owners, ~self.explanations.missing[explanations]
        sizes = owners.weight if by_weight else owners.rows
        for row in np.flatnonzero(has_explanation):
            entries = owners.span(explanations[row], explanations[row] + 1)
            np.add.at(table[row], owners.label[entries], sizes[entries])
        return table

    def owned_rows(self) -> tuple[Ints, Ints, Ints, Ints]:
        """Return explanation, label, number and count of all explained rows.

        Rows of a log that have the first two in common are one, with the number of the first of them.
        """
        if self.logged_rows is not None:
            return self.logged_rows.owned_rows()
        n = self.n_explained
        return self.owned[:n], self.labels[:n], np.arange(n), np.ones(n, dtype=np.int64)

    @property
    def tally(self) -> Tally:
        """The complete tally; an error if it is too large."""
        check_size(self._n_kinds, self.n_labels)
        return self._build_tally(0, self._n_kinds)

    def tallies(self) -> Iterator[Tally]:
        """Yield the tally for estimators: complete, or in parts of explanations if it is large.

        A part has only the labels that occur in it.
        """
        m, k = self._n_kinds, self.n_labels
        if m * k <= bits.DENSE:
            yield self._build_tally(0, m)
        elif self.has_classes:
            yield from (self._tally_of_groups(*span) for span in narrow_spans(self.owners))
        else:
            for span in spans(m, bits.DENSE // k):
                yield self._build_tally(*span).without_unused_labels()

    @property
    def _n_kinds(self) -> int:
        """The number of rows of the tally."""
        return len(self.explanations) if self.design.is_equal else len(self._kinds[0])

    def _build_tally(self, start: int, stop: int) -> Tally:
        """Return the rows of the tally from `start` to `stop`, over all labels."""
        if not self.design.is_equal:
            return self._tally_of_kinds(start, stop)
        span = self.owners.span(start, stop)
        entries = self.owners.part(span.start, span.stop)
        owners = np.zeros((2, stop - start, self.n_labels), dtype=np.int64)
        owners[entries.own, entries.explanation - start, entries.label] = entries.rows
        counts = owners[1].copy() if self.has_classes else self.label_counts(np.arange(start, stop))
        return Tally(counts, owners, agreement=self.agreement)

    def _tally_of_groups(self, start: int, stop: int) -> Tally:
        """Return the tally of some groups of equal rows, over the labels that occur in them."""
        span = self.owners.span(start, stop)
        entries = self.owners.part(span.start, span.stop)
        occurring, label = np.unique(entries.label, return_inverse=True)
        owners = np.zeros((2, stop - start, len(occurring)), dtype=np.int64)
        owners[entries.own, entries.explanation - start, label] = entries.rows
        return Tally(owners[1].copy(), owners, agreement=self.agreement.select_labels(occurring))

    @cached_property
    def _kinds(self) -> tuple[Ints, Ints]:
        """The first entry of each kind of owner, and the kind of each entry.

        Owners of one kind have the same explanation, `own` and `own_agreeing`.
        """
        keys = self.owners.explanation, self.owners.own, self.owners.own_agreeing
        order = np.lexsort(keys[::-1])
        is_first = mark_run_starts(*(key[order] for key in keys))
        kind = np.empty(len(order), dtype=np.int64)
        kind[order] = np.cumsum(is_first) - 1
        return order[is_first], kind

    def _tally_of_kinds(self, start: int, stop: int) -> Tally:
        """Return the tally of some kinds of owners, with a row for each; weights average to 1."""
        entries, (first, kind), step = self.owners, self._kinds, self.design.step
        chosen, in_span = first[start:stop], np.flatnonzero((kind >= start) & (kind < stop))
        owners = np.zeros((2, stop - start, self.n_labels))
        place = kind[in_span] - start, entries.label[in_span]
        np.add.at(owners[1], place, entries.weight[in_span] * step)
        counts = self.label_counts(entries.explanation[chosen], by_weight=True) * step
        nothing = np.zeros(len(chosen))
        own, agreeing = (
            np.stack([nothing, values[chosen] * step]) for values in (entries.own, entries.own_agreeing)
        )
        return Tally(counts, owners, own, agreeing, self.agreement)


def count(
    relation: Relation,
    sample: Sample,
    labels: Ints,
    n_labels: int,
    pool: Pool | None = None,
    agreement: Agreement = SAME_LABEL,
    design: Design | None = None,
) -> Count:
    """Count a relation over a sample and its pool.

    `labels` are the predictions of the sample, as codes 0 … n_labels − 1. `agreement` measures how far two
    predictions agree; it assumes equal rows. `design` has the weights, clusters and blocks of all rows.

    Examples
    --------
    >>> from faithkit.explanations.relations import SameExplanation
    >>> sample = Sample(None, Explanations.of(["a", "a", "b"]))
    >>> count(SameExplanation(), sample, np.array([0, 1, 1]), 2).tally.counts
    array([[1, 1],
           [0, 1]])
    >>> design = Design.of(None, ["ann", "ann", "bob"], n=3)
    >>> count(SameExplanation(), sample, np.array([0, 0, 1]), 2, design=design).owners.others
    array([0, 0])
    """
    if len(labels) != len(sample):
        raise InputError(
            f"{len(labels)} predictions for {len(sample)} explanations: give one of each per row."
        )
    if pool is not None and not relation.instance_only:
        raise InputError(
            f"{relation} reads the explanations of the rows that it is asked about, and the rows of a "
            "pool have none: leave the pool out, or use a relation that reads the instance only."
        )
    n_pool = 0 if pool is None else len(pool)
    design = Design.equal(len(labels) + n_pool) if design is None else design
    if design.block is not None:
        relation, sample, pool = _set_blocks(relation, sample, pool, design.block)
    missing_apart = relation.groups or design.block is not None
    groups = group_explanations(relation, sample.explanations, missing_apart)
    if pool is not None:
        labels = np.concatenate([labels, pool.codes])
    rows = CodedRows(
        relation,
        sample,
        pool,
        sample.explanations.take(groups.first),
        np.append(groups.codes, np.full(n_pool, -1)),
        labels,
        n_labels,
        design,
    )
    return rows.count(agreement)


def _set_blocks(
    relation: Relation, sample: Sample, pool: Pool | None, block: Ints
) -> tuple[Relation, Sample, Pool | None]:
    """Return the relation within blocks, and the same rows, whose explanations know their blocks."""
    n = len(sample)
    sample = Sample(sample.X, attrs.evolve(sample.explanations, block=block[:n]))
    return WithinBlock(relation), sample, None if pool is None else pool.in_blocks(block[n:])


@attrs.frozen(eq=False)
class CodedRows:
    """Rows whose explanations and labels are codes."""

    relation: Relation
    sample: Sample
    pool: Pool | None
    explanations: Explanations
    owned: Ints
    labels: Ints
    n_labels: int
    design: Design

    def count(self, agreement: Agreement) -> Count:
        """Count the rows; the unit of numbers is set here if rows are not equal."""
        agreement, scale = rescale(agreement, self.design, self.labels, self.n_explained)
        if self.relation.groups:
            counted = count_groups(
                self.explanations, self.owned, self.labels, self.n_labels, self.design, agreement
            )
        elif self._has_few_weights:
            counted = self._count_bits(agreement)
        else:
            counted = self._count_cells(agreement)
        source, owners, owner_index = counted
        return Count(
            relation=self.relation,
            explanations=self.explanations,
            n_labels=self.n_labels,
            agreement=agreement,
            scale=scale,
            design=self.design,
            owners=owners,
            source=source,
            sample=self.sample,
            pool=self.pool,
            labels=self.labels,
            owned=self.owned,
            owner_index=owner_index,
        )

    @property
    def n_explained(self) -> int:
        """The number of rows that own an explanation."""
        return int((self.owned >= 0).sum())

    @property
    def _has_few_weights(self) -> bool:
        """Whether rows are units, and of so few weights that their matrix can be counted as bits."""
        design = self.design
        if design.is_equal:
            return True
        if design.is_clustered or design.block is not None:
            return False
        weights = np.unique(design.steps)
        return len(weights) <= FEW_WEIGHTS and weights[-1] <= MOST * weights[weights > 0][0]

    def _count_bits(self, agreement: Agreement) -> "Counted":
        codes, n_slots = (
            self.owned[: self.n_explained] * self.n_labels,
            len(self.explanations) * self.n_labels,
        )
        slot_codes, _ = count_codes(codes + self.labels[: self.n_explained], n_slots)
        explanation, label = np.divmod(slot_codes, self.n_labels)
        slots = Slots(self.explanations, self.n_labels, agreement, explanation, label)
        weights, weight = np.ones(1, dtype=np.int64), np.zeros(len(self.labels), dtype=np.int64)
        if not self.design.is_equal:
            weights, weight = np.unique(self.design.steps, return_inverse=True)
        pieces = _Pieces(self.sample, self.pool, self.labels, self.owned, weight)
        source = RowBits.count(self.relation, slots, pieces, weights, self.design.step)
        return source, source.owners, source.entry_of_row

    def _count_cells(self, agreement: Agreement) -> "Counted":
        design, n = self.design, self.n_explained
        source, owners, unit = MatrixCells.count(
            agreement,
            relation=self.relation,
            samples=[self.sample, *(() if self.pool is None else self.pool.samples())],
            explanations=self.explanations,
            owned=self.owned,
            unit=design.unit,
            labels=self.labels,
            steps=design.steps,
            n_labels=self.n_labels,
            step=design.step,
        )
        return source, owners, _find_entries(owners, unit, (self.owned[:n], design.unit[:n], self.labels[:n]))


@attrs.frozen(eq=False)
class _Pieces:
    """The rows of each weight in the sample and in each piece of the pool."""

    sample: Sample
    pool: Pool | None
    labels: Ints
    owned: Ints
    weight: Ints
    _kept: list[Piece] = attrs.field(factory=list, init=False)  # with what relations cached on their samples

    def __call__(self, function: Callable[[Piece], T]) -> Iterator[T]:
        """Call a function for each of them, and yield the results."""
        if not self._kept and (self.pool is None or self.pool.is_kept):
            self._kept.extend(self)
        return map(function, self._kept or self)

    def __iter__(self) -> Iterator[Piece]:
        start = 0
        for sample in (self.sample, *(() if self.pool is None else self.pool.samples())):
            rows = np.arange(start, start + len(sample))
            for one_weight in np.unique(self.weight[rows]).tolist() or [0]:
                some = rows[self.weight[rows] == one_weight]
                part = sample if len(some) == len(rows) else sample.take(some - start)
                yield Piece(part, self.labels[some], self.owned[some], one_weight, some)
            start += len(sample)


Counted = tuple[Source, Owners, Ints | None]
"""The source of a count, its owners, and the entry of each explained row in them, if it is known."""


def count_groups(
    explanations: Explanations,
    owned: Ints,
    labels: Ints,
    n_labels: int,
    design: Design,
    agreement: Agreement,
) -> Counted:
    """Count rows that share an explanation; a missing one holds for no row."""
    if design.is_equal:
        codes, n_slots = owned * n_labels + labels, len(explanations) * n_labels
        entry_of_row = None
        if n_slots > 4 * len(codes):
            occurring, n_rows, entry_of_row = index_codes(codes)
        else:
            occurring, n_rows = count_codes(codes, n_slots)  # `Count.owner_index` finds them if asked
        owners = grouped_owners(*np.divmod(occurring, n_labels), n_rows, ~explanations.missing, agreement)
        return Groups.of_owners(owners), owners, entry_of_row
    is_missing = explanations.missing[owned]
    held, outside = (np.where(mask, design.steps, 0) for mask in (~is_missing, is_missing))
    cells = Cells.of(owned, design.unit, labels, held, design.steps, outside)
    owners, unit = count_owners(cells, agreement, len(explanations))
    source = Groups(cells, design.step, len(explanations), int(design.unit.max()) + 1)
    return source, owners, _find_entries(owners, unit, (owned, design.unit, labels))


def _find_entries(owners: Owners, unit: Ints, keys: tuple[Ints, Ints, Ints]) -> Ints:
    """Return the entry of each row, given its explanation, unit and label; entries are sorted by these."""
    n_units, n_labels = (int(codes.max(initial=0)) + 1 for codes in (unit, owners.label))
    cells = owners.explanation * n_units + unit
    starts = mark_run_starts(cells)
    codes = (np.cumsum(starts) - 1) * n_labels + owners.label
    cell = np.searchsorted(cells[starts], keys[0] * n_units + keys[1])
    return np.searchsorted(codes, cell * n_labels + keys[2])
