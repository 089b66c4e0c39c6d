"""Errors, intervals, tests and comparisons, each against brute force or a closed form."""

import math
from itertools import combinations, permutations

import brute
import brute_merging
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from looping import one_test
from matrices import Matrix, counted, estimated, facts_of, facts_of_pairs
from scipy import stats

from faithkit.explanations.relations import SameExplanation
from faithkit.measure.agreement.base import chance
from faithkit.measure.agreement.same_label import SAME_LABEL
from faithkit.measure.baselines.permutation import permutation_p_value
from faithkit.measure.difference import adjust_by_holm, compute_difference, subtract_measures
from faithkit.measure.estimators import LeaveOneOut
from faithkit.measure.intervals import MeasureStatistics, SamplingUnits, compute_interval
from faithkit.measure.jackknife.summary import JackknifeEstimate, Moments


def count_groups(owned, labels, k=None):
    return counted(SameExplanation(), owned, labels, k)


def compare_pairs(matrix, owned):
    return [[bool(matrix[a][b]) for b in owned] for a in owned]


def statistics_of(count_):
    return JackknifeEstimate.of(count_).statistics


def p_value_of(count_, permutations, seed=0):
    return permutation_p_value(count_, statistics_of(count_), permutations, seed)


@st.composite
def samples(draw, least=2, most=8):
    """Draw a matrix (mostly not reflexive), the explanation of each row, and labels."""
    n, m, k = draw(st.integers(least, most)), draw(st.integers(1, 4)), draw(st.integers(1, 3))
    rng = np.random.default_rng(draw(st.integers(0, 2**32 - 1)))
    matrix = rng.random((m, m)) < draw(st.sampled_from([0.2, 0.5, 0.9]))
    return matrix, rng.integers(0, m, n), rng.integers(0, k, n), k


# --- intervals -----------------------------------------------------------------------------------------


@one_test
@pytest.mark.parametrize(("n", "low", "digits"), [(3, 0.085, 3), (20, 0.69, 2), (1000, 0.993, 3)])
def test_where_everything_agrees_the_interval_is_the_printed_one(n, low, digits):
    result = compute_interval(facts_of([[n]]))
    assert round(result[0], digits) == low
    assert result[0] == pytest.approx(0.025 ** (2 / n), rel=1e-12)  # (α/2)^(1/trials), trials = n/2
    assert result[1] == 1.0


@one_test
@pytest.mark.parametrize("table", [[[1, 0]], [[1, 0], [0, 1]], np.eye(50, dtype=int)])
def test_where_nothing_could_be_checked_the_interval_is_everything(table):
    assert compute_interval(facts_of_pairs(table)) == (0.0, 1.0)


@one_test
@pytest.mark.parametrize("n", [1, 2])
def test_one_or_two_instances_say_nothing_even_if_their_relation_claims_otherwise(n):
    assert compute_interval(MeasureStatistics.of_rows(n, 1.0, None)) == (0.0, 1.0)


def test_what_was_merged_has_a_lower_end_though_nothing_could_be_checked():
    """Fifty words of one label each, which all disagree but for their own: x = 0; and of one label: x = 1."""
    assert compute_interval(facts_of(np.eye(50, dtype=int))) == (0.0, 1.0)
    assert compute_interval(facts_of([[1]] * 50)) == (pytest.approx(0.025 ** (1 / 25)), 1.0)


def beta_limit(share, trials, half):
    return stats.beta.ppf(half, trials * share, trials * (1 - share) + 1)


def written_limit(x, variance, few, half):
    """L(x, V) straight from its written definition; V is 0 where the sample shows no variation."""
    if x <= 0:
        return 0.0
    if x >= 1:
        return half ** (1 / few)
    worth = x * (1 - x) / variance if variance else math.inf
    limit = beta_limit(x, max(few, worth) if variance else few, half)
    if worth < few * (1 - 1e-9):
        limit = max(0.0, min(limit, x + stats.norm.ppf(half) * math.sqrt(variance)))
    return limit


def written_interval(statistics, confidence=0.95):
    """The interval of labels straight from its written definition."""
    units = statistics.units
    C, effective, largest, few = units.count, units.effective, units.largest, units.trials
    if C < 3 or statistics.compared == 0:
        return 0.0, 1.0
    half, z = (1 - confidence) / 2, stats.norm.ppf(0.5 + confidence / 2)
    k = (stats.t.ppf(0.5 + confidence / 2, max(1, effective - 1)) / z) ** 2
    x, R = statistics.estimate, statistics.disagreement
    se, se_lost = statistics.se, statistics.se_disagreement
    V_low = k * se**2 + (x * largest) ** 2 if se else 0.0
    V_high = k * se_lost**2 + (R * (largest - 1 / C)) ** 2 if se_lost else 0.0
    high = 1 - written_limit(R, V_high, few, half) + 2 * (z**2 + 1) * R * (1 - R) / effective
    return written_limit(x, V_low, few, half), min(1.0, high)


@st.composite
def known_moments(draw):
    """Moments of labels: any estimate and disagreement with any errors, and units of any weights."""
    weights = np.array(draw(st.lists(st.floats(0.01, 100), min_size=1, max_size=40)))
    share = st.one_of(st.sampled_from([0.0, 1.0]), st.floats(0.01, 0.99))
    x, lost = draw(share), draw(share)
    error = st.one_of(st.none(), st.floats(0.001, 0.5))
    effective = float(weights.sum() ** 2 / (weights**2).sum())
    units = SamplingUnits(
        len(weights),
        effective,
        float(weights.max() / weights.sum()),
        effective / draw(st.floats(1.5, 4)),
        effective,
    )
    return MeasureStatistics.of_rows(
        len(weights), x, draw(error), disagreement=lost, se_disagreement=draw(error), units=units
    )


@given(known_moments(), st.sampled_from([0.8, 0.95, 0.99]))
@settings(max_examples=60)
def test_the_interval_is_that_of_its_written_definition(statistics, confidence):
    expected = written_interval(statistics, confidence)
    assert compute_interval(statistics, confidence) == pytest.approx(expected, abs=1e-8)


def written_moments(holds, labels, few):
    """The moments of equal rows, of which nothing is merged, with pseudo-values by really deleting."""
    n = len(labels)
    M, V = brute.estimate(holds, labels)
    psi = brute.pseudo_values(holds, labels)
    errors = []
    for values in ([m for m, _ in psi], [v - m for m, v in psi]):
        spread = max(values) - min(values)
        errors.append(np.std(values, ddof=1) / math.sqrt(n) if spread > 1e-9 else None)
    lost = V - M if V - M > 1e-12 else 0.0
    units = SamplingUnits.equal(n, few)
    return MeasureStatistics.of_rows(
        n, M, errors[0], V, disagreement=lost, se_disagreement=errors[1], units=units
    )


@given(samples(), st.sampled_from([0.8, 0.95, 0.99]))
@settings(max_examples=40)
def test_the_interval_of_any_relation_is_that_of_double_loops(case, confidence):
    matrix, owned, labels, k = case
    holds = compare_pairs(matrix, owned)
    few = len(labels) / (1 + brute.most_weight(holds, labels))
    expected = written_interval(written_moments(holds, labels.tolist(), few), confidence)
    result = compute_interval(statistics_of(counted(Matrix(matrix), owned, labels, k)), confidence)
    assert result == pytest.approx(expected, abs=1e-7)


@given(samples(most=12))
def test_a_grouping_asked_as_a_general_relation_gives_the_same_but_for_what_is_merged(case):
    _, owned, labels, k = case
    grouped, general = (
        JackknifeEstimate.of(counted(r, owned, labels, k)) for r in (SameExplanation(), Matrix(np.eye(4)))
    )
    a, b = grouped.statistics, general.statistics
    assert (a.n, a.value, a.verified) == (b.n, pytest.approx(b.value, abs=1e-12), b.verified)
    assert grouped.disagreement == pytest.approx(general.disagreement, abs=1e-12)
    assert (a.disagreement, a.se_disagreement or 0) == pytest.approx((b.disagreement, b.se_disagreement or 0))
    if a.merging == "nothing":
        assert compute_interval(a) == pytest.approx(compute_interval(b), abs=1e-9)
        assert grouped.value == pytest.approx(general.value, abs=1e-12)


@settings(max_examples=10)
@given(samples(most=12), st.sampled_from([0.5, 0.9, 0.95, 0.999]))
def test_the_interval_contains_the_bracket_and_grows_with_confidence(case, confidence):
    matrix, owned, labels, k = case
    for relation in (Matrix(matrix), SameExplanation()):
        estimate = estimated(counted(relation, owned, labels, k), LeaveOneOut(), confidence)
        assert 0 <= estimate.low <= estimate.bracket[0] + 1e-12
        assert estimate.bracket[1] - 1e-12 <= estimate.high <= 1
        wider = estimated(counted(relation, owned, labels, k), LeaveOneOut(), (1 + confidence) / 2)
        assert wider.low <= estimate.low + 1e-12
        assert wider.high >= estimate.high - 1e-12


def test_where_nothing_agrees_the_number_of_trials_is_half_the_sample():
    triples = facts_of_pairs([[1, 1, 1]] * 40)  # 120 were checked, and all disagree
    assert compute_interval(triples) == pytest.approx((0.0, 1 - 0.025 ** (1 / 60)))


def test_the_number_of_trials_never_falls_under_few_however_large_the_standard_error():
    k = (stats.t.ppf(0.975, 99) / stats.norm.ppf(0.975)) ** 2

    def variance(se):
        return k * se**2 + (0.5 / 100) ** 2  # one more row of a hundred that disagrees

    calm, middling, wild = (
        compute_interval(MeasureStatistics.of_rows(100, 0.5, se))[0] for se in (0.01, 0.08, 0.5)
    )
    assert calm == pytest.approx(beta_limit(0.5, 0.25 / variance(0.01), 0.025))
    assert wild == 0.0  # one trial is less than fifty: the plain limit 0.5 − 1.98·0.5 is lower still
    normal = 0.5 - stats.norm.ppf(0.975) * math.sqrt(variance(0.08))
    assert middling == pytest.approx(min(beta_limit(0.5, 50, 0.025), normal))


def test_a_heavy_unit_that_might_disagree_lowers_the_lower_end():
    """Of forty units one has half of the weight: without it nothing is known of what it would have said."""
    even = MeasureStatistics.of_rows(40, 0.9, 0.02)
    heavy = MeasureStatistics.of_rows(40, 0.9, 0.02, units=SamplingUnits(40, 40.0, 0.5, 20.0, 40.0))
    assert compute_interval(heavy)[0] < compute_interval(even)[0] - 0.2
    # the upper end knows of it in so far as it is more than its share: R·(μ − 1/C)
    assert compute_interval(heavy) == pytest.approx(written_interval(heavy))


def test_where_numbers_have_no_range_a_long_lower_tail_lengthens_the_lower_arm():
    """By Johnson's correction, the standard error is multiplied by 1 + γ (2 z² + 1) / (6 z √n)."""
    n, x, se, z = 400, 0.6, 0.03, stats.norm.ppf(0.975)
    low = {}
    for skew in (-2.0, 0.0, 2.0):
        open_ended = MeasureStatistics.of_rows(
            n, x, se, units=SamplingUnits.equal(n, trials=1.0), is_bounded=False, skew=skew
        )
        low[skew] = compute_interval(open_ended)[0]
    for skew in low:
        stretch = 1 + max(0.0, -skew) * (2 * z**2 + 1) / (6 * math.sqrt(n)) / z
        arm = stretch * stats.t.ppf(0.975, n - 1) * se / z
        assert low[skew] == pytest.approx(beta_limit(x, x * (1 - x) / arm**2, 0.025))


# --- standard errors -----------------------------------------------------------------------------------


def test_the_standard_error_is_the_delete_one_jackknifes():
    owned, labels = [0, 0, 0, 1, 1, 1, 1], [0, 0, 1, 1, 1, 0, 1]
    holds = [[a == b for b in owned] for a in owned]
    n = len(owned)
    left_out = np.array([brute.estimate(*brute.without(holds, labels, j))[0] for j in range(n)])
    expected = math.sqrt((n - 1) / n * ((left_out - left_out.mean()) ** 2).sum())
    assert statistics_of(count_groups(owned, labels)).se == pytest.approx(expected)


@one_test
@pytest.mark.parametrize(
    "table",
    [
        [[5]],  # everything agrees
        [[1, 0], [0, 1]],  # nothing can be checked
        [[1, 1], [1, 1]],  # every pair disagrees
        [[2], [2]],
        [[7, 7]],  # balanced: leaving out either label gives the same value
    ],
)
def test_where_the_sample_shows_no_variation_there_is_no_standard_error(table):
    assert facts_of_pairs(table).se is None


def test_a_standard_error_is_never_zero():
    assert Moments.of(np.array([0.3, 0.3 + 1e-15]), np.array([4.0, 3.0])).standard_error is None
    assert Moments.of(np.array([0.3])).standard_error is None
    assert Moments.of(np.array([0.0, 1.0])).standard_error == pytest.approx(0.5)


@pytest.mark.slow
@one_test
@pytest.mark.parametrize("relation", ["grouping", "scopes"])
def test_the_standard_error_equals_the_spread_over_random_halves_of_the_sample(relation):
    rng = np.random.default_rng(3)
    n, m = 1000, 10
    owned = rng.integers(0, m, n)
    labels = (rng.random(n) < np.linspace(0.55, 0.98, m)[owned]).astype(np.int64)
    near = np.abs(np.subtract.outer(np.arange(m), np.arange(m))) <= 1
    R = SameExplanation() if relation == "grouping" else Matrix(near)
    whole = statistics_of(counted(R, owned, labels, 2))
    halves = []
    for _ in range(250):
        rows = rng.permutation(n)[: n // 2]
        half = counted(R, owned[rows], labels[rows], 2)
        halves.append(
            LeaveOneOut()
            .scores(half.tally)[half.owners.own[half.owner_index], half.owned, half.labels]
            .mean()
        )
    # a standard deviation from 250 halves is known to 1/√500 = 4.5 %; four of those
    assert np.std(halves, ddof=1) == pytest.approx(whole.se, rel=0.18)


# --- bracket and bound ---------------------------------------------------------------------------------


@given(samples())
def test_the_bracket_runs_from_the_estimate_to_what_the_unchecked_could_add(case):
    matrix, owned, labels, k = case
    M, V = brute.estimate(compare_pairs(matrix, owned), labels.tolist())
    estimate = estimated(counted(Matrix(matrix), owned, labels, k), LeaveOneOut(), 0.95)
    assert estimate.value == (pytest.approx(M, abs=1e-12) if V > 0 else None)
    assert estimate.verified == pytest.approx(V, abs=1e-12)
    assert estimate.bracket == pytest.approx((M, M + 1 - V), abs=1e-12)


@one_test
@pytest.mark.parametrize(
    ("owned", "checkability"),
    [
        ([0] * 19 + [1], "verifiable"),  # 0.95
        ([0] * 18 + [1, 2], "partly verifiable"),
        ([0, 0, *range(1, 39)], "unverifiable"),  # 2 of 40
        ([0, 0, *range(1, 38)], "partly verifiable"),
    ],
)
def test_checkability_follows_the_verified_share(owned, checkability):
    estimate = estimated(count_groups(owned, [0] * len(owned)), LeaveOneOut(), 0.95)
    assert estimate.checkability == checkability


def test_the_error_bound_of_a_grouping_is_nine_over_four_n_plus_the_squared_unverified_share():
    estimate = estimated(count_groups([0, 0, 0, 1], [0, 0, 1, 0]), LeaveOneOut(), 0.95)
    assert estimate.mse_bound == pytest.approx(9 / 16 + (1 / 4) ** 2)


def test_the_error_bound_of_another_relation_uses_the_squared_standard_error():
    matrix = [[1, 1, 0], [0, 1, 1], [0, 0, 0]]
    owned, labels = [0, 0, 1, 1, 2], [0, 1, 1, 0, 1]
    estimate = estimated(counted(Matrix(matrix), owned, labels), LeaveOneOut(), 0.95)
    psi = [m for m, _ in brute.pseudo_values(compare_pairs(matrix, owned), labels)]
    assert estimate.verified == pytest.approx(4 / 5)
    assert estimate.mse_bound == pytest.approx(np.var(psi, ddof=1) / 5 + (1 / 5) ** 2)


def test_another_relation_without_a_standard_error_has_no_error_bound():
    estimate = estimated(counted(Matrix([[1]]), [0, 0, 0], [0, 0, 0]), LeaveOneOut(), 0.95)
    assert estimate.se is None
    assert estimate.mse_bound is None


# --- chance and the permutation test -------------------------------------------------------------------


@given(st.lists(st.integers(0, 3), min_size=2, max_size=30))
def test_a_constant_explainer_gets_exactly_chance(labels):
    n = len(labels)
    agreeing = sum(a == b for a, b in combinations(labels, 2))
    result = statistics_of(count_groups([0] * n, labels, 4))
    assert chance(np.bincount(labels), SAME_LABEL) == pytest.approx(agreeing / math.comb(n, 2), abs=1e-15)
    assert result.value == pytest.approx(chance(np.bincount(labels), SAME_LABEL), abs=1e-12)


def test_chance_is_unknown_without_a_pair():
    assert chance(np.array([1]), SAME_LABEL) is None
    assert chance(np.array([0, 0]), SAME_LABEL) is None


@given(samples(most=6))
def test_over_all_permutations_the_mean_is_verified_times_chance(case):
    matrix, owned, labels, k = case
    expected_chance = chance(np.bincount(labels), SAME_LABEL)
    arrangements = set(permutations(labels.tolist()))  # each stands for as many permutations
    for relation, holds in [
        (Matrix(matrix), compare_pairs(matrix, owned)),
        (SameExplanation(), [[a == b for b in owned] for a in owned]),
    ]:
        means = [brute.estimate(holds, list(order))[0] for order in arrangements]
        verified = statistics_of(counted(relation, owned, labels, k)).verified
        assert np.mean(means) == pytest.approx(verified * expected_chance, abs=1e-12)


NOT_REFLEXIVE = [[0, 1, 1], [1, 0, 0], [0, 1, 1]]


@one_test
@pytest.mark.parametrize("matrix", [np.eye(3), NOT_REFLEXIVE], ids=["grouping", "not reflexive"])
def test_the_p_value_approaches_the_one_of_all_permutations(matrix):
    owned, labels = [0, 0, 1, 1, 2, 2, 2], [0, 0, 1, 1, 0, 1, 0]
    holds = compare_pairs(matrix, owned)
    observed = brute.estimate(holds, labels)[0]
    # every distinct arrangement of the labels is equally likely
    arrangements = set(permutations(labels))
    exact = np.mean([brute.estimate(holds, list(y))[0] >= observed - 1e-12 for y in arrangements])
    B = 1000
    result = p_value_of(counted(Matrix(matrix), owned, labels), B, seed=1)
    assert result == pytest.approx(exact, abs=4 * math.sqrt(exact * (1 - exact) / B) + 1 / B)


@settings(max_examples=10)
@given(samples(least=1), st.integers(1, 70), st.integers(0, 3))
def test_a_p_value_lies_above_zero_and_at_most_at_one(case, B, seed):
    matrix, owned, labels, k = case
    for relation in (Matrix(matrix), SameExplanation()):
        p = p_value_of(counted(relation, owned, labels, k), B, seed)
        assert 1 / (1 + B) <= p <= 1.0
        assert (p * (1 + B)) == pytest.approx(round(p * (1 + B)))


def test_a_perfect_explainer_is_significant_and_an_unrelated_one_is_not():
    labels = np.arange(60) % 3
    perfect = p_value_of(count_groups(labels, labels), 199)
    assert perfect == 1 / 200  # no permutation reaches it
    unrelated = p_value_of(count_groups(np.arange(60) // 3, labels), 199)  # each group has all labels
    assert unrelated == 1.0
    constant = p_value_of(count_groups(np.zeros(60), labels), 199)
    assert constant == 1.0  # every permutation gives the same value


@settings(max_examples=10)
@given(samples(), st.integers(1, 100))
def test_grouping_and_the_same_relation_asked_pair_by_pair_have_one_p_value(case, B):
    _, owned, labels, k = case
    pair = [counted(relation, owned, labels, k) for relation in (SameExplanation(), Matrix(np.eye(4)))]
    if statistics_of(pair[0]).merging == "nothing":  # else rows that are alone are compared, too
        assert p_value_of(pair[0], B, seed=5) == p_value_of(pair[1], B, seed=5)


@pytest.mark.slow
def test_the_p_value_is_valid_under_the_null():
    rng = np.random.default_rng(0)
    owned = rng.integers(0, 6, 40)
    p_values = [p_value_of(count_groups(owned, rng.integers(0, 2, 40), 2), 99, seed) for seed in range(400)]
    for level in (0.05, 0.2):
        # at most `level`, and not far below it; four Monte-Carlo standard errors of 400 tests
        slack = 4 * math.sqrt(level * (1 - level) / 400)
        assert level / 2 - slack <= np.mean(np.array(p_values) <= level) <= level + slack


def test_there_is_a_p_value_only_on_request():
    sample = count_groups([0, 0, 1, 1], [0, 0, 1, 1])
    assert estimated(sample, LeaveOneOut(), 0.95).p_value is None
    p_value = estimated(sample, LeaveOneOut(), 0.95, permutations=50, seed=2).p_value
    assert p_value == p_value_of(sample, 50, seed=2)


# --- comparing two explainers --------------------------------------------------------------------------


def draw_two_explainers(n=300, seed=0, good=0.9, poor=0.7):
    rng = np.random.default_rng(seed)
    labels = rng.integers(0, 2, n)
    sides = [np.where(rng.random(n) < right, labels, 1 - labels) for right in (good, poor)]
    return [count_groups(owned, labels, 2) for owned in sides]


def difference_of(first, second, paired=True, **options):
    sides = JackknifeEstimate.of(first), JackknifeEstimate.of(second)
    if paired:
        return subtract_measures(*sides, **options)
    return compute_difference(*(side.statistics for side in sides), **options)


@one_test
@pytest.mark.parametrize("paired", [True, False])
def test_a_difference_taken_the_other_way_round_is_its_negative(paired):
    a, b = draw_two_explainers()
    gain, loss = difference_of(a, b, paired=paired), difference_of(b, a, paired=paired)
    assert (gain.value, gain.low, gain.high) == (-loss.value, -loss.high, -loss.low)
    assert gain.p_value == loss.p_value
    assert gain.low < gain.value < gain.high


def test_the_difference_is_that_of_its_written_definition():
    rng = np.random.default_rng(4)
    labels = rng.integers(0, 2, 40)
    a = count_groups(rng.integers(0, 35, 40), labels, 2)  # partly verified, in two different ways
    b = count_groups(np.where(rng.random(40) < 0.8, labels, rng.integers(2, 20, 40)), labels, 2)
    result = difference_of(a, b, confidence=0.9)
    first, second = statistics_of(a), statistics_of(b)
    assert first.verified < second.verified < 1
    psi, x = [], []
    for side in (a, b):
        holds = [[u == v for v in side.owned] for u in side.owned]
        values = brute.pseudo_values(holds, side.labels.tolist())
        blocks = brute_merging.blocks_of(side.owned.tolist())
        share, merged = brute_merging.pseudo_values(blocks, side.labels.tolist())
        x.append(share)
        psi.append((merged, [v - m for m, v in values]))
    (low1, high1), (low2, high2) = compute_interval(first, 0.9), compute_interval(second, 0.9)
    B1, B2 = 1 - first.disagreement, 1 - second.disagreement

    def distance(p, q, rho):
        return math.sqrt(p**2 + q**2 + 2 * rho * p * q)

    rho = np.corrcoef(psi[0][0], psi[1][1])[0, 1]
    assert result.low == pytest.approx(x[0] - B2 - distance(x[0] - low1, high2 - B2, rho))
    rho = np.corrcoef(psi[1][0], psi[0][1])[0, 1]
    assert result.high == pytest.approx(B1 - x[1] + distance(x[1] - low2, high1 - B1, rho))
    unpaired = difference_of(a, b, confidence=0.9, paired=False)
    assert unpaired.low == pytest.approx(x[0] - B2 - distance(x[0] - low1, high2 - B2, 0))


@one_test
@pytest.mark.parametrize("seed", range(4))
def test_the_p_value_is_the_smallest_level_whose_interval_excludes_zero(seed):
    a, b = draw_two_explainers(n=200, seed=seed, good=0.88, poor=0.8)
    p = difference_of(a, b).p_value
    assert 1e-9 < p < 1

    def excludes(alpha):
        result = difference_of(a, b, confidence=1 - alpha)
        return result.low > 0 or result.high < 0

    assert excludes(p * 1.001)
    assert not excludes(p * 0.999)


def test_an_explainer_does_not_differ_from_itself():
    a, _ = draw_two_explainers()
    result = difference_of(a, a)
    assert result.value == 0.0
    assert result.low < 0 < result.high
    assert result.p_value == 1.0


def test_what_neither_could_check_can_make_either_the_better_one():
    labels = np.arange(100) % 2
    result = difference_of(count_groups(np.arange(100), labels), count_groups(labels, labels))
    assert result.value == pytest.approx(2 * 50 * 49 / 99 / 100 - 1)  # one block of all rows, against 1
    assert result.high >= 0  # the unchecked one may be perfect
    assert result.p_value == 1.0
    both = difference_of(count_groups(np.arange(100), labels), count_groups(np.arange(100), labels))
    assert both.value == 0
    assert both.low < -0.5
    assert both.high > 0.5


def test_samples_of_two_sizes_are_compared_as_disjoint_ones():
    a, b = draw_two_explainers(n=100)[0], draw_two_explainers(n=50)[1]
    assert difference_of(a, b, paired=False).low < difference_of(a, b, paired=False).value


@one_test
@pytest.mark.parametrize(
    ("p_values", "adjusted"),
    [
        ([], []),
        ([0.2], [0.2]),
        # 0.01·4, 0.02·3, 0.03·2, 0.5·1, the third not below the second
        ([0.03, 0.5, 0.01, 0.02], [0.06, 0.5, 0.04, 0.06]),
        ([0.4, 0.9], [0.8, 0.9]),
        ([0.6, 0.9, 0.7], [1.0, 1.0, 1.0]),  # never above 1
        ([0.01, 0.01], [0.02, 0.02]),
        ([1.0, 1.0], [1.0, 1.0]),
        ([0.0, 1.0], [0.0, 1.0]),
    ],
)
def test_p_values_of_several_comparisons_are_adjusted_as_by_hand(p_values, adjusted):
    assert adjust_by_holm(p_values) == pytest.approx(adjusted)


@pytest.mark.simulation
def test_comparisons_cover_the_true_difference_and_seldom_find_one_that_is_not_there():
    runs, n = 200, 300
    rng = np.random.default_rng(11)
    covered = wrong = 0
    # two explainers that err independently on balanced labels: m = r² + (1 − r)² where r are right
    truth = (0.9**2 + 0.1**2) - (0.75**2 + 0.25**2)
    for _ in range(runs):
        labels = rng.integers(0, 2, n)
        sides = [np.where(rng.random(n) < right, labels, 1 - labels) for right in (0.9, 0.75, 0.75)]
        good, poor, poor_too = (count_groups(owned, labels, 2) for owned in sides)
        result = difference_of(good, poor)
        covered += result.low <= truth <= result.high
        null = difference_of(poor, poor_too)
        wrong += null.low > 0 or null.high < 0
    # fails only if the counts would be a one-in-a-thousand accident at the stated rates
    assert stats.binom.cdf(covered, runs, 0.95) > 0.001
    assert stats.binom.sf(wrong - 1, runs, 0.05) > 0.001
