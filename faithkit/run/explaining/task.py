"""A task: some rows of a sample, explained by whoever gets it, all at once or one by one."""

import contextlib
import sys
import threading
import warnings
from collections.abc import Mapping
from typing import Any

import attrs
import numpy as np
from numpy.typing import NDArray

from faithkit.errors import ContractError, ExplainerError, FaithkitError, FaithkitWarning
from faithkit.foreign import RowTimeout
from faithkit.measure.explanations import Explanations
from faithkit.measure.rows import take_rows
from faithkit.run.explaining.job import Faults, Job
from faithkit.run.explaining.notes import Note
from faithkit.run.explaining.serial import Chunk
from faithkit.run.explaining.store import Question, Store, digest
from faithkit.run.explaining.timeout import limited
from faithkit.wording import describe

GRACE = 2.0  # seconds after the alarm of a row until its process is ended
_PASSED_ON = (ContractError, KeyboardInterrupt)  # no row's own failure


@attrs.frozen(eq=False)
class Task:
    """Some rows to explain, as they travel to a worker, and where their explanations are kept.

    `lost` are rows that ended the process they were explained in, and why: they are not tried again. Where a
    process has died, the rows are explained one by one (`row_by_row`), so that its note tells which it was.
    """

    number: int
    X: Any
    seeds: NDArray[np.uint32]
    first_row: int
    faults: Faults
    store: Store | None = None
    question: Question | None = None
    row_by_row: bool = False
    lost: Mapping[int, str] = attrs.field(factory=dict)

    def without(self, row: int, why: str) -> "Task":
        """Return the same task, in which one of the rows is lost."""
        return attrs.evolve(self, lost={**self.lost, row: why})

    def find(self) -> Chunk | None:
        """Return the chunk from the store: a clean one, or one whose failures were recorded in this way.

        A chunk that cannot be trusted raises ValueError.
        """
        if self.store is None or self.question is None:
            return None
        clean = self.store.read(self.question)
        if clean is not None and any(clean.reasons):
            raise ValueError("failures under the name of a chunk that has none")
        return clean or self.store.read(self._with_faults(self.question))

    def work(self, job: Job, note: Note | None = None) -> Chunk:
        """Explain the rows, and keep their explanations."""
        chunk = explain_chunk(job, self, note)
        self.keep(chunk)
        return chunk

    def keep(self, chunk: Chunk) -> None:
        """Store the chunk; failures belong to the rules under which they were recorded."""
        if self.store is not None and self.question is not None:
            failed = any(chunk.reasons)
            self.store.write(self._with_faults(self.question) if failed else self.question, chunk)

    def _with_faults(self, question: Question) -> Question:
        return attrs.evolve(question, key=digest(question.key, attrs.asdict(self.faults)))


def explain_chunk(job: Job, task: Task, note: Note | None = None) -> Chunk:
    """Explain the rows of a task; on a failure row by row, so that only the failing rows are lost."""
    if not _is_alone():
        # warnings can be caught in one thread at a time only; here they are shown as they come
        return _explain(job, task, note)
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always", FaithkitWarning)
        chunk = _explain(job, task, note)
    notes = [str(w.message) for w in caught if issubclass(w.category, FaithkitWarning)]
    return attrs.evolve(chunk, notes=tuple(dict.fromkeys(notes)))


def _is_alone() -> bool:
    """Whether no other thread of this process explains: in the main thread, or in a worker that has one."""
    if threading.current_thread() is threading.main_thread():
        return True
    distributed = sys.modules.get("distributed")
    try:
        return distributed is not None and distributed.get_worker().state.nthreads == 1
    except ValueError:  # this is no worker of a cluster
        return False


def _explain(job: Job, task: Task, note: Note | None) -> Chunk:
    n = len(task.seeds)
    job.fitted  # noqa: B018 (a failure to fit is nobody's row)
    if task.faults.row_timeout is None and not task.row_by_row:
        try:
            return Chunk(_stripped(job.explain(task.X, task.seeds)), [None] * n)
        except _PASSED_ON:
            raise
        except BaseException as error:
            if n == 1:
                return _failed(job, task, 0, error)
    return Chunk.joined([_explain_row(job, task, i, note) for i in range(n)])


def _explain_row(job: Job, task: Task, i: int, note: Note | None) -> Chunk:
    if i in task.lost:
        return _failed(job, task, i, RowTimeout(task.lost[i]))
    limit = task.faults.row_timeout
    X, seeds = take_rows(task.X, slice(i, i + 1)), task.seeds[i : i + 1]
    try:
        with _noted(note, task.number, i, limit):
            found = limited(limit, lambda: job.explain(X, seeds))
        return Chunk(_stripped(found), [None])
    except _PASSED_ON:
        raise
    except BaseException as error:
        return _failed(job, task, i, error)


def _noted(
    note: Note | None, number: int, row: int, limit: float | None
) -> contextlib.AbstractContextManager[None]:
    """Note the row, where it may end the process; and let that end when no alarm was heard in time."""
    if note is None:
        return contextlib.nullcontext()
    note.at(number, row)
    return contextlib.nullcontext() if limit is None else note.deadline(limit + GRACE)


def _failed(job: Job, task: Task, i: int, error: BaseException) -> Chunk:
    reason = str(error) if isinstance(error, RowTimeout) else describe(error)
    if task.faults.on_error == "record":
        return Chunk(None, [reason])
    kind = type(error).__name__ if isinstance(error, FaithkitError) else ""
    raise ExplainerError(
        f"the explainer {job.explainer.text} failed on row {task.first_row + i}: {kind and kind + ': '}"
        f"{reason.rstrip('.')}. "
        "With on_error='record' (CLI: --on-error record) such rows are counted as unexplained."
    ) from (error if isinstance(error, Exception) else None)


def _stripped(explanations: Explanations) -> Explanations:
    """Leave the instances behind: whoever asked has them already."""
    return attrs.evolve(explanations, instances=None)
