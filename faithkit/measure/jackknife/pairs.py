"""Sums over all pairs of rows that an explanation compares, and the same sums without each unit.

Rows of different units are compared: an owner, whose explanation it is, with those for whom it holds. A
*cell* is what one unit has of one explanation. Two rows i and j of cells c and d count a_i·w_j over what else
the explanation holds for:

    row ratio   a_i·w_j / (W − W_c)
    thinning    a_i·w_j / (w̄ + W − W_c − W_d)

The theory page says when each of them is right. Without a unit all denominators change, so that every unit
would meet every pair of others. But 1/z is a sum of 16 exponentials to the last digits, and exponentials of
sums are products: so everything is a sum over cells.
"""

from collections.abc import Iterator
from typing import Any

import attrs
import numpy as np
from numpy.typing import NDArray

from faithkit.arrays import Floats, Ints, ratio, sum_by
from faithkit.measure.agreement.base import Sums
from faithkit.measure.counting.cells import Cells, differ

RATIO = 4.0  # of the largest denominator to the smallest: what the exponentials are for
LARGE = 3 / 8  # of what an explanation holds for: such cells are taken one by one


@attrs.frozen(eq=False)
class PairSums:
    """What is compared and what disagrees, in all, and what of it goes with each unit.

    Attributes
    ----------
    compared, disagreement : float
        ΣK and ΣK·d, in weights.
    lost_compared, lost_disagreement : (u,) float
        By how much these fall when a unit is left out.
    influence : (u,) float
        ΣK over the owners of other units that a unit's rows are compared with.
    by_explanation : tuple, optional
        Explanations of more than one unit, and both sums of each; not of sums that were added.
    """

    compared: float
    disagreement: float
    lost_compared: Floats
    lost_disagreement: Floats
    influence: Floats
    by_explanation: tuple[Ints, Floats, Floats] | None = None

    @classmethod
    def nothing(cls, n_units: int) -> "PairSums":
        """Return the sums over no pairs."""
        return cls(0.0, 0.0, *np.zeros((3, n_units)))

    def __add__(self, other: "PairSums") -> "PairSums":
        return PairSums(
            self.compared + other.compared,
            self.disagreement + other.disagreement,
            self.lost_compared + other.lost_compared,
            self.lost_disagreement + other.lost_disagreement,
            self.influence + other.influence,
        )


def pair_sums(
    cells: Cells, agreement: Sums, n_units: int, step: float = 1.0, allowance: Floats | None = None
) -> PairSums:
    """Add up all pairs of rows, and the same without each unit.

    Parameters
    ----------
    cells : Cells
    agreement : Agreement
        How far two labels agree.
    n_units : int
    step : float
        What a step of weight is worth.
    allowance : (m,) float, optional
        w̄ for each explanation, in steps and no smaller than its largest cell: thinning. Without it, the row
        ratio.

    Examples
    --------
    Three rows share an explanation; two of them have one label:

    >>> from faithkit.measure.agreement.same_label import SAME_LABEL
    >>> one, row = np.ones(3, dtype=np.int64), np.arange(3)
    >>> cells = Cells.of(0 * row, row, np.array([0, 0, 1]), held=one, owned=one)
    >>> sums = pair_sums(cells, SAME_LABEL, 3)
    >>> round(sums.disagreement, 9), sums.lost_disagreement.round(9)
    (2.0, array([0., 0., 2.]))
    """
    cells = cells.take((cells.held > 0) | (cells.owned > 0))
    several = cells.n_units > 1
    holds = np.zeros(len(several), dtype=bool)
    holds[cells.explanation[cells.held > 0]] = True
    cells = cells.take((several & holds)[cells.explanation])
    if not len(cells):
        return PairSums.nothing(n_units)
    table = _Table(cells, agreement, step)
    if allowance is None:
        compared, disagreement, left = _row_ratio(table)
    else:
        compared, disagreement, left = _thinned(table, allowance * step)
    return table.gathered(compared, disagreement, left, n_units)


@attrs.frozen(eq=False)
class _Left:
    """Of each cell's explanation, what is left of both sums without the cell; and the cell's influence."""

    compared: Floats
    disagreement: Floats
    influence: Floats


class _Table:
    """The cells in order of explanation and label.

    Entries are labels of cells. `own` is what disagrees with an entry in its own cell, and `apart` what
    disagrees with it in the others.
    """

    def __init__(self, cells: Cells, agreement: Sums, step: float) -> None:
        self.agreement = agreement
        cell, first = cells.cell, cells.first
        row = np.cumsum(differ(cells.explanation)) - 1
        cell_held = sum_by(cell, cells.held)
        own = cell_held[cell] - agreement.over_slots(cells.cell, cells.label, cells.held)
        order = np.lexsort((cells.label, row))
        self.explanation = np.unique(cells.explanation)
        self.row, self.label, self.cell = row[order], cells.label[order], cell[order]
        self.slot = np.cumsum(differ(self.row, self.label)) - 1
        first_of_slot = np.flatnonzero(differ(self.slot))
        self.slot_row, self.slot_label = self.row[first_of_slot], self.label[first_of_slot]
        self.unit, self.cell_row = cells.unit[first], row[first]
        held, owned = cells.held[order], cells.owned[order]
        self.n_held = sum_by(self.cell_row, (cell_held > 0).astype(np.int64))
        whole = sum_by(self.row, held)
        toward = agreement.over_slots(self.slot_row, self.slot_label, sum_by(self.slot, held))
        apart = whole[self.row] - toward[self.slot] - own[order]  # whole numbers, where labels agree or not
        others = whole[self.cell_row] - cell_held
        self.held, self.owned, self.own, self.apart = (
            _floats(step * one) for one in (held, owned, own[order], apart)
        )
        self.cell_held, self.cell_owned = step * cell_held, step * sum_by(self.cell, owned)
        self.whole, self.others = step * whole, step * others
        self.cell_own = sum_by(self.cell, self.owned * self.own)

    def toward(self, weights: Floats) -> tuple[Floats, Floats]:
        """Return, of weights by slot, what each explanation has, and what of it disagrees with each slot."""
        whole = sum_by(self.slot_row, weights)
        agreeing = self.agreement.over_slots(self.slot_row, self.slot_label, weights, whole)
        return whole, np.maximum(0.0, whole[self.slot_row] - agreeing)

    def chosen(self, some: NDArray[np.bool_], place: int = 0) -> Ints:
        """Return, for each explanation, the first of some cells, or another in order; −1 for none."""
        cells, found = np.flatnonzero(some), np.full(len(self.whole), -1)
        rank = np.arange(len(cells)) - np.searchsorted(self.cell_row[cells], self.cell_row[cells])
        mine = cells[rank == place]
        found[self.cell_row[mine]] = mine
        return found

    def met(self, chosen: Ints, weights: Floats, counted: Floats) -> Floats:
        """Return what each cell, by one weight, and the chosen one, by another, disagree by."""
        is_chosen = chosen[self.row] == self.cell
        _, apart = self.toward(sum_by(self.slot, np.where(is_chosen, weights, 0.0)))
        return _floats(sum_by(self.cell, counted * apart[self.slot]))

    def gathered(self, compared: Floats, disagreement: Floats, left: _Left, n_units: int) -> PairSums:
        """Add up explanations, and by unit what goes with each cell."""
        by_cell = (
            compared[self.cell_row] - left.compared,
            disagreement[self.cell_row] - left.disagreement,
            left.influence,
        )
        lost_compared, lost_disagreement, influence = (sum_by(self.unit, one, n_units) for one in by_cell)
        return PairSums(
            float(compared.sum()),
            float(disagreement.sum()),
            lost_compared,
            lost_disagreement,
            influence,
            (self.explanation, compared, disagreement),
        )


def _thinned(table: _Table, allowance: Floats) -> tuple[Floats, Floats, _Left]:
    """Compare by thinning: every denominator lies between `least` and four times that.

    A cell that has most of an explanation is kept out of the exponentials, which would grow too large. There
    is at most one, so it meets each of the others as it is.
    """
    row, w = table.cell_row, allowance[table.explanation]
    heaviest = np.zeros(len(w))
    np.maximum.at(heaviest, row, table.cell_held)
    least = w + np.maximum(0.0, table.whole - 3 * heaviest)
    is_large = 3 * table.cell_held > (w + table.whole)[row]
    large = table.chosen(is_large)
    one, is_small = large[row], ~is_large
    pairs = table.met(large, table.owned, table.held) + table.met(large, table.held, table.owned)
    by_large = np.where(one >= 0, table.cell_owned[one] * table.cell_held, 0.0)
    of_large = np.where(one >= 0, table.cell_held[one] * table.cell_owned, 0.0)
    disagreement, compared = _Sum(table, is_small, pairs), _Sum(table, is_small, by_large + of_large)
    influence = np.zeros(len(row))
    for rate, weight in exponentials():
        grown = np.exp(rate * table.cell_held / least[row])
        part = weight / least * np.exp(-rate * (w + table.whole) / least)
        with_large = np.where(large >= 0, part * grown[large], 0.0)
        small = np.where(is_small, grown, 0.0)
        entry = small[table.cell]
        holding, against_holding = table.toward(sum_by(table.slot, table.held * entry))
        owning, against_owning = table.toward(sum_by(table.slot, table.owned * entry))
        within = table.cell_own * small**2
        own = sum_by(table.cell, table.owned * entry * against_holding[table.slot]) - within
        others = sum_by(table.cell, table.held * entry * against_owning[table.slot]) - within
        disagreement.add(part, with_large, grown, own, others)
        mine, held = table.cell_owned * small, table.cell_held * small
        own, others = mine * (holding[row] - held), held * (owning[row] - mine)
        compared.add(part, with_large, grown, own, others)
        influence += part[row] * others + with_large[row] * by_large * small
        influence[large[large >= 0]] += (with_large * sum_by(row, of_large * small))[large >= 0]
    return compared.whole, disagreement.whole, _Left(compared.left, disagreement.left, influence)


class _Sum:
    """A sum over pairs of each explanation's cells, and the same without each cell, by exponentials.

    `pairs` is what each small cell and the large one of its explanation have together, both ways.
    """

    def __init__(self, table: _Table, is_small: NDArray[np.bool_], pairs: Floats) -> None:
        self.row, self.is_small = table.cell_row, is_small
        self.pairs = np.where(is_small, pairs, 0.0)
        self.whole, self.left = np.zeros(len(table.whole)), np.zeros(len(self.row))

    def add(self, part: Floats, with_large: Floats, grown: Floats, own: Floats, others: Floats) -> None:
        """Add one exponential: `own` is what a cell's owners meet, and `others` what meets its rows."""
        row, pairs = self.row, self.pairs * grown
        every, every_pair = sum_by(row, own), sum_by(row, pairs)
        self.whole += part * every + with_large * every_pair
        without = part[row] * (every[row] - own - others) + with_large[row] * (every_pair[row] - pairs)
        self.left += np.where(self.is_small, grown * without, with_large[row] * every[row])


def _row_ratio(table: _Table) -> tuple[Floats, Floats, _Left]:
    """Compare each row with all others that its explanation holds for, whatever it weighs itself."""
    row = table.cell_row
    has_others = table.others > 0
    against = np.where(has_others, sum_by(table.cell, table.owned * table.apart), 0.0)
    disagreement = sum_by(row, ratio(against, table.others))
    checked = np.where(has_others, table.cell_owned, 0.0)
    compared = sum_by(row, checked)
    share = ratio(checked, table.others)
    influence = table.cell_held * (sum_by(row, share)[row] - share)
    left = _Left(_still_checked(table, compared, checked), np.zeros(len(row)), influence)
    is_large = table.cell_held > LARGE * table.whole[row]
    left.disagreement[:] = _without_small(table, against, is_large)
    for place in range(2):  # no more of them fit
        _add_large(table, left.disagreement, against, is_large, place)
    return compared, disagreement, left


def _still_checked(table: _Table, compared: Floats, checked: Floats) -> Floats:
    """Return what still has others without each cell."""
    row, holds = table.cell_row, table.cell_held > 0
    rest = compared[row] - checked
    partner = sum_by(row, np.where(holds, checked, 0.0))[row] - checked  # where two hold: that of the other
    return np.where(
        holds & (table.n_held[row] == 1),
        0.0,
        np.where(holds & (table.n_held[row] == 2), rest - partner, rest),
    )


def _without_small(table: _Table, against: Floats, is_large: NDArray[np.bool_]) -> Floats:
    """Return what is left of the disagreement of small cells without each small one."""
    row, left = table.cell_row, np.zeros(len(table.cell_row))
    small, entry_small = ~is_large, ~is_large[table.cell]
    least = table.whole / RATIO
    for rate, weight in exponentials():
        grown = np.exp(rate * table.cell_held / least[row])
        part = weight / least * np.exp(-rate * table.whole / least)
        owning = np.where(entry_small, table.owned * grown[table.cell], 0.0)
        _, against_owning = table.toward(sum_by(table.slot, owning))
        met = sum_by(table.cell, table.held * against_owning[table.slot]) - table.cell_own * grown
        every = sum_by(row, np.where(small, against * grown, 0.0))
        left += part[row] * grown * (every[row] - against * grown - met)
    return np.where(small, left, 0.0)


def _add_large(table: _Table, left: Floats, against: Floats, is_large: NDArray[np.bool_], place: int) -> None:
    """Let the large cell in some place of each explanation meet all its other cells, pair by pair."""
    row, large = table.cell_row, table.chosen(is_large, place)
    one = large[row]
    met = (one >= 0) & (one != np.arange(len(row)))
    rest = np.where(met, table.others - table.cell_held[one], 0.0)
    rest[rest <= 1e-12 * table.whole[row]] = 0.0
    stays = ratio(against[one] - table.met(large, table.owned, table.held), rest)
    left += np.where(met, stays, 0.0)  # each cell goes, and the large one stays
    goes = np.where(met & ~is_large, ratio(against - table.met(large, table.held, table.owned), rest), 0.0)
    left[large[large >= 0]] += sum_by(row, goes)[large >= 0]


def exponentials() -> Iterator[tuple[float, float]]:
    """Yield rates r and weights v with Σ v·exp(−r·z) = 1/z for z from 1 to 4, to about 2e-15.

    1/z = ∫ 8 s^(8z − 1) ds from 0 to 1, by Gauss and Legendre's rule.
    """
    points, weights = np.polynomial.legendre.leggauss(16)
    points = (points + 1) / 2
    yield from zip(-8 * np.log(points), 4 * weights / points, strict=True)


def _floats(values: NDArray[Any]) -> Floats:
    return values.astype(np.float64, copy=False)
