"""Consistency, from explanations to an estimate with its interval."""

import os
from typing import Any

import numpy as np
from harness import Contest, benchmark

import faithkit

N, D, DISTINCT = 1_000_000, 14, 50_000


def _is_near(a, b):
    return abs(a - b) < 1e-12


def _is_close(a, b):
    return abs(a - b) < 1e-6  # Quantus averages 32-bit floats


def _make_log(n, distinct):
    """Vectors of which some are equal, and labels."""
    rng = np.random.default_rng(0)
    codes = rng.integers(0, distinct, n)
    return (rng.random(n) < 0.3).astype(np.int64), np.round(rng.normal(size=(distinct, D)), 1)[codes]


def _score(labels, vectors):
    return lambda: faithkit.score(labels, vectors).consistency.value


def _logits(labels):
    """Inputs from which the model below reads the labels off."""
    logits = np.zeros((len(labels), 1, D), dtype=np.float32)
    logits[np.arange(len(labels)), 0, labels] = 1
    return logits


def _first_two():
    import torch

    class FirstTwo(torch.nn.Module):
        """A model whose logits are the first two inputs: its predictions are the labels."""

        def forward(self, x):
            return x.reshape(len(x), -1)[:, :2]

    return FirstTwo().eval()


@benchmark
def consistency() -> list[Contest]:
    """Score a million explanations; the peer is a group-by that computes the same number, without interval."""
    os.environ["POLARS_MAX_THREADS"] = "2"
    labels, vectors = _make_log(N, DISTINCT)
    texts = np.array([str(row) for row in vectors[:DISTINCT, :3]])[np.arange(N) % DISTINCT].tolist()

    def vector_columns() -> dict[str, Any]:
        return {f"c{j}": vectors[:, j] for j in range(D)}

    return [
        _against_polars(f"{N:,} × {D}, {DISTINCT:,} distinct", labels, vectors, vector_columns, 1.0),
        _against_polars(
            f"{N:,} texts, {len(set(texts)):,} distinct", labels, texts, lambda: {"c0": texts}, 0.0
        ),
    ]


def _against_polars(name, labels, explanations, columns, goal) -> Contest:
    import polars as pl

    def polars() -> float:
        table = columns()
        frame = pl.DataFrame(table | {"y": labels})
        positive = (pl.col("y") == 1).sum().cast(pl.Int64).alias("p")
        groups = frame.group_by(list(table)).agg(pl.len().cast(pl.Int64).alias("n"), positive)
        n, p = pl.col("n"), pl.col("p")
        agree = (p * (p - 1) + (n - p) * (n - p - 1)) / (n - 1)
        return groups.select(pl.when(n > 1).then(agree).otherwise(0.0).sum()).item() / N

    return Contest(name, _score(labels, explanations), "polars group_by", polars, goal, _is_near)


@benchmark
def consistency_duckdb() -> list[Contest]:
    """Score the same million vectors against DuckDB's group-by."""
    import duckdb
    import pyarrow as pa

    labels, vectors = _make_log(N, DISTINCT)
    columns = [f"c{j}" for j in range(D)]
    table = pa.table([*np.ascontiguousarray(vectors.T), labels], names=[*columns, "y"])
    query = f"""
        SELECT sum(CASE WHEN n > 1 THEN (p * (p - 1) + (n - p) * (n - p - 1))::DOUBLE / (n - 1) ELSE 0 END)
               / sum(n)
        FROM (SELECT count(*) AS n, sum(y) AS p FROM arrays GROUP BY {", ".join(columns)})"""

    def peer() -> float:
        with duckdb.connect() as connection:
            connection.execute("SET threads TO 2")
            connection.register("arrays", table)
            return connection.execute(query).fetchall()[0][0]

    return [
        Contest(
            f"{N:,} × {D}, {DISTINCT:,} distinct",
            _score(labels, vectors),
            "duckdb group by",
            peer,
            1.0,
            _is_near,
        )
    ]


@benchmark
def consistency_loop() -> list[Contest]:
    """Score a thousand vectors against the definition written down: every pair of rows, in two loops."""
    n = 1_000
    labels, vectors = _make_log(n, 100)

    def loops() -> float:
        total = 0.0
        for i in range(n):
            same = [j for j in range(n) if j != i and (vectors[i] == vectors[j]).all()]
            total += sum(labels[j] == labels[i] for j in same) / len(same) if same else 0.0
        return total / n

    return [Contest(f"{n:,} × {D}", _score(labels, vectors), "NumPy in two loops", loops, 0.0, _is_near, 1)]


@benchmark
def consistency_explainiverse() -> list[Contest]:
    """Score 2,000 vectors by their three largest values against Explainiverse's `compute_consistency`."""
    from explainiverse.core.explainer import BaseExplainer
    from explainiverse.core.explanation import Explanation
    from explainiverse.evaluation import compute_consistency

    n = 2_000
    labels, vectors = _make_log(n, 200)
    X = np.column_stack([np.arange(n, dtype=float), vectors[:, 1:]])  # a row carries its number
    names = [f"c{j}" for j in range(D)]

    class Logged(BaseExplainer):
        """Look the explanation up, so that nothing but the metric is timed."""

        def explain(self, x):
            attributions = dict(zip(names, vectors[int(x[0])].tolist(), strict=True))
            return Explanation("logged", 0, {"feature_attributions": attributions}, feature_names=names)

    class Model:
        """Look the label up."""

        def predict(self, X):
            return labels[np.asarray(X)[:, 0].astype(int)]

    def top_three(explanations):
        order = np.argsort(-np.abs(explanations.values), axis=1, kind="stable")
        return np.sort(order[:, :3], axis=1)

    def peer() -> float:
        return compute_consistency(Logged(Model()), Model(), X, top_k=3)

    def ours() -> float:
        return faithkit.score(labels, vectors, discretizer=top_three).consistency.value

    return [Contest(f"{n:,} × {D}, top 3", ours, "explainiverse", peer, 0.0, _is_near, 1)]


@benchmark
def sufficiency_quantus() -> list[Contest]:
    """Measure explanations within a standardised distance, the one relation that Quantus' Sufficiency has."""
    import quantus
    import torch  # noqa: F401 -- Quantus asks a model of torch

    n, tau = 5_000, 4.0
    labels, vectors = _make_log(n, 500)

    def peer() -> float:
        metric = quantus.Sufficiency(
            threshold=tau, abs=False, normalise=False, normalise_func=lambda d: d, disable_warnings=True
        )
        scores = metric(model=_first_two(), x_batch=_logits(labels), y_batch=labels,
                        a_batch=vectors[:, None], batch_size=n, softmax=False)  # fmt: skip
        return float(np.mean(scores))

    def ours() -> float:
        scaled = vectors / np.vstack([vectors, vectors]).std(axis=0, ddof=1)  # as it standardises them
        return faithkit.score(labels, scaled, relation=f"near-explanation:tau={tau}").sufficiency.value

    return [
        Contest(
            f"{n:,} × {D}, within {tau}",
            ours,
            "quantus Sufficiency",
            peer,
            0.0,
            _is_close,
            1,
        )
    ]


@benchmark
def consistency_quantus() -> list[Contest]:
    """Score 10,000 vectors against Quantus' Consistency, set so that it computes the paper's estimator."""
    import quantus
    import torch  # noqa: F401 -- Quantus asks a model of torch

    n = 10_000
    labels, vectors = _make_log(n, 500)
    vectors = vectors.astype(np.float32)

    def peer() -> float:
        metric = quantus.Consistency(
            discretise_func=lambda a: hash(a.tobytes()), abs=False, normalise=False, disable_warnings=True
        )
        scores = metric(model=_first_two(), x_batch=_logits(labels), y_batch=labels,
                        a_batch=vectors[:, None], batch_size=n, softmax=False)  # fmt: skip
        return float(np.mean(scores))

    return [
        Contest(f"{n:,} × {D}", _score(labels, vectors), "quantus Consistency", peer, 100.0, _is_close, 1)
    ]
