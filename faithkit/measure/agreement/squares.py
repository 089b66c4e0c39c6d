"""Agreement of numbers and score vectors: the disagreement is half the squared distance.

For one-hot vectors this is 0 or 1, so labels are a special case. The disagreement of numbers is divided by
that of a constant explanation, which is their variance. The measure is then the share of the variance of
predictions that explanations account for.
"""

from functools import reduce
from operator import iadd
from typing import Any

import attrs
import numpy as np
from numpy.typing import NDArray

from faithkit.arrays import BATCH_SIZE, Floats, sum_by
from faithkit.arrays.batches import each_batch, spans
from faithkit.arrays.bitsets import Bits, column_sums, row_sums
from faithkit.measure.agreement.base import Agreement, Batch, HeldLosses
from faithkit.measure.counting.owners import Counts

NOTHING = 1e-12  # a disagreement below this is a rounding error


@attrs.frozen(eq=False, slots=False)
class Squares(Agreement):
    """Agreement of 1 − ½|v − v′|², where v is the point of a label.

    Attributes
    ----------
    points : (k, d) float
        The point of each label, in units of the disagreement.
    explained_sums, all_sums : PointSums
        Sums over the explained instances, and over all instances including the pool.
    max_disagreement : float
        The largest disagreement of two points.
    is_normalised : bool
        Whether points are scaled so that a constant explanation leaves a mean disagreement of 1.
    is_bounded : bool
        Whether `max_disagreement` comes from a declared range, and not from the sample.

    Examples
    --------
    >>> numbers = Squares.of_numbers(np.array([[1.0], [3.0]]), np.array([2, 2]))
    >>> numbers.sum_over_slots(np.array([0, 0]), np.array([0, 1]), np.array([2, 2]))
    array([1., 1.])
    """

    points: Floats
    explained_sums: "PointSums"
    all_sums: "PointSums"
    max_disagreement: float = 1.0
    is_normalised: bool = False
    is_bounded: bool = True

    is_binary = False

    @classmethod
    def of_numbers(
        cls,
        values: Floats,
        counts: Counts,
        pool: Counts | None = None,
        limits: tuple[float, float] | None = None,
    ) -> "Squares":
        """Scale numbers so that a constant explanation leaves a mean disagreement of 1.

        All outputs share one scale. It comes from the variance, or with a pool from the mean disagreement of
        an explained instance with any other. `counts` is how often each value occurs in the sample, and
        `pool` how often in the pool. At least two values must differ. `limits` are the smallest and the
        largest possible prediction, if known.
        """
        half = 0.5 if np.abs(values).max() > 1e300 else 1.0  # so that no difference overflows
        values = values * half
        lows, ranges = values.min(axis=0), np.ptp(values, axis=0)
        _, exponent = np.frexp(ranges.max())
        points = np.ldexp(values - lows, -exponent)  # exact, and squares neither overflow nor underflow
        mean = np.array([float((column * counts).sum()) for column in points.T]) / float(counts.sum())
        explained_sums, all_instances = PointSums.of_both(points, counts, pool, mean)
        unit = float(np.sqrt(explained_sums.mean_disagreement(all_instances)))

        def divide(start: int, stop: int) -> None:
            points[start:stop] -= mean
            points[start:stop] /= unit

        each_batch(divide, len(points), BATCH_SIZE)
        widths = ranges if limits is None else np.full(len(ranges), half * limits[1] - half * limits[0])
        largest = float(((np.ldexp(widths, -exponent) / unit) ** 2).sum()) / 2
        sums = explained_sums.scale(unit), all_instances.scale(unit)
        return cls(points, *sums, largest, is_normalised=True, is_bounded=limits is not None)

    @classmethod
    def of_scores(cls, values: Floats, counts: Counts, pool: Counts | None = None) -> "Squares":
        """Use score vectors unscaled, but centred, which changes no distance."""
        points = values - (values.max(axis=0) + values.min(axis=0)) / 2
        return cls(points, *PointSums.of_both(points, counts, pool, np.zeros(points.shape[1])))

    def rescale(self, disagreement: float) -> "Squares":
        """Return the same agreement in units of this disagreement."""
        unit = float(np.sqrt(disagreement))
        sums = self.explained_sums.scale(unit), self.all_sums.scale(unit)
        return Squares(
            self.points / unit,
            *sums,
            self.max_disagreement / disagreement,
            self.is_normalised,
            self.is_bounded,
        )

    @property
    def squares(self) -> Floats:
        """The squared length of each label's point."""
        return _squared_lengths(self.points)

    def squares_of(self, label: Counts) -> Floats:
        """Return the squared lengths of the points of these labels."""
        return _squared_lengths(self.points.take(label, axis=0))

    def sum_over_slots(
        self, row: Counts, label: Counts | None, weight: NDArray[Any], by_row: NDArray[Any] | None = None
    ) -> Floats:
        """Sum around the mean of each row, so that equal predictions agree exactly."""
        if by_row is None:
            by_row = sum_by(row, weight)
        total = by_row.astype(np.float64, copy=False)
        coordinates = (column.copy() if label is None else column.take(label) for column in self.points.T)
        # one array in place: squared deviations, then disagreement, then agreement
        deviations = (_squared_deviations(coordinate, row, weight, total) for coordinate in coordinates)
        agreement = reduce(iadd, deviations)
        row_sum, half = sum_by(row, agreement * weight, len(total)) / 2, total / 2

        def agree(start: int, stop: int) -> None:
            disagreement, row_total = agreement[start:stop], half.take(row[start:stop])
            disagreement *= row_total
            disagreement += row_sum.take(row[start:stop])
            row_total *= 2
            np.subtract(row_total, _drop_rounding(row_total, disagreement), out=disagreement)

        each_batch(agree, len(row), BATCH_SIZE)
        return agreement

    def counts(self, sums: NDArray[Any], totals: Counts, row: Counts, label: Counts) -> Floats:
        """Compute the agreement of each slot from the sums of its explanation's scope."""
        slot_sums, N = sums[row], totals[row].astype(np.float64)
        products = (self.points[label] * slot_sums[:, 1:]).sum(axis=1)
        squares = (N * self.squares[label] + slot_sums[:, 0]) / 2
        return N - _drop_rounding(np.maximum(N, squares), squares - products)

    def scope_predictions(self, labels: Counts, n_labels: int) -> "ScopePoints":
        """Return the predictions of instances with these labels."""
        return ScopePoints(self, labels)

    def select_labels(self, labels: Counts) -> "Squares":
        """Return the agreement of the selected labels."""
        return attrs.evolve(self, points=self.points.take(labels, axis=0))

    def disagreement(self, label: int | Counts, labels: Counts) -> Floats:
        """Return half the squared distances."""
        disagreement: Floats = ((self.points[labels] - self.points[label]) ** 2).sum(axis=1) / 2
        return disagreement


@attrs.frozen(eq=False)
class PointSums:
    """The number of points, their sum, and the sum of their squared lengths."""

    n: int
    total: Floats
    squares: float

    @classmethod
    def of(cls, points: Floats, counts: Counts, centre: Floats) -> "PointSums":
        """Sum points relative to a centre; point i occurs `counts[i]` times."""
        total, squares = np.zeros(len(centre)), 0.0
        for start, stop in spans(len(points), BATCH_SIZE):
            offsets = points[start:stop] - centre
            weighted = offsets * counts[start:stop, None]
            total += weighted.sum(axis=0)
            weighted *= offsets
            squares += float(weighted.sum())
        return cls(int(counts.sum()), total, squares)

    @classmethod
    def of_both(
        cls, points: Floats, counts: Counts, pool: Counts | None, centre: Floats
    ) -> "tuple[PointSums, PointSums]":
        """Return the sums of the sample, and of sample and pool together; both are equal without a pool."""
        sample = cls.of(points, counts, centre)
        return sample, sample if pool is None else cls.of(points, counts + pool, centre)

    def scale(self, unit: float) -> "PointSums":
        """Return the sums of the points divided by a unit."""
        return PointSums(self.n, self.total / unit, self.squares / unit**2)

    def __add__(self, other: "PointSums") -> "PointSums":
        return PointSums(self.n + other.n, self.total + other.total, self.squares + other.squares)

    def mean_disagreement(self, others: "PointSums") -> float:
        """Return the mean disagreement of these points with `others`, which include these points."""
        squares = (others.n * self.squares + self.n * others.squares) / 2
        return (squares - float(self.total @ others.total)) / (self.n * (others.n - 1))


class ScopePoints:
    """Points of instances, for sums over a relation's matrix."""

    def __init__(self, agreement: Squares, labels: Counts) -> None:
        self.points, self.squares = agreement.points[labels], agreement.squares[labels]
        self.all_points, self.all_squares = agreement.points, agreement.squares

    def sums(self, bits: Bits, row: Counts, label: Counts) -> Floats:
        """Sum, for each row of bits, the squared lengths and the points of instances."""
        return row_sums(bits, np.column_stack([self.squares, self.points]))

    def sum_losses(self, batch: Batch, losses: HeldLosses) -> Floats:
        """Sum polynomials: the loss of an explanation is quadratic in the point of the instance.

        The coefficients are those of 1, |v′|² and v′ in lost − Σ agreeing · (1 − ½|v − v′|²).
        """
        start, stop, bits = batch
        entries = losses.span(start, stop)
        explanation, label = losses.explanation[entries] - start, losses.label[entries]
        agreeing, points = losses.agreeing[entries], self.all_points[label]
        terms = agreeing * (self.all_squares[label] / 2 - 1.0), agreeing / 2, *(-agreeing * points.T)
        sums = [sum_by(explanation, term, stop - start) for term in terms]
        sums[0] = losses.lost[start:stop] + sums[0]
        weights = np.column_stack([*sums, losses.further[start:stop]])
        one_label = np.zeros(len(self.points), dtype=np.int64)
        by_row = column_sums(bits, weights[:, None], one_label)
        basis = np.column_stack([np.ones(len(one_label)), self.squares, self.points])
        n = basis.shape[1]
        return np.column_stack([(by_row[:, :n] * basis).sum(axis=1), by_row[:, n:]])


def _squared_deviations(coordinate: Floats, row: Counts, weight: NDArray[Any], total: Floats) -> Floats:
    """Return the squared deviation of each slot from the mean of its row; overwrite `coordinate`."""
    mean = sum_by(row, coordinate * weight, len(total)) / np.where(total > 0, total, 1.0)

    def square(start: int, stop: int) -> None:
        offsets = coordinate[start:stop]
        offsets -= mean.take(row[start:stop])
        offsets *= offsets

    each_batch(square, len(row), BATCH_SIZE)
    return coordinate


def _squared_lengths(points: Floats) -> Floats:
    """Return the squared length of each point; a sum over the short axis would take ten times as long."""
    return reduce(np.add, (column**2 for column in points.T))


def _drop_rounding(total: Floats, disagreement: Floats) -> Floats:
    """Set disagreements that are rounding errors to 0, in place."""
    np.copyto(disagreement, 0.0, where=disagreement <= NOTHING * total)
    return disagreement
