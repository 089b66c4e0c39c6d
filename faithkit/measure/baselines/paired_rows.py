"""Rows with their own scopes and with those of a control, compared where both could be checked.

Which rows are compared, and how much each draw counts, is decided once, on the whole sample. Then measure and
control are two sums over pairs, and a unit is left out of both at once.
"""

from collections.abc import Sequence

import numpy as np

from faithkit.arrays import Floats, Ints, divide_safely, sum_by
from faithkit.measure.baselines.ceiling import Ceiling
from faithkit.measure.counting.count import Count


class PairedRows:
    """The agreement of each row with those in the scope of its explanation, and in those of its control.

    Relations are counted pair by pair: groups have no shares.

    Attributes
    ----------
    measure : Count
    draws : sequence of Count
        The same rows and pool with scopes of the control.
    is_checked : (n,) bool
        Whether both could check the row, which has a weight.
    verified : float
        The share of the weight that the measure checked which has a control.
    """

    def __init__(self, measure: Count, draws: Sequence[Count]) -> None:
        self.measure, self.draws = measure, draws
        self._steps = measure.design.steps[: measure.n_explained]
        is_measured = (_others(measure) > 0) & (self._steps > 0)
        is_drawn = np.array([_others(draw) > 0 for draw in draws])
        self.is_checked = is_measured & is_drawn.any(axis=0)
        self.verified = float(self._steps[self.is_checked].sum() / max(1, self._steps[is_measured].sum()))
        own = self.is_checked.astype(np.float64)
        self._drawn = divide_safely(own * is_drawn, is_drawn.sum(axis=0))
        of_draws = [draw.pair_sums(shares=share) for draw, share in zip(draws, self._drawn, strict=True)]
        self._sums = measure.pair_sums(shares=own), sum(of_draws[1:], of_draws[0])

    @property
    def n_units(self) -> int:
        """The number of units that have rows which both could check."""
        unit = self.measure.design.independent_unit[: self.measure.n_explained]
        return len(np.unique(unit[self.is_checked]))

    def means(self) -> tuple[float, float]:
        """Return the mean agreement of the measure and of the control over the rows that both could check."""
        measure, control = (1.0 - sums.disagreement / sums.compared for sums in self._sums)
        return measure, control

    def control_by_label(self) -> dict[int, float]:
        """Return the mean of the control over the rows of each label that both could check.

        It is the mean of the rows' own agreement, also where their cells are unequal.
        """
        labels, drawn = self.measure.labels[: len(self.is_checked)], zip(self.draws, self._drawn, strict=True)
        agreement = sum(share * draw.owners.scores[draw.owner_index] for draw, share in drawn)
        weight = self._steps * self.is_checked
        means = divide_safely(sum_by(labels, weight * agreement), sum_by(labels, weight))
        return {label: float(means[label]) for label in np.unique(labels[self.is_checked]).tolist()}

    def means_without(self, ceiling: Ceiling) -> tuple[Floats, Floats]:
        """Return both means and the ceiling without each explained unit, and without each of the pool."""
        divisor, units = self.measure.divisor_left(), self.measure.units()
        ceilings = np.full(len(units.owned), ceiling.value)
        ceilings[: len(ceiling.without)] = ceiling.without
        columns = []
        for sums in self._sums:
            compared, lost = sums.compared - sums.lost_compared, sums.disagreement - sums.lost_disagreement
            disagreement = divide_safely(lost, np.where(compared > 1e-9 * sums.compared, compared, 0.0))
            if divisor is not None:
                disagreement = np.where(divisor > 0, divide_safely(disagreement, divisor), 1.0)
            columns.append(1.0 - disagreement)
        means = np.column_stack([*columns, ceilings])
        return means[units.is_explained], means[units.is_pool]


def _others(count: Count) -> Ints:
    """Return what each explained row can be checked against."""
    return np.asarray(count.owners.others[count.owner_index])
