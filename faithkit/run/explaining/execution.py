"""How to run: how many workers, what to do about rows that fail or take too long, and what is kept."""

import os
import sys
from numbers import Integral, Real
from typing import Any

import attrs

from faithkit.arguments import python
from faithkit.errors import InputError
from faithkit.run.explaining.store import Store


def _workers(given: Any) -> int:
    if not isinstance(given, Integral) or given == 0:
        raise InputError(
            f"n_jobs must be a whole number of workers, or -1 for all cores, got {python(given)!r}."
        )
    return int(given)


def _seconds(given: Any) -> float | None:
    if given is None:
        return None
    if not isinstance(given, Real) or not 0 < python(given) <= sys.float_info.max:
        raise InputError(f"row_timeout must be a number of seconds above 0, got {python(given)!r}.")
    return float(given)


def _store(given: Any) -> Store | None:
    if given is None or isinstance(given, Store):
        return given
    if not (isinstance(given, str | os.PathLike) and str(given)):
        raise InputError(f"the store is {given!r}: name a folder that keeps finished chunks, or give none.")
    return Store(given)


@attrs.frozen
class Execution:
    """How to run: with how many workers, what to do about failures, where to keep answers, whether to tell.

    Examples
    --------
    >>> import numpy as np
    >>> Execution(n_jobs=np.int64(2), row_timeout=np.float32(0.5)).row_timeout
    0.5
    """

    n_jobs: int = attrs.field(default=1, converter=_workers)
    on_error: str = "raise"
    row_timeout: float | None = attrs.field(default=None, converter=_seconds)
    store: Store | None = attrs.field(default=None, converter=_store)
    progress: bool = True

    def __attrs_post_init__(self) -> None:
        if self.on_error not in ("raise", "record"):
            raise InputError(f"on_error must be 'raise' or 'record', got {self.on_error!r}.")
