"""What has become of a measure since a reference was measured: its difference in numbers and in one sentence.

Ends of intervals are rounded away from the value, so that nothing is told surer than it is.
"""

from decimal import ROUND_CEILING, ROUND_FLOOR, Decimal

from faithkit.report.formats import Told, signed
from faithkit.wording import exact

DIGITS = 3
MOST_DIGITS = 20


def spread(low: float, high: float, digits: int = DIGITS) -> tuple[str, str]:
    """Return the ends of a difference's interval, the lower rounded down and the upper up.

    >>> spread(-0.01112, 0.0171), spread(-0.0, 0.0), spread(-0.5, -0.00001)
    (('−0.012', '+0.018'), ('+0.000', '+0.000'), ('−0.500', '+0.000'))
    """
    return _end(_rounded(low, digits, ROUND_FLOOR)), _end(_rounded(high, digits, ROUND_CEILING))


def between(low: float, high: float) -> str:
    """Return the interval of a difference.

    >>> between(-0.01112, 0.0171)
    '−0.012 to +0.018'
    """
    return " to ".join(spread(low, high))


def finding(measure: str, change: Told, allowed: float | None = None) -> str:
    """Say whether a measure is worse than in the reference, by more than is allowed where something is.

    Parameters
    ----------
    measure : str
    change : dict
        What a difference tells: value, low, high and confidence.
    allowed : float, optional

    Examples
    --------
    >>> change = {"value": 0.003, "low": -0.0111, "high": 0.0171, "confidence": 0.95}
    >>> finding("consistency", change, allowed=0.02)
    'consistency is not worse than in the reference by more than 0.02
    (difference +0.003, 95 % interval −0.012 to +0.018)'
    >>> finding("consistency", change, allowed=0.01)
    'consistency may be worse than in the reference by more than 0.01 (difference +0.003, ...)'
    >>> finding("consistency", change)
    'consistency is not worse than in the reference by more than 0.012 (difference +0.003, ...)'
    """
    if change["value"] is None:
        return f"{measure} cannot be compared with the reference: in one of the two nothing could be checked"
    low, high = change["low"], change["high"]
    most = _margin(low, high) if allowed is None else allowed
    digits = DIGITS if allowed is None else _digits(low, high, -allowed)
    ends = " to ".join(spread(low, high, digits))
    numbers = f"(difference {signed(change['value'])}, {100 * change['confidence']:g} % interval {ends})"
    if allowed is None and low > 0:
        return f"{measure} is better than in the reference {numbers}"
    claim = "is not worse" if low >= -most else "is worse" if high < -most else "may be worse"
    more = f" by more than {exact(most)}" if most else ""
    return f"{measure} {claim} than in the reference{more} {numbers}"


def _margin(low: float, high: float) -> float:
    """Return what a measure is not worse by, where nobody says what is allowed; 0 where it is worse."""
    return 0.0 if low > 0 or high < 0 else float(-_rounded(low, DIGITS, ROUND_FLOOR))


def _digits(low: float, high: float, limit: float) -> int:
    """Return how many digits it takes for rounded ends to be on the sides of the limit where they are."""
    bound = Decimal(repr(float(limit)))
    for digits in range(DIGITS, MOST_DIGITS):
        lower, upper = _rounded(low, digits, ROUND_FLOOR), _rounded(high, digits, ROUND_CEILING)
        if (lower >= bound) == (low >= limit) and (upper < bound) == (high < limit):
            return digits
    return MOST_DIGITS


def _rounded(end: float, digits: int, way: str) -> Decimal:
    return Decimal(repr(float(end))).quantize(Decimal(1).scaleb(-digits), way) + 0  # no −0.000


def _end(rounded: Decimal) -> str:
    return f"{rounded:+}".replace("-", "−")
