"""What a control costs: ten draws beside the measure that they are compared with."""

import numpy as np
from harness import Contest, benchmark

import faithkit

EXPLAINED, POOL, COLUMNS = 5_000, 200_000, 14
VECTORS = 1_000_000


def _rules(X, rng):
    """Return for each row three conditions at tenths of its columns."""
    cuts = np.quantile(X, np.linspace(0.1, 0.9, 9), axis=0)
    ends = np.vstack([np.full(COLUMNS, -np.inf), cuts, np.full(COLUMNS, np.inf)])
    rules = []
    for row in X:
        columns = rng.choice(COLUMNS, 3, replace=False).tolist()
        bins = [int(np.searchsorted(cuts[:, column], row[column])) for column in columns]
        rules.append(
            faithkit.Rule(
                [
                    faithkit.Interval(c, ends[max(0, b - 2), c], ends[min(10, b + 3), c])
                    for c, b in zip(columns, bins, strict=True)
                ]
            )
        )
    return faithkit.Explanations.of(rules, kind="rule", relation="in-scope")


def _contest(name, measure, draws=10):
    """Compare `measure(draws)` with `measure(0)`; the answers are not compared, since one is part of the other."""

    def with_control():
        return measure(draws).control.draws

    def without():
        return measure(0).sufficiency.estimate

    return Contest(name, with_control, "the measure alone", without, 1 / 13, same=lambda *_: True, repeat=1)


@benchmark
def control() -> list[Contest]:
    """Draw ten controls, each as large as the measure."""
    rng = np.random.default_rng(0)
    X, pool = rng.normal(size=(EXPLAINED, COLUMNS)), rng.normal(size=(POOL, COLUMNS))
    labels, pool_labels = X[:, 0] > 0, pool[:, 0] > 0
    explanations = _rules(X, rng)
    wide = rng.normal(size=(VECTORS, COLUMNS))
    importances, wide_labels = rng.normal(size=(VECTORS, COLUMNS)), wide[:, 0] > 0

    def measure_rules(draws):
        return faithkit.score(labels, explanations, X, pool=(pool, pool_labels), control_draws=draws)

    def measure_vectors(draws):
        relation = "same-top-features:k=2,bins=2"
        return faithkit.score(wide_labels, importances, wide, relation=relation, control_draws=draws)

    return [
        _contest(f"{EXPLAINED:,} rules × {POOL:,} rows", measure_rules),
        _contest(f"{VECTORS:,} × {COLUMNS} vectors", measure_vectors),
    ]
