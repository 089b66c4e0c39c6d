"""The reader against the shortest way that scikit-learn has to the same accuracy."""

import numpy as np
from faithkit_diagnostics.reader.models import candidates
from harness import Contest, benchmark
from sklearn.datasets import make_classification
from sklearn.model_selection import cross_val_predict

import faithkit

ROWS, COLUMNS = 10_000, 14
GOAL = 0.2  # beside the five readers there are nine in a chain, and those that are chosen from


@benchmark
def reader() -> list[Contest]:
    """Read vectors: five readers and a chain of nine, with choosing, beside five times the trees alone."""
    from threadpoolctl import threadpool_limits

    threadpool_limits(1)  # also since a process that has OpenMP's threads cannot be forked
    X, y = make_classification(ROWS, COLUMNS, n_informative=8, random_state=0)
    result = faithkit.score(y, X)
    trees = candidates("trees")[0].make(ROWS * 4 // 5, 2, 0)
    return [
        Contest(
            f"{ROWS:,} × {COLUMNS} vectors",
            lambda: result.diagnose("reader").accuracy.value,
            "cross_val_predict of the trees",
            lambda: float(np.mean(cross_val_predict(trees, X, y, cv=5) == y)),
            goal=GOAL,
            same=lambda a, b: abs(a - b) < 0.02,
        )
    ]
