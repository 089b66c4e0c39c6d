"""The order of several explanation systems, their differences, and the one to use."""

from collections.abc import Mapping, Sequence
from itertools import combinations
from typing import Any

import attrs

from faithkit.measure.baselines.control import ABOVE, ROUNDING, Control, Worth
from faithkit.measure.difference import Difference, adjust_by_holm
from faithkit.measure.estimate import Estimate
from faithkit.measure.verdict import DETERMINES, NAMES, NOT_FAITHFUL, NOTHING_TESTED
from faithkit.report.base import Displayable
from faithkit.report.formats import format_p_value, format_percent
from faithkit.report.sheet import Sheet
from faithkit.run.evaluation import Evaluation
from faithkit.wording import join_words

UNFIT = (NOT_FAITHFUL, NOTHING_TESTED, NAMES, DETERMINES)
"""The verdicts with which no system is recommended by its sufficiency."""


@attrs.frozen
class Recommendation:
    """The explanation system to use, or why none can be recommended.

    Attributes
    ----------
    system : str or None
        The recommended system.
    reason : str
        Why it is recommended, or why none is.
    tied : tuple of str
        The systems that the sample cannot separate, the highest first.
    """

    system: str | None
    reason: str
    tied: tuple[str, ...] = ()

    def to_dict(self) -> dict[str, Any]:
        """Return JSON values."""
        return attrs.asdict(self) | {"tied": list(self.tied)}

    @classmethod
    def from_dict(cls, payload: Mapping[str, Any]) -> "Recommendation":
        """Rebuild from the output of `to_dict`."""
        return cls(**{**payload, "tied": tuple(payload["tied"])})


@attrs.frozen(repr=False)
class Pair(Displayable):
    """The difference between two systems, with a p-value adjusted for all pairs by Holm's method."""

    first: str
    second: str
    difference: Difference
    adjusted: float

    def line(self) -> str:
        """Return the two systems, their difference and the adjusted p-value."""
        adjusted = format_p_value(self.adjusted)
        return f"{self.first} minus {self.second}: {self.difference.line()}, adjusted {adjusted}"

    def sheet(self) -> Sheet:
        """Return the numbers in a table, under the names of both systems."""
        return self.difference.sheet_of((self.first, self.second), self.adjusted)

    def to_dict(self) -> dict[str, Any]:
        """Return JSON values."""
        return {"first": self.first, "second": self.second, **attrs.asdict(self.difference)} | {
            "adjusted_p_value": self.adjusted
        }

    @classmethod
    def from_dict(cls, payload: Mapping[str, Any]) -> "Pair":
        """Rebuild a pair from the output of `to_dict`."""
        names = [field.name for field in attrs.fields(Difference)]
        difference = Difference(**{name: payload[name] for name in names})
        return cls(payload["first"], payload["second"], difference, payload["adjusted_p_value"])


@attrs.frozen(eq=False, repr=False)
class Ranking:
    """Several explanation systems on the same rows: their order, their differences, and the best."""

    results: dict[str, Evaluation]
    left_out: tuple[str, ...] = ()
    _saved_pairs: Mapping[str, list[Pair]] | None = None  # of a result from a file, which has no rows
    _saved_recommendation: Recommendation | None = None
    _cached_pairs: dict[str, list[Pair]] = attrs.field(factory=dict, init=False)

    @property
    def first(self) -> Evaluation:
        """One of the systems: all have the same predictions."""
        return next(iter(self.results.values()))

    @property
    def not_comparable(self) -> list[str]:
        """The systems without sufficiency, the highest consistency first, if another system has it."""
        if self._ranking_measure == "consistency":
            return []
        without = [name for name, result in self.results.items() if result.sufficiency is None]
        return sorted(without, key=lambda name: _sort_key(self.results[name].consistency), reverse=True)

    def pairs(self, measure: str = "consistency") -> list[Pair]:
        """Return the difference of every two comparable systems, the larger minus the smaller."""
        if self._saved_pairs is not None:
            return self._saved_pairs.get(measure, [])
        if measure not in self._cached_pairs:
            pairs = [self._difference(a, b, measure) for a, b in combinations(self._estimates(measure), 2)]
            adjusted = adjust_by_holm([difference.p_value for _, _, difference in pairs])
            self._cached_pairs[measure] = [
                Pair(*pair, p_value) for pair, p_value in zip(pairs, adjusted, strict=True)
            ]
        return self._cached_pairs[measure]

    def checked(self, measure: str = "consistency") -> list[str]:
        """Return the ranked systems with more than 5 % of their rows checked, the highest first."""
        estimates = self.ranked(measure).items()
        return [name for name, estimate in estimates if estimate.checkability != "unverifiable"]

    def best(self, measure: str = "consistency") -> list[str]:
        """Return the highest system that could be checked, and those that are not shown to be worse."""
        checked = self.checked(measure)
        if not checked:
            return []
        top, alpha = checked[0], 1 - self.results[checked[0]].confidence
        worse = {pair.second for pair in self.pairs(measure) if pair.first == top and pair.adjusted < alpha}
        return [name for name in checked if name not in worse]

    @property
    def recommendation(self) -> Recommendation:
        """Which system to use, by sufficiency if any has it, or why none can be recommended."""
        if self._saved_recommendation is not None:
            return self._saved_recommendation
        measure = self._ranking_measure
        best = self.best(measure)
        of_the_best = (pair for pair in self.pairs(measure) if {pair.first, pair.second} == set(best[:2]))
        difference = next((pair.difference for pair in of_the_best), None)
        return _recommend(measure, self.results, self.checked(measure), best, difference)

    def ranked(self, measure: str = "consistency") -> dict[str, Estimate]:
        """Return the comparable systems that have a measure, the highest first."""
        estimates = self._estimates(measure)
        return dict(sorted(estimates.items(), key=lambda item: _sort_key(item[1]), reverse=True))

    @property
    def worths(self) -> dict[str, Worth]:
        """The worth of each system that could be checked and has one."""
        checked = {name: self.results[name].control for name in self.checked("sufficiency")}
        return {name: control.worth for name, control in checked.items() if control and control.worth}

    @property
    def _ranking_measure(self) -> str:
        has_sufficiency = any(result.sufficiency for result in self.results.values())
        return "sufficiency" if has_sufficiency else "consistency"

    def _estimates(self, measure: str) -> dict[str, Estimate]:
        """Return the estimates of the comparable systems."""
        apart = set(self.not_comparable)
        estimates = {name: getattr(result, measure) for name, result in self.results.items()}
        return {name: estimate for name, estimate in estimates.items() if estimate and name not in apart}

    def _difference(self, a: str, b: str, measure: str) -> tuple[str, str, Difference]:
        first, second = (_sort_key(getattr(self.results[name], measure)) for name in (a, b))
        larger, smaller = (a, b) if first >= second else (b, a)
        return larger, smaller, self.results[larger].difference(self.results[smaller], measure)


def _sort_key(estimate: Estimate) -> tuple[float, float]:
    """Return the sort key of a system: its estimate, then its checked share.

    It is the estimate that differences are computed from, which orders even two systems at the floor.
    """
    value = estimate.estimate if estimate.statistics is None else estimate.statistics.estimate
    return round(value, 12), estimate.verified  # the last bits must not decide


def _recommend(
    measure: str,
    results: Mapping[str, Evaluation],
    checked: Sequence[str],
    best: Sequence[str],
    difference: Difference | None,
) -> Recommendation:
    """Recommend the system whose measure is shown to be higher than that of all others.

    `checked` are the systems that could be checked, and `best` the highest of them with those that are not
    shown to be worse. `difference` is that between the first two of the best.
    """
    if not best:
        return Recommendation(
            None,
            "No explanation could be checked against another instance: try a coarser discretizer.",
        )
    top = best[0]
    controls = {name: results[name].control if measure == "sufficiency" else None for name in checked}
    weakness = _weakness(results[top], measure, controls[top])
    if weakness is not None:
        return Recommendation(None, f"None: {top}, the highest, {weakness}.")
    if difference is not None:
        return _tie(measure, best, difference, results[best[1]].measures[measure])
    worths = {name: control.worth.value for name, control in controls.items() if control and control.worth}
    rival = max(worths, key=worths.__getitem__, default=top)
    if top in worths and worths[rival] > worths[top] + ROUNDING:  # their relations may differ
        return Recommendation(
            None,
            f"None: {top} has the highest sufficiency, but {rival} closes more of the gap between random "
            "explanations and the full input.",
        )
    reason = f"its {measure} is higher than that of every other system that could be checked"
    if len(checked) == 1:
        other = "system's sufficiency" if measure == "sufficiency" else "system"
        reason = "no other system was compared" if len(results) == 1 else f"no other {other} could be checked"
    if top in worths:
        share = format_percent(worths[top])
        reason += f", and it closes {share} of the gap between random explanations and the full input"
    return Recommendation(top, reason)


def _weakness(result: Evaluation, measure: str, control: Control | None) -> str | None:
    """Return why the highest system is not recommended; None if it is better than both baselines."""
    estimate = result.measures[measure]
    if control is not None and control.finding != ABOVE:
        return "is not shown to be better than its control"
    if result.verdict.name == NAMES:
        return "may only repeat the prediction"
    if estimate.chance is not None and estimate.low is not None and estimate.low <= estimate.chance:
        return "is not shown to be better than chance"
    if measure == "sufficiency" and result.verdict.name in UNFIT:
        return f'has the verdict "{result.verdict.name}": {result.verdict.reason}'
    return None


def _tie(measure: str, best: Sequence[str], difference: Difference, lower: Estimate) -> Recommendation:
    """Say that the sample separates no system from the others.

    `lower` is the estimate of the second. Rows of it that could not be checked may all agree.
    """
    assert lower.statistics is not None
    left_open = 1.0 - lower.statistics.disagreement - lower.statistics.estimate
    reason = f"This sample cannot separate {join_words(best)} by {measure}."
    if 0 < difference.value <= left_open:
        reason += f" Too many rows of {best[1]} could not be checked: coarser explanations may separate them."
    return Recommendation(None, reason, tuple(best))
