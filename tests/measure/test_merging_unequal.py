"""Near explanations of rows with weights or clusters: against loops, exactly on small laws, and in simulation."""

from itertools import product

import attrs
import numpy as np
import pytest
from brute_merging import merged_near, near_share
from scipy import stats

from faithkit.measure.difference import Side, difference
from faithkit.measure.explanations import Explanations, Sample
from faithkit.measure.inference import interval
from faithkit.measure.relations import SameExplanation
from faithkit.measure.tally import count
from faithkit.measure.unequal import near_blocks
from faithkit.measure.unequal.agreeing_blocks import Parts
from faithkit.measure.unequal.counting import count_unequal
from faithkit.measure.unequal.design import Design
from faithkit.measure.unequal.near_blocks import NearBlocks

ACCIDENT, MISSES = 0.001, 0.025  # as in test_merged_bounds


def side(vectors, labels, weights=None, clusters=None, relation=SameExplanation):
    sample, labels = Sample(None, Explanations.vectors(vectors)), np.asarray(labels)
    design, k = Design.of(weights, clusters, len(labels)), int(labels.max()) + 1
    if design is None:
        return Side.of(count(relation(), sample, labels, k))
    return Side.of(count_unequal(relation(), sample, labels, k, design))


# --- against loops straight from the definition ---------------------------------------------------------


def drawn(rng, kind):
    """Draw rows of which some share a vector, with weights of which some may be 0, and clusters."""
    n = int(rng.integers(4, 26))
    vectors = rng.normal(size=(n, 2))[rng.integers(0, n, n) if rng.random() < 0.5 else np.arange(n)]
    labels = rng.integers(0, rng.integers(2, 4), n)
    weights = clusters = None
    if kind != "clusters":
        weights = rng.choice([0.0, 1.0, 1.0, 1.5], n) if rng.random() < 0.5 else 1 + rng.random(n)
        weights[:2] = 1.0, 1.25
    if kind != "weights":
        clusters = rng.integers(0, rng.integers(n // 2, 2 * n), n)
        clusters[:2] = 0, 1
    return vectors, labels, weights, clusters


@pytest.mark.parametrize("kind", ["weights", "clusters", "both"])
@pytest.mark.parametrize("seed", range(2))
def test_value_reach_error_and_pseudo_values_are_those_of_double_loops(seed, kind):
    rng, seen = np.random.default_rng([seed, len(kind)]), 0
    for _ in range(40):
        vectors, labels, weights, clusters = drawn(rng, kind)
        if Design.of(weights, clusters, len(labels)) is None:
            continue
        expected = merged_near(vectors.tolist(), labels.tolist(), weights, clusters)
        found = side(vectors, labels, weights, clusters)
        merged = found.facts.merged
        assert (merged.how in ("pairs", "near blocks")) == (expected is not None)
        if expected is None:
            continue
        seen += 1
        x, reach, se, psi = expected
        assert (merged.value, merged.reach) == pytest.approx((x, reach), abs=1e-9)
        assert (merged.se or 0.0) == pytest.approx(se or 0.0, abs=1e-8)
        assert found.value == pytest.approx(psi, abs=1e-8)
    assert seen > 5


def test_few_pairs_at_once_change_nothing(monkeypatch):
    rng = np.random.default_rng(0)
    case = rng.normal(size=(90, 2)), rng.integers(0, 3, 90), 0.2 + rng.random(90), rng.integers(0, 40, 90)
    whole = side(*case).facts.merged
    monkeypatch.setattr(near_blocks, "AT_ONCE", 1)
    assert side(*case).facts.merged == whole


@pytest.mark.parametrize("n", [5, 60, 61])
def test_weights_that_hardly_differ_give_what_equal_rows_get(n):
    rng = np.random.default_rng(n)
    shared = np.repeat(rng.normal(size=(n // 6, 2)), 3, axis=0)
    vectors, labels = np.concatenate([shared, rng.normal(size=(n, 2))])[:n], rng.integers(0, 2, n)
    labels[:2] = 0, 1
    weights = np.ones(n)
    weights[0] += 1e-12  # enough to be taken as weights
    plain, nearly = side(vectors, labels), side(vectors, labels, weights)
    assert plain.facts.merged.how == nearly.facts.merged.how == "pairs"
    for name in ("value", "reach", "se", "trials"):
        one, two = (getattr(some.facts.merged, name) for some in (plain, nearly))
        assert one == pytest.approx(two, abs=1e-9)
    assert nearly.value == pytest.approx(plain.value, abs=1e-9)


def test_customers_with_five_identical_entries_are_as_many_rows():
    rng = np.random.default_rng(2)
    vectors, customer = rng.normal(size=(200, 3)), np.repeat(np.arange(200), 5)
    labels = (vectors[:, 0] > 0).astype(int)
    plain, apart = side(vectors, labels), side(vectors[customer], labels[customer], None, customer)
    assert attrs.astuple(apart.facts.merged)[1:] == pytest.approx(attrs.astuple(plain.facts.merged)[1:])
    assert interval(apart.facts)[0] == pytest.approx(interval(plain.facts)[0])


@pytest.mark.parametrize("kind", ["weights", "clusters", "both"])
def test_the_order_of_rows_changes_no_bit(kind):
    rng = np.random.default_rng([3, len(kind)])
    for _ in range(20):
        n = int(rng.integers(30, 90))
        vectors, labels = rng.integers(-4, 5, (n, 2)) * 1.0, rng.integers(0, 3, n)
        weights = None if kind == "clusters" else 0.3 + rng.random(n)
        clusters = None if kind == "weights" else rng.integers(0, n, n)
        before = side(vectors, labels, weights, clusters).facts.merged
        order = rng.permutation(n)
        some = [None if one is None else one[order] for one in (weights, clusters)]
        assert side(vectors[order], labels[order], *some).facts.merged == before


# --- which blocks are made -----------------------------------------------------------------------------


def _blocks(vectors, labels, weights, clusters):
    n = len(vectors)
    alone = Parts(np.arange(n), np.asarray(clusters), np.asarray(labels), np.asarray(weights), n)
    return NearBlocks.of(alone, np.asarray(vectors, dtype=float), 1.0)


def test_labels_decide_no_block():
    rng = np.random.default_rng(4)
    vectors, weights, clusters = rng.normal(size=(99, 3)), rng.integers(1, 9, 99), rng.integers(0, 40, 99)
    one, two = (_blocks(vectors, rng.integers(0, 2, 99), weights, clusters) for _ in range(2))
    assert one.how == two.how == "near blocks"
    assert (one.block == two.block).all()
    assert (one.unit == two.unit).all()


@pytest.mark.parametrize(
    ("weights", "clusters", "sizes"),
    [
        ([3] * 8, range(8), [2, 2, 2, 2]),
        ([1, 3] * 4, range(8), [8]),  # a heavy row needs more than one light row
        ([1] * 8, [0, 0, 1, 1, 2, 2, 3, 3], [2, 2, 2, 2]),
    ],
)
def test_equal_explanations_are_matched_and_others_form_blocks_of_one_size(weights, clusters, sizes):
    found = _blocks(np.arange(8.0)[:, None], [0] * 8, weights, list(clusters))
    block = found.block[found.cell]
    assert np.bincount(block).tolist() == sizes
    assert all(len(set(np.array(clusters)[block == b])) == size for b, size in enumerate(sizes))


def test_rows_that_cannot_be_near_form_one_block():
    rng = np.random.default_rng(5)
    labels, weights = rng.integers(0, 2, 30), 1 + rng.random(30)
    words = Sample(None, Explanations.of([f"e{row}" for row in range(30)]))
    design = Design.of(weights, None, 30)
    assert Side.of(count_unequal(SameExplanation(), words, labels, 2, design)).facts.merged.how == "one block"


@pytest.mark.parametrize("alone", [0, 1])
def test_where_no_two_are_alone_nothing_is_merged(alone):
    vectors = np.concatenate([np.repeat(np.arange(5.0), 4), 9.0 + np.arange(alone)])[:, None]
    labels, weights = np.arange(len(vectors)) % 2, 1.0 + np.arange(len(vectors)) % 3
    assert side(vectors, labels, weights).facts.merged.how == "nothing"


class SameFirstColumn(SameExplanation):
    """Groups by less than the identity says."""

    name = "same-first-column"

    def key(self, explanations):
        return explanations.values[:, :1]


@pytest.mark.parametrize("design", ["weights", "clusters"])
def test_merging_sees_what_the_relation_compares_and_nothing_behind_it(design):
    rng = np.random.default_rng(6)
    labels = rng.integers(0, 2, 600)
    vectors = np.column_stack([rng.normal(size=600), 1000.0 * labels + rng.random(600)])
    given = {"weights": 1 + rng.random(600)} if design == "weights" else {"clusters": np.arange(600) // 2}
    assert side(vectors, labels, **given, relation=SameFirstColumn).facts.merged.value < 0.56
    assert side(vectors, labels, **given).facts.merged.value > 0.85


# --- never above the measure ---------------------------------------------------------------------------

LIGHT, HEAVY = 0.1, 1.0


@pytest.mark.parametrize("size", [2, 3, 4, 5])
@pytest.mark.parametrize("seed", range(5))
def test_in_the_mean_a_block_is_at_most_the_measure_even_if_weights_tell_the_label(seed, size):
    """Every draw of labels, with its probability; what a row weighs depends on its label."""
    rng = np.random.default_rng([seed, size])
    shares, weigh = rng.dirichlet(np.full(2, 0.7), size), rng.choice([LIGHT, 0.4, HEAVY], (size, 2))
    clusters = rng.integers(0, 3, size).tolist() if seed % 2 else list(range(size))
    clusters[:2] = 0, 1
    heaviest = [[row] for row in range(size)] + [[size]]  # one more row, elsewhere, is as heavy as can be
    mean = 0.0
    for ys in product((0, 1), repeat=size):
        p = np.prod([shares[row, y] for row, y in enumerate(ys)])
        w = [*(weigh[row, y] for row, y in enumerate(ys)), HEAVY]
        mean += p * near_share([[row] for row in range(size)], [*ys, 0], w, [*clusters, -1], heaviest)
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


def _some(rng, n):
    return rng.integers(1, 9, n)


DESIGNS = {
    "by stratum": _weighted(lambda rng, x, y: np.where(x[:, 1] > 0.5, 0.1, 1.0)),
    "one label heavy": _weighted(lambda rng, x, y: np.where(y == 1, 0.1, 1.0)),
    "the other one heavy": _weighted(lambda rng, x, y: np.where(y == 1, 1.0, 0.1)),
    "lognormal": _lognormal,
    "five identical": _clusters(_five, 1),
    "identical, of unequal sizes": _clusters(_some, 1),
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
            misses += interval(side(*case).facts)[0] > truth + 2e-3 * (truth < 1)
    assert stats.binom.sf(misses - 1, runs, MISSES) > ACCIDENT


@pytest.mark.parametrize(
    ("design", "least"),
    [("by stratum", 0.75), ("five identical", 0.8), ("five near ones", 0.65), ("lognormal", 0.55)],
)
def test_lower_ends_are_sharp_where_explanations_tell_the_label(design, least):
    rng = np.random.default_rng(7)
    lows = [interval(side(*DESIGNS[design](rng, 1000, _certain)).facts)[0] for _ in range(4)]
    assert np.mean(lows) > least  # one block gets 0.5 at best


def test_a_difference_of_vectors_with_weights_is_found():
    rng = np.random.default_rng(8)
    vectors, labels, weights, _ = DESIGNS["by stratum"](rng, 1000, _certain)
    good = side(vectors, labels, weights)
    blocks = np.arange(1000) % 20  # checked, and useless
    found = difference(good, side(blocks[:, None].astype(float), labels, weights))
    assert found.low > 0
    assert len(good.value) == 1000
