"""Chunks of a sample, and the function that explains one in any kind of worker."""

import contextlib
import threading
import warnings
from collections.abc import Iterable
from typing import Any

import attrs
import numpy as np
from numpy.typing import NDArray

from faithkit.arrays.batches import spans
from faithkit.arrays.containers import take_rows
from faithkit.errors import ContractError, ExplainerError, FaithkitWarning
from faithkit.explanations.explanations import InfiniteImportanceError
from faithkit.inputs.rows import Rows
from faithkit.run.explaining.chunk_keys import digest
from faithkit.run.explaining.job import Execution, Job, cluster_worker
from faithkit.run.explaining.progress import report_progress, warn_early
from faithkit.run.explaining.store import ChunkResult
from faithkit.run.explaining.timeout import run_with_time_limit
from faithkit.third_party import RowTimeout
from faithkit.wording import describe

_ALWAYS_RAISED = (ContractError, KeyboardInterrupt)  # these are not failures of a row


@attrs.frozen(eq=False)
class Chunk:
    """Consecutive rows of a sample, as they are sent to a worker.

    `seeds` has one seed per row. `key` is the key of the result in the store, None without a store.
    """

    number: int
    X: Rows
    seeds: NDArray[np.uint32]
    first_row: int
    execution: Execution
    key: str | None = None

    def __len__(self) -> int:
        return len(self.seeds)

    def subchunk(self, start: int, stop: int) -> "Chunk":
        """Return a chunk of the rows from `start` to `stop`, whose result is not stored."""
        rows = slice(start, stop)
        first_row = self.first_row + start
        return Chunk(self.number, take_rows(self.X, rows), self.seeds[rows], first_row, self.execution)

    def load_result(self) -> ChunkResult | None:
        """Return the stored result, or None if there is none.

        A result with failed rows is used only if they were recorded under the same `on_error` and
        `row_timeout`.

        Raises
        ------
        ValueError
            If the stored file is damaged.
        """
        store = self.execution.store
        if store is None or self.key is None:
            return None
        complete = store.read(self.key)
        return store.read(self._key_with_failures(self.key)) if complete is None else complete

    def store_result(self, result: ChunkResult) -> None:
        """Write the result to the store, under a key of its own if some rows failed."""
        if self.execution.store is not None and self.key is not None:
            is_complete = len(result.rows) == len(result)
            self.execution.store.write(self.key if is_complete else self._key_with_failures(self.key), result)

    def _key_with_failures(self, key: str) -> str:
        return digest(key, self.execution.on_error, self.execution.row_timeout)


def explain_chunk(job: Job, chunk: Chunk, overdue_file: str | None = None) -> ChunkResult:
    """Explain the rows of a chunk, and return the explanations with the explainer's warnings.

    Rows are explained together, or one by one where each has a time limit.

    Parameters
    ----------
    job : Job
    chunk : Chunk
    overdue_file : str, optional
        A file that is written to if a row ignores its time limit. This process then ends.
    """
    with _record_warnings() as fit_warnings:
        job.fitted  # noqa: B018 (fit now, so that a failure to fit is not taken for the failure of a row)
    warn_early(_unique_messages(fit_warnings))
    with _record_warnings() as row_warnings:
        report_progress(0)  # starts the clock, now that the explainer is fitted
        rows_per_call = len(chunk) if chunk.execution.row_timeout is None else 1
        calls = [chunk.subchunk(*call) for call in spans(len(chunk), rows_per_call)]
        result = ChunkResult.concat([_explain_rows(job, call, overdue_file) for call in calls])
    return attrs.evolve(result, warnings=_unique_messages([*fit_warnings, *row_warnings]))


def fail_row(job: Job, row: Chunk, reason: str, cause: BaseException | None = None) -> ChunkResult:
    """Record that a row has no explanation, or raise an error that names the row, as `on_error` says."""
    if row.execution.on_error == "record":
        return ChunkResult(None, [reason])
    raise ExplainerError(
        f"the explainer {job.explainer.text} failed on row {row.first_row}: {reason.rstrip('.')}. "
        "With on_error='record' (CLI: --on-error record) such rows are counted as unexplained."
    ) from cause


def _record_warnings() -> contextlib.AbstractContextManager[Any]:
    """Record warnings in a list; the list stays empty where several threads explain.

    `warnings.catch_warnings` is not thread-safe. Among several threads, warnings are shown at once instead.
    """
    if not _is_only_thread():
        return contextlib.nullcontext([])
    return warnings.catch_warnings(record=True, action="always", category=FaithkitWarning)


def _unique_messages(recorded: Iterable[warnings.WarningMessage]) -> tuple[str, ...]:
    """Return the messages of faithkit's own warnings, each once."""
    own_warnings = (warning for warning in recorded if issubclass(warning.category, FaithkitWarning))
    return tuple(dict.fromkeys(str(warning.message) for warning in own_warnings))


def _is_only_thread() -> bool:
    """Whether this thread is the only one of the process that explains rows."""
    if threading.current_thread() is threading.main_thread():
        return True
    worker = cluster_worker()
    return worker is not None and worker.state.nthreads == 1


def _describe_failure(error: BaseException) -> str:
    """Return why a row has no explanation, in words that are the same for all such rows."""
    if isinstance(error, InfiniteImportanceError):
        return error.problem
    return str(error) if isinstance(error, RowTimeout) else describe(error)


def _explain_rows(job: Job, chunk: Chunk, overdue_file: str | None) -> ChunkResult:
    """Explain rows in one call; on a failure explain each half, so that only the failing rows are lost."""
    limit = chunk.execution.row_timeout
    try:
        explanations = run_with_time_limit(limit, lambda: job.explain(chunk.X, chunk.seeds), overdue_file)
        return ChunkResult.of(explanations)
    except _ALWAYS_RAISED:
        raise
    except BaseException as error:
        if len(chunk) == 1:
            return fail_row(job, chunk, _describe_failure(error), error)
    middle = len(chunk) // 2
    halves = chunk.subchunk(0, middle), chunk.subchunk(middle, len(chunk))
    return ChunkResult.concat([_explain_rows(job, half, overdue_file) for half in halves])
