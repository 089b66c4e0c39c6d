"""Sums over all pairs of rows that an explanation compares, and the same sums without each unit.

Rows of different units are compared: an owner of the explanation with a row for which the explanation holds.
A *cell* is the weight of one unit inside the scope of one explanation. Two rows i and j of cells c and d have
one of these weights:

    row ratio   a_i·w_j / (W − W_c)
    thinning    a_i·w_j / (w̄ + W − W_c − W_d)

The theory page says when each of them is right. Without a unit all denominators change, so that a direct
computation would combine every unit with every pair of others. But 1/z is a sum of 16 exponentials to the
last digits, and the exponential of a sum is a product. So every sum over pairs becomes a sum over cells.
"""

from collections.abc import Iterator
from typing import Any

import attrs
import numpy as np
from numpy.typing import NDArray

from faithkit.arrays import Floats, Ints, divide_safely, sum_by
from faithkit.measure.agreement.base import Agreement
from faithkit.measure.counting.cells import Cells, mark_run_starts

RATIO = 4.0  # of the largest denominator to the smallest, for which the exponentials are accurate
LARGE = 3 / 8  # of an explanation's weight: larger cells are treated one by one


@attrs.frozen(eq=False)
class PairSums:
    """The compared weight and the disagreement, in total, and how much of both is lost with each unit.

    Attributes
    ----------
    compared, disagreement : float
        ΣK and ΣK·d, in weights.
    lost_compared, lost_disagreement : (u,) float
        How much these decrease without each unit.
    influence : (u,) float
        ΣK over the owners of other units that the unit's rows are compared with.
    by_explanation : tuple, optional
        Both sums of each explanation of more than one unit. Sums that were added up have None.
    """

    compared: float
    disagreement: float
    lost_compared: Floats
    lost_disagreement: Floats
    influence: Floats
    by_explanation: tuple[Floats, Floats] | None = None

    @classmethod
    def zeros(cls, n_units: int) -> "PairSums":
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
    cells: Cells, agreement: Agreement, n_units: int, step: float = 1.0, allowance: Floats | None = None
) -> PairSums:
    """Return the sums over all pairs of rows, and the same without each unit.

    One step of weight has the value `step`. `allowance` is w̄ of each explanation, in steps and at least as
    large as its largest cell. With it, pairs are weighted by thinning, and without it by the row ratio.

    Examples
    --------
    Three rows share an explanation; two of them have the same label:

    >>> from faithkit.measure.agreement.same_label import SAME_LABEL
    >>> ones, unit = np.ones(3, dtype=np.int64), np.arange(3)
    >>> cells = Cells.of(0 * unit, unit, np.array([0, 0, 1]), scope_weight=ones, owner_weight=ones)
    >>> sums = pair_sums(cells, SAME_LABEL, 3)
    >>> round(sums.disagreement, 9), sums.lost_disagreement.round(9)
    (2.0, array([0., 0., 2.]))
    """
    cells = cells.take((cells.scope_weight > 0) | (cells.owner_weight > 0))
    has_several_units = cells.n_units > 1
    holds = np.zeros(len(has_several_units), dtype=bool)
    holds[cells.explanation[cells.scope_weight > 0]] = True
    cells = cells.take((has_several_units & holds)[cells.explanation])
    if not len(cells):
        return PairSums.zeros(n_units)
    table = _Table(cells, agreement, step)
    if allowance is None:
        pair_weight, disagreement, without = _sum_by_row_ratio(table)
    else:
        pair_weight, disagreement, without = _sum_by_thinning(table, allowance * step)
    return table.collect(pair_weight, disagreement, without, n_units)


@attrs.frozen(eq=False)
class _SumsWithoutCell:
    """Both sums of each cell's explanation without the cell, and the influence of the cell."""

    compared: Floats
    disagreement: Floats
    influence: Floats


class _Table:
    """Cells in order of explanation and label.

    The table has four kinds of arrays. *Entries* are the labels of each cell, with `scope_weight` and
    `owner_weight`; `within` is the weight in the same cell that disagrees with an entry, and `against` the
    weight in other cells that does. A *slot* is an explanation with a label. *Cells* have the prefix `cell_`,
    and `other_weight` is W − W_c. A *scope* is an explanation of the table, with W as its `weight`.
    """

    def __init__(self, cells: Cells, agreement: Agreement, step: float) -> None:
        self.agreement = agreement
        cell, first = cells.cell, cells.first
        scope = np.cumsum(mark_run_starts(cells.explanation)) - 1
        order = np.lexsort((cells.label, scope))
        cell_scope_weight = sum_by(cell, cells.scope_weight)
        within = cell_scope_weight[cell] - agreement.sum_over_slots(cell, cells.label, cells.scope_weight)
        self.explanation = np.unique(cells.explanation)
        self.scope, self.label, self.cell = scope[order], cells.label[order], cell[order]
        self.slot = np.cumsum(mark_run_starts(self.scope, self.label)) - 1
        first_of_slot = np.flatnonzero(mark_run_starts(self.slot))
        self.slot_scope, self.slot_label = self.scope[first_of_slot], self.label[first_of_slot]
        self.unit, self.cell_scope = cells.unit[first], scope[first]
        scope_weight, owner_weight = cells.scope_weight[order], cells.owner_weight[order]
        within = within[order]
        self.n_holding = sum_by(self.cell_scope, (cell_scope_weight > 0).astype(np.int64))
        weight = sum_by(self.scope, scope_weight)
        agreeing = agreement.sum_over_slots(self.slot_scope, self.slot_label, sum_by(self.slot, scope_weight))
        # these are whole numbers, where labels either agree or disagree
        against = weight[self.scope] - agreeing[self.slot] - within
        other_weight = weight[self.cell_scope] - cell_scope_weight
        self.scope_weight, self.owner_weight, self.within, self.against = (
            _as_floats(step * weights) for weights in (scope_weight, owner_weight, within, against)
        )
        self.cell_scope_weight = step * cell_scope_weight
        self.cell_owner_weight = step * sum_by(self.cell, owner_weight)
        self.weight, self.other_weight = step * weight, step * other_weight
        self.cell_within = sum_by(self.cell, self.owner_weight * self.within)

    def disagreeing(self, weights: Floats) -> tuple[Floats, Floats]:
        """Return the total of the weights of each scope, and the weight that disagrees with each slot."""
        total = sum_by(self.slot_scope, weights)
        agreeing = self.agreement.sum_over_slots(self.slot_scope, self.slot_label, weights, total)
        return total, np.maximum(0.0, total[self.slot_scope] - agreeing)

    def select_cells(self, mask: NDArray[np.bool_], rank: int = 0) -> Ints:
        """Return, for each scope, the cell with this rank among the masked cells; −1 for none."""
        cells, new_position = np.flatnonzero(mask), np.full(len(self.weight), -1)
        ranks = np.arange(len(cells)) - np.searchsorted(self.cell_scope[cells], self.cell_scope[cells])
        cells = cells[ranks == rank]
        new_position[self.cell_scope[cells]] = cells
        return new_position

    def disagreement_with(self, other_cells: Ints, selected_weights: Floats, weights: Floats) -> Floats:
        """Return the disagreement of each cell with the selected cell of its scope, with separate weights."""
        is_selected = other_cells[self.scope] == self.cell
        _, against = self.disagreeing(sum_by(self.slot, np.where(is_selected, selected_weights, 0.0)))
        return _as_floats(sum_by(self.cell, weights * against[self.slot]))

    def collect(
        self, pair_weight: Floats, disagreement: Floats, without: _SumsWithoutCell, n_units: int
    ) -> PairSums:
        """Add up scopes, and by unit what is lost with each cell."""
        by_cell = (
            pair_weight[self.cell_scope] - without.compared,
            disagreement[self.cell_scope] - without.disagreement,
            without.influence,
        )
        lost_compared, lost_disagreement, influence = (
            sum_by(self.unit, values, n_units) for values in by_cell
        )
        return PairSums(
            float(pair_weight.sum()),
            float(disagreement.sum()),
            lost_compared,
            lost_disagreement,
            influence,
            (pair_weight, disagreement),
        )


def _sum_by_thinning(table: _Table, allowance: Floats) -> tuple[Floats, Floats, _SumsWithoutCell]:
    """Sum with thinning; every denominator lies between `smallest` and four times that.

    A cell with most of an explanation's weight stays out of the exponentials, which would grow too large.
    There is at most one per scope, so it is combined with each of the other cells directly.
    """
    scope, w = table.cell_scope, allowance[table.explanation]
    heaviest = np.zeros(len(w))
    np.maximum.at(heaviest, scope, table.cell_scope_weight)
    smallest = w + np.maximum(0.0, table.weight - 3 * heaviest)
    is_large = 3 * table.cell_scope_weight > (w + table.weight)[scope]
    large = table.select_cells(is_large)
    large_of_cell, is_small = large[scope], ~is_large
    has_large = large_of_cell >= 0
    disagreement_with_large = table.disagreement_with(
        large, table.owner_weight, table.scope_weight
    ) + table.disagreement_with(large, table.scope_weight, table.owner_weight)
    large_owns = np.where(has_large, table.cell_owner_weight[large_of_cell] * table.cell_scope_weight, 0.0)
    large_holds = np.where(has_large, table.cell_scope_weight[large_of_cell] * table.cell_owner_weight, 0.0)
    disagreement = _ExponentialSum(table, is_small, disagreement_with_large)
    pair_weight = _ExponentialSum(table, is_small, large_owns + large_holds)
    influence = np.zeros(len(scope))
    for rate, weight in exponentials():
        growth = np.exp(rate * table.cell_scope_weight / smallest[scope])
        factor = weight / smallest * np.exp(-rate * (w + table.weight) / smallest)
        large_factor = np.where(large >= 0, factor * growth[large], 0.0)
        small_growth = np.where(is_small, growth, 0.0)
        entry_growth = small_growth[table.cell]
        scope_total, against_scope = table.disagreeing(sum_by(table.slot, table.scope_weight * entry_growth))
        owner_total, against_owners = table.disagreeing(sum_by(table.slot, table.owner_weight * entry_growth))
        within = table.cell_within * small_growth**2
        as_owner = sum_by(table.cell, table.owner_weight * entry_growth * against_scope[table.slot]) - within
        as_other = sum_by(table.cell, table.scope_weight * entry_growth * against_owners[table.slot]) - within
        disagreement.add(factor, large_factor, growth, as_owner, as_other)
        cell_owner_weight = table.cell_owner_weight * small_growth
        cell_scope_weight = table.cell_scope_weight * small_growth
        as_owner = cell_owner_weight * (scope_total[scope] - cell_scope_weight)
        as_other = cell_scope_weight * (owner_total[scope] - cell_owner_weight)
        pair_weight.add(factor, large_factor, growth, as_owner, as_other)
        influence += factor[scope] * as_other + large_factor[scope] * large_owns * small_growth
        influence[large[large >= 0]] += (large_factor * sum_by(scope, large_holds * small_growth))[large >= 0]
    without = _SumsWithoutCell(pair_weight.without_cell, disagreement.without_cell, influence)
    return pair_weight.total, disagreement.total, without


class _ExponentialSum:
    """A sum over pairs of cells of each scope, and the same without each cell, built from exponentials.

    `with_large` is the sum of each small cell with the large cell of its scope, in both directions.
    """

    def __init__(self, table: _Table, is_small: NDArray[np.bool_], with_large: Floats) -> None:
        self.scope, self.is_small = table.cell_scope, is_small
        self.with_large = np.where(is_small, with_large, 0.0)
        self.total, self.without_cell = np.zeros(len(table.weight)), np.zeros(len(self.scope))

    def add(
        self, factor: Floats, large_factor: Floats, growth: Floats, as_owner: Floats, as_other: Floats
    ) -> None:
        """Add one exponential. A cell's rows are compared `as_owner` with others, or `as_other` by owners."""
        scope, with_large = self.scope, self.with_large * growth
        total, total_with_large = sum_by(scope, as_owner), sum_by(scope, with_large)
        self.total += factor * total + large_factor * total_with_large
        without_small = factor[scope] * (total[scope] - as_owner - as_other)
        without_small = without_small + large_factor[scope] * (total_with_large[scope] - with_large)
        without_large = large_factor[scope] * total[scope]
        self.without_cell += np.where(self.is_small, growth * without_small, without_large)


def _sum_by_row_ratio(table: _Table) -> tuple[Floats, Floats, _SumsWithoutCell]:
    """Sum with the row ratio: compare each row with all others in its scope, whatever its own weight."""
    scope = table.cell_scope
    has_others = table.other_weight > 0
    against = np.where(has_others, sum_by(table.cell, table.owner_weight * table.against), 0.0)
    disagreement = sum_by(scope, divide_safely(against, table.other_weight))
    checked = np.where(has_others, table.cell_owner_weight, 0.0)
    pair_weight = sum_by(scope, checked)
    share = divide_safely(checked, table.other_weight)
    influence = table.cell_scope_weight * (sum_by(scope, share)[scope] - share)
    is_large = table.cell_scope_weight > LARGE * table.weight[scope]
    disagreement_left = _disagreement_without_small(table, against, is_large)
    for rank in range(2):  # at most two such cells fit into a scope
        _add_large_cell(table, disagreement_left, against, is_large, rank)
    without = _SumsWithoutCell(_checked_without(table, pair_weight, checked), disagreement_left, influence)
    return pair_weight, disagreement, without


def _checked_without(table: _Table, pair_weight: Floats, checked: Floats) -> Floats:
    """Return the weight that still has others without each cell."""
    scope, holds = table.cell_scope, table.cell_scope_weight > 0
    n_holding = table.n_holding[scope]
    rest = pair_weight[scope] - checked
    partner = sum_by(scope, np.where(holds, checked, 0.0))[scope] - checked  # if two hold: that of the other
    return np.select([holds & (n_holding == 1), holds & (n_holding == 2)], [0.0, rest - partner], rest)


def _disagreement_without_small(table: _Table, against: Floats, is_large: NDArray[np.bool_]) -> Floats:
    """Return the disagreement of the small cells that is left without each small cell."""
    scope, disagreement_left = table.cell_scope, np.zeros(len(table.cell_scope))
    is_small, is_small_entry = ~is_large, ~is_large[table.cell]
    smallest = table.weight / RATIO
    for rate, weight in exponentials():
        growth = np.exp(rate * table.cell_scope_weight / smallest[scope])
        factor = weight / smallest * np.exp(-rate * table.weight / smallest)
        owner_weight = np.where(is_small_entry, table.owner_weight * growth[table.cell], 0.0)
        _, against_owners = table.disagreeing(sum_by(table.slot, owner_weight))
        as_other = (
            sum_by(table.cell, table.scope_weight * against_owners[table.slot]) - table.cell_within * growth
        )
        total = sum_by(scope, np.where(is_small, against * growth, 0.0))
        disagreement_left += factor[scope] * growth * (total[scope] - against * growth - as_other)
    return np.where(is_small, disagreement_left, 0.0)


def _add_large_cell(
    table: _Table, disagreement_left: Floats, against: Floats, is_large: NDArray[np.bool_], rank: int
) -> None:
    """Add to `disagreement_left` the pairs of each scope's large cell of this rank."""
    scope, large = table.cell_scope, table.select_cells(is_large, rank)
    large_of_cell = large[scope]
    is_pair = (large_of_cell >= 0) & (large_of_cell != np.arange(len(scope)))
    rest = np.where(is_pair, table.other_weight - table.cell_scope_weight[large_of_cell], 0.0)
    rest[rest <= 1e-12 * table.weight[scope]] = 0.0
    # without the other cell, the large one is left
    large_left = against[large_of_cell] - table.disagreement_with(
        large, table.owner_weight, table.scope_weight
    )
    disagreement_left += np.where(is_pair, divide_safely(large_left, rest), 0.0)
    # without the large cell, the other one is left
    other_left = against - table.disagreement_with(large, table.scope_weight, table.owner_weight)
    other_left = np.where(is_pair & ~is_large, divide_safely(other_left, rest), 0.0)
    disagreement_left[large[large >= 0]] += sum_by(scope, other_left)[large >= 0]


def exponentials() -> Iterator[tuple[float, float]]:
    """Yield rates r and weights v with Σ v·exp(−r·z) = 1/z for z from 1 to 4, to about 2e-15.

    1/z = ∫ 8 s^(8z − 1) ds from 0 to 1, by Gauss and Legendre's rule.
    """
    points, weights = np.polynomial.legendre.leggauss(16)
    points = (points + 1) / 2
    yield from zip(-8 * np.log(points), 4 * weights / points, strict=True)


def _as_floats(values: NDArray[Any]) -> Floats:
    return values.astype(np.float64, copy=False)
