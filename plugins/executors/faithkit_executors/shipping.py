"""The way of a job to workers: it is pickled once, and each thread that works on it unpickles it once."""

import os
import sys
import threading
import uuid
from collections.abc import Callable, Iterator, Sequence
from functools import cached_property
from typing import Any

import attrs
import cloudpickle
import numpy as np
from numpy.typing import NDArray

from faithkit.errors import FaithkitError, warn
from faithkit.plugin import Chunk, ChunkResult, Job, explain_chunk, guard
from faithkit_executors.time_limits import LimitedJob
from faithkit_executors.wording import describe

Results = Iterator[tuple[Chunk, ChunkResult]]


@attrs.frozen(eq=False, slots=False)
class Work:
    """What a worker does with a chunk: a job, and the seconds that each of its rows may take.

    `overdue_file` is a file that is written to if a row ignores its time limit. The process then ends.
    """

    job: Job
    timeout: float | None = None
    overdue_file: str | None = None

    @cached_property
    def _limited_job(self) -> Job:
        """The job with its time limit; the worker makes it, so that it fits its explainer once."""
        if self.timeout is None:
            return self.job
        return LimitedJob.of(self.job, self.timeout, self.overdue_file)

    def explain(self, chunk: Chunk, alone: bool | None = None) -> ChunkResult:
        """Explain the rows of a chunk: together, or one by one where each has a time limit."""
        if self.timeout is None or not len(chunk):
            return explain_chunk(self._limited_job, chunk, alone=alone)
        rows = (chunk.subchunk(row, row + 1) for row in range(len(chunk)))
        return ChunkResult.concat([explain_chunk(self._limited_job, row, alone=alone) for row in rows])

    def explain_here(self, chunks: Sequence[Chunk]) -> Results:
        """Explain chunks in this process."""
        return ((chunk, self.explain(chunk)) for chunk in chunks)

    def ship(self) -> "SharedFunction | None":
        """Pickle the function `explain` with the job; warn and return None if that is impossible."""
        try:
            with guard("its pickle"):
                return SharedFunction.of(self.explain)
        except FaithkitError as error:
            warn(
                f"the job cannot be sent to workers ({describe(error).rstrip('.')}), so it runs in this "
                "process, where a time limit ends no code in C.",
            )
            return None


@attrs.frozen(eq=False)
class SharedFunction:
    """The pickle of a function with its data, for all workers.

    It is an array, because joblib writes a large array to one file that all processes share.
    """

    content: NDArray[np.uint8]
    token: str = attrs.field(factory=lambda: uuid.uuid4().hex)

    @classmethod
    def of(cls, function: Callable[..., Any]) -> "SharedFunction":
        """Pickle a function."""
        return cls(np.frombuffer(cloudpickle.dumps(function), dtype=np.uint8))

    def load(self) -> Any:
        """Return the function; each thread unpickles it once and reuses it afterwards."""
        if getattr(_LOADED, "token", None) != self.token:
            worker = cluster_worker()
            name = f"process {os.getpid()}" if worker is None else worker.address
            advice = "Install there what is installed here, and put modules of your own on its path."
            with guard(f"the worker {name}, taking up the work,", advice):
                _LOADED.value = cloudpickle.loads(self.content)
            _LOADED.token = self.token
        return _LOADED.value


_LOADED = threading.local()  # the last function that this thread loaded


def cluster_worker() -> Any:
    """Return the Dask worker that runs this code, or None."""
    distributed = sys.modules.get("distributed")  # every Dask worker has imported it
    try:
        return distributed.get_worker()  # type: ignore[union-attr]
    except (AttributeError, ValueError):
        return None
