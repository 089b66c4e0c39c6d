"""How often the comparison with a control is wrong: explanations that say nothing, and some that tell the truth.

Run it as `python tests/benchmarks/simulate_control.py [RUNS]`. It prints a table as CSV, which the docs show.
"""

import csv
import sys
import warnings

import numpy as np
import pandas as pd

import faithkit

COLUMNS = 5
RUNS = 200


def _name_values(X, columns):
    """Return the rules that name the value of each row in a column, which is another one for each row."""
    by_cell = {}
    for column, value in zip(columns, X[np.arange(len(X)), columns], strict=True):
        by_cell.setdefault((column, value), faithkit.Rule([faithkit.plugin.OneOf(int(column), [value])]))
    return [by_cell[cell] for cell in zip(columns, X[np.arange(len(X)), columns], strict=True)]


def _draw_columns(labels_of):
    def law(rng, n):
        X = rng.integers(0, 3, (n, COLUMNS)).astype(float)
        useless = _name_values(X, rng.integers(0, COLUMNS, n))
        return X, labels_of(rng, X), useless, _name_values(X, np.zeros(n, dtype=int))

    return law


def _toss_coins(explain):
    def law(rng, n):
        X = pd.DataFrame(rng.integers(0, 20, (n, 6)).astype(float), columns=list("abcdef"))
        X, rules = explain(rng, X)
        return X, rng.random(n) < 0.5, rules, None

    return law


def _name_segments(rng, X):
    segment = rng.integers(0, 12, len(X)).astype(str)
    by_segment = {
        name: faithkit.Rule([faithkit.plugin.OneOf("g", [name]), faithkit.plugin.OneOf("h", [name])])
        for name in np.unique(segment).tolist()
    }
    return X.assign(g=segment, h=segment, i=segment), [by_segment[name] for name in segment]


def _name_halves(rng, X):
    halves = [
        faithkit.Rule([faithkit.plugin.Interval("a", *ends)]) for ends in ((-np.inf, 9.5), (9.5, np.inf))
    ]
    return X, [halves[int(value > 9.5)] for value in X["a"]]


def _name_windows(rng, X):
    X = X.assign(a=rng.normal(size=len(X)))
    return X, [faithkit.Rule([faithkit.plugin.Interval("a", x - 0.05, x + 0.05)]) for x in X["a"].tolist()]


def _name_categories(rng, X):
    X = X.astype(int).astype(str)
    by_value = {value: faithkit.Rule([faithkit.plugin.OneOf("a", [value])]) for value in X["a"].unique()}
    return X, [by_value[value] for value in X["a"]]


COINS = {
    "coins, rules on copied columns": _toss_coins(_name_segments),
    "coins, two large scopes": _toss_coins(_name_halves),
    "coins, narrow windows": _toss_coins(_name_windows),
    "coins, single categories": _toss_coins(_name_categories),
}
LAWS = {
    "balanced labels, a random column": _draw_columns(lambda rng, X: X[:, 0] > rng.integers(0, 2, len(X))),
    "a rare label, a random column": _draw_columns(
        lambda rng, X: (X[:, 0] == 2) & (rng.random(len(X)) < 0.3)
    ),
    **COINS,
}


def compare(law, runs=RUNS, n=300, explain="useless"):
    """Return the shares of runs whose difference is found above 0, and below 0, and the mean worth.

    Useless explanations name a column that was drawn for each row, or one that has nothing to do with a coin.
    True ones name the column that decides; a coin has none.
    """
    above = below = 0
    worths = []
    for run in range(runs):
        rng = np.random.default_rng([run, list(LAWS).index(law)])
        X, labels, useless, true = LAWS[law](rng, n)
        rules = useless if explain == "useless" else true
        explanations = faithkit.Explanations.of(rules, kind="rule", relation="in-scope")
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            # few different rows occur, and their draws would be the same in every run
            control = faithkit.score(labels, explanations, X, seed=run).control
        above += control.finding == "above its control"
        below += control.finding == "below its control"
        worths += [] if control.worth is None else [control.worth.value]
    return above / runs, below / runs, float(np.mean(worths)) if worths else np.nan


def main() -> None:
    """Print the table."""
    runs = int(sys.argv[1]) if len(sys.argv) > 1 else RUNS
    out = csv.writer(sys.stdout)
    out.writerow(["law", "rows", "useless above", "useless below", "worth of useless", "true above"])
    for law in LAWS:
        for n in (120, 300):
            above, below, worth = compare(law, runs, n)
            true = "–" if law in COINS else f"{100 * compare(law, runs // 4, n, 'true')[0]:.1f} %"
            worth_text = "none" if np.isnan(worth) else f"{worth:+.2f}".replace("-", "−")
            out.writerow([law, n, f"{100 * above:.1f} %", f"{100 * below:.1f} %", worth_text, true])
            sys.stdout.flush()


if __name__ == "__main__":
    main()
