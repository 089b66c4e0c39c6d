"""Growth: what consistency costs as rows get more, and sufficiency as rules do; time and memory."""

import numpy as np
from harness import Curve, benchmark

import faithkit
from faithkit.measure.counting.count import count
from faithkit.measure.intervals import compute_interval
from faithkit.measure.jackknife.summary import JackknifeEstimate

COLUMNS, DISTINCT = 14, 1_000
ROWS = tuple(round(10**power) for power in (4, 4.5, 5, 5.5, 6, 6.5, 7))
RULES, RULE_ROWS = (100, 300, 1_000, 3_000, 10_000), 50_000


def make_log(n):
    """A log of n vectors, of which 1,000 are distinct, and their labels."""
    rng = np.random.default_rng(0)
    codes = rng.integers(0, DISTINCT, n)
    labels = (rng.random(n) < rng.random(DISTINCT)[codes]).astype(np.int64)
    return labels, rng.normal(size=(DISTINCT, COLUMNS))[codes]


@benchmark
def growth() -> list[Curve]:
    """Score logs of 10,000 to 10,000,000 rows, and tally up to 10,000 rules on 50,000 rows."""

    def consistency(n):
        labels, vectors = make_log(n)
        return lambda: faithkit.score(labels, vectors).consistency.value

    return [
        Curve("consistency", "faithkit", "rows", ROWS, consistency),
        Curve("sufficiency", "faithkit", "rules", RULES, sufficiency),
    ]


def sufficiency(rules):
    """Rules of two predicates, each the explanation of some rows; the whole way to an interval."""
    rng = np.random.default_rng(0)
    X = rng.normal(size=(RULE_ROWS, COLUMNS))
    cuts = rng.normal(size=(rules, 2))
    pairs = [rng.choice(COLUMNS, 2, replace=False) for _ in range(rules)]
    distinct = [
        faithkit.Rule([faithkit.plugin.Interval(int(a), high=s), faithkit.plugin.Interval(int(b), low=t)])
        for (a, b), (s, t) in zip(pairs, cuts, strict=True)
    ]
    owned = np.r_[np.arange(rules), rng.integers(0, rules, RULE_ROWS - rules)]
    values = np.fromiter((distinct[u] for u in owned), dtype=object)
    sample = faithkit.plugin.Sample(X, faithkit.Explanations(kind="rule", values=values))
    labels = (rng.random(RULE_ROWS) < 0.4).astype(np.int64)
    in_scope = faithkit.plugin.registry().create("relation", "in-scope")

    def work():
        fresh = faithkit.plugin.Sample(X, sample.explanations)  # a sample remembers what it was asked
        counted = count(in_scope, fresh, labels, 2)
        return compute_interval(JackknifeEstimate.of(counted).statistics, 0.95)[0]

    return work
