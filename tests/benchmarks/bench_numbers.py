"""Predictions that are numbers, nearly all of them different, beside labels of the same rows."""

import tempfile
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
from harness import Contest, benchmark

import faithkit
from faithkit.inputs.logs.log_files import open_log
from faithkit.run.populations.log_scoring import score_log

D, DISTINCT = 14, 50_000
GOAL = 1 / 1.5  # numbers may take half as long again
NAMES = [f"phi_{j}" for j in range(D)]
FOLDER = tempfile.TemporaryDirectory(prefix="faithkit-bench-")  # gone when this process ends


def draw_rows(n, rng, vectors, means):
    """Return explanations, labels, and numbers whose mean depends on the explanation."""
    codes = rng.integers(0, DISTINCT, n)
    numbers = means[codes] + rng.normal(size=n)
    return vectors[codes], (numbers > 0).astype(np.int64), numbers


def prepare_draws():
    """Return a generator, and what a million rows at a time are made with."""
    rng = np.random.default_rng(0)
    return rng, np.round(rng.normal(size=(DISTINCT, D)), 1), rng.normal(size=DISTINCT)


@benchmark
def numbers() -> list[Contest]:
    """Score a million vectors with float predictions; the peer has labels."""
    n = 1_000_000
    vectors, labels, floats = draw_rows(n, *prepare_draws())
    name = f"{n:,} × {D}, numbers"
    ours, peer = (
        lambda predictions=predictions: faithkit.score(predictions, vectors).n
        for predictions in (floats, labels)
    )
    return [Contest(name, ours, "faithkit, labels", peer, GOAL, repeat=5)]


@benchmark
def numbers_log() -> list[Contest]:
    """Score a log of four million rows."""
    return compare_logs(4_000_000)


@benchmark
def numbers_long_log() -> list[Contest]:
    """Score a log that is as long as that of labels alone is elsewhere."""
    return compare_logs(20_000_000)


def compare_logs(n: int) -> list[Contest]:
    """Score a log in Parquet with float predictions; the peer reads labels from the same file."""
    path = Path(FOLDER.name, f"{n}.parquet")
    parts, million = prepare_draws(), 1_000_000
    with pq.ParquetWriter(path, make_schema()) as writer:
        for _ in range(0, n, million):
            vectors, labels, floats = draw_rows(million, *parts)
            columns = [labels, floats, *np.ascontiguousarray(vectors.T)]
            writer.write_table(pa.table(columns, schema=make_schema()))

    def scored(prediction):
        return lambda: score_log(open_log(str(path), prediction, ("phi_*",))).result.n

    name = f"{n:,} × {D} in Parquet, numbers"
    return [Contest(name, scored("number"), "faithkit, labels", scored("label"), GOAL, repeat=2)]


def make_schema():
    """Return the columns of the log."""
    floats = ((name, pa.float64()) for name in NAMES)
    return pa.schema([("label", pa.int64()), ("number", pa.float64()), *floats])
