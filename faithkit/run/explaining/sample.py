"""Explain a sample: in chunks, by an executor, while the progress is shown.

Chunk edges depend on the data alone, and seeds on the content of rows. So executors cannot change a result.
"""

import contextlib
import math
from collections.abc import Generator, Sequence
from typing import Any

import attrs
import numpy as np
import pandas as pd

from faithkit.arrays.batches import spans
from faithkit.arrays.containers import n_rows, take_rows
from faithkit.errors import ContractError
from faithkit.explanations.explanations import Explanations
from faithkit.inputs.rows import Rows
from faithkit.inputs.seeds import row_seeds
from faithkit.measure.protocols import get_optional_attribute
from faithkit.run.components.resolution import ResolvedComponent
from faithkit.run.explaining.chunk import Chunk, ChunkResult
from faithkit.run.explaining.job import Job
from faithkit.run.explaining.progress import track_progress

MAX_CHUNKS = 4096
MAX_VALUES = 2**22  # of the rows of a chunk, if they are dense: 4,096 rows of 1,024 columns


def explain_sample(job: Job, X: Rows, executor: ResolvedComponent, progress: bool = True) -> Explanations:
    """Explain every row of a sample."""
    chunks = _split_into_chunks(job, X)
    results: dict[int, ChunkResult] = {}
    try:
        with (
            track_progress(job.explainer.text, executor, n_rows(X), progress) as tracker,
            contextlib.closing(_run(executor, job, chunks)) as answers,
        ):
            for answer in answers:
                number, result = _check_answer(executor, answer, chunks, results)
                results[number] = result
                tracker.warn(result.warnings)
                if result.is_kept:
                    tracker.skip(len(result))
                else:
                    tracker.finish_chunk(len(result))
    except KeyboardInterrupt:
        raise KeyboardInterrupt(_interruption_message(len(results), len(chunks), executor)) from None
    if len(results) < len(chunks):
        raise ContractError(
            f"the executor {executor.text} answered {len(results)} of {len(chunks)} chunks; expected all."
        )
    return _as_explanations(ChunkResult.concat([results[chunk.number] for chunk in chunks]), X)


def _split_into_chunks(job: Job, X: Rows) -> list[Chunk]:
    n = n_rows(X)
    seeds = row_seeds(X, job.seed)
    return [
        Chunk(number, take_rows(X, slice(start, stop)), seeds[start:stop], start)
        for number, (start, stop) in enumerate(spans(n, _rows_per_chunk(job, X, n)))
    ]


def _rows_per_chunk(job: Job, X: Rows, n: int) -> int:
    """Return the number of rows of a chunk, from the explainer's declaration and the shape of X."""
    n_values = math.prod(X.shape[1:]) if isinstance(X, np.ndarray | pd.DataFrame) else 1
    max_rows = max(1, MAX_VALUES // max(1, n_values))
    return max(min(job.rows_per_chunk, max_rows), -(-n // MAX_CHUNKS))


def _run(executor: ResolvedComponent, job: Job, chunks: list[Chunk]) -> Generator[Any]:
    """Yield the answers of an executor from a generator, which can be closed, as not every iterator can."""
    yield from executor.instance.run(job, chunks)


def _check_answer(
    executor: ResolvedComponent, answer: Any, chunks: Sequence[Chunk], results: dict[int, ChunkResult]
) -> tuple[int, ChunkResult]:
    """Return the number of a chunk with its result, if the executor gave these."""
    match answer:
        case Chunk(number=int(number)), ChunkResult() as result if 0 <= number < len(chunks):
            if number in results:
                problem = f"answered chunk {number} twice"
            elif len(result) != len(chunks[number]):
                problem = f"gave {len(result)} explanations for the {len(chunks[number])} rows of a chunk"
            else:
                return number, result
        case _:
            problem = f"yielded {type(answer).__name__}"
    raise ContractError(
        f"the executor {executor.text} {problem}; expected (chunk, result) of each chunk once, with "
        "faithkit.plugin.explain_chunk(job, chunk) as the result."
    )


def _interruption_message(n_done: int, n_chunks: int, executor: ResolvedComponent) -> str:
    kept_in = get_optional_attribute(executor.instance, "kept_in")
    if kept_in is None:
        return f"interrupted: {n_done} of {n_chunks} chunks were done, and nothing is kept without a store."
    return (
        f"interrupted: {n_done} of {n_chunks} chunks are kept in {kept_in}; "
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
