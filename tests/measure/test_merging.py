"""Rows that are alone, compared with others: against loops, exactly on small laws, and in simulation."""

from itertools import product

import attrs
import numpy as np
import pytest
from brute_merging import blocks_of, linked_error, merged_share, paired_error, pseudo_values
from looping import one_test
from nearly import assert_nearly
from scipy import stats

from faithkit.explanations.explanations import Explanations, Sample
from faithkit.explanations.relations import SameExplanation
from faithkit.measure.counting.count import count
from faithkit.measure.counting.design import Design
from faithkit.measure.difference import subtract_measures
from faithkit.measure.intervals import compute_interval
from faithkit.measure.jackknife.merging import Merging, _content_order, divide_rows, match_rows
from faithkit.measure.jackknife.summary import JackknifeEstimate
from tests.definition import Rows

ACCIDENT, MISSES = 0.001, 0.025  # as in test_merged_bounds


def measure(values, labels, weights=None, clusters=None, relation=SameExplanation):
    """Measure words, or vectors of numbers."""
    is_vector = isinstance(values, np.ndarray)
    explanations = Explanations.vectors(values) if is_vector else Explanations.of(values)
    sample, labels = Sample(None, explanations), np.asarray(labels)
    design, k = Design.of(weights, clusters, len(labels)), int(labels.max()) + 1
    if design is None:
        return JackknifeEstimate.of(count(relation(), sample, labels, k))
    return JackknifeEstimate.of(count(relation(), sample, labels, k, design=design))


def _draw_words(rng, n, missing=0.0):
    distinct = int(rng.integers(1, 2 * n + 1))
    return [None if rng.random() < missing else f"e{rng.integers(distinct)}" for _ in range(n)]


# --- against loops straight from the definition ---------------------------------------------------------


@one_test
@pytest.mark.parametrize("missing", [0.0, 0.3])
@pytest.mark.parametrize("seed", range(2))
def test_one_block_and_its_pseudo_values_are_those_of_blocks_that_lose_each_row(seed, missing):
    rng = np.random.default_rng([seed, int(10 * missing)])
    for _ in range(12):
        n = int(rng.integers(2, 13))
        words, labels = _draw_words(rng, n, missing), rng.integers(0, rng.integers(1, 4), n).tolist()
        x, psi = pseudo_values(blocks_of(words), labels)
        result = measure(words, labels)
        assert result.statistics.estimate == pytest.approx(x, abs=1e-12)
        assert result.value == pytest.approx(psi, abs=1e-9)
        assert (result.statistics.se or 0.0) == pytest.approx(np.std(psi, ddof=1) / np.sqrt(n), abs=1e-9)


def form_near_blocks(vectors, weights, clusters):
    """Return groups of several clusters, and near rows in blocks: explanations that only one cluster has."""
    groups = {}
    for row, vector in enumerate(vectors.tolist()):
        if weights[row] > 0:
            groups.setdefault(tuple(vector), []).append(row)
    alone = {key: rows for key, rows in groups.items() if len({clusters[row] for row in rows}) == 1}
    shared = [rows for key, rows in groups.items() if key not in alone]
    place = divide_rows(np.array(list(alone)), 32) if len(alone) > 1 else []
    blocks = [[] for _ in range(max(place, default=-1) + 1)]
    for rows, number in zip(alone.values(), place, strict=False):
        blocks[number].extend(rows)
    cells = [
        sum(weights[row] for row in rows if clusters[row] == c) for rows in groups.values() for c in clusters
    ]
    return shared, blocks, {round(cell, 9) for cell in cells if cell > 0}


def draw_rows(rng, kind):
    """Draw rows of which some share a vector, with weights of which some may be 0, and clusters."""
    n = int(rng.integers(20, 45))
    vectors = rng.normal(size=(n, 2))[rng.integers(0, n, n) if rng.random() < 0.5 else np.arange(n)]
    weights, clusters = np.ones(n), np.arange(n)
    if kind != "clusters":
        weights = rng.choice([0.0, 1.0, 1.0, 1.5], n) if rng.random() < 0.5 else 1 + rng.random(n)
        weights[:2] = 1.0, 1.25
    if kind != "weights":
        clusters = rng.integers(0, rng.integers(n // 2, 2 * n), n)
        vectors[:3], clusters[:3] = vectors[0], clusters[0]  # three cells in one
    return vectors, rng.integers(0, rng.integers(2, 4), n), weights, clusters


@one_test
@pytest.mark.parametrize("kind", ["weights", "clusters", "both"])
def test_near_blocks_and_their_pseudo_values_are_those_of_double_loops(kind):
    rng, methods = np.random.default_rng(len(kind)), set()
    for _ in range(3):
        vectors, labels, weights, clusters = draw_rows(rng, kind)
        _, blocks, cells = form_near_blocks(vectors, weights, clusters)
        result = measure(vectors, labels, weights, clusters)
        if len(cells) == 1:  # those are matched
            continue
        methods.add(result.statistics.merging)

        n, merged = len(labels), np.full(len(labels), -1)
        for number, rows in enumerate(blocks):
            merged[rows] = number
        names = np.unique(vectors, axis=0, return_inverse=True)[1].reshape(-1)
        definition = Rows(
            explanation=names,
            holds=names[:, None] == names,
            apart=np.not_equal.outer(labels, labels).astype(float),
            weights=weights,
            unit=clusters,
            block=np.zeros(n, dtype=int),
            owns=np.ones(n, dtype=bool),
            merged=merged,
        )
        alive = np.ones(n, dtype=bool)
        sizes = definition.sizes(alive, alive)
        whole = definition.measure(alive, alive, sizes)[0]
        assert result.statistics.low_estimate == pytest.approx(whole, abs=1e-9)
        units = [c for c in dict.fromkeys(clusters.tolist()) if weights[clusters == c].sum() > 0]
        C = len(units)
        for place in (0, C // 2, C - 1):
            without = definition.measure(clusters != units[place], alive, sizes)[0]
            assert result.value[place] == pytest.approx(C * whole - (C - 1) * without, abs=1e-8)
    assert "near blocks" in methods


def _match_pairs(vectors, alone, clusters=None):
    """Return the pairs of rows that are alone."""
    place = match_rows(vectors[alone], None if clusters is None else np.asarray(clusters)[alone])
    return [np.array(alone)[place == pair].tolist() for pair in range(place.max() + 1)]


@one_test
@pytest.mark.parametrize("odd", [0, 1])
@pytest.mark.parametrize("times", [2, 3])
def test_of_equal_rows_a_matched_pair_is_one_unit_of_the_standard_error(times, odd):
    """Thirty rows share vectors by two or by three, and the others are matched."""
    rng = np.random.default_rng([times, odd])
    vectors = np.concatenate(
        [np.repeat(rng.normal(size=(30 // times, 2)), times, axis=0), rng.normal(size=(20 + odd, 2))]
    )
    labels = rng.integers(0, 2, len(vectors))
    shared = [list(range(first, first + times)) for first in range(0, 30, times)]
    pairs = _match_pairs(vectors, list(range(30, 50 + odd)))
    assert len(pairs) == 10
    jackknife = measure(vectors, labels)
    result = jackknife.statistics
    assert result.merging == "pairs"
    assert result.estimate == pytest.approx(merged_share([*shared, *pairs], labels), abs=1e-12)
    assert result.se == pytest.approx(paired_error(shared, pairs, labels), abs=1e-12)
    psi = np.array(pseudo_values(shared, labels)[1])
    for pair in pairs:
        psi[pair] = labels[pair[0]] == labels[pair[1]]  # each row accounts for half of its pair
    assert jackknife.value == pytest.approx(psi, abs=1e-9)


@one_test
@pytest.mark.parametrize("times", [2, 3])
@pytest.mark.parametrize("seed", range(3))
def test_pairs_of_clusters_are_linked_by_the_clusters_that_they_share(times, seed):
    """Each cluster has several rows, none of them twice of one vector, so all cells are equal."""
    rng = np.random.default_rng([times, seed])
    vectors = np.concatenate(
        [np.repeat(rng.normal(size=(12 // times, 2)), times, axis=0), rng.normal(size=(28, 2))]
    )
    clusters = np.concatenate([np.arange(12), rng.integers(0, 14, 28)])
    labels = rng.integers(0, 2, 40)
    shared = [list(range(first, first + times)) for first in range(0, 12, times)]
    pairs = _match_pairs(vectors, list(range(12, 40)), clusters)
    result = measure(vectors, labels, None, clusters).statistics
    assert result.merging == "pairs"
    assert result.estimate == pytest.approx(
        merged_share([*shared, *pairs], labels, clusters=clusters), abs=1e-12
    )
    assert result.se == pytest.approx(linked_error(shared, pairs, labels, clusters.tolist()), abs=1e-12)


def test_weights_that_hardly_differ_give_words_what_equal_rows_get():
    rng = np.random.default_rng(0)
    words, labels = _draw_words(rng, 40), rng.integers(0, 2, 40).tolist()
    plain = measure(words, labels)
    weights = np.ones(40)
    weights[0] = 1.0 + 1e-12  # enough to be taken as weights
    nearly = measure(words, labels, weights)
    assert nearly.statistics.estimate == pytest.approx(plain.statistics.estimate, abs=1e-9)
    assert nearly.value == pytest.approx(plain.value, abs=1e-6)


def test_customers_with_five_identical_entries_are_as_many_rows():
    rng = np.random.default_rng(2)
    vectors, customer = rng.normal(size=(200, 2)).round(1), np.repeat(np.arange(200), 5)
    labels = (vectors[:, 0] > 0).astype(int)
    plain, apart = (
        measure(vectors, labels).statistics,
        measure(vectors[customer], labels[customer], None, customer).statistics,
    )
    assert plain.merging == apart.merging == "pairs"
    for name in ("estimate", "disagreement", "compared", "agreed", "se", "se_disagreement"):
        assert getattr(apart, name) == pytest.approx(getattr(plain, name), rel=1e-9), name
    assert attrs.astuple(apart.units) == pytest.approx(attrs.astuple(plain.units))
    assert compute_interval(apart) == pytest.approx(compute_interval(plain))


def test_the_order_of_rows_changes_nothing():
    rng = np.random.default_rng(3)
    n = 150
    words, labels = np.array(_draw_words(rng, n), dtype=object), rng.integers(0, 3, n)
    weights, clusters = rng.random(n), rng.integers(0, 60, n)
    vectors = rng.normal(size=(n, 3)).round(1)
    order = rng.permutation(n)
    for w, c in ((None, None), (weights, None), (None, clusters), (weights, clusters)):
        reordered = [None if column is None else column[order] for column in (w, c)]
        expected = measure(words.tolist(), labels, w, c).statistics
        assert_nearly(measure(words[order].tolist(), labels[order], *reordered).statistics, expected)
        expected = measure(vectors, labels, w, c).statistics
        assert_nearly(measure(vectors[order], labels[order], *reordered).statistics, expected)


# --- which blocks are made -----------------------------------------------------------------------------


def test_permuting_labels_changes_no_block():
    """Who is in which block is known by what a label does to the share: each row's block has one share."""
    rng = np.random.default_rng(1)
    vectors = rng.normal(size=(40, 4))
    sample = Sample(None, Explanations.vectors(vectors))

    def find_partners(labels):
        psi = JackknifeEstimate.of(count(SameExplanation(), sample, labels, 2)).value
        return {row for row in range(40) if psi[row] < 1}

    alike = np.zeros(40, dtype=int)
    alike[0] = 1  # labels that differ at one row only find its partner
    blocks = {frozenset(find_partners(np.roll(alike, row))) for row in range(40)}
    assert sorted(map(len, blocks)) == [2] * 20
    random = rng.integers(0, 2, 40)
    psi = JackknifeEstimate.of(count(SameExplanation(), sample, random, 2)).value
    for block in blocks:
        rows = sorted(block)
        agreeing = sum(random[i] == random[j] for i in rows for j in rows if i != j)
        assert psi[rows] == pytest.approx(agreeing / (len(rows) * (len(rows) - 1)))


def test_vectors_are_merged_in_pairs_and_words_in_one_block():
    labels = [0, 0, 1, 1]
    pairs = measure(np.array([[1.0], [1.1], [5.0], [5.1]]), labels).statistics
    assert (pairs.merging, pairs.estimate) == ("pairs", 1.0)
    block = measure(list("abcd"), labels).statistics
    assert (block.merging, block.estimate) == ("one block", pytest.approx(1 / 3))


@one_test
@pytest.mark.parametrize(
    ("equal", "clusters", "sizes"),
    [
        (True, None, [2, 2, 2, 2]),
        (False, None, [8]),  # a heavy row needs more than one light row
        (True, [0, 0, 1, 1, 2, 2, 3, 3], [2, 2, 2, 2]),
    ],
)
def test_equal_explanations_are_matched_and_others_form_blocks_of_one_size(equal, clusters, sizes):
    vectors = Explanations.vectors(np.arange(8.0)[:, None])
    unit = None if clusters is None else np.array(clusters)
    result = Merging.of(SameExplanation(), vectors, np.ones(8, dtype=bool), unit, equal)
    assert result.method == ("pairs" if equal else "near blocks")
    block = result.key - result.first_block
    assert np.bincount(block).tolist() == sizes
    if clusters is not None:
        assert all(len(set(unit[block == b])) == size for b, size in enumerate(sizes))


@one_test
@pytest.mark.parametrize("weighted", [False, True])
def test_words_cannot_be_near_and_form_one_block(weighted):
    rng = np.random.default_rng(5)
    labels, weights = rng.integers(0, 2, 30), 1 + rng.random(30) if weighted else None
    assert measure([f"e{row}" for row in range(30)], labels, weights).statistics.merging == "one block"


@one_test
@pytest.mark.parametrize("weighted", [False, True])
@pytest.mark.parametrize("alone", [0, 1])
def test_where_no_two_are_alone_nothing_is_merged(alone, weighted):
    vectors = np.concatenate([np.repeat(np.arange(5.0), 4), 9.0 + np.arange(alone)])[:, None]
    labels = np.arange(len(vectors)) // 2 % 2
    result = measure(vectors, labels, 1.0 + np.arange(len(vectors)) % 3 if weighted else None).statistics
    assert result.merging == "nothing"
    if not weighted:
        assert (result.estimate, result.compared) == pytest.approx((result.value, result.verified))


def test_where_one_cluster_has_all_that_are_alone_no_two_are_matched():
    vectors, clusters = np.array([[2.0], [1.0], [0.0], [0.0], [0.0]]), [3, 3, 2, 1, 0]
    result = measure(vectors, [0, 0, 1, 1, 0], clusters=clusters).statistics
    assert (result.merging, result.verified) == ("nothing", 3 / 5)
    # without each cluster the estimate is 1/3, 0, 0 and 1/2: their squared deviations add up to 3/16
    assert_nearly([result.estimate, result.se], [1 / 5, 3 / 8])


class SameFirstColumn(SameExplanation):
    """Groups by less than the identity says."""

    name = "same-first-column"

    def key(self, explanations):
        return explanations.values[:, :1]


@one_test
@pytest.mark.parametrize("design", ["equal", "weights", "clusters"])
def test_merging_sees_what_the_relation_compares_and_nothing_behind_it(design):
    """The second column tells the label; a relation that does not read it must not be helped by it."""
    rng = np.random.default_rng(6)
    labels = rng.integers(0, 2, 600)
    vectors = np.column_stack([rng.normal(size=600), 1000.0 * labels + rng.random(600)])
    drawn = {
        "equal": {},
        "weights": {"weights": 1 + rng.random(600)},
        "clusters": {"clusters": np.arange(600) // 2},
    }
    assert measure(vectors, labels, **drawn[design], relation=SameFirstColumn).statistics.estimate < 0.58
    assert measure(vectors, labels, **drawn[design]).statistics.estimate > 0.8


def test_values_behind_a_discretizers_identities_are_not_seen():
    rng = np.random.default_rng(1)
    labels = rng.integers(0, 2, 400)
    explanations = Explanations.vectors(1000.0 * labels[:, None] + rng.random((400, 2)))
    random = explanations.identified(rng.permutation(400)[:, None])
    result = JackknifeEstimate.of(count(SameExplanation(), Sample(None, random), labels, 2))
    assert result.statistics.estimate == pytest.approx(0.5, abs=0.1)


@one_test
@pytest.mark.parametrize(
    ("words", "weights"),
    [
        ([None] * 3, [1.0, 2.0, 3.0]),
        ([None, "a", None], [1.0, 0.0, 2.0]),
        (["a", None, None], [2.0, 1.0, 1.0]),
    ],
)
def test_where_nobody_has_an_explanation_that_counts_nothing_is_merged(words, weights):
    result = measure(words, [0, 1, 1], weights).statistics
    assert (result.merging, result.estimate, result.compared) == ("nothing", 0.0, 0.0)


# --- never above the measure ---------------------------------------------------------------------------

LIGHT, HEAVY = 0.1, 1.0


@one_test
@pytest.mark.parametrize("size", [2, 3, 4, 5])
@pytest.mark.parametrize("seed", range(5))
def test_in_the_mean_a_block_is_at_most_the_measure_even_if_weights_tell_the_label(seed, size):
    """Every draw of labels, with its probability; what a row weighs depends on its label."""
    rng = np.random.default_rng([seed, size])
    shares, weigh = rng.dirichlet(np.full(2, 0.7), size), rng.choice([LIGHT, 0.4, HEAVY], (size, 2))
    clusters = rng.integers(0, 3, size).tolist() if seed % 2 else list(range(size))
    clusters[:2] = 0, 1
    mean = 0.0
    for ys in product((0, 1), repeat=size):
        p = np.prod([shares[row, y] for row, y in enumerate(ys)])
        w = [weigh[row, y] for row, y in enumerate(ys)]
        most = HEAVY * np.bincount(clusters).max()  # a block elsewhere is as heavy as can be
        mean += p * sum(w) * merged_share([range(size)], ys, w, clusters, heaviest=most)
    masses = shares * weigh
    assert mean <= (masses**2 / masses.sum(axis=1, keepdims=True)).sum() + 1e-12


def test_pairs_by_what_each_row_has_of_others_would_exceed_the_measure():
    """A useless explanation, a label of 70 % whose rows weigh a tenth: 2·min(w, w') promises too much."""
    p, w = np.array([0.7, 0.3]), np.array([LIGHT, HEAVY])
    drawn_ = p / w / (p / w).sum()  # as rows are drawn
    naive = (drawn_**2 * w).sum() / (drawn_ * w).sum()
    assert naive > (p**2).sum() + 0.05


# --- in simulation: vectors that are all distinct -------------------------------------------------------


def _smooth(x):
    return 1 / (1 + np.exp(-2 * x[:, 0]))


def _checkers(x):
    return np.floor(1.5 * x).sum(axis=1) % 2 * 0.8 + 0.1


def _useless(x):
    return np.full(len(x), 0.3)


def _certain(x):
    return (x[:, 0] > 0).astype(float)


def _zone(x):
    """Few are uncertain, and those mostly of the label that is drawn often."""
    return np.where(x[:, 0] > 1.28, 0.75, 0.0)


def _weighted(weigh):
    def draw(rng, n, share):
        """Draw rows by 1/weight, so that by weight they are what nature draws."""
        x = rng.normal(size=(40 * n, 3))
        y = (rng.random(40 * n) < share(x)).astype(np.int64)
        w = weigh(rng, x, y)
        rows = np.flatnonzero(rng.random(40 * n) < 0.1 / w)[:n]
        return x[rows], y[rows], w[rows], None

    return draw


def _lognormal(rng, n, share):
    x = rng.normal(size=(n, 3))
    return x, (rng.random(n) < share(x)).astype(np.int64), rng.lognormal(size=n), None


def _clusters(sizes, alike, effect=False):
    def draw(rng, n, share):
        """Clusters whose vectors are alike to some degree; with an effect, their labels are, too."""
        cluster = np.repeat(np.arange(n), sizes(rng, n))[:n]
        x = alike**0.5 * rng.normal(size=(n, 3))[cluster] + (1 - alike) ** 0.5 * rng.normal(size=(n, 3))
        luck = rng.random(n)[cluster] if effect or alike == 1 else rng.random(n)
        return x, (luck < share(x)).astype(np.int64), None, cluster

    return draw


def _five(rng, n):
    return np.full(n, 5)


def _unequal(rng, n):
    return rng.integers(1, 9, n)


DESIGNS = {
    "by stratum": _weighted(lambda rng, x, y: np.where(x[:, 1] > 0.5, 0.1, 1.0)),
    "one label heavy": _weighted(lambda rng, x, y: np.where(y == 1, 0.1, 1.0)),
    "the other one heavy": _weighted(lambda rng, x, y: np.where(y == 1, 1.0, 0.1)),
    "lognormal": _lognormal,
    "five identical": _clusters(_five, 1),
    "identical, of unequal sizes": _clusters(_unequal, 1),
    "five near ones": _clusters(_five, 0.99),
    "five anywhere, labels alike": _clusters(_five, 0.2, effect=True),
}
SHARES = {"smooth": _smooth, "checkers": _checkers, "useless": _useless, "certain": _certain, "zone": _zone}
BIG = np.random.default_rng(1).normal(size=(200_000, 3))
CELLS = [
    *((design, "useless", 100, 60) for design in DESIGNS),
    *((design, "smooth", 100, 40) for design in ("by stratum", "five anywhere, labels alike")),
    *(
        pytest.param(design, share, n, runs, marks=pytest.mark.simulation)
        for design in DESIGNS
        for share in SHARES
        for n, runs in ((20, 50), (100, 40))
    ),
]


@pytest.mark.simulation
@pytest.mark.parametrize(("design", "share", "n", "runs"), CELLS)
def test_lower_ends_miss_seldom(design, share, n, runs):
    """A sample that shows one label tests nothing, and says so: it is not asked for its lower end."""
    rng, q = np.random.default_rng([n, 11]), SHARES[share](BIG)
    truth, misses = float((q**2 + (1 - q) ** 2).mean()), 0
    for _ in range(runs):
        case = DESIGNS[design](rng, n, SHARES[share])
        if np.ptp(case[1]):
            misses += compute_interval(measure(*case).statistics)[0] > truth + 2e-3 * (truth < 1)
    assert stats.binom.sf(misses - 1, runs, MISSES) > ACCIDENT


@one_test
@pytest.mark.parametrize(
    ("design", "least"),
    [("by stratum", 0.75), ("five identical", 0.8), ("five near ones", 0.65), ("lognormal", 0.55)],
)
def test_lower_ends_are_sharp_where_explanations_tell_the_label(design, least):
    rng = np.random.default_rng(7)
    lows = [compute_interval(measure(*DESIGNS[design](rng, 1000, _certain)).statistics)[0] for _ in range(2)]
    assert np.mean(lows) > least  # one block gets 0.5 at best


def test_a_difference_of_vectors_with_weights_is_found():
    rng = np.random.default_rng(8)
    vectors, labels, weights, _ = DESIGNS["by stratum"](rng, 1000, _certain)
    good = measure(vectors, labels, weights)
    blocks = np.arange(1000) % 20  # checked, and useless
    result = subtract_measures(good, measure(blocks[:, None].astype(float), labels, weights))
    assert result.low > 0
    assert len(good.value) == 1000


def test_equal_rows_are_ordered_by_content_whatever_their_order_is():
    ranks = np.array([[2, 4], [6, 2], [2, 4], [2, 2]])
    order = _content_order(ranks)
    shuffled = ranks[[3, 2, 1, 0]]
    assert ranks[order].tolist() == shuffled[_content_order(shuffled)].tolist()
    assert sorted(order) == [0, 1, 2, 3]
