"""Who answers chunks: this process, threads or processes of joblib, or a cluster, as joblib is configured.

A row may end its process: it crashes, or it hangs in C and its time limit ends both. Then joblib's pool is
replaced, and the chunks that were being answered are answered again row by row, one row at a time. So the row
that ends its process again is known.
"""

import functools
import os
import pickle
import re
import signal
import tempfile
import warnings
from collections.abc import Callable, Generator, Iterator
from typing import Any

import joblib
from joblib.externals.loky.process_executor import TerminatedWorkerError

from faithkit.errors import ExplainerError, FaithkitError, FaithkitWarning, InputError
from faithkit.foreign import foreign
from faithkit.run.explaining.answer import Answer
from faithkit.run.explaining.chunk import Chunk, answer, failed_row
from faithkit.run.explaining.cluster import active_cluster, check_workers, each_result
from faithkit.run.explaining.execution import Execution
from faithkit.run.explaining.job import Job
from faithkit.run.explaining.parcel import Parcel, portably
from faithkit.run.explaining.timeout import late
from faithkit.supervision import end_with_parent
from faithkit.wording import describe

Answers = Iterator[tuple[Chunk, Answer]]
Work = Callable[[Chunk], tuple[int, Answer | bytes]]

_NOTHING_TRAVELS = "With n_jobs=1 (CLI: --n-jobs 1) nothing travels."


def each_answer(job: Job, chunks: list[Chunk], execution: Execution) -> Generator[tuple[Chunk, Answer]]:
    """Yield every chunk with its answer, as they are finished, in any order."""
    if not chunks:
        return
    cluster = active_cluster()
    if cluster is not None:
        yield from _on_cluster(job, chunks, cluster)
        return
    backend, configured = joblib.parallel.get_active_backend()
    # the caller's number of workers comes first, then the one that joblib is configured with
    requested = configured if execution.n_jobs == 1 and configured else execution.n_jobs
    n_jobs = min(joblib.effective_n_jobs(requested), len(chunks))
    if n_jobs == 1 and execution.row_timeout is None:
        yield from _here(job, chunks)
    elif n_jobs > 1 and getattr(backend, "supports_sharedmem", False):
        yield from _in_pool(job, Parcel(job.fresh), chunks, _parallel(n_jobs))
    else:  # what hangs in C can only be ended together with its process
        yield from _in_processes(job, chunks, n_jobs)


def _here(job: Job, chunks: list[Chunk]) -> Answers:
    return ((chunk, answer(job, chunk)) for chunk in chunks)


def _in_processes(job: Job, chunks: list[Chunk], n_jobs: int) -> Answers:
    parcel = _packed(job, None if _can_start_processes() else "joblib starts no processes here")
    if parcel is None:
        return _here(job, chunks)
    backend, _ = joblib.parallel.get_active_backend()
    # multiprocessing and Dask wait for ever for a process that died, and the others start none
    unfit = ("SequentialBackend", "ThreadingBackend", "MultiprocessingBackend", "DaskDistributedBackend")
    name = "loky" if type(backend).__name__ in unfit else None
    return _in_pool(job, parcel, chunks, _parallel(n_jobs, name))


def _parallel(n_jobs: int, backend: str | None = None) -> joblib.Parallel:
    """Return joblib's workers. Asked for one, joblib would work in this process: so one of two works."""
    ahead = 1 if n_jobs == 1 else "2 * n_jobs"
    settings = {"return_as": "generator_unordered", "batch_size": 1, "pre_dispatch": ahead}
    return joblib.Parallel(n_jobs=max(n_jobs, 2), backend=backend, **settings)


def _can_start_processes() -> bool:
    with joblib.parallel_config(backend="loky"):
        return bool(joblib.effective_n_jobs(2) > 1)


def _packed(job: Job, obstacle: str | None = None) -> Parcel | None:
    """Pack the job for workers; None, and a warning, where it cannot be."""
    try:
        if obstacle is not None:
            raise InputError(obstacle)
        with foreign("its pickle"):
            return Parcel.of(job)
    except FaithkitError as error:
        warnings.warn(
            f"the job cannot be sent to workers ({describe(error).rstrip('.')}), so it runs in this process, "
            "where a time limit ends no code in C.",
            FaithkitWarning,
            stacklevel=3,
        )
        return None


# --- workers that may die -------------------------------------------------------------------------------


def _in_pool(job: Job, parcel: Parcel, chunks: list[Chunk], parallel: joblib.Parallel) -> Answers:
    """Answer chunks by workers; those at which a process dies, row by row."""
    waiting = {chunk.number: chunk for chunk in chunks}
    with tempfile.TemporaryDirectory(prefix="faithkit-", ignore_cleanup_errors=True) as folder:
        overdue = os.path.join(folder, "overdue")
        work = functools.partial(_work, parcel, os.getpid(), overdue)
        while waiting:
            for chunk in (yield from _until_death(parallel, work, waiting, overdue)):
                yield chunk, _row_by_row(job, chunk, work, overdue)


def _until_death(
    parallel: joblib.Parallel, work: Work, waiting: dict[int, Chunk], overdue: str
) -> Generator[tuple[Chunk, Answer], None, list[Chunk]]:
    """Yield answers, and strike off their chunks, until a process dies: return what it may have been at."""
    sent: list[int] = []

    def calls() -> Iterator[Any]:
        for number, chunk in [*waiting.items()]:
            sent.append(number)
            yield joblib.delayed(work)(chunk)

    answers = iter(parallel(calls()))
    while True:
        with foreign("a worker", _NOTHING_TRAVELS, ExplainerError):
            try:
                result = next(answers, None)
            except TerminatedWorkerError as death:
                if not _was_overdue(overdue):
                    _warn_of_death(death)
                return [waiting.pop(number) for number in sent if number in waiting]
        if result is None:
            return []
        number, explained = result
        yield waiting.pop(number), _unpickled(explained)


def _row_by_row(job: Job, chunk: Chunk, work: Work, overdue: str) -> Answer:
    """Answer a chunk by one process, a row at a time: if the process dies, it is known at which row."""
    answers = []
    with joblib.Parallel(n_jobs=2, backend="loky") as parallel:
        if _answer_alone(parallel, work, chunk.part(0, 0)) is None:
            raise ExplainerError(
                "a worker died, again before it explained anything: unpickling the model, or importing or "
                f"fitting the explainer {job.explainer.text}, ends the process."
            )
        for row in range(len(chunk)):
            explained = _answer_alone(parallel, work, chunk.part(row, row + 1))
            if explained is None:
                explained = failed_row(job, chunk, row, _cause_of_death(chunk.execution, overdue))
            answers.append(explained)
    return Answer.joined(answers)


def _answer_alone(parallel: joblib.Parallel, work: Work, chunk: Chunk) -> Answer | None:
    """Return the answer to a chunk while no other is answered; None if the process dies."""
    with foreign("a worker", _NOTHING_TRAVELS, ExplainerError):
        try:
            ((_, explained),) = parallel([joblib.delayed(work)(chunk)])
        except TerminatedWorkerError:
            return None
    return _unpickled(explained)


def _cause_of_death(execution: Execution, overdue: str) -> str:
    is_late = _was_overdue(overdue)
    return late(execution.row_timeout) if is_late and execution.row_timeout else "worker died"


def _was_overdue(overdue: str) -> bool:
    """Whether a time limit has ended a process since this was last asked."""
    is_written = os.path.exists(overdue) and os.path.getsize(overdue) > 0
    if is_written:
        os.truncate(overdue, 0)
    return is_written


def _warn_of_death(death: TerminatedWorkerError) -> None:
    codes = re.search(r"exit codes of the workers are \{(.+)\}", str(death))
    how = f" ({codes[1]})" if codes else ""
    text = f"a worker died{how}; what it was working on is tried once more, row by row."
    warnings.warn(text, FaithkitWarning, stacklevel=4)


def _work(parcel: Parcel, parent: int, overdue: str, chunk: Chunk) -> tuple[int, Answer | bytes]:
    """Answer a chunk, in a thread; or in a process, which a time limit may end and which sends a pickle."""
    if os.getpid() == parent:
        return chunk.number, portably(lambda: answer(parcel.open(), chunk))
    _settle(parent)
    return chunk.number, portably(lambda: _pickled(answer(parcel.open(), chunk, overdue)))


def _pickled(explained: Answer) -> bytes:
    """Pickle an answer; joblib alone would send no class of a script or a notebook."""
    import cloudpickle

    with foreign("pickling explanations", _NOTHING_TRAVELS, ExplainerError):
        pickled: bytes = cloudpickle.dumps(explained)
        return pickled


def _unpickled(explained: Answer | bytes) -> Answer:
    if isinstance(explained, Answer):
        return explained
    with foreign("unpickling explanations", _NOTHING_TRAVELS, ExplainerError):
        unpickled: Answer = pickle.loads(explained)
        return unpickled


@functools.cache  # once in every process
def _settle(parent: int) -> None:
    # Ctrl-C reaches the workers too; it is the parent's to end them, and to say so once
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    end_with_parent(parent)


# --- a cluster ------------------------------------------------------------------------------------------


def _on_cluster(job: Job, chunks: list[Chunk], cluster: Any) -> Answers:
    check_workers(cluster, (job.explainer,))
    parcel = _packed(job)
    if parcel is None:
        yield from _here(job, chunks)
        return
    deadly = []
    for i, explained in each_result(cluster, parcel, answer, chunks):
        if not isinstance(explained, ExplainerError):
            yield chunks[i], explained
        elif chunks[i].execution.on_error == "raise":
            raise explained
        else:
            deadly.append(chunks[i])
    if deadly:
        where = f"{len(deadly)} of {len(chunks)} chunks, at which workers of the cluster died,"
        warnings.warn(f"{where} are explained in processes of this machine.", FaithkitWarning, stacklevel=3)
        yield from _in_processes(job, deadly, 1)
