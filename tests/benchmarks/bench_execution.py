"""Running it: what a second worker brings, and what a store costs and saves."""

import tempfile
import time

import numpy as np
from harness import Contest, benchmark

import faithkit

ROWS, MILLISECONDS = 200, 50


class Busy:
    """Explain like LIME: about 50 ms of real work a row, small matrices and Python."""

    learns = False
    rows_per_chunk = 5

    def fit(self, predictor, background):
        return self

    def explain(self, X, seeds):
        out = np.empty((len(X), 3))
        for i, seed in enumerate(seeds):
            end = time.process_time() + MILLISECONDS / 1000
            rng = np.random.default_rng(seed)
            while time.process_time() < end:
                rng.normal(size=500).sum()
            out[i] = seed % 5
        return faithkit.Explanations.vectors(out)


def _sign(X):
    return X[:, 0] > 0


def evaluate_rows(**options):
    X = np.random.default_rng(0).normal(size=(ROWS, 4))
    return faithkit.evaluate(_sign, X, explainer=Busy(), **options).to_dict()


@benchmark
def execution() -> list[Contest]:
    """Explain 200 rows with two workers, and find them all in a store."""
    store = f"stored:folder={tempfile.mkdtemp()}"
    evaluate_rows(executor=store)
    chunks = ROWS // Busy.rows_per_chunk
    per_chunk = "2 ms a chunk"
    return [
        Contest(
            f"{ROWS} rows of {MILLISECONDS} ms, n_jobs=2",
            lambda: evaluate_rows(n_jobs=2),
            "n_jobs=1",
            evaluate_rows,
            1.7,
            repeat=1,
        ),
        Contest(
            "all found in the store",
            lambda: evaluate_rows(executor=store),
            "the run that filled it",
            evaluate_rows,
            20.0,
            repeat=1,
        ),
        Contest(
            f"the same, {chunks} chunks",
            lambda: evaluate_rows(executor=store),
            per_chunk,
            lambda: time.sleep(0.002 * chunks),
            1.0,
            lambda a, b: True,
        ),
    ]
