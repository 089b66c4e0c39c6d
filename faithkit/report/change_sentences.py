"""Say in one sentence how a measure has changed since its reference."""

from collections.abc import Sequence

from faithkit.report.formats import (
    DIGITS,
    Payload,
    digits_to_separate,
    format_difference,
    format_difference_interval,
    round_noise,
    rounded_down,
)
from faithkit.wording import format_exactly, join_words


def describe_change(
    measure: str, change: Payload, allowed: float | None = None, unchecked: Sequence[str] = ()
) -> str:
    """Say whether a measure is worse than in the reference, or worse by more than a margin.

    Parameters
    ----------
    measure : str
    change : dict
        The numbers of a difference: value, low, high and confidence.
    allowed : float, optional
    unchecked : sequence of str
        Where nothing could be checked, so that the difference is one of bounds: "here", "in the reference".

    Examples
    --------
    >>> change = {"value": 0.003, "low": -0.0111, "high": 0.0171, "confidence": 0.95}
    >>> describe_change("consistency", change, allowed=0.02)
    'consistency is not worse than in the reference by more than 0.02
    (difference +0.003, 95 % interval −0.012 to +0.018)'
    >>> describe_change("consistency", change, allowed=0.01)
    'consistency may be worse than in the reference by more than 0.01 (difference +0.003, ...)'
    >>> describe_change("consistency", change)
    'consistency is not worse than in the reference by more than 0.012 (difference +0.003, ...)'
    >>> describe_change("consistency", change, unchecked=["here"])
    'consistency is not worse ... −0.012 to +0.018); nothing could be checked here'
    """
    low, high = round_noise(change["low"]), round_noise(change["high"])
    most = _margin(low, high) if allowed is None else round_noise(allowed)
    digits = DIGITS if allowed is None else digits_to_separate(low, -allowed, high)
    ends = f"{100 * change['confidence']:g} % interval {format_difference_interval(low, high, digits)}"
    numbers = f"(difference {format_difference(change['value'], low, high, digits)}, {ends})"
    if unchecked:
        numbers += f"; nothing could be checked {join_words(unchecked)}"
    if allowed is None and low > 0:
        return f"{measure} is better than in the reference {numbers}"
    claim = "is not worse" if low >= -most else "is worse" if high < -most else "may be worse"
    more = f" by more than {format_exactly(most)}" if most else ""
    return f"{measure} {claim} than in the reference{more} {numbers}"


def _margin(low: float, high: float) -> float:
    """Return the loss that the interval rules out; 0 if the measure is worse."""
    return 0.0 if low > 0 or high < 0 else float(-rounded_down(low))
