"""One way to explain a sample: in chunks, through joblib, with a store between the runs.

Chunk edges depend on the data alone and seeds on the content of rows, so that the number of workers and
their kind cannot change a result. Every finished chunk is kept at once by whoever finished it.
"""

import math
import os
import signal
import tempfile
import threading
import time
import warnings
from collections.abc import Iterator
from concurrent.futures.process import BrokenProcessPool
from numbers import Real
from pathlib import Path
from typing import Any

import attrs
import joblib
import numpy as np
from numpy.typing import NDArray

from faithkit.errors import ExplainerError, FaithkitWarning, InputError
from faithkit.inputs.seeds import row_seeds
from faithkit.measure.blocks import spans
from faithkit.measure.explanations import Explanations
from faithkit.measure.rows import n_rows, take_rows
from faithkit.run.cluster import Parcel, active_cluster, all_see, check_workers, each_result
from faithkit.run.job import BENCH, Faults, Job, chunk_keys, explain_chunk
from faithkit.run.progress import progress_bar
from faithkit.run.serial import Chunk
from faithkit.run.store import Store, digest
from faithkit.run.timeout import check_possible
from faithkit.wording import describe

MOST_CHUNKS = 4096
IN_PROCESS = ("SequentialBackend", "ThreadingBackend")


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


@attrs.frozen(eq=False)
class _Task:
    """One chunk of work, as it travels to a worker."""

    number: int
    X: Any
    seeds: NDArray[np.uint32]
    first_row: int
    faults: Faults
    store: Store | None
    key: str | None

    def row(self, i: int) -> "_Task":
        """Return a task for one of the rows, which keeps nothing."""
        rows = slice(i, i + 1)
        X, seeds = take_rows(self.X, rows), self.seeds[rows]
        return attrs.evolve(self, X=X, seeds=seeds, first_row=self.first_row + i, store=None)

    def find(self) -> Chunk | None:
        """Return the chunk from the store: a clean one, or one whose failures were recorded in this way."""
        if self.store is None or self.key is None:
            return None
        return self.store.read(self.key) or self.store.read(self._key_with_faults())

    def keep(self, chunk: Chunk) -> None:
        """Store the chunk; failures belong to the rules under which they were recorded."""
        if self.store is not None and self.key is not None:
            clean = not any(chunk.reasons)
            self.store.write(self.key if clean else self._key_with_faults(), chunk)

    def _key_with_faults(self) -> str:
        return digest(self.key, attrs.asdict(self.faults))


def explain_sample(job: Job, X: Any, execution: Execution) -> Explanations:
    """Explain every row of a sample."""
    n = n_rows(X)
    tasks = _tasks(job, X, execution)
    chunks: list[Chunk | None] = [task.find() for task in tasks]
    pending = [task for task, chunk in zip(tasks, chunks, strict=True) if chunk is None]
    try:
        with progress_bar(execution.progress, n, n - sum(len(task.seeds) for task in pending)) as advance:
            for number, chunk in _run(job, pending, execution):
                chunks[number] = chunk
                advance(len(chunk.reasons))
    except KeyboardInterrupt:
        raise KeyboardInterrupt(_farewell(chunks, execution)) from None
    whole = [chunk for chunk in chunks if chunk is not None]
    for note in dict.fromkeys(note for chunk in whole for note in chunk.notes):
        warnings.warn(note, FaithkitWarning, stacklevel=2)
    return _assembled(whole, X)


def _farewell(chunks: list[Chunk | None], execution: Execution) -> str:
    done = sum(chunk is not None for chunk in chunks)
    if execution.store is None:
        return f"interrupted: {done} of {len(chunks)} chunks were done, and nothing is kept without a store."
    return (
        f"interrupted: {done} of {len(chunks)} chunks are kept in {execution.store}; "
        "the same command goes on from there."
    )


def _tasks(job: Job, X: Any, execution: Execution) -> list[_Task]:
    n = n_rows(X)
    edges = list(spans(n, max(job.rows_per_chunk, -(-n // MOST_CHUNKS))))
    store = None if execution.store is None else Store(execution.store).open()
    keys: list[str | None] = [None] * len(edges)
    if store is not None:
        keys = [*chunk_keys(job, X, edges)]
    seeds = row_seeds(X, job.seed)
    return [
        _Task(i, take_rows(X, slice(a, b)), seeds[a:b], a, execution.faults, store, key)
        for i, ((a, b), key) in enumerate(zip(edges, keys, strict=True))
    ]


def _run(job: Job, tasks: list[_Task], execution: Execution) -> Iterator[tuple[int, Chunk]]:
    """Yield the chunks as they are finished, in any order."""
    parallel = _parallel(execution)
    backend = type(parallel._backend).__name__
    if execution.faults.row_timeout is not None and backend not in ("SequentialBackend", "LokyBackend"):
        raise InputError(
            f"a time limit per row works with the backends sequential and loky, not with {backend}: "
            "choose one of those, or leave out --row-timeout."
        )
    if not tasks:
        return
    cluster = active_cluster()
    if cluster is not None:
        yield from _run_on_cluster(job, tasks, cluster)
    elif len(tasks) == 1 or backend == "SequentialBackend" or parallel.n_jobs == 1:
        if execution.faults.row_timeout is not None:
            check_possible()
        yield from ((task.number, _work(job, task)) for task in tasks)
    elif backend in IN_PROCESS:
        shared = _Shared(_token(), job)
        yield from parallel(joblib.delayed(_remote)(shared, task) for task in tasks)
    else:
        yield from _run_in_processes(job, tasks, parallel, spool=backend == "LokyBackend")


def _parallel(execution: Execution) -> joblib.Parallel:
    """Use joblib as the caller configured it; a number of workers given to us comes first."""
    _, configured = joblib.parallel.get_active_backend()
    n_jobs = configured if execution.n_jobs == 1 and configured else execution.n_jobs
    return joblib.Parallel(n_jobs=n_jobs, return_as="generator_unordered")


@attrs.frozen(eq=False)
class _Shared:
    """The job as it is handed to workers: itself, or the path of a file that each process reads once."""

    token: str
    job: Job | None = None
    path: str | None = None
    parent: int = attrs.field(factory=os.getpid)

    def get(self) -> Job:
        """Return the job."""
        if self.job is not None:
            return self.job
        import cloudpickle

        assert self.path is not None
        _settle_in(self.parent)
        loaded: Job = cloudpickle.loads(Path(self.path).read_bytes())
        return loaded


def _settle_in(parent: int) -> None:
    """Make this worker process end with its parent, however that ends."""
    # Ctrl-C reaches the workers too; it is the parent's to end them, and to say so once
    signal.signal(signal.SIGINT, signal.SIG_IGN)

    def watch() -> None:
        while os.getppid() == parent:
            time.sleep(0.5)
        os._exit(1)

    threading.Thread(target=watch, daemon=True).start()


def _token() -> str:
    return digest(os.getpid(), os.urandom(16).hex())


def _work(job: Job, task: _Task) -> Chunk:
    chunk = explain_chunk(job, task.X, task.seeds, task.faults, task.first_row)
    task.keep(chunk)
    return chunk


def _remote(shared: _Shared, task: _Task) -> tuple[int, Chunk]:
    """Work on a task in a worker, with an explainer of the worker's own."""
    return task.number, _work(BENCH.job_for(shared.token, shared.get), task)


def _run_in_processes(
    job: Job, tasks: list[_Task], parallel: joblib.Parallel, spool: bool
) -> Iterator[tuple[int, Chunk]]:
    parcel = _packed(job)
    if parcel is None:
        yield from ((task.number, _work(job, task)) for task in tasks)
    elif not spool:
        shared = _Shared(_token(), _portable(job))
        yield from parallel(joblib.delayed(_remote)(shared, task) for task in tasks)
    else:
        with tempfile.TemporaryDirectory(prefix="faithkit-") as folder:
            path = Path(folder) / "job"
            path.write_bytes(parcel.content)
            yield from _surviving(_Shared(_token(), path=str(path)), tasks, parallel)


def _packed(job: Job) -> Parcel | None:
    """Pack the job for workers; None, and a warning, where it cannot be."""
    try:
        return Parcel.of(_portable(job))
    except Exception as error:
        warnings.warn(
            f"the job cannot be sent to workers ({describe(error)}), so it runs in this process.",
            FaithkitWarning,
            stacklevel=3,
        )
        return None


def _run_on_cluster(job: Job, tasks: list[_Task], cluster: Any) -> Iterator[tuple[int, Chunk]]:
    """Run tasks on Dask's workers; they keep their chunks themselves where they see the store."""
    check_workers(cluster, (job.explainer,))
    parcel = _packed(job)
    if parcel is None:
        yield from ((task.number, _work(job, task)) for task in tasks)
        return
    store = _common_store(tasks[0].store, cluster)
    sent = [attrs.evolve(task, store=store) for task in tasks]
    for i, chunk in each_result(cluster, parcel, _on_worker, sent):
        if store is None:
            tasks[i].keep(chunk)
        yield tasks[i].number, chunk


def _common_store(store: Store | None, cluster: Any) -> Store | None:
    """Return the store as all workers can use it, by its full path; None where one does not see it."""
    if store is None or not all_see(cluster, store.folder.resolve()):
        return None
    return Store(store.folder.resolve())


def _on_worker(parcel: Parcel, task: _Task) -> Chunk:
    return _work(BENCH.job_for(parcel.token, parcel.open), task)


def _portable(job: Job) -> Job:
    """Leave the instance behind where a worker can rebuild it by name."""
    given = job.explainer
    light = attrs.evolve(given, instance=None) if given.recipe is not None else given
    return Job(light, job.predictor, job.background, job.seed)


def _surviving(shared: _Shared, tasks: list[_Task], parallel: joblib.Parallel) -> Iterator[tuple[int, Chunk]]:
    """Run tasks in processes; when one dies, say so and try again what was lost."""
    left = {task.number: task for task in tasks}
    for attempt in (1, 2):
        try:
            for number, chunk in parallel([joblib.delayed(_remote)(shared, task) for task in left.values()]):
                del left[number]
                yield number, chunk
            return
        except BrokenProcessPool as error:
            again = "each chunk by itself" if attempt == 2 else "once more"
            warnings.warn(
                f"a worker died ({describe(error)[:160]}); what it was working on is tried {again}.",
                FaithkitWarning,
                stacklevel=2,
            )
    for task in list(left.values()):
        yield task.number, _alone(shared, task)


def _alone(shared: _Shared, task: _Task) -> Chunk:
    """Run a task that may kill its process in a process of its own; if it does, row by row."""
    found = _in_own_process(shared, task)
    if found is not None:
        return found
    ones = [task.row(i) for i in range(len(task.seeds))]
    chunk = Chunk.joined([_in_own_process(shared, one) or _death(one) for one in ones])
    task.keep(chunk)
    return chunk


def _in_own_process(shared: _Shared, task: _Task) -> Chunk | None:
    try:
        with joblib.parallel_config(backend="loky"):
            ((_, chunk),) = joblib.Parallel(n_jobs=2)([joblib.delayed(_remote)(shared, task)])
    except BrokenProcessPool:
        return None
    found: Chunk = chunk
    return found


def _death(task: _Task) -> Chunk:
    if task.faults.on_error == "record":
        return Chunk(None, np.arange(0), ["worker died"])
    raise ExplainerError(
        f"the explainer killed its worker process on row {task.first_row}, twice. "
        "With on_error='record' (CLI: --on-error record) such rows are counted as unexplained."
    )


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
