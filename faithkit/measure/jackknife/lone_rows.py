"""Explanations that only one unit has, compared with each other.

Which of them are compared depends on their identities alone (`merging`), so the expectation of the estimate
is at most the measure. They are no evidence of disagreement, and do not count as checked.
"""

import math

import attrs
import numpy as np

from faithkit.arrays import Floats, Ints, divide_safely, sum_by
from faithkit.measure.agreement.base import Agreement
from faithkit.measure.counting.cells import Cells
from faithkit.measure.counting.count import Count, Units
from faithkit.measure.counting.groups import Groups
from faithkit.measure.counting.pair_ratio import PairRatio, Sums, Totals
from faithkit.measure.counting.parts import Parts
from faithkit.measure.jackknife.merging import NOTHING, PAIRS, Merging


@attrs.frozen(eq=False)
class LoneRows:
    """The sums over pairs of explanations that only one unit has.

    Attributes
    ----------
    method : str or None
        "nothing", "pairs", "near blocks" or "one block"; None where merging could increase agreement.
    sums : Sums
        By unit of the count, without influence.
    parts : Parts or None
        The blocks, or the matched pairs.
    by_part : MergedSums or None
        The sums of each of them.
    pairs : (p, 2) int or None
        The units of matched pairs, of all labels.
    """

    method: str | None
    sums: Sums
    parts: Parts | None = None
    by_part: "MergedSums | None" = None
    pairs: Ints | None = None

    @classmethod
    def of(cls, count: Count, n_units: int, label: int | None = None) -> "LoneRows":
        """Merge the explanations of a count; with a `label`, only rows of this label own any."""
        if not isinstance(count.source, Groups) or not count.agreement.is_convex:
            return cls(None, Sums.zeros(n_units))
        cells, is_lone = count.source.lone_cells()
        merging = _merge(count, cells, is_lone)
        if merging.method == NOTHING:
            return cls(NOTHING, Sums.zeros(n_units))
        block = merging.key[cells.explanation] - merging.first_block
        cells, block = cells.take(block >= 0), block[block >= 0]
        are_equal = count.has_classes or merging.method == PAIRS  # a cluster may have several rows of a block
        if count.has_classes and merging.method != PAIRS:
            merged, cell = cells.merge_equal(block)
        else:
            merged, cell = cells.with_explanations(block), None
        parts = Parts.of(merged, count.design.step, label)
        by_part = merge_parts(parts, count.agreement, are_equal)
        lost = by_part.lost_compared, by_part.lost_disagreement
        if merging.method == PAIRS:
            lost = by_part.share(parts)
        lost_compared, lost_disagreement = (
            _sum_by_unit(values, parts, cells, cell, n_units) for values in lost
        )
        compared, disagreement = float(by_part.compared.sum()), float(by_part.disagreement.sum())
        totals = compared, disagreement, compared, disagreement
        sums = Sums(*totals, lost_compared, lost_disagreement, np.zeros(n_units))
        pairs = merged.unit[merged.first].reshape(-1, 2) if merging.method == PAIRS else None
        return cls(merging.method, sums, parts, by_part, pairs)


def _merge(count: Count, cells: Cells, is_lone: np.ndarray) -> Merging:
    """Choose the blocks, or matched pairs, of explanations; those of a count are chosen once."""
    if not count.merging_cache:
        unit = None
        if not count.has_classes:
            unit = np.zeros(len(is_lone), dtype=np.int64)
            unit[cells.explanation] = cells.unit
        if count.is_in_blocks:
            is_lone = np.zeros(len(is_lone), dtype=bool)
        merging = Merging.of(count.relation, count.explanations, is_lone, unit, count.has_equal_cells)
        count.merging_cache.append(merging)
    cached: Merging = count.merging_cache[0]
    return cached


def _sum_by_unit(values: Floats, parts: Parts, cells: Cells, cell: Ints | None, n_units: int) -> Floats:
    """Return what each unit loses; `cell` has the merged cell of each entry, if equal ones were merged."""
    if cell is None:
        return np.asarray(sum_by(parts.unit, values, n_units))
    by_cell, by_unit = np.zeros(int(cell.max()) + 1), np.zeros(n_units)
    by_cell[parts.unit] = values
    by_unit[cells.unit] = by_cell[cell]
    return by_unit


@attrs.frozen(eq=False)
class MergedSums:
    """The sums over pairs of merged cells, by part, and what they lose without each cell."""

    compared: Floats
    disagreement: Floats
    lost_compared: Floats
    lost_disagreement: Floats

    def share(self, parts: Parts) -> tuple[Floats, Floats]:
        """Return what each cell accounts for, if the cells of a part leave together: half of a pair."""
        share = np.zeros(len(parts.part))
        share[parts.owners] = parts.owned
        share /= parts.of_part(parts.by_part(parts.owned, owners=True))
        return share * parts.of_part(self.compared), share * parts.of_part(self.disagreement)


def merge_parts(parts: Parts, agreement: Agreement, are_equal: bool = False) -> MergedSums:
    """Return the sums over the pairs of cells that are merged, each with an explanation of its own.

    Two cells of weights a and b count K = a·b·(α + β(a + b)), which is symmetric, and no cell's sum exceeds
    its weight. α and β mix ratios as in groups, divided by the largest share of a cell, or a bound of it. If
    all cells `are_equal`, β is 0.

    Examples
    --------
    Two rows of equal weight are a matched pair, and each of them counts:

    >>> from faithkit.measure.agreement.same_label import SAME_LABEL
    >>> ones, unit = np.ones(2, dtype=np.int64), np.arange(2)
    >>> parts = Parts.of(Cells.of(0 * unit, unit, unit, held=ones, owned=ones))
    >>> merge_parts(parts, SAME_LABEL).compared
    array([2.])
    """
    if not len(parts):
        return MergedSums(*np.zeros((4, 0)))
    ratio = PairRatio(agreement, 0, is_mixed=not are_equal)
    holders = parts if parts.is_symmetric else attrs.evolve(parts, owner=None, entry_owned=parts.entry_held)
    holder_totals = whole, left = ratio.totals_left(holders)
    if holders is not parts:
        whole, left = ratio.totals_left(parts.with_all_owners)
    factors, factors_left = _factors(*holder_totals, parts)
    compared, disagreement = _mix(factors, whole.pairs), _mix(factors, whole.apart)
    lost_compared = parts.of_part(compared) - _mix(factors_left, left.pairs)
    lost_disagreement = parts.of_part(disagreement) - _mix(factors_left, left.apart)
    return MergedSums(compared, disagreement, lost_compared, lost_disagreement)


def _mix(factors: list[Floats], sums: list[Floats]) -> Floats:
    products = [factor * values for factor, values in zip(factors, sums, strict=True)]
    return np.asarray(np.sum(products, axis=0))


def _factors(whole: Totals, left: Totals, parts: Parts) -> tuple[list[Floats], list[Floats]]:
    """Return the factor of each sum of a part, and without each of its cells."""
    if len(whole.pairs) == 1:
        # equal cells: a cell's sum over the pairs of its part is its weight
        return [divide_safely(whole.held, whole.pairs[0])], [divide_safely(left.held, left.pairs[0])]
    least, least_left = _smallest(parts)
    (alpha, beta), (alpha_left, beta_left) = _mixture(whole, least), _mixture(left, least_left)
    return [alpha, beta, beta], [alpha_left, beta_left, beta_left]


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


def _mixture(totals: Totals, least: Floats) -> tuple[Floats, Floats]:
    """Return α and β of parts whose cells all own what they hold; 0 where a part has no pair."""
    has_pair = totals.n_holding > 1
    columns = totals.held, totals.held_squared, *totals.pairs[:2], least
    held, squares, pairs, pairs_by_other, least = (np.where(has_pair, values, 1.0) for values in columns)
    share = np.minimum(1.0, 2 * squares / pairs)
    alpha, beta = (1 - share) * held / pairs, share * held / (2 * pairs_by_other)
    heaviest_use = np.maximum(least, (beta * held - alpha) / (4 * beta))  # the cell whose share is largest
    bound = alpha * (held - heaviest_use) + beta * (squares - 2 * heaviest_use**2 + heaviest_use * held)
    return divide_safely(alpha * has_pair, bound), divide_safely(beta * has_pair, bound)


def paired_error(
    lone: LoneRows, units: Units, by_unit: Floats, total_weight: float, d_max: float
) -> float | None:
    """Return the standard error of the estimate, where matched pairs may share units; None from one unit.

    A unit together with all its pairs is one deviation; the pairs of two units are one. That counts each
    pair twice, once for each of its units, so one of the two is subtracted.

    Parameters
    ----------
    lone : LoneRows
        Matched pairs.
    units : Units
    by_unit : (u,) float
        What the estimate loses without each unit, but for its pairs.
    total_weight : float
    d_max : float
    """
    parts, by_part, pairs = lone.parts, lone.by_part, lone.pairs
    assert parts is not None
    assert by_part is not None
    assert pairs is not None
    n_units, times = len(units.owned), units.all_times
    pair_weight = parts.by_part(parts.owned, owners=True)
    by_pair = d_max * by_part.compared - by_part.disagreement + (1.0 - d_max) * pair_weight
    unpaired_weight = units.owned - sum_by(parts.unit[parts.owners], parts.owned, n_units)
    by_unit = by_unit + (1.0 - d_max) * unpaired_weight
    mean = float((times * by_unit).sum() + by_pair.sum()) / total_weight
    by_unit, by_pair = by_unit - mean * unpaired_weight, by_pair - mean * pair_weight
    links, link = np.unique(pairs[:, 0] * n_units + pairs[:, 1], return_inverse=True)
    by_link, by_unit_with_pairs = sum_by(link[parts.explanation], by_pair, len(links)), by_unit.copy()
    for unit in np.divmod(links, n_units):
        by_unit_with_pairs += sum_by(unit, by_link, n_units)
    linked = float((times * by_unit_with_pairs**2).sum() - (by_link**2).sum())
    independent = float((times * by_unit**2).sum() + (by_link**2).sum())
    n_explained = int(times[units.is_explained].sum())
    count = min(n_explained, n_explained - len(np.unique(pairs)) + len(links))
    if count < 2:
        return None
    return math.sqrt(count / (count - 1) * max(linked, independent)) / total_weight
