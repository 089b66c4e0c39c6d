"""Whether a result keeps its limits: each is kept, missed, or cannot be checked, which is not the same."""

import math
from collections.abc import Mapping
from numbers import Real
from typing import Any

import attrs

from faithkit.errors import InputError
from faithkit.report.formats import below
from faithkit.report.told import nothing_known
from faithkit.wording import exact, listing

NO_INTERVAL = "its interval could not be computed"
NOTHING_KNOWN = (
    "no explanation holds for any other instance, and nothing else shows that it is above chance; give more "
    "rows, or a coarser discretizer"
)


@attrs.frozen
class Judgement:
    """Whether a measure keeps a limit.

    Attributes
    ----------
    measure : str
    limit : float
    kept : bool or None
        None where it cannot be checked; a build that takes that for a pass lets errors pass.
    words : str
        What was found, or why it cannot be checked.

    Examples
    --------
    >>> import faithkit
    >>> result = faithkit.score(["yes", "no"] * 50, ["a", "b"] * 50)
    >>> found, unknown = result.judge(consistency=0.99, sufficiency=0.5)
    >>> found.kept, found.words
    (False, 'consistency may be as low as 0.928, below 0.99')
    >>> unknown.kept, unknown.words
    (None, "explanations of kind 'value' do not say where else they apply: ...")
    """

    measure: str
    limit: float
    kept: bool | None
    words: str

    @property
    def unchecked(self) -> str:
        """Why the limit cannot be checked, as a sentence that names it."""
        return f"{self.measure}={exact(self.limit)} cannot be checked: {self.words}."


def given_limits(limits: Mapping[str, Any]) -> dict[str, float]:
    """Return those limits that are given, each a number from 0 to 1; None is none.

    Examples
    --------
    >>> given_limits({"consistency": 1, "sufficiency": None})
    {'consistency': 1.0}
    """
    given = {measure: limit for measure, limit in limits.items() if limit is not None}
    for measure, limit in given.items():
        if not isinstance(limit, Real) or isinstance(limit, bool) or not 0 <= float(limit) <= 1:
            raise InputError(f"{measure} must be a number from 0 to 1, as a limit, got {limit!r:.60}.")
    return {measure: float(limit) for measure, limit in given.items()}


def judged(result: Any, limits: Mapping[str, float]) -> list[Judgement]:
    """Compare the lower ends of a result's intervals with limits."""
    return [_judged(result, *given) for given in limits.items()]


def judged_by_reference(found: Any, limits: Mapping[str, float]) -> list[Judgement]:
    """Compare the lower ends of the intervals of differences to a reference with what is allowed."""
    drift = found.drift()
    return [_judged_change(found, *given, drift.get(given[0])) for given in limits.items()]


def _judged(result: Any, measure: str, limit: float) -> Judgement:
    found, reason = getattr(result, measure), _why_unchecked(result, measure)
    if reason is not None:
        return Judgement(measure, limit, None, reason)
    kept = found.low >= limit
    side = "not below" if kept else "below"
    words = f"{measure} may be as low as {below(found.low, limit)}, {side} {exact(limit)}"
    return Judgement(measure, limit, bool(kept), words)


def _judged_change(found: Any, measure: str, limit: float, change: Any) -> Judgement:
    reason = found.why_not_compared(measure) if change is None else _why_undecided(found, measure, change)
    if reason is not None:
        return Judgement(measure, limit, None, reason)
    return Judgement(measure, limit, bool(change.low >= -limit), found.change(measure, change)["finding"])


def why_unknown(result: Any, measure: str) -> str | None:
    """Return why a result says nothing about a measure; None where it does."""
    found = getattr(result, measure)
    if found is None:
        return str(result.why_no_sufficiency)
    return NOTHING_KNOWN if nothing_known(found) else None


def _why_unchecked(result: Any, measure: str) -> str | None:
    reason = why_unknown(result, measure)
    if reason is not None:
        return reason
    found = getattr(result, measure)
    if found.low is None:
        return "the estimator has no interval; use leave-one-out"
    return NO_INTERVAL if math.isnan(found.low) else None


def _why_undecided(found: Any, measure: str, change: Any) -> str | None:
    if where := found.unknown(measure):
        return f"{listing(where)} {NOTHING_KNOWN}"
    return NO_INTERVAL if math.isnan(change.low) else None
