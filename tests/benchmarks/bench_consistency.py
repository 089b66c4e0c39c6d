"""Consistency, from explanations to an estimate with its interval."""

import os

import numpy as np
from harness import Contest, benchmark

import faithkit

N, D, DISTINCT = 1_000_000, 14, 50_000


def _near(a, b):
    return abs(a - b) < 1e-12


@benchmark
def consistency() -> list[Contest]:
    """Score a million vectors; the peer is a group-by that computes the same number, without interval."""
    os.environ["POLARS_MAX_THREADS"] = "2"
    rng = np.random.default_rng(0)
    codes = rng.integers(0, DISTINCT, N)
    vectors = np.round(rng.normal(size=(DISTINCT, D)), 1)[codes]
    labels = (rng.random(N) < 0.3).astype(np.int64)
    columns = [f"c{j}" for j in range(D)]

    def polars() -> float:
        import polars as pl

        frame = pl.DataFrame({name: vectors[:, j] for j, name in enumerate(columns)} | {"y": labels})
        positive = (pl.col("y") == 1).sum().cast(pl.Int64).alias("p")
        groups = frame.group_by(columns).agg(pl.len().cast(pl.Int64).alias("n"), positive)
        n, p = pl.col("n"), pl.col("p")
        agree = (p * (p - 1) + (n - p) * (n - p - 1)) / (n - 1)
        return groups.select(pl.when(n > 1).then(agree).otherwise(0.0).sum()).item() / N

    def ours() -> float:
        return faithkit.score(labels, vectors).consistency.value

    import polars as _  # noqa: F401 (so that a missing polars leaves this benchmark out)

    return [Contest(f"{N:,} × {D}, {DISTINCT:,} distinct", ours, "polars group_by", polars, 1.0, _near)]


@benchmark
def consistency_quantus() -> list[Contest]:
    """Score 10,000 vectors against Quantus' Consistency, set so that it computes the paper's estimator."""
    import quantus
    import torch

    n = 10_000
    rng = np.random.default_rng(0)
    vectors = np.round(rng.normal(size=(500, D)), 1)[rng.integers(0, 500, n)].astype(np.float32)
    labels = rng.integers(0, 2, n)
    logits = np.zeros((n, 1, D), dtype=np.float32)
    logits[np.arange(n), 0, labels] = 1

    class FirstTwo(torch.nn.Module):
        """A model whose logits are the first two inputs: its predictions are the labels."""

        def forward(self, x):
            return x.reshape(len(x), -1)[:, :2]

    def peer() -> float:
        metric = quantus.Consistency(
            discretise_func=lambda a: hash(a.tobytes()), abs=False, normalise=False, disable_warnings=True
        )
        scores = metric(
            model=FirstTwo().eval(),
            x_batch=logits,
            y_batch=labels,
            a_batch=vectors[:, None],
            batch_size=n,
            softmax=False,
        )
        return float(np.mean(scores))

    def ours() -> float:
        return faithkit.score(labels, vectors).consistency.value

    return [
        Contest(f"{n:,} × {D}", ours, "quantus Consistency", peer, 100.0, lambda a, b: abs(a - b) < 1e-6, 1)
    ]
