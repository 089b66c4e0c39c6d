"""Format numbers and names, in the same way for terminals and pages.

No number looks more certain than it is: lower ends are rounded down and upper ends up; a share says 0 or 1
only where nothing or everything is meant; and where two numbers are compared in words, they have as many
digits as it takes to see it.
"""

import re
from collections import Counter
from collections.abc import Callable, Mapping
from decimal import ROUND_CEILING, ROUND_FLOOR, ROUND_HALF_EVEN, Decimal
from typing import Any, TypeVar

from faithkit.wording import join_words, value_text

T = TypeVar("T")

CHANCE = "baseline (chance)"
LEAVE_ONE_OUT = ("leave-one-out", "faithkit/leave-one-out")
DIGITS = 3
LONG = re.compile(r"-?[0-9]+\.[0-9]{7,}")  # a number of more decimals than anybody reads
NOISE = 9  # digits: what differs only further on does so by rounding errors


def format_number(value: float | None) -> str:
    """Return a measure's value, or a dash if there is none.

    >>> [format_number(value) for value in (0.86249, None, 1.0, 0.99998, 0.0001)]
    ['0.862', '–', '1.000', '> 0.999', '< 0.001']
    """
    if value is None:
        return "–"
    rounded = _rounded(value)
    if _is_between(value) and rounded in (0, 1):
        return "< 0.001" if rounded == 0 else "> 0.999"
    return _with_minus(rounded)


def format_interval(low: float | None, high: float | None) -> str:
    """Return an interval, rounded outward, or a dash if there is none.

    >>> format_interval(0.8129, 0.8991), format_interval(0.0, 1.0), format_interval(None, None)
    ('0.812 – 0.900', '0.000 – 1.000', '–')
    """
    return "–" if low is None or high is None else f"{format_lower_end(low)} – {_with_minus(round_up(high))}"


def format_lower_end(low: float) -> str:
    """Return a lower end, rounded down.

    >>> format_lower_end(0.8129), format_lower_end(-0.21)
    ('0.812', '−0.210')
    """
    return _with_minus(round_down(low))


def _with_minus(rounded: Decimal) -> str:
    return f"{rounded:f}".replace("-", "−")


def round_down(low: float, digits: int = DIGITS) -> Decimal:
    """Return a lower end, rounded down.

    >>> str(round_down(0.8129)), str(round_down(0.7))
    ('0.812', '0.700')
    """
    return _rounded(low, digits, ROUND_FLOOR)


def round_up(high: float, digits: int = DIGITS) -> Decimal:
    """Return an upper end, rounded up.

    >>> str(round_up(0.8121)), str(round_up(-0.0001))
    ('0.813', '0.000')
    """
    return _rounded(high, digits, ROUND_CEILING)


def round_noise(value: float) -> float:
    """Round off the digits that another order of rows may change.

    >>> round_noise(0.1 + 0.2), round_noise(0.123456789123)
    (0.3, 0.123456789)
    """
    return round(float(value), NOISE)


def _rounded(value: float, digits: int = DIGITS, way: str = ROUND_HALF_EVEN) -> Decimal:
    return Decimal(repr(round_noise(value))).quantize(Decimal(1).scaleb(-digits), way) + 0  # no −0.000


def _is_between(share: float) -> bool:
    """Whether a share is neither 0 nor 1."""
    return 0 < round_noise(share) < 1


def _fewest_digits(is_enough: Callable[[int], bool], start: int = DIGITS) -> int:
    """Return the fewest digits that are enough to see something."""
    return next((digits for digits in range(start, NOISE) if is_enough(digits)), NOISE)


def format_distinct(end: float, other: float, way: str = ROUND_FLOOR) -> tuple[str, str]:
    """Return an end, by default rounded down, and a number, with enough digits to show which is larger.

    >>> format_distinct(0.897, 0.49), format_distinct(0.50041, 0.5004), format_distinct(0.9, 0.9999)
    (('0.897', '0.490'), ('0.50041', '0.50040'), ('0.9000', '0.9999'))
    """
    end, other = round_noise(end), round_noise(other)
    order = end > other, end < other, other in (0, 1)

    def is_enough(digits: int) -> bool:
        first, second = _rounded(end, digits, way), _rounded(other, digits)
        return (first > second, first < second, second in (0, 1)) == order

    digits = _fewest_digits(is_enough)
    return _with_minus(_rounded(end, digits, way)), _with_minus(_rounded(other, digits))


def format_percent(share: float) -> str:
    """Return a percentage; of the shares from 0 to 1, only 0 and 1 are shown as 0 % and 100 %.

    >>> [format_percent(share) for share in (0.123, 0.995, 0.999985, 1, 0, 0.0042, 1e-6, -0.3, 1.3)]
    ['12 %', '99.5 %', '> 99.9 %', '100 %', '0 %', '0.4 %', '< 0.1 %', '−30 %', '130 %']
    """
    if not _is_between(share):
        return f"{_with_minus(_rounded(100 * share, 0))} %"
    if share < 0.001:
        return "< 0.1 %"
    if share > 0.999:
        return "> 99.9 %"
    return f"{_rounded(100 * share, _percent_digits(share))} %"


def format_percent_interval(low: float, high: float, share: float) -> str:
    """Return the interval of a share in percent, rounded outward to the digits of the share.

    >>> format_percent_interval(0.912, 0.957, 0.94), format_percent_interval(0.971, 0.99987, 0.995)
    ('91 – 96 %', '97.1 – 99.99 %')
    """
    return " – ".join(_percent_ends(low, high, _percent_digits(share))) + " %"


def format_percent_ends(low: float, high: float) -> tuple[str, str]:
    """Return the ends of an interval in percent, the lower rounded down and the upper up.

    >>> format_percent_ends(0.404, 0.806), format_percent_ends(-0.001, 0.996)
    (('40 %', '81 %'), ('−1 %', '99.6 %'))
    """
    lower, upper = _percent_ends(low, high, digits=0)
    return f"{lower} %", f"{upper} %"


def _percent_ends(low: float, high: float, digits: int) -> tuple[str, str]:
    """Return rounded ends; an upper end that is not 100 has as many digits as it takes to see it."""
    upper_digits = _fewest_digits(lambda digits: high >= 1 or round_up(high, digits) != 1, digits + 2)
    lower, upper = round_down(low, digits + 2), round_up(high, upper_digits)
    return _with_minus(lower.scaleb(2)), _with_minus(upper.scaleb(2))


def _percent_digits(share: float) -> int:
    """Return 1 near 0 and 100, where whole percentages are too coarse, else 0."""
    return 0 if not _is_between(share) or 0.01 <= share <= 0.99 else 1


def format_difference(value: float | None, low: float, high: float, digits: int = DIGITS) -> tuple[str, str]:
    """Return a difference with its sign, or a dash if there is none, and its interval.

    A small difference has more digits. It has no fewer than the ends of its interval, so that it is printed
    inside.

    >>> [format_difference(value, -1, 1)[0] for value in (0.0412, -0.2, -0.0001, 0.0, None)]
    ['+0.041', '−0.200', '−0.0001', '+0.000', '–']
    >>> format_difference(0.0016, 0.0005, 0.0016)
    ('+0.0016', '+0.0005 to +0.0016')
    """
    interval = " to ".join(format_difference_ends(low, high, digits))
    if value is None:
        return "–", interval
    digits = _difference_digits(low, high, digits)
    if round_noise(value):
        digits = _fewest_digits(lambda digits: _rounded(value, digits) != 0, digits)
    return _with_sign(_rounded(value, digits)), interval


def format_difference_ends(low: float, high: float, digits: int = DIGITS) -> tuple[str, str]:
    """Return the ends of a difference's interval, the lower rounded down and the upper up.

    An interval without 0 is printed without 0: both ends have as many digits as that takes.

    >>> ends = format_difference_ends
    >>> ends(-0.01112, 0.0171), ends(-0.0, 0.0), ends(-0.0061, -0.0009)
    (('−0.012', '+0.018'), ('+0.000', '+0.000'), ('−0.0061', '−0.0009'))
    """
    digits = _difference_digits(low, high, digits)
    return _with_sign(round_down(low, digits)), _with_sign(round_up(high, digits))


def _difference_digits(low: float, high: float, digits: int) -> int:
    """Return enough digits that an interval without 0 is not printed with an end of 0."""
    if round_noise(low) <= 0 <= round_noise(high):
        return digits
    return _fewest_digits(lambda digits: round_down(low, digits) > 0 or round_up(high, digits) < 0, digits)


def _with_sign(rounded: Decimal) -> str:
    return f"{rounded:+}".replace("-", "−")


def name_interval(confidence: float) -> str:
    """Return the name of an interval, which is also the heading of its column.

    >>> name_interval(0.95)
    '95 % interval'
    """
    return f"{100 * confidence:g} % interval"


def format_p_value(p_value: float) -> str:
    """Return a p-value.

    >>> format_p_value(0.0412), format_p_value(1e-9)
    ('0.041', '< 0.001')
    """
    return "< 0.001" if p_value < 0.001 else f"{p_value:.3f}"


def keep_together(text: str) -> str:
    """Keep numbers and their signs on one line of a page."""
    return text.replace(" %", "\u00a0%").replace("± ", "±\u00a0")


def format_value(value: Any) -> str:
    """Return a value of a table: a text, a number, the two ends of an interval, or a dash.

    A value with a method `cell`, such as a difference, says itself what stands in a table.

    >>> [format_value(value) for value in (1234, 0.86249, (0.8129, 0.8991), None, "shap")]
    ['1,234', '0.862', '0.812 – 0.900', '–', 'shap']
    """
    if hasattr(value, "cell"):
        return str(value.cell())
    if isinstance(value, tuple):
        return format_interval(*value)
    if isinstance(value, int):
        return f"{value:,}"
    return value if isinstance(value, str) else format_number(value)


def shorten(text: str, limit: int) -> str:
    """Return the first letters of a long text.

    >>> shorten("age and income", 3), shorten("age", 3)
    ('age…', 'age')
    """
    return text if len(text) <= limit else f"{text[:limit]}…"


def pluralize(count: int, noun: str) -> str:
    """Return a count with its noun.

    >>> pluralize(1, "row"), pluralize(2000, "row")
    ('1 row', '2,000 rows')
    """
    return f"{count:,} {noun}{'' if count == 1 else 's'}"


def format_three_digits(number: float) -> str:
    """Return a number in any unit, to three digits.

    >>> [format_three_digits(value) for value in (1251.85, 12.7033, 0.000123456, 0.0)]
    ['1,250', '12.7', '0.000123', '0']
    """
    return f"{float(f'{number:.3g}'):,.10g}"


def format_predictions(*predictions: Any) -> list[str]:
    """Return predictions as texts, with enough digits to distinguish numbers.

    >>> pairs = [(7836.627908138865, 11518.7), (1.00000001, 1.00000002), (1.0, "yes")]
    >>> [format_predictions(*pair) for pair in pairs]
    [['7836.63', '11518.7'], ['1.00000001', '1.00000002'], ['1.0', 'yes']]
    """
    short, full = list(map(_short, predictions)), list(map(str, predictions))
    return short if len(set(short)) == len(set(full)) else full


def _short(prediction: Any) -> str:
    if isinstance(prediction, tuple):
        return f"({', '.join(map(value_text, prediction))})"
    return value_text(prediction) if isinstance(prediction, float) and prediction % 1 else str(prediction)


def name_system(explainer: str | None, discretizer: str) -> str:
    """Return the name of an explainer with a discretizer.

    >>> name_system("shap", "1fp"), name_system("tree", "original")
    ('shap · 1fp', 'tree')
    """
    parts = [part for part in (explainer, discretizer) if part is not None and part != "original"]
    return " · ".join(parts) or "logged explanations"


def describe_count(n: int, prediction: str) -> str:
    """Return how many instances get a prediction.

    >>> describe_count(1, "yes"), describe_count(2000, "no")
    ('1 gets yes', '2,000 get no')
    """
    return f"{n:,} {'gets' if n == 1 else 'get'} {prediction}"


def name_groups(groups: Mapping[str, T]) -> dict[str, T]:
    """Return groups by their printed names: a number has six digits, unless two would look the same.

    Examples
    --------
    >>> list(name_groups({"0.30000000000000004": 1, "0.3333333333333333": 2, "north": 3}))
    ['0.3', '0.333333', 'north']
    >>> list(name_groups({"0.30000000000000004": 1, "0.3": 2}))
    ['0.30000000000000004', '0.3']
    """
    short = {name: f"{float(name):.6g}" if LONG.fullmatch(name) else name for name in groups}
    counts = Counter(short.values())
    return {name if counts[short[name]] > 1 else short[name]: group for name, group in groups.items()}


def join_by_reason(reasons: Mapping[str, str | None]) -> dict[str, str]:
    """Return the names for which there is a reason, in words, by their reason.

    >>> join_by_reason({"a": "too rare", "b": None, "c": "too rare"})
    {'too rare': 'a and c'}
    """
    names: dict[str, list[str]] = {}
    for name, reason in reasons.items():
        if reason is not None:
            names.setdefault(reason, []).append(name)
    return {reason: join_words(group) for reason, group in names.items()}
