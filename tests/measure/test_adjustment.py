"""p-values of many questions, adjusted by hand and by others' code."""

import numpy as np
import pytest
from scipy import stats

from faithkit.errors import InputError
from faithkit.measure.adjustment import ADJUSTMENTS, adjustment, benjamini_hochberg, holm


@pytest.mark.parametrize(
    ("p_values", "by_holm", "by_benjamini_hochberg"),
    [
        ([], [], []),
        ([0.2], [0.2], [0.2]),
        # Holm: 0.01·4, 0.02·3, 0.03·2, 0.5·1, the third not below the second;
        # Benjamini–Hochberg: 0.01·4/1, 0.02·4/2, 0.03·4/3, 0.5·4/4
        ([0.03, 0.5, 0.01, 0.02], [0.06, 0.5, 0.04, 0.06], [0.04, 0.5, 0.04, 0.04]),
        ([0.4, 0.9], [0.8, 0.9], [0.8, 0.9]),
        ([0.6, 0.9, 0.7], [1.0, 1.0, 1.0], [0.9, 0.9, 0.9]),  # never above 1, nor above a larger one
        ([0.01, 0.01], [0.02, 0.02], [0.01, 0.01]),
        ([1.0, 1.0], [1.0, 1.0], [1.0, 1.0]),
        ([0.0, 1.0], [0.0, 1.0], [0.0, 1.0]),
    ],
)
def test_by_hand(p_values, by_holm, by_benjamini_hochberg):
    assert holm(p_values) == pytest.approx(by_holm)
    assert benjamini_hochberg(p_values) == pytest.approx(by_benjamini_hochberg)


def test_benjamini_hochberg_is_that_of_scipy():
    rng = np.random.default_rng(0)
    for n in range(1, 40):
        p_values = (rng.integers(0, 12, n) / 11).tolist()  # with ties
        assert benjamini_hochberg(p_values) == pytest.approx(stats.false_discovery_control(p_values).tolist())


@pytest.mark.parametrize("method", ADJUSTMENTS)
def test_no_p_value_becomes_smaller_and_their_order_stays(method):
    p_values = sorted(np.random.default_rng(1).random(50).tolist())
    adjusted = ADJUSTMENTS[method](p_values)
    assert all(after >= before for before, after in zip(p_values, adjusted, strict=True))
    assert adjusted == sorted(adjusted)


def test_benjamini_hochberg_finds_more_and_keeps_the_share_of_wrong_findings():
    """200 questions, of which 40 have an answer, asked 400 times."""
    rng = np.random.default_rng(2)
    shares, found = [], dict.fromkeys(ADJUSTMENTS, 0)
    for _ in range(400):
        p_values = rng.random(200)
        p_values[:40] = rng.beta(0.15, 1.0, 40)
        for name, method in ADJUSTMENTS.items():
            marked = np.array(method(p_values.tolist())) < 0.05
            found[name] += marked[:40].sum()
            if name == "benjamini-hochberg":
                shares.append(marked[40:].sum() / max(1, marked.sum()))
    assert np.mean(shares) < 0.06  # 0.05 · 160/200 is expected
    assert found["benjamini-hochberg"] > 1.1 * found["holm"]


@pytest.mark.parametrize("given", ["bonferroni", "Holm", "", None, 3, ["holm"]])
def test_what_is_no_adjustment_is_refused_with_those_there_are(given):
    with pytest.raises(InputError, match=r"there is no adjustment .*; expected holm or benjamini-hochberg"):
        adjustment(given)
