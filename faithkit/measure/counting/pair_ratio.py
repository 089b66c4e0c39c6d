"""The pair ratio: how much of each part counts as checked, how far its rows disagree; both without each unit.

The mean disagreement of the pairs of a part is a mixture of three ratios, so that weights that tell the label
cause no bias of the order 1/n. Where the cells of a part are unequal, a share of it counts as unchecked. If
all cells are equal, the three ratios are one, and everything counts: then this is the paper's leave-one-out.
The theory page says what is proved.
"""

from collections.abc import Iterable, Sequence
from functools import partial
from typing import Any

import attrs
import numpy as np
from numpy.typing import NDArray

from faithkit.arrays import Floats, Ints, divide_safely, sum_by
from faithkit.measure.agreement.base import Agreement
from faithkit.measure.counting.parts import MetByOwners, Parts

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
        return float(spread(np.array(self.weighted), np.array(self.mean)))


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
            factor = divide_safely(parts.by_part(parts.owned, owners=True), parts.by_part(parts.held))
            factor = parts.of_part(factor)
            weighted = factor * parts.held
            self._by_unit.add(parts.unit, (factor * (parts.held > 0), weighted, weighted * parts.held))

    @property
    def sizes(self) -> CellSizes:
        """The mean cells of owners, but for the unit that has most; of several, the heaviest cells."""
        return sizes_of_units(self._by_unit.total())


def sizes_of_units(sums: Floats) -> CellSizes:
    """Return the sizes from three sums of each unit: number, weight and squared weight of its cells.

    The unit that has most is left out; of several, the one with the heaviest cells.
    """
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


@attrs.frozen(eq=False)
class Totals:
    """Sums over the cells of each part, or of each cell's part without that cell.

    `pairs` has ΣF·o·h over the pairs of cells, and `apart` the same times disagreement: F is 1 and, if three
    ratios are mixed, also the weight that the held row's cell holds, and that of the owner's cell.
    """

    owned: Floats
    held: Floats
    held_squared: Floats
    owned_by_held: Floats
    n_holding: Floats
    n_owning: Floats
    n_both: Floats
    pairs: list[Floats]
    apart: list[Floats]

    @classmethod
    def of(cls, parts: Parts, met: MetByOwners) -> "Totals":
        """Return the totals of each part, from what its owning cells meet."""
        held, owned, by_owner = parts.held, parts.owned, partial(parts.by_part, owners=True)
        owner_held, owns = held[parts.owners], owned > 0  # a dominant cell may weigh nothing
        pairs, apart = [owned * values for values in met.held], [owns * values for values in met.apart]
        if len(pairs) > 1:
            pairs.append(owner_held * pairs[0])
            apart.append(owner_held * apart[0])
        return cls(
            by_owner(owned),
            parts.by_part(held),
            parts.by_part(held * held),
            by_owner(owned * owner_held),
            parts.by_part(held > 0),
            by_owner(owns),
            by_owner(owns & (owner_held > 0)),
            list(map(by_owner, pairs)),
            list(map(by_owner, apart)),
        )

    @property
    def _columns(self) -> tuple[list[Floats], list[Floats], list[Floats]]:
        *columns, pairs, apart = attrs.astuple(self, recurse=False)
        return columns, pairs, apart

    def take(self, parts: Ints) -> "Totals":
        """Return the totals of some parts."""
        *columns, pairs, apart = attrs.astuple(self, recurse=False)
        sums = ([values.take(parts) for values in lists] for lists in (pairs, apart))
        return Totals(*(values.take(parts) for values in columns), *sums)

    def replace(self, cells: Ints, totals: "Totals") -> "Totals":
        """Return the same but for some cells, in place."""
        for olds, news in zip(self._columns, totals._columns, strict=True):
            for old, new in zip(olds, news, strict=True):
                old[cells] = new
        return self

    def without(
        self, held: Floats, apart: Sequence[Floats], owned: Floats | None = None, met: Any = None
    ) -> "Totals":
        """Return the totals without a cell of each part.

        Parameters
        ----------
        held : (c,) float
            What the cells hold.
        apart : sequence of (c,) float
            What they hold, times what others own and disagrees, as in `Parts.meet_owned`.
        owned : (c,) float, optional
            What they own; by default nothing.
        met : MetByOwners
            What those that own something meet.
        """
        holds = held > 0
        owned_left, owned_by_held, held_left = self.owned, self.owned_by_held, self.held - held
        squares, is_mixed = held * held, len(self.pairs) > 1
        pairs = [self.pairs[0] - held * owned_left]
        n_owning, n_both = self.n_owning, self.n_both
        if owned is not None:
            owned_left = owned_left - owned
            owns = owned > 0
            n_owning, n_both = n_owning - owns, n_both - (owns & holds)
            pairs = [self.pairs[0] - held * owned_left - owned * met.held[0]]
        lost = [apart[0]] if owned is None else [apart[0] + met.apart[0]]
        if is_mixed:
            pairs.append(self.pairs[1] - squares * owned_left)
            lost += held * apart[0], apart[1]
            if owned is not None:
                owned_by_held = owned_by_held - owned * held
                pairs[1] -= owned * met.held[1]
                lost[1:] = lost[1] + met.apart[1], lost[2] + held * met.apart[0]
            pairs.append(self.pairs[2] - held * owned_by_held)
            if owned is not None:
                pairs[2] -= held * owned * met.held[0]
        return Totals(
            owned_left,
            held_left,
            self.held_squared - squares,
            owned_by_held,
            self.n_holding - holds,
            n_owning,
            n_both,
            pairs,
            [_subtract(total, values) for total, values in zip(self.apart, lost, strict=True)],
        )

    @property
    def is_checked(self) -> NDArray[np.bool_]:
        """Whether a part has a pair of cells."""
        return np.asarray(self.n_owning * self.n_holding > self.n_both)

    def mixture(self) -> list[Any]:
        """Return the shares of the ratios."""
        if len(self.pairs) == 1:
            return [1.0]
        held, product = self.held * self.held, self.owned * self.held
        second = divide_safely(self.held_squared, np.maximum(held - self.held_squared, self.held_squared))
        third = divide_safely(
            self.owned_by_held, np.maximum(product - self.owned_by_held, self.owned_by_held)
        )
        third *= (self.n_both > 0) & (self.n_holding > 1)
        total = np.maximum(1.0, second + third)
        second /= total
        third /= total
        return [1.0 - second - third, second, third]

    def level(self) -> Floats:
        """Return the mean disagreement of the pairs of each part; 0 where there are none."""
        ratios = map(divide_safely, self.apart, self.pairs)
        mixed = sum(share * ratio for share, ratio in zip(self.mixture(), ratios, strict=True))
        return np.asarray(mixed * self.is_checked)

    def compared(self, sizes: CellSizes | None) -> Floats:
        """Return the owned weight that counts as checked: all of it if all cells of the sample are equal."""
        if sizes is None:
            return np.asarray(self.owned * self.is_checked)
        held = np.where(self.is_checked, self.held, 1.0)
        own = spread(self.held_squared / held, held / np.maximum(self.n_holding, 1.0))
        unchecked = np.maximum(OWN_CELLS * own, ALL_CELLS * sizes.spread) / (held * held)
        return np.asarray(self.owned * (self.is_checked * (1.0 - np.minimum(1.0, unchecked))))


def _subtract(total: Floats, values: Floats) -> Floats:
    """Return the difference, and 0 where rounding makes it negative."""
    difference = total - values
    return np.maximum(0.0, difference, out=difference)


def spread(weighted: Floats, mean: Floats) -> Floats:
    """Return a²·√(1 − b/a) of two means of cells, a ≥ b: 0 if cells are equal."""
    inequality = 1.0 - divide_safely(mean, weighted, empty=1.0)
    return weighted * weighted * np.sqrt(np.where(inequality > NEARLY, inequality, 0.0))


@attrs.frozen(eq=False)
class Losses:
    """What parts lose without cells, or blocks without parts: of `compared` and `disagreement` in `Sums`.

    `totals` are those of the parts, in the order of `Sums`.
    """

    totals: Floats
    unit: Ints
    compared: Floats
    disagreement: Floats
    influence: Floats


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
        Whether three ratios are mixed; False where they are one, because cells are equal, or weights are
        declared to say nothing about predictions.
    unit_of_explanation : (m,) int, optional
        The unit of each explanation, if units are blocks; by default, the unit of a cell.
    has_influence : bool
        Whether anybody reads the influence; it is 0 otherwise.

    Examples
    --------
    Three rows share an explanation; two of them have the same label:

    >>> from faithkit.measure.agreement.same_label import SAME_LABEL
    >>> from faithkit.measure.counting.cells import Cells
    >>> ones, unit = np.ones(3, dtype=np.int64), np.arange(3)
    >>> cells = Cells.of(0 * unit, unit, np.array([0, 0, 1]), held=ones, owned=ones)
    >>> sums = PairRatio(SAME_LABEL, 3).sum_parts([Parts.of(cells)])
    >>> round(sums.disagreement, 9), sums.lost_disagreement.round(9)
    (2.0, array([0., 0., 2.]))
    """

    agreement: Agreement
    n_units: int
    sizes: CellSizes | None = None
    is_mixed: bool = True
    unit_of_explanation: Ints | None = None
    has_influence: bool = True

    @property
    def n_powers(self) -> int:
        """How many powers of weights are summed."""
        return 2 if self.is_mixed else 1

    def sum_parts(self, parts: Iterable[Parts]) -> Sums:
        """Return the sums over all pairs of parts, which come in batches."""
        return self.sum_losses(map(self.losses, parts))

    def sum_losses(self, batches: Iterable["Sequence[Losses]"]) -> Sums:
        """Return the sums of the losses of all batches of parts."""
        totals, lost = np.zeros(4), _UnitSums(self.n_units)
        for losses in (losses for batch in batches for losses in batch):
            totals += losses.totals
            lost.add(losses.unit, (losses.compared, losses.disagreement, losses.influence))
        compared, disagreement, all_compared, all_disagreement = totals.tolist()
        return Sums(compared, disagreement, all_compared, all_disagreement, *lost.total())

    def losses(self, parts: Parts) -> "list[Losses]":
        """Return the totals of parts and their losses, apart for those that one cell dominates."""
        return [self._losses(some_parts) for some_parts in parts.split()] if len(parts) else []

    def levels(self, parts: Parts) -> tuple[NDArray[np.bool_], Floats]:
        """Return which parts have a pair, and the mean disagreement of their pairs."""
        whole = self._totals(parts)[0]
        return whole.is_checked, whole.level()

    def _losses(self, parts: Parts) -> Losses:
        """Return the totals of parts, and what they lose without each cell, or without each part."""
        whole, met, light = self._totals(parts)
        totals, compared, disagreement = self.sum_totals(whole)
        if self.unit_of_explanation is not None:
            unit = self.unit_of_explanation[parts.explanation]
            return Losses(totals, unit, compared, disagreement, np.zeros(len(parts)))
        apart, part, held = parts.meet_owned(self.agreement, met), parts.part, parts.held
        sums = whole, compared, disagreement
        if parts.owner is None:
            lost = self.without_cells(sums, part, held, apart, parts.owned, met)
        else:
            lost = self._without_held(sums, parts, apart)
            owners = parts.owners
            own_apart = [values[owners] for values in apart]
            lost[:, owners] = self.without_cells(
                sums, part[owners], held[owners], own_apart, parts.owned, met
            )
        if light is not None:
            is_dominated = parts.is_dominated
            some = light.take(np.flatnonzero(is_dominated))
            lost[:2, parts.heaviest] = self._lost(compared[is_dominated], disagreement[is_dominated], some)
        return Losses(totals, parts.unit, *lost)

    def _without_held(
        self, sums: tuple[Totals, Floats, Floats], parts: Parts, apart: Sequence[Floats]
    ) -> Floats:
        """Return what parts lose without each cell, as if it owned nothing.

        Cells of a part that weigh the same lose the same, but for what disagrees.
        """
        levels = parts.levels
        if levels is None:
            return self.without_cells(sums, parts.part, parts.held, apart)
        n_parts, n_levels = len(parts), len(levels.weights)
        part = np.repeat(np.arange(n_parts), n_levels)
        equal, *slopes = self.without_equal_cells(sums, part, np.tile(levels.weights, n_parts))
        position = parts.part * n_levels + levels.level
        lost = equal.take(position, axis=1)
        for slope, values in zip(slopes, apart, strict=False):
            lost[1] += slope.take(position) * values
        return lost

    def sum_totals(self, whole: Totals) -> tuple[Floats, Floats, Floats]:
        """Return the totals of parts, in the order of `Sums`; `compared` and `disagreement` of each."""
        level, everything = whole.level(), whole.owned * whole.is_checked
        compared = whole.compared(self.sizes)
        columns = compared, compared * level, everything, everything * level
        return np.array([values.sum() for values in columns]), *columns[:2]

    def without_cells(
        self,
        sums: tuple[Totals, Floats, Floats],
        part: Ints,
        held: Floats,
        apart: Sequence[Floats],
        owned: Floats | None = None,
        met: MetByOwners | None = None,
    ) -> Floats:
        """Return what parts lose of `compared` and `disagreement` without each cell, and its influence."""
        whole, compared, disagreement = sums
        left = whole.take(part).without(held, apart, owned, met)
        lost = np.zeros((3, len(part)))
        lost[:2] = self._lost(compared.take(part), disagreement.take(part), left)
        if self.has_influence:
            held_by = left.owned * held, left.owned * held * held, left.owned_by_held * held
            for share, pairs, weights in zip(whole.mixture(), whole.pairs, held_by, strict=False):
                lost[2] += divide_safely(share * compared, pairs).take(part) * weights
        return lost

    def without_equal_cells(
        self, sums: tuple[Totals, Floats, Floats], part: Ints, held: Floats
    ) -> tuple[Floats, Floats, Floats]:
        """Return what parts lose without a cell that owns nothing, as a linear function.

        Returns
        -------
        lost : (3, c) float
            What `compared`, `disagreement` and the influence lose if the cell disagrees with nothing.
        slope, slope_by_held : (c,) float
            How much more `disagreement` loses for each product of weights that the cell holds and owners own
            that disagree, and for the same times the weight that the owner's cell holds.
        """
        whole = sums[0]
        nothing = list(np.zeros((len(whole.pairs), len(part))))
        with np.errstate(divide="ignore", invalid="ignore"):  # a part may have no cell of this weight
            lost = self.without_cells(sums, part, held, nothing)
            left = whole.take(part).without(held, nothing)
            compared_left = left.compared(self.sizes)
        factors = [
            compared_left * divide_safely(share * np.ones(len(part)), pairs)
            for share, pairs in zip(left.mixture(), left.pairs, strict=True)
        ]
        if len(factors) == 1:
            return lost, factors[0], np.zeros(len(part))
        return lost, factors[0] + held * factors[1], factors[2]

    def _lost(self, compared: Floats, disagreement: Floats, left: Totals) -> tuple[Floats, Floats]:
        """Return how much less than these values is left."""
        compared_left = left.compared(self.sizes)
        return compared - compared_left, disagreement - compared_left * left.level()

    def totals_left(self, parts: Parts) -> tuple[Totals, Totals]:
        """Return the totals of parts all of whose cells own something, and those without each cell."""
        whole, met, light = self._totals(parts)
        apart = parts.meet_owned(self.agreement, met)
        left = whole.take(parts.part).without(parts.held, apart, parts.owned, met)
        if light is not None:
            left.replace(parts.heaviest, light.take(np.flatnonzero(parts.is_dominated)))
        return whole, left

    def _totals(self, parts: Parts) -> tuple[Totals, MetByOwners, Totals | None]:
        """Return the totals of parts, what owners meet, and the totals without cells that dominate a part."""
        met = parts.meet_held(self.agreement, self.n_powers)
        if not len(parts.heaviest):
            return Totals.of(parts, met), met, None
        light = parts.without_heaviest
        met_in_light = parts.meet_held(self.agreement, self.n_powers, light)
        met = met.replace(parts.is_heaviest_owner, met_in_light)
        return Totals.of(parts, met), met, Totals.of(light, met_in_light)
