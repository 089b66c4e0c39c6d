"""The jackknife that leaves out one cluster at a time, exactly, for rows with weights.

Leaving out cluster c changes an owner's share from A/D to (A − a)/(D − d), where d is what c weighs among
those it is checked against and a the part of it that agrees. Every owner meets every cluster that its
explanation holds for, so large groups would take the square of their size; there the sum over owners of
1/(D − d) is a smooth function of d, and a Chebyshev series of 24 terms gives it to the last digit. The theory
page has the bound.
"""

from collections.abc import Iterator
from typing import Any

import attrs
import numpy as np
from numpy.polynomial import chebyshev
from numpy.typing import NDArray

from faithkit.measure.agreement.base import Agreement
from faithkit.measure.blocks import ranges
from faithkit.measure.estimators import ratio
from faithkit.measure.inference import agreement as agreement_of
from faithkit.measure.slots import Counts
from faithkit.measure.spread import Pseudo, Spread
from faithkit.measure.sums import Floats, Grid
from faithkit.measure.unequal.counting import Divisor, UnequalCount
from faithkit.measure.unequal.design import summed, worth
from faithkit.measure.unequal.holding import Cells

DIRECT = 2**14  # pairs of owners and clusters of one explanation; more are taken by a series
AT_ONCE = 2**20  # pairs in memory
DEGREE = 24  # then the error is below 5.8**-24 of the value: the nearest pole lies at twice the largest d


@attrs.frozen(eq=False)
class Owners:
    """The slots of a block as numbers: explanation, label, D, A, weight (in steps), and h = A/D.

    Two of them disagree by `most` at most.
    """

    row: Counts
    label: Counts
    D: Counts
    A: NDArray[Any]
    weight: Counts
    h: Floats
    most: float

    @classmethod
    def of(cls, counted: UnequalCount, cells: Cells) -> "Owners":
        """Take the slots whose explanations are in a block."""
        slots, mine = counted.slots, counted.slots.span(cells.start, cells.stop)
        D, A = slots.others[1, mine], slots.agreeing[1, mine]
        most = counted.agreement.most
        return cls(slots.row[mine], slots.label[mine], D, A, slots.owners[1, mine], ratio(A, D), most)

    def effects(self, slot: Counts, a: NDArray[Any], d: Counts) -> tuple[Floats, ...]:
        """Return what owners meet when a cluster is left out: d of their others, a of which agree with them.

        That is by how much their share changes (0 is left where nobody is), whether they can no longer be
        checked, and how large a part of their others it was. An owner of that cluster meets it, too, which
        is taken back later: what it gets has no meaning, and is kept within bounds.
        """
        D = self.D[slot]
        near = 2 * d > D
        after, part = ratio(self.A[slot] - a, D - d), ratio(d, D)
        change = np.where(near, after.clip(1.0 - self.most, 1.0), after) - self.h[slot]
        return change, ((D > 0) & (d >= D)).astype(np.float64), np.where(near, part.clip(max=1.0), part)


class Deletion:
    """What leaving out each cluster takes from the others, added up over these by weight.

    The sums are those of `Owners.effects`: of shares, of those that could be checked, and of parts. They are
    rounded to a grid on which the weight of all rows fits, so that no order changes them.
    """

    def __init__(self, counted: UnequalCount) -> None:
        self.counted, self.design = counted, counted.design
        self.grid = Grid.of(float(len(self.design)) * max(1.0, counted.agreement.most), 4)
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
        self._book(cells.unit[cell], owners.weight[slot], self._effects(cells, owners, slot, cell))

    def _effects(self, cells: Cells, owners: Owners, slot: Counts, cell: Counts) -> tuple[Floats, ...]:
        agreeing = cells.agreeing(cell, owners.label[slot], self.counted.agreement)
        return owners.effects(slot, agreeing, cells.size[cell])

    def _take_back(self, cells: Cells, owners: Owners) -> None:
        """Rows of a cluster are left out with it: what they were counted as losing is none."""
        counted, design = self.counted, self.design
        mine = counted.slots.span(cells.start, cells.stop)
        rows = np.flatnonzero((counted.place >= mine.start) & (counted.place < mine.stop))
        cell = cells.places(counted.owned[rows], design.unit[rows])
        rows, cell = rows[cell >= 0], cell[cell >= 0]
        slot = counted.place[rows] - mine.start
        effects = self._effects(cells, owners, slot, cell)
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
        place, label = np.divmod(cells.part_codes[parts], cells.n_labels)
        ours = _Toward(self.counted.agreement, np.concatenate([label, owners.label[slot]]))
        agreeing = _series(weight.astype(np.float64), D, cells.size[place], ours)
        nothing = np.zeros(len(place))
        change = cells.part_size[parts] * agreeing
        self._book(cells.unit[place], -np.ones(len(place), dtype=np.int64), (change, nothing, nothing))


class _Toward:
    """What owners weigh that agree with the labels of parts; `labels` are those of parts, then of owners."""

    def __init__(self, agreement: Agreement, labels: Counts) -> None:
        self.agreement = agreement
        self.known, self.place = np.unique(labels, return_inverse=True)

    def summed(self, weight: Floats) -> Floats:
        """Return, for every label that is known, the weight of the owners that agree with it."""
        owner = self.place[len(self.place) - len(weight) :]
        by_label = np.bincount(owner, weight, minlength=len(self.known))
        return self.agreement.over_slots(np.zeros(len(self.known), dtype=np.int64), self.known, by_label)


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


def _series(weight: Floats, D: Counts, d: Counts, toward: "_Toward | None" = None) -> Floats:
    """Return Σ weight / (D − d) for each d, where every D is at least twice as large as every d.

    With `toward`, the sum is over those that agree with the label of each d.
    """
    low, high = float(d.min()), float(d.max())
    middle, half = (low + high) / 2, (high - low) / 2

    def sums(points: Floats) -> Any:
        terms = (weight / (D - (middle + half * point)) for point in points)
        return np.array([[one.sum()] if toward is None else toward.summed(one) for one in terms])

    terms: Any = chebyshev.chebinterpolate(sums, DEGREE if half else 0)
    place = np.zeros(len(d), dtype=np.int64) if toward is None else toward.place[: len(d)]
    return _evaluated(terms, place, np.asarray((d - middle) / (half or 1.0), dtype=np.float64))


def _evaluated(terms: Floats, place: Counts, x: Floats) -> Floats:
    """Evaluate at each x the series of its place, by Clenshaw's recurrence."""
    one, two = np.zeros((2, len(x)))
    for term in terms[:0:-1]:
        one, two = term[place] + 2 * x * one - two, one
    found: Floats = terms[0][place] + x * one - two
    return found


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
    design, gone, level = counted.design, Deletion(counted), agreement_of(counted.slots)
    unit = design.unit[: len(counted.place)]
    weight = summed(unit, design.steps[: len(unit)], design.n_units)
    explained = np.bincount(unit, minlength=design.n_units) > 0  # the others are clusters of the pool
    C = int(explained.sum())
    apart = without_each(counted, gone, level)
    effective = worth(weight[explained])
    few = _few(counted, gone.sums[2], weight * design.step, effective)
    value, verified = (one + (C - 1) * differ[explained] for one, differ in zip(level, apart, strict=True))
    pool = None if explained.all() else _pool_spreads(*(len(unit) * one[~explained] for one in apart))
    once = np.ones(C, dtype=np.int64)
    return Pseudo(value, verified, once, lambda: few, pool, effective, design.cap * effective)


def without_each(counted: UnequalCount, gone: Deletion, level: tuple[float, float]) -> tuple[Floats, Floats]:
    """Return by how much M and V are more than without each cluster, of the sample or of its pool."""
    slots, design, n = counted.slots, counted.design, len(counted.place)
    unit, steps, D = design.unit[:n], design.steps[:n], slots.others[1][counted.place]
    shares = ratio(slots.agreeing[1][counted.place], D), (D > 0).astype(np.float64)
    change, lost, _ = gone.sums
    left = (slots.weight - summed(unit, steps, design.n_units)) * design.step
    apart = []
    for one, share, taken in zip(level, shares, (change, -lost), strict=True):
        own = gone.grid.whole(steps * design.step * (share - one))  # exactly 0 where all are alike
        mine = gone.grid.floats(summed(unit, own, design.n_units))
        apart.append(ratio(mine - taken, left))
    return _divided(apart[0], apart[1], level, counted.divisor), apart[1]


def _divided(value: Floats, verified: Floats, level: tuple[float, float], by: Divisor | None) -> Floats:
    """Return the same for M where it is divided by what changes with each cluster, too."""
    if by is None:
        return value
    M, V = level[0] - value, level[1] - verified
    return level[0] - np.where(by.left > 0, V - ratio(V - M, by.left), 0.0)


def _few(counted: UnequalCount, part: Floats, weight: Floats, effective: float) -> float:
    """Return the smallest number of trials: clusters count by themselves, and as parts of others' others."""
    if counted.relation.groups:
        return effective / 2
    mine = weight > 0
    few = effective / (1.0 + float((part[mine] / weight[mine]).max(initial=0.0)))
    return min(few, float(weight.sum()) / max(part[~mine].max(initial=0.0), 1e-300))


def _pool_spreads(value: Floats, verified: Floats) -> tuple[Spread, Spread]:
    """Measure what leaving out each cluster of the pool does to M and to Q, in parts of a row."""
    return Spread.of(value, 0.0), Spread.of(verified - value, 0.0)
