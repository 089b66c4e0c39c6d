"""One way to explain a sample: in chunks, through joblib, with a store between the runs.

Chunk edges depend on the data alone and seeds on the content of rows, so that the number of workers and
their kind cannot change a result. Every finished chunk is kept at once by whoever finished it.
"""

import contextlib
import math
import os
import warnings
from collections.abc import Generator, Iterator
from numbers import Real
from pathlib import Path
from typing import Any

import attrs
import joblib
import numpy as np

from faithkit.errors import ExplainerError, FaithkitError, FaithkitWarning, InputError
from faithkit.foreign import foreign
from faithkit.inputs.seeds import row_seeds
from faithkit.measure.blocks import spans
from faithkit.measure.explanations import Explanations
from faithkit.measure.rows import n_rows, take_rows
from faithkit.run.explaining.cluster import Deaths, active_cluster, all_see, check_workers, each_result
from faithkit.run.explaining.job import Faults, Job, questions
from faithkit.run.explaining.parcel import Parcel, portably
from faithkit.run.explaining.processes import a_process, can_start, in_processes
from faithkit.run.explaining.progress import progress_bar
from faithkit.run.explaining.serial import Chunk
from faithkit.run.explaining.store import Question, Store
from faithkit.run.explaining.task import Task
from faithkit.run.explaining.timeout import check_possible
from faithkit.wording import describe

MOST_CHUNKS = 4096


@attrs.frozen
class Execution:
    """How to run: workers, faults, the store, and whether to show progress."""

    n_jobs: int = 1
    faults: Faults = attrs.field(factory=Faults)
    store: Path | None = None
    progress: bool = False

    def __attrs_post_init__(self) -> None:
        if self.faults.on_error not in ("raise", "record"):
            raise InputError(f"on_error must be 'raise' or 'record', got {self.faults.on_error!r}.")
        limit = self.faults.row_timeout
        if limit is not None and not (isinstance(limit, Real) and 0 < limit < math.inf):
            raise InputError(f"row_timeout must be a number of seconds above 0, got {limit!r}.")
        if not isinstance(self.n_jobs, int) or self.n_jobs == 0:
            raise InputError(
                f"n_jobs must be a whole number of workers, or -1 for all cores, got {self.n_jobs!r}."
            )
        if self.store is not None and not (isinstance(self.store, str | os.PathLike) and str(self.store)):
            raise InputError(
                f"the store is {self.store!r}: name a folder that keeps finished chunks, or give none."
            )


def explain_sample(job: Job, X: Any, execution: Execution) -> Explanations:
    """Explain every row of a sample."""
    n = n_rows(X)
    tasks = _tasks(job, X, execution)
    chunks = _recalled(tasks)
    pending = [task for task, chunk in zip(tasks, chunks, strict=True) if chunk is None]
    done = n - sum(len(task.seeds) for task in pending)
    try:
        with (
            progress_bar(execution.progress, n, done) as advance,
            contextlib.closing(_run(job, pending, execution)) as results,
        ):
            for number, chunk in results:
                chunks[number] = chunk
                advance(len(chunk))
    except KeyboardInterrupt:
        raise KeyboardInterrupt(_farewell(chunks, execution)) from None
    whole = [chunk for chunk in chunks if chunk is not None]
    for note in dict.fromkeys(note for chunk in whole for note in chunk.notes):
        warnings.warn(note, FaithkitWarning, stacklevel=2)
    return _assembled(whole, X)


def _recalled(tasks: list[Task]) -> list[Chunk | None]:
    """Return the chunks that the store has; it is told how many cannot be trusted, and these are left out."""
    chunks: list[Chunk | None] = []
    damaged = 0
    for task in tasks:
        try:
            chunks.append(task.find())
        except ValueError:
            chunks.append(None)
            damaged += 1
    store = tasks[0].store
    if damaged and store is not None:
        warnings.warn(
            f"{damaged} of {len(tasks)} chunks must be explained again: in the store {store.folder} they are "
            "damaged, or not what their names say.",
            FaithkitWarning,
            stacklevel=3,
        )
    return chunks


def _farewell(chunks: list[Chunk | None], execution: Execution) -> str:
    done = sum(chunk is not None for chunk in chunks)
    if execution.store is None:
        return f"interrupted: {done} of {len(chunks)} chunks were done, and nothing is kept without a store."
    return (
        f"interrupted: {done} of {len(chunks)} chunks are kept in {execution.store}; "
        "the same command goes on from there."
    )


def _tasks(job: Job, X: Any, execution: Execution) -> list[Task]:
    n = n_rows(X)
    edges = list(spans(n, max(job.rows_per_chunk, -(-n // MOST_CHUNKS))))
    store = None if execution.store is None else Store(execution.store).open()
    asked: list[Question | None] = [None] * len(edges)
    if store is not None:
        asked = [*questions(job, X, edges)]
    seeds = row_seeds(X, job.seed)
    return [
        Task(i, take_rows(X, slice(a, b)), seeds[a:b], a, execution.faults, store, question)
        for i, ((a, b), question) in enumerate(zip(edges, asked, strict=True))
    ]


def _run(job: Job, tasks: list[Task], execution: Execution) -> Generator[tuple[int, Chunk]]:
    """Yield the chunks as they are finished, in any order."""
    parallel = _parallel(execution)
    limit = execution.faults.row_timeout
    if limit is not None:
        _check_limit(type(parallel._backend).__name__)
    if not tasks:
        return
    cluster = active_cluster()
    if cluster is not None:
        yield from _run_on_cluster(job, tasks, cluster)
    elif len(tasks) > 1 and joblib.effective_n_jobs(parallel.n_jobs) > 1:
        yield from _run_in_parallel(job, tasks, parallel)
    elif limit is not None:  # what hangs in C can only be ended together with its process
        yield from _run_in_processes(job, tasks, a_process())
    else:
        yield from _run_here(job, tasks)


def _run_in_parallel(job: Job, tasks: list[Task], parallel: joblib.Parallel) -> Iterator[tuple[int, Chunk]]:
    backend = type(parallel._backend).__name__
    if backend == "LokyBackend":
        yield from _run_in_processes(job, tasks, parallel)
    else:
        parcel = Parcel(job if backend == "ThreadingBackend" else _portable(job))
        yield from parallel(joblib.delayed(_remote)(parcel, task) for task in tasks)


def _check_limit(backend: str) -> None:
    if backend not in ("SequentialBackend", "LokyBackend"):
        raise InputError(
            f"a time limit per row works with the backends sequential and loky, not with {backend}: "
            "choose one of those, or leave out --row-timeout."
        )
    check_possible()


def _parallel(execution: Execution) -> joblib.Parallel:
    """Use joblib as the caller configured it; a number of workers given to us comes first."""
    _, configured = joblib.parallel.get_active_backend()
    n_jobs = configured if execution.n_jobs == 1 and configured else execution.n_jobs
    return joblib.Parallel(n_jobs=n_jobs, return_as="generator_unordered")


def _run_here(job: Job, tasks: list[Task]) -> Iterator[tuple[int, Chunk]]:
    return ((task.number, task.work(job)) for task in tasks)


def _remote(parcel: Parcel, task: Task) -> tuple[int, Chunk]:
    """Work on a task in a worker, with an explainer of the worker's own."""
    return task.number, portably(lambda: _on_worker(parcel, task))


def _run_in_processes(job: Job, tasks: list[Task], parallel: joblib.Parallel) -> Iterator[tuple[int, Chunk]]:
    parcel = _packed(job)
    if parcel is not None:
        return in_processes(job.explainer.text, parcel, tasks, parallel)
    if tasks[0].faults.row_timeout is not None:
        check_possible(here=True)
    return _run_here(job, tasks)


def _packed(job: Job) -> Parcel | None:
    """Pack the job for workers; None, and a warning, where it cannot be."""
    try:
        if not can_start():
            raise InputError("joblib starts no processes here")
        with foreign("its pickle"):
            return Parcel.of(_portable(job))
    except FaithkitError as error:
        warnings.warn(
            f"the job cannot be sent to workers ({describe(error).rstrip('.')}), so it runs in this process, "
            "where a time limit ends no code in C.",
            FaithkitWarning,
            stacklevel=3,
        )
        return None


def _run_on_cluster(job: Job, tasks: list[Task], cluster: Any) -> Iterator[tuple[int, Chunk]]:
    """Run tasks on Dask's workers; they keep their chunks themselves where they see the store."""
    check_workers(cluster, (job.explainer,))
    parcel = _packed(job)
    if parcel is None:
        yield from _run_here(job, tasks)
        return
    store = _common_store(tasks[0].store, cluster)
    sent = [attrs.evolve(task, store=store) for task in tasks]
    deadly = []
    for i, chunk in each_result(cluster, parcel, _on_worker, sent):
        if isinstance(chunk, Deaths):
            deadly.append(tasks[i])
            if tasks[i].faults.on_error == "raise":
                raise ExplainerError(chunk.told)
            continue
        if store is None:
            tasks[i].keep(chunk)
        yield tasks[i].number, chunk
    if deadly:
        warnings.warn(
            f"{len(deadly)} of {len(tasks)} chunks, at which workers of the cluster died, are explained in "
            "processes of this machine.",
            FaithkitWarning,
            stacklevel=3,
        )
        yield from in_processes(job.explainer.text, parcel, deadly, a_process())


def _common_store(store: Store | None, cluster: Any) -> Store | None:
    """Return the store as all workers can use it, by its full path; None where one does not see it."""
    if store is None or not all_see(cluster, store.folder.resolve()):
        return None
    return Store(store.folder.resolve())


def _on_worker(parcel: Parcel, task: Task) -> Chunk:
    return task.work(parcel.open(Job.fresh))


def _portable(job: Job) -> Job:
    """Leave the instance behind where a worker can rebuild it by name."""
    given = job.explainer
    light = attrs.evolve(given, instance=None) if given.recipe is not None else given
    return Job(light, job.predictor, job.background, job.seed)


def _assembled(chunks: list[Chunk], X: Any) -> Explanations:
    """Put the chunks of a sample together, in order, with the explained rows beside them."""
    whole = Chunk.joined(chunks)
    n = len(whole.reasons)
    if whole.found is None:
        told = np.fromiter(whole.reasons, dtype=object, count=n)
        return attrs.evolve(Explanations.of([None] * n), remarks=told, instances=X)
    found = whole.found
    if len(whole.rows) < n:
        found = found.spread(whole.rows, n, np.fromiter(whole.reasons, dtype=object, count=n))
    return attrs.evolve(found, instances=X)
