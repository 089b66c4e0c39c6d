"""The theory against simulation: the paper's theorems and claims on made-up laws whose measures are known.

A law has finitely many explanations: how often each is provided, and how its instances' labels are
distributed. Of every statement the CSV has what it says (as `paper`) and what many simulated samples gave (as
`ours`).
"""

from collections.abc import Callable
from typing import Any

import attrs
import numpy as np

import faithkit
from faithkit_paper.context import Context
from faithkit_paper.findings import Cell, Findings, estimate_of, over_runs

NAME = "claims"
MEAN, ERROR = "mean estimate", "mean-squared error"


@attrs.frozen(eq=False)
class Law:
    """`joint[π, y]`: the probability that an instance has the explanation π and the label y."""

    joint: np.ndarray

    @classmethod
    def random(cls, rng: np.random.Generator, explanations: int, labels: int) -> "Law":
        """Make up a law in which some explanations are frequent, others rare."""
        mass = rng.dirichlet(np.full(explanations, 0.5))
        return cls(mass[:, None] * rng.dirichlet(np.full(labels, 0.5), size=explanations))

    @property
    def mass(self) -> np.ndarray:
        """p(π): how often each explanation is provided."""
        return self.joint.sum(axis=1)

    @property
    def agreement(self) -> np.ndarray:
        """The chance that two instances of an explanation have the same label."""
        return (self.joint**2).sum(axis=1) / self.mass**2

    @property
    def consistency(self) -> float:
        """The measure itself."""
        return float(self.mass @ self.agreement)

    def expected_estimate(self, n: int) -> float:
        """Return the expectation of the estimate: what is seen once, or never, adds nothing."""
        return float(self.mass @ (self.agreement * (1 - (1 - self.mass) ** (n - 1))))

    def error_bound(self, n: int) -> float:
        """Return what Theorem 1 says of the mean-squared error."""
        return float(4 / n + (self.mass @ np.exp(-(n - 1) * self.mass)) ** 2)

    def sample(self, rng: np.random.Generator, n: int) -> tuple[np.ndarray, np.ndarray]:
        """Draw the labels and the explanations of n instances."""
        drawn = rng.choice(self.joint.size, size=n, p=self.joint.ravel())
        explanations, labels = np.unravel_index(drawn, self.joint.shape)
        return labels, explanations


class InScope(faithkit.plugin.Relation):
    """An explanation, the instance itself, holds for that instance and for all of a rare region.

    Parameters
    ----------
    end : float
        The region has the instances below it.
    """

    def __init__(self, end: float) -> None:
        self.end = end

    def key(self, explanations: Any) -> Any:
        """Return the explained instance."""
        return explanations.values

    def holds(self, sample: Any, explanations: Any) -> np.ndarray:
        """Return for each explanation the instances that it holds for."""
        x = sample.X[:, 0]
        return (explanations.values == x) | (x < self.end)


def run(context: Context) -> Findings:
    """Simulate every statement."""
    return context.kept(NAME, "", lambda: Findings.joined([READING, *(part(context) for part in PARTS)]))


def estimates(law: Law, n: int, context: Context, *names: Any) -> list[float]:
    """Return the estimates of many samples of size n."""
    rng, times = context.rng(NAME, *names, n), context.pick(tiny=40, quick=300, full=1_500)
    found = (faithkit.score(*law.sample(rng, n)) for _ in range(times))
    return [estimate_of(result.consistency) for result in found]


def squared_errors(values: list[float], truth: float) -> list[float]:
    """Return how far estimates are from the truth, squared."""
    return [(value - truth) ** 2 for value in values]


def expectation(context: Context) -> Findings:
    """Theorem 6: the estimate's expectation, exactly."""
    law = Law.random(context.rng(NAME, "law"), explanations=30, labels=3)
    cells = [
        over_runs(
            "expectation of the estimate",
            "random law",
            "",
            MEAN,
            estimates(law, n, context, "mean"),
            n,
            law.expected_estimate(n),
        )
        for n in (5, 20, 100, 500)
    ]
    said = f"Expectation: the measure itself is {law.consistency:.3f}; the estimate reaches it from below."
    return Findings(tuple(cells), (said,))


def theorem(context: Context) -> Findings:
    """Theorem 1 for consistency: the mean-squared error stays below the bound."""
    cells = []
    for number in range(3):
        law = Law.random(context.rng(NAME, "law", number), explanations=10 * 4**number, labels=2)
        for n in (20, 100, 500):
            errors = squared_errors(estimates(law, n, context, "theorem", number), law.consistency)
            names = "Theorem 1, consistency", f"random law, {len(law.mass)} explanations", ""
            cells.append(over_runs(*names, ERROR, errors, n, law.error_bound(n)))
    below = sum((cell.difference or 0.0) <= 0 for cell in cells)
    return Findings(
        tuple(cells), (f"Theorem 1, consistency: {below} of {len(cells)} errors are below the bound.",)
    )


def theorem_for_overlapping_scopes(context: Context) -> Findings:
    """Theorem 1 for relations whose scopes overlap: the variance does not go down with n, so it fails.

    One label, so the measure is 1. Every scope has the instance and a region of mass 1/n: a sample that
    misses the region verifies nothing, any other nearly all.
    """
    cells = []
    for n in context.pick(tiny=(20, 50), quick=(50, 200, 800), full=(50, 200, 800, 3_200)):
        rng = context.rng(NAME, "scopes", n)
        values = [overlapping(rng, n) for _ in range(context.pick(tiny=40, quick=200, full=1_000))]
        bound = 4 / n + np.exp(-(n - 1) / n) ** 2
        errors = squared_errors(values, 1.0)
        cells.append(
            over_runs("Theorem 1, overlapping scopes", "{x} ∪ H", "", ERROR, errors, n, float(bound))
        )
    above = sum((cell.difference or 0.0) > 0 for cell in cells)
    said = (
        f"Theorem 1, overlapping scopes: {above} of {len(cells)} errors are above the bound. Its proof takes "
        "the variance to be at most 4/n, which holds for consistency only."
    )
    return Findings(tuple(cells), (said,))


def overlapping(rng: np.random.Generator, n: int) -> float:
    """Return the estimate of one sample under the relation whose scopes share a region of mass 1/n."""
    X = rng.random((n, 1))
    result = faithkit.score(np.ones(n, dtype=int), X, X=X)
    return estimate_of(result.measure(InScope(end=1 / n)))


def corollary(context: Context) -> Findings:
    """Corollary: a sample of range · 12/ε · log(3/ε) makes the mean-squared error at most ε."""
    cells = []
    for size, epsilon in ((4, 0.5), (16, 0.5), (4, 0.2)):
        law = Law.random(context.rng(NAME, "law", size, epsilon), explanations=size, labels=2)
        n = int(np.ceil(size * 12 / epsilon * np.log(3 / epsilon)))
        errors = squared_errors(estimates(law, n, context, "corollary", size, epsilon), law.consistency)
        names = "corollary", f"random law, {size} explanations", f"ε={epsilon}"
        cells.append(over_runs(*names, ERROR, errors, n, epsilon))
    below = sum((cell.difference or 0.0) <= 0 for cell in cells)
    return Findings(
        tuple(cells), (f"Corollary: {below} of {len(cells)} errors are at most ε, and far below it.",)
    )


def claim_1(context: Context) -> Findings:
    """Claim 1: consistency is 1 − E_G, and E_O ≤ E_G ≤ 2E_O, for the decoders of explanations into labels."""
    rng = context.rng(NAME, "decoders")
    law, n = Law.random(rng, explanations=8, labels=3), context.pick(tiny=2_000, quick=50_000, full=1_000_000)
    gibbs, optimal = decoder_errors(law)
    labels, explanations = law.sample(rng, n)
    given = law.joint[explanations] / law.mass[explanations, None]
    guessed = (given.cumsum(axis=1) < rng.random((n, 1))).sum(axis=1)
    simulated = {"Gibbs": (guessed != labels, gibbs), "optimal": (given.argmax(axis=1) != labels, optimal)}
    cells = [
        Cell("claim 1", "random law", f"{name} decoder", "error", float(wrong.mean()), n=n, paper=error)
        for name, (wrong, error) in simulated.items()
    ]
    value = faithkit.score(labels, explanations).consistency.value
    cells.append(Cell("claim 1", "random law", "consistency", "estimate", value, n=n, paper=1 - gibbs))
    return Findings(tuple(cells), (inequality(rng, context.pick(tiny=50, quick=1_000, full=10_000)),))


def decoder_errors(law: Law) -> tuple[float, float]:
    """Return E_G and E_O.

    Examples
    --------
    >>> decoder_errors(Law(np.array([[0.25, 0.25], [0.5, 0.0]])))
    (0.25, 0.25)
    """
    return 1 - law.consistency, float(1 - law.joint.max(axis=1).sum())


def inequality(rng: np.random.Generator, laws: int) -> str:
    """Say for how many random laws E_O ≤ E_G ≤ 2E_O."""
    errors = [decoder_errors(Law.random(rng, explanations=6, labels=4)) for _ in range(laws)]
    kept = sum(best <= gibbs + 1e-12 and gibbs <= 2 * best + 1e-12 for gibbs, best in errors)
    return f"Claim 1: E_O ≤ E_G ≤ 2E_O for {kept:,} of {laws:,} random laws."


def of_population(counts: np.ndarray) -> float:
    """Return the consistency of a whole population, from how often each explanation and label occur in it.

    Examples
    --------
    >>> of_population(np.array([[1, 1], [2, 0]]))
    0.75
    """
    return float((counts**2 / counts.sum(axis=1, keepdims=True)).sum() / counts.sum())


def claim_2(context: Context) -> Findings:
    """Claim 2: two explainers, of consistency 1 and 0.5, that no sample can tell apart.

    Instances are numbers between −1 and 1 and the label is the sign. The first explainer says x, the second
    |x|: each of its explanations belongs to one instance of either label, and a sample never has both.
    """
    n = context.pick(tiny=200, quick=10_000, full=1_000_000)
    x = context.rng(NAME, "pairs").uniform(-1, 1, size=(n, 1))
    both = np.concatenate([x, -x])  # what a finite sample never shows: every instance with its twin
    explainers: dict[str, tuple[Callable[[Any], Any], float]] = {
        "e(x) = x": (np.positive, 1.0),
        "e(x) = |x|": (np.abs, 0.5),
    }
    cells = []
    for name, (explain, truth) in explainers.items():
        seen = faithkit.score(x[:, 0] > 0, explain(x)).consistency
        itself = of_population(faithkit.score(both[:, 0] > 0, explain(both)).tally.counts)
        names = "claim 2", name
        cells += [
            Cell(*names, "a sample", "estimate", estimate_of(seen), n=n),
            Cell(*names, "a sample", "verified", seen.verified, n=n),
            Cell(
                *names,
                "all pairs",
                "consistency itself",
                itself,
                n=2 * n,
                paper=truth,
            ),
        ]
    return Findings(
        tuple(cells),
        ("Claim 2: on the sample both explainers get the same, and nothing is known of either.",),
    )


PARTS = (expectation, theorem, theorem_for_overlapping_scopes, corollary, claim_1, claim_2)
READING = Findings(
    (), ("“Paper” is what the theory says: a bound where an error is measured, else a value.",)
)
