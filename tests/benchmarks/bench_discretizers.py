"""Discretizing a million importance vectors, in units of one pass over the array."""

import numpy as np
from faithkit_feature_importance.discretizers import FixedPoint, Quantile, Rank, Sign, SignOfTop
from harness import Contest, benchmark

import faithkit

N, D = 1_000_000, 14


@benchmark
def discretizers() -> list[Contest]:
    """Discretize; the peer adds 0.0 to every cell, and a goal of 1/10 allows ten times as long."""
    values = np.random.default_rng(0).normal(size=(N, D))
    phi = faithkit.Explanations.vectors(values)
    contests = [
        ("fp", FixedPoint(), 10),
        ("sign", Sign(), 10),
        ("rank", Rank(), 40),
        ("sign-of-top", SignOfTop(), 40),
        ("quantile", Quantile().fit(phi.take(slice(1000))), 40),
    ]
    return [
        Contest(
            f"{name}, {N:,} × {D}",
            lambda discretizer=discretizer: len(discretizer.discretize(phi)),
            "one pass, x + 0.0",
            lambda: len(values + 0.0),
            goal=1 / passes,
            repeat=5,
        )
        for name, discretizer, passes in contests
    ]
