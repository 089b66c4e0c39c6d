"""One way to explain a sample: in chunks, by workers of any kind, with a store between the runs.

Chunk edges depend on the data alone and seeds on the content of rows, so that the number of workers and
their kind cannot change a result. Every answer is kept as soon as it is here.
"""

import contextlib
import math
import warnings
from collections.abc import Iterable
from typing import Any

import attrs
import numpy as np
import pandas as pd

from faithkit.arrays.blocks import spans
from faithkit.arrays.containers import n_rows, take_rows
from faithkit.errors import FaithkitWarning
from faithkit.explanations.explanations import Explanations
from faithkit.inputs.seeds import row_seeds
from faithkit.run.explaining.answer import Answer
from faithkit.run.explaining.chunk import Chunk
from faithkit.run.explaining.execution import Execution
from faithkit.run.explaining.job import Job
from faithkit.run.explaining.keys import keys
from faithkit.run.explaining.progress import watched
from faithkit.run.explaining.workers import each_answer

MOST_CHUNKS = 4096
MOST_VALUES = 2**22  # of a chunk's rows, where these are dense: 4,096 rows of 1,024 columns


def explain_sample(job: Job, X: Any, execution: Execution) -> Explanations:
    """Explain every row of a sample."""
    chunks = _chunks(job, X, execution)
    answers = _recalled(chunks, execution)
    pending = [chunk for chunk in chunks if chunk.number not in answers]
    n = n_rows(X)
    try:
        with (
            watched(job.explainer.text, execution, n, n - sum(map(len, pending))) as progress,
            contextlib.closing(each_answer(job, pending, execution)) as results,
        ):
            for answer in answers.values():
                progress.warn(answer.warnings)
            for chunk, answer in results:
                chunk.keep(answer)
                answers[chunk.number] = answer
                progress.warn(answer.warnings)
                progress.finished(len(answer))
    except KeyboardInterrupt:
        raise KeyboardInterrupt(_farewell(len(answers), len(chunks), execution)) from None
    whole = Answer.joined([answers[chunk.number] for chunk in chunks])
    return _explanations(whole, X)


def _chunks(job: Job, X: Any, execution: Execution) -> list[Chunk]:
    edges = list(spans(n_rows(X), _rows_per_chunk(job, X)))
    named: Iterable[str | None] = [None] * len(edges)
    if execution.store is not None:
        execution.store.open()
        named = keys(job, X, edges)
    seeds = row_seeds(X, job.seed)
    return [
        Chunk(i, take_rows(X, slice(a, b)), seeds[a:b], a, execution, key)
        for i, ((a, b), key) in enumerate(zip(edges, named, strict=True))
    ]


def _rows_per_chunk(job: Job, X: Any) -> int:
    """Return how many rows a chunk has, by what the explainer declares, the columns and the rows of X."""
    width = math.prod(X.shape[1:]) if isinstance(X, np.ndarray | pd.DataFrame) else 1
    affordable = max(1, MOST_VALUES // max(1, width))
    return max(min(job.rows_per_chunk, affordable), -(-n_rows(X) // MOST_CHUNKS))


def _recalled(chunks: list[Chunk], execution: Execution) -> dict[int, Answer]:
    """Return the answers that the store has; how many cannot be trusted is told, and these are left out."""
    found, damaged = {}, 0
    for chunk in chunks:
        try:
            found[chunk.number] = chunk.find()
        except ValueError:
            damaged += 1
    if damaged and execution.store is not None:
        warnings.warn(
            f"{damaged} of {len(chunks)} chunks must be explained again: in the store "
            f"{execution.store.folder} they are damaged, or not what their names say.",
            FaithkitWarning,
            stacklevel=3,
        )
    return {number: answer for number, answer in found.items() if answer is not None}


def _farewell(done: int, n: int, execution: Execution) -> str:
    if execution.store is None:
        return f"interrupted: {done} of {n} chunks were done, and nothing is kept without a store."
    return (
        f"interrupted: {done} of {n} chunks are kept in {execution.store.folder}; "
        "the same command goes on from there."
    )


def _explanations(whole: Answer, X: Any) -> Explanations:
    """Return the explanations of all rows, with the rows beside them."""
    n, found = len(whole), whole.explanations
    told = np.fromiter(whole.reasons, dtype=object, count=n)
    if found is None:
        found = attrs.evolve(Explanations.of([None] * n), remarks=told)
    elif len(found) < n:
        found = found.spread(whole.rows, n, told)
    return attrs.evolve(found, instances=X)
