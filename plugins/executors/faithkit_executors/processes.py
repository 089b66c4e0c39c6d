"""Explain chunks in this process, in threads or processes of joblib, or on a cluster.

A row may end its process: it crashes, or it hangs in C code and its time limit ends the process. Then joblib
replaces the pool, and the chunks in work are explained again, one row at a time. This identifies the row.
"""

import functools
import os
import pickle
import re
import signal
import tempfile
import threading
from collections.abc import Callable, Generator, Iterator
from typing import Any

import joblib
from joblib.externals.loky.process_executor import TerminatedWorkerError

from faithkit.errors import ExplainerError, FaithkitError, warn
from faithkit.run.explaining.chunk import Chunk, explain_chunk, fail_row
from faithkit.run.explaining.cluster import (
    KilledWorkersError,
    active_cluster,
    check_workers,
    map_as_completed,
)
from faithkit.run.explaining.job import Execution, Job, SharedFunction
from faithkit.run.explaining.store import ChunkResult
from faithkit.run.explaining.timeout import timeout_reason
from faithkit.supervision import end_with_parent
from faithkit.third_party import guard
from faithkit.wording import describe

Results = Iterator[tuple[Chunk, ChunkResult]]
Attempts = Iterator[tuple[Chunk, ChunkResult | None]]  # without a result where a worker may have died
Answer = Callable[[Chunk], tuple[int, bytes]]

_ADVICE = "With n_jobs=1 (CLI: --n-jobs 1) nothing travels."


def explain_chunks(
    job: Job, chunks: list[Chunk], execution: Execution
) -> Generator[tuple[Chunk, ChunkResult]]:
    """Yield each chunk with its result, in the order in which they are finished."""
    if not chunks:
        return
    cluster = active_cluster()
    if cluster is not None:
        check_workers(cluster, (job.explainer,))
        yield from _explain_in_processes(job, chunks, cluster=cluster)
        return
    backend, configured_jobs = joblib.parallel.get_active_backend()
    # the caller's number of workers comes first, then the one that joblib is configured with
    requested_jobs = configured_jobs if execution.n_jobs == 1 and configured_jobs else execution.n_jobs
    n_jobs = min(joblib.effective_n_jobs(requested_jobs), len(chunks))
    if n_jobs == 1 and execution.row_timeout is None:
        yield from _explain_here(job, chunks)
    elif n_jobs > 1 and getattr(backend, "supports_sharedmem", False):
        yield from _explain_in_threads(job, chunks, _create_pool(n_jobs))
    else:  # code that hangs in C can only be ended together with its process
        is_loky = type(backend).__name__ == "LokyBackend"  # others do not notice that a process died
        yield from _explain_in_processes(job, chunks, pool=_create_pool(n_jobs, None if is_loky else "loky"))


def _create_pool(n_jobs: int, backend: str | None = None) -> joblib.Parallel:
    """Return joblib's workers.

    With n_jobs=1 joblib would work in this process. So there are two workers then, and tasks for one.
    """
    return joblib.Parallel(
        n_jobs=max(n_jobs, 2),
        backend=backend,
        return_as="generator_unordered",
        batch_size=1,
        pre_dispatch=1 if n_jobs == 1 else "2 * n_jobs",
    )


def _explain_here(job: Job, chunks: list[Chunk]) -> Results:
    return ((chunk, explain_chunk(job, chunk)) for chunk in chunks)


def _explain_in_threads(job: Job, chunks: list[Chunk], pool: joblib.Parallel) -> Results:
    """Explain chunks in threads, each of which fits an explainer of its own."""
    thread = threading.local()

    def explain(chunk: Chunk) -> tuple[Chunk, ChunkResult]:
        if not hasattr(thread, "job"):
            thread.job = job.copy_unfitted()
        return chunk, explain_chunk(thread.job, chunk)

    with guard("a worker", _ADVICE, ExplainerError):
        yield from pool(joblib.delayed(explain)(chunk) for chunk in chunks)


def _explain_in_processes(
    job: Job, chunks: list[Chunk], *, pool: joblib.Parallel | None = None, cluster: Any = None
) -> Results:
    """Explain chunks in a pool of processes or on a cluster.

    Those at which a process dies are explained again in a process of this machine, row by row.
    """
    explain = _pickle_explain(job)
    if explain is None:
        yield from _explain_here(job, chunks)
        return
    with tempfile.TemporaryDirectory(prefix="faithkit-", ignore_cleanup_errors=True) as folder:
        overdue_file = os.path.join(folder, "overdue")
        answer = functools.partial(_answer, explain, os.getpid(), overdue_file)
        if pool is not None:
            attempts = _try_in_pool(pool, answer, chunks, overdue_file)
        else:
            attempts = _try_on_cluster(cluster, explain, chunks)
        for chunk, result in attempts:
            if result is None:
                result = _explain_row_by_row(job, chunk, answer, overdue_file)
            yield chunk, result


def _pickle_explain(job: Job) -> SharedFunction | None:
    """Pickle `explain_chunk` with its job; warn and return None if that is impossible."""
    try:
        with guard("its pickle"):
            return SharedFunction.of(functools.partial(explain_chunk, job))
    except FaithkitError as error:
        warn(
            f"the job cannot be sent to workers ({describe(error).rstrip('.')}), so it runs in this process, "
            "where a time limit ends no code in C.",
        )
        return None


# --- processes, which may die ---------------------------------------------------------------------------


def _answer(explain: SharedFunction, parent: int, overdue_file: str, chunk: Chunk) -> tuple[int, bytes]:
    """Explain a chunk in a joblib process, which a time limit may kill.

    The result is pickled by cloudpickle: joblib alone cannot send classes of a script or a notebook.
    """
    import cloudpickle

    _prepare_process(parent)
    return chunk.number, cloudpickle.dumps(explain.load()(chunk, overdue_file))


@functools.cache  # once in every process
def _prepare_process(parent: int) -> None:
    # Ctrl-C reaches the workers as well; the parent ends them, and reports it once
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    end_with_parent(parent)


def _try_in_pool(pool: joblib.Parallel, answer: Answer, chunks: list[Chunk], overdue_file: str) -> Attempts:
    """Explain chunks in joblib workers; chunks that run when a process dies have no result."""
    pending = {chunk.number: chunk for chunk in chunks}
    sent: list[int] = []

    def calls() -> Iterator[Any]:
        for number, chunk in [*pending.items()]:
            sent.append(number)
            yield joblib.delayed(answer)(chunk)

    while pending:
        with guard("a worker", _ADVICE, ExplainerError):
            try:
                for number, result in pool(calls()):
                    yield pending.pop(number), pickle.loads(result)
            except TerminatedWorkerError as error:
                if not _was_overdue(overdue_file):
                    _warn_of_death(error)
        for number in sent:
            if number in pending:
                yield pending.pop(number), None


def _try_on_cluster(cluster: Any, explain: SharedFunction, chunks: list[Chunk]) -> Attempts:
    """Explain chunks on a cluster; those at which its workers died come last, without a result."""
    deadly_chunks = []
    for chunk, result in map_as_completed(cluster, explain, chunks):
        if not isinstance(result, KilledWorkersError):
            yield chunk, result
        elif chunk.execution.on_error == "raise":
            raise result
        else:
            deadly_chunks.append(chunk)
    if deadly_chunks:
        warn(
            f"{len(deadly_chunks)} of {len(chunks)} chunks, at which workers of the cluster died, are "
            "explained in processes of this machine.",
        )
    for chunk in deadly_chunks:
        yield chunk, None


def _explain_row_by_row(job: Job, chunk: Chunk, answer: Answer, overdue_file: str) -> ChunkResult:
    """Explain a chunk in one process, a row at a time, and fail the rows at which the process dies."""
    results = []
    with joblib.Parallel(n_jobs=2, backend="loky") as pool:
        if _explain_alone(pool, answer, chunk.subchunk(0, 0)) is None:
            raise ExplainerError(
                "a worker died, again before it explained anything: unpickling the model, or importing or "
                f"fitting the explainer {job.explainer.text}, ends the process."
            )
        for position in range(len(chunk)):
            row = chunk.subchunk(position, position + 1)
            result = _explain_alone(pool, answer, row)
            if result is None:
                limit = chunk.execution.row_timeout
                reason = timeout_reason(limit) if limit and _was_overdue(overdue_file) else "worker died"
                result = fail_row(job, row, reason)
            results.append(result)
    return ChunkResult.concat(results)


def _explain_alone(pool: joblib.Parallel, answer: Answer, chunk: Chunk) -> ChunkResult | None:
    """Return the result of a chunk while no other is explained; None if the process dies."""
    with guard("a worker", _ADVICE, ExplainerError):
        try:
            ((_, result),) = pool([joblib.delayed(answer)(chunk)])
        except TerminatedWorkerError:
            return None
        chunk_result: ChunkResult = pickle.loads(result)
        return chunk_result


def _was_overdue(overdue_file: str) -> bool:
    """Whether a time limit has ended a process since the last call."""
    is_written = os.path.exists(overdue_file) and os.path.getsize(overdue_file) > 0
    if is_written:
        os.truncate(overdue_file, 0)
    return is_written


def _warn_of_death(error: TerminatedWorkerError) -> None:
    match = re.search(r"exit codes of the workers are \{(.+)\}", str(error))
    exit_codes = f" ({match[1]})" if match else ""
    text = f"a worker died{exit_codes}; what it was working on is tried once more, row by row."
    warn(text)
