"""Recommend one of several explanation systems, or forecast how many rows would separate them."""

import math
from collections.abc import Mapping, Sequence
from typing import Any

import attrs

from faithkit.measure.baselines.control import ABOVE, ROUNDING, Control
from faithkit.measure.difference import Difference
from faithkit.measure.estimate import Estimate
from faithkit.report.formats import format_percent
from faithkit.run.evaluation import Evaluation
from faithkit.wording import join_words

MAX_GROWTH = 1_000  # a sample that would have to grow by more than this factor is never drawn


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
    more_rows : int or None
        About how many more rows would separate the first two of them; None if no sample of a realistic size
        would.
    """

    system: str | None
    reason: str
    tied: tuple[str, ...] = ()
    more_rows: int | None = None

    def to_dict(self) -> dict[str, Any]:
        """Return JSON values."""
        return attrs.asdict(self) | {"tied": list(self.tied)}

    @classmethod
    def from_dict(cls, payload: Mapping[str, Any]) -> "Recommendation":
        """Rebuild from the output of `to_dict`."""
        return cls(**{**payload, "tied": tuple(payload["tied"])})


def recommend(
    measure: str,
    results: Mapping[str, Evaluation],
    checked: Sequence[str],
    best: Sequence[str],
    difference: Difference | None,
) -> Recommendation:
    """Recommend the system whose measure is shown to be higher than that of all others.

    Parameters
    ----------
    measure : str
    results : mapping of systems to Evaluation
    checked : sequence of str
        The systems that could be checked.
    best : sequence of str
        The highest of them, and those that are not shown to be worse.
    difference : Difference or None
        The difference between the first two of the best.
    """
    if not best:
        return Recommendation(
            None,
            "No explanation could be checked against another instance: try a coarser discretizer.",
        )
    top = best[0]
    controls = {name: results[name].control if measure == "sufficiency" else None for name in checked}
    weakness = _weakness(results[top].measures[measure], controls[top])
    if weakness is not None:
        return Recommendation(None, f"None: {top}, the highest, is {weakness}.")
    if difference is not None:
        return _tie(measure, best, _rows_to_separate(difference, results[top].n))
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
        reason = "no other system could be checked"
    if top in worths:
        share = format_percent(worths[top])
        reason += f", and it closes {share} of the gap between random explanations and the full input"
    return Recommendation(top, reason)


def _weakness(estimate: Estimate, control: Control | None) -> str | None:
    """Return the baseline that a system is not shown to beat; None if it beats both."""
    if control is not None and control.finding != ABOVE:
        return "not shown to be better than its control"
    if estimate.chance is not None and estimate.low is not None and estimate.low <= estimate.chance:
        return "not shown to be better than chance"
    return None


def _tie(measure: str, best: Sequence[str], more_rows: int | None) -> Recommendation:
    remedy = (
        "No sample of a realistic size could"
        if more_rows is None
        else f"About {more_rows:,} more rows would separate them"
    )
    reason = f"This sample cannot separate {join_words(best)} by {measure}. {remedy}."
    return Recommendation(None, reason, tuple(best), more_rows)


def _rows_to_separate(difference: Difference, n: int) -> int | None:
    """Return how many more rows would move the interval of a difference of this size away from 0.

    The half-width of an interval shrinks with the root of the number of rows.
    """
    half_width = abs(difference.value - difference.low)
    if abs(difference.value) * math.sqrt(MAX_GROWTH) <= half_width:
        return None
    needed = math.ceil(n * (half_width / difference.value) ** 2)
    return int(float(f"{max(1, needed - n):.1g}"))  # an order of magnitude is all that is known
