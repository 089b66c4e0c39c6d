"""Computed explanations are the same up to a stated precision, far above rounding and far below meaning."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from looping import one_test

from faithkit import Explanations
from faithkit.explanations.precision import choose_decimals, round_columns

RNG = np.random.default_rng(0)


def round_values(values, single=False):
    phi = Explanations.vectors(values)
    return round_columns(phi, choose_decimals(phi, single)).values


def add_noise(values, relative):
    """Add noise to every number, relative to the largest number of its row, as a sum of parts has it."""
    size = np.abs(values).max(axis=1, keepdims=True)
    return values + relative * size * RNG.uniform(-1, 1, np.shape(values))


@one_test
@pytest.mark.parametrize("scale", [1e-30, 1e-9, 0.003, 0.7526, 0.7528, 1.0, 9.99, 1e6, 1e40])
def test_noise_in_the_last_bits_disappears_at_every_scale(scale):
    values = scale * RNG.normal(size=(500, 6))
    for _ in range(5):
        assert (round_values(values) == round_values(add_noise(values, 1e-16))).mean() > 0.9999


@one_test
@pytest.mark.parametrize(("single", "dtype", "noise"), [(True, np.float64, 3e-7), (False, np.float32, 3e-7)])
def test_single_precision_has_fewer_decimals(single, dtype, noise):
    values = RNG.normal(size=(500, 6)).astype(dtype)
    again = add_noise(values, noise).astype(dtype)
    assert (round_values(values, single) == round_values(again, single)).mean() > 0.99
    assert round_values(values, single).dtype == dtype
    assert np.allclose(round_values(values, single), values, atol=1e-4)


def test_what_is_zero_but_for_noise_becomes_zero():
    values = np.column_stack([RNG.normal(size=100), 1e-17 * RNG.normal(size=100)])
    assert (round_values(values)[:, 1] == 0).all()


def test_differences_that_mean_something_stay():
    values = np.array([[0.5, 1e-6], [0.5000001, 1e-6], [0.5, 1.0001e-6]])  # columns in units of their own
    assert len(np.unique(round_values(values), axis=0)) == 3


def test_exact_ties_stay_exact_and_decimals_stay_what_they_are():
    values = np.array([[0.3, 0.29], [0.1 + 0.2, 0.07], [0.29, 0.57]])
    assert round_values(values).tolist() == [[0.3, 0.29], [0.3, 0.07], [0.29, 0.57]]


def test_a_row_of_huge_numbers_does_not_blur_the_others():
    values = np.vstack([RNG.normal(size=(50, 3)), [[1e15, -1e15, 1e15]]])
    assert np.allclose(round_values(values)[:50], values[:50], rtol=1e-7, atol=1e-8)
    assert round_values(values)[50].tolist() == [1e15, -1e15, 1e15]


def test_whole_numbers_stay_as_they_are():
    numbers = np.column_stack([np.arange(40) + 1_700_000_000.0, np.arange(40) + 2.0**52])
    assert (round_values(numbers) == numbers).all()


@one_test
@pytest.mark.parametrize(
    "values",
    [
        np.array([[np.nan, 0.5], [1.0, np.nan]]),
        np.array([[1.7e308, 0.0], [-1.7e308, 0.0]]),
        np.zeros((3, 2)),
        np.empty((0, 2)),
        np.empty((3, 0)),
    ],
)
def test_numbers_at_the_edge_stay_as_they_are(values):
    assert np.allclose(round_values(values), values, rtol=1e-12, equal_nan=True)


@one_test
@pytest.mark.parametrize(
    "explanations",
    [
        Explanations.of(["age", "sex"]),
        Explanations.vectors(np.array([[1, 2], [3, 4]])),
        Explanations.vectors(np.array([[True], [False]])),
        Explanations.vectors(np.array([[0.123]], dtype=np.float16)),
    ],
    ids=["words", "integers", "truth values", "half precision"],
)
def test_only_floats_are_rounded(explanations):
    assert choose_decimals(explanations) is None
    assert round_columns(explanations, None) is explanations


@given(st.lists(st.lists(st.floats(-1e9, 1e9), min_size=2, max_size=2), min_size=1, max_size=8))
def test_rounding_again_changes_nothing_and_the_order_of_rows_is_irrelevant(rows):
    phi = Explanations.vectors(np.array(rows))
    decimals = choose_decimals(phi)
    once = round_columns(phi, decimals)
    assert np.array_equal(round_columns(once, decimals).values, once.values)
    backwards = choose_decimals(phi.take(slice(None, None, -1)))
    assert (decimals is None and backwards is None) or np.array_equal(decimals, backwards)


def test_missing_rows_do_not_count():
    phi = Explanations.vectors([[1e9], [0.5]], missing=[True, False])
    assert choose_decimals(phi).tolist() == [9]


def test_the_decimals_are_noted():
    phi = Explanations.vectors([[0.25, 30.5]], shared={"names": ["age", "sex"]})
    assert round_columns(phi, choose_decimals(phi)).shared == {"names": ["age", "sex"], "decimals": [9, 7]}
