"""Rows with weights or clusters: beside equal rows, and beside the same sums over all pairs."""

import numpy as np
from harness import Contest, benchmark

import faithkit
from faithkit.measure.agreement.same_label import SAME_LABEL
from faithkit.measure.counting.cells import Cells
from faithkit.measure.counting.pair_ratio import PairRatio
from faithkit.measure.counting.parts import Parts

D, DISTINCT = 14, 50_000
GOAL = 1 / 5  # every row is a cell of its own
PAIRS = 3_000


@benchmark
def design() -> list[Contest]:
    """Score a million vectors with weights or clusters; the peer has neither."""
    rng, n = np.random.default_rng(0), 1_000_000
    codes = rng.integers(0, DISTINCT, n)
    vectors = np.round(rng.normal(size=(DISTINCT, D)), 1)[codes]
    labels = (rng.random(n) < 0.2 + 0.6 * (codes % 2)).astype(np.int64)
    drawn = {"weights": np.exp(rng.normal(size=n)), "clusters": rng.integers(0, n // 5, n)}
    plain = lambda: faithkit.score(labels, vectors).n  # noqa: E731
    return [
        Contest(
            f"{n:,} × {D}, {name}",
            lambda name=name: faithkit.score(labels, vectors, **{name: drawn[name]}).n,
            "faithkit, equal rows",
            plain,
            GOAL,
            repeat=2,
        )
        for name in drawn
    ]


@benchmark
def left_out() -> list[Contest]:
    """Leave out each row of one group; the peer adds up all pairs again for twenty of them."""
    rng, row = np.random.default_rng(0), np.arange(PAIRS)
    weights, label = rng.integers(1, 1_000, PAIRS), rng.integers(0, 3, PAIRS)
    cells = Cells.of(np.zeros_like(row), row, label, scope_weight=weights, owner_weight=weights)
    left_out_rows = row[:20]

    def ours():
        sums = PairRatio(SAME_LABEL, PAIRS).sum_parts([Parts.of(cells)])
        left = (sums.disagreement - sums.lost_disagreement) / (sums.compared - sums.lost_compared)
        return left[left_out_rows].round(9).tolist()

    def peer():
        return [round(float(_over_all_pairs(np.delete(row, place))), 9) for place in left_out_rows]

    def _over_all_pairs(alive):
        w, y = weights[alive].astype(float), label[alive]
        pairs = np.outer(w, w)
        np.fill_diagonal(pairs, 0.0)
        by_holder, apart = pairs * w, y[:, None] != y[None]
        share = 2 * (w**2).sum() / (w.sum() ** 2 - (w**2).sum())
        ratios = [(terms * apart).sum() / terms.sum() for terms in (pairs, by_holder)]
        return (1 - share) * ratios[0] + share * ratios[1]

    return [
        Contest(f"{PAIRS:,} rows of one group, 20 left out", ours, "NumPy, all pairs", peer, 1.0, repeat=2)
    ]
