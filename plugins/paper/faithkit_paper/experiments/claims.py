"""Check the paper's theorems and claims by simulation, on random distributions with known measures.

A law is a joint distribution of finitely many explanations and labels. For each statement the CSV has its
prediction (`paper`) and the result of many simulated samples (`ours`).
"""

from collections.abc import Callable
from typing import Any

import attrs
import numpy as np

import faithkit
from faithkit_paper.context import Context
from faithkit_paper.findings import Cell, Findings, cell_of_runs, estimate_of

NAME = "claims"
MEAN, ERROR = "mean estimate", "mean-squared error"


@attrs.frozen(eq=False)
class Law:
    """`joint[π, y]`: the probability that an instance has the explanation π and the label y."""

    joint: np.ndarray

    @classmethod
    def random(cls, rng: np.random.Generator, explanations: int, labels: int) -> "Law":
        """Draw a random distribution with frequent and rare explanations."""
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
        """The true consistency of the distribution."""
        return float(self.mass @ self.agreement)

    def expected_estimate(self, n: int) -> float:
        """Return the expectation of the estimate. An explanation that occurs at most once adds nothing."""
        return float(self.mass @ (self.agreement * (1 - (1 - self.mass) ** (n - 1))))

    def error_bound(self, n: int) -> float:
        """Return the bound of Theorem 1 on the mean-squared error."""
        return float(4 / n + (self.mass @ np.exp(-(n - 1) * self.mass)) ** 2)

    def sample(self, rng: np.random.Generator, n: int) -> tuple[np.ndarray, np.ndarray]:
        """Draw the labels and the explanations of n instances."""
        codes = rng.choice(self.joint.size, size=n, p=self.joint.ravel())
        explanations, labels = np.unravel_index(codes, self.joint.shape)
        return labels, explanations


class InScope(faithkit.plugin.Relation):
    """The relation by which an instance, as explanation, holds for itself and for all of a rare region.

    Parameters
    ----------
    end : float
        The upper end of the region.
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
    return context.load_or_compute(
        NAME, "", lambda: Findings.concatenate([INTRODUCTION, *(check(context) for check in STATEMENTS)])
    )


def estimates(law: Law, n: int, context: Context, *names: Any) -> list[float]:
    """Return the estimates of many samples of size n."""
    rng, times = context.rng(NAME, *names, n), context.pick(tiny=40, quick=200, full=1_500)
    results = (faithkit.score(*law.sample(rng, n)) for _ in range(times))
    return [estimate_of(result.consistency) for result in results]


def squared_errors(values: list[float], truth: float) -> list[float]:
    """Return the squared errors of estimates."""
    return [(value - truth) ** 2 for value in values]


def expectation(context: Context) -> Findings:
    """Check Theorem 6: the exact expectation of the estimate."""
    law = Law.random(context.rng(NAME, "law"), explanations=30, labels=3)
    cells = [
        cell_of_runs(
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
    remark = f"Expectation: the measure itself is {law.consistency:.3f}; the estimate reaches it from below."
    return Findings(tuple(cells), (remark,))


def theorem(context: Context) -> Findings:
    """Check Theorem 1 for consistency: the mean-squared error stays below the bound."""
    cells = []
    for number in range(3):
        law = Law.random(context.rng(NAME, "law", number), explanations=10 * 4**number, labels=2)
        for n in (20, 100, 500):
            errors = squared_errors(estimates(law, n, context, "theorem", number), law.consistency)
            names = "Theorem 1, consistency", f"random law, {len(law.mass)} explanations", ""
            cells.append(cell_of_runs(*names, ERROR, errors, n, law.error_bound(n)))
    below = sum((cell.difference or 0.0) <= 0 for cell in cells)
    return Findings(
        tuple(cells), (f"Theorem 1, consistency: {below} of {len(cells)} errors are below the bound.",)
    )


def theorem_for_overlapping_scopes(context: Context) -> Findings:
    """Check Theorem 1 for overlapping scopes: it fails, because the variance does not decrease with n.

    There is one label, so the measure is 1. Each scope contains the instance and a region of mass 1/n. A
    sample that misses the region verifies nothing; any other sample verifies nearly everything.
    """
    cells = []
    for n in context.pick(tiny=(20, 50), quick=(50, 200), full=(50, 200, 800, 3_200)):
        rng = context.rng(NAME, "scopes", n)
        values = [estimate_with_overlap(rng, n) for _ in range(context.pick(tiny=40, quick=200, full=1_000))]
        bound = 4 / n + np.exp(-(n - 1) / n) ** 2
        errors = squared_errors(values, 1.0)
        cells.append(
            cell_of_runs("Theorem 1, overlapping scopes", "{x} ∪ H", "", ERROR, errors, n, float(bound))
        )
    above = sum((cell.difference or 0.0) > 0 for cell in cells)
    remark = (
        f"Theorem 1, overlapping scopes: {above} of {len(cells)} errors are above the bound. Its proof takes "
        "the variance to be at most 4/n, which holds for consistency only."
    )
    return Findings(tuple(cells), (remark,))


def estimate_with_overlap(rng: np.random.Generator, n: int) -> float:
    """Return the estimate of one sample under the relation whose scopes share a region of mass 1/n."""
    X = rng.random((n, 1))
    result = faithkit.score(np.ones(n, dtype=int), X, X=X)
    return estimate_of(result.measure(InScope(end=1 / n)))


def corollary(context: Context) -> Findings:
    """Check the corollary: a sample of range · 12/ε · log(3/ε) makes the mean-squared error at most ε."""
    cells = []
    for size, epsilon in ((4, 0.5), (16, 0.5), (4, 0.2)):
        law = Law.random(context.rng(NAME, "law", size, epsilon), explanations=size, labels=2)
        n = int(np.ceil(size * 12 / epsilon * np.log(3 / epsilon)))
        errors = squared_errors(estimates(law, n, context, "corollary", size, epsilon), law.consistency)
        names = "corollary", f"random law, {size} explanations", f"ε={epsilon}"
        cells.append(cell_of_runs(*names, ERROR, errors, n, epsilon))
    below = sum((cell.difference or 0.0) <= 0 for cell in cells)
    return Findings(
        tuple(cells), (f"Corollary: {below} of {len(cells)} errors are at most ε, and far below it.",)
    )


def claim_1(context: Context) -> Findings:
    """Check claim 1: consistency is 1 − E_G, and E_O ≤ E_G ≤ 2E_O, for two decoders of labels."""
    rng = context.rng(NAME, "decoders")
    law, n = Law.random(rng, explanations=8, labels=3), context.pick(tiny=2_000, quick=50_000, full=1_000_000)
    gibbs, optimal = decoder_errors(law)
    labels, explanations = law.sample(rng, n)
    label_probabilities = law.joint[explanations] / law.mass[explanations, None]
    gibbs_guesses = (label_probabilities.cumsum(axis=1) < rng.random((n, 1))).sum(axis=1)
    simulated = {
        "Gibbs": (gibbs_guesses != labels, gibbs),
        "optimal": (label_probabilities.argmax(axis=1) != labels, optimal),
    }
    cells = [
        Cell("claim 1", "random law", f"{name} decoder", "error", float(wrong.mean()), n=n, paper=error)
        for name, (wrong, error) in simulated.items()
    ]
    value = faithkit.score(labels, explanations).consistency.value
    cells.append(Cell("claim 1", "random law", "consistency", "estimate", value, n=n, paper=1 - gibbs))
    return Findings(tuple(cells), (inequality(rng, context.pick(tiny=50, quick=1_000, full=10_000)),))


def decoder_errors(law: Law) -> tuple[float, float]:
    """Return the errors of the Gibbs decoder (E_G) and of the optimal decoder (E_O).

    Examples
    --------
    >>> decoder_errors(Law(np.array([[0.25, 0.25], [0.5, 0.0]])))
    (0.25, 0.25)
    """
    return 1 - law.consistency, float(1 - law.joint.max(axis=1).sum())


def inequality(rng: np.random.Generator, laws: int) -> str:
    """Return a remark that counts the random distributions with E_O ≤ E_G ≤ 2E_O."""
    errors = [decoder_errors(Law.random(rng, explanations=6, labels=4)) for _ in range(laws)]
    n_holding = sum(best <= gibbs + 1e-12 and gibbs <= 2 * best + 1e-12 for gibbs, best in errors)
    return f"Claim 1: E_O ≤ E_G ≤ 2E_O for {n_holding:,} of {laws:,} random laws."


def population_consistency(counts: np.ndarray) -> float:
    """Return the consistency of a population from its counts by explanation and label.

    Examples
    --------
    >>> population_consistency(np.array([[1, 1], [2, 0]]))
    0.75
    """
    return float((counts**2 / counts.sum(axis=1, keepdims=True)).sum() / counts.sum())


def claim_2(context: Context) -> Findings:
    """Check claim 2: no sample can distinguish two explainers with consistency 1 and 0.5.

    Instances are numbers between −1 and 1, and the label is the sign. The first explainer returns x, the
    second |x|. Each explanation of the second belongs to one instance of each label, and a sample never has
    both.
    """
    n = context.pick(tiny=200, quick=10_000, full=1_000_000)
    x = context.rng(NAME, "pairs").uniform(-1, 1, size=(n, 1))
    both = np.concatenate([x, -x])  # each instance with its twin, as no finite sample has them
    explainers: dict[str, tuple[Callable[[Any], Any], float]] = {
        "e(x) = x": (np.positive, 1.0),
        "e(x) = |x|": (np.abs, 0.5),
    }
    cells = []
    for name, (explain, truth) in explainers.items():
        sample_estimate = faithkit.score(x[:, 0] > 0, explain(x)).consistency
        truth_of_pairs = population_consistency(
            faithkit.score(both[:, 0] > 0, explain(both)).evidence.tallies["consistency"].counts
        )
        names = "claim 2", name
        cells += [
            Cell(*names, "a sample", "estimate", estimate_of(sample_estimate), n=n),
            Cell(*names, "a sample", "verified", sample_estimate.verified, n=n),
            Cell(
                *names,
                "all pairs",
                "consistency itself",
                truth_of_pairs,
                n=2 * n,
                paper=truth,
            ),
        ]
    return Findings(
        tuple(cells),
        ("Claim 2: on the sample both explainers get the same, and nothing is known of either.",),
    )


STATEMENTS = (expectation, theorem, theorem_for_overlapping_scopes, corollary, claim_1, claim_2)
INTRODUCTION = Findings(
    (), ("“Paper” is what the theory says: a bound where an error is measured, else a value.",)
)
