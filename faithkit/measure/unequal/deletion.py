"""The jackknife that leaves out one cluster at a time, exactly, for rows with weights.

Leaving out cluster c changes an owner's share from A/D to (A − a)/(D − d), where d is what c weighs among
those it is checked against and a the part of it that agrees. Every owner meets every cluster that its
explanation holds for, so large groups would take the square of their size; there the sum over owners of
1/(D − d) is a smooth function of d, and a Chebyshev series of 24 terms gives it to the last digit. The theory
page has the bound.
"""

from collections.abc import Iterator

import attrs
import numpy as np
from numpy.polynomial import Chebyshev

from faithkit.measure.blocks import ranges
from faithkit.measure.estimators import ratio
from faithkit.measure.inference import agreement
from faithkit.measure.slots import Counts
from faithkit.measure.spread import Pseudo, Spread
from faithkit.measure.sums import Floats, Grid
from faithkit.measure.unequal.counting import UnequalCount
from faithkit.measure.unequal.design import summed, worth
from faithkit.measure.unequal.holding import Cells

DIRECT = 2**14  # pairs of owners and clusters of one explanation; more are taken by a series
AT_ONCE = 2**20  # pairs in memory
DEGREE = 24  # then the error is below 5.8**-24 of the value: the nearest pole lies at twice the largest d


@attrs.frozen(eq=False)
class Owners:
    """The slots of a block as numbers: explanation, label, D, A, weight (in steps), and h = A/D."""

    row: Counts
    label: Counts
    D: Counts
    A: Counts
    weight: Counts
    h: Floats

    @classmethod
    def of(cls, counted: UnequalCount, cells: Cells) -> "Owners":
        """Take the slots whose explanations are in a block."""
        slots, mine = counted.slots, counted.slots.span(cells.start, cells.stop)
        D, A = slots.others[1, mine], slots.agreeing[1, mine]
        return cls(slots.row[mine], slots.label[mine], D, A, slots.owners[1, mine], ratio(A, D))

    def effects(self, slot: Counts, a: Counts, d: Counts) -> tuple[Floats, ...]:
        """Return what owners meet when a cluster is left out: d of their others, a of which agree with them.

        That is by how much their share changes (0 is left where nobody is), whether they can no longer be
        checked, and how large a part of their others it was. An owner of that cluster meets it, too, which
        is taken back later: what it gets has no meaning, and is kept within bounds.
        """
        D = self.D[slot]
        near = 2 * d > D
        after, part = ratio(self.A[slot] - a, D - d), ratio(d, D)
        change = np.where(near, after.clip(0.0, 1.0), after) - self.h[slot]
        return change, ((D > 0) & (d >= D)).astype(np.float64), np.where(near, part.clip(max=1.0), part)


class Deletion:
    """What leaving out each cluster takes from the others, added up over these by weight.

    The sums are those of `Owners.effects`: of shares, of those that could be checked, and of parts. They are
    rounded to a grid on which the weight of all rows fits, so that no order changes them.
    """

    def __init__(self, counted: UnequalCount) -> None:
        self.counted, self.design = counted, counted.design
        self.grid = Grid.of(float(len(self.design)), 4)
        self._steps = np.zeros((3, self.design.n_units), dtype=np.int64)
        for cells in counted.cells():
            self._note(cells)

    @property
    def sums(self) -> Floats:
        """The three sums for each cluster, in weights that average to 1."""
        return self.grid.floats(self._steps)

    def _note(self, cells: Cells) -> None:
        owners = Owners.of(self.counted, cells)
        row, mine = owners.row, cells.explanation
        first, last = np.searchsorted(row, mine, side="left"), np.searchsorted(row, mine, side="right")
        many = _in_large_groups(cells, last - first)
        for slot, cell in _pairs(first, np.where(many, first, last)):
            self._add(cells, owners, slot, cell)
        for explanation in np.unique(mine[many]).tolist():
            self._add_large(cells, owners, explanation)
        self._take_back(cells, owners)

    def _add(self, cells: Cells, owners: Owners, slot: Counts, cell: Counts) -> None:
        """Let owners meet clusters, pair by pair."""
        effects = owners.effects(slot, cells.parts(cell, owners.label[slot]), cells.size[cell])
        self._book(cells.unit[cell], owners.weight[slot], effects)

    def _take_back(self, cells: Cells, owners: Owners) -> None:
        """Rows of a cluster are left out with it: what they were counted as losing is none."""
        counted, design = self.counted, self.design
        mine = counted.slots.span(cells.start, cells.stop)
        rows = np.flatnonzero((counted.place >= mine.start) & (counted.place < mine.stop))
        cell = cells.places(counted.owned[rows], design.unit[rows])
        rows, cell = rows[cell >= 0], cell[cell >= 0]
        slot = counted.place[rows] - mine.start
        effects = owners.effects(slot, cells.parts(cell, owners.label[slot]), cells.size[cell])
        self._book(design.unit[rows], -design.steps[rows], effects)

    def _book(self, unit: Counts, weight: Counts, effects: tuple[Floats, ...]) -> None:
        for sums, effect in zip(self._steps, effects, strict=True):
            np.add.at(sums, unit, self.grid.whole(weight * self.design.step * effect))

    def _add_large(self, cells: Cells, owners: Owners, explanation: int) -> None:
        """Let all owners of an explanation meet all clusters at once, but for the few largest ones."""
        mine = slice(*np.searchsorted(cells.explanation, [explanation, explanation + 1]).tolist())
        slots = slice(*np.searchsorted(owners.row, [explanation, explanation + 1]).tolist())
        cell, slot = np.arange(mine.start, mine.stop), np.arange(slots.start, slots.stop)
        whole = cells.size[mine].sum()
        large, near = cells.size[cell] > whole // 4, owners.D[slot] <= whole // 2
        for slots_, cells_ in ((slot, cell[large]), (slot[near], cell[~large])):
            self._add(cells, owners, np.tile(slots_, len(cells_)), np.repeat(cells_, len(slots_)))
        if not near.all() and not large.all():
            self._add_smooth(cells, owners, slot[~near], cell[~large])

    def _add_smooth(self, cells: Cells, owners: Owners, slot: Counts, cell: Counts) -> None:
        """Add (h·d − a)/(D − d) over all owners, which is what their shares change by, as a series in d."""
        weight, D, h = owners.weight[slot], owners.D[slot], owners.h[slot]
        d, once = cells.size[cell], np.ones(len(cell), dtype=np.int64)
        change, part = d * _series(weight * h, D, d), d * (weight / D).sum()
        self._book(cells.unit[cell], once, (change, np.zeros(len(cell)), part))
        parts = cells.parts_of(cell)
        by_label = _by_label(owners.label[slot]), _by_label(cells.part_codes[parts] % cells.n_labels)
        for one in by_label[0].keys() & by_label[1].keys():
            ours, theirs = by_label[0][one], parts[by_label[1][one]]
            place = cells.part_codes[theirs] // cells.n_labels
            change = cells.part_size[theirs] * _series(
                weight[ours].astype(np.float64), D[ours], cells.size[place]
            )
            nothing = np.zeros(len(place))
            self._book(cells.unit[place], -np.ones(len(place), dtype=np.int64), (change, nothing, nothing))


def _by_label(labels: Counts) -> dict[int, Counts]:
    """Return the places of each label, in order."""
    order = np.argsort(labels, kind="stable")
    known, first = np.unique(labels[order], return_index=True)
    return dict(zip(known.tolist(), np.split(order, first[1:]), strict=True))


def _in_large_groups(cells: Cells, n_slots: Counts) -> np.ndarray:
    n_cells = np.bincount(cells.explanation - cells.start, minlength=1)[cells.explanation - cells.start]
    return np.asarray(n_cells * n_slots > DIRECT)


def _pairs(first: Counts, last: Counts) -> Iterator[tuple[Counts, Counts]]:
    """Yield (slot, cell) for every cell and the slots first … last − 1 of it, some at a time."""
    times = last - first
    ends = np.cumsum(times)
    start = 0
    while start < len(times):
        done = ends[start] - times[start]
        stop = max(start + 1, int(np.searchsorted(ends, done + AT_ONCE, side="right")))
        some = slice(start, stop)
        yield ranges(first[some], times[some]), np.repeat(np.arange(start, stop), times[some])
        start = stop


def _series(weight: Floats, D: Counts, d: Counts) -> Floats:
    """Return Σ weight / (D − d) for each d, where every D is at least twice as large as every d."""
    low, high = float(d.min()), float(d.max())
    if low == high:
        return np.full(len(d), (weight / (D - low)).sum())

    def sums(points: Floats) -> Floats:
        return np.array([(weight / (D - point)).sum() for point in points])

    return np.asarray(Chebyshev.interpolate(sums, DEGREE, domain=[low, high])(d))


def unequal_pseudo_values(counted: UnequalCount) -> Pseudo:
    """Compute every delete-one-cluster pseudo-value of M and V.

    Examples
    --------
    >>> from faithkit.measure.explanations import Explanations, Sample
    >>> from faithkit.measure.relations import SameExplanation
    >>> from faithkit.measure.unequal.counting import count_unequal
    >>> from faithkit.measure.unequal.design import Design
    >>> sample = Sample(None, Explanations.of(["a", "a", "a", "a"]))
    >>> design = Design.of(None, ["ann", "ann", "bob", "cid"], n=4)
    >>> found = count_unequal(SameExplanation(), sample, np.array([0, 0, 0, 1]), 2, design)
    >>> unequal_pseudo_values(found).value.round(3)
    array([ 1.25,  1.25, -0.75])
    """
    slots, design, gone = counted.slots, counted.design, Deletion(counted)
    n = len(counted.place)
    unit, steps, D = design.unit[:n], design.steps[:n], slots.others[1][counted.place]
    shares = ratio(slots.agreeing[1][counted.place], D), (D > 0).astype(np.float64)
    change, lost, part = gone.sums
    weight, whole = summed(unit, steps, design.n_units), slots.weight * design.step
    explained = np.bincount(unit, minlength=design.n_units) > 0  # the others are clusters of the pool
    C = int(explained.sum())
    pseudo = []
    for level, share, taken in zip(agreement(slots), shares, (change, -lost), strict=True):
        own = gone.grid.whole(steps * design.step * (share - level))  # exactly 0 where all are alike
        mine = gone.grid.floats(summed(unit, own, design.n_units))
        left = whole - weight * design.step
        pseudo.append((level + (C - 1) * ratio(mine - taken, left))[explained])
    effective = worth(weight[explained])
    few = _few(counted, part, weight * design.step, effective)
    pool = _pool_spreads(change[~explained], lost[~explained], n / whole) if not explained.all() else None
    once = np.ones(C, dtype=np.int64)
    return Pseudo(pseudo[0], pseudo[1], once, lambda: few, pool, effective, design.cap * effective)


def _few(counted: UnequalCount, part: Floats, weight: Floats, effective: float) -> float:
    """Return the smallest number of trials: clusters count by themselves, and as parts of others' others."""
    if counted.relation.groups:
        return effective / 2
    mine = weight > 0
    few = effective / (1.0 + float((part[mine] / weight[mine]).max(initial=0.0)))
    return min(few, float(weight.sum()) / max(part[~mine].max(initial=0.0), 1e-300))


def _pool_spreads(change: Floats, lost: Floats, scale: float) -> tuple[Spread, Spread]:
    """Measure what leaving out each cluster of the pool does to M and to Q, in parts of a row."""
    return Spread.of(-scale * change, 0.0), Spread.of(scale * (lost + change), 0.0)
