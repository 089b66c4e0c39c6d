"""What the paper proves, by enumerating every sample of a small law; and where it must be corrected."""

import math
from fractions import Fraction
from functools import cache
from itertools import product

import brute
import laws
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from looping import one_test
from matrices import Matrix, count_of, counted, estimated, facts_of, grouped
from scipy import stats

from faithkit.explanations.explanations import Explanations, Sample
from faithkit.explanations.relations import SameExplanation
from faithkit.measure.counting.count import count
from faithkit.measure.estimators import LeaveOneOut, PlugIn, mean_score
from faithkit.measure.instances.local_estimate import measure_instance
from faithkit.measure.intervals import compute_interval, share_limits
from faithkit.measure.planning.plans import (
    RangePlan,
    bias_sample_size,
    corollary_sample_size,
    interval_sample_size,
    plan_samples,
)
from faithkit.run.instances.contradictions import rows_and_labels_in_scope


def estimate_of(tally):
    return mean_score(LeaveOneOut().scores(tally), tally.owners)


class Law:
    """A law on finitely many instances: their masses, explanations and labels, and who a rule holds for."""

    def __init__(self, mass, explanation, label, holds):
        self.mass, self.explanation, self.label, self.holds = mass, explanation, label, holds

    @classmethod
    def random(cls, seed, instances=4, explanations=3, labels=2, grouping=False):
        rng = np.random.default_rng(seed)
        explanation = rng.integers(0, explanations, instances)
        holds = rng.random((explanations, instances)) < 0.6  # seldom reflexive
        if grouping:
            holds = explanation[None, :] == np.arange(explanations)[:, None]
        return cls(rng.dirichlet(np.ones(instances)), explanation, rng.integers(0, labels, instances), holds)

    def summary(self):
        """p(π), q(π) and agreement(π), summed up from their definitions."""
        p, q, agreement = [], [], []
        for u, scope in enumerate(self.holds):
            own = [x for x in range(len(self.mass)) if self.explanation[x] == u]
            p.append(sum(self.mass[x] for x in own))
            q.append(sum(self.mass[x] for x in range(len(self.mass)) if scope[x]))
            agree = 0.0
            for x in own:
                same = [z for z in range(len(self.mass)) if scope[z] and self.label[z] == self.label[x]]
                agree += self.mass[x] * sum(self.mass[z] for z in same) / q[u] if q[u] else 0.0
            agreement.append(agree / p[u] if p[u] else 0.0)
        return p, q, agreement

    def samples(self, n):
        """Every sample of n instances, with its probability, M̂ and the verified share."""
        for xs in product(range(len(self.mass)), repeat=n):
            holds = [[self.holds[self.explanation[a]][b] for b in xs] for a in xs]
            yield math.prod(self.mass[x] for x in xs), *brute.estimate(holds, [self.label[x] for x in xs])


@one_test
@pytest.mark.parametrize("grouping", [True, False], ids=["grouping", "general"])
@pytest.mark.parametrize("seed", range(3))
@pytest.mark.parametrize("n", [1, 2, 4])
def test_the_expected_estimate_is_exactly_the_average_over_all_samples(seed, n, grouping):
    law = Law.random(seed, grouping=grouping)
    expected = sum(chance * M for chance, M, _ in law.samples(n))
    assert laws.expected_estimate(*law.summary(), n) == pytest.approx(expected, abs=1e-12)


def compositions(total, parts):
    if parts == 1:
        yield (total,)
        return
    for first in range(total + 1):
        for others in compositions(total - first, parts - 1):
            yield first, *others


def exact_moments(joint, n):
    """Mean and variance of M̂ for consistency, over every table of counts that n instances can give."""
    joint = np.asarray(joint)
    tables = np.array(list(compositions(n, joint.size)))
    chances = stats.multinomial.pmf(tables, n, joint.ravel())
    values = np.array([estimate_of(grouped(table.reshape(joint.shape))) for table in tables])
    mean = chances @ values
    return mean, chances @ (values - mean) ** 2


@st.composite
def joint_laws(draw):
    shape = draw(st.sampled_from([(1, 2), (2, 2), (4, 1), (1, 3), (3, 1)]))
    weights = draw(st.lists(st.integers(0, 20), min_size=math.prod(shape), max_size=math.prod(shape)))
    if not any(weights):
        weights[0] = 1
    return np.reshape(weights, shape) / sum(weights)


@given(joint_laws(), st.integers(2, 9))
def test_the_variance_of_consistency_is_at_most_nine_over_four_n(joint, n):
    mean, variance = exact_moments(joint, n)
    assert variance <= 9 / (4 * n) + 1e-12
    p = joint.sum(axis=1)
    agreement = [(row**2).sum() / row.sum() ** 2 if row.any() else 0.0 for row in joint]
    truth = laws.measure_value(p, agreement)
    assert mean == pytest.approx(laws.expected_estimate(p, p, agreement, n), abs=1e-12)
    assert (mean - truth) ** 2 + variance <= laws.mse_bound_consistency(p, n) + 1e-12


@one_test
@pytest.mark.parametrize("n", [50, 200])
def test_four_over_n_does_not_bound_the_variance_of_general_relations(n):
    # Every scope is {x} ∪ H, with μ(H) = 1/n and one label everywhere. Instances outside H never repeat,
    # and the estimate depends on the sample through the number of its instances in H alone.
    most = 12  # more instances in H than this have probability 1e-10, and M̂ = 1 as from two on
    estimates = []
    for inside in range(most + 1):
        scopes = np.eye(n, dtype=bool)
        scopes[:, :inside] = True
        M = estimate_of(counted(Matrix(scopes), np.arange(n), np.zeros(n)).tally)
        by_hand = {0: 0.0, 1: (n - 1) / n}.get(inside, 1.0)
        assert pytest.approx(by_hand, abs=1e-12) == M
        estimates.append(M)
    drawn = np.random.default_rng(n).binomial(n, 1 / n, size=200_000).clip(max=most)
    simulated = np.var(np.array(estimates)[drawn])
    unseen = (1 - 1 / n) ** n
    assert simulated == pytest.approx(0.23, abs=0.005)
    assert simulated == pytest.approx(unseen * (1 - unseen), abs=0.01)
    assert simulated > 2 * 4 / n
    # nor is Theorem 1 true: q(π) is 1/n for every π outside H, so that its right-hand side is known too
    truth, share_outside = 1.0, 1 - 1 / n
    bias_term = share_outside * math.exp(-(n - 1) / n) + math.exp(-(n - 1) / n) / n
    error = np.mean((np.array(estimates)[drawn] - truth) ** 2)
    assert error > 4 / n + bias_term**2


def test_the_measure_is_an_average_over_instances_and_not_over_pairs():
    p, agreement = [0.9, 0.1], [1.0, 0.5]
    assert laws.measure_value(p, agreement) == pytest.approx(0.95)
    over_pairs = sum(m * m * a for m, a in zip(p, agreement, strict=True)) / sum(m * m for m in p)
    assert round(over_pairs, 3) == 0.994  # as printed, conditioning pairs on sharing an explanation
    # what the estimator approaches is the first: the law's own table, a thousand times as large
    table = grouped([[9000, 0], [500, 500]])
    assert estimate_of(table) == pytest.approx(0.95, abs=1e-3)


def test_the_estimate_of_sufficiency_approaches_the_instance_weighted_measure_too():
    # rule 0 covers everything and explains a tenth of the instances; rule 1 covers its own nine tenths,
    # of which all have label 1; of those that rule 0 explains, half have label 0
    owned = np.array([1] * 900 + [0] * 100)
    labels = np.array([1] * 950 + [0] * 50)
    result = estimate_of(counted(Matrix([[1, 1], [0, 1]]), owned, labels).tally)
    assert result == pytest.approx(0.9 * 1.0 + 0.05 * 0.95 + 0.05 * 0.05, abs=1e-3)


# --- sample sizes --------------------------------------------------------------------------------------


def test_sample_sizes_as_printed():
    assert 2048 * 12 / 0.1 * math.log(3 / 0.1) == pytest.approx(835_878.27, abs=0.005)  # rounded up below
    assert corollary_sample_size(2048, 0.1) == 835_879
    assert bias_sample_size(2048, 0.1) == 7535
    plan = plan_samples(0.1, n_explanations=2048)
    assert plan.from_range == RangePlan(2048, 7535, plan.from_range.half_width, 835_879)


def test_k_over_e_n_is_no_bound_of_the_bias():
    """Of two equally likely explanations of one label, two rows check one half of what there is to check."""
    law = Law(np.array([0.5, 0.5]), np.array([0, 1]), np.array([0, 0]), np.eye(2, dtype=bool))
    bias = 1 - sum(chance * M for chance, M, _ in law.samples(2))
    assert bias == pytest.approx(0.5)
    K = n = 2
    assert K / (math.e * n) < 0.37 < bias == pytest.approx(K / n * (1 - 1 / n) ** (n - 1))
    assert bias < K / (math.e * (n - 1))


@one_test
@pytest.mark.parametrize("K", [1, 2, 3, 10, 2048, 100_000])
@pytest.mark.parametrize("epsilon", [0.5, 0.1, 0.01])
def test_one_more_than_k_over_e_epsilon_is_always_enough_and_hardly_too_much(K, epsilon):
    simple = math.ceil(1 + K / (math.e * epsilon))
    assert simple - 1 <= bias_sample_size(K, epsilon) <= simple


def test_a_small_bias_is_no_small_error():
    """Sixteen rows make the bias of two explanations at most 0.05; the value is seldom that near the truth."""
    n = bias_sample_size(2, 0.05)
    assert n == 16
    ones = np.arange(n + 1)
    values = [estimate_of(grouped([[times, n - times]])) for times in ones]
    for share in (0.8, 0.9):
        truth = share**2 + (1 - share) ** 2
        near = np.abs(np.array(values) - truth) <= 0.05
        assert stats.binom.pmf(ones, n, share)[near].sum() < 0.27


def test_pseudo_values_of_agreement_lie_between_minus_one_and_two_and_of_disagreement_between_zero_and_two():
    extremes = []
    for groups in product([(1, 0), (1, 1), (2, 0), (2, 1), (3, 0), (1, 5), (7, 7)], repeat=2):
        sums = count_of(grouped(groups)).pair_sums()
        agreement = sums.lost_compared - sums.lost_disagreement
        extremes.append(
            (agreement.min(), agreement.max(), sums.lost_disagreement.min(), sums.lost_disagreement.max())
        )
    least, most = np.min(extremes, axis=0), np.max(extremes, axis=0)
    assert (least[0], most[1]) == pytest.approx((-1, 2))
    assert (least[2], most[3]) == pytest.approx((0, 2))


@one_test
@pytest.mark.parametrize("K", [1, 2, 30, 2048])
@pytest.mark.parametrize("epsilon", [0.3, 0.1, 0.02])
def test_the_size_for_the_interval_is_the_smallest_that_keeps_its_bound(K, epsilon):
    n, z = interval_sample_size(K, epsilon), stats.norm.ppf(0.975)
    bound = [
        (K / (math.e * (m - 1)) + 2.5 * z / math.sqrt(m - 1) + (z * z + 1) / (2 * m)) / 2 for m in (n, n - 1)
    ]
    assert bound[0] <= epsilon < bound[1]


@one_test
@pytest.mark.parametrize("name", ["equal masses", "masses 1/n", "one large", "halves"])
@pytest.mark.parametrize(("K", "epsilon"), [(2, 0.1), (30, 0.1), (300, 0.15)])
def test_the_interval_is_then_as_narrow_as_planned(K, epsilon, name):
    n, rng = interval_sample_size(K, epsilon), np.random.default_rng(K)
    rare = {"equal masses": 1 / K, "masses 1/n": 1 / n, "one large": 1 / (K * n), "halves": 1 / (2 * K)}[name]
    mass = np.r_[1 - (K - 1) * rare, np.full(K - 1, rare)]
    widths = []
    for _ in range(8):
        rows = rng.multinomial(n, mass)
        ones = rng.binomial(rows, 0.75)
        low, high = compute_interval(facts_of(np.c_[ones, rows - ones][rows > 0]))
        widths.append(high - low)
    assert np.mean(widths) / 2 <= epsilon


@one_test
@pytest.mark.parametrize("K", [1, 2, 3, 7, 50, 1000])
@pytest.mark.parametrize("epsilon", [Fraction(1, 2), Fraction(1, 4), Fraction(1, 8), Fraction(1, 64)])
def test_the_planned_size_is_the_smallest_that_keeps_the_bound(K, epsilon):
    n = bias_sample_size(K, float(epsilon))
    bound = [Fraction(K, m) * (1 - Fraction(1, m)) ** (m - 1) for m in (n - 1, n) if m]
    assert bound[-1] <= epsilon
    assert n == 1 or bound[0] > epsilon


def worst_bias(K, n):
    """The largest bias of any law on K explanations with at most two different masses: Σ p (1 − p)^(n−1)."""
    worst = K * (1 / K) * (1 - 1 / K) ** (n - 1)
    for j in range(1, K):
        a = np.linspace(0, 1 / j, 2001)
        b = (1 - j * a) / (K - j)
        worst = max(worst, (j * a * (1 - a) ** (n - 1) + (K - j) * b * (1 - b) ** (n - 1)).max())
    return worst


@one_test
@pytest.mark.parametrize(
    ("K", "epsilon"),
    [
        (10, 0.1),
        (40, 0.05),
        (100, 0.2),
        (20, 0.3),
        (1, 0.5),
        (2, 0.4),
        (4, 0.3),
    ],
)
def test_the_planned_size_makes_the_bias_at_most_epsilon_for_every_law(K, epsilon):
    assert worst_bias(K, bias_sample_size(K, epsilon)) <= epsilon + 1e-9


def test_the_planned_size_is_close_to_what_the_worst_law_needs():
    n = bias_sample_size(100, 0.1)
    assert worst_bias(100, int(0.95 * n)) > 0.1


def test_the_corollarys_size_makes_the_error_at_most_epsilon():
    for K, epsilon in [(1, 0.5), (2, 0.5), (50, 0.1), (1000, 0.01)]:
        n = corollary_sample_size(K, epsilon)
        # Σ p e^(−(n−1) p) over K explanations is largest at p = 1/(n − 1), where it is K/(e (n − 1))
        assert 4 / n + (K / (math.e * (n - 1))) ** 2 <= epsilon


# --- claim 2: what no sample can tell apart ------------------------------------------------------------


def test_two_explainers_that_no_sample_can_tell_apart_get_one_honest_answer():
    # A population of pairs (2j, 2j + 1) with different labels: one explainer names the instance, the
    # other one the pair. A sample that contains no whole pair sees no difference.
    population, rng = 100_000, np.random.default_rng(0)
    law = np.zeros((population // 2, 2)) + 1 / population
    assert 1 - laws.gibbs_error(np.diag(np.full(4, 0.25))) == 1.0
    assert 1 - laws.gibbs_error(law) == pytest.approx(0.5)
    pairs = rng.permutation(population // 2)[:400]
    x = 2 * pairs + rng.integers(0, 2, 400)
    labels = x % 2
    assert len(set(labels.tolist())) == 2
    estimate, by_pair = (
        estimated(counted(SameExplanation(), owned, labels), LeaveOneOut(), 0.95) for owned in (x, x // 2)
    )
    assert estimate.to_dict() == by_pair.to_dict()
    assert estimate.value is None
    assert estimate.verified == 0.0
    assert estimate.bracket == (pytest.approx(0.5, abs=0.05), 1.0)  # what two labels get by chance, or more
    assert estimate.finding == "unknown"
    for truth in (1.0, 0.5):
        assert estimate.low <= truth <= estimate.high


# --- trees ---------------------------------------------------------------------------------------------


def test_the_plug_in_estimate_of_a_tree_is_one_minus_its_mean_gini_index():
    tally = grouped([[30, 10], [0, 40], [10, 10]])
    gini = [1 - 0.75**2 - 0.25**2, 0.0, 0.5]
    expected = 1 - (40 * gini[0] + 40 * gini[1] + 20 * gini[2]) / 100
    assert mean_score(PlugIn().scores(tally), tally.owners) == pytest.approx(expected)


@given(st.lists(st.tuples(st.integers(0, 4), st.integers(0, 2)), min_size=1, max_size=30))
def test_for_trees_consistency_and_sufficiency_are_one(rows):
    leaves, labels = zip(*rows, strict=True)
    consistency = counted(SameExplanation(), leaves, labels, 3)
    sufficiency = counted(Matrix(np.eye(5)), leaves, labels, 3)  # a leaf's scope is the leaf
    assert estimate_of(consistency.tally) == pytest.approx(estimate_of(sufficiency.tally), abs=1e-12)
    assert consistency.tally.counts.tolist() == sufficiency.tally.counts.tolist()


# --- local measures ------------------------------------------------------------------------------------


def measure_row(count, row):
    """Return the local measure of a row of the sample."""
    rows, labels = rows_and_labels_in_scope(count, count.sample.explanations.take([row]))
    return measure_instance(rows, (labels != count.labels[row]).astype(float), row)


@cache
def exact_interval(agree, trials):
    """Return Clopper and Pearson's interval, as scipy computes it."""
    if not trials:
        return 0.0, 1.0
    return tuple(stats.binomtest(agree, trials).proportion_ci(method="exact"))


@given(st.integers(0, 2**32 - 1), st.integers(1, 12))
@settings(max_examples=10)
def test_local_values_average_to_the_global_one_for_any_relation(seed, n):
    rng = np.random.default_rng(seed)
    matrix, owned, labels = rng.random((4, 4)) < 0.5, rng.integers(0, 4, n), rng.integers(0, 3, n)
    for relation, holds in [
        (Matrix(matrix), [[bool(matrix[a, b]) for b in owned] for a in owned]),
        (SameExplanation(), [[a == b for b in owned] for a in owned]),
    ]:
        count = counted(relation, owned, labels, 3)
        rows = [measure_row(count, i) for i in range(n)]
        N, A = brute.counts(holds, labels.tolist())
        assert [(row.holds_for, row.agree) for row in rows] == list(zip(N, A, strict=True))
        for i, row in enumerate(rows):
            D, agree = N[i] - holds[i][i], A[i] - holds[i][i]
            assert row.value == (pytest.approx(agree / D) if D else None)
            assert (row.low, row.high) == pytest.approx(exact_interval(int(agree), int(D)), abs=1e-9)
        mean = sum(row.value or 0.0 for row in rows) / n
        assert mean == pytest.approx(estimate_of(count.tally), abs=1e-12)


@one_test
@pytest.mark.parametrize(
    ("N", "A", "printed"),
    [(2364, 2364, 1.0), (53, 53, 1.0), (7438, 7049, 0.95), (1690, 1655, 0.98)],
)
def test_the_papers_example_record(N, A, printed):
    result = measure_instance(np.arange(N), (np.arange(N) >= A).astype(float), row=0)
    assert (result.holds_for, result.agree) == (N, A)
    assert result.value == (A - 1) / (N - 1)
    assert round(result.value, 2) == printed


def test_a_new_instance_is_not_one_of_those_counted():
    result = measure_instance(np.arange(4), np.array([0.0, 0.0, 0.0, 1.0]), row=None)
    assert (result.holds_for, result.agree, result.value) == (4, 3, 0.75)


def test_a_row_that_nobody_can_check_has_no_value_and_any_interval():
    alone = measure_row(counted(SameExplanation(), [0, 1], [0, 0]), 0)
    assert (alone.holds_for, alone.agree, alone.value) == (1, 1, None)
    assert (alone.low, alone.high) == (0.0, 1.0)
    gone = count(SameExplanation(), Sample(None, Explanations.of([None, "a"])), np.array([0, 0]), 1)
    assert (measure_row(gone, 0).holds_for, measure_row(gone, 0).value) == (0, None)


@given(st.integers(1, 400), st.data(), st.sampled_from([0.5, 0.9, 0.95, 0.999]))
def test_clopper_pearson_is_scipys_exact_interval(trials, data, confidence):
    successes = data.draw(st.integers(0, trials))
    expected = stats.binomtest(successes, trials).proportion_ci(confidence, method="exact")
    result = share_limits(successes / trials, trials, confidence)
    assert result == pytest.approx((expected.low, expected.high), abs=1e-9)


def test_clopper_pearson_covers_where_faithful_explainers_live():
    trials, hits = 30, np.arange(31)
    ends = np.array([share_limits(s / trials, trials, 0.95) for s in hits])
    for q in np.linspace(0.9, 1.0, 101):
        inside = (ends[:, 0] <= q + 1e-12) & (q <= ends[:, 1] + 1e-12)
        assert stats.binom.pmf(hits, trials, q)[inside].sum() >= 0.95
