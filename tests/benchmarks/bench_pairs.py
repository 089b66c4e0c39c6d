"""Matching rows that are all different, beside grouping them, which finds that they are."""

import numpy as np
from harness import Contest, benchmark

from faithkit.arrays.grouping import group
from faithkit.measure.jackknife.merging import match_rows

N, D = 1_000_000, 14


@benchmark
def pairs() -> list[Contest]:
    """Match a million vectors: every row is compared with up to 256 near ones, so it takes longer than grouping."""
    vectors = np.random.default_rng(0).normal(size=(N, D))

    def paired() -> int:
        return 2 * (int(match_rows(vectors).max()) + 1)

    def grouped() -> int:
        return len(group(vectors))

    return [
        Contest(f"{N:,} × {D}, all distinct, matched", paired, "faithkit grouping", grouped, 0.25, repeat=5)
    ]
