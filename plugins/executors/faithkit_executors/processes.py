"""The executor `processes`, whose workers are processes of joblib.

A row may end its process: it crashes, or it hangs in C code and its time limit ends the process. Then joblib
replaces the pool, and the chunks in work are explained again, one row at a time. This identifies the row.
"""

import contextlib
import functools
import os
import pickle
import re
import signal
import tempfile
from collections.abc import Callable, Iterator, Sequence
from typing import Any

import attrs
import cloudpickle
import joblib
from joblib.externals.loky.process_executor import TerminatedWorkerError

from faithkit.errors import ExplainerError, ParameterError, warn
from faithkit.plugin import Chunk, ChunkResult, Job, check_integer, end_with_parent, fail_row, guard
from faithkit_executors.shipping import Results, SharedFunction, Work
from faithkit_executors.time_limits import check_timeout, timeout_reason

Attempts = Iterator[tuple[Chunk, ChunkResult | None]]  # without a result where a worker may have died
Answer = Callable[[Chunk], tuple[int, bytes]]

_ADVICE = "With n_jobs=1 (CLI: --n-jobs 1) nothing travels."


class Processes:
    """Explain in processes of this machine.

    There are never more of them than chunks. A process that dies is replaced, and the row at which it died is
    found. One worker without a time limit is this process itself.

    Parameters
    ----------
    workers : int
        The number of processes; -1 means one per core.
    timeout : float, optional
        The seconds that a row may take.
    """

    def __init__(self, workers: int = -1, timeout: float | None = None) -> None:
        self.workers = check_integer(workers, "processes: workers", error=ParameterError)
        if self.workers == 0:
            raise ParameterError(
                "processes: workers must be a number of processes, or -1 for all cores, got 0."
            )
        self.timeout = check_timeout(timeout, "processes")

    def run(self, job: Job, chunks: Sequence[Chunk]) -> Results:
        """Explain the chunks, and those at which a process dies again, row by row."""
        n_workers = min(joblib.effective_n_jobs(self.workers), len(chunks))
        if n_workers < 2 and self.timeout is None:
            yield from Work(job).explain_here(chunks)
            return
        with _start_processes(job, self.timeout) as processes:
            if processes is None:
                yield from Work(job, self.timeout).explain_here(chunks)
                return
            for chunk, result in processes.try_each(chunks, n_workers):
                yield chunk, processes.explain_row_by_row(chunk) if result is None else result


def explain_row_by_row(job: Job, chunks: Sequence[Chunk], timeout: float | None) -> Results:
    """Explain chunks at which workers died, one row at a time, in a process of this machine."""
    with _start_processes(job, timeout) as processes:
        if processes is None:
            yield from Work(job, timeout).explain_here(chunks)
            return
        for chunk in chunks:
            yield chunk, processes.explain_row_by_row(chunk)


@contextlib.contextmanager
def _start_processes(job: Job, timeout: float | None) -> "Iterator[_LocalProcesses | None]":
    """Yield processes that know the job; None, with a warning, if it cannot be sent to them."""
    with tempfile.TemporaryDirectory(prefix="faithkit-", ignore_cleanup_errors=True) as folder:
        work = Work(job, timeout, os.path.join(folder, "overdue"))
        function = work.ship()
        yield None if function is None else _LocalProcesses(work, function)


@attrs.frozen(eq=False)
class _LocalProcesses:
    """Processes of this machine, which may die."""

    work: Work
    function: SharedFunction

    @property
    def answer(self) -> Answer:
        """The call of a process for a chunk."""
        return functools.partial(_answer, self.function, os.getpid())

    def try_each(self, chunks: Sequence[Chunk], n_workers: int) -> Attempts:
        """Explain chunks in joblib workers; chunks that run when a process dies have no result."""
        pool = _create_pool(n_workers)
        pending = {chunk.number: chunk for chunk in chunks}
        sent: list[int] = []

        def calls() -> Iterator[Any]:
            for number, chunk in [*pending.items()]:
                sent.append(number)
                yield joblib.delayed(self.answer)(chunk)

        while pending:
            with guard("a worker", _ADVICE, ExplainerError):
                try:
                    for number, result in pool(calls()):
                        yield pending.pop(number), pickle.loads(result)
                except TerminatedWorkerError as error:
                    if not self._was_overdue():
                        _warn_of_death(error)
            for number in sent:
                if number in pending:
                    yield pending.pop(number), None

    def explain_row_by_row(self, chunk: Chunk) -> ChunkResult:
        """Explain a chunk in one process, a row at a time, and fail the rows at which the process dies."""
        job, results = self.work.job, []
        with joblib.Parallel(n_jobs=2, backend="loky") as pool:
            if self._explain_alone(pool, chunk.subchunk(0, 0)) is None:
                raise ExplainerError(
                    "a worker died, again before it explained anything: unpickling the model, or importing "
                    f"or fitting the explainer {job.explainer.text}, ends the process."
                )
            for position in range(len(chunk)):
                row = chunk.subchunk(position, position + 1)
                result = self._explain_alone(pool, row)
                if result is None:
                    limit = self.work.timeout
                    reason = timeout_reason(limit) if limit and self._was_overdue() else "worker died"
                    result = fail_row(job, row, reason)
                results.append(result)
        return ChunkResult.concat(results)

    def _explain_alone(self, pool: joblib.Parallel, chunk: Chunk) -> ChunkResult | None:
        """Return the result of a chunk while no other is explained; None if the process dies."""
        with guard("a worker", _ADVICE, ExplainerError):
            try:
                ((_, result),) = pool([joblib.delayed(self.answer)(chunk)])
            except TerminatedWorkerError:
                return None
            chunk_result: ChunkResult = pickle.loads(result)
            return chunk_result

    def _was_overdue(self) -> bool:
        """Whether a time limit has ended a process since the last call."""
        file = self.work.overdue_file
        if file is None or not os.path.exists(file) or not os.path.getsize(file):
            return False
        os.truncate(file, 0)
        return True


def _create_pool(n_workers: int) -> joblib.Parallel:
    """Return joblib's workers.

    With n_jobs=1 joblib would work in this process. So there are two workers then, and tasks for one.
    """
    return joblib.Parallel(
        n_jobs=max(n_workers, 2),
        backend="loky",
        return_as="generator_unordered",
        batch_size=1,
        pre_dispatch=1 if n_workers == 1 else "2 * n_jobs",
    )


def _answer(explain: SharedFunction, parent: int, chunk: Chunk) -> tuple[int, bytes]:
    """Explain a chunk in a joblib process, which a time limit may kill.

    The result is pickled by cloudpickle: joblib alone cannot send classes of a script or a notebook.
    """
    _prepare_process(parent)
    return chunk.number, cloudpickle.dumps(explain.load()(chunk))


@functools.cache  # once in every process
def _prepare_process(parent: int) -> None:
    # Ctrl-C reaches the workers as well; the parent ends them, and reports it once
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    end_with_parent(parent)


def _warn_of_death(error: TerminatedWorkerError) -> None:
    match = re.search(r"exit codes of the workers are \{(.+)\}", str(error))
    exit_codes = f" ({match[1]})" if match else ""
    text = f"a worker died{exit_codes}; what it was working on is tried once more, row by row."
    warn(text)
