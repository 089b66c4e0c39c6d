"""Pairing rows that are all different, beside grouping them, which finds that they are."""

import numpy as np
from harness import Contest, benchmark

from faithkit.measure.grouping import group
from faithkit.measure.merging.pairs import near_pairs

N, D = 1_000_000, 14


@benchmark
def pairs() -> list[Contest]:
    """Pair a million vectors; the goal is at most four times the time of grouping them."""
    vectors = np.random.default_rng(0).normal(size=(N, D))

    def paired() -> int:
        return 2 * (int(near_pairs(vectors).max()) + 1)

    def grouped() -> int:
        return len(group(vectors))

    return [
        Contest(f"{N:,} × {D}, all distinct, paired", paired, "faithkit grouping", grouped, 0.25, repeat=5)
    ]
