"""Compiled trees against XGBoost: for mixtures of two rows, and for rows of which each column is drawn."""

import numpy as np
from harness import Contest, benchmark
from sklearn.datasets import make_classification

PAIRS, MIXTURES = 40, 400
GOALS = 5.0, 3.0


@benchmark
def compiled_trees() -> list[Contest]:
    """Predict mixtures of pairs of rows that differ in twelve of twenty columns, and unrelated rows."""
    from faithkit_paper.compiled_trees import CompiledTrees
    from xgboost import XGBClassifier

    X, y = make_classification(4000, 20, n_informative=12, n_classes=5, random_state=0)
    model = XGBClassifier(n_estimators=200, max_depth=6, n_jobs=1).fit(X, y)
    fast = CompiledTrees(model)
    rng = np.random.default_rng(0)
    flags = rng.random((PAIRS, MIXTURES, 12)) < 0.5
    mixtures = np.repeat(X[:PAIRS], MIXTURES, axis=0)
    mixtures[:, :12] = np.where(flags, X[:PAIRS, None, :12], X[-PAIRS:, None, :12]).reshape(-1, 12)
    drawn = np.column_stack([rng.permutation(column) for column in X.T])
    return [
        Contest(
            f"{len(rows):,} {name}",
            lambda rows=rows: fast.predict(rows),
            "XGBoost, row by row",
            lambda rows=rows: model.predict(rows),
            goal=goal,
            same=lambda a, b: np.mean(a == b) > 0.9999,  # classes may tie but for rounding
        )
        for name, rows, goal in zip(
            (f"mixtures of {PAIRS} pairs of rows", "unrelated rows"), (mixtures, drawn), GOALS, strict=True
        )
    ]
