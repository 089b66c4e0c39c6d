"""The settings of a run: number of workers, handling of failures, time limit, store and progress."""

import os
import sys
from numbers import Integral, Real
from typing import Any

import attrs

from faithkit.arguments import to_python
from faithkit.errors import InputError
from faithkit.run.explaining.store import Store


def _check_n_jobs(n_jobs: Any) -> int:
    if not isinstance(n_jobs, Integral) or n_jobs == 0:
        raise InputError(
            f"n_jobs must be a whole number of workers, or -1 for all cores, got {to_python(n_jobs)!r}."
        )
    return int(n_jobs)


def _check_seconds(seconds: Any) -> float | None:
    if seconds is None:
        return None
    if not isinstance(seconds, Real) or not 0 < to_python(seconds) <= sys.float_info.max:
        raise InputError(f"row_timeout must be a number of seconds above 0, got {to_python(seconds)!r}.")
    return float(seconds)


def _as_store(store: Any) -> Store | None:
    if store is None or isinstance(store, Store):
        return store
    if not (isinstance(store, str | os.PathLike) and str(store)):
        raise InputError(f"the store is {store!r}: name a folder that keeps finished chunks, or give none.")
    return Store(store)


@attrs.frozen
class Execution:
    """The settings of a run.

    Attributes
    ----------
    n_jobs : int
        The number of workers, -1 for one per core.
    on_error : str
        "raise", or "record" to count rows that fail as unexplained.
    row_timeout : float or None
        The seconds that a row may take.
    store : Store or None
        Where the results of finished chunks are kept.
    progress : bool
        Whether to show progress.

    Examples
    --------
    >>> import numpy as np
    >>> Execution(n_jobs=np.int64(2), row_timeout=np.float32(0.5)).row_timeout
    0.5
    """

    n_jobs: int = attrs.field(default=1, converter=_check_n_jobs)
    on_error: str = "raise"
    row_timeout: float | None = attrs.field(default=None, converter=_check_seconds)
    store: Store | None = attrs.field(default=None, converter=_as_store)
    progress: bool = True

    def __attrs_post_init__(self) -> None:
        if self.on_error not in ("raise", "record"):
            raise InputError(f"on_error must be 'raise' or 'record', got {self.on_error!r}.")
