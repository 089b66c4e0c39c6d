"""Counts of rows with weights, clusters or blocks."""

from collections.abc import Iterator
from functools import cached_property

import attrs
import numpy as np

from faithkit.arrays import Floats, sum_by
from faithkit.arrays.batches import spans
from faithkit.arrays.bitsets import Bits, pack_bits, unpack_bits
from faithkit.errors import InputError
from faithkit.explanations.explanations import Explanations, Sample
from faithkit.explanations.relations import Relation, WithinBlock, group_explanations, holds_bits
from faithkit.measure.agreement.base import Agreement, agreeing_weights
from faithkit.measure.agreement.same_label import SAME_LABEL
from faithkit.measure.agreement.squares import NOTHING, Squares
from faithkit.measure.counting import scans
from faithkit.measure.counting.cells import Cells, MatrixColumns, mark_run_starts
from faithkit.measure.counting.design import Design
from faithkit.measure.counting.owners import Counts, Owners
from faithkit.measure.counting.pair_ratio import EQUAL_SIZES, CellSizes, PairRatio, SizeSums, Sums
from faithkit.measure.counting.parts import Parts
from faithkit.measure.counting.scans import NO_SLOTS, Pool
from faithkit.measure.counting.tally import RowCount, Tally, check_size

PAIRS = 2**22  # pairs of explanation and instance per batch
CELLS = 2**14  # per batch of sums: they fit in the cache
NEARLY = 1e-9  # cells whose weights differ by less weigh the same


@attrs.frozen(eq=False, kw_only=True)
class CellCount(RowCount):
    """Counts over rows with weights, clusters or blocks, in steps of the weights.

    The rows of a pool follow the explained rows, and own no explanation (−1). An owner is the weight that
    one unit owns of one explanation and label. In blocks, every explanation holds inside one block only, and
    blocks are left out one by one instead of clusters. Numbers are in units of `scale`, the disagreement that
    a constant explanation leaves. `weight_range` has the weights of the smallest and the largest cell,
    and `sizes` how unequal cells are. `grouped_cells` has all cells of a grouping relation, and
    `owner_unit` the unit of each entry of `owners`.
    """

    design: Design
    n_explained: int
    pool_samples: tuple[Sample, ...] = ()
    weight_range: tuple[int, int] = (0, 0)
    sizes: CellSizes = EQUAL_SIZES
    grouped_cells: Cells | None = None
    owner_unit: Counts = NO_SLOTS

    is_plain = False  # rows are not equal

    @cached_property
    def without_block(self) -> Counts:
        """The number of each explanation; an explanation has the same number in all blocks."""
        if not isinstance(self.relation, WithinBlock):
            return np.arange(len(self.explanations))
        return group_explanations(self.relation.relation, self.explanations, missing_apart=True).codes

    @cached_property
    def owner_index(self) -> Counts:
        """The entry of every explained row in `owners`."""
        owners, n = self.owners, self.n_explained
        row_keys = self.owned[:n], self.design.unit[:n], self.labels[:n]
        return _find_keys((owners.explanation, self.owner_unit, owners.label), row_keys)

    @property
    def is_in_blocks(self) -> bool:
        """Whether rows are compared only within blocks."""
        return self.design.block is not None

    @property
    def has_equal_cells(self) -> bool:
        """Whether all cells weigh the same."""
        smallest, largest = self.weight_range
        return largest - smallest <= NEARLY * largest

    @cached_property
    def n_left_out(self) -> int:
        """The number of units that are left out one by one: clusters, rows or blocks."""
        return int(self.design.independent_unit.max()) + 1

    def pair_sums(self, label: int | None = None) -> Sums:
        """Sum over the pairs of all owners, or of a label's owners."""
        ratio = self._pair_ratio(self._sizes(label))
        return ratio.sum_parts(self._parts(label))

    def _parts(self, label: int | None = None) -> Iterator[Parts]:
        """Yield the parts in batches; with a `label`, only rows of this label own any."""
        for cells in self.cells():
            for batch in cells.batches(CELLS):
                yield Parts.of(batch, self.design.step, label)

    def _sizes(self, label: int | None) -> CellSizes:
        """Return how unequal the cells are that owners, or a label's owners, are compared with."""
        if label is None or self.has_equal_cells:
            return self.sizes
        sums = SizeSums(self.design.n_units)
        for parts in self._parts(label):
            sums.add(parts)
        return sums.sizes

    def _pair_ratio(self, sizes: CellSizes | None, block_of_explanation: Counts | None = None) -> PairRatio:
        is_declared = self.design.uninformative
        block = self.explanations.block if block_of_explanation is None else block_of_explanation
        return PairRatio(
            self.agreement, self.n_left_out, None if is_declared else sizes, not is_declared, block
        )

    def _constant_parts(self, label: int | None = None) -> Parts:
        """Return the parts of one explanation that all rows own, or all rows of a block."""
        is_owner = np.arange(len(self.design)) < self.n_explained
        steps, block = self.design.steps, self.design.block
        explanation = np.zeros_like(steps) if block is None else block
        owner_weight = np.where(is_owner, steps, 0)
        cells = Cells.of(explanation, self.design.unit, self.labels, steps, owner_weight)
        return Parts.of(cells, self.design.step, label)

    @property
    def _constant_ratio(self) -> PairRatio:
        """How pairs of a constant explanation are compared: everything that has a pair counts as checked."""
        return self._pair_ratio(None, np.arange(self.n_left_out) if self.is_in_blocks else None)

    def constant_sums(self, label: int | None = None) -> Sums:
        """Return the sums of one explanation for all rows, or in blocks for all rows of each block.

        With a `label`, only rows of this label own it.
        """
        return self._constant_ratio.sum_parts([self._constant_parts(label)])

    def label_chance(self, label: int | None) -> float | None:
        """Return the score of a constant explainer for the owners of one label, or of all labels."""
        parts = self._constant_parts(label)
        return self._mean_chance(parts, parts.by_part(parts.owned))

    def _mean_chance(self, parts: Parts, weight: Floats) -> float | None:
        """Return the mean score of parts that have pairs; None if none has."""
        is_checked, level = self._constant_ratio.levels(parts)
        weight = weight * is_checked
        if not weight.any():
            return None
        return min(1.0, max(0.0, 1.0 - float((weight * level).sum() / weight.sum())))  # but for rounding

    def checked_chance(self) -> float | None:
        """Return the score of unrelated explanations on the rows that can be checked."""
        if not self.is_in_blocks or self.agreement.is_normalised:
            return self.chance()
        owners, parts = self.owners, self._constant_parts()
        checked = sum_by(self.owner_block, owners.weight * (owners.others > 0), self.n_left_out)
        return self._mean_chance(parts, checked[parts.explanation].astype(np.float64))

    @property
    def owner_block(self) -> Counts:
        """The block of each entry of `owners`."""
        assert self.explanations.block is not None
        return self.explanations.block[self.owners.explanation]

    def batches(self, explanations: Explanations | None = None) -> Iterator[tuple[int, int, Bits]]:
        """Yield the relation's matrix over all rows, those of the pool last, in batches of explanations."""
        explanations = self.explanations if explanations is None else explanations
        for start, stop in spans(len(explanations), PAIRS // max(1, len(self.labels))):
            batch = explanations.take(slice(start, stop))
            matrices = [
                unpack_bits(holds_bits(self.relation, sample, batch), len(sample))
                for sample, _ in self.pieces()
            ]
            yield start, stop, pack_bits(np.concatenate(matrices, axis=1))

    @property
    def pool_labels(self) -> Counts:
        """The labels of the rows of the pool that have a weight."""
        in_pool = slice(self.n_explained, None)
        return self.labels[in_pool][self.design.steps[in_pool] > 0]

    def pieces(self) -> Iterator[tuple[Sample, Counts]]:
        """Yield the sample and the pieces of its pool, with their labels."""
        start = 0
        for sample in (self.sample, *self.pool_samples):
            yield sample, self.labels[start : start + len(sample)]
            start += len(sample)

    def cells(self) -> Iterator[Cells]:
        """Yield the cells in batches of explanations, in order; those of a grouping relation in one."""
        if self.grouped_cells is not None:
            yield self.grouped_cells
            return
        columns = MatrixColumns.of(self.design.unit, self.labels, self.design.steps)
        for start, stop, bits in self.batches():
            owners = np.flatnonzero((self.owned >= start) & (self.owned < stop))
            yield columns.cells(bits, start, owners, self.owned[owners])
            del bits  # free memory before the next batch

    def label_counts(self, explanations: Counts) -> Counts:
        """Count the rows of every label for which each of these explanations holds, without weights."""
        if not self.relation.groups:
            return self.scan_label_counts(explanations)
        is_present = ~self.explanations.missing[self.owned]
        labels = (self.labels[(self.owned == explanation) & is_present] for explanation in explanations)
        return np.array([np.bincount(row_labels, minlength=self.n_labels) for row_labels in labels])

    def tallies(self) -> Iterator[Tally]:
        """Yield the tally in weights that average to 1, in parts.

        An explanation has one row for each kind of owner. Owners of one kind have the same `own` and
        `own_agreeing`.
        """
        for start, stop in spans(len(self._kinds[0]), scans.DENSE // self.n_labels):
            yield self._tally_of_kinds(start, stop)

    @property
    def tally(self) -> Tally:
        """The complete tally; an error if it is too large."""
        check_size(len(self._kinds[0]), self.n_labels)
        return self._tally_of_kinds(0, len(self._kinds[0]))

    @cached_property
    def _kinds(self) -> tuple[Counts, Counts]:
        """The first entry of every kind of owner, and the kind of every entry."""
        owners = self.owners
        keys = owners.explanation, owners.own, owners.own_agreeing
        order = np.lexsort(keys[::-1])
        is_first = mark_run_starts(*(key[order] for key in keys))
        kind = np.empty(len(order), dtype=np.int64)
        kind[order] = np.cumsum(is_first) - 1
        return order[is_first], kind

    def _tally_of_kinds(self, start: int, stop: int) -> Tally:
        entries, step, (first, kind) = self.owners, self.design.step, self._kinds
        first_entries = first[start:stop]
        in_span = np.flatnonzero((kind >= start) & (kind < stop))
        owners = np.zeros((2, len(first_entries), self.n_labels))
        np.add.at(owners[1], (kind[in_span] - start, entries.label[in_span]), entries.weight[in_span] * step)
        zeros = np.zeros(len(first_entries))
        own = np.stack([zeros, entries.own[first_entries] * step])
        own_agreeing = np.stack([zeros, entries.own_agreeing[first_entries] * step])
        counts = self._weights_by_label(entries.explanation[first_entries])
        return Tally(counts, owners, own, own_agreeing, self.agreement)

    def _weights_by_label(self, explanations: Counts) -> np.ndarray:
        """Return the weight of the rows of each label for which each of these explanations holds."""
        slot_codes, slot_weights = self._slot_weights
        codes = explanations[:, None] * self.n_labels + np.arange(self.n_labels)
        position = np.searchsorted(slot_codes, codes).clip(max=len(slot_codes) - 1)
        return np.where(slot_codes[position] == codes, slot_weights[position], 0) * self.design.step

    @cached_property
    def _slot_weights(self) -> tuple[Counts, Counts]:
        """The sorted codes of all slots (explanation × labels + label), and the weight in each."""
        codes, weights = [], []
        for cells in self.cells():
            batch_codes, slot = np.unique(
                cells.explanation * self.n_labels + cells.label, return_inverse=True
            )
            codes.append(batch_codes)
            weights.append(sum_by(slot, cells.scope_weight, len(batch_codes)))
        return np.concatenate(codes), np.concatenate(weights)


def count_cells(
    relation: Relation,
    sample: Sample,
    labels: Counts,
    n_labels: int,
    design: Design,
    pool: Pool | None = None,
    agreement: Agreement = SAME_LABEL,
) -> CellCount:
    """Tally a relation over a sample and its pool, whose rows have weights, clusters or blocks.

    `agreement` assumes equal rows. The unit of numbers is set here.

    Examples
    --------
    >>> from faithkit.explanations.explanations import Explanations
    >>> from faithkit.explanations.relations import SameExplanation
    >>> sample = Sample(None, Explanations.of(["a", "a", "a"]))
    >>> design = Design.of(None, ["ann", "ann", "bob"], n=3)
    >>> counted = count_cells(SameExplanation(), sample, np.array([0, 0, 1]), 2, design)
    >>> counted.owners.others, counted.owners.agreeing
    (array([1, 2]), array([0, 0]))
    """
    pieces = [] if pool is None else list(pool)
    samples = [sample, *(piece for piece, _ in pieces)]
    if design.block is not None:
        relation, samples = WithinBlock(relation), _set_blocks(samples, design.block)
    sample, *pool_samples = samples
    groups = group_explanations(
        relation, sample.explanations, missing_apart=True if design.block is not None else None
    )
    return count_coded(
        relation,
        sample,
        sample.explanations.take(groups.first),
        np.append(groups.codes, np.full(len(design) - len(sample), -1)),
        np.concatenate([labels, *(codes for _, codes in pieces)]),
        n_labels,
        design,
        agreement,
        tuple(pool_samples),
    )


def _set_blocks(samples: list[Sample], block: Counts) -> list[Sample]:
    """Return the same rows, whose explanations know their blocks."""
    blocks = np.split(block, np.cumsum([len(sample) for sample in samples])[:-1])
    return [
        Sample(sample.X, attrs.evolve(sample.explanations, block=block))
        for sample, block in zip(samples, blocks, strict=True)
    ]


def count_coded(
    relation: Relation,
    sample: Sample,
    distinct: Explanations,
    owned_explanation: Counts,
    labels: Counts,
    n_labels: int,
    design: Design,
    agreement: Agreement = SAME_LABEL,
    pool_samples: tuple[Sample, ...] = (),
) -> CellCount:
    """Tally rows whose explanations and labels are codes; a row of the pool has the explanation −1.

    A grouping relation needs no sample.
    """
    grouped_cells = None
    if relation.groups:
        is_missing = distinct.missing[owned_explanation]
        scope_weight, outside_weight = (np.where(mask, design.steps, 0) for mask in (~is_missing, is_missing))
        grouped_cells = Cells.of(
            owned_explanation, design.unit, labels, scope_weight, design.steps, outside_weight
        )
    uncounted = CellCount(
        relation=relation,
        sample=sample,
        labels=labels,
        n_labels=n_labels,
        owned=owned_explanation,
        explanations=distinct,
        reflexive=np.zeros(0, dtype=bool),  # `own` of the owners replaces it
        owners=Owners(*[NO_SLOTS] * 7),
        agreement=agreement,
        design=design,
        n_explained=int((owned_explanation >= 0).sum()),
        pool_samples=pool_samples,
        grouped_cells=grouped_cells,
    )
    if isinstance(agreement, Squares) and agreement.is_normalised:
        scale = _constant_disagreement(uncounted)
        uncounted = attrs.evolve(uncounted, agreement=agreement.rescale(scale), scale=scale)
    return _count_owners(uncounted)


def _constant_disagreement(uncounted: CellCount) -> float:
    """Return the mean disagreement that a constant explanation leaves; numbers are divided by it."""
    sums = uncounted.constant_sums()
    if sums.all_disagreement <= NOTHING * max(1.0, sums.all_compared):
        within = "in every block " if uncounted.is_in_blocks else ""
        raise InputError(
            f"there is nothing to explain: {within}all predictions of rows with a weight are the same "
            "number, or of one cluster. For numbers, faithkit measures the share of variance explained, and "
            "they have none."
        )
    return sums.all_disagreement / sums.all_compared


def _count_owners(uncounted: CellCount) -> CellCount:
    """Compute the owners in one pass over the cells."""
    totals = np.zeros(len(uncounted.explanations), dtype=np.int64)
    owner_batches, weight_ranges, sizes = [], [], SizeSums(uncounted.design.n_units)
    for cells in uncounted.cells():
        owner_batches.append(_owner_columns(cells, uncounted.agreement, totals))
        weight_ranges.append(cells.weight_range)
        for batch in cells.batches(CELLS):
            sizes.add(Parts.of(batch, uncounted.design.step))
    row, unit, label, steps, rows, alike, own, own_agreeing = (
        values[0] if len(values) == 1 else np.concatenate(values)
        for values in zip(*owner_batches, strict=True)
    )
    nonempty = [extent for extent in weight_ranges if extent != (0, 0)] or [(0, 0)]
    return attrs.evolve(
        uncounted,
        owners=Owners(row, label, rows, alike, totals, own, own_agreeing, steps),
        owner_unit=unit,
        weight_range=(min(low for low, _ in nonempty), max(high for _, high in nonempty)),
        sizes=sizes.sizes,
    )


def _owner_columns(cells: Cells, agreement: Agreement, totals: Counts) -> tuple[np.ndarray, ...]:
    """Return the columns of all owners in these cells; add to `totals` in place."""
    row, label, scope_weight = cells.explanation, cells.label, cells.scope_weight
    starts = np.flatnonzero(mark_run_starts(row))
    totals[row[starts]] += np.add.reduceat(scope_weight, starts)
    alike = agreeing_weights(agreement, row, label, scope_weight)
    own_agreeing = agreement.sum_over_slots(cells.cell, label, scope_weight)
    own = cells.cell_weights[0][cells.cell]
    columns = row, cells.unit, label, cells.owner_weight, cells.n_owners, alike, own, own_agreeing
    is_owned = cells.n_owners > 0
    return columns if is_owned.all() else tuple(values[is_owned] for values in columns)


def _find_keys(sorted_keys: tuple[Counts, ...], keys: tuple[Counts, ...]) -> Counts:
    """Return the position of each key (a triple) among sorted keys."""
    units, labels = (int(codes.max(initial=0)) + 1 for codes in sorted_keys[1:])
    pairs = sorted_keys[0] * units + sorted_keys[1]
    cell = np.cumsum(mark_run_starts(pairs)) - 1
    key_cell = np.searchsorted(pairs[mark_run_starts(pairs)], keys[0] * units + keys[1])
    return np.searchsorted(cell * labels + sorted_keys[2], key_cell * labels + keys[2])
