"""Who answers chunks: this process, threads, other processes, or a cluster, as joblib is configured."""

import warnings
from collections.abc import Generator, Iterator
from typing import Any

import attrs
import joblib

from faithkit.errors import ExplainerError, FaithkitError, FaithkitWarning, InputError
from faithkit.foreign import foreign
from faithkit.run.explaining.answer import Answer
from faithkit.run.explaining.chunk import Chunk, answered
from faithkit.run.explaining.cluster import active_cluster, all_see, check_workers, each_result
from faithkit.run.explaining.execution import Execution
from faithkit.run.explaining.job import Job
from faithkit.run.explaining.parcel import Parcel, portably
from faithkit.run.explaining.processes import a_process, can_start, in_processes
from faithkit.run.explaining.store import Store
from faithkit.run.explaining.timeout import check_possible
from faithkit.wording import describe

PROCESSES = ("LokyBackend", "MultiprocessingBackend")


def each_answer(job: Job, chunks: list[Chunk], execution: Execution) -> Generator[tuple[int, Answer]]:
    """Yield the number of every chunk and the answer to it, as they are finished, in any order."""
    backend, configured = joblib.parallel.get_active_backend()
    name = type(backend).__name__
    limited = execution.row_timeout is not None
    if limited:
        _check_limit(name)
    if not chunks:
        return
    cluster = active_cluster()
    if cluster is not None:
        yield from _on_cluster(job, chunks, cluster)
        return
    # a number of workers given to us comes first, then the one that joblib was given
    asked = configured if execution.n_jobs == 1 and configured else execution.n_jobs
    n_jobs = min(joblib.effective_n_jobs(asked), len(chunks))
    if n_jobs > 1:
        parallel = _parallel(n_jobs, name)
        yield from (_in_processes if name in PROCESSES else _on_others)(job, chunks, parallel)
    elif limited:  # what hangs in C can only be ended together with its process
        yield from _in_processes(job, chunks, a_process())
    else:
        yield from _here(job, chunks)


def _parallel(n_jobs: int, backend: str) -> joblib.Parallel:
    """Use joblib as configured, but loky for multiprocessing, whose pool waits for ever for a dead worker."""
    instead = {"backend": "loky"} if backend == "MultiprocessingBackend" else {}
    return joblib.Parallel(n_jobs=n_jobs, return_as="generator_unordered", **instead)


def _check_limit(backend: str) -> None:
    if backend not in ("SequentialBackend", *PROCESSES):
        raise InputError(
            f"a time limit per row works with the backends sequential and loky, not with {backend}: "
            "choose one of those, or leave out --row-timeout."
        )
    check_possible()


def _here(job: Job, chunks: list[Chunk]) -> Iterator[tuple[int, Answer]]:
    if chunks[0].execution.row_timeout is not None:
        check_possible(here=True)
    return ((chunk.number, answered(job, chunk)) for chunk in chunks)


def _on_others(job: Job, chunks: list[Chunk], parallel: joblib.Parallel) -> Iterator[tuple[int, Answer]]:
    """Let threads work, or workers of a kind that somebody registered with joblib."""
    backend, _ = joblib.parallel.get_active_backend()
    parcel = Parcel(job.fresh) if backend.supports_sharedmem else _packed(job)
    if parcel is None:
        return _here(job, chunks)
    return iter(parallel(joblib.delayed(_work)(parcel, chunk) for chunk in chunks))


def _work(parcel: Parcel, chunk: Chunk) -> tuple[int, Answer]:
    return chunk.number, portably(lambda: answered(parcel.open(), chunk))


def _in_processes(job: Job, chunks: list[Chunk], parallel: joblib.Parallel) -> Iterator[tuple[int, Answer]]:
    parcel = _packed(job, None if can_start() else "joblib starts no processes here")
    if parcel is None:
        return _here(job, chunks)
    return in_processes(job, parcel, chunks, parallel)


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


def _on_cluster(job: Job, chunks: list[Chunk], cluster: Any) -> Iterator[tuple[int, Answer]]:
    """Let Dask's workers answer; they keep their answers themselves where they see the store."""
    check_workers(cluster, (job.explainer,))
    parcel = _packed(job)
    if parcel is None:
        yield from _here(job, chunks)
        return
    sent, deadly = _for_workers(chunks, cluster), []
    for i, answer in each_result(cluster, parcel, answered, sent):
        if not isinstance(answer, ExplainerError):
            if sent[i].key is None:
                chunks[i].keep(answer)
            yield chunks[i].number, answer
        elif chunks[i].execution.on_error == "raise":
            raise answer
        else:
            deadly.append(chunks[i])
    if deadly:
        told = f"{len(deadly)} of {len(chunks)} chunks, at which workers of the cluster died, "
        if not can_start():
            raise ExplainerError(
                f"{told}would be explained in processes of this machine, and joblib starts none here: run "
                "this in a main process, or give the workers more memory."
            )
        warnings.warn(f"{told}are explained in processes of this machine.", FaithkitWarning, stacklevel=3)
        yield from in_processes(job, parcel, deadly, a_process())


def _for_workers(chunks: list[Chunk], cluster: Any) -> list[Chunk]:
    """Return chunks for workers: with the full path of the store; without keys, if one does not see it."""
    execution = chunks[0].execution
    if execution.store is None:
        return chunks
    folder = execution.store.folder.resolve()
    if not all_see(cluster, folder):
        return [attrs.evolve(chunk, key=None) for chunk in chunks]
    common = attrs.evolve(execution, store=Store(folder))
    return [attrs.evolve(chunk, execution=common) for chunk in chunks]
