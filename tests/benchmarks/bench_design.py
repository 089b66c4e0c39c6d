"""Rows with weights or clusters: beside equal rows, and beside the same sums over all pairs."""

import numpy as np
from harness import Contest, benchmark

import faithkit
from faithkit.explanations.explanations import Explanations, Sample
from faithkit.explanations.predicates import Interval
from faithkit.explanations.rules import Rule
from faithkit.extension.registry import registry
from faithkit.measure.agreement.same_label import SAME_LABEL
from faithkit.measure.counting.cells import Cells
from faithkit.measure.counting.count import count
from faithkit.measure.counting.design import Design
from faithkit.measure.counting.pair_ratio import PairRatio
from faithkit.measure.counting.parts import Parts
from faithkit.measure.jackknife.summary import JackknifeEstimate

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


RULES, ROWS, COVERAGE = 2_000, 100_000, 0.1
FEW_WEIGHTS, ALL_WEIGHTS, CLUSTERS = "weights of three values", "weights all different", "clusters of five"


@benchmark
def rules_of_designs() -> list[Contest]:
    """Measure 2,000 rules of a tenth of 100,000 rows each with weights or clusters; the peer has neither."""
    rng = np.random.default_rng(0)
    x = np.sort(rng.random(ROWS))
    labels = (x + 0.3 * rng.random(ROWS) > 0.6).astype(np.int64)
    lows = np.linspace(0, 1 - COVERAGE, RULES)
    rules = [Rule([Interval(0, low, low + COVERAGE)]) for low in lows]
    owned = np.clip(np.searchsorted(lows, x) - 1 - rng.integers(0, RULES // 20, ROWS), 0, RULES - 1)
    explanations = Explanations(kind="rule", values=np.fromiter((rules[i] for i in owned), dtype=object))
    in_scope = registry().create("relation", "in-scope")
    designs = {
        FEW_WEIGHTS: Design.of(rng.integers(1, 4, ROWS), None, ROWS),
        CLUSTERS: Design.of(None, rng.permutation(ROWS) // 5, ROWS),
        ALL_WEIGHTS: Design.of(np.exp(rng.normal(size=ROWS)), None, ROWS),
    }

    def measure(design=None):
        counted = count(in_scope, Sample(x[:, None], explanations), labels, 2, design=design)
        return JackknifeEstimate.of(counted).statistics.n

    return [
        Contest(
            f"{RULES:,} rules × {ROWS:,} rows, {name}",
            lambda design=design: measure(design),
            "faithkit, equal rows",
            measure,
            1 / 15 if name == ALL_WEIGHTS else 1 / 5,
            repeat=2,
        )
        for name, design in designs.items()
    ]


@benchmark
def left_out() -> list[Contest]:
    """Leave out each row of one group; the peer adds up all pairs again for twenty of them."""
    rng, row = np.random.default_rng(0), np.arange(PAIRS)
    weights, label = rng.integers(1, 1_000, PAIRS), rng.integers(0, 3, PAIRS)
    cells = Cells.of(np.zeros_like(row), row, label, held=weights, owned=weights)
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
