"""A difference in words: no end is told surer than it is, and no sentence contradicts its numbers."""

import re
from decimal import Decimal

import pytest
from faithkit_integrations.gate.drift import describe_change
from hypothesis import example, given
from hypothesis import strategies as st
from looping import one_test

import faithkit


def describe(value, low, high, allowed=None, confidence=0.95):
    change = faithkit.results.Difference(value, low, high, confidence, p_value=0.5)
    return describe_change("consistency", change, allowed)


SENTENCES = [
    ((0.003, -0.011, 0.017, 0.02), "is not worse than in the reference by more than 0.02 (difference +0.003, "),
    ((-0.02, -0.02, -0.02, 0.02), "is not worse than in the reference by more than 0.02 "),  # the end itself is kept
    ((0.003, -0.021, 0.017, 0.02), "may be worse than in the reference by more than 0.02 "),
    ((-0.03, -0.05, -0.021, 0.02), "is worse than in the reference by more than 0.02 "),
    ((-0.03, -0.05, -0.02, 0.02), "may be worse than in the reference by more than 0.02 "),
    ((0.1, 0.0, 0.2, 0.0), "is not worse than in the reference (difference +0.100, "),
    ((0.1, -0.1, 0.2, 0.0), "may be worse than in the reference (difference +0.100, "),
    ((-0.2, -0.3, -0.1, 0.0), "is worse than in the reference (difference −0.200, "),
    ((-0.5, -1.0, 0.1, 1.0), "is not worse than in the reference by more than 1 "),
    ((0.003, -0.0111, 0.017), "is not worse than in the reference by more than 0.012 "),
    ((0.05, 0.031, 0.07), "is better than in the reference (difference +0.050, 95 % interval +0.031 to +0.070)"),
    ((-0.1, -0.15, -0.05), "is worse than in the reference (difference −0.100, 95 % interval −0.150 to −0.050)"),
    ((0.0, 0.0, 0.0), "is not worse than in the reference (difference +0.000, 95 % interval +0.000 to +0.000)"),
    ((-0.0001, -0.0002, -0.0, 0.1), "(difference −0.0001, 95 % interval −0.001 to +0.000)"),
    ((0.0, -0.0204, 0.01, 0.0205), "by more than 0.0205 (difference +0.0000, 95 % interval −0.0204 to +0.0100)"),
]  # fmt: skip


@one_test
@pytest.mark.parametrize(("numbers", "words"), SENTENCES, ids=[words for _, words in SENTENCES])
def test_the_sentence_says_what_the_interval_shows(numbers, words):
    assert f"consistency {words}" in describe(*numbers) or (
        words.startswith(("(", "by ")) and words in describe(*numbers)
    )


def test_the_confidence_is_that_of_the_interval():
    assert "99.9 % interval" in describe(0.0, -0.1, 0.1, confidence=0.999)


def read_number(text):
    return Decimal(text.replace("−", "-"))


BITS = Decimal("1e-9")  # which no report shows
shares = st.floats(-1, 1).map(lambda share: round(share, 16))
ends = st.tuples(shares, shares).map(sorted)


@given(ends, shares.map(lambda share: round(abs(share), 9)))  # a limit has no more digits than a report
@example([-0.02, 0.3], 0.02)
@example([-0.02000001, 0.3], 0.02)
@example([-0.020000000000000004, 0.3], 0.02)
@example([-0.5, -0.020000000000000004], 0.02)
@example([-1e-17, 0.0], 0.0)
def test_the_numbers_in_the_sentence_are_on_the_side_of_the_limit_that_it_says(both, allowed):
    low, high = both
    words = describe((low + high) / 2, low, high, allowed)
    lower, upper = map(read_number, re.search(r"interval (\S+) to (\S+)\)", words).groups())
    limit = Decimal(repr(-allowed))
    if "is not worse" in words:
        assert low >= -allowed - 1e-9
        assert lower >= limit
    elif "may be worse" in words:
        assert lower < limit <= upper
    else:
        assert high < -allowed + 1e-9
        assert upper < limit
