"""Sums are exact, so that neither the order of what is added nor where it is cut changes a bit."""

import os
import subprocess
import sys
from fractions import Fraction

import attrs
import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st

import faithkit
from faithkit.measure import sums
from faithkit.measure.content_words import content_words
from faithkit.measure.sums import UNIT, Grid, exact_sum, exact_sums, quotient

floats = st.lists(st.floats(allow_nan=False, allow_infinity=False), max_size=30)


@given(floats)
def test_a_sum_is_that_of_the_fractions(values):
    assert Fraction(exact_sum(np.array(values, dtype=float)), 2**UNIT) == sum(map(Fraction, values))


def test_a_sum_may_be_larger_than_any_float():
    values = [1.7e308, 1.7e308, 1e-320, 0.1, -3.0]
    assert Fraction(exact_sum(np.array(values)), 2**UNIT) == sum(map(Fraction, values))


@given(floats, floats, st.randoms(use_true_random=False))
def test_parts_add_up_in_any_order(one, other, random):
    both = one + other
    random.shuffle(both)
    parts = exact_sum(np.array(one, dtype=float)) + exact_sum(np.array(other, dtype=float))
    assert exact_sum(np.array(both, dtype=float)) == parts


@given(st.lists(st.tuples(st.floats(-1e300, 1e300), st.integers(0, 50)), max_size=20))
def test_what_occurs_several_times_is_added_so_often(pairs):
    values, times = np.array(pairs, dtype=float).reshape(-1, 2).T
    repeated = np.repeat(values, times.astype(np.int64))
    assert exact_sum(values, times.astype(np.int64)) == exact_sum(repeated)


@given(st.lists(st.tuples(st.floats(-1e300, 1e300), st.integers(0, 2**58)), max_size=20))
def test_times_may_be_weights_in_steps_of_a_grid(pairs):
    values, times = np.array([one for one, _ in pairs]), np.array([many for _, many in pairs], dtype=np.int64)
    expected = sum(Fraction(one) * many for one, many in pairs)
    assert Fraction(exact_sum(values, times), 2**UNIT) == expected


def test_a_number_that_stands_for_all_times_is_not_looked_at_again_and_again():
    values = np.array([0.1, -3.0, 1e-9])
    assert exact_sum(values, np.broadcast_to(np.int64(7), 3)) == exact_sum(np.repeat(values, 7))


def test_powers_are_those_of_the_rounded_terms():
    values, times = np.array([0.1, -3.0, 1e-9]), np.array([2, 1, 5])
    for power in (2, 3):
        terms = np.array([float(np.prod([value] * power)) for value in values])
        assert exact_sum(values, times, power) == exact_sum(terms, times)


@given(floats, st.floats(-1e3, 1e3))
def test_several_powers_are_summed_as_each_of_them_alone(values, centre):
    near = np.clip(np.array(values, dtype=float), -1e90, 1e90)
    apart = near - centre
    expected = [exact_sum(apart), exact_sum(apart * apart), exact_sum(apart * apart * apart)]
    assert exact_sums(near, powers=(1, 2, 3), centre=centre) == expected


def test_a_long_sum_is_cut_into_blocks(monkeypatch):
    values = np.random.default_rng(0).normal(size=1000)
    whole = exact_sum(values)
    monkeypatch.setattr(sums, "AT_ONCE", 7)
    assert exact_sum(values) == whole


def test_what_is_added_up_stays_as_it_was():
    values = np.array([0.1, 0.2])
    exact_sum(values)
    assert values.tolist() == [0.1, 0.2]


@pytest.mark.parametrize(
    ("values", "parts", "expected"), [([0.5, 0.25], 3, 0.25), ([], 1, 0.0), ([1.0], 3, 1 / 3)]
)
def test_a_quotient_is_rounded_once(values, parts, expected):
    assert quotient(exact_sum(np.array(values, dtype=float)), parts) == expected


@given(st.lists(st.floats(-1, 1), min_size=1, max_size=50), st.floats(1e-6, 1e6))
def test_a_grid_is_fine_and_its_sums_do_not_overflow(shares, scale):
    values = np.array(shares) * scale
    grid = Grid.of(float(np.abs(values).max()), len(values))
    total = int(grid.whole(values).sum())
    assert abs(total) < 2**62
    assert grid.floats(np.array([total]))[0] == pytest.approx(
        float(values.sum()), rel=1e-12, abs=1e-12 * scale
    )


# --- words of content ----------------------------------------------------------------------------------------


@attrs.frozen
class Point:
    x: float
    note: str = attrs.field(default="", eq=False)


class Opaque:
    pass


@pytest.mark.parametrize(
    ("one", "other"),
    [
        (1, 1.0),
        (True, 1),
        (np.float32(0.5), 0.5),
        (0.0, -0.0),
        (float("nan"), np.float64("nan")),
        (frozenset("abc"), frozenset("cba")),
        ((1, ("a",)), (1.0, ("a",))),
        (Point(1.0, "a"), Point(1, "b")),
        (faithkit.Rule([faithkit.Interval("a", high=1)]), faithkit.Rule([faithkit.Interval("a", high=1.0)])),
    ],
    ids=lambda given: type(given).__name__,
)
def test_equal_values_have_one_word(one, other):
    assert content_words([one])[0] == content_words([other])[0]


DIFFERENT = [
    0,
    1,
    0.5,
    "0",
    "",
    "a",
    "b",
    None,
    ("a",),
    ("a", "b"),
    frozenset("a"),
    b"a",
    Point(0.0),
    Point(1.0),
]


def test_different_values_have_different_words():
    assert len(set(content_words(DIFFERENT).tolist())) == len(DIFFERENT)


def test_an_object_that_says_nothing_has_the_word_of_all_such():
    assert content_words([Opaque()])[0] == content_words([Opaque()])[0]


@pytest.mark.parametrize(
    "rows",
    [
        np.array([[1.0, 2.0], [3.0, np.nan]]),
        np.array([5, 6]),
        np.array([["a", 1], ["b", 2]], dtype=object),
        pd.DataFrame({"a": [1, 2], "b": ["x", None], "c": pd.array([1, None], dtype="Int64")}),
        (np.array([1, 2]), np.array(["a", "b"], dtype=object)),
        pd.DataFrame(index=range(2)),
        ["a", "b"],
    ],
    ids=lambda rows: type(rows).__name__,
)
def test_rows_of_every_form_have_words_that_follow_them(rows):
    from faithkit.measure.containers import take_rows

    found = content_words(rows)
    assert found.shape == (2,)
    assert content_words(take_rows(rows, [1, 0])).tolist() == found[::-1].tolist()


SCRIPT = """
from faithkit.measure.content_words import content_words
print(content_words(["good", ("a", 1), frozenset("abc")]).tolist())
"""


def test_words_are_the_same_in_another_process():
    told = set()
    for seed in ("1", "2"):
        environment = os.environ | {"PYTHONHASHSEED": seed}
        command = [sys.executable, "-c", SCRIPT]
        told.add(subprocess.run(command, capture_output=True, check=True, env=environment).stdout)
    assert len(told) == 1
