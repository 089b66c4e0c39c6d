"""How often the comparison with a control is wrong: explanations that are random, and some that tell the truth.

Run it as `python tests/benchmarks/simulate_control.py [RUNS]`. It prints a table as CSV, which the docs show.
"""

import csv
import sys
import warnings

import numpy as np

import faithkit

COLUMNS = 5
RUNS = 1_000


def _balanced(rng, n):
    X = rng.integers(0, 3, (n, COLUMNS)).astype(float)
    return X, X[:, 0] > rng.integers(0, 2, n), None


def _rare(rng, n):
    X = rng.integers(0, 3, (n, COLUMNS)).astype(float)
    return X, (X[:, 0] == 2) & (rng.random(n) < 0.3), None


def _clustered(rng, n):
    """Cases that were seen one to three times, nearly alike."""
    cluster = np.sort(rng.integers(0, n // 2, n))
    X = rng.integers(0, 3, (n, COLUMNS)).astype(float)[cluster]
    is_redrawn = rng.random(X.shape) < 0.2
    X[is_redrawn] = rng.integers(0, 3, is_redrawn.sum())
    return X, X[:, 0] > (rng.random(n) < 0.3), cluster


LAWS = {"balanced labels": _balanced, "a rare label": _rare, "clusters": _clustered}


def _rules(X, columns):
    by_cell = {(c, v): faithkit.Rule([faithkit.OneOf(int(c), [v])]) for c in range(COLUMNS) for v in range(3)}
    values = [by_cell[column, int(row[column])] for column, row in zip(columns, X, strict=True)]
    return faithkit.Explanations.of(values, kind="rule", relation="in-scope")


def compare(law, runs=RUNS, n=100, explain="random"):
    """Return the shares of runs whose difference is found above 0, and below 0.

    Random explanations name a column that was drawn for each row, so the difference is 0 in the mean. True
    ones name the column that decides.
    """
    above = below = 0
    for run in range(runs):
        rng = np.random.default_rng([run, list(LAWS).index(law)])
        X, labels, clusters = LAWS[law](rng, n)
        columns = rng.integers(0, COLUMNS, n) if explain == "random" else np.zeros(n, dtype=int)
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            # few different rows occur, and their draws would be the same in every run
            control = faithkit.score(labels, _rules(X, columns), X, clusters=clusters, seed=run).control
        above += control.finding == "above its control"
        below += control.finding == "below its control"
    return above / runs, below / runs


def main() -> None:
    """Print the table."""
    runs = int(sys.argv[1]) if len(sys.argv) > 1 else RUNS
    out = csv.writer(sys.stdout)
    out.writerow(
        ["law", "rows", "random explanations above", "random explanations below", "true explanations above"]
    )
    for law in LAWS:
        for n in (120, 300):
            random, true = compare(law, runs, n), compare(law, max(50, runs // 5), n, "true")
            out.writerow([law, n, *(f"{100 * share:.1f} %" for share in (*random, true[0]))])


if __name__ == "__main__":
    main()
