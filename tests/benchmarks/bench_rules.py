"""Sufficiency of rules: bitsets against a mask per rule, and the second pass against the first."""

import numpy as np
from harness import Contest, benchmark

from faithkit.explanations.explanations import Explanations, Sample
from faithkit.explanations.predicates import Interval
from faithkit.explanations.rules import Rule
from faithkit.extension.registry import registry
from faithkit.measure.counting.count import count

N, COLUMNS, RULES = 200_000, 14, 5_000


def _situation():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(N, COLUMNS))
    labels = (rng.random(N) < 0.4).astype(np.int64)
    cuts = np.quantile(X[:, 0], np.linspace(0.1, 0.9, 9))
    rules = []
    for _ in range(RULES):
        chosen = rng.choice(COLUMNS, 3, replace=False)
        sides = [(int(c), rng.choice(cuts), rng.random() < 0.5) for c in chosen]
        rules.append(Rule([Interval(c, high=t) if low else Interval(c, low=t) for c, t, low in sides]))
    return X, labels, rules, rng.integers(0, RULES, N)


@benchmark
def rules() -> list[Contest]:
    """Tally 5,000 rules of three predicates over 200,000 rows."""
    X, labels, distinct, owned = _situation()
    values = np.fromiter((distinct[i] for i in owned), dtype=object)
    explanations = Explanations(kind="rule", values=values)
    in_scope = registry().create("relation", "in-scope")

    def contest(layout, X):
        def tally():
            counted = count(in_scope, Sample(X, explanations), labels, 2)
            return dict(zip(counted.explanations.values, counted.tally.counts.tolist(), strict=True))

        def masks():
            counts = {}
            for rule in set(values):
                mask = np.ones(N, dtype=bool)
                for p in rule.predicates:
                    mask &= X[:, p.column] <= p.high if p.low == -np.inf else X[:, p.column] > p.low
                counts[rule] = np.bincount(labels[mask], minlength=2).tolist()
            return counts

        what = f"tally of {RULES:,} rules × {N:,} rows, {layout}"
        return Contest(what, tally, "a NumPy mask per rule", masks, 40.0, repeat=2)

    counted = count(in_scope, Sample(X, explanations), labels, 2)

    def first_pass():
        count(in_scope, Sample(X, explanations), labels, 2)

    def second_pass():
        counted.pair_sums()

    return [
        contest("a NumPy array", X),
        contest("each column contiguous", np.asfortranarray(X)),
        Contest("second pass, for the standard error", second_pass, "the first pass", first_pass, 1 / 3),
    ]
