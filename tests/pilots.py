"""Populations with a known truth, and pilots drawn from them: does a plan keep what it promises?"""

import attrs
import numpy as np
from matrices import Matrix, counted, facts_of, grouped

from faithkit.measure.intervals import MeasureStatistics, SamplingUnits, compute_interval
from faithkit.measure.jackknife.summary import JackknifeEstimate
from faithkit.measure.planning.forecast import CheckableCounts, Pilot
from faithkit.measure.planning.plans import plan_samples


def half_width(facts):
    low, high = compute_interval(facts)
    return (high - low) / 2


@attrs.frozen
class Words:
    """Explanations that are words of these masses, each with a share of its rows that get label 1."""

    mass: np.ndarray
    ones: np.ndarray

    def draw(self, rng, n):
        rows = rng.multinomial(n, self.mass)
        drawn = rows > 0
        ones = rng.binomial(rows[drawn], self.ones[drawn])
        table = np.c_[ones, rows[drawn] - ones]
        return Pilot(CheckableCounts.of(grouped(table).entries), facts_of(table))

    def unverified(self, n):
        """The expected share of n rows that nobody shares a word with."""
        return float(np.sum(self.mass * (1 - self.mass) ** (n - 1)))

    def width(self, rng, plan):
        return half_width(self.draw(rng, plan.n).statistics)


def _normed(mass):
    return np.asarray(mass, dtype=float) / np.sum(mass)


MASSES = {
    "200 equal": np.full(200, 1 / 200),
    "Zipf 1, 500": _normed(1 / np.arange(1, 501)),
    "Zipf 1.5, 5,000": _normed(np.arange(1, 5001) ** -1.5),
    "Zipf 2, 5,000": _normed(np.arange(1, 5001) ** -2.0),
    "geometric 0.9": _normed(0.9 ** np.arange(200)),
    "geometric 0.99": _normed(0.99 ** np.arange(2000)),
    "10 large, 300 rare": np.r_[np.full(10, 0.09), np.full(300, 0.1 / 300)],
}

LABELS = {
    "all agree": lambda K: np.ones(K),
    "95 % agree": lambda K: np.full(K, 0.95),
    "a coin": lambda K: np.full(K, 0.5),
    "mixed": lambda K: np.random.default_rng(K).beta(0.3, 0.3, K),
}


def words(masses, labels):
    return Words(MASSES[masses], LABELS[labels](len(MASSES[masses])))


@attrs.frozen
class Boxes:
    """Rows in a square, each explained by a box around it; labels by the side, or a tenth of them by noise."""

    side: float
    noisy: bool

    def reach(self, x):
        return self.side * (0.5 + x[:, :1]) / 2  # larger boxes on the right

    def points(self, rng, n):
        x = rng.random((n, 2))
        y = (x[:, 0] * 1e6).astype(int) % 10 < 1 if self.noisy else x.sum(axis=1) > 1
        return x, y.astype(np.int64)

    def holds(self, x, z):
        return (np.abs(x[:, None] - z[None]) <= self.reach(x)[:, None]).all(axis=2)

    def draw(self, rng, n):
        x, y = self.points(rng, n)
        count = counted(Matrix(self.holds(x, x)), np.arange(n), y, 2)
        return Pilot(CheckableCounts.of(count.owners), JackknifeEstimate.of(count).statistics)

    def unverified(self, n):
        x = np.random.default_rng(0).random((20_000, 2))
        ends = np.minimum(1, x + self.reach(x)) - np.maximum(0, x - self.reach(x))
        return float(np.mean((1 - ends.prod(axis=1)) ** (n - 1)))

    def width(self, rng, plan):
        """Half of the interval's width, with the pool that was planned, or with all that may be one."""
        pool = plan.from_pilot.pool
        x, y = self.points(rng, plan.n + pool)
        explained = plan.n if pool else plan.to_explain
        return half_width(with_pool(self.holds(x[:explained], x), y))


def with_pool(holds, labels):
    """The moments of the first rows, which are explained, checked against all: by deleting every row in turn."""
    n = len(holds)
    others = holds & ~np.eye(n, holds.shape[1], dtype=bool)
    agree = labels[None] == labels[:n, None]
    D, A = others.sum(axis=1), (others & agree).sum(axis=1)
    h = np.where(D > 0, A / np.maximum(D, 1), 0.0)
    left, agreeing = D[:, None] - others, A[:, None] - (others & agree)
    lost_value = np.where(others, h[:, None] - np.where(left > 0, agreeing / np.maximum(left, 1), 0.0), 0.0)
    lost_share = np.where(others, (D > 0)[:, None] & (left == 0), False)
    effect, gone = lost_value.sum(axis=0), lost_share.sum(axis=0)
    share = (others / np.maximum(D, 1)[:, None]).sum(axis=0)
    few = n / max((1 + share[:n]).max(), share[n:].max(initial=0.0))
    return MeasureStatistics.of_rows(
        n,
        h.mean(),
        _error(h, effect),
        (D > 0).mean(),
        se_disagreement=_error((D > 0) - h, gone - effect),
        units=SamplingUnits.equal(n, few),
    )


def _error(own, effect):
    explained, pool = own + effect[: len(own)], effect[len(own) :]
    variance = (
        explained.var(ddof=1) / len(own)
        + (np.sum((pool - pool.mean()) ** 2) if pool.size else 0) / len(own) ** 2
    )
    return float(np.sqrt(variance)) if variance > 1e-20 else None


@attrs.frozen
class PlanOutcomes:
    """Of so many pilots: how many gave a number, and how many of these numbers broke either promise."""

    runs: int
    planned: int
    unchecked: int
    wide: int


def try_plans(population, n, epsilon, runs, seed=0, most=20_000, **options):
    """Draw pilots, plan, and see what the planned samples give."""
    rng, planned, unchecked, wide = np.random.default_rng(seed), 0, 0, 0
    for _ in range(runs):
        plan = plan_samples(epsilon, pilot=population.draw(rng, n), **options)
        if plan.to_check is not None:
            unchecked += population.unverified(plan.to_check) > epsilon
        if plan.n is not None and plan.n <= most:  # larger samples take too long to draw
            planned += 1
            wide += bool(population.width(rng, plan) > epsilon)
    return PlanOutcomes(runs, planned, unchecked, wide)
