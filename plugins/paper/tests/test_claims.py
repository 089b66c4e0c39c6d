"""The experiment `claims`: its formulas by enumeration, and its simulations near what they should be."""

from collections import Counter
from itertools import combinations_with_replacement, product
from math import exp, factorial, prod, sqrt

import numpy as np
import pytest
from faithkit_paper.context import Context
from faithkit_paper.experiments import claims
from faithkit_paper.experiments.claims import InScope, Law, decoder_errors

import faithkit

pytestmark = [pytest.mark.slow, pytest.mark.xdist_group("claims")]  # what its tests share is made once

LAW = Law(np.array([[0.3, 0.1], [0.0, 0.2], [0.25, 0.15]]))


@pytest.fixture(scope="module")
def findings():
    return claims.run(Context("tiny"))


def select_cells(findings, claim, measure=None):
    return [c for c in findings.cells if c.dataset == claim and measure in (None, c.measure)]


def enumerate_samples(law, n):
    """Return the mean and the mean-squared error of the estimate over every sample, each with its probability.

    Samples that differ in the order of their rows are taken together.
    """
    atoms = [(u, y, p) for (u, y), p in np.ndenumerate(law.joint) if p]
    mean = error = 0.0
    for sample in combinations_with_replacement(atoms, n):
        orders = factorial(n) / prod(map(factorial, Counter(sample).values()))
        chance = orders * prod(p for _, _, p in sample)
        value = faithkit.score([y for _, y, _ in sample], [int(u) for u, _, _ in sample]).consistency.value
        mean += chance * value
        error += chance * (value - law.consistency) ** 2
    return mean, error


def test_the_formula_of_the_expectation_is_the_mean_over_all_samples():
    mean, error = enumerate_samples(LAW, 4)
    assert LAW.expected_estimate(4) == pytest.approx(mean)
    assert LAW.error_bound(4) >= error


def test_the_consistency_of_a_law_is_that_of_two_draws():
    brute = sum(
        LAW.joint[u, y] * LAW.joint[u, y] / LAW.joint[u].sum() for u, y in product(range(3), range(2))
    )
    assert LAW.consistency == pytest.approx(brute)
    gibbs, optimal = decoder_errors(LAW)
    assert gibbs == pytest.approx(1 - brute)
    assert optimal == pytest.approx(0.1 + 0.0 + 0.15)


def test_the_simulated_means_are_within_four_standard_errors_of_the_formula(findings):
    simulated = select_cells(findings, "expectation of the estimate")
    assert len(simulated) == 4
    for cell in simulated:
        assert abs(cell.difference) <= 4 * cell.std / sqrt(cell.runs)


def test_theorem_1_holds_for_consistency_and_fails_for_overlapping_scopes(findings):
    assert all(cell.ours <= cell.paper for cell in select_cells(findings, "Theorem 1, consistency"))
    larger = select_cells(findings, "Theorem 1, overlapping scopes")[-1]
    assert larger.ours > larger.paper
    # a sample of n misses a region of mass 1/n with probability (1 − 1/n)^n, and then nothing is verified
    assert larger.ours == pytest.approx(exp(-1), abs=4 * 0.5 / sqrt(larger.runs))


def test_scopes_share_the_region_and_have_the_instance_itself():
    X = np.array([[0.05], [0.5], [0.7]])
    result = faithkit.score([1, 1, 0], X, X=X)
    # the first row is in every scope; the others are in their own: 0.5 meets it and agrees, 0.7 does not
    assert result.measure(InScope(end=0.1)).value == pytest.approx((0 + 1 + 0) / 3)
    assert result.measure(InScope(end=0.1)).verified == pytest.approx(2 / 3)


def test_the_corollary_keeps_its_promise(findings):
    assert all(cell.ours <= cell.paper for cell in select_cells(findings, "corollary"))
    assert select_cells(findings, "corollary")[0].n == 173  # 4 · 24 · log 6, rounded up


def test_claim_1_holds_in_simulation(findings):
    for cell in select_cells(findings, "claim 1"):
        assert abs(cell.difference) <= 4 * 0.5 / sqrt(cell.n)
    assert any("for 50 of 50 random laws" in remark for remark in findings.remarks)


def test_claim_2_gives_two_explainers_the_same_sample_and_other_truths(findings):
    first, second = (
        [cell for cell in select_cells(findings, "claim 2") if cell.explainer == name]
        for name in ("e(x) = x", "e(x) = |x|")
    )
    assert [cell.ours for cell in first] == [0.0, 0.0, 1.0]
    assert [cell.ours for cell in second] == [0.0, 0.0, 0.5]


def test_another_seed_moves_the_simulations(findings):
    other = claims.expectation(Context("tiny", seed=1))
    assert [c.ours for c in other.cells] != [
        c.ours for c in select_cells(findings, "expectation of the estimate")
    ]
