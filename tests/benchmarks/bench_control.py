"""The control of sufficiency: ten draws beside the measure alone."""

import numpy as np
from harness import Contest, benchmark

import faithkit

WANTED = 1 / 13  # ten draws take at most twelve times as long as the measure
WANTED_OF_SCOPES = 1 / 60  # distances of all rows take longer than rules


@benchmark
def control() -> list[Contest]:
    """Draw the control of rules, with and without a pool, and of vectors."""
    return [
        _contest("10,000 rules", WANTED_OF_SCOPES, *_rules(10_000, 10_000)[:3]),
        _contest("5,000 rules × 200,000 rows of a pool", WANTED, *_rules(5_000, 200_000)),
        _contest("1,000,000 × 14 vectors", WANTED, *_vectors(1_000_000), relation="same-top-features:k=2"),
    ]


def _contest(name, goal, predictions, explanations, X, pool=None, **options) -> Contest:
    def measure(draws):
        result = faithkit.score(predictions, explanations, X, pool=pool, control_draws=draws, **options)
        assert (result.control is not None) == (draws > 0)
        return result.sufficiency.value

    return Contest(name, lambda: measure(10), "the measure", lambda: measure(0), goal, repeat=1)


def _predict(X):
    return (X[:, 0] + X[:, 1] > 0).astype(np.int64)


def _rules(m, n, n_columns=14, n_conditions=3):
    """Rules of three conditions, each an interval of about 40 % of the rows around the row's own value."""
    rng = np.random.default_rng(0)
    pool = rng.normal(size=(n, n_columns))
    X = pool[:m]
    quantiles = np.quantile(pool, np.linspace(0, 1, 33)[1:-1], axis=0)
    padded = np.vstack([np.full((6, n_columns), -np.inf), quantiles, np.full((7, n_columns), np.inf)])
    rules = []
    for row in X:
        columns = rng.choice(n_columns, n_conditions, replace=False)
        places = [np.searchsorted(quantiles[:, column], row[column]) for column in columns]
        rules.append(
            faithkit.Rule(
                faithkit.plugin.Interval(
                    int(column), float(padded[place, column]), float(padded[place + 12, column])
                )
                for column, place in zip(columns, places, strict=True)
            )
        )
    explanations = faithkit.Explanations.of(rules, kind="rule", relation="in-scope")
    return _predict(X), explanations, X, (pool[m:], _predict(pool[m:]))


def _vectors(n, n_columns=14):
    """Attributions that name the two columns the prediction depends on, with noise on the others."""
    rng = np.random.default_rng(0)
    X = rng.normal(size=(n, n_columns)).round(1)
    weights = rng.normal(scale=0.05, size=(n, n_columns))
    weights[:, :2] = X[:, :2]
    return _predict(X), weights, X
