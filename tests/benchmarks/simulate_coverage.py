"""How often intervals miss a truth that is known: `python tests/benchmarks/simulate_coverage.py FILE`.

Each law draws rows, weights, clusters, blocks or a pool for which the measure is known by its definition. The table has how
often the lower end was above it and the upper end below it, and where both ends lie in the mean.
"""

import csv
import math
import sys
from pathlib import Path

import numpy as np

from faithkit.explanations.explanations import Explanations, Sample
from faithkit.explanations.relations import Relation, SameExplanation
from faithkit.inputs.predictions.labels import encode
from faithkit.inputs.predictions.outcome import Outcome
from faithkit.measure.counting.count import count
from faithkit.measure.counting.design import Design
from faithkit.measure.counting.pool import Pool
from faithkit.measure.intervals import compute_interval
from faithkit.measure.jackknife.summary import JackknifeEstimate

SEED = 35
RUNS = 1_000
ALLOWED = 0.025
HEADER = ["law", "measure", "interval above it", "interval below it", "lower end", "upper end"]


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


def agree(p):
    """Return how often two labels agree, one of which has probability p."""
    return p * p + (1 - p) ** 2


def pool(explained, more, p, radius):
    """Labels have nothing to do with the instance; the sample may show one of them, and the pool both."""

    def draw(rng):
        x, y = rng.random(explained + more), (rng.random(explained + more) < p).astype(int)
        sample = Sample(x[:explained, None], Explanations(kind="value", values=x[:explained]))
        return count(Near(radius), sample, y[:explained], 2, Pool.of(x[explained:, None], y[explained:]))

    return agree(p), draw


def grouped(explanation, y, k=2, weights=None, clusters=None, uninformative=False):
    """Count equal explanations."""
    sample = Sample(None, Explanations(kind="value", values=np.asarray(explanation)))
    design = Design.of(weights, clusters, len(y), uninformative)
    rows = SameExplanation(), sample, y, k
    return count(*rows) if design is None else count(*rows, design=design)


def rows(n, explanations, p):
    """Rows of one weight, whose labels have nothing to do with the explanations."""

    def draw(rng):
        return grouped(rng.integers(0, explanations, n), (rng.random(n) < p).astype(int))

    return agree(p), draw


def certain(n, explanations, p):
    """Explanations of which a share p tell the label, and the others nothing."""

    def draw(rng):
        e = rng.integers(0, explanations, n)
        sure = e < p * explanations
        return grouped(e, np.where(sure, e % 2, rng.integers(0, 2, n)))

    return p + (1 - p) / 2, draw


def clusters(number, size, explanations, p):
    """Customers seen several times, always with one explanation and one label."""

    def draw(rng):
        e, y = rng.integers(0, explanations, number), (rng.random(number) < p).astype(int)
        customer = np.repeat(np.arange(number), size)
        return grouped(e[customer], y[customer], clusters=customer)

    return agree(p), draw


def mixed_clusters(number, explanations, p):
    """Customers of one to ten rows, each with an explanation of its own, labels that go together."""

    def draw(rng):
        customer = np.repeat(np.arange(number), rng.integers(1, 11, number))
        base = rng.random(number) < p
        y = np.where(rng.random(len(customer)) < 0.5, base[customer], rng.random(len(customer)) < p).astype(
            int
        )
        return grouped(rng.integers(0, explanations, len(customer)), y, clusters=customer)

    return agree(p), draw


def blocks(number, size, explanations, shares):
    """Questions asked several times, which differ in how often the label is positive."""

    def draw(rng):
        block = np.repeat(np.arange(number), size)
        y = (rng.random(len(block)) < rng.choice(shares, number)[block]).astype(int)
        values = rng.integers(0, explanations, len(block))
        sample = Sample(None, Explanations(kind="value", values=values))
        return count(SameExplanation(), sample, y, 2, design=Design.of(None, None, len(y), block=block))

    return float(np.mean([agree(p) for p in shares])), draw


def lognormal(n, explanations, p, uninformative=False):
    """Weights that vary by orders of magnitude and have nothing to do with labels."""

    def draw(rng):
        y = (rng.random(n) < p).astype(int)
        weights = np.exp(rng.normal(size=n))
        e = rng.integers(0, explanations, n)
        return grouped(e, y, weights=weights, uninformative=uninformative)

    return agree(p), draw


def telling(n, explanations, p, ratio):
    """One label is drawn less often, and its rows weigh so many times as much."""

    def draw(rng):
        drawn = (p / ratio) / (p / ratio + 1 - p)
        y = (rng.random(n) < drawn).astype(int)
        return grouped(rng.integers(0, explanations, n), y, weights=np.where(y == 1, float(ratio), 1.0))

    return agree(p), draw


def vectors(n, columns):
    """Explanations that never repeat, and a label that the first column tells with probability 0.95."""

    def draw(rng):
        phi = rng.normal(size=(n, columns))
        y = np.where(rng.random(n) < 0.95, phi[:, 0] > 0, phi[:, 0] <= 0).astype(int)
        return count(SameExplanation(), Sample(None, Explanations.vectors(phi)), y, 2)

    return agree(0.95), draw


def numbers(n, explanations, noise, limits=None):
    """Numbers of which explanations account for half, with noise in a range that is declared or not."""

    def draw(rng):
        e = rng.integers(0, explanations, n)
        means = np.sqrt(12 / (explanations**2 - 1)) * (np.arange(explanations) - (explanations - 1) / 2)
        values = means[e] + NOISES[noise](rng, n)
        coded = encode(values, Outcome("numbers", range=limits))
        sample = Sample(None, Explanations(kind="value", values=e))
        return count(SameExplanation(), sample, coded.codes, coded.k, None, coded.agreement)

    return 0.5, draw


def _outliers(rng, n):
    noise = rng.normal(size=n) + 15.0 * rng.choice([-1, 1], n) * (rng.random(n) < 0.01)
    return noise / math.sqrt(1 + 0.01 * 15**2)


NOISES = {
    "normal": lambda rng, n: rng.normal(size=n),
    "uniform": lambda rng, n: rng.uniform(-math.sqrt(3), math.sqrt(3), n),
    "outliers": _outliers,
}

LAWS = {
    "20 rows, 3 explanations, labels 90 : 10": rows(20, 3, 0.9),
    "100 rows, 5 explanations, labels 95 : 5": rows(100, 5, 0.95),
    "300 rows, 10 explanations, labels 70 : 30": rows(300, 10, 0.7),
    "100 rows, 80 explanations, labels 90 : 10": rows(100, 80, 0.9),
    "200 rows, 40 explanations, 3 in 4 tell the label": certain(200, 40, 0.75),
    "50 rows and a pool of 1,000, labels 98 : 2": pool(50, 1_000, 0.02, 0.05),
    "100 rows and a pool of 2,000, labels 98 : 2": pool(100, 2_000, 0.02, 0.1),
    "50 rows and a pool of 1,000, labels 50 : 50": pool(50, 1_000, 0.5, 0.05),
    "40 clusters of 10 equal rows, labels 80 : 20": clusters(40, 10, 4, 0.8),
    "200 clusters of 5 equal rows, labels 50 : 50": clusters(200, 5, 10, 0.5),
    "60 clusters of 1 to 10 rows, labels 80 : 20": mixed_clusters(60, 5, 0.8),
    "300 rows, lognormal weights": lognormal(300, 10, 0.7),
    "300 rows, lognormal weights, declared uninformative": lognormal(300, 10, 0.7, uninformative=True),
    "300 rows, a label weighs 5 times as much, groups of 30": telling(300, 10, 0.96, 5),
    "300 rows, a label weighs 5 times as much, groups of 3": telling(300, 100, 0.96, 5),
    "100 vectors of 5 numbers": vectors(100, 5),
    "300 numbers, uniform noise, range declared": numbers(300, 10, "uniform", (-3.4, 3.4)),
    "300 numbers, 1 % of outliers, range declared": numbers(300, 10, "outliers", (-13.0, 13.0)),
    "300 numbers, normal noise (approximate)": numbers(300, 10, "normal"),
    "300 numbers, 1 % of outliers (approximate)": numbers(300, 10, "outliers"),
    "60 blocks of 5 rows, 2 explanations in each": blocks(60, 5, 2, (0.5, 0.9)),
    "40 blocks of 20 rows, 3 explanations in each": blocks(40, 20, 3, (0.1, 0.98)),
    "20 blocks of 10 rows, labels 98 : 2": blocks(20, 10, 1, (0.98,)),
}
APPROXIMATE = {law for law in LAWS if "approximate" in law}


def coverage(law, runs=RUNS):
    """Return the measure, how often the interval lies above and below it, and its ends in the mean."""
    truth, draw = LAWS[law]
    place = list(LAWS).index(law)
    ends = np.array(
        [
            compute_interval(JackknifeEstimate.of(draw(np.random.default_rng([SEED, place, run]))).statistics)
            for run in range(runs)
        ]
    )
    above, below = (ends[:, 0] > truth + 1e-12).mean(), (ends[:, 1] < truth - 1e-12).mean()
    return truth, float(above), float(below), *ends.clip(0.0, 1.0).mean(axis=0).tolist()


def main(path):
    """Write the table."""
    with Path(path).open("w", newline="") as file:
        table = csv.writer(file, lineterminator="\n")
        table.writerow(HEADER)
        for law in LAWS:
            truth, above, below, low, high = coverage(law)
            shares = f"{100 * above:.1f} %", f"{100 * below:.1f} %"
            table.writerow([law, f"{truth:.3f}", *shares, f"{low:.2f}", f"{high:.2f}"])


if __name__ == "__main__":
    main(sys.argv[1])
