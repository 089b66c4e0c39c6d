"""Plans from pilots whose predictions are numbers: their sizes suffice, and they say what they promise."""

import numpy as np
import pytest
from looping import one_test

import faithkit

RUNS = 25
TOO_MANY = 8  # one in ten is promised; this many of 25 would be an accident of less than one in a thousand

# explanations, the share of the variance between them, rows of the pilot, and the half-width wanted
LAWS = [(5, 0.8, 100, 0.1), (20, 0.5, 200, 0.05), (3, 0.99, 60, 0.05), (20, 0.0, 100, 0.1)]


def draw(rng, n, k, share):
    """Draw means of groups, and normal noise around them."""
    means = np.linspace(-1, 1, k)
    why = rng.integers(0, k, n)
    return np.sqrt(share) * means[why] / means.std() + np.sqrt(1 - share) * rng.normal(size=n), why.tolist()


def assert_as_narrow_as_promised(law):
    k, share, n, epsilon = law
    rng, too_wide, without = np.random.default_rng(0), 0, 0
    for _ in range(RUNS):
        planned = faithkit.plan(epsilon, pilot=faithkit.score(*draw(rng, n, k, share))).n
        if planned is None:  # the pilot is too small
            without += 1
            continue
        result = faithkit.score(*draw(rng, planned, k, share)).consistency
        too_wide += (result.high - result.low) / 2 > epsilon
    assert too_wide < TOO_MANY
    assert without <= 2


@one_test
@pytest.mark.parametrize("law", LAWS[::2])
def test_the_interval_of_as_many_rows_as_planned_is_as_narrow_as_promised(law):
    assert_as_narrow_as_promised(law)


@pytest.mark.slow
@one_test
@pytest.mark.parametrize("law", LAWS[1::2])
def test_so_it_is_where_explanations_are_many(law):
    assert_as_narrow_as_promised(law)


def test_a_plan_says_what_it_promises():
    pilot = faithkit.score(*draw(np.random.default_rng(0), 200, 5, 0.8))
    plan = faithkit.plan(0.05, pilot=pilot)
    text = " ".join(str(plan).split())
    assert "For consistency, from a pilot of 200 rows:" in text
    assert f"{plan.n:,} rows: a 95 % interval of ± 0.05 or less, in nine cases of ten." in text
    with pytest.raises(
        faithkit.errors.InputError, match="a range promises something about labels, and the pilot's"
    ):
        faithkit.plan(0.05, n_explanations=5, pilot=pilot)


def test_a_tolerance_is_planned_for_as_labels_are():
    y, why = draw(np.random.default_rng(0), 200, 5, 0.8)
    near, labels = faithkit.score(y, why, agree="within:0"), faithkit.score(y, why, outcome="labels")
    assert faithkit.plan(0.1, pilot=near) == faithkit.plan(0.1, pilot=labels)
