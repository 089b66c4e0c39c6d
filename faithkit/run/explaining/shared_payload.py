"""Send an object to all workers: a job, or a pass over a log. Each worker unpickles it once."""

import os
import sys
import threading
import uuid
from collections.abc import Callable
from typing import Any

import attrs
import numpy as np
from numpy.typing import NDArray

from faithkit.third_party import guard


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
        """Return the object; each thread builds it once and reuses it afterwards."""
        import cloudpickle

        if getattr(_LOADED, "token", None) != self.token:
            worker = cluster_worker()
            name = f"process {os.getpid()}" if worker is None else worker.address
            advice = "Install there what is installed here, and put modules of your own on its path."
            with guard(f"the worker {name}, taking up the work,", advice):
                _LOADED.value = self.content() if callable(self.content) else cloudpickle.loads(self.content)
            _LOADED.token = self.token
        return _LOADED.value


_LOADED = threading.local()  # the last payload that this thread loaded


def cluster_worker() -> Any:
    """Return the Dask worker that runs this code, or None."""
    distributed = sys.modules.get("distributed")  # every Dask worker has imported it
    try:
        return distributed.get_worker()  # type: ignore[union-attr]
    except (AttributeError, ValueError):
        return None
