"""A log on disk that need not fit into memory, against a database that reads the same file."""

import tempfile
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
from harness import Contest, benchmark

from faithkit.inputs.logs.log_files import open_log
from faithkit.run.populations.log_scoring import score_log

N, D, DISTINCT = 20_000_000, 14, 100_000
NAMES = [f"phi_{j}" for j in range(D)]
FOLDER = tempfile.TemporaryDirectory(prefix="faithkit-bench-")  # gone when this process ends


def write_log() -> Path:
    """Write the log, a million rows at a time."""
    path = Path(FOLDER.name, "log.parquet")
    rng = np.random.default_rng(0)
    vectors, chance = rng.normal(size=(DISTINCT, D)), rng.random(DISTINCT)
    schema = pa.schema([("label", pa.int64()), *((name, pa.float64()) for name in NAMES)])
    with pq.ParquetWriter(path, schema) as writer:
        for _ in range(0, N, 1_000_000):
            codes = rng.integers(0, DISTINCT, 1_000_000)
            label = (rng.random(len(codes)) < chance[codes]).astype(np.int64)
            columns = [label, *np.ascontiguousarray(vectors[codes].T)]
            writer.write_table(pa.table(columns, schema=schema))
    return path


@benchmark
def log() -> list[Contest]:
    """Score 20,000,000 rows in Parquet; the peer is a group-by that computes the same number, without interval."""
    import duckdb

    path = write_log()
    columns = ", ".join(NAMES)
    query = f"""
        SELECT sum(CASE WHEN n > 1 THEN (p * (p - 1) + (n - p) * (n - p - 1))::DOUBLE / (n - 1) ELSE 0 END)
               / sum(n)
        FROM (SELECT count(*) AS n, sum(label) AS p FROM '{path}' GROUP BY {columns})"""

    def peer() -> float:
        with duckdb.connect() as connection:
            connection.execute("SET threads TO 2")
            return connection.execute(query).fetchall()[0][0]

    def ours() -> float:
        return score_log(open_log(str(path), "label", ("phi_*",))).result.consistency.value

    def near(a, b):
        return abs(a - b) < 1e-10  # the database adds up 100,000 numbers in any order

    name = f"{N:,} × {D} in Parquet, {DISTINCT:,} distinct"
    return [Contest(name, ours, "duckdb group by", peer, 1.0, near, repeat=2)]
