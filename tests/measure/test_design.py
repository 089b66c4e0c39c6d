"""Weights and clusters: what no order, block or size of a group changes, and what they are worth."""

from functools import partial
from itertools import permutations

import brute_unequal
import numpy as np
import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st
from looping import one_test
from matrices import Matrix
from nearly import assert_nearly

from faithkit.errors import InputError
from faithkit.explanations.explanations import Explanations, Sample
from faithkit.explanations.relations import SameExplanation
from faithkit.measure.agreement.same_label import SAME_LABEL
from faithkit.measure.agreement.squares import Squares
from faithkit.measure.baselines.permutation import permutation_p_value
from faithkit.measure.counting import groups, matrix
from faithkit.measure.counting.count import count
from faithkit.measure.counting.design import Design
from faithkit.measure.estimators import LeaveOneOut, Majority, PlugIn, VerifiedOnly, mean_score_of_count
from faithkit.measure.intervals import compute_interval
from faithkit.measure.jackknife.summary import JackknifeEstimate
from tests.definition import Rows


@st.composite
def designs(draw, most=9):
    """Draw a matrix, the explanation of each row, labels, weights (some are 0) and clusters."""
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


def count_case(case, grouping, missing=()):
    matrix, owned, labels, k, weights, clusters = case
    gone = np.isin(np.arange(len(owned)), missing)
    sample = Sample(None, Explanations(kind="number", values=owned, missing=gone))
    design = Design.of(weights, clusters, len(owned))
    relation = SameExplanation() if grouping else Matrix(matrix)
    if design is None:
        return count(relation, sample, labels, k)
    return count(relation, sample, labels, k, design=design)


def prepare_loops(case, grouping, missing=()):
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


# rows 0 and 2 share a cluster and an explanation, and have different labels and weights
SHARED_CLUSTER = (
    np.ones((1, 1), dtype=bool),
    np.zeros(5, dtype=np.int64),
    np.array([0, 0, 1, 1, 0]),
    2,
    np.array([1.0, 1.0, 2.0, 1.0, 1.0]),
    np.array([0, 1, 0, 2, 3]),
)
# rows 0, 2 and 3 are a cluster whose explanation holds for no other row; their weights sum up to no float
ALONE = (
    np.eye(2, dtype=bool),
    np.array([0, 1, 0, 0, 1]),
    np.array([0, 1, 1, 1, 1]),
    2,
    np.array([0.1, 1 / 3, 0.7, 0.3, 0.9]),
    np.array([0, 1, 0, 0, 2]),
)
# rows in order, of which rows 2 and 3 are alike: one entry of a cell
ALIKE = (
    np.ones((2, 2), dtype=bool),
    np.array([0, 1, 1, 1, 1, 1]),
    np.array([0, 0, 0, 0, 1, 0]),
    2,
    np.ones(6),
    np.array([0, 1, 2, 2, 3, 4]),
)
BOTH = pytest.mark.parametrize("grouping", [True, False], ids=["grouping", "any relation"])


@BOTH
@given(case=designs())
@example(case=SHARED_CLUSTER)
@example(case=ALONE)
@example(case=ALIKE)
def test_leave_one_out_and_units_are_those_of_the_double_loop(grouping, case):
    missing = (1,)
    facts = JackknifeEstimate.of(count_case(case, grouping, missing)).statistics
    expected = prepare_loops(case, grouping, missing)
    assert (facts.value, facts.verified) == pytest.approx(brute_unequal.estimate(*expected), abs=1e-10)
    _, _, weights, clusters = expected
    owned = [sum(w for w, c in zip(weights, clusters, strict=True) if c == unit) for unit in set(clusters)]
    owned = [weight for weight in owned if weight > 0]
    assert facts.units.count == len(owned)
    assert facts.units.effective == pytest.approx(
        sum(owned) ** 2 / sum(weight**2 for weight in owned), rel=1e-9
    )
    assert facts.units.largest == pytest.approx(max(owned) / sum(owned), rel=1e-9)
    if grouping:
        assert facts.units.trials == pytest.approx(facts.units.effective / 2, rel=1e-9)


@settings(max_examples=10)
@given(case=designs(), seed=st.integers(0, 99))
def test_the_order_of_rows_changes_nothing(case, seed):
    order = np.random.default_rng(seed).permutation(len(case[1]))
    turned = (case[0], case[1][order], case[2][order], case[3], case[4][order], case[5][order])
    for grouping in (True, False):
        assert_nearly(
            *(JackknifeEstimate.of(count_case(rows, grouping)).statistics for rows in (case, turned))
        )


@BOTH
def test_blocks_at_once_change_nothing(grouping, monkeypatch):
    rng = np.random.default_rng(0)
    case = (
        rng.random((5, 5)) < 0.5,
        rng.integers(0, 5, 60),
        rng.integers(0, 3, 60),
        3,
        rng.random(60),
        rng.integers(0, 20, 60),
    )
    whole = JackknifeEstimate.of(count_case(case, grouping)).statistics
    monkeypatch.setattr(matrix, "PAIRS", 1)
    monkeypatch.setattr(groups, "find_spans", partial(groups.find_spans, size=1))
    few = JackknifeEstimate.of(count_case(case, grouping)).statistics
    for name in ("value", "estimate", "disagreement", "compared", "se", "se_disagreement"):
        assert getattr(few, name) == pytest.approx(getattr(whole, name), abs=1e-12)
    assert_nearly(few.units, whole.units)


# --- large groups, against sums over all pairs -------------------------------------------------------------


@one_test
@pytest.mark.parametrize(
    ("kind", "is_uninformative", "clustered", "heavy"),
    [
        ("labels", False, False, None),
        ("numbers", False, True, None),
        ("labels", False, True, 0.2),
        ("numbers", False, False, 0.45),
        ("labels", False, False, 0.999),
        ("numbers", True, True, None),
        ("labels", True, True, 0.45),
    ],
)
def test_sums_over_a_large_group_are_those_over_all_pairs(kind, is_uninformative, clustered, heavy):
    """Rows with lognormal weights and one explanation, of which one may have nearly all the weight."""
    n = 120
    rng = np.random.default_rng([n, is_uninformative, clustered])
    weights, labels = rng.lognormal(sigma=1.5, size=n), rng.integers(0, 3, n)
    if heavy is not None:
        weights[7] = 0
        weights[7] = weights.sum() * heavy / (1 - heavy)
    unit = rng.integers(0, n // 3, n) if clustered else np.arange(n)
    values = np.array([0.0, 1.0, 4.0])
    apart = (
        np.not_equal.outer(labels, labels).astype(float)
        if kind == "labels"
        else np.subtract.outer(values[labels], values[labels]) ** 2 / 2
    )
    agreement = SAME_LABEL if kind == "labels" else Squares.of_scores(values[:, None], np.bincount(labels))
    sample = Sample(None, Explanations.of(["same"] * n))
    design = Design.of(weights, unit, n, uninformative=is_uninformative)
    result = JackknifeEstimate.of(
        count(SameExplanation(), sample, labels, 3, design=design, agreement=agreement)
    )
    one = np.zeros(n, dtype=int)
    rows = Rows(
        explanation=one,
        holds=np.ones((n, n), dtype=bool),
        apart=apart,
        weights=weights,
        unit=unit,
        block=one,
        owns=one == 0,
        merged=one - 1,
        is_mixed=not is_uninformative,
    )
    everybody = one == 0
    sizes = rows.sizes(everybody, everybody)
    x, printed, lost, compared = rows.measure(everybody, everybody, sizes)
    facts = result.statistics
    measured = facts.low_estimate, facts.estimate, facts.disagreement, facts.compared
    assert measured == pytest.approx((x, printed, lost, compared), abs=1e-9)
    names = list(dict.fromkeys(unit.tolist()))  # in the order of their first rows
    C, by_unit = len(names), np.bincount(unit, weights=weights)
    for place in [names.index(unit[7]), names.index(by_unit.argmax()), 0]:
        without = rows.measure(unit != names[place], everybody, sizes)
        psi = C * x - (C - 1) * without[0], C * lost - (C - 1) * without[2]
        assert (result.value[place], result.disagreement[place]) == pytest.approx(psi, rel=1e-9, abs=1e-9 * C)


def rows_of(case, apart):
    """A case of any relation for the definition."""
    matrix, owned, _, _, weights, clusters = case
    one = np.zeros(len(owned), dtype=int)
    return Rows(
        explanation=owned,
        holds=matrix[np.ix_(owned, owned)],
        apart=apart.astype(float),
        weights=weights,
        unit=clusters,
        block=one,
        owns=one == 0,
        merged=one - 1,
    )


@one_test
@pytest.mark.parametrize("heavy", [1.0, 1e6])
def test_of_few_weights_one_may_be_a_million_times_the_others(heavy):
    """Without the heavy row, what is left is a small rest."""
    rng, n = np.random.default_rng(1), 12
    owned, labels, weights = rng.integers(0, 2, n), rng.integers(0, 3, n), rng.choice([1.0, 2.0, 3.0], n)
    weights[0] *= heavy
    case = np.array([[True, True], [False, True]]), owned, labels, 3, weights, np.arange(n)
    result = JackknifeEstimate.of(count_case(case, False))
    rows = rows_of(case, np.not_equal.outer(labels, labels))
    everybody = rows.owns
    sizes = rows.sizes(everybody, everybody)
    x, _, lost, _ = rows.measure(everybody, everybody, sizes)
    without = np.array([rows.measure(rows.unit != row, everybody, sizes) for row in range(n)])
    assert result.value == pytest.approx(n * x - (n - 1) * without[:, 0], abs=1e-9 * n)
    assert result.disagreement == pytest.approx(n * lost - (n - 1) * without[:, 2], abs=1e-9 * n)


@given(case=designs())
def test_the_influence_of_a_unit_is_the_disagreement_if_others_disagree_with_it_alone(case):
    clusters, counts = case[5], count_case(case, False)
    influence = counts.pair_sums(has_influence=True).influence / len(clusters)
    for unit, share in zip(dict.fromkeys(clusters.tolist()), influence, strict=True):
        rows = rows_of(case, np.logical_and.outer(clusters != unit, clusters == unit))
        everybody = rows.owns
        lost = rows.measure(everybody, everybody, rows.sizes(everybody, everybody))[2]
        assert share == pytest.approx(lost, abs=1e-9)


# --- chance, and what is no design -------------------------------------------------------------------------


def chance_of(labels, weights, clusters):
    sample = Sample(None, Explanations.of(["same"] * len(labels)))
    return count(
        SameExplanation(), sample, labels, labels.max() + 1, design=Design.of(weights, clusters, len(labels))
    ).chance()


@given(case=designs())
def test_chance_is_what_one_explanation_for_all_rows_gets(case):
    _, _, labels, _, weights, clusters = case
    if Design.of(weights, clusters, len(labels)) is None:
        return
    one = np.zeros(len(labels), dtype=int)
    rows = Rows(
        explanation=one,
        holds=np.ones((len(labels), len(labels)), dtype=bool),
        apart=np.not_equal.outer(labels, labels).astype(float),
        weights=weights,
        unit=clusters,
        block=one,
        owns=one == 0,
        merged=one - 1,
    )
    result = chance_of(labels, weights, clusters)
    if result is None:
        assert len(set(clusters[weights > 0])) == 1
    else:
        assert result == pytest.approx(1 - rows.constant(one == 0), abs=1e-9)


@one_test
@pytest.mark.parametrize(
    ("weights", "clusters"),
    [([2.0, 2.0, 2.0], None), (None, ["a", "b", "c"]), ([0.5] * 3, [3, 1, 2]), (None, None)],
)
def test_equal_weights_and_clusters_of_one_row_say_nothing(weights, clusters):
    assert Design.of(weights, clusters, 3) is None


def test_chance_of_one_label_is_1_and_of_labels_of_their_own_0_whatever_is_rounded():
    for seed in range(200):
        weights = np.random.default_rng(seed).random(7)
        one_label, own_labels = (
            chance_of(labels, weights, np.arange(7)) for labels in (np.zeros(7, int), np.arange(7))
        )
        assert 1 - 1e-9 < one_label <= 1
        assert 0 <= own_labels < 1e-9


@one_test
@pytest.mark.parametrize(
    ("weights", "clusters", "message"),
    [
        ([1, -1, 1], None, "the weight of row 1 is -1: give numbers from 0 to 1e.100."),
        ([1, 1e308, 1e308], None, "the weight of row 1 is 1e.308: give numbers from 0 to 1e.100."),
        ([1, float("inf"), 1], None, "the weight of row 1 is inf"),
        ([1, None, 1], None, "row 1 has no value among the weights"),
        ([0, 0, 0], None, "all weights are 0"),
        ([1, 2], None, "2 weights for 3 rows"),
        (["a", "b", "c"], None, "the weights are no numbers, but 'a' and others: give a number"),
        ("abc", None, "the weights are a str"),
        (None, ["a", None, "b"], "row 1 has no value among the clusters"),
        (None, ["a", "a", "a"], "all rows are of one cluster"),
        (None, ["a", "b"], "2 clusters for 3 rows"),
        (None, {"a", "b", "c"}, "the clusters are a set"),
    ],
)
def test_invalid_weights_or_clusters_are_refused(weights, clusters, message):
    with pytest.raises(InputError, match=message.replace("(", r"\(").split(".")[0]):
        Design.of(weights, clusters, 3)


def test_two_hundred_customers_with_five_entries_each_are_two_hundred_cases():
    """Labels by a coin: the rows of a customer agree with each other, and say nothing about m = 0.5."""
    rng = np.random.default_rng(1)
    labels, explanations = np.repeat(rng.integers(0, 2, 200), 5), np.repeat(rng.integers(0, 100, 200), 5)
    sample = Sample(None, Explanations(kind="number", values=explanations))
    plain = count(SameExplanation(), sample, labels, 2)
    apart = count(
        SameExplanation(), sample, labels, 2, design=Design.of(None, np.repeat(np.arange(200), 5), 1000)
    )
    facts = [JackknifeEstimate.of(rows).statistics for rows in (plain, apart)]
    limits = [compute_interval(statistics) for statistics in facts]
    assert limits[0][0] > 0.5
    assert limits[1][0] < 0.5 < limits[1][1]
    assert (facts[1].units.count, facts[1].units.effective) == (200, pytest.approx(200))


def test_weights_undo_an_unequal_draw():
    """Half the sample from a class that is one in twenty: by weight the measure is the population's."""
    rng = np.random.default_rng(2)
    n, q = 4000, {0: 0.97, 1: 0.1}  # the explanation says the rare class seldom
    rare = np.arange(n) < n // 2
    explanations = rng.random(n) < np.where(rare, 1 - q[1], 1 - q[0])
    sample = Sample(None, Explanations(kind="number", values=explanations.astype(np.int64)))
    weights = np.where(rare, 0.05, 0.95)
    p = np.array(
        [[0.95 * q[0], 0.95 * (1 - q[0])], [0.05 * q[1], 0.05 * (1 - q[1])]]
    )  # by label and explanation
    m = (p**2 / p.sum(axis=0)).sum()
    result = count(SameExplanation(), sample, rare.astype(np.int64), 2, design=Design.of(weights, None, n))
    low, high = compute_interval(JackknifeEstimate.of(result).statistics)
    assert low < m < high
    plain = count(SameExplanation(), sample, rare.astype(np.int64), 2)
    low, high = compute_interval(JackknifeEstimate.of(plain).statistics)
    assert not low < m < high


def estimate_by_loops(estimator, case, grouping):
    """An estimator's mean by weight, from what each row sees: the share, the majority, the plug-in."""
    holds, labels, weights, clusters = prepare_loops(case, grouping, missing=(1,))
    n, total, whole = len(labels), 0.0, 0.0
    for i in range(n):
        apart = [j for j in range(n) if holds[i][j] and clusters[j] != clusters[i]]
        every = [j for j in range(n) if holds[i][j]]
        by_label = {y: sum(weights[j] for j in every if labels[j] == y) for y in labels}
        D = sum(weights[j] for j in apart)
        agreeing = sum(weights[j] for j in apart if labels[j] == labels[i])
        top = [y for y, w in by_label.items() if w >= max(by_label.values()) - 1e-9 and w > 0]
        score = {
            LeaveOneOut: agreeing / D if D > 0 else 0.0,
            VerifiedOnly: agreeing / D if D > 0 else None,
            PlugIn: by_label[labels[i]] / sum(by_label.values()) if sum(by_label.values()) else 0.0,
            Majority: 1 / len(top) if labels[i] in top else 0.0,
        }[estimator]
        if score is not None:
            total, whole = total + weights[i] * score, whole + weights[i]
    return total / whole if whole else None


@BOTH
@given(case=designs())
@example(case=SHARED_CLUSTER)
def test_estimators_use_weights_and_leave_out_rows_of_the_same_cluster(grouping, case):
    count = count_case(case, grouping, missing=(1,))
    for estimator in (LeaveOneOut, VerifiedOnly, PlugIn, Majority):
        expected = estimate_by_loops(estimator, case, grouping)
        result = mean_score_of_count(estimator(), count)
        assert result == (None if expected is None else pytest.approx(expected, abs=1e-8))


def p_value_of(case, grouping, permutations, seed=0):
    counts = count_case(case, grouping)
    return permutation_p_value(counts, JackknifeEstimate.of(counts).statistics, permutations, seed)


@one_test
@BOTH
@pytest.mark.parametrize("clustered", [False, True])
def test_exchanging_everything_gives_the_exact_p_value_on_average(grouping, clustered):
    """Few enough exchanges to try all: the share of those that agree as well, by the double loop."""
    rng = np.random.default_rng(4)
    n = 6 if clustered else 5
    case = (
        np.array([[True, True], [False, True]]),
        np.array([0, 0, 1, 1, 0, 1])[:n],
        np.array([0, 0, 1, 1, 0, 1])[:n],
        2,
        rng.integers(1, 4, n).astype(float),
        np.array([0, 0, 1, 1, 2, 2]) if clustered else np.arange(n),
    )
    holds, labels, weights, clusters = prepare_loops(case, grouping)
    observed, _ = brute_unequal.estimate(holds, labels, weights, clusters)
    units = [[i for i in range(n) if clusters[i] == c] for c in dict.fromkeys(clusters)]
    hits, tried = 0, 0
    for order in permutations(units):
        source = {
            i: j for unit, other in zip(units, order, strict=True) for i, j in zip(unit, other, strict=True)
        }
        moved = [[values[source[i]] for i in range(n)] for values in (labels, weights)]
        mean, _ = brute_unequal.estimate(holds, *moved, clusters)
        hits, tried = hits + (mean >= observed - 1e-9), tried + 1
    result = p_value_of(case, grouping, 400, seed=1)
    assert result == pytest.approx(hits / tried, abs=0.05)


def test_clusters_of_different_sizes_leave_nothing_to_exchange():
    case = np.eye(2, dtype=bool), np.zeros(3, int), np.array([0, 0, 1]), 2, np.ones(3), np.array([0, 0, 1])
    assert p_value_of(case, True, 99) is None


def test_labels_tied_to_weights_do_not_make_unrelated_explanations_significant():
    rng = np.random.default_rng(5)
    low = 0
    for _ in range(15):
        y = rng.integers(0, 2, 80)
        case = np.eye(4, dtype=bool), rng.integers(0, 4, 80), y, 2, np.where(y, 10.0, 1.0), np.arange(80)
        low += p_value_of(case, True, 39) <= 0.05
    assert low <= 4  # 0.75 are expected; P(more than 4) is below 0.001


@pytest.mark.simulation
@pytest.mark.parametrize("design", ["weights", "clusters", "both"])
@pytest.mark.parametrize("n_explanations", [5, 60])
def test_intervals_of_weights_and_clusters_cover(design, n_explanations):
    """Clusters of one to eight rows that share a customer's habit, weights by class: 93 % or more."""
    rng = np.random.default_rng(6)
    q = np.random.default_rng(0).beta(2, 2, n_explanations)
    hits, times = 0, 400
    for _ in range(times):
        clusters, weights = np.arange(400), None
        if design != "weights":
            clusters = np.repeat(np.arange(400), rng.integers(1, 9, 400))[:400]
        first = np.unique(clusters, return_index=True)[1]
        owned = rng.integers(0, n_explanations, 400)[first][clusters]  # a customer has one explanation
        labels = (rng.random(400)[first][clusters] < q[owned]).astype(np.int64)  # and one prediction
        target = (q**2 + (1 - q) ** 2).mean()
        if design != "clusters":
            weights = 1.0 / np.where(owned % 2, 0.9, 0.3)  # explanations were drawn with these probabilities
            drawn = rng.random(400) < 1 / weights
            owned, labels, clusters, weights = owned[drawn], labels[drawn], clusters[drawn], weights[drawn]
        sample = Sample(None, Explanations(kind="number", values=owned))
        counts = count(SameExplanation(), sample, labels, 2, design=Design.of(weights, clusters, len(owned)))
        low, high = compute_interval(JackknifeEstimate.of(counts).statistics)
        hits += low <= target <= high
    assert hits / times >= 0.93


@BOTH
@settings(max_examples=10)
@given(case=designs(), seed=st.integers(0, 99))
def test_a_row_of_weight_three_is_a_cluster_of_three_rows(grouping, case, seed):
    matrix, owned, labels, k, _, _ = case
    times = np.random.default_rng(seed).integers(1, 4, len(owned))
    by_weight = count_case((matrix, owned, labels, k, times.astype(float), np.arange(len(owned))), grouping)
    place = np.repeat(np.arange(len(owned)), times)
    by_rows = count_case((matrix, owned[place], labels[place], k, np.ones(len(place)), place), grouping)
    weighted, repeated = (JackknifeEstimate.of(count).statistics for count in (by_weight, by_rows))
    for name in ("value", "verified", "estimate", "disagreement", "compared"):
        assert getattr(weighted, name) == pytest.approx(getattr(repeated, name), abs=1e-12), name
    for name in ("se", "se_disagreement"):
        assert (getattr(weighted, name) or 0.0) == pytest.approx(getattr(repeated, name) or 0.0, abs=1e-9), (
            name
        )
    for name in ("count", "effective", "largest", "trials"):
        assert getattr(weighted.units, name) == pytest.approx(getattr(repeated.units, name), rel=1e-9), name


@pytest.mark.simulation
def test_weights_give_what_as_many_independent_draws_would():
    """A class that is three times as likely is drawn so, or drawn alike and weighted: the means are the same."""
    rng = np.random.default_rng(8)
    means = {"weighted": [], "drawn": []}
    for _ in range(300):
        for way, values in means.items():
            y = (rng.random(300) < (0.75 if way == "drawn" else 0.5)).astype(np.int64)
            explanations = np.where(rng.random(300) < 0.8, y, rng.integers(0, 2, 300))
            sample = Sample(None, Explanations(kind="number", values=explanations))
            design = Design.of(np.where(y, 3, 1), None, 300) if way == "weighted" else None
            result = (
                count(SameExplanation(), sample, y, 2, design=design)
                if design
                else count(SameExplanation(), sample, y, 2)
            )
            values.append(JackknifeEstimate.of(result).statistics.value)
    error = np.hypot(*(np.std(values) / 300**0.5 for values in means.values()))
    assert abs(np.mean(means["weighted"]) - np.mean(means["drawn"])) < 4 * error
