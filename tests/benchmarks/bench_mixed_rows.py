"""Boosted trees asked about all mixtures of two rows at once, against XGBoost, which asks for each mixture."""

import numpy as np
from harness import Contest, benchmark
from sklearn.datasets import make_classification

PAIRS, MIXTURES = 40, 400
GOAL = 5.0


@benchmark
def mixed_rows() -> list[Contest]:
    """Predict mixtures of pairs of rows that differ in twelve of twenty columns."""
    from faithkit_paper.mixed_rows import MixedRowsModel
    from xgboost import XGBClassifier

    X, y = make_classification(4000, 20, n_informative=12, n_classes=5, random_state=0)
    model = XGBClassifier(n_estimators=200, max_depth=6, n_jobs=1).fit(X, y)
    fast = MixedRowsModel(model)  # which compiles
    flags = np.random.default_rng(0).random((PAIRS, MIXTURES, 12)) < 0.5
    pairs = []
    for i in range(PAIRS):
        mixtures = np.tile(X[i], (MIXTURES, 1))
        mixtures[:, :12] = np.where(flags[i], X[i, :12], X[-1 - i, :12])
        pairs.append(mixtures)
    rows = np.concatenate(pairs)
    return [
        Contest(
            f"{len(rows):,} mixtures of {PAIRS} pairs of rows",
            lambda: fast.predict(rows),
            "XGBoost, row by row",
            lambda: model.predict(rows),
            goal=GOAL,
            same=lambda a, b: np.mean(a == b) > 0.9999,  # classes may tie but for rounding
        )
    ]
