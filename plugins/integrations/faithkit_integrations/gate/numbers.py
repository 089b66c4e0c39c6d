"""Numbers beside their limits: as many digits as it takes to see on which side they are."""

from decimal import ROUND_CEILING, ROUND_FLOOR, Decimal

DIGITS = 3
NOISE = 9  # digits: what differs only further on does so by rounding errors


def round_noise(value: float) -> float:
    """Round off the digits that another order of rows may change.

    Examples
    --------
    >>> round_noise(0.1 + 0.2), round_noise(0.123456789123)
    (0.3, 0.123456789)
    """
    return round(float(value), NOISE)


def round_down(low: float, digits: int = DIGITS) -> Decimal:
    """Return a lower end, rounded down.

    Examples
    --------
    >>> str(round_down(0.8129)), str(round_down(0.7))
    ('0.812', '0.700')
    """
    return _round(low, digits, ROUND_FLOOR)


def _round(value: float, digits: int, way: str) -> Decimal:
    return Decimal(repr(round_noise(value))).quantize(Decimal(1).scaleb(-digits), way) + 0  # no −0.000


def format_below(low: float, limit: float) -> str:
    """Return a number below a limit, rounded down, with enough digits to show that it is below.

    Examples
    --------
    >>> format_below(0.71239, 0.8), format_below(0.79996, 0.8), format_below(0.8003, 0.80031)
    ('0.712', '0.79996', '0.8003')
    """
    return str(round_down(low, count_digits(low, limit)))


def count_digits(low: float, limit: float, high: float | None = None) -> int:
    """Return how many digits keep rounded ends on their sides of the limit.

    Examples
    --------
    >>> count_digits(0.79, 0.8), count_digits(0.8, 0.8), count_digits(0.5, 0.8, high=0.79999)
    (3, 3, 5)
    """
    high = round_noise(low if high is None else high)
    low, limit = round_noise(low), round_noise(limit)
    bound = Decimal(repr(limit))
    sides = low >= limit, high < limit
    for digits in range(DIGITS, NOISE):
        if (round_down(low, digits) >= bound, _round(high, digits, ROUND_CEILING) < bound) == sides:
            return digits
    return NOISE


def format_exactly(number: float) -> str:
    """Return the shortest text that represents exactly this number.

    Examples
    --------
    >>> format_exactly(0.02), format_exactly(1.0)
    ('0.02', '1')
    """
    return repr(float(number)).removesuffix(".0")
