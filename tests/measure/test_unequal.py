"""Weights and clusters: every number against loops straight from the definitions."""

import brute_unequal
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from matrices import Matrix

from faithkit.errors import InputError
from faithkit.measure import permutation
from faithkit.measure.estimators import LeaveOneOut, Majority, PlugIn, VerifiedOnly, mean_over
from faithkit.measure.explanations import Explanations, Sample
from faithkit.measure.inference import interval, moments
from faithkit.measure.jackknife import per_row, pseudo_values
from faithkit.measure.relations import SameExplanation
from faithkit.measure.tally import count
from faithkit.measure.unequal import deletion, holding
from faithkit.measure.unequal.counting import count_unequal
from faithkit.measure.unequal.design import Design


@st.composite
def designs(draw, most=9):
    """A relation's matrix, who owns what, labels, weights and clusters; some weights 0, some rows missing."""
    n, m, k = draw(st.integers(3, most)), draw(st.integers(1, 4)), draw(st.integers(1, 3))
    rng = np.random.default_rng(draw(st.integers(0, 2**32 - 1)))
    matrix = rng.random((m, m)) < draw(st.sampled_from([0.2, 0.5, 0.9]))
    kind = draw(st.sampled_from(["real", "whole", "some zero", "one huge", "equal"]))
    weights = {
        "real": rng.random(n) + 0.01,
        "whole": rng.integers(1, 4, n).astype(float),
        "some zero": np.append(rng.integers(0, 3, n - 1), 1).astype(float),
        "one huge": np.where(np.arange(n) == 0, 1e6, rng.random(n) + 0.01),
        "equal": np.ones(n),
    }[kind]
    clusters = rng.integers(0, n, n) if draw(st.booleans()) else np.arange(n)
    if len(set(clusters.tolist())) < 2:
        clusters = np.arange(n)
    return matrix, rng.integers(0, m, n), rng.integers(0, k, n), k, weights, clusters


def counted(case, grouping, missing=()):
    matrix, owned, labels, k, weights, clusters = case
    gone = np.isin(np.arange(len(owned)), missing)
    sample = Sample(None, Explanations(kind="number", values=owned, missing=gone))
    design = Design.of(weights, clusters, len(owned))
    relation = SameExplanation() if grouping else Matrix(matrix)
    if design is None:
        return count(relation, sample, labels, k)
    return count_unequal(relation, sample, labels, k, design)


def truth(case, grouping, missing=()):
    matrix, owned, labels, _, weights, clusters = case
    n = len(owned)
    holds = [
        [
            i not in missing
            and (
                bool(owned[i] == owned[j]) and j not in missing
                if grouping
                else bool(matrix[owned[i], owned[j]])
            )
            for j in range(n)
        ]
        for i in range(n)
    ]
    return holds, labels.tolist(), weights.tolist(), clusters.tolist()


BOTH = pytest.mark.parametrize("grouping", [True, False], ids=["grouping", "any relation"])


@BOTH
@settings(max_examples=150, deadline=None)
@given(case=designs())
def test_value_errors_and_trials_are_those_of_the_double_loop(grouping, case):
    missing = (1,)
    found, slow = counted(case, grouping, missing), truth(case, grouping, missing)
    facts = moments(found.slots, pseudo_values(found))
    assert (facts.value, facts.verified) == pytest.approx(brute_unequal.estimate(*slow), abs=1e-10)
    for se, expected in zip(
        (facts.se, facts.se_disagreement), brute_unequal.standard_errors(*slow), strict=True
    ):
        assert (se or 0.0) == pytest.approx(expected, abs=1e-9)
    if facts.effective is not None and not grouping:
        few = facts.effective / (1 + brute_unequal.share(*slow))
        assert facts.trials == pytest.approx(few, rel=1e-6)


@BOTH
@settings(max_examples=100, deadline=None)
@given(case=designs(most=14))
def test_the_series_for_large_groups_gives_what_pairs_give(grouping, case):
    found = counted(case, grouping)
    slow = pseudo_values(found)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(deletion, "DIRECT", 0)
        fast = pseudo_values(found)
    assert fast.value == pytest.approx(slow.value, abs=1e-9)
    assert fast.verified == pytest.approx(slow.verified, abs=1e-9)


@settings(max_examples=60, deadline=None)
@given(case=designs(), seed=st.integers(0, 99))
def test_the_order_of_rows_changes_no_bit(case, seed):
    order = np.random.default_rng(seed).permutation(len(case[1]))
    turned = (case[0], case[1][order], case[2][order], case[3], case[4][order], case[5][order])
    for grouping in (True, False):
        one, two = (
            moments(c.slots, pseudo_values(c)) for c in (counted(case, grouping), counted(turned, grouping))
        )
        assert one == two


def test_blocks_and_pairs_at_once_change_nothing(monkeypatch):
    rng = np.random.default_rng(0)
    case = (
        rng.random((5, 5)) < 0.5,
        rng.integers(0, 5, 60),
        rng.integers(0, 3, 60),
        3,
        rng.random(60),
        rng.integers(0, 20, 60),
    )
    found = counted(case, grouping=False)
    whole = moments(found.slots, pseudo_values(found))
    monkeypatch.setattr(holding, "PAIRS", 1)
    monkeypatch.setattr(deletion, "AT_ONCE", 1)
    found = counted(case, grouping=False)
    assert moments(found.slots, pseudo_values(found)) == whole
