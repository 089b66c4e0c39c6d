"""Counts of rows with weights or clusters."""

from collections.abc import Iterator
from functools import cached_property

import attrs
import numpy as np

from faithkit.arrays import sum_by
from faithkit.arrays.batches import spans
from faithkit.arrays.bitsets import Bits, pack_bits, unpack_bits
from faithkit.errors import InputError
from faithkit.explanations.explanations import Explanations, Sample
from faithkit.explanations.relations import Relation, group_explanations, holds_bits
from faithkit.measure.agreement.base import Agreement, agreeing_weights
from faithkit.measure.agreement.same_label import SAME_LABEL
from faithkit.measure.agreement.squares import NOTHING, Squares
from faithkit.measure.counting import scans
from faithkit.measure.counting.cells import Cells, mark_run_starts
from faithkit.measure.counting.design import Design
from faithkit.measure.counting.owners import Counts, Owners
from faithkit.measure.counting.scans import NO_SLOTS, Pool
from faithkit.measure.counting.tally import RowCount, Tally, check_size
from faithkit.measure.jackknife.pairs import pair_sums

PAIRS = 2**22  # pairs of explanation and instance per batch


@attrs.frozen(eq=False, kw_only=True)
class CellCount(RowCount):
    """Counts over rows with weights or clusters, in steps of the weights.

    The rows of a pool follow the explained rows, and own no explanation (−1). An owner is the weight that
    one unit owns of one explanation and label. `weight_range` has the weights of the smallest and the largest
    cell. Numbers are in units of `scale`, the disagreement that a constant explanation leaves.
    `grouped_cells` has all cells of a grouping relation.
    """

    design: Design
    n_explained: int
    pool_samples: tuple[Sample, ...] = ()
    weight_range: tuple[int, int] = (0, 0)
    grouped_cells: Cells | None = None

    is_plain = False  # rows are not equal

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

    def label_chance(self, label: int | None) -> float | None:
        """Return the score of a constant explainer for the owners of one label, or of all labels."""
        is_owner = self.owned >= 0
        if label is not None:
            is_owner &= self.labels == label
        return self.design.chance(self.labels, is_owner, self.agreement)

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
        n, steps = len(self.labels), self.design.steps
        for start, stop, bits in self.batches():
            owning_rows = np.flatnonzero((self.owned >= start) & (self.owned < stop))
            explanation, instance = np.nonzero(unpack_bits(bits, n))
            rows = np.append(instance, owning_rows)
            is_owner = np.arange(len(rows)) >= len(instance)
            yield Cells.of(
                np.append(explanation + start, self.owned[owning_rows]),
                self.design.unit[rows],
                self.labels[rows],
                scope_weight=np.where(is_owner, 0, steps[rows]),
                owner_weight=np.where(is_owner, steps[rows], 0),
                n_owners=is_owner.astype(np.int64),
            )
            del bits  # free memory before the next batch

    @property
    def constant_cells(self) -> Cells:
        """The cells of a constant explanation, which all rows own and which holds for all rows."""
        owner_weight = np.where(np.arange(len(self.design)) < self.n_explained, self.design.steps, 0)
        return Cells.of(
            np.zeros_like(owner_weight), self.design.unit, self.labels, self.design.steps, owner_weight
        )

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
    """Tally a relation over a sample and its pool, whose rows have weights or clusters.

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
    groups = group_explanations(relation, sample.explanations)
    pieces = [] if pool is None else list(pool)
    owned_explanation = np.append(groups.codes, np.full(len(design) - len(sample), -1))
    labels = np.concatenate([labels, *(codes for _, codes in pieces)])
    distinct = sample.explanations.take(groups.first)
    pool_samples = tuple(piece_sample for piece_sample, _ in pieces)
    return count_coded(
        relation, sample, distinct, owned_explanation, labels, n_labels, design, agreement, pool_samples
    )


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
        scope_weight = np.where(distinct.missing[owned_explanation], 0, design.steps)
        grouped_cells = Cells.of(owned_explanation, design.unit, labels, scope_weight, design.steps)
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
    sums = pair_sums(uncounted.constant_cells, uncounted.agreement, uncounted.design.n_units)
    if sums.disagreement <= NOTHING * max(1.0, sums.compared):
        raise InputError(
            "there is nothing to explain: all predictions of rows with a weight are the same number, or of "
            "one cluster. For numbers, faithkit measures the share of variance explained, and they have none."
        )
    return sums.disagreement / sums.compared


def _count_owners(uncounted: CellCount) -> CellCount:
    """Compute the owners in one pass over the cells."""
    totals = np.zeros(len(uncounted.explanations), dtype=np.int64)
    owner_batches, weight_ranges = [], []
    for cells in uncounted.cells():
        owner_batches.append(_owner_columns(cells, uncounted.agreement, totals))
        weight_ranges.append(cells.weight_range)
    row, unit, label, steps, rows, alike, own, own_agreeing = (
        np.concatenate(values) for values in zip(*owner_batches, strict=True)
    )
    n = uncounted.n_explained
    row_keys = uncounted.owned[:n], uncounted.design.unit[:n], uncounted.labels[:n]
    nonempty = [extent for extent in weight_ranges if extent != (0, 0)] or [(0, 0)]
    return attrs.evolve(
        uncounted,
        owners=Owners(row, label, rows, alike, totals, own, own_agreeing, steps),
        owner_index=_find_keys((row, unit, label), row_keys),
        weight_range=(min(low for low, _ in nonempty), max(high for _, high in nonempty)),
    )


def _owner_columns(cells: Cells, agreement: Agreement, totals: Counts) -> tuple[np.ndarray, ...]:
    """Return the columns of all owners in these cells; add to `totals` in place."""
    row, label, scope_weight = cells.explanation, cells.label, cells.scope_weight
    np.add.at(totals, row, scope_weight)
    alike = agreeing_weights(agreement, row, label, scope_weight)
    own_agreeing = agreement.sum_over_slots(cells.cell, label, scope_weight)
    own = cells.cell_weights[0][cells.cell]
    columns = row, cells.unit, label, cells.owner_weight, cells.n_owners, alike, own, own_agreeing
    return tuple(values[cells.n_owners > 0] for values in columns)


def _find_keys(sorted_keys: tuple[Counts, ...], keys: tuple[Counts, ...]) -> Counts:
    """Return the position of each key (a triple) among sorted keys."""
    units, labels = (int(codes.max(initial=0)) + 1 for codes in sorted_keys[1:])
    pairs = sorted_keys[0] * units + sorted_keys[1]
    cell = np.cumsum(mark_run_starts(pairs)) - 1
    key_cell = np.searchsorted(pairs[mark_run_starts(pairs)], keys[0] * units + keys[1])
    return np.searchsorted(cell * labels + sorted_keys[2], key_cell * labels + keys[2])
