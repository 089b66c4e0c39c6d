"""Numbers, scores and tolerances of rows with weights or clusters, and ranges that people declare."""

from functools import partial

import brute
import brute_unequal
import numpy as np
import pytest
from looping import one_test
from matrices import Matrix
from nearly import assert_nearly

import faithkit
from faithkit.errors import InputError
from faithkit.explanations.explanations import Explanations, Sample
from faithkit.explanations.relations import SameExplanation
from faithkit.inputs.predictions.labels import encode
from faithkit.inputs.predictions.outcome import Outcome
from faithkit.measure.agreement.same_label import SAME_LABEL
from faithkit.measure.agreement.squares import Squares
from faithkit.measure.agreement.within_tolerance import Within
from faithkit.measure.counting.count import count
from faithkit.measure.counting.design import Design
from faithkit.measure.counting.pool import Pool
from faithkit.measure.intervals import compute_interval
from faithkit.measure.jackknife.summary import JackknifeEstimate
from tests.definition import Rows

WEIGHTS = {
    "real": lambda rng, n: rng.random(n) + 0.01,
    "whole": lambda rng, n: rng.integers(1, 4, n).astype(float),
    "some zero": lambda rng, n: np.append(rng.integers(0, 3, n - 2), [1, 1]).astype(float),
    "equal": lambda rng, n: np.ones(n),
}
OUTCOMES = {
    "numbers": (Outcome("numbers"), brute_unequal.divided),
    "within": (
        Outcome("numbers", 1.0),
        partial(brute_unequal.estimate, agree=lambda a, b: float(abs(a - b) <= 1.0 + 1e-9)),
    ),
}
CASES = [
    (outcome, weights, clustered, grouping, pooled)
    for outcome in OUTCOMES
    for weights in WEIGHTS
    for clustered in (True, False)
    for grouping, pooled in ((True, 0), (False, 6))
    if (clustered or weights != "equal") and (outcome == "numbers" or weights in ("real", "some zero"))
]


def draw_case(seed, weights, clustered, n=16):
    rng = np.random.default_rng(seed)
    clusters = rng.integers(0, 9, n) if clustered else np.arange(n)
    values = np.round(rng.normal(3, 2, n), int(rng.integers(0, 3)))
    return rng.random((5, 5)) < 0.5, rng.integers(0, 5, n), values, WEIGHTS[weights](rng, n), clusters


def count_case(case, grouping, pooled, outcome):
    matrix, owned, values, weights, clusters = case
    n = len(values) - pooled
    sample = Sample(owned[:n], Explanations(kind="number", values=owned[:n]))
    relation = SameExplanation() if grouping else OnInstances(matrix)
    labels = encode(values, outcome)
    codes, pool_codes = labels.codes[:n], labels.codes[n:]
    labels = type(labels)(codes, labels.values, outcome)
    pool = Pool.of(owned[n:], pool_codes) if pooled else None
    agreement = labels.agreement_with(pool_codes) if pooled else labels.agreement
    design = Design.of(weights, clusters, len(values))
    return count(relation, sample, codes, labels.k, design=design, pool=pool, agreement=agreement)


class OnInstances(Matrix):
    """A matrix between explanations and instances, of which X has the numbers."""

    instance_only = True

    def holds(self, sample, explanations):
        return self.matrix[np.ix_(explanations.values.astype(int), np.asarray(sample.X).astype(int))]


def prepare_loops(case, grouping):
    matrix, owned, values, weights, clusters = case
    holds = np.equal.outer(owned, owned) if grouping else matrix[np.ix_(owned, owned)]
    return holds.tolist(), values.tolist(), weights.tolist(), clusters.tolist()


@one_test
@pytest.mark.parametrize(("kind", "weights", "clustered", "grouping", "pooled"), CASES)
def test_leave_one_out_is_that_of_the_double_loop(kind, weights, clustered, grouping, pooled):
    outcome, estimate = OUTCOMES[kind]
    case = draw_case(len(weights) + clustered, weights, clustered)
    facts = JackknifeEstimate.of(count_case(case, grouping, pooled, outcome)).statistics
    slow, explained = prepare_loops(case, grouping), len(case[1]) - pooled
    assert (facts.value, facts.verified) == pytest.approx(estimate(*slow, explained), abs=1e-10)


def draw_numbers(n=60, seed=0):
    rng = np.random.default_rng(seed)
    groups, clusters = rng.integers(0, 6, n), rng.integers(0, 30, n)
    return groups, groups + rng.normal(size=n), rng.random(n) + 0.1, clusters


def test_one_hot_scores_are_labels():
    groups, _, weights, clusters = draw_numbers()
    labels = groups % 3
    drawn = {"weights": weights, "clusters": clusters, "permutations": 19}
    by_score = faithkit.score(np.eye(3)[labels], groups, outcome="scores", **drawn).consistency
    by_label = faithkit.score(labels, groups, **drawn).consistency
    for name in ("value", "se", "by_chance", "p_value"):
        assert getattr(by_score, name) == pytest.approx(getattr(by_label, name), abs=1e-12), name


def test_a_constant_explanation_gets_nothing():
    _, values, weights, clusters = draw_numbers()
    for drawn in ({"weights": weights}, {"clusters": clusters}, {"weights": weights, "clusters": clusters}):
        result = faithkit.score(values, ["same"] * 60, **drawn).consistency
        assert result.estimate == pytest.approx(0, abs=1e-12)
        assert result.value == pytest.approx(0, abs=0.01)  # each row is compared with all others, as it is


@one_test
@pytest.mark.parametrize(("scale", "shift"), [(1e9, 0.0), (1.0, 1e9), (-1e-7, 5.0)])
def test_shifting_and_scaling_numbers_changes_nothing(scale, shift):
    groups, values, weights, clusters = draw_numbers()
    plain, scaled = (
        faithkit.score(numbers, groups, weights=weights, clusters=clusters).consistency
        for numbers in (values, scale * values + shift)
    )
    assert (scaled.value, scaled.low, scaled.high) == pytest.approx(
        (plain.value, plain.low, plain.high), abs=1e-6
    )


def test_the_order_of_rows_changes_nothing():
    rows, order = draw_numbers(), np.random.default_rng(9).permutation(60)
    first, second = (
        faithkit.score(values, groups, weights=weights, clusters=clusters, permutations=49).consistency
        for groups, values, weights, clusters in (rows, [column[order] for column in rows])
    )
    assert_nearly(first, second)


def test_explanations_that_tell_much_are_above_chance_and_random_ones_are_not():
    groups, values, weights, clusters = draw_numbers(n=200)
    good, bad = (
        faithkit.score(values, explanations, weights=weights, clusters=clusters, permutations=99).consistency
        for explanations in (groups, np.random.default_rng(1).integers(0, 6, 200))
    )
    assert good.p_value == 0.01
    assert good.finding == "above chance"
    assert bad.p_value > 0.01
    assert bad.low < 0.01


@pytest.mark.filterwarnings("ignore:.*of the rows repeat another one:faithkit.errors.FaithkitWarning")
def test_rows_of_one_cluster_are_no_others():
    groups, values, _, _ = draw_numbers(n=200)
    twice = np.repeat(values, 2), np.repeat(groups, 2)
    plain = faithkit.score(values, groups).consistency
    apart = faithkit.score(*twice, clusters=np.repeat(np.arange(200), 2)).consistency
    assert apart.value == pytest.approx(plain.value, abs=1e-9)
    assert apart.se == pytest.approx(plain.se, rel=1e-6)
    alike = faithkit.score(*twice).consistency
    assert alike.value > plain.value


def test_one_row_is_measured_against_other_clusters_by_weight():
    """Row 0 meets rows 2 and 3: numbers 4 and 2 of weights 1 and 3, of which its own is 1."""
    values, weights, clusters = [1.0, 9.0, 4.0, 2.0, 3.0], [1, 1, 1, 3, 1], ["a", "a", "b", "c", "d"]
    result = faithkit.score(values, ["x"] * 4 + ["y"], weights=weights, clusters=clusters, outcome="numbers")
    variance = brute_unequal.constant(lambda i, j: (values[i] - values[j]) ** 2 / 2, weights, clusters)
    expected = 1 - (1 * 4.5 + 3 * 0.5) / 4 / variance
    local = result.local(0).consistency
    assert local.value == pytest.approx(expected, abs=1e-12)
    assert (local.numbers.minimum, local.numbers.maximum) == (2.0, 4.0)


def test_pairs_are_of_two_clusters():
    values, clusters = [1.0, 100.0, 3.0, 4.0], ["a", "a", "b", "c"]
    worst = faithkit.score(values, ["x"] * 4, clusters=clusters, outcome="numbers").contradictions(1)[0]
    assert {clusters[row] for row in worst.rows} in ({"a", "b"}, {"a", "c"})
    assert 1 in worst.rows


def test_numbers_that_do_not_vary_where_rows_count_are_refused():
    with pytest.raises(InputError, match="there is nothing to explain"):
        faithkit.score([1.5, 1.5, 2.5], ["a", "a", "b"], weights=[1, 1, 0])


def test_a_part_of_the_rows_has_its_own_variance():
    groups, values, weights, clusters = draw_numbers(n=120)
    side = np.arange(120) % 2
    result = faithkit.score(values, groups, weights=weights, clusters=clusters)
    subgroups = result.by(side)
    rows = side == 1
    alone = faithkit.score(values[rows], groups[rows], weights=weights[rows], clusters=clusters[rows])
    assert subgroups[1].consistency.value == pytest.approx(alone.consistency.value, abs=1e-12)


# --- what an unchecked row may disagree by -----------------------------------------------------------------


SAME = SameExplanation()


def measure(values, words, weights=None, clusters=None, limits=None, relation=SAME):
    numbers, codes, times = np.unique(values, return_inverse=True, return_counts=True)
    agreement = Squares.of_numbers(numbers[:, None], times, limits=limits)
    sample = Sample(np.asarray(values)[:, None], Explanations.of(words))
    rows = relation, sample, codes, len(numbers)
    design = Design.of(weights, clusters, len(values))
    if design is None:
        return JackknifeEstimate.of(count(*rows, agreement=agreement)).statistics
    return JackknifeEstimate.of(count(*rows, design=design, agreement=agreement)).statistics


class Alone(Matrix):
    """Words hold for rows of the same word; nothing is merged, for they do not say that they group."""

    def __init__(self):
        pass

    def holds(self, sample, explanations):
        return np.array(explanations.values)[:, None] == np.array(sample.explanations.values)[None, :]


VALUES, WORDS = [1.0, 2.0, 4.0, 9.0], ["a", "a", "b", None]
VARIANCE = np.var(VALUES, ddof=1)
LOST = 2 * 0.5 / 4  # rows 0 and 1 disagree by ½·1²


@one_test
@pytest.mark.parametrize(
    ("limits", "relation", "unchecked"),
    [
        (None, SAME, 1.0),  # as much as a constant explanation leaves, whatever the sample's range
        (None, Alone(), 1.0),
        ((0.0, 10.0), SAME, 100 / 4 / VARIANCE),  # the mean of two rows: a quarter of the squared range
        ((0.0, 10.0), Alone(), 100 / 2 / VARIANCE),
        ((-5.0, 15.0), Alone(), 400 / 2 / VARIANCE),
    ],
)
def test_unchecked_rows_disagree_by_what_the_declared_range_allows(limits, relation, unchecked):
    """Row 2 is alone and row 3 has no explanation."""
    facts = measure(VALUES, WORDS, limits=limits, relation=relation)
    assert facts.compared == 0.5
    assert facts.estimate == pytest.approx(1 - LOST / VARIANCE - unchecked / 2)
    assert facts.is_bounded == (limits is not None)
    if limits:
        assert facts.span == pytest.approx((limits[1] - limits[0]) ** 2 / 2 / VARIANCE)


@one_test
@pytest.mark.parametrize("limits", [None, (0.0, 10.0)])
def test_the_error_of_unchecked_rows_is_that_of_leaving_out_each_row(limits):
    rng = np.random.default_rng(5)
    values, words = rng.integers(0, 10, 14).astype(float), [f"w{w}" for w in rng.integers(0, 6, 14)]

    def x(rows):
        """Without a row its partner may be alone; the variance is that of the rows that are left."""
        v, w = values[rows], [words[row] for row in rows]
        lost = compared = 0.0
        for i in range(len(v)):
            others = [j for j in range(len(v)) if j != i and w[j] == w[i]]
            if others:
                compared += 1 / len(v)
                lost += np.mean([(v[i] - v[j]) ** 2 / 2 for j in others]) / len(v)
        variance = np.var(v, ddof=1)
        free = 1.0 if limits is None else 100 / 2 / variance
        return 1 - lost / variance - free * (1 - compared)

    facts = measure(values, words, limits=limits, relation=Alone())
    everybody = np.arange(14)
    assert 0 < facts.compared < 1
    assert facts.estimate == pytest.approx(x(everybody))
    left = np.array([x(np.delete(everybody, row)) for row in everybody])
    assert facts.se == pytest.approx(np.sqrt(13 / 14 * ((left - left.mean()) ** 2).sum()))


def test_a_declared_range_lowers_the_lower_end_and_leaves_the_value():
    groups, values, _, _ = draw_numbers(n=200)
    words = [f"g{group}" for group in groups]
    free, bounded = (measure(values, words, limits=limits) for limits in (None, (-10.0, 20.0)))
    assert bounded.estimate == pytest.approx(free.estimate)  # all rows were checked
    assert compute_interval(bounded)[0] < compute_interval(free)[0]


@one_test
@pytest.mark.parametrize("drawn", [{}, {"weights": [1.0, 2.0, 1.0, 1.0]}], ids=["equal", "weights"])
@pytest.mark.parametrize(
    ("words", "k", "unchecked"),
    [
        (["a", "a", "b", "a"], 2, 1 / 2),
        (["a", "a", "b", "a"], 5, 4 / 5),
        (["a", "a", "b", "a"], 1, 1.0),  # fewer than the sample shows: nobody can mean that
        (["a", "a", "b", "a"], None, 1.0),
        (["a", "a", None, "a"], 2, 1.0),  # a row without an explanation may disagree wholly
    ],
)
def test_with_k_declared_labels_an_unchecked_row_disagrees_by_one_less_one_kth(words, k, unchecked, drawn):
    labels = np.array([0, 0, 1, 1])
    rows = SameExplanation(), Sample(None, Explanations.of(words)), labels, 2
    design = Design.of(drawn.get("weights"), None, 4)
    facts = JackknifeEstimate.of(
        count(*rows) if design is None else count(*rows, design=design), n_classes=k
    ).statistics
    w, alone = np.array(drawn.get("weights", np.ones(4))), np.array([False, False, True, False])
    rows = Rows(
        explanation=np.array([0, 0, -1, 0]),
        holds=~alone[:, None] & ~alone,
        apart=np.not_equal.outer(labels, labels).astype(float),
        weights=w,
        unit=np.arange(4),
        block=np.zeros(4, dtype=int),
        owns=np.ones(4, dtype=bool),
        merged=np.full(4, -1),
        unchecked=unchecked,
    )
    x, printed, _, compared = rows.measure(rows.owns, rows.owns, rows.sizes(rows.owns, rows.owns))
    assert (facts.low_estimate, facts.estimate) == pytest.approx((x, printed))
    assert facts.compared == pytest.approx(compared)


def test_with_declared_labels_pseudo_values_are_those_of_leaving_out_each_row():
    words, labels = list("aaaabbbc"), [0, 0, 1, 0, 1, 1, 0, 1]
    counted = count(SameExplanation(), Sample(None, Explanations.of(words)), np.array(labels), 2)
    without = brute.pseudo_values([[word == other for other in words] for word in words], labels)
    expected = [value + (1 - checked) / 4 for value, checked in without]
    assert JackknifeEstimate.of(counted, n_classes=4).value == pytest.approx(expected, abs=1e-12)


def test_declared_labels_say_nothing_of_scores_tolerances_and_other_relations():
    rows = Sample(None, Explanations.of(["a", "a", "b"])), np.array([0, 0, 1]), 2
    scores, near = Squares.of_scores(np.eye(2), np.array([2, 1])), Within(np.array([0.0, 1.0]), 0.5)
    for relation, agreement in (
        (SameExplanation(), scores),
        (SameExplanation(), near),
        (Alone(), SAME_LABEL),
    ):
        undeclared, declared = (
            JackknifeEstimate.of(count(relation, *rows, agreement=agreement), k).statistics.estimate
            for k in (None, 2)
        )
        assert undeclared == declared == pytest.approx(2 / 3)


# --- rows that are alone, put together ---------------------------------------------------------------------


@one_test
@pytest.mark.parametrize("kind", ["words", "vectors"])
@pytest.mark.parametrize("seed", range(2))
def test_merged_one_hot_scores_are_merged_labels(kind, seed):
    rng = np.random.default_rng(seed)
    n, labels = 80, rng.integers(0, 3, 80)
    explanations = rng.normal(size=(n, 2))
    if kind == "words":
        explanations = [f"rule {number}" for number in rng.integers(0, 60, n)]
    drawn = {"weights": rng.random(n) + 0.2, "clusters": rng.integers(0, 50, n)}
    scores = np.eye(3)[labels]
    by_score = faithkit.score(scores, explanations, outcome="scores", **drawn).consistency.statistics
    by_label = faithkit.score(labels, explanations, **drawn).consistency.statistics
    assert by_score.merging == by_label.merging
    for name in ("estimate", "compared", "se"):
        assert getattr(by_score, name) == pytest.approx(getattr(by_label, name), abs=1e-11), name


def compare_equal_weights(seed, n, clustered):
    """Return the ratio of standard errors of rows with weights that hardly differ, and without."""
    rng = np.random.default_rng(seed)
    vectors = rng.normal(size=(n, 2))
    values = vectors[:, 0] + 0.3 * rng.normal(size=n)
    plain = faithkit.score(values, vectors).consistency
    rows = np.repeat(np.arange(n), 2) if clustered else np.arange(n)
    drawn = {"clusters": rows} if clustered else {"weights": np.where(rows == 0, 1 + 1e-12, 1.0)}
    nearly = faithkit.score(values[rows], vectors[rows], **drawn).consistency
    assert plain.merging == nearly.merging == "pairs"
    assert nearly.estimate == pytest.approx(plain.estimate, abs=1e-9)
    return nearly.se / plain.se


@one_test
@pytest.mark.parametrize("clustered", [False, True])
def test_weights_that_hardly_differ_give_what_equal_numbers_get(clustered):
    assert compare_equal_weights(0, 200, clustered) == pytest.approx(1, abs=0.2)


@pytest.mark.slow
@one_test
@pytest.mark.parametrize("clustered", [False, True])
def test_weights_that_hardly_differ_have_the_error_of_equal_numbers_in_large_samples(clustered):
    """Errors are estimated without a pair here and without a row there, which is the same in the limit only.

    At 2,000 rows the ratio of both has a standard deviation of 0.034 (five samples), so the mean of five has 0.015.
    """
    ratios = [compare_equal_weights(seed, 2000, clustered) for seed in range(5)]
    assert np.mean(ratios) == pytest.approx(1, abs=0.05)


# --- permutation tests -------------------------------------------------------------------------------------

N = 28
RNG = np.random.default_rng(2)
X = RNG.normal(size=(N, 2))
DRAWN = {
    "weights": {"weights": RNG.random(N) + 0.1},
    "clusters": {"clusters": np.arange(N) // 2},
    "both": {"weights": RNG.random(N) + 0.1, "clusters": np.arange(N) // 4},
}


def is_near(x, explanation):
    return abs(x[0] - explanation[0]) < 0.5


@one_test
@pytest.mark.parametrize("drawn", DRAWN.values(), ids=DRAWN)
def test_predictions_that_say_what_labels_say_have_the_p_values_of_labels(drawn):
    labels = (X[:, 0] > 0).astype(int) + (X[:, 1] > 1)
    options = {"relation": faithkit.relation(is_near), "permutations": 19, **drawn}
    expected = faithkit.score(labels, X.round(1), X, **options).sufficiency
    for predictions, outcome in (
        (np.eye(3)[labels], {"outcome": "scores"}),
        (10.0 * labels, {"agree": "within:1"}),
    ):
        result = faithkit.score(predictions, X.round(1), X, **outcome, **options).sufficiency
        assert result.p_value == expected.p_value
        assert result.value == pytest.approx(expected.value, abs=1e-12)


def test_numbers_that_explanations_determine_are_significant_and_others_are_not():
    options = {"relation": faithkit.relation(is_near), "permutations": 99, **DRAWN["both"]}
    determined = faithkit.score(X[:, 0], X.round(1), X, **options).sufficiency
    unrelated = faithkit.score(RNG.normal(size=N), X.round(1), X, **options).sufficiency
    assert determined.p_value == 0.01
    assert unrelated.p_value > 0.05


# --- what the lower end promises ---------------------------------------------------------------------------


@pytest.mark.simulation
@pytest.mark.parametrize("kind", ["weights", "clusters"])
@pytest.mark.parametrize("share", [0.0, 0.5, 0.9])
def test_near_numbers_stay_below_the_measure_even_if_weights_tell_the_number(kind, share):
    """Large numbers are drawn less often, and weigh as much more."""
    rng = np.random.default_rng([7, len(kind), int(10 * share)])
    least, lows = [], []
    for _ in range(60):
        vectors = rng.random((300, 2))
        noise = rng.normal(size=300)
        values = np.sqrt(12 * share) * (vectors[:, 0] - 0.5) + np.sqrt(1 - share) * noise
        if kind == "weights":
            weights = np.exp(0.2 * values)
            drawn = rng.random(300) < weights.min() / weights
            result = faithkit.score(values[drawn], vectors[drawn], weights=weights[drawn]).consistency
        else:
            rows = np.repeat(np.arange(150), 2)
            result = faithkit.score(values[rows], vectors[rows], clusters=rows).consistency
        least.append(result.statistics.estimate)
        lows.append(result.low)
    assert np.mean(least) < share + 4 * np.std(least) / np.sqrt(len(least))
    assert np.mean(np.array(lows) > share + 1e-9) < 0.1
