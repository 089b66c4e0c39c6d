"""Numbers with a pool: the divisor is what a constant explanation leaves, against plain loops."""

from itertools import permutations

import numpy as np
import pytest
from looping import one_test

from faithkit.explanations.explanations import Explanations, Sample
from faithkit.explanations.relations import Relation
from faithkit.inputs.predictions.labels import Labels, encode
from faithkit.inputs.predictions.outcome import Outcome
from faithkit.measure.baselines.permutation import permutation_p_value
from faithkit.measure.counting.scans import Pool
from faithkit.measure.counting.tally import count
from faithkit.measure.difference import JackknifeEstimate

RADIUS = 1.5
OUTCOMES = {
    "numbers": Outcome("numbers"),
    "within": Outcome("numbers", 0.5),
    "scores": Outcome("scores"),
}


class Near(Relation):
    """A number holds for the instances that lie within a radius of it."""

    instance_only = True

    def key(self, explanations):
        return explanations.values

    def holds(self, sample, explanations):
        return np.abs(explanations.values[:, :1] - sample.X[:, 0][None, :]) <= RADIUS


def _compare_predictions(kind, y):
    """Return how much every two predictions disagree."""
    if kind == "within":
        return [[float(abs(a - b) > 0.5 + 1e-9) for b in y] for a in y]
    return [[((a - b) ** 2).sum() / 2 for b in y] for a in y]


def _measure_by_loops(kind, x, centres, apart, explained, everybody):
    """M and V over the explained rows, of all rows that are there."""
    every = [apart[i][j] for i in explained for j in everybody if i != j]
    left = sum(every) / len(every)
    divisor = left if kind == "numbers" else 1.0
    value = verified = 0.0
    for i in explained:
        others = [j for j in everybody if j != i and abs(centres[i] - x[j]) <= RADIUS]
        if others:
            verified += 1 / len(explained)
            lost = sum(apart[i][j] for j in others) / len(others)
            value += (1 - lost / divisor) / len(explained)
    return value, verified, 1 - left


def _draw_case(kind, seed, n, more):
    """Return instances, the centres of explanations, how much predictions disagree, and the count."""
    rng = np.random.default_rng(seed)
    x = rng.integers(0, 8, n + more).astype(float)
    centres = x[:n] + rng.integers(-1, 3, n)
    y = x + rng.normal(size=n + more).round(1)
    if kind == "scores":
        y = rng.dirichlet([1, 1, 1], n + more)
    result = encode(y, OUTCOMES[kind])
    labels = Labels(result.codes[:n], result.classes, result.outcome)
    pool = Pool.of(x[n:, None], result.codes[n:])
    sample = Sample(x[:n, None], Explanations.vectors(centres[:, None]))
    agreement = labels.agreement_with(pool.codes)
    counted = count(Near(), sample, labels.codes, len(labels.classes), pool, agreement)
    points = y if y.ndim > 1 or kind == "within" else y[:, None]
    return x.tolist(), centres.tolist(), _compare_predictions(kind, points), counted


@one_test
@pytest.mark.parametrize("seed", range(2))
@pytest.mark.parametrize("kind", OUTCOMES)
def test_value_and_error_are_those_of_a_loop_that_leaves_out_each_row(kind, seed):
    n, more = 9, 14
    x, centres, apart, counted = _draw_case(kind, seed, n, more)
    everybody, facts = list(range(n + more)), JackknifeEstimate.of(counted).statistics
    value, verified, chance = _measure_by_loops(kind, x, centres, apart, everybody[:n], everybody)
    assert (facts.value, facts.verified) == pytest.approx((value, verified), abs=1e-12)
    assert counted.chance() == pytest.approx(0 if kind == "numbers" else chance, abs=1e-12)

    def without(row):
        left = [other for other in everybody if other != row]
        return _measure_by_loops(kind, x, centres, apart, [other for other in left if other < n], left)[0]

    psi = [n * value - (n - 1) * without(row) for row in range(n)]
    changes = [n * (without(row) - value) for row in range(n, n + more)]
    variance = np.var(psi, ddof=1) / n + more * np.var(changes) / n**2
    assert facts.se == pytest.approx(np.sqrt(variance), abs=1e-10)


@one_test
@pytest.mark.parametrize(("kind", "seed"), list(zip(OUTCOMES, range(3), strict=True)))
def test_predictions_are_permuted_among_explained_rows_and_the_pool_keeps_its_own(kind, seed):
    """By all 120 orders of five explained rows."""
    n, more = 5, 7
    x, centres, apart, counted = _draw_case(kind, seed, n, more)
    everybody, values = range(n + more), []
    for order in permutations(range(n)):
        source = [*order, *everybody[n:]]
        permuted = [[apart[i][j] for j in source] for i in source]
        values.append(_measure_by_loops(kind, x, centres, permuted, everybody[:n], everybody)[0])
    expected = np.mean(np.array(values) >= values[0] - 1e-12)
    assert permutation_p_value(counted, JackknifeEstimate.of(counted).statistics, 400) == pytest.approx(
        expected, abs=0.05
    )
