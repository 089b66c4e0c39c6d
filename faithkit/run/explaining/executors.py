"""The kernel's own executors, which explain in this process, and the choice of an executor."""

import threading
from collections.abc import Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor, as_completed
from typing import Any

from faithkit.arguments import check_integer, to_python
from faithkit.errors import InputError, ParameterError
from faithkit.run.components.resolution import ResolvedComponent, resolve_component
from faithkit.run.explaining.chunk import Chunk, ChunkResult, explain_chunk
from faithkit.run.explaining.job import Job
from faithkit.run.explaining.progress import count_cores


class Here:
    """Explain in this process, one chunk after the other."""

    def run(self, job: Job, chunks: Sequence[Chunk]) -> Iterator[tuple[Chunk, ChunkResult]]:
        """Explain the chunks in order."""
        return ((chunk, explain_chunk(job, chunk)) for chunk in chunks)


class Threads:
    """Explain in threads of this process, each of which fits an explainer of its own.

    They help where explainers and models wait, or compute outside Python.

    Parameters
    ----------
    workers : int
        The number of threads; -1 means one per core.
    """

    def __init__(self, workers: int = -1) -> None:
        self.workers = check_integer(workers, "threads: workers", error=ParameterError)
        if self.workers == 0:
            raise ParameterError("threads: workers must be a number of threads, or -1 for all cores, got 0.")

    def run(self, job: Job, chunks: Sequence[Chunk]) -> Iterator[tuple[Chunk, ChunkResult]]:
        """Explain the chunks in threads."""
        thread = threading.local()

        def explain(chunk: Chunk) -> tuple[Chunk, ChunkResult]:
            if not hasattr(thread, "job"):
                thread.job = job.copy_unfitted()
            return chunk, explain_chunk(thread.job, chunk)

        n_threads = self.workers if self.workers > 0 else max(1, count_cores() + 1 + self.workers)
        pool = ThreadPoolExecutor(max(1, min(n_threads, len(chunks))), "faithkit")
        try:
            for finished in as_completed([pool.submit(explain, chunk) for chunk in chunks]):
                yield finished.result()
        finally:  # chunks that have not begun are left; nothing can interrupt the others
            pool.shutdown(wait=False, cancel_futures=True)


def resolve_executor(executor: Any, n_jobs: Any) -> ResolvedComponent:
    """Return the executor that the user asked for; `n_jobs` is short for so many processes.

    Examples
    --------
    >>> resolve_executor(None, 1).text, resolve_executor("threads:workers=2", 1).instance.workers
    ('here', 2)
    """
    if not _is_number_of_workers(n_jobs):
        raise InputError(
            f"n_jobs must be a whole number of workers, or -1 for all cores, got {to_python(n_jobs)!r}."
        )
    short_form = "here" if n_jobs == 1 else f"processes:workers={int(n_jobs)}"
    if executor is None:
        return resolve_component("executor", short_form)
    if n_jobs != 1:
        raise InputError(
            f"n_jobs={n_jobs} is short for executor={short_form!r}, and there is another executor: give one "
            f"of the two. A store has its workers inside: 'stored:folder=DIR,inside={short_form}'."
        )
    return resolve_component("executor", executor)


def _is_number_of_workers(n_jobs: Any) -> bool:
    try:
        return check_integer(n_jobs, "n_jobs") != 0
    except InputError:
        return False
