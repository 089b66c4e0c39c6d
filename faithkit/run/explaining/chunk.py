"""A chunk: some rows of a sample, explained by whoever gets them, all at once or one by one."""

import contextlib
import threading
import warnings
from collections.abc import Iterable, Mapping
from typing import Any

import attrs
import numpy as np
from numpy.typing import NDArray

from faithkit.errors import ContractError, ExplainerError, FaithkitError, FaithkitWarning
from faithkit.foreign import RowTimeout
from faithkit.measure.containers import take_rows
from faithkit.run.explaining.answer import Answer
from faithkit.run.explaining.execution import Execution
from faithkit.run.explaining.job import Job
from faithkit.run.explaining.keys import digest
from faithkit.run.explaining.notes import Note
from faithkit.run.explaining.parcel import cluster_worker
from faithkit.run.explaining.progress import rows_done, warn_early
from faithkit.run.explaining.timeout import limited
from faithkit.wording import describe

GRACE = 2.0  # seconds after the alarm of a row until its process is ended
_PASSED_ON = (ContractError, KeyboardInterrupt)  # no row's own failure


@attrs.frozen(eq=False)
class Chunk:
    """Some rows as they travel to a worker, with their seeds, and the key under which their answer is kept.

    Without a key nothing is kept. `lost` are rows that ended the process they were explained in, and why:
    they are not tried again. Where a process has died, the rows are explained one by one (`row_by_row`), so
    that its note tells which it was.
    """

    number: int
    X: Any
    seeds: NDArray[np.uint32]
    first_row: int
    execution: Execution
    key: str | None = None
    row_by_row: bool = False
    lost: Mapping[int, str] = attrs.field(factory=dict)

    def __len__(self) -> int:
        return len(self.seeds)

    def without(self, row: int, why: str) -> "Chunk":
        """Return the same chunk, in which one of the rows is lost."""
        return attrs.evolve(self, lost={**self.lost, row: why})

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


def answered(job: Job, chunk: Chunk, note: Note | None = None) -> Answer:
    """Explain the rows of a chunk, and keep the answer, with the warnings that the explainer gave."""
    with _caught() as by_fit:
        job.fitted  # noqa: B018 (a failure to fit is nobody's row)
    warn_early(_texts(by_fit))
    with _caught() as by_rows:
        answer = _explained(job, chunk, note)
    answer = attrs.evolve(answer, warnings=_texts([*by_fit, *by_rows]))
    chunk.keep(answer)
    return answer


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


def _explained(job: Job, chunk: Chunk, note: Note | None) -> Answer:
    """Explain the rows at once, or one by one where they have a time limit or may end the process."""
    rows_done(0)  # only now it begins
    if chunk.execution.row_timeout is None and not chunk.row_by_row:
        return _at_once(job, chunk, 0, len(chunk))
    return Answer.joined([_explained_row(job, chunk, i, note) for i in range(len(chunk))])


def _at_once(job: Job, chunk: Chunk, first: int, end: int) -> Answer:
    """Explain some rows at once; on a failure either half, so that only the failing rows are lost."""
    try:
        return Answer.of(job.explain(take_rows(chunk.X, slice(first, end)), chunk.seeds[first:end]))
    except _PASSED_ON:
        raise
    except BaseException as error:
        if end - first == 1:
            return _failed(job, chunk, first, error)
    middle = (first + end) // 2
    return Answer.joined([_at_once(job, chunk, first, middle), _at_once(job, chunk, middle, end)])


def _explained_row(job: Job, chunk: Chunk, i: int, note: Note | None) -> Answer:
    if i in chunk.lost:
        return _failed(job, chunk, i, RowTimeout(chunk.lost[i]))
    limit = chunk.execution.row_timeout
    X, seeds = take_rows(chunk.X, slice(i, i + 1)), chunk.seeds[i : i + 1]
    try:
        with _noted(note, chunk.number, i, limit):
            return Answer.of(limited(limit, lambda: job.explain(X, seeds)))
    except _PASSED_ON:
        raise
    except BaseException as error:
        return _failed(job, chunk, i, error)


def _noted(
    note: Note | None, number: int, row: int, limit: float | None
) -> contextlib.AbstractContextManager[None]:
    """Note the row, where it may end the process; and let that end when no alarm was heard in time."""
    if note is None:
        return contextlib.nullcontext()
    note.at(number, row)
    return contextlib.nullcontext() if limit is None else note.deadline(limit + GRACE)


def _failed(job: Job, chunk: Chunk, i: int, error: BaseException) -> Answer:
    reason = str(error) if isinstance(error, RowTimeout) else describe(error)
    if chunk.execution.on_error == "record":
        return Answer(None, [reason])
    kind = type(error).__name__ if isinstance(error, FaithkitError) else ""
    raise ExplainerError(
        f"the explainer {job.explainer.text} failed on row {chunk.first_row + i}: {kind and kind + ': '}"
        f"{reason.rstrip('.')}. "
        "With on_error='record' (CLI: --on-error record) such rows are counted as unexplained."
    ) from (error if isinstance(error, Exception) else None)
