"""Explain a sample: in chunks, on workers of any kind, with a store that keeps results between runs.

Chunk edges depend on the data alone, and seeds on the content of rows. So the number and kind of workers
cannot change a result. The result of each chunk is stored as soon as it arrives.
"""

import contextlib
import math
from collections.abc import Iterable

import attrs
import numpy as np
import pandas as pd

from faithkit.arrays.batches import spans
from faithkit.arrays.containers import n_rows, take_rows
from faithkit.errors import warn
from faithkit.explanations.explanations import Explanations
from faithkit.inputs.rows import Rows
from faithkit.inputs.seeds import row_seeds
from faithkit.run.explaining.chunk import Chunk
from faithkit.run.explaining.chunk_keys import chunk_keys
from faithkit.run.explaining.job import Execution, Job
from faithkit.run.explaining.progress import track_progress
from faithkit.run.explaining.store import ChunkResult
from faithkit.run.explaining.workers import explain_chunks

MAX_CHUNKS = 4096
MAX_VALUES = 2**22  # of the rows of a chunk, if they are dense: 4,096 rows of 1,024 columns


def explain_sample(job: Job, X: Rows, execution: Execution) -> Explanations:
    """Explain every row of a sample."""
    chunks = _split_into_chunks(job, X, execution)
    results = _load_stored_results(chunks, execution)
    pending = [chunk for chunk in chunks if chunk.number not in results]
    n, n_pending = sum(map(len, chunks)), sum(map(len, pending))
    try:
        with (
            track_progress(job.explainer.text, execution, n, n - n_pending) as progress,
            contextlib.closing(explain_chunks(job, pending, execution)) as new_results,
        ):
            for result in results.values():
                progress.warn(result.warnings)
            for chunk, result in new_results:
                chunk.store_result(result)
                results[chunk.number] = result
                progress.warn(result.warnings)
                progress.finish_chunk(len(result))
    except KeyboardInterrupt:
        raise KeyboardInterrupt(_interruption_message(len(results), len(chunks), execution)) from None
    return _as_explanations(ChunkResult.concat([results[chunk.number] for chunk in chunks]), X)


def _split_into_chunks(job: Job, X: Rows, execution: Execution) -> list[Chunk]:
    n = n_rows(X)
    edges = list(spans(n, _rows_per_chunk(job, X, n)))
    keys: Iterable[str | None] = [None] * len(edges)
    if execution.store is not None:
        execution.store.open()
        keys = chunk_keys(job, X, edges)
    seeds = row_seeds(X, job.seed)
    return [
        Chunk(number, take_rows(X, slice(start, stop)), seeds[start:stop], start, execution, key)
        for number, ((start, stop), key) in enumerate(zip(edges, keys, strict=True))
    ]


def _rows_per_chunk(job: Job, X: Rows, n: int) -> int:
    """Return the number of rows of a chunk, from the explainer's declaration and the shape of X."""
    n_values = math.prod(X.shape[1:]) if isinstance(X, np.ndarray | pd.DataFrame) else 1
    max_rows = max(1, MAX_VALUES // max(1, n_values))
    return max(min(job.rows_per_chunk, max_rows), -(-n // MAX_CHUNKS))


def _load_stored_results(chunks: list[Chunk], execution: Execution) -> dict[int, ChunkResult]:
    """Return the results in the store by chunk number, and warn about files that are damaged."""
    results, n_damaged = {}, 0
    for chunk in chunks:
        try:
            result = chunk.load_result()
        except ValueError:
            n_damaged += 1
        else:
            if result is not None:
                results[chunk.number] = result
    if n_damaged and execution.store is not None:
        warn(
            f"{n_damaged} of {len(chunks)} chunks must be explained again: in the store "
            f"{execution.store.folder} they are damaged, or not what their names say.",
        )
    return results


def _interruption_message(n_done: int, n_chunks: int, execution: Execution) -> str:
    if execution.store is None:
        return f"interrupted: {n_done} of {n_chunks} chunks were done, and nothing is kept without a store."
    return (
        f"interrupted: {n_done} of {n_chunks} chunks are kept in {execution.store.folder}; "
        "the same command goes on from there."
    )


def _as_explanations(result: ChunkResult, X: Rows) -> Explanations:
    """Return the explanations of all rows of X; rows without one are missing, with the reason as remark."""
    n, explanations = len(result), result.explanations
    reasons = np.fromiter(result.reasons, dtype=object, count=n)
    if explanations is None:
        explanations = attrs.evolve(Explanations.of([None] * n), remarks=reasons)
    elif len(explanations) < n:
        explanations = explanations.spread(result.rows, n, reasons)
    return attrs.evolve(explanations, instances=X)
