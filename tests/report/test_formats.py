"""No number is told surer than it is: no interval excludes its own value, no share rounds across 0 or 1."""

import re
from decimal import ROUND_CEILING, Decimal
from itertools import product

import numpy as np
import pytest
from hypothesis import example, given
from hypothesis import strategies as st
from looping import one_test

import faithkit
from faithkit.measure.words import Words
from faithkit.report.formats import (
    format_difference,
    format_difference_ends,
    format_distinct,
    format_interval,
    format_number,
    format_percent,
    format_percent_ends,
)

PERCENTAGES = {
    0: "0 %",
    1: "100 %",
    1e-9: "< 0.1 %",
    0.0009999: "< 0.1 %",
    0.001: "0.1 %",
    0.00949: "0.9 %",
    0.01: "1 %",
    0.126: "13 %",
    0.5: "50 %",
    0.99: "99 %",
    0.991: "99.1 %",
    0.995: "99.5 %",
    0.9984: "99.8 %",
    0.999: "99.9 %",
    0.9991: "> 99.9 %",
    0.999985: "> 99.9 %",
    1 - 1e-9: "> 99.9 %",
    1 - 1e-15: "100 %",  # a mean of ones, but for rounding errors
}


@one_test
@pytest.mark.parametrize(("share", "text"), PERCENTAGES.items())
def test_a_percentage_says_nothing_and_everything_only_where_that_is_meant(share, text):
    assert format_percent(share) == text


NUMBERS = [
    (0.0, "0.000"),
    (-0.0, "0.000"),
    (1.0, "1.000"),
    (0.0004, "< 0.001"),
    (0.9996, "> 0.999"),
    (0.8626, "0.863"),
    (None, "–"),
]


@one_test
@pytest.mark.parametrize(("value", "text"), NUMBERS)
def test_a_number_says_nothing_and_everything_only_where_that_is_meant(value, text):
    assert format_number(value) == text


def holds(text, value):
    """Whether a value is what its text says: "> 0.999" is any number above that."""
    sign, shown = ("", text) if text[0].isdigit() else text.split(maxsplit=1)
    bound = Decimal(shown)
    if sign:
        return value > bound if sign == ">" else value < bound
    return abs(Decimal(repr(value)) - bound) <= Decimal(1).scaleb(bound.as_tuple().exponent) / 2


def read_ends(text):
    return [Decimal(end) for end in text.split(" – ")]


def read_bounds(text):
    """Return the least and the most that a printed number may stand for."""
    bounds = {"<": (0, Decimal("0.001")), ">": (Decimal("0.999"), 1)}
    return bounds[text[0]] if text[0] in bounds else (Decimal(text), Decimal(text))


shares = st.floats(0, 1)
BITS = Decimal("1e-9")  # which no report shows


@given(st.tuples(shares, shares, shares).map(sorted))
@example([0.9999, 0.99995, 1.0])
@example([0.0, 1e-9, 1e-8])
@example([0.0005, 0.0005, 0.0005])
def test_an_interval_is_rounded_outward_and_has_its_value(three):
    low, value, high = three
    lower, upper = read_ends(format_interval(low, high))
    assert lower <= Decimal(repr(low)) + BITS
    assert upper >= Decimal(repr(high)) - BITS
    assert upper - lower <= Decimal(repr(high)) - Decimal(repr(low)) + Decimal("0.002")
    least, most = read_bounds(format_number(value))
    assert lower <= most
    assert least <= upper
    assert holds(format_number(value), value) or value < 1e-9 or value > 1 - 1e-9


@given(st.floats(-3, 1), st.floats(0, 3))
@example(-0.3004, 0.9996)
def test_the_interval_of_worth_is_rounded_outward_and_says_all_only_where_that_is_meant(low, width):
    ends = format_percent_ends(low, low + width)
    lower, upper = (Decimal(end.replace("−", "-").removesuffix(" %")) / 100 for end in ends)
    assert lower <= Decimal(low) + Decimal("1e-9")
    assert upper >= Decimal(low + width) - Decimal("1e-9")
    assert upper != 1 or low + width > 1 - 1e-8 or low + width < 0.9


@given(st.integers(1, 10**9).flatmap(lambda n: st.tuples(st.integers(0, n), st.just(n))))
@example((999_985, 1_000_000))
@example((1, 10**9))
def test_no_count_rounds_across_nothing_or_all(counts):
    part, whole = counts
    text = format_percent(part / whole)
    assert (text == "0 %") == (part == 0)
    assert (text == "100 %") == (part == whole)
    assert holds(text.removesuffix(" %"), 100 * part / whole)
    assert Words().format_agreement(part / whole, whole) == f"{text} of {whole:,}"


@given(st.tuples(st.floats(-1, 1), st.floats(-1, 1), st.floats(-1, 1)).map(sorted), st.integers(3, 9))
@example([-1e-300, -1e-300, -1e-300], 3)
@example([6.1e-05, 6.1e-05, 6.1e-05], 3)
@example([1e-05, 0.0168, 0.0168], 3)
def test_the_interval_of_a_difference_has_it_and_nothing_is_minus_nothing(three, digits):
    low, value, high = three
    text, interval = format_difference(value, low, high, digits)
    ends = interval.split(" to ")
    texts = [*ends, text]
    lower, upper, middle = (Decimal(text.replace("−", "-")) for text in texts)
    assert lower <= middle <= upper
    assert min(-digits, lower.as_tuple().exponent) == upper.as_tuple().exponent
    assert not [text for text in texts if re.fullmatch(r"−0\.0+", text)]


@one_test
@pytest.mark.parametrize(
    ("low", "high", "text"),
    [
        (-0.0061, -0.0009, "−0.0061 to −0.0009"),
        (0.00004, 0.0123, "+0.00004 to +0.01230"),
        (-0.5, -0.00001, "−0.50000 to −0.00001"),
        (-0.0061, 0.0, "−0.007 to +0.000"),
        (-0.0061, 0.0001, "−0.007 to +0.001"),
        (-0.0061, -1e-17, "−0.007 to +0.000"),
    ],
)
def test_an_interval_without_0_is_printed_without_0(low, high, text):
    assert format_difference(None, low, high) == ("–", text)


@given(shares, shares)
@example(0.50000001, 0.5)
def test_two_numbers_that_differ_are_told_apart(number, limit):
    low, high = sorted((number, limit))
    texts = (format_distinct(high, low), format_distinct(low, high, ROUND_CEILING))
    for (first, second), larger in zip(texts, (True, False), strict=True):
        apart = high - low > 1e-8
        assert (Decimal(first) > Decimal(second)) == (apart and larger) or not apart
        assert (Decimal(first) < Decimal(second)) == (apart and not larger) or not apart


@one_test
@pytest.mark.parametrize(
    ("end", "limit", "texts"),
    [
        (0.4, 0.5, ("0.400", "0.500")),
        (0.50009, 0.5, ("0.50009", "0.50000")),
        (0.4, 0.99999, ("0.40000", "0.99999")),
        (0.4, 1.0, ("0.400", "1.000")),
    ],
)
def test_two_numbers_have_as_few_digits_as_tell_them_apart_and_from_0_and_1(end, limit, texts):
    assert format_distinct(end, limit) == texts


differences = st.floats(-1, 1).map(lambda share: round(share, 16))


@given(st.tuples(differences, differences).map(sorted))
@example([-0.0, 0.0])
@example([-1e-300, 1e-300])
def test_ends_are_rounded_away_from_each_other_and_never_are_minus_nothing(both):
    low, high = both
    texts = format_difference_ends(low, high)
    lower, upper = (Decimal(text.replace("−", "-")) for text in texts)
    assert lower <= Decimal(repr(low)) + BITS
    assert upper >= Decimal(repr(high)) - BITS
    assert upper - lower <= Decimal(repr(high)) - Decimal(repr(low)) + Decimal("0.002")
    assert "−0.000" not in texts


class Alternating:
    """A model with two labels, which nothing explains."""

    classes_ = np.array(["no", "yes"])

    def predict(self, X):
        return self.classes_[np.asarray(X)[:, 0].astype(int) % 2]


@one_test
@pytest.mark.parametrize("size", [2, 3, 4])
def test_an_interval_that_a_floor_cuts_has_its_value(size):
    """Neighbours have different labels and one explanation: fewer agree than two labels allow."""
    rows = np.arange(120.0)[:, None]
    result = faithkit.evaluate(
        Alternating(), rows, explainer=lambda X: (np.asarray(X)[:, 0] // size).tolist()
    )
    shown = result.consistency.texts()
    lower, upper = read_ends(shown["interval"])
    assert lower == Decimal("0.5")
    assert lower <= Decimal(shown["estimate"]) <= upper


GROUPS = st.lists(st.tuples(st.integers(0, 6), st.integers(0, 6), st.integers(1, 40)), min_size=1, max_size=6)


@pytest.mark.filterwarnings("ignore::faithkit.errors.FaithkitWarning")
@given(GROUPS.filter(lambda groups: sum(yes + no for yes, no, _ in groups) > 0), st.booleans())
@example([(2000, 1, 1)], False)
@example([(1, 0, 40)], True)
def test_no_printed_interval_of_counts_excludes_its_own_value(groups, numeric):
    """Groups of so many yes and no, each kind several times: explanations are numbers or words."""
    labels, values = [], []
    for kind, (yes, no, times) in enumerate(groups):
        for again, (label, size) in product(range(times), (("yes", yes), ("no", no))):
            labels += [label] * size
            values += [[float(kind), float(again)] if numeric else f"{kind} {again}"] * size
    explanations = faithkit.Explanations.vectors(values) if numeric else values
    consistency = faithkit.score(labels, explanations).consistency
    shown = consistency.texts()
    assert (shown["estimate"] == "–") == (shown["interval"] == "–") == (not consistency.is_compared)
    for interval in (shown["interval"], shown["bracket"]) if consistency.is_compared else ():
        lower, upper = read_ends(interval)
        least, most = read_bounds(shown["estimate"])
        assert lower <= most
        assert least <= upper
    assert (shown["checked"] == "100 %") == (consistency.checked == len(labels))
    assert (shown["checked"] == "0 %") == (consistency.checked == 0)
    assert (shown["agree"] == "–") == (consistency.checked == 0)
