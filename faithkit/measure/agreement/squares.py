"""Numbers and score vectors: two predictions disagree by half their squared distance.

For one-hot vectors that is 0 or 1, so that labels are a special case. Numbers are divided by the disagreement
that a constant explanation leaves, which is their variance: then the measure is the share of the prediction's
variance that the explanation accounts for.
"""

from functools import reduce
from operator import iadd
from typing import Any

import attrs
import numpy as np
from numpy.typing import NDArray

from faithkit.arrays import AT_ONCE, Floats, sum_by
from faithkit.arrays.bitsets import Bits, column_sums, row_sums
from faithkit.arrays.blocks import each_block, spans
from faithkit.measure.agreement.base import Blocks, Influence
from faithkit.measure.counting.owners import Counts

NOTHING = 1e-12  # a disagreement that rounding may leave of none


@attrs.frozen(eq=False, slots=False)
class Squares:
    """Two predictions agree by 1 − ½|v − v′|², v being the point that a label stands for.

    Attributes
    ----------
    points : (k, d) float
        In units in which the disagreement counts.
    explained, everybody : Sums
        Of the instances that explanations were given to, and of all that these are checked against: a pool's,
        too.
    most : float
        The largest disagreement of two of them.
    is_divided : bool
        Whether a constant explanation leaves a disagreement of 1, in the mean.
    is_bounded : bool
        Whether `most` comes from a range that was declared, and not from the sample.

    Examples
    --------
    >>> numbers = Squares.divided(np.array([[1.0], [3.0]]), np.array([2, 2]))
    >>> numbers.over_slots(np.array([0, 0]), np.array([0, 1]), np.array([2, 2]))  # itself, and others
    array([1., 1.])
    """

    points: Floats
    explained: "Sums"
    everybody: "Sums"
    most: float = 1.0
    is_divided: bool = False
    is_bounded: bool = True

    is_whole = False
    is_convex = True

    @classmethod
    def divided(
        cls,
        values: Floats,
        times: Counts,
        pool: Counts | None = None,
        limits: tuple[float, float] | None = None,
    ) -> "Squares":
        """Divide numbers, of several outputs all together, by what a constant explanation leaves.

        That is their variance, or with a pool the mean disagreement of an explained instance with any other.
        `times` is how often each occurs, and `pool` how often in the pool. There must be two that differ.
        `limits` are the smallest and the largest prediction that there can be, if anybody knows.
        """
        points, ends = _apart(values)
        mean = np.array([float((column * times).sum()) for column in points.T]) / float(times.sum())
        mine, whole = Sums.of_both(points, times, pool, mean)
        unit = float(np.sqrt(mine.against(whole)))

        def divide(start: int, stop: int) -> None:
            points[start:stop] -= mean
            points[start:stop] /= unit

        each_block(divide, len(points), AT_ONCE)
        widths = np.ptp((ends - mean) / unit, axis=0)
        if limits is not None:  # the same for every output
            own = np.ptp(values, axis=0)
            widths = np.full(len(widths), (limits[1] - limits[0]) * widths.max() / own.max())
        most = float((widths**2).sum()) / 2
        return cls(points, mine.divided(unit), whole.divided(unit), most, True, limits is not None)

    @classmethod
    def scores(cls, values: Floats, times: Counts, pool: Counts | None = None) -> "Squares":
        """Take score vectors as they are, but for their centre, which changes no distance."""
        points = values - (values.max(axis=0) + values.min(axis=0)) / 2
        return cls(points, *Sums.of_both(points, times, pool, np.zeros(points.shape[1])))

    def scaled(self, disagreement: float) -> "Squares":
        """Return the same in units of a disagreement: of what a constant explanation leaves otherwise."""
        unit = float(np.sqrt(disagreement))
        sums = self.explained.divided(unit), self.everybody.divided(unit)
        return Squares(self.points / unit, *sums, self.most / disagreement, self.is_divided, self.is_bounded)

    @property
    def squares(self) -> Floats:
        """The squared length of each point."""
        return _squared(self.points)

    def squares_of(self, label: Counts) -> Floats:
        """Return the same of the points that some labels stand for."""
        found = np.empty(len(label))

        def square(start: int, stop: int) -> None:
            found[start:stop] = _squared(self.points.take(label[start:stop], axis=0))

        each_block(square, len(label), AT_ONCE)
        return found

    def over_slots(
        self, row: Counts, label: Counts | None, weight: NDArray[Any], by_row: NDArray[Any] | None = None
    ) -> Floats:
        """Add up by the mean of each row, so that equal predictions agree wholly."""
        if by_row is None:
            by_row = sum_by(row, weight)
        total = by_row.astype(np.float64, copy=False)
        places = (column.copy() if label is None else column.take(label) for column in self.points.T)
        found = reduce(iadd, (_squared_apart(place, row, weight, total) for place in places))
        around, half = sum_by(row, found * weight, len(total)) / 2, total / 2

        def agree(start: int, stop: int) -> None:
            apart, mine = found[start:stop], half.take(row[start:stop])
            apart *= mine
            apart += around.take(row[start:stop])
            mine *= 2
            np.subtract(mine, _disagreeing(mine, apart), out=apart)

        each_block(agree, len(row), AT_ONCE)
        return found

    def counts(self, sums: NDArray[Any], totals: Counts, row: Counts, label: Counts) -> Floats:
        """Put together what each explanation's instances add up to."""
        found, N = sums[row], totals[row].astype(np.float64)
        products = (self.points[label] * found[:, 1:]).sum(axis=1)
        squares = (N * self.squares[label] + found[:, 0]) / 2
        return N - _disagreeing(np.maximum(N, squares), squares - products)

    def held(self, labels: Counts, n_labels: int) -> "ScopePoints":
        """Look at instances with these labels."""
        return ScopePoints(self, labels)

    def taken(self, labels: Counts) -> "Squares":
        """Return the agreement of some labels."""
        return attrs.evolve(self, points=self.points.take(labels, axis=0))

    def apart(self, label: int | Counts, labels: Counts) -> Floats:
        """Return half the squared distances."""
        found: Floats = ((self.points[labels] - self.points[label]) ** 2).sum(axis=1) / 2
        return found

    def lost(self, label: Counts, in_pool: bool = False) -> Floats | None:
        """Return the part of the divisor that goes with an instance of each label: 1 where nothing is left.

        It is quadratic in the point. Where a row goes, so do its pairs with everybody, whoever was explained.
        """
        if not self.is_divided:
            return None
        mine, whole = self.explained, self.everybody
        gone = mine if in_pool else mine + whole
        pairs = (mine.n - (not in_pool)) * (whole.n - 2)
        if pairs < 1:
            return np.ones(len(label))
        unit = 1 / pairs  # in units in which the divisor is 1
        found = np.full(len(label), (gone.squares / 2 - (mine.n * (whole.n - 1) - pairs)) * unit)
        for column, total in zip(self.points.T, gone.total, strict=True):
            place = column.take(label)
            apart = place * (gone.n * unit / 2)
            apart -= total * unit
            apart *= place
            found += apart
        np.copyto(found, 1.0, where=found >= 1.0 - NOTHING)
        return found


@attrs.frozen(eq=False)
class Sums:
    """How many points there are, their sum and that of their squares."""

    n: int
    total: Floats
    squares: float

    @classmethod
    def of(cls, points: Floats, times: Counts, centre: Floats) -> "Sums":
        """Add up points as they lie around a centre, each of which occurs so many times."""
        total, squares = np.zeros(len(centre)), 0.0
        for start, stop in spans(len(points), AT_ONCE):
            apart = points[start:stop] - centre
            often = apart * times[start:stop, None]
            total += often.sum(axis=0)
            often *= apart
            squares += float(often.sum())
        return cls(int(times.sum()), total, squares)

    @classmethod
    def of_both(
        cls, points: Floats, times: Counts, pool: Counts | None, centre: Floats
    ) -> "tuple[Sums, Sums]":
        """Add up those of the sample, and of it and a pool together: the same where there is none."""
        mine = cls.of(points, times, centre)
        return mine, mine if pool is None else cls.of(points, times + pool, centre)

    def divided(self, unit: float) -> "Sums":
        """Return the sums of the points in another unit."""
        return Sums(self.n, self.total / unit, self.squares / unit**2)

    def __add__(self, other: "Sums") -> "Sums":
        return Sums(self.n + other.n, self.total + other.total, self.squares + other.squares)

    def against(self, others: "Sums") -> float:
        """Return the mean disagreement of one of them with another one of those, which include them."""
        both = (others.n * self.squares + self.n * others.squares) / 2 - float(self.total @ others.total)
        return both / (self.n * (others.n - 1))


class ScopePoints:
    """Instances by the points that their labels stand for."""

    def __init__(self, agreement: Squares, labels: Counts) -> None:
        self.points, self.squares = agreement.points[labels], agreement.squares[labels]
        self.all_points, self.all_squares = agreement.points, agreement.squares

    def sums(self, bits: Bits, row: Counts, label: Counts) -> Floats:
        """Add up, for each row of bits, the squares of instances and their points."""
        return row_sums(bits, np.column_stack([self.squares, self.points]))

    def lost(self, blocks: Blocks, influence: Influence) -> tuple[Floats, Floats]:
        """Add up polynomials: what an explanation's owners lose by an instance is quadratic in its point."""
        terms = map(influence.owners.by_explanation, self._terms(influence).T)
        weights = np.column_stack([*terms, influence.lone])
        everybody = np.zeros(len(self.points), dtype=np.int64)
        sums = np.zeros((len(everybody), weights.shape[1]))
        for start, stop, bits in blocks:
            sums += column_sums(bits, weights[start:stop, None], everybody)
            del bits  # before the next block is made
        known = np.column_stack([np.ones(len(everybody)), self.squares, self.points])
        return (sums[:, :-1] * known).sum(axis=1), sums[:, -1]

    def _terms(self, influence: Influence) -> Floats:
        """Return gain − loss · (1 − ½|v − v′|²) as what 1, |v′|² and v′ are multiplied by."""
        gain, loss, label = influence.gain, influence.loss, influence.owners.label
        constant = gain - loss * (1.0 - self.all_squares[label] / 2)
        return np.column_stack([constant, loss / 2, -loss[:, None] * self.all_points[label]])


def _apart(values: Floats) -> tuple[Floats, Floats]:
    """Return how far numbers are from their least, in units in which squares are neither too large nor 0.

    Beside them their ends are returned, the least and the largest. Powers of two are such units, and round
    nothing. From the least, for a mean of large numbers would lose the digits of small ones.
    """
    lows, highs = values.min(axis=0), values.max(axis=0)
    first = _near_one(max(highs.max(), -lows.min()))
    lows, highs = np.ldexp(lows, first), np.ldexp(highs, first)
    second = _near_one((highs - lows).max())
    found = np.empty_like(values)

    def compute(start: int, stop: int) -> None:
        some = found[start:stop]
        np.ldexp(values[start:stop], first, out=some)
        some -= lows
        some *= 2.0**second

    each_block(compute, len(values), AT_ONCE)
    return found, np.stack([np.zeros_like(lows), np.ldexp(highs - lows, second)])


def _near_one(largest: float) -> int:
    """Return the power of two that brings a number near 1."""
    return -int(np.frexp(largest)[1])


def _squared_apart(place: Floats, row: Counts, weight: NDArray[Any], total: Floats) -> Floats:
    """Return the squared distance of each slot from the mean of its row, in the memory of its place."""
    mean = sum_by(row, place * weight, len(total)) / np.where(total > 0, total, 1.0)

    def square(start: int, stop: int) -> None:
        apart = place[start:stop]
        apart -= mean.take(row[start:stop])
        apart *= apart

    each_block(square, len(row), AT_ONCE)
    return place


def _squared(points: Floats) -> Floats:
    """Return the squared length of each point: a sum over a short axis would take ten times as long."""
    return reduce(np.add, (column**2 for column in points.T))


def _disagreeing(total: Floats, found: Floats) -> Floats:
    """Return a disagreement without what rounding leaves of none; in the memory of what was found."""
    np.copyto(found, 0.0, where=found <= NOTHING * total)
    return found
