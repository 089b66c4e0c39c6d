"""Lower ends for explanations that never repeat: merging against its definition."""

import numpy as np
import pytest
from brute_merging import blocks_of, merged_share, pseudo_values

from faithkit.measure.difference import Side
from faithkit.measure.explanations import Explanations, Sample
from faithkit.measure.matching import match_rows
from faithkit.measure.relations import SameExplanation
from faithkit.measure.tally import count
from faithkit.measure.unequal.counting import count_unequal
from faithkit.measure.unequal.design import Design


def _side(identities, labels, weights=None, clusters=None):
    sample = Sample(None, Explanations.of(identities))
    design = Design.of(weights, clusters, len(labels))
    k = max(labels) + 1
    if design is None:
        return Side.of(count(SameExplanation(), sample, np.array(labels), k))
    return Side.of(count_unequal(SameExplanation(), sample, np.array(labels), k, design))


def _words(rng, n, missing=0.0):
    distinct = int(rng.integers(1, 2 * n + 1))
    return [None if rng.random() < missing else f"e{rng.integers(distinct)}" for _ in range(n)]


@pytest.mark.parametrize("missing", [0.0, 0.3])
@pytest.mark.parametrize("seed", range(8))
def test_one_block_and_its_pseudo_values_are_those_of_merging_anew_without_each_row(seed, missing):
    rng = np.random.default_rng([seed, int(10 * missing)])
    for _ in range(25):
        n = int(rng.integers(2, 13))
        words, labels = _words(rng, n, missing), rng.integers(0, rng.integers(1, 4), n).tolist()
        x, psi = pseudo_values(words, labels)
        side = _side(words, labels)
        assert side.facts.merged.value == pytest.approx(x, abs=1e-12)
        assert side.value == pytest.approx(psi, abs=1e-9)
        spread = np.std(psi, ddof=1) / np.sqrt(n)
        assert (side.facts.merged.se or 0.0) == pytest.approx(spread, abs=1e-9)


@pytest.mark.parametrize("kind", ["weights", "clusters", "both"])
@pytest.mark.parametrize("seed", range(8))
def test_with_weights_and_clusters_too(seed, kind):
    rng = np.random.default_rng([seed, len(kind)])
    for _ in range(25):
        n = int(rng.integers(3, 14))
        words, labels = _words(rng, n, 0.1), rng.integers(0, 3, n).tolist()
        weights = rng.choice([0.0, 0.5, 1.0, 1.0, 2.75], n) if kind != "clusters" else None
        if weights is not None:
            weights[:2] = 1.0, 3.0
        clusters = rng.integers(0, rng.integers(2, n), n) if kind != "weights" else None
        if clusters is not None:
            clusters[:2] = 0, 1
        x, psi = pseudo_values(words, labels, weights, None if clusters is None else clusters.tolist())
        side = _side(words, labels, weights, clusters)
        assert side.facts.merged.value == pytest.approx(x, abs=1e-12)
        assert side.value == pytest.approx(psi, abs=1e-8)


def test_rows_without_weights_and_clusters_are_the_plain_case():
    rng = np.random.default_rng(0)
    words, labels = _words(rng, 40), rng.integers(0, 2, 40).tolist()
    plain = _side(words, labels)
    weights = np.ones(40)
    weights[0] = 1.0 + 1e-12  # enough to be taken as weights
    nearly = _side(words, labels, weights)
    assert nearly.facts.merged.value == pytest.approx(plain.facts.merged.value, abs=1e-9)
    assert nearly.value == pytest.approx(plain.value, abs=1e-6)


def test_the_order_of_rows_changes_no_bit():
    rng = np.random.default_rng(3)
    n = 300
    words, labels = np.array(_words(rng, n), dtype=object), rng.integers(0, 3, n)
    weights, clusters = rng.random(n), rng.integers(0, 120, n)
    vectors = rng.normal(size=(n, 3)).round(1)
    for _ in range(3):
        order = rng.permutation(n)
        for w, c in ((None, None), (weights, None), (None, clusters), (weights, clusters)):
            before = _side(words.tolist(), labels.tolist(), w, c).facts.merged
            some = [None if one is None else one[order] for one in (w, c)]
            assert _side(words[order].tolist(), labels[order].tolist(), *some).facts.merged == before
        pairs = [
            Side.of(count(SameExplanation(), Sample(None, Explanations.vectors(vectors[o])), labels[o], 3))
            for o in (np.arange(n), order)
        ]
        assert pairs[0].facts.merged == pairs[1].facts.merged


def test_permuting_labels_changes_no_block():
    """Who is in which block is known by what a label does to the share: each row's block has one share."""
    rng = np.random.default_rng(1)
    vectors = rng.normal(size=(40, 4))
    sample = Sample(None, Explanations.vectors(vectors))

    def partners(labels):
        psi = Side.of(count(SameExplanation(), sample, labels, 2)).value
        return {row for row in range(40) if psi[row] < 1}

    alike = np.zeros(40, dtype=int)
    alike[0] = 1  # labels that differ at one row only find its partner
    found = {}
    for row in range(40):
        found[row] = partners(np.roll(alike, row))
    blocks = {frozenset(block) for block in found.values()}
    assert sorted(map(len, blocks)) == [2] * 20
    random = rng.integers(0, 2, 40)
    psi = Side.of(count(SameExplanation(), sample, random, 2)).value
    for block in blocks:
        rows = sorted(block)
        agreeing = sum(random[i] == random[j] for i in rows for j in rows if i != j)
        assert psi[rows] == pytest.approx(agreeing / (len(rows) * (len(rows) - 1)))


def test_a_block_of_vectors_is_merged_in_pairs_and_words_in_one_block():
    labels = [0, 0, 1, 1]
    pairs = Side.of(
        count(
            SameExplanation(),
            Sample(None, Explanations.vectors([[1.0], [1.1], [5.0], [5.1]])),
            np.array(labels),
            2,
        )
    ).facts.merged
    assert (pairs.how, pairs.value) == ("pairs", 1.0)
    block = _side(list("abcd"), labels).facts.merged
    assert (block.how, block.value) == ("one block", pytest.approx(1 / 3))
    assert merged_share(blocks_of(list("abcd")), labels) == pytest.approx(1 / 3)


def test_the_standard_error_of_pairs_takes_a_pair_as_one_unit():
    rng = np.random.default_rng(2)
    n = 60
    vectors = np.concatenate([np.repeat(rng.normal(size=(10, 2)), 3, axis=0), rng.normal(size=(31, 2))])[:n]
    labels = rng.integers(0, 2, n)
    counted = count(SameExplanation(), Sample(None, Explanations.vectors(vectors)), labels, 2)
    side = Side.of(counted)
    psi, mean = side.value, side.value.mean()
    blocks = {}
    for row in range(30, n):  # rows of a pair have one value; who they are is told by the pairing
        blocks.setdefault(_block(vectors[30:], row - 30), []).append(row)
    units = [*([row] for row in range(30)), *blocks.values()]
    v = [sum(psi[row] - mean for row in unit) for unit in units]
    J = len(units)
    assert side.facts.merged.se == pytest.approx(np.sqrt(J / (J - 1) * np.sum(np.square(v)) / n**2))


def _block(vectors, row):
    pair = match_rows(vectors)
    return int(pair[row]) if pair[row] >= 0 else -1 - row


def test_where_all_rows_were_checked_nothing_changes():
    rng = np.random.default_rng(5)
    labels = rng.integers(0, 2, 50)
    for explanations in (np.repeat(np.arange(10), 5).tolist(), None):
        given = (
            Explanations.of(explanations)
            if explanations
            else Explanations.vectors(np.repeat(np.arange(10.0), 5)[:, None])
        )
        facts = Side.of(count(SameExplanation(), Sample(None, given), labels, 2)).facts
        assert facts.merged.how == "nothing"
        assert facts.merged.value == pytest.approx(facts.value, abs=1e-15)
        assert facts.merged.se == pytest.approx(facts.se, abs=1e-12)


class SameFirstColumn(SameExplanation):
    """Groups by less than the identity says."""

    name = "same-first-column"

    def key(self, explanations):
        return explanations.values[:, :1]


def test_merging_sees_what_the_relation_compares_and_nothing_behind_it():
    """The second column tells the label; a relation that does not read it must not be helped by it."""
    rng = np.random.default_rng(0)
    labels = rng.integers(0, 2, 400)
    useless = rng.normal(size=400)
    vectors = np.column_stack([useless, 1000.0 * labels + rng.random(400)])
    found = Side.of(count(SameFirstColumn(), Sample(None, Explanations.vectors(vectors)), labels, 2))
    assert found.facts.merged.value == pytest.approx(0.5, abs=0.1)
    whole = Side.of(count(SameExplanation(), Sample(None, Explanations.vectors(vectors)), labels, 2))
    assert whole.facts.merged.value > 0.9  # the column counts as much as the useless one


def test_values_behind_a_discretizers_identities_are_not_seen():
    rng = np.random.default_rng(1)
    labels = rng.integers(0, 2, 400)
    given = Explanations.vectors(1000.0 * labels[:, None] + rng.random((400, 2)))
    random = given.identified(rng.permutation(400)[:, None])
    found = Side.of(count(SameExplanation(), Sample(None, random), labels, 2))
    assert found.facts.merged.value == pytest.approx(0.5, abs=0.1)


@pytest.mark.parametrize(
    ("words", "weights"),
    [
        ([None] * 3, [1.0, 2.0, 3.0]),
        ([None, "a", None], [1.0, 0.0, 2.0]),
        (["a", None, None], [2.0, 1.0, 1.0]),
    ],
)
def test_where_nobody_has_an_explanation_that_counts_nothing_is_merged(words, weights):
    found = _side(words, [0, 1, 1], weights).facts.merged
    assert (found.how, found.value, found.reach) == ("nothing", 0.0, 0.0)
