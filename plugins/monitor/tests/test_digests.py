"""Digests are equal exactly where explanations are, in whatever type they come."""

import datetime as dt
import hashlib
import struct
from decimal import Decimal
from fractions import Fraction
from itertools import combinations

import numpy as np
import pandas as pd
import pytest
from faithkit_monitor.tallies import describe_form, digests
from looping import one_test

import faithkit
from faithkit.arrays.grouping import group
from faithkit.errors import InputError
from faithkit.explanations.explanations import Explanations

RULE = faithkit.Rule([faithkit.plugin.Interval("age", high=40)])
BERLIN = dt.timezone(dt.timedelta(hours=1))

# equal ones side by side, different ones below each other
VALUES = [
    [1, 1.0, True, np.int8(1), np.float32(1), Decimal(1), Fraction(1)],
    [0, 0.0, -0.0, False],
    [0.1, np.float64(0.1)],
    [np.float32(0.1)],
    [float("nan"), np.float32("nan"), -float("nan")],
    [float("inf"), Decimal("inf")],
    [2**61 - 1],  # whose hash is that of 0
    [2**53 + 1],
    [2.0**53],
    ["1"],
    ["n1/1"],
    [""],
    ["a"],
    [("a", "b"), ("a", "b")],
    [("a,b",)],
    [("ab",)],
    [("a", ("b",))],
    [(1, 2), (1.0, 2.0)],
    [frozenset("ab"), frozenset("ba")],
    [frozenset({("a", "b")})],
    [RULE, faithkit.Rule([faithkit.plugin.Interval("age", high=40.0)])],
    [faithkit.Rule([faithkit.plugin.Interval("age", high=41)])],
    [faithkit.Rule([faithkit.plugin.OneOf("age", ["40"])])],
    [b"a"],
    [dt.date(2026, 11, 14)],
    [dt.datetime(2026, 11, 14), pd.Timestamp("2026-11-14")],
    [dt.datetime(2026, 11, 14, 1, tzinfo=BERLIN), dt.datetime(2026, 11, 14, tzinfo=dt.UTC)],
    [None],
]  # fmt: skip


def hash_bytes(content):
    return hashlib.blake2b(content, digest_size=16).digest()


def digest(value):
    return digests([value])[0]


@one_test
@pytest.mark.parametrize("equals", VALUES, ids=range(len(VALUES)))  # sets have no fixed text
def test_equal_values_have_one_digest(equals):
    assert len({digest(value) for value in equals}) == 1


def test_different_values_have_different_digests():
    firsts = [digest(equals[0]) for equals in VALUES]
    for (i, first), (j, second) in combinations(enumerate(firsts), 2):
        assert first != second, (VALUES[i], VALUES[j])


NUMBERS = np.array([[0.0, 1.0], [-0.0, 1.0], [np.nan, 1.0], [1.0, 0.0], [2.0**60, 1.0]])
SAME_NUMBERS = {
    "frame": pd.DataFrame(NUMBERS),
    "nullable": pd.DataFrame(NUMBERS).convert_dtypes(),
    "mixed": pd.DataFrame({0: NUMBERS[:, 0], 1: NUMBERS[:, 1].astype(np.int8)}),
    "parts": (NUMBERS[:, :1], pd.DataFrame(NUMBERS[:, 1:])),
    "narrow": (NUMBERS[:, 0], NUMBERS[:, 1].astype(np.float16)),
    "truths": (NUMBERS[:, 0], NUMBERS[:, 1].astype(bool)),
}


@one_test
@pytest.mark.parametrize("name", SAME_NUMBERS)
def test_numbers_have_one_digest_in_whatever_type_they_come(name):
    assert digests(SAME_NUMBERS[name]) == digests(NUMBERS)


@one_test
@pytest.mark.parametrize(
    "identity",
    [
        NUMBERS,
        np.array([1, 2, 1], dtype=np.uint64),
        pd.DataFrame({"a": [1, 1, 2], "b": ["x", "x", None]}),
        pd.DataFrame({"a": pd.Categorical(["x", "y", "x"]), "b": [2**53, 2**53 + 1, 2**53]}),
        pd.DataFrame({"a": pd.to_datetime(["2026-11-14", None, "2026-11-14"])}),
        [("a", 1), ("a", 1.0), "a"],
        (np.array([[1], [1], [2]]), ["a", "b", "a"]),
    ],
    ids=str,
)
def test_rows_have_one_digest_exactly_where_they_are_one_group(identity):
    row_digests, groups = digests(identity), group(identity).codes
    for i, j in combinations(range(len(row_digests)), 2):
        assert (row_digests[i] == row_digests[j]) == (groups[i] == groups[j])


def test_a_digest_is_the_same_on_every_machine():
    """A state outlives the process that made it: these are its format."""
    assert digest("income") == hash_bytes(hash_bytes(b"sincome"))
    assert digest(0.5) == hash_bytes(hash_bytes(b"n1/2"))
    assert digests(np.array([[0.5, -1.0]])) == [hash_bytes(struct.pack("<dd", 0.5, -1.0))]


class Opaque:
    pass


@one_test
@pytest.mark.parametrize("value", [Opaque(), (1, Opaque()), frozenset([Opaque()]), 1j])
def test_what_says_nothing_about_itself_is_refused(value):
    with pytest.raises(InputError, match="which cannot be compared between batches"):
        digests([value])


@one_test
@pytest.mark.parametrize(
    ("explanations", "made_of"),
    [
        (Explanations.vectors(np.zeros((1, 2))), ["number", "number"]),
        (Explanations.vectors(np.zeros((1, 2), dtype=int)), ["number", "number"]),
        (Explanations.vectors(np.zeros((1, 2), dtype=np.float16)), ["float16", "float16"]),
        (Explanations.of(["a"]), ["value"]),
        (Explanations(kind="value", values=pd.DataFrame({"a": [1], "b": ["x"]})), ["number", "value"]),
        (Explanations.of([dt.date(2026, 11, 14), None]), ["date"]),
        (Explanations.of([dt.date(2026, 11, 14), "2026-11-14"]), ["value"]),
        (Explanations.of([dt.datetime(2026, 11, 14)]), ["datetime"]),
        (Explanations.of([dt.datetime(2026, 11, 14, tzinfo=dt.UTC)]), ["datetime with time zone"]),
        (
            Explanations(kind="value", values=pd.DataFrame({"a": pd.to_datetime([None, "2026-11-14"])})),
            ["datetime"],
        ),
    ],
)
def test_the_form_says_what_can_be_compared(explanations, made_of):
    assert describe_form(explanations)["identity"] == made_of
