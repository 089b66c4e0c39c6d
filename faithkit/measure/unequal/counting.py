"""The tally where rows have weights or clusters: every owner with what is no other to it."""

from collections.abc import Iterator
from functools import cached_property
from typing import Any

import attrs
import numpy as np
from numpy.typing import NDArray

from faithkit.measure import asking
from faithkit.measure.agreement.base import Agreement
from faithkit.measure.agreement.same_label import SAME_LABEL
from faithkit.measure.asking import NOBODY
from faithkit.measure.bitsets import Bits
from faithkit.measure.blocks import spans
from faithkit.measure.explanations import Sample
from faithkit.measure.grouping import group
from faithkit.measure.label_sets import LabelSets
from faithkit.measure.pool import Pool
from faithkit.measure.relations import Relation, key_of
from faithkit.measure.slots import Counts, Slots
from faithkit.measure.sums import Floats
from faithkit.measure.tally import RowCount, Tally
from faithkit.measure.unequal.design import Design, summed
from faithkit.measure.unequal.holding import Cells, agreeing, cells_by_block, joint_blocks, sizes


@attrs.frozen(eq=False)
class Divisor:
    """What a constant explanation leaves of numbers, and the part of it that is left without each cluster.

    The `level` is in units of what it leaves where rows are equal.
    """

    level: float
    left: Floats


@attrs.frozen(eq=False, kw_only=True)
class UnequalCount(RowCount):
    """Counts over rows with weights or clusters, in steps of the weights' grid.

    The rows of a pool stand behind the explained ones, of which each has a `place`; they own nothing (−1).
    `held_codes` and `held` say what the rows of each label weigh for which an explanation holds; the codes
    are explanation × labels + label. Where numbers are divided, `divisor` says by what.
    """

    design: Design
    more: tuple[Sample, ...] = ()
    held_codes: Counts = NOBODY
    held: Counts = NOBODY
    divisor: Divisor | None = None

    def blocks(self) -> Iterator[tuple[int, int, Bits]]:
        """Yield the relation's matrix over all rows, the pool's last, in blocks of explanations."""
        return joint_blocks(self.relation, (self.sample, *self.more), self.explanations)

    def cells(self) -> Iterator[Cells]:
        """Yield, block by block, how much of each cluster every explanation holds for."""
        return cells_by_block(self, self.design)

    def label_counts(self, some: Counts) -> Counts:
        """Count the rows of every label for which some explanations hold, each as one."""
        if self.relation.groups:
            held = ~self.sample.explanations.missing
            rows = [np.bincount(self.labels[(self.owned == u) & held], minlength=self.n_labels) for u in some]
            return np.array(rows)
        blocks = joint_blocks(self.relation, (self.sample, *self.more), self.explanations.take(some))
        sets = LabelSets(self.labels, self.n_labels)
        return np.concatenate([sets.table(bits) for _, _, bits in blocks])

    def tallies(self) -> Iterator[Tally]:
        """Yield the tally in weights that average to 1: an explanation has a row for each kind of owner.

        Owners differ by what is no other to them.
        """
        most = max(1, asking.DENSE // self.n_labels)
        for start, stop in spans(len(self._kinds), most):
            yield self._kinds_tally(start, stop)

    @property
    def tally(self) -> Tally:
        """The tally as a whole."""
        return self._kinds_tally(0, len(self._kinds))

    @cached_property
    def _kinds(self) -> Counts:
        """The first slot of every kind of owner: slots of one explanation and one `own`."""
        slots = self.slots
        return np.sort(alike(slots.row, slots.own[1], slots.own_agreeing[1])[0])

    def _kinds_tally(self, start: int, stop: int) -> Tally:
        slots, step = self.slots, self.design.step
        kinds = self._kinds[start:stop]
        last = self._kinds[stop] if stop < len(self._kinds) else len(slots)
        mine = np.arange(kinds[0], last) if len(kinds) else np.zeros(0, dtype=np.int64)
        row = np.searchsorted(kinds, mine, side="right") - 1
        owners = np.zeros((2, len(kinds), self.n_labels))
        owners[1, row, slots.label[mine]] = slots.owners[1, mine] * step
        nothing = np.zeros(len(kinds))
        own, agreeing = (np.stack([nothing, one[1, kinds] * step]) for one in (slots.own, slots.own_agreeing))
        return Tally(self._weights(slots.row[kinds]), owners, own, agreeing, self.agreement)

    def _weights(self, some: Counts) -> np.ndarray:
        codes = some[:, None] * self.n_labels + np.arange(self.n_labels)
        return sizes(self.held_codes, self.held, codes.ravel()).reshape(codes.shape) * self.design.step


def count_unequal(
    relation: Relation,
    sample: Sample,
    labels: Counts,
    n_labels: int,
    design: Design,
    pool: Pool | None = None,
    agreement: Agreement = SAME_LABEL,
    divisor: Divisor | None = None,
) -> UnequalCount:
    """Tally a relation over a sample whose rows, and those of a pool behind it, have weights or clusters.

    Examples
    --------
    >>> from faithkit.measure.explanations import Explanations
    >>> from faithkit.measure.relations import SameExplanation
    >>> sample = Sample(None, Explanations.of(["a", "a", "a"]))
    >>> design = Design.of(None, ["ann", "ann", "bob"], n=3)
    >>> found = count_unequal(SameExplanation(), sample, np.array([0, 0, 1]), 2, design)
    >>> found.slots.others[1], found.slots.agreeing[1]
    (array([2, 1]), array([0, 0]))
    """
    groups = group(key_of(relation, sample.explanations), sample.explanations.missing)
    pieces = [] if pool is None else list(pool)
    begun = UnequalCount(
        relation=relation,
        sample=sample,
        labels=np.concatenate([labels, *(codes for _, codes in pieces)]),
        n_labels=n_labels,
        owned=np.append(groups.codes, np.full(len(design) - len(sample), -1)),
        explanations=sample.explanations.take(groups.first),
        reflexive=np.zeros(0, dtype=bool),  # what is no other to a row is in its slot
        slots=Slots(NOBODY, NOBODY, NOBODY, np.zeros((2, 0), dtype=np.int64), NOBODY),
        agreement=agreement,
        design=design,
        divisor=divisor,
        more=tuple(one for one, _ in pieces),
    )
    own = _Own(begun)
    for cells in begun.cells():
        own.note(cells)
    slots, place = own.slots(len(begun.explanations))
    held = [np.concatenate([NOBODY, *some]) for some in (own.held_codes, own.held)]
    return attrs.evolve(begun, slots=slots, place=place, held_codes=held[0], held=held[1])


class _Own:
    """What every row is checked against, gathered block by block."""

    def __init__(self, begun: UnequalCount) -> None:
        self.design, self.labels, self.n_labels = begun.design, begun.labels, begun.n_labels
        self.owned, self.agreement = begun.owned, begun.agreement
        self.total, self.own = np.zeros((2, len(self.owned)), dtype=np.int64)
        kind = np.int64 if begun.agreement.is_whole else np.float64
        self.agreeing, self.own_agreeing = np.zeros((2, len(self.owned)), dtype=kind)
        self.held_codes: list[Counts] = []
        self.held: list[Counts] = []

    def note(self, cells: Cells) -> None:
        """Look the rows up whose explanations are in a block."""
        rows = np.flatnonzero((self.owned >= cells.start) & (self.owned < cells.stop))
        owned, label = self.owned[rows], self.labels[rows]
        codes, held = cells.by_label()
        cell = cells.places(owned, self.design.unit[rows])
        self.total[rows] = cells.totals()[owned - cells.start]
        wanted = owned * self.n_labels + label
        self.agreeing[rows] = agreeing(self.agreement, codes, held, wanted, self.n_labels)
        self.own[rows] = np.where(cell < 0, 0, cells.size[cell]) if len(cells.size) else 0
        self.own_agreeing[rows] = cells.agreeing(cell, label, self.agreement)
        self.held_codes.append(codes)
        self.held.append(held)

    def slots(self, m: int) -> tuple[Slots, Counts]:
        """Put rows together that differ in nothing, and say where each row stands."""
        n = int((self.owned >= 0).sum())  # a pool's rows, which own nothing, come last
        first, place = alike(self.owned[:n], self.own[:n], self.own_agreeing[:n], self.labels[:n])
        c = len(first)
        weight = summed(place, self.design.steps[:n], c)
        totals, nothing = np.zeros(m, dtype=np.int64), np.zeros(c, dtype=np.int64)
        totals[self.owned[:n]] = self.total[:n]
        slots = Slots(
            row=self.owned[first],
            label=self.labels[first],
            counts=self.agreeing[first],
            owners=np.stack([nothing, weight]),
            totals=totals,
            own=np.stack([nothing, self.own[first]]),
            own_agreeing=np.stack([nothing.astype(self.own_agreeing.dtype), self.own_agreeing[first]]),
            rows=np.bincount(place, minlength=c),
        )
        return slots, place


def alike(*keys: NDArray[Any]) -> tuple[Counts, Counts]:
    """Put rows in order of some keys: return the first of each kind, and the kind of every row."""
    order = np.lexsort(keys[::-1])
    differ = np.any([np.diff(key[order], prepend=key[order[:1]] - 1) != 0 for key in keys], axis=0)
    place = np.empty(len(order), dtype=np.int64)
    place[order] = np.cumsum(differ) - 1
    return order[differ], place
