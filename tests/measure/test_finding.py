"""What a measure found: one word for each thing that can be the case."""

import attrs
import numpy as np
import pytest
from looping import one_test

import faithkit
from faithkit.measure.counting.design import Design
from faithkit.measure.finding import classify_finding

RNG = np.random.default_rng(0)
EVEN = RNG.integers(0, 2, 400)
VECTORS = RNG.normal(size=(400, 3))

CASES = {
    "one label, whatever is explained": (["yes"] * 20, list("ab") * 10, "one label"),
    "one label, nothing shared": (["yes"] * 20, range(20), "one label"),
    "the label as its own explanation": (EVEN, EVEN.tolist(), "names the label"),
    "other words for the label": (EVEN, np.where(EVEN, "sunny", "rainy").tolist(), "names the label"),
    "two explanations for a label": (EVEN, [(y, i % 2) for i, y in enumerate(EVEN)], "above chance"),
    "the label, and rows without": (EVEN, [*EVEN[:399].tolist(), None], "names the label"),
    "unrelated words": (EVEN, RNG.integers(0, 5, 400).tolist(), "not above chance"),
    "one explanation for all": (EVEN, ["same"] * 400, "not above chance"),
    "vectors that tell the label": (VECTORS[:, 0] > 0, VECTORS, "above chance"),
    "vectors that tell nothing": (EVEN, VECTORS, "unknown"),
    "words that nobody shares": (EVEN, range(400), "unknown"),
    "a single row": ([1], ["why"], "one label"),
    "explanations for one label only": (EVEN, [None if y else "same" for y in EVEN], "one label"),
    "no explanation at all": (EVEN, [None] * 400, "unknown"),
}


@one_test
@pytest.mark.parametrize("case", CASES)
def test_findings_of_consistency(case):
    labels, explanations, expected = CASES[case]
    assert faithkit.score(labels, explanations).consistency.finding == expected


def test_sufficiency_can_be_below_chance():
    labels = np.arange(300) % 2
    other = faithkit.relation(lambda x, explanation: x % 2 != explanation % 2)
    result = faithkit.score(labels, range(300), X=list(range(300)), relation=other)
    assert result.sufficiency.finding == "below chance"


def test_a_finding_does_not_depend_on_the_estimator():
    findings = {
        faithkit.score(VECTORS[:, 0] > 0, VECTORS, estimator=name).consistency.finding
        for name in ("leave-one-out", "plug-in", "majority", "verified-only")
    }
    assert findings == {"above chance"}


def test_a_pool_of_another_label_is_a_test_where_the_sample_has_one():
    above = faithkit.relation(lambda x, least: x >= least)
    result = faithkit.score([1] * 9, [0] * 9, X=list(range(9)), relation=above)
    assert result.sufficiency.finding == "one label"
    counts = result.evidence.counts["sufficiency"]
    labels, design = np.append(counts.labels, [0, 1]), Design.equal(11)
    with_pool = attrs.evolve(counts, labels=labels, owned=np.append(counts.owned, [-1, -1]), design=design)
    assert classify_finding(with_pool, result.sufficiency.statistics, 0.5, 0.95) != "one label"


# one label is rare, and chance is high: the interval of 60 rows is too wide to lie above it
RARE = np.arange(60) < 10
NAMED = [(i < 6, i % 2) for i in range(60)]
PERMUTED = {
    "not asked": (NAMED, 0, "not above chance"),
    "asked, and shown": (NAMED, 999, "above chance"),
    "too few permutations to show anything": (NAMED, 9, "not above chance"),
    "asked, and not shown": ([i % 2 for i in range(60)], 999, "not above chance"),
}


@one_test
@pytest.mark.parametrize("case", PERMUTED)
def test_a_permutation_test_is_not_contradicted(case):
    explanations, times, expected = PERMUTED[case]
    estimate = faithkit.score(RARE, explanations, permutations=times).consistency
    assert estimate.low < estimate.chance
    assert estimate.finding == expected
    assert (expected == "above chance") == (estimate.p_value is not None and estimate.p_value < 0.05)


def test_a_measure_is_above_chance_only_where_its_lower_end_is():
    """Half of the rows have no explanation, and 95 % of the others the label that theirs names.

    m = 1/2 · (0.95² + 0.05²) = 0.4525, and one explanation for all rows would get 0.5.
    """
    rng = np.random.default_rng(0)
    for _ in range(2):
        labels = rng.integers(0, 2, 1000)
        words = np.where(rng.random(1000) < 0.05, 1 - labels, labels).astype(object)
        words[rng.random(1000) < 0.5] = None
        result = faithkit.score(labels, words.tolist(), permutations=99)
        estimate = result.consistency
        assert estimate.low <= 0.4525 <= estimate.high
        assert estimate.low > estimate.verified * estimate.chance  # what was compared with once
        assert estimate.p_value == 0.01  # labels are related to explanations all the same
        assert estimate.finding != "above chance"
        assert "Those that could be checked agree more often than chance (permutation test, p = 0.010)" in (
            " ".join(result.to_text(verbose=True).split())
        )


DRAWN = {
    "weights": {"weights": [1 + row % 5 for row in range(400)]},
    "clusters": {"clusters": [row // 3 for row in range(400)]},
}


@one_test
@pytest.mark.parametrize("drawn", DRAWN)
def test_weights_and_clusters_hide_no_label_that_is_named(drawn):
    assert faithkit.score(EVEN, EVEN.tolist(), **DRAWN[drawn]).consistency.finding == "names the label"
    twice = [(y, i % 2) for i, y in enumerate(EVEN)]
    assert faithkit.score(EVEN, twice, **DRAWN[drawn]).consistency.finding == "above chance"
