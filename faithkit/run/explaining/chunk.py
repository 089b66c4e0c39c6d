"""A chunk: some rows of a sample; and the one function that answers it, whoever calls it."""

import contextlib
import threading
import warnings
from collections.abc import Iterable
from typing import Any

import attrs
import numpy as np
from numpy.typing import NDArray

from faithkit.arrays.containers import take_rows
from faithkit.errors import ContractError, ExplainerError, FaithkitError, FaithkitWarning
from faithkit.foreign import RowTimeout
from faithkit.run.explaining.answer import Answer
from faithkit.run.explaining.execution import Execution
from faithkit.run.explaining.job import Job
from faithkit.run.explaining.keys import digest
from faithkit.run.explaining.parcel import cluster_worker
from faithkit.run.explaining.progress import rows_done, warn_early
from faithkit.run.explaining.timeout import limited
from faithkit.wording import describe

_PASSED_ON = (ContractError, KeyboardInterrupt)  # no row's own failure


@attrs.frozen(eq=False)
class Chunk:
    """Some rows as they travel to a worker, with their seeds, and the key of their answer in the store."""

    number: int
    X: Any
    seeds: NDArray[np.uint32]
    first_row: int
    execution: Execution
    key: str | None = None

    def __len__(self) -> int:
        return len(self.seeds)

    def part(self, start: int, stop: int) -> "Chunk":
        """Return a chunk of some of the rows, whose answer is not kept."""
        rows = slice(start, stop)
        first = self.first_row + start
        return Chunk(self.number, take_rows(self.X, rows), self.seeds[rows], first, self.execution)

    def find(self) -> Answer | None:
        """Return the answer from the store: a clean one, or one whose failures were recorded in this way.

        A damaged one raises ValueError.
        """
        store = self.execution.store
        if store is None or self.key is None:
            return None
        clean = store.read(self.key)
        return store.read(self._key_of_failures(self.key)) if clean is None else clean

    def keep(self, answer: Answer) -> None:
        """Store the answer; failures belong to the rules under which they were recorded."""
        if self.execution.store is not None and self.key is not None:
            key = self.key if len(answer.rows) == len(answer) else self._key_of_failures(self.key)
            self.execution.store.write(key, answer)

    def _key_of_failures(self, key: str) -> str:
        return digest(key, self.execution.on_error, self.execution.row_timeout) + key[32:]


def answer(job: Job, chunk: Chunk, overdue: str | None = None) -> Answer:
    """Explain the rows of a chunk, and return the answer with the warnings that the explainer gave.

    Parameters
    ----------
    job : Job
        What explains them.
    chunk : Chunk
        The rows: all at once, or one by one where each has a time limit.
    overdue : str, optional
        A file that is written to when a row hangs and ignores its time limit, which then ends this process.
    """
    with _caught() as by_fit:
        job.fitted  # noqa: B018 (a failure to fit is nobody's row)
    warn_early(_texts(by_fit))
    with _caught() as by_rows:
        rows_done(0)  # only now it begins
        explained = _explain(job, chunk, overdue)
    return attrs.evolve(explained, warnings=_texts([*by_fit, *by_rows]))


def failed_row(job: Job, chunk: Chunk, row: int, reason: str, cause: BaseException | None = None) -> Answer:
    """Record that a row of a chunk has no explanation, or raise an error that names the row."""
    if chunk.execution.on_error == "record":
        return Answer(None, [reason])
    raise ExplainerError(
        f"the explainer {job.explainer.text} failed on row {chunk.first_row + row}: {reason.rstrip('.')}. "
        "With on_error='record' (CLI: --on-error record) such rows are counted as unexplained."
    ) from cause


def _caught() -> contextlib.AbstractContextManager[Any]:
    """Catch warnings in a list: in one thread at a time only; among several they are shown as they come."""
    if not _is_alone():
        return contextlib.nullcontext([])
    return warnings.catch_warnings(record=True, action="always", category=FaithkitWarning)


def _texts(caught: Iterable[warnings.WarningMessage]) -> tuple[str, ...]:
    """Return what faithkit's warnings say, each text once."""
    ours = (warning for warning in caught if issubclass(warning.category, FaithkitWarning))
    return tuple(dict.fromkeys(str(warning.message) for warning in ours))


def _is_alone() -> bool:
    """Whether no other thread of this process explains: in the main thread, or in a worker that has one."""
    if threading.current_thread() is threading.main_thread():
        return True
    worker = cluster_worker()
    return worker is not None and worker.state.nthreads == 1


def _explain(job: Job, chunk: Chunk, overdue: str | None) -> Answer:
    if chunk.execution.row_timeout is None and len(chunk):
        return _explain_at_once(job, chunk, 0, len(chunk))
    return Answer.joined([_explain_row(job, chunk, row, overdue) for row in range(len(chunk))])


def _explain_at_once(job: Job, chunk: Chunk, first: int, end: int) -> Answer:
    """Explain some rows at once; on a failure either half, so that only the failing rows are lost."""
    try:
        return Answer.of(job.explain(take_rows(chunk.X, slice(first, end)), chunk.seeds[first:end]))
    except _PASSED_ON:
        raise
    except BaseException as error:
        if end - first == 1:
            return failed_row(job, chunk, first, _reason(job, chunk, error), _cause(error))
    middle = (first + end) // 2
    halves = [(first, middle), (middle, end)]
    return Answer.joined([_explain_at_once(job, chunk, start, stop) for start, stop in halves])


def _explain_row(job: Job, chunk: Chunk, row: int, overdue: str | None) -> Answer:
    X, seeds = take_rows(chunk.X, slice(row, row + 1)), chunk.seeds[row : row + 1]
    limit = chunk.execution.row_timeout
    try:
        return Answer.of(limited(limit, lambda: job.explain(X, seeds), overdue))
    except _PASSED_ON:
        raise
    except BaseException as error:
        return failed_row(job, chunk, row, _reason(job, chunk, error), _cause(error))


def _reason(job: Job, chunk: Chunk, error: BaseException) -> str:
    reason = str(error) if isinstance(error, RowTimeout) else describe(error)
    is_named = isinstance(error, FaithkitError) and chunk.execution.on_error == "raise"
    return f"{type(error).__name__}: {reason}" if is_named else reason


def _cause(error: BaseException) -> Exception | None:
    return error if isinstance(error, Exception) else None
