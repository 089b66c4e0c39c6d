"""The pair ratio: how much of each part counts as checked, how far its rows disagree; both without each unit.

The mean disagreement of the pairs of a part is a mixture of three ratios, so that weights that tell the label
cause no bias of the order 1/n. Where the cells of a part are unequal, a share of it counts as unchecked. If
all cells are equal, the three ratios are one, and everything counts: then this is the paper's leave-one-out.
The theory page says what is proved.
"""

from collections.abc import Iterable, Sequence
from typing import Any

import attrs
import numpy as np
from numpy.typing import NDArray

from faithkit.arrays import Floats, Ints, divide_safely, sum_by
from faithkit.measure.agreement.base import Agreement
from faithkit.measure.counting.parts import Parts

OWN_CELLS, ALL_CELLS = 2.0, 0.5  # how much the inequality of cells counts: of a part, and of the sample
NEARLY = 1e-9  # cells that differ by less are equal


@attrs.frozen
class CellSizes:
    """How unequal cells are, in a sample: the mean cell of an owner, weighted by its share and by number.

    Examples
    --------
    >>> CellSizes(2.0, 2.0).spread
    0.0
    """

    weighted: float
    mean: float

    @property
    def spread(self) -> float:
        """The weighted mean, squared, times the root of its relative distance to the mean by number."""
        return float(_spread(np.array(self.weighted), np.array(self.mean)))


class _UnitSums:
    """Three sums of each unit over cells that come in batches; they wait until adding them up pays off."""

    def __init__(self, n_units: int) -> None:
        self.sums, self.n_waiting = np.zeros((3, n_units)), 0
        self.waiting: list[tuple[NDArray[Any], ...]] = []

    def add(self, unit: Ints, values: Sequence[Floats]) -> None:
        """Add the three values of each cell to those of its unit."""
        self.waiting.append((unit, *values))
        self.n_waiting += len(unit)
        if self.n_waiting >= self.sums.shape[1]:
            self.total()

    def total(self) -> Floats:
        """Return the sums of all cells so far."""
        if self.waiting:
            unit, *columns = (np.concatenate(values) for values in zip(*self.waiting, strict=True))
            for total, values in zip(self.sums, columns, strict=True):
                total += sum_by(unit, values, len(total))
            self.waiting, self.n_waiting = [], 0
        return self.sums


EQUAL_SIZES = CellSizes(0.0, 0.0)


class SizeSums:
    """Sums over the cells of each unit, from which their sizes follow."""

    def __init__(self, n_units: int) -> None:
        self._by_unit = _UnitSums(n_units)

    def add(self, parts: Parts) -> None:
        """Add the cells of a batch of parts."""
        if len(parts):
            factor = divide_safely(parts.by_part(parts.owned), parts.by_part(parts.held))[parts.part]
            weighted = factor * parts.held
            self._by_unit.add(parts.unit, (factor * (parts.held > 0), weighted, weighted * parts.held))

    @property
    def sizes(self) -> CellSizes:
        """The mean cells of owners, but for the unit that has most; of several, the heaviest cells."""
        sums = self._by_unit.total()
        most = np.flatnonzero(sums[2] >= (1.0 - NEARLY) * sums[2].max())
        number, total, squares = np.delete(sums, most[sums[1][most].argmin()], axis=1).sum(axis=1)
        return CellSizes(squares / total, total / number) if total > 0 else EQUAL_SIZES


@attrs.frozen(eq=False)
class Sums:
    """What all owners' comparisons sum up to, and what the sums lose without each unit.

    Attributes
    ----------
    compared, disagreement : float
        ΣK and ΣK·d, in weights.
    all_compared, all_disagreement : float
        The same if everything that has a pair counts as checked.
    lost_compared, lost_disagreement : (u,) float
        How much `compared` and `disagreement` decrease without each unit.
    influence : (u,) float
        ΣK over the owners of other units that the rows of a unit are compared with.
    """

    compared: float
    disagreement: float
    all_compared: float
    all_disagreement: float
    lost_compared: Floats
    lost_disagreement: Floats
    influence: Floats

    @classmethod
    def zeros(cls, n_units: int) -> "Sums":
        """Return the sums over no pairs."""
        return cls(0.0, 0.0, 0.0, 0.0, *np.zeros((3, n_units)))

    def __add__(self, other: "Sums") -> "Sums":
        return Sums(
            self.compared + other.compared,
            self.disagreement + other.disagreement,
            self.all_compared + other.all_compared,
            self.all_disagreement + other.all_disagreement,
            self.lost_compared + other.lost_compared,
            self.lost_disagreement + other.lost_disagreement,
            self.influence + other.influence,
        )


@attrs.frozen
class PairRatio:
    """How pairs of rows are compared and how much of them counts.

    Attributes
    ----------
    agreement : Agreement
    n_units : int
        The number of units that are left out one by one.
    sizes : CellSizes, optional
        How unequal the cells of the sample are. Without them, everything that has a pair counts as checked.
    is_mixed : bool
        Whether three ratios are mixed; False where weights are declared to say nothing about predictions.
    unit_of_explanation : (m,) int, optional
        The unit of each explanation, if units are blocks; by default, the unit of a cell.

    Examples
    --------
    Three rows share an explanation; two of them have the same label:

    >>> from faithkit.measure.agreement.same_label import SAME_LABEL
    >>> from faithkit.measure.counting.cells import Cells
    >>> ones, unit = np.ones(3, dtype=np.int64), np.arange(3)
    >>> cells = Cells.of(0 * unit, unit, np.array([0, 0, 1]), scope_weight=ones, owner_weight=ones)
    >>> sums = PairRatio(SAME_LABEL, 3).sum_parts([Parts.of(cells)])
    >>> round(sums.disagreement, 9), sums.lost_disagreement.round(9)
    (2.0, array([0., 0., 2.]))
    """

    agreement: Agreement
    n_units: int
    sizes: CellSizes | None = None
    is_mixed: bool = True
    unit_of_explanation: Ints | None = None

    def sum_parts(self, parts: Iterable[Parts]) -> Sums:
        """Return the sums over all pairs of parts, which come in batches."""
        totals, lost = np.zeros(4), _UnitSums(self.n_units)
        for batch in parts:
            for part_batch in batch.split() if len(batch) else ():
                totals += self._sum_batch(part_batch, lost)
        compared, disagreement, all_compared, all_disagreement = totals.tolist()
        return Sums(compared, disagreement, all_compared, all_disagreement, *lost.total())

    def _sum_batch(self, parts: Parts, lost: _UnitSums) -> Floats:
        """Return the totals of parts, in the order of `Sums`; add to `lost` what they lose without units."""
        pairs, columns = parts.pair_sums(self.agreement), _columns(parts)
        whole = _Totals(*map(parts.by_part, columns))
        level = whole.mix_ratios(pairs.weight, pairs.disagreement, self.is_mixed)
        everything, compared = whole.owned * whole.is_checked, whole.owned * whole.checked_share(self.sizes)
        disagreement = compared * level
        if self.unit_of_explanation is not None:
            unit = self.unit_of_explanation[parts.explanation]
            lost.add(unit, (compared, disagreement, np.zeros(len(parts))))
        else:
            left = _Totals.without_cells(parts, columns)
            level_left = left.mix_ratios(pairs.weight_left, pairs.disagreement_left, self.is_mixed)
            compared_left = left.owned * left.checked_share(self.sizes)
            lost_compared = parts.of_part(compared) - compared_left
            lost_disagreement = parts.of_part(disagreement) - compared_left * level_left
            influence = self._influence(parts, compared, left, whole.mixture(self.is_mixed), pairs.weight)
            lost.add(parts.unit, (lost_compared, lost_disagreement, influence))
        return np.array([values.sum() for values in (compared, disagreement, everything, everything * level)])

    def levels(self, parts: Parts) -> tuple[NDArray[np.bool_], Floats]:
        """Return which parts have a pair, and the mean disagreement of their pairs."""
        whole = _Totals(*map(parts.by_part, _columns(parts)))
        return whole.is_checked, whole.mix_ratios(*parts.whole_sums(self.agreement), self.is_mixed)

    @staticmethod
    def _influence(
        parts: Parts, compared: Floats, left: "_Totals", shares: Sequence[Floats], pairs: list[Floats]
    ) -> Floats:
        """Return, for each cell, ΣK over the owners of other units that its rows are compared with."""
        held_by = left.owned * parts.held, left.owned * parts.held**2, left.owned_by_held * parts.held
        terms = (
            parts.of_part(divide_safely(share * compared, pair_weight)) * weights
            for share, pair_weight, weights in zip(shares, pairs, held_by, strict=True)
        )
        return sum(terms, np.zeros(len(parts.part)))


def _columns(parts: Parts) -> tuple[Floats, ...]:
    """Return, for each cell, the terms of the totals of its part."""
    owned, held = parts.owned, parts.held
    indicators = held > 0, owned > 0, (owned > 0) & (held > 0)
    return owned, held, held**2, owned * held, *(values.astype(np.float64) for values in indicators)


@attrs.frozen(eq=False)
class _Totals:
    """Sums over the cells of each part, or of each cell's part without that cell."""

    owned: Floats
    held: Floats
    held_squared: Floats
    owned_by_held: Floats
    n_holding: Floats
    n_owning: Floats
    n_both: Floats

    @classmethod
    def without_cells(cls, parts: Parts, columns: tuple[Floats, ...]) -> "_Totals":
        """Return the totals of each cell's part without that cell."""
        only_owners = True, False, False, True, False, True, True
        return cls(*map(parts.without_cell, columns, only_owners))

    @property
    def is_checked(self) -> NDArray[np.bool_]:
        """Whether a part has a pair of cells."""
        return np.asarray(self.n_owning * self.n_holding > self.n_both)

    def mixture(self, is_mixed: bool) -> tuple[Floats, Floats, Floats]:
        """Return the shares of the three ratios; only the first one counts if they are not mixed."""
        held, product = self.held**2, self.owned * self.held
        second = divide_safely(self.held_squared, np.maximum(held - self.held_squared, self.held_squared))
        third = divide_safely(
            self.owned_by_held, np.maximum(product - self.owned_by_held, self.owned_by_held)
        )
        third = np.where((self.n_both > 0) & (self.n_holding > 1), third, 0.0)
        total = np.maximum(1.0, second + third)
        second, third = is_mixed * second / total, is_mixed * third / total
        return 1.0 - second - third, second, third

    def mix_ratios(self, pairs: list[Floats], disagreement: list[Floats], is_mixed: bool) -> Floats:
        """Return the mean disagreement of the pairs of each part; 0 where there are none."""
        ratios = map(divide_safely, disagreement, pairs)
        mixed = sum(share * ratio for share, ratio in zip(self.mixture(is_mixed), ratios, strict=True))
        return np.where(self.is_checked, mixed, 0.0)

    def checked_share(self, sizes: CellSizes | None) -> Floats:
        """Return the share of each part that counts as checked: 1 if all cells of the sample are equal."""
        if sizes is None:
            return self.is_checked.astype(np.float64)
        held = np.where(self.is_checked, self.held, 1.0)
        own = _spread(self.held_squared / held, held / np.maximum(self.n_holding, 1.0))
        unchecked = np.maximum(OWN_CELLS * own, ALL_CELLS * sizes.spread) / held**2
        return np.asarray(self.is_checked * (1.0 - np.minimum(1.0, unchecked)))


def _spread(weighted: Floats, mean: Floats) -> Floats:
    """Return a²·√(1 − b/a) of two means of cells, a ≥ b: 0 if cells are equal."""
    inequality = 1.0 - divide_safely(mean, weighted, empty=1.0)
    return weighted**2 * np.sqrt(np.where(inequality > NEARLY, inequality, 0.0))


@attrs.frozen(eq=False)
class MergedSums:
    """The sums over pairs of merged explanations, in total and by part; `sums` has no influence."""

    sums: Sums
    compared: Floats
    disagreement: Floats

    @classmethod
    def zeros(cls, n_units: int) -> "MergedSums":
        """Return the sums where nothing is merged."""
        return cls(Sums.zeros(n_units), np.zeros(0), np.zeros(0))


def merge_parts(parts: Parts, agreement: Agreement, n_units: int) -> MergedSums:
    """Return the sums over the pairs of cells that are merged, each with an explanation of its own.

    Two cells of weights a and b count K = a·b·(α + β(a + b)), which is symmetric, and no cell's sum exceeds
    its weight. α and β mix ratios as in groups, divided by the largest share of a cell, or a bound of it.

    Examples
    --------
    Two rows of equal weight are a matched pair, and each of them counts:

    >>> from faithkit.measure.agreement.same_label import SAME_LABEL
    >>> from faithkit.measure.counting.cells import Cells
    >>> ones, unit = np.ones(2, dtype=np.int64), np.arange(2)
    >>> cells = Cells.of(0 * unit, unit, unit, scope_weight=ones, owner_weight=ones)
    >>> merge_parts(Parts.of(cells), SAME_LABEL, 2).compared
    array([2.])
    """
    pairs, (weights, weights_left), held = parts.pair_sums(agreement), parts.holder_sums(), parts.held
    least, least_left = _smallest(parts)
    columns = (held > 0).astype(np.float64), held, held**2
    alpha, beta = _merging_factors(list(map(parts.by_part, columns)), weights, least)
    alpha_left, beta_left = _merging_factors(list(map(parts.without_cell, columns)), weights_left, least_left)
    compared, disagreement = (
        alpha * first + beta * (second + third) for first, second, third in (pairs.weight, pairs.disagreement)
    )
    lost = (
        by_part[parts.part] - alpha_left * first - beta_left * (second + third)
        for by_part, (first, second, third) in (
            (compared, pairs.weight_left),
            (disagreement, pairs.disagreement_left),
        )
    )
    whole = float(compared.sum()), float(disagreement.sum())
    lost_compared, lost_disagreement = (sum_by(parts.unit, values, n_units) for values in lost)
    sums = Sums(*whole, *whole, lost_compared, lost_disagreement, np.zeros(n_units))
    return MergedSums(sums, compared, disagreement)


def _smallest(parts: Parts) -> tuple[Floats, Floats]:
    """Return the smallest cell of each part, and that without each cell; infinite where there is none."""
    order = np.lexsort((parts.held, parts.part))
    rank = np.arange(len(order)) - np.searchsorted(parts.part[order], parts.part[order])
    first, second = order[rank == 0], order[rank == 1]
    smallest, next_smallest = np.full((2, len(parts)), np.inf)
    smallest[parts.part[first]], next_smallest[parts.part[second]] = parts.held[first], parts.held[second]
    left = smallest[parts.part]
    left[first] = next_smallest[parts.part[first]]
    return smallest, left


def _merging_factors(
    totals: list[Floats], pair_weights: list[Floats], least: Floats
) -> tuple[Floats, Floats]:
    """Return α and β of each part, from sums over its cells and their pairs; 0 where it has no pair."""
    (n_cells, total, squares), (pairs, pairs_by_other, _) = totals, pair_weights
    has_pair = n_cells > 1
    total, squares, pairs, pairs_by_other, least = (
        np.where(has_pair, values, 1.0) for values in (total, squares, pairs, pairs_by_other, least)
    )
    share = np.minimum(1.0, 2 * squares / pairs)
    alpha, beta = (1 - share) * total / pairs, share * total / (2 * pairs_by_other)
    heaviest_use = np.maximum(least, (beta * total - alpha) / (4 * beta))  # the cell whose share is largest
    bound = alpha * (total - heaviest_use) + beta * (squares - 2 * heaviest_use**2 + heaviest_use * total)
    return divide_safely(alpha * has_pair, bound), divide_safely(beta * has_pair, bound)
