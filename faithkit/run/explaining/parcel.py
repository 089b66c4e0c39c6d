"""What all chunks share (a job; or a log, and how to read it): packed once, unpacked once by every worker.

And what comes back if something fails there: an error that every process can read, whatever was raised.
"""

import os
import sys
import threading
import traceback
import uuid
from collections.abc import Callable
from typing import Any, TypeVar

import attrs
import numpy as np
from numpy.typing import NDArray

from faithkit.errors import ExplainerError, FaithkitError
from faithkit.foreign import foreign
from faithkit.wording import describe

T = TypeVar("T")


@attrs.frozen(eq=False)
class Parcel:
    """Something for all workers: its pickle, or a function that makes it anew.

    The pickle is an array, since joblib writes a large array to a file once, which all processes then share.
    """

    content: NDArray[np.uint8] | Callable[[], Any]
    token: str = attrs.field(factory=lambda: uuid.uuid4().hex)

    @classmethod
    def of(cls, thing: Any) -> "Parcel":
        """Pack it."""
        import cloudpickle

        return cls(np.frombuffer(cloudpickle.dumps(thing), dtype=np.uint8))

    def open(self) -> Any:
        """Unpack it; or return it unpacked, as this thread left it."""
        if getattr(_BENCH, "token", None) != self.token:
            advice = "Install there what is installed here, and put modules of your own on its path."
            with foreign(f"{place()}, taking up the work,", advice):
                _BENCH.thing = self._unpack()
            _BENCH.token = self.token
        return _BENCH.thing

    def _unpack(self) -> Any:
        import cloudpickle

        return self.content() if callable(self.content) else cloudpickle.loads(self.content)


_BENCH = threading.local()  # what a thread of a worker unpacked last


def cluster_worker() -> Any:
    """Return the worker of a cluster that this is, or None."""
    distributed = sys.modules.get("distributed")  # no worker of a cluster is without it
    try:
        return distributed.get_worker()  # type: ignore[union-attr]
    except (AttributeError, ValueError):
        return None


def place() -> str:
    """Name the worker that this is; on a cluster, as its scheduler knows it."""
    worker = cluster_worker()
    return f"the worker process {os.getpid()}" if worker is None else f"the worker {worker.address}"


def portably(work: Callable[[], T]) -> T:
    """Return what `work` returns; whatever goes wrong in it is raised as an error of faithkit's own.

    Exceptions of others need not survive the journey home: their classes, or those of the exceptions behind
    them, may be unknown there, or ask for arguments. And `SystemExit` would end a worker of a cluster.
    """
    try:
        return work()
    except BaseException as error:
        failed = _portable(error)
    raise failed  # outside the handler, or what was raised first would travel along


def _portable(error: BaseException) -> FaithkitError:
    ours = (kind for kind in type(error).__mro__ if kind.__module__ == FaithkitError.__module__)
    kind = next((kind for kind in ours if issubclass(kind, FaithkitError)), None)
    portable = (
        ExplainerError(f"{place()} failed with {describe(error)}") if kind is None else kind(str(error))
    )
    portable.add_note("in the worker:\n" + "".join(traceback.format_exception(error)))
    return portable
