"""Counts of rows that have weights or clusters: every owner with what is no other to it."""

from collections.abc import Iterator
from functools import cached_property

import attrs
import numpy as np

from faithkit.arrays import sum_by
from faithkit.arrays.bitsets import Bits
from faithkit.arrays.blocks import spans
from faithkit.arrays.grouping import group
from faithkit.errors import InputError
from faithkit.explanations.explanations import Explanations, Sample
from faithkit.explanations.relations import Relation, key_of
from faithkit.measure.agreement.base import Agreement
from faithkit.measure.agreement.same_label import SAME_LABEL
from faithkit.measure.agreement.squares import NOTHING, Squares
from faithkit.measure.counting import scans
from faithkit.measure.counting.cells import Cells, cells_by_block, differ, joint_blocks
from faithkit.measure.counting.design import Design
from faithkit.measure.counting.label_sets import LabelSets
from faithkit.measure.counting.owners import Counts, Owners
from faithkit.measure.counting.pool import Pool
from faithkit.measure.counting.scans import NOBODY
from faithkit.measure.counting.tally import RowCount, Tally
from faithkit.measure.jackknife.pairs import pair_sums


@attrs.frozen(eq=False, kw_only=True)
class CellCount(RowCount):
    """Counts over rows with weights or clusters, in steps of the weights' grid.

    The rows of a pool stand behind the explained ones; they own nothing (−1). An owner stands for what one
    unit owns of an explanation and a label. `held_codes`, explanation × labels + label, and `held` say what
    the rows weigh for which an explanation holds. `extent` has the weights of the smallest and the largest
    cell. Numbers are in units of `scale`, what a constant explanation leaves, as if rows were equal. Where
    explanations group rows, all cells are kept.
    """

    design: Design
    n_explained: int
    more: tuple[Sample, ...] = ()
    held_codes: Counts = NOBODY
    held: Counts = NOBODY
    extent: tuple[int, int] = (0, 0)
    grouped: Cells | None = None

    def blocks(self) -> Iterator[tuple[int, int, Bits]]:
        """Yield the relation's matrix over all rows, the pool's last, in blocks of explanations."""
        return joint_blocks(self.relation, (self.sample, *self.more), self.explanations)

    @property
    def is_plain(self) -> bool:
        """No: rows are not equal."""
        return False

    def chance(self) -> float | None:
        """Return what a constant explainer would get on the same rows."""
        if self.agreement.is_divided:
            return 0.0
        return self.design.chance(self.labels, self.n_explained, self.agreement)

    def pieces(self) -> Iterator[tuple[Sample, Counts]]:
        """Yield the sample, and the pieces of its pool, with their labels."""
        start = 0
        for sample in (self.sample, *self.more):
            yield sample, self.labels[start : start + len(sample)]
            start += len(sample)

    def cells(self) -> Iterator[Cells]:
        """Yield what each unit has of each explanation, some explanations at a time."""
        return cells_by_block(self, self.design) if self.grouped is None else iter([self.grouped])

    @property
    def every_row(self) -> Cells:
        """The cells of one explanation that all rows have, and that holds for all rows."""
        owned = np.where(np.arange(len(self.design)) < self.n_explained, self.design.steps, 0)
        return Cells.of(np.zeros_like(owned), self.design.unit, self.labels, self.design.steps, owned)

    def label_counts(self, some: Counts) -> Counts:
        """Count the rows of every label for which some explanations hold, each as one."""
        if self.relation.groups:
            held = ~self.explanations.missing[self.owned]
            rows = [np.bincount(self.labels[(self.owned == u) & held], minlength=self.n_labels) for u in some]
            return np.array(rows)
        blocks = joint_blocks(self.relation, (self.sample, *self.more), self.explanations.take(some))
        sets = LabelSets(self.labels, self.n_labels)
        return np.concatenate([sets.table(bits) for _, _, bits in blocks])

    def tallies(self) -> Iterator[Tally]:
        """Yield the tally in weights that average to 1: an explanation has a row for each kind of owner.

        Owners differ by what is no other to them.
        """
        most = max(1, scans.DENSE // self.n_labels)
        for start, stop in spans(len(self._kinds[0]), most):
            yield self._kinds_tally(start, stop)

    @property
    def tally(self) -> Tally:
        """The tally as a whole."""
        return self._kinds_tally(0, len(self._kinds[0]))

    @cached_property
    def _kinds(self) -> tuple[Counts, Counts]:
        """The first owner of every kind, by explanation and `own`; and the kind of each."""
        owners = self.owners
        keys = owners.explanation, owners.own, owners.own_alike
        order = np.lexsort(keys[::-1])
        is_first = differ(*(key[order] for key in keys))
        kind = np.empty(len(order), dtype=np.int64)
        kind[order] = np.cumsum(is_first) - 1
        return order[is_first], kind

    def _kinds_tally(self, start: int, stop: int) -> Tally:
        entries, step, (first, kind) = self.owners, self.design.step, self._kinds
        some = first[start:stop]
        mine = np.flatnonzero((kind >= start) & (kind < stop))
        owners = np.zeros((2, len(some), self.n_labels))
        np.add.at(owners[1], (kind[mine] - start, entries.label[mine]), entries.weight[mine] * step)
        nothing = np.zeros(len(some))
        own, agreeing = (np.stack([nothing, one[some] * step]) for one in (entries.own, entries.own_alike))
        return Tally(self._weights(entries.explanation[some]), owners, own, agreeing, self.agreement)

    def _weights(self, some: Counts) -> np.ndarray:
        """Return what the rows of each label weigh for which some explanations hold."""
        codes = some[:, None] * self.n_labels + np.arange(self.n_labels)
        place = np.searchsorted(self.held_codes, codes).clip(max=max(0, len(self.held) - 1))
        return np.where(self.held_codes[place] == codes, self.held[place], 0) * self.design.step


def count_cells(
    relation: Relation,
    sample: Sample,
    labels: Counts,
    n_labels: int,
    design: Design,
    pool: Pool | None = None,
    agreement: Agreement = SAME_LABEL,
) -> CellCount:
    """Tally a relation over a sample whose rows, and those of a pool behind it, have weights or clusters.

    Numbers agree as if rows were equal; their unit is set here.

    Examples
    --------
    >>> from faithkit.explanations.explanations import Explanations
    >>> from faithkit.explanations.relations import SameExplanation
    >>> sample = Sample(None, Explanations.of(["a", "a", "a"]))
    >>> design = Design.of(None, ["ann", "ann", "bob"], n=3)
    >>> found = count_cells(SameExplanation(), sample, np.array([0, 0, 1]), 2, design)
    >>> found.owners.others, found.owners.agreeing
    (array([1, 2]), array([0, 0]))
    """
    groups = group(key_of(relation, sample.explanations), sample.explanations.missing)
    pieces = [] if pool is None else list(pool)
    owned = np.append(groups.codes, np.full(len(design) - len(sample), -1))
    labels = np.concatenate([labels, *(codes for _, codes in pieces)])
    distinct = sample.explanations.take(groups.first)
    more = tuple(one for one, _ in pieces)
    return count_coded(relation, sample, distinct, owned, labels, n_labels, design, agreement, more)


def count_coded(
    relation: Relation,
    sample: Sample,
    distinct: Explanations,
    owned: Counts,
    labels: Counts,
    n_labels: int,
    design: Design,
    agreement: Agreement = SAME_LABEL,
    more: tuple[Sample, ...] = (),
) -> CellCount:
    """Tally rows of which the explanations and the labels are known as codes; −1 is a row of a pool.

    A relation that groups needs no sample.
    """
    begun = CellCount(
        relation=relation,
        sample=sample,
        labels=labels,
        n_labels=n_labels,
        owned=owned,
        explanations=distinct,
        reflexive=np.zeros(0, dtype=bool),  # the owners know what is no other to them
        owners=Owners(*[NOBODY] * 6),
        agreement=agreement,
        design=design,
        n_explained=int((owned >= 0).sum()),
        more=more,
    )
    if isinstance(agreement, Squares) and agreement.is_divided:
        scale = _constant(begun)
        begun = attrs.evolve(begun, agreement=agreement.scaled(scale), scale=scale)
    return _counted(begun)


def _constant(begun: CellCount) -> float:
    """Return what one explanation for all rows leaves of numbers: others are divided by it."""
    sums = pair_sums(begun.every_row, begun.agreement, begun.design.n_units)
    if sums.disagreement <= NOTHING * max(1.0, sums.compared):
        raise InputError(
            "there is nothing to explain: all predictions of rows that count are the same number, or of one "
            "cluster. Of numbers the share of their variance is measured, and they have none."
        )
    return sums.disagreement / sums.compared


def _counted(begun: CellCount) -> CellCount:
    """Find what every owner is checked against, going over the cells once."""
    totals = np.zeros(len(begun.explanations), dtype=np.int64)
    parts, held_codes, held, extents = [], [NOBODY], [NOBODY], []
    grouped = None
    for cells in begun.cells():
        grouped = cells if begun.relation.groups else None
        parts.append(_owners(cells, begun.agreement, totals))
        codes, place = np.unique(cells.explanation * begun.n_labels + cells.label, return_inverse=True)
        held_codes.append(codes)
        held.append(sum_by(place, cells.held, len(codes)))
        extents.append(cells.extent)
    row, unit, label, steps, rows, alike, own, own_alike = (
        np.concatenate(values) for values in zip(*parts, strict=True)
    )
    n = begun.n_explained
    place = _places((row, unit, label), (begun.owned[:n], begun.design.unit[:n], begun.labels[:n]))
    known = [one for one in extents if one != (0, 0)] or [(0, 0)]
    return attrs.evolve(
        begun,
        owners=Owners(row, label, rows, alike, totals, own, own_alike, steps),
        place=place,
        held_codes=np.concatenate(held_codes),
        held=np.concatenate(held),
        grouped=grouped,
        extent=(min(low for low, _ in known), max(high for _, high in known)),
    )


def _owners(cells: Cells, agreement: Agreement, totals: Counts) -> tuple[np.ndarray, ...]:
    """Return all that is known of the cells that own something; `totals` are filled in place."""
    row, label, held = cells.explanation, cells.label, cells.held
    np.add.at(totals, row, held)
    k = int(label.max(initial=0)) + 1
    codes, slot = np.unique(row * k + label, return_inverse=True)
    toward = agreement.over_slots(codes // k, codes % k, sum_by(slot, held, len(codes)))[slot]
    own_agreeing = agreement.over_slots(cells.cell, label, held)
    own = cells.weights[0][cells.cell]
    every = row, cells.unit, label, cells.owned, cells.owners, toward, own, own_agreeing
    return tuple(values[cells.owners > 0] for values in every)


def _places(known: tuple[Counts, ...], wanted: tuple[Counts, ...]) -> Counts:
    """Return where each triple stands among those that are known, which are in order."""
    units, labels = (int(one.max(initial=0)) + 1 for one in known[1:])
    pairs = known[0] * units + known[1]
    cell = np.cumsum(differ(pairs)) - 1
    mine = np.searchsorted(pairs[differ(pairs)], wanted[0] * units + wanted[1])
    return np.searchsorted(cell * labels + known[2], mine * labels + wanted[2])
