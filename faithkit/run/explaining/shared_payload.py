"""Send an object to all workers once, and return errors in a form that every process can read.

The shared object is a job, or a pass over a log. It is pickled once, and each worker unpickles it once.
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
from faithkit.third_party import guard
from faithkit.wording import describe

T = TypeVar("T")


@attrs.frozen(eq=False)
class SharedPayload:
    """An object for all workers: its pickle, or a function that builds it in each thread.

    The pickle is an array, because joblib writes a large array to one file that all processes share.
    """

    content: NDArray[np.uint8] | Callable[[], Any]
    token: str = attrs.field(factory=lambda: uuid.uuid4().hex)

    @classmethod
    def of(cls, value: Any) -> "SharedPayload":
        """Pickle an object."""
        import cloudpickle

        return cls(np.frombuffer(cloudpickle.dumps(value), dtype=np.uint8))

    def load(self) -> Any:
        """Return the object; each thread unpickles it once and reuses it afterwards."""
        if getattr(_LOADED, "token", None) != self.token:
            advice = "Install there what is installed here, and put modules of your own on its path."
            with guard(f"{worker_name()}, taking up the work,", advice):
                _LOADED.value = self._unpickle()
            _LOADED.token = self.token
        return _LOADED.value

    def _unpickle(self) -> Any:
        import cloudpickle

        return self.content() if callable(self.content) else cloudpickle.loads(self.content)


_LOADED = threading.local()  # the last payload that this thread loaded


def cluster_worker() -> Any:
    """Return the Dask worker that runs this code, or None."""
    distributed = sys.modules.get("distributed")  # every Dask worker has imported it
    try:
        return distributed.get_worker()  # type: ignore[union-attr]
    except (AttributeError, ValueError):
        return None


def worker_name() -> str:
    """Name the worker that runs this code, by its address on a cluster, else by its process id."""
    worker = cluster_worker()
    return f"the worker process {os.getpid()}" if worker is None else f"the worker {worker.address}"


def run_with_portable_errors(function: Callable[[], T]) -> T:
    """Return the result of a function, and raise any error in it as one of faithkit's own errors.

    Other exceptions may fail to unpickle in the parent process: their classes may be unknown there, or need
    arguments. And `SystemExit` would end a worker of a cluster.
    """
    try:
        return function()
    except BaseException as error:
        portable_error = _as_portable_error(error)
    raise portable_error  # outside the handler, else the original error would be pickled as its context


def _as_portable_error(error: BaseException) -> FaithkitError:
    own_classes = (cls for cls in type(error).__mro__ if cls.__module__ == FaithkitError.__module__)
    error_class = next((cls for cls in own_classes if issubclass(cls, FaithkitError)), None)
    if error_class is None:
        portable_error: FaithkitError = ExplainerError(f"{worker_name()} failed with {describe(error)}")
    else:
        portable_error = error_class(str(error))
    portable_error.add_note("in the worker:\n" + "".join(traceback.format_exception(error)))
    return portable_error
