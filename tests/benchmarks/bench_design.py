"""Rows with weights or clusters: beside equal rows, and beside the same sums over all pairs."""

import numpy as np
from harness import Contest, benchmark

import faithkit
from faithkit.measure.agreement.same_label import SAME_LABEL
from faithkit.measure.counting.cells import Cells
from faithkit.measure.jackknife.pairs import pair_sums

D, DISTINCT = 14, 50_000
GOAL = 1 / 30  # every row is a cell of its own, and 16 exponentials of each are added up
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
    largest = float(weights.max())
    left_out_rows = row[:20]

    def ours():
        result = pair_sums(cells, SAME_LABEL, PAIRS, allowance=np.array([largest]))
        return (result.disagreement - result.lost_disagreement)[left_out_rows].round(3).tolist()

    def peer():
        return [round(float(_over_all_pairs(np.delete(row, place))), 3) for place in left_out_rows]

    def _over_all_pairs(alive):
        w, y = weights[alive].astype(float), label[alive]
        terms = np.outer(w, w) / (largest + w.sum() - w[:, None] - w[None])
        terms[y[:, None] == y[None]] = 0.0
        return terms.sum()

    return [
        Contest(f"{PAIRS:,} rows of one group, 20 left out", ours, "NumPy, all pairs", peer, 1.0, repeat=2)
    ]
