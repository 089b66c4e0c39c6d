"""How often intervals of unequal cells miss a known truth: `python tests/benchmarks/simulate_unequal_cells.py FILE [RUNS]`.

Rows have weights, or clusters of different sizes, that may tell the label; they are in groups, in windows, or
compared with a pool. The last column of the table, the width of intervals in version 0.2.0, is kept.
"""

import csv
import sys
from itertools import product
from pathlib import Path

import numpy as np

from faithkit.explanations.explanations import Explanations, Sample
from faithkit.explanations.relations import Relation, SameExplanation
from faithkit.measure.counting.count import count
from faithkit.measure.counting.design import Design
from faithkit.measure.counting.pool import Pool
from faithkit.measure.intervals import compute_interval
from faithkit.measure.jackknife.summary import JackknifeEstimate

SEED, RUNS = 61, 1_000
SIZES = (40, 200, 1_000)
OLD = "width in 0.2.0"
HEADER = [
    "law",
    "n",
    "measure",
    "interval above it",
    "interval below it",
    "estimate",
    "lower end",
    "upper end",
    "width",
    OLD,
]
P = np.array([0.9, 0.6])  # how often the label is 1, of every other explanation
SCOPE = 20  # rows of the sample in a window
EXPLAINED = 50  # rows, beside a pool


class Near(Relation):
    """An explanation is a place, and holds for instances within a radius."""

    instance_only = True

    def __init__(self, radius):
        self.radius = radius

    def key(self, explanations):
        return explanations.values

    def holds(self, sample, explanations):
        places = np.asarray(explanations.values, dtype=float)
        return np.abs(places[:, None] - sample.X[None, :, 0]) <= self.radius


def draw_alike(weigh):
    """Return rows whose weight has nothing to do with the label."""

    def draw(rng, kind):
        return (rng.random(len(kind)) < P[kind]).astype(int), weigh(rng, len(kind)), None

    return P, draw


def draw_telling(ratio):
    """Return rows of which those with the label 1 were drawn less often, and weigh so many times as much."""
    shares = P / ratio / (P / ratio + 1 - P)

    def draw(rng, kind):
        y = (rng.random(len(kind)) < shares[kind]).astype(int)
        return y, np.where(y == 1, float(ratio), 1.0), None

    return P, draw


def draw_rare(rng, kind):
    """Return rows of which one in a hundred weighs 10 times as much, and has the label 0."""
    is_heavy = rng.random(len(kind)) < 0.01
    y = (rng.random(len(kind)) < P[kind]) & ~is_heavy
    return y.astype(int), np.where(is_heavy, 10.0, 1.0), None


def draw_clusters(rng, kind):
    """Return clusters of 1 to 20 rows for one label, and of 21 to 60 for the other, each with one explanation."""
    y = (rng.random(len(kind)) < P[kind]).astype(int)
    return y, None, np.where(y == 1, rng.integers(1, 21, len(kind)), rng.integers(21, 61, len(kind)))


def one_heavy(rng, n):
    return np.where(np.arange(n) == 0, 200.0, 1.0)


HEAVY_SHARE = 0.01 * 10 / (0.01 * 10 + 0.99)
BY_ROWS = P * 10.5 / (P * 10.5 + (1 - P) * 40.5)  # of the rows of all clusters
WEIGHTS = {
    "lognormal weights (0.5)": draw_alike(lambda rng, n: np.exp(0.5 * rng.normal(size=n))),
    "lognormal weights (1.5)": draw_alike(lambda rng, n: np.exp(1.5 * rng.normal(size=n))),
    "a label weighs 2 times as much": draw_telling(2),
    "a label weighs 10 times as much": draw_telling(10),
    "one row in 100 weighs 10 times as much": (P * (1 - HEAVY_SHARE), draw_rare),
    "one row of weight 200": draw_alike(one_heavy),
    "clusters of 1 to 60 rows, whose size tells": (BY_ROWS, draw_clusters),
}


def measure_of(shares, weight_of_kind):
    """Return the mean of q² + (1 − q)² over the rows of the population."""
    return float(np.average(shares**2 + (1 - shares) ** 2, weights=weight_of_kind))


def in_groups(name, size):
    shares, draw = WEIGHTS[name]

    def draw_count(rng, n):
        n_groups = max(2, n // size // 2 * 2)  # as many of both kinds
        explanation = rng.integers(0, n_groups, n)
        y, weights, sizes = draw(rng, explanation % 2)
        return _count(
            SameExplanation(), Sample(None, Explanations(kind="value", values=explanation)), y, weights, sizes
        )

    return measure_of(shares, _mass(name)), draw_count


def in_windows(name):
    """Labels have nothing to do with the place."""
    shares, draw = WEIGHTS[name]

    def draw_count(rng, n):
        x = rng.random(n)
        y, weights, sizes = draw(rng, np.zeros(n, dtype=int))
        sample = Sample(x[:, None], Explanations(kind="value", values=x))
        return _count(Near(SCOPE / n / 2), sample, y, weights, sizes)

    return measure_of(shares[:1], [1.0]), draw_count


def with_pool(name):
    """Fifty rows are explained, and the others are a pool."""
    shares, draw = WEIGHTS[name]

    def draw_count(rng, n):
        explained = min(EXPLAINED, n // 2)
        x = rng.random(n)
        y, weights, _ = draw(rng, np.zeros(n, dtype=int))
        sample = Sample(x[:explained, None], Explanations(kind="value", values=x[:explained]))
        pool = Pool.of(x[explained:, None], y[explained:])
        design, rows = Design.of(weights, None, n), (Near(SCOPE / n / 2), sample, y[:explained], 2)
        return count(*rows, pool) if design is None else count(*rows, design=design, pool=pool)

    return measure_of(shares[:1], [1.0]), draw_count


def _mass(name):
    """Return the weight that rows of each kind have in the population, where a sample draws both kinds alike."""
    _, draw = WEIGHTS[name]
    rng, kind = np.random.default_rng(0), np.repeat([0, 1], 400_000)
    _, weights, sizes = draw(rng, kind)
    weights = np.ones(len(kind)) if weights is None or "200" in name else weights
    weights = weights if sizes is None else sizes
    return np.bincount(kind, weights=weights)


def _count(relation, sample, y, weights, sizes):
    n = len(y)
    if sizes is None:
        design = Design.of(weights, None, n)
        rows = relation, sample, y, 2
        return count(*rows) if design is None else count(*rows, design=design)
    cluster = np.repeat(np.arange(n), sizes)
    X = None if sample.X is None else sample.X[cluster]
    rows = Sample(X, sample.explanations.take(cluster))
    return count(relation, rows, y[cluster], 2, design=Design.of(None, cluster, len(cluster)))


LAWS = {
    **{f"groups of {size}, {name}": in_groups(name, size) for size, name in product((3, 6, 20), WEIGHTS)},
    **{f"windows, {name}": in_windows(name) for name in WEIGHTS},
    **{f"pool, {name}": with_pool(name) for name in WEIGHTS if "clusters" not in name},
}


def simulate(law, n, runs=RUNS):
    """Return the measure, how often the interval lies above and below it, and means of estimate and ends."""
    truth, draw = LAWS[law]
    place = list(LAWS).index(law)
    rows = []
    for run in range(runs):
        statistics = JackknifeEstimate.of(draw(np.random.default_rng([SEED, place, n, run]), n)).statistics
        rows.append((statistics.estimate, *compute_interval(statistics)))
    estimate, low, high = np.array(rows).T
    above, below = (low > truth + 1e-12).mean(), (high < truth - 1e-12).mean()
    low, high = low.clip(0, 1).mean(), high.clip(0, 1).mean()
    return truth, float(above), float(below), float(estimate.mean()), float(low), float(high)


def main(path, runs=RUNS):
    """Write the table."""
    path = Path(path)
    old = {}
    if path.exists():
        with path.open() as file:
            old = {(row["law"], row["n"]): row[OLD] for row in csv.DictReader(file)}
    with path.open("w", newline="") as file:
        table = csv.writer(file, lineterminator="\n")
        table.writerow(HEADER)
        for law, n in product(LAWS, SIZES):
            truth, above, below, estimate, low, high = simulate(law, n, int(runs))
            misses = f"{100 * above:.1f} %", f"{100 * below:.1f} %"
            ends = f"{estimate:.3f}", f"{low:.2f}", f"{high:.2f}", f"{high - low:.2f}"
            table.writerow([law, n, f"{truth:.3f}", *misses, *ends, old.get((law, str(n)), "–")])
            file.flush()


if __name__ == "__main__":
    main(*sys.argv[1:])
