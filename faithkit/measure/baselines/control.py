"""Compare a measure with its control and its ceiling.

A control are explanations of the same form, or scopes of the same size, chosen without the model. It is
drawn at least ten times. The measure of a row is compared with the mean of those draws that could check the
row. Each row is deleted from the measure and from all draws at once.

The ceiling of every explanation is how far the model agrees with itself on the same instance. A deterministic
model always does, so its ceiling is 1. Other models, such as language models, may answer differently when the
same instance is given again.
"""

import math
from collections.abc import Mapping, Sequence
from typing import Any

import attrs
import numpy as np
from numpy.typing import NDArray
from scipy.special import stdtr

from faithkit.arrays import Floats, Ints, divide_safely, sum_by
from faithkit.arrays.bitsets import get_bits, row_sums
from faithkit.display import Displayable
from faithkit.errors import InputError
from faithkit.measure.agreement.base import Agreement, Influence, agreeing_weights
from faithkit.measure.counting.tally import RowCount
from faithkit.measure.difference import Difference
from faithkit.measure.intervals import student_quantile
from faithkit.measure.jackknife.deletions import CentralMoments


@attrs.frozen(eq=False)
class Ceiling:
    """The agreement of predictions of the same instance.

    Attributes
    ----------
    value : float
        1 where no instance was predicted twice: then the model is taken to be deterministic.
    rows : int
        The number of rows whose instance was predicted more than once.
    without : (u,) float
        The value without each unit.
    """

    value: float
    rows: int
    without: Floats


def measure_ceiling(
    instance: Ints, labels: Ints, agreement: Agreement, unit: Ints, weight: Floats
) -> Ceiling:
    """Return the mean agreement of a row with another prediction of its instance.

    Equal instances have one code in `instance`. The sampling `unit` of a row is the row itself, or its
    cluster.

    Examples
    --------
    The first instance was predicted three times, with two labels; the second once:

    >>> from faithkit.measure.agreement.same_label import SAME_LABEL
    >>> row = np.arange(4)
    >>> ceiling = measure_ceiling(np.array([0, 0, 0, 1]), np.array([0, 0, 1, 1]), SAME_LABEL, row, np.ones(4))
    >>> round(ceiling.value, 3), ceiling.rows
    (0.333, 3)
    """
    has_weight = weight > 0
    is_repeated = has_weight & (sum_by(instance, has_weight.astype(np.int64))[instance] > 1)
    n_units = int(unit.max(initial=-1)) + 1
    if not is_repeated.any():
        return Ceiling(1.0, 0, np.ones(n_units))
    rows = np.flatnonzero(is_repeated)
    instance, labels, unit, weight = instance[rows], labels[rows], unit[rows], weight[rows]
    cell = np.unique(instance * n_units + unit, return_inverse=True)[1]
    cell_instance, cell_unit = (np.zeros(int(cell.max()) + 1, dtype=np.int64) for _ in range(2))
    cell_instance[cell], cell_unit[cell] = instance, unit
    by_instance = _disagreeing(instance, labels, agreement, weight)
    within_cell = sum_by(cell, weight * _disagreeing(cell, labels, agreement, weight))
    pairs = sum_by(instance, weight * by_instance)
    pairs_without = pairs[cell_instance] - 2 * sum_by(cell, weight * by_instance) + within_cell
    total, squares = sum_by(instance, weight), sum_by(instance, weight**2)
    total_without = total[cell_instance] - sum_by(cell, weight)
    squares_without = squares[cell_instance] - sum_by(cell, weight**2)
    disagreeing, pair_weight = _instance_means(pairs, total, squares)
    disagreeing_without, compared_without = _instance_means(pairs_without, total_without, squares_without)
    lost_disagreeing = sum_by(cell_unit, disagreeing[cell_instance] - disagreeing_without, n_units)
    lost_compared = sum_by(cell_unit, pair_weight[cell_instance] - compared_without, n_units)
    value = 1.0 - divide_safely(disagreeing.sum(), pair_weight.sum())
    without = 1.0 - divide_safely(disagreeing.sum() - lost_disagreeing, pair_weight.sum() - lost_compared)
    return Ceiling(float(value), len(rows), without)


def _disagreeing(group: Ints, labels: Ints, agreement: Agreement, weight: Floats) -> Floats:
    """Return, for each row, the weight of rows in its group that disagree with it."""
    agreeing = agreeing_weights(agreement, group, labels, weight)
    return np.asarray(np.maximum(0.0, sum_by(group, weight)[group] - agreeing))


def _instance_means(pairs: Floats, total: Floats, squares: Floats) -> tuple[Floats, Floats]:
    """Return the disagreeing and the compared weight of instances; those of one row compare nothing."""
    other_pairs = total**2 - squares
    has_several = other_pairs > 1e-9 * total**2
    share = divide_safely(pairs, np.where(has_several, other_pairs, 0.0))
    return np.where(has_several, total * share, 0.0), np.where(has_several, total, 0.0)


ABOVE, NOT_ABOVE, BELOW = "above its control", "not above its control", "below its control"
MIN_ROWS = 40  # of fewer rows the interval is wrong too often
MIN_DRAWS = 10
MIN_VERIFIED = 0.95  # of the checked rows, for worth
MIN_GAP = 0.05  # between control and ceiling, for worth
MIN_REPEATS = 50  # rows of instances predicted more than once, for worth: fewer do not show the ceiling
ROUNDING = 1e-9


@attrs.frozen
class Worth:
    """The share of the gap between control and ceiling that explanations close, with its interval."""

    value: float
    low: float
    high: float


@attrs.frozen(repr=False, kw_only=True)
class Control(Displayable):
    """What explanations of the same form, or scopes of the same size, get that were chosen without the model.

    Attributes
    ----------
    estimate : float
        The mean agreement of the control, over the rows that both it and the measure could check.
    verified : float
        The share of these rows among those that the measure could check.
    draws : int
    rows : int
        The number of rows that it was drawn for: all, or those chosen by their content from a larger sample.
    difference : Difference
        The mean agreement of the measure minus that of the control, over the rows that both could check.
    finding : str
        "above its control", "not above its control" or "below its control".
    ceiling : float
        How far the model agrees with itself on the same instance; 1 for a deterministic model.
    ceiling_rows : int
        The number of rows whose instance was predicted more than once. If it is 0, the model is taken to be
        deterministic.
    worth : Worth or None
        difference / (ceiling − control); None where under 95 % of the checked rows have a control, where the
        ceiling is at most 0.05 above the control, or where fewer than 50 rows show what the ceiling is.

    Examples
    --------
    >>> import faithkit, numpy as np
    >>> X = np.random.default_rng(0).normal(size=(200, 4))
    >>> above, below = (faithkit.Rule([faithkit.Interval(0, *ends)]) for ends in ((0, np.inf), (-np.inf, 0)))
    >>> rules = [above if x > 0 else below for x in X[:, 0]]
    >>> explanations = faithkit.Explanations.of(rules, kind="rule", relation="in-scope")
    >>> control = faithkit.score(X[:, 0] > 0, explanations, X).control
    >>> control.finding, round(control.worth.value, 3)
    ('above its control', 1.0)
    """

    estimate: float
    verified: float
    draws: int
    rows: int
    difference: Difference
    finding: str
    ceiling: float
    ceiling_rows: int
    worth: Worth | None

    def to_dict(self) -> dict[str, Any]:
        """Return JSON values."""
        return attrs.asdict(self)

    @classmethod
    def from_dict(cls, payload: Mapping[str, Any]) -> "Control":
        """Rebuild from the output of `to_dict`."""
        worth = payload["worth"]
        parts = {
            "difference": Difference(**payload["difference"]),
            "worth": None if worth is None else Worth(**worth),
        }
        return cls(**{**payload, **parts})


# -- the rows that both could check --


class PairedRows:
    """The agreement of each row with those in the scope of its explanation, and in those of its control.

    Attributes
    ----------
    measure : RowCount
    draws : sequence of RowCount
        The same rows and pool with scopes of the control.
    agreement, control : (n,) float
        The agreement of each row, and the mean of the draws that could check it; 0 where nothing could.
    n_draws : (n,) int
        The number of these draws.
    is_checked : (n,) bool
        Whether both could check the row.
    """

    def __init__(self, measure: RowCount, draws: Sequence[RowCount]) -> None:
        self.measure, self.draws = measure, draws
        self.agreement, self.others = _read_rows(measure)
        by_draw = [_read_rows(draw) for draw in draws]
        self.draw_agreements = np.array([agreement for agreement, _ in by_draw])
        self.draw_others = np.array([others for _, others in by_draw])
        self.n_draws = (self.draw_others > 0).sum(axis=0)
        self.control = self.draw_agreements.sum(axis=0) / np.maximum(self.n_draws, 1)
        self.is_checked = (self.others > 0) & (self.n_draws > 0)

    @property
    def verified(self) -> float:
        """The share of the rows that the measure checked which have a control."""
        return float(self.is_checked.sum() / max(1, (self.others > 0).sum()))

    def means(self) -> tuple[float, float]:
        """Return the mean agreement of the measure and of the control over the rows that both could check."""
        return float(self.agreement[self.is_checked].mean()), float(self.control[self.is_checked].mean())

    def control_by_label(self) -> dict[int, float]:
        """Return the mean of the control over the rows of each label that both could check."""
        labels = self.measure.labels[self.is_checked]
        means = divide_safely(sum_by(labels, self.control[self.is_checked]), np.bincount(labels))
        return {label: float(means[label]) for label in np.unique(labels).tolist()}

    def means_without(self, ceiling: Ceiling) -> tuple[Floats, Floats]:
        """Return both means and the ceiling without each row of the sample, and without each row of the pool.

        A scope with several other rows loses one of them. Rows with one other row in a scope are corrected:
        without it that scope, and perhaps the row, is unchecked.
        """
        is_checked, n = self.is_checked.astype(np.float64), len(self.agreement)
        sums = np.column_stack([is_checked, self.agreement * is_checked, self.control * is_checked])
        own = np.zeros((n + len(self.measure.pool_labels), 3))
        own[:n] = sums
        left = sums.sum(axis=0) - own
        left[:, 1] += _linear_changes(self.measure, is_checked)
        for draw, others in zip(self.draws, self.draw_others, strict=True):
            weight = divide_safely(is_checked * (others > 0), self.n_draws)
            left[:, 2] += _linear_changes(draw, weight)
        row, corrections = self._correct_single_rows()
        np.add.at(left, row, corrections)
        ceilings = np.append(ceiling.without, np.full(len(self.measure.pool_labels), ceiling.value))
        means = np.column_stack([divide_safely(left[:, 1:], left[:, :1]), ceilings])
        sample = _divide_by_variance(self.measure.agreement, means[:n], self.measure.labels)
        return sample, _divide_by_variance(
            self.measure.agreement, means[n:], self.measure.pool_labels, in_pool=True
        )

    def _correct_single_rows(self) -> tuple[Ints, Floats]:
        """Return deleted rows, and how they change the number of rows and both sums beside linear changes."""
        counts, size = (self.measure, *self.draws), len(self.agreement) + len(self.measure.pool_labels)
        others = np.vstack([self.others[None], self.draw_others])
        agreements = np.vstack([self.agreement[None], self.draw_agreements])
        single = np.full(others.shape, -1)
        for place, count in enumerate(counts):
            rows = np.flatnonzero(self.is_checked & (others[place] == 1))
            single[place, rows] = _find_single_others(count, rows)
        pairs = np.unique((np.arange(len(self.agreement)) * size + single)[single >= 0])
        row, other = np.divmod(pairs, size)
        is_empty = single[:, row] == other  # the scopes without the other row
        change = np.array(
            [
                _change_pairs(count, row, other, others[place, row], agreements[place, row])
                for place, count in enumerate(counts)
            ]
        )
        n_draws, lost = self.n_draws[row], (is_empty * agreements[:, row])[1:].sum(axis=0)
        n_left = n_draws - is_empty[1:].sum(axis=0)
        measure, control = (
            self.agreement[row] + change[0],
            self.control[row] + change[1:].sum(axis=0) / n_draws,
        )
        left = divide_safely(control * n_draws - lost, n_left)
        unchecked = -np.column_stack([np.ones(len(row)), measure, control])
        still_checked = np.column_stack([np.zeros((len(row), 2)), left - control])
        return other, np.where((is_empty[0] | (n_left == 0))[:, None], unchecked, still_checked)


def _divide_by_variance(agreement: Agreement, means: Floats, labels: Ints, in_pool: bool = False) -> Floats:
    """Divide the disagreement of numbers by the share of their variance that is left without each row."""
    left = agreement.divisor_left(labels, in_pool)
    if left is None:
        return means
    return np.where(left[:, None] > 0, 1.0 - divide_safely(1.0 - means, left[:, None]), 0.0)


def _read_rows(count: RowCount) -> tuple[Floats, Ints]:
    """Return the agreement of each row of the sample, and how many other rows are in its scope."""
    index, owners = count.owner_index, count.owners
    return owners.scores[index], np.asarray(owners.others[index])


def _linear_changes(count: RowCount, weight: Floats) -> Floats:
    """Return how much Σ weight × agreement changes without each row of the sample and of the pool.

    Rows with one other row in their scope are left out, and so is the agreement of the deleted row itself.
    """
    owners, index = count.owners, count.owner_index
    others, scores = owners.others, owners.scores
    loss = divide_safely(sum_by(index, weight, len(owners)), others - 1.0)
    gain = owners.by_explanation(loss * scores)
    influence = Influence(owners, gain, loss, np.zeros(len(owners.totals)))
    changes = [_sum_changes(piece, influence) for piece in (count, *count.pooled())]
    own = count.reflexive * divide_safely(weight, others[index] - 1.0) * (scores[index] - 1.0)
    changes[0] = changes[0] - own
    return np.concatenate(changes)


def _sum_changes(count: RowCount, influence: Influence) -> Floats:
    instances, changes = count.instances, np.zeros(len(count.labels))
    for batch in count.batches():
        changes += instances.sum_influence(batch, influence)[:, 0]
        del batch  # free memory before the next batch
    return changes


def _find_single_others(count: RowCount, rows: Ints) -> Ints:
    """Return the only other row in the scope of each of these rows; those of a pool come last."""
    explanations, explanation = np.unique(count.owned[rows], return_inverse=True)
    total, first = np.zeros(len(explanations), dtype=np.int64), 0
    for piece in (count, *count.pooled()):
        numbers = np.arange(first, first + len(piece.labels))[:, None]
        for start, stop, bits in piece.batches(count.explanations.take(explanations)):
            total[start:stop] += row_sums(bits, numbers)[:, 0]
        first += len(piece.labels)
    return np.asarray(total[explanation] - np.where(count.reflexive[rows], rows, 0))


def _change_pairs(count: RowCount, row: Ints, other: Ints, others: Ints, agreement: Floats) -> Floats:
    """Return how much the agreement of each row changes without another one; 0 if it has no further ones.

    A row has so many `others` in its scope, and such an agreement with them.
    """
    several = np.flatnonzero(others > 1)
    row, other, agreement = row[several], other[several], agreement[several]
    labels = np.concatenate([count.labels, count.pool_labels])
    agrees = 1.0 - count.agreement.disagreement(labels[row], labels[other])
    change = np.zeros(len(others))
    change[several] = _hold_pairs(count, row, other) * (agreement - agrees) / (others[several] - 1)
    return change


def _hold_pairs(count: RowCount, rows: Ints, others: Ints) -> NDArray[np.bool_]:
    """Return whether the explanation of each row holds for another one; those of a pool come last."""
    holds, first = np.zeros(len(rows), dtype=bool), 0
    explanations, explanation = np.unique(count.owned[rows], return_inverse=True)
    for piece in (count, *count.pooled()) if len(rows) else ():
        stop_row = first + len(piece.labels)
        for start, stop, bits in piece.batches(count.explanations.take(explanations)):
            is_here = (explanation >= start) & (explanation < stop) & (others >= first) & (others < stop_row)
            here = np.flatnonzero(is_here)
            holds[here] = get_bits(bits, explanation[here] - start, others[here] - first)
        first = stop_row
    return holds


# -- the comparison --


def compare_with_control(rows: PairedRows, ceiling: Ceiling, confidence: float) -> Control:
    """Compare a measure with the draws of its control, and with its ceiling.

    Raises
    ------
    InputError
        If there are fewer than 40 rows that both could check.
    """
    n_checked = int(rows.is_checked.sum())
    if n_checked < MIN_ROWS:
        raise InputError(
            f"a control is compared on {MIN_ROWS} rows or more that both could check, and there "
            f"are {n_checked}"
        )
    measure, control = rows.means()
    contrast = _Contrast(
        np.array([measure, control, ceiling.value]), *rows.means_without(ceiling), confidence
    )
    value, se = contrast.jackknife(lambda x, control, _: x - control)
    low, high = contrast.interval(value, se)
    has_worth = (
        rows.verified >= MIN_VERIFIED
        and ceiling.value - control > MIN_GAP
        and not 0 < ceiling.rows < MIN_REPEATS
    )
    return Control(
        estimate=control,
        verified=rows.verified,
        draws=len(rows.draws),
        rows=len(rows.agreement),
        difference=Difference(value, low, high, confidence, contrast.p_value(value, se)),
        finding=ABOVE if low > ROUNDING else BELOW if high < -ROUNDING else NOT_ABOVE,
        ceiling=ceiling.value,
        ceiling_rows=ceiling.rows,
        worth=contrast.worth() if has_worth else None,
    )


@attrs.frozen(eq=False)
class _Contrast:
    """Measure, control and ceiling, and all three without each row, for the jackknife of their functions.

    Rows of the pool are a stratum of their own.
    """

    values: Floats
    without: Floats
    without_pool: Floats
    confidence: float

    def jackknife(self, function: Any) -> tuple[float, float]:
        """Return a function of the three, and its standard error."""
        n = len(self.without)
        moments = CentralMoments.of(np.asarray(function(*self.without.T)))
        pool = CentralMoments.of(np.asarray(function(*self.without_pool.T)))
        variance = (n - 1) * moments.variance + pool.n * pool.variance
        return float(function(*self.values)), math.sqrt(variance)

    def interval(self, value: float, se: float) -> tuple[float, float]:
        """Return value ± t·se."""
        t = student_quantile(float(len(self.without)), self.confidence)
        return value - t * se, value + t * se

    def p_value(self, value: float, se: float) -> float:
        """Return the p-value of the hypothesis that the value is 0."""
        if abs(value) <= ROUNDING:
            return 1.0
        return 2 * float(stdtr(len(self.without) - 1.0, -abs(value) / se)) if se > 0 else 0.0

    def worth(self) -> Worth:
        """Return the share of the gap that is closed."""
        value, se = self.jackknife(lambda x, control, ceiling: _share(x - control, ceiling - control))
        return Worth(value, *self.interval(value, se))


def _share(part: Floats, gap: Floats) -> Floats:
    return divide_safely(np.asarray(part), np.asarray(gap))
