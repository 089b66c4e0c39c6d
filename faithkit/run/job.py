"""A job: all that a worker needs to explain rows, and the name of everything that determines them."""

import copy
import inspect
import sys
import threading
import warnings
from functools import cached_property
from pathlib import Path
from typing import Any

import attrs
import numpy as np
from numpy.typing import NDArray

from faithkit.errors import (
    ContractError,
    ExplainerError,
    FaithkitError,
    FaithkitWarning,
    InputError,
)
from faithkit.foreign import RowTimeout
from faithkit.inputs.predictor import Predictor
from faithkit.inputs.seeds import fingerprint, header, row_words
from faithkit.measure.explanations import Explanations
from faithkit.measure.rows import n_rows, take_rows
from faithkit.run.components import Given, component
from faithkit.run.provenance import versions
from faithkit.run.serial import FORMAT, Chunk
from faithkit.run.store import digest
from faithkit.run.timeout import time_limit
from faithkit.wording import describe


@attrs.frozen(eq=False, slots=False)
class Job:
    """An explainer by name or by instance, the model and the background to fit it with, and a seed.

    It fits its explainer when first asked, so that a run that finds everything in the store never does.
    """

    explainer: Given
    predictor: Predictor
    background: Any
    seed: int

    @cached_property
    def fitted(self) -> Any:
        """The fitted explainer."""
        fitted = self.explainer.instance.fit(self.predictor, self.background)
        if fitted is None:
            raise ContractError(f"the explainer {self.explainer.text}: fit returned None; expected itself.")
        return fitted

    def fresh(self) -> "Job":
        """Return the same job with an explainer of its own, rebuilt by name where it has one."""
        if self.explainer.recipe is None:
            given = attrs.evolve(self.explainer, instance=copy.deepcopy(self.explainer.instance))
        else:
            given = component("explainer", self.explainer.text)
        return Job(given, self.predictor, self.background, self.seed)

    def explain(self, X: Any, seeds: NDArray[np.uint32]) -> Explanations:
        """Explain rows: one explanation each, whatever the batch they come in."""
        return checked_explanations(self.fitted.explain(X, seeds), X, self.explainer.text)

    @property
    def rows_per_chunk(self) -> int:
        """How many rows are worth a trip to a worker; explainers that are fast in batches say more."""
        return int(getattr(self.explainer.instance, "rows_per_chunk", 32))

    def key(self, X: Any) -> str:
        """Return the name of all that determines an explanation, but for the row itself."""
        return digest(
            FORMAT,
            self.explainer.text,
            _source(type(self.explainer.instance))
            if self.explainer.recipe
            else _content(self.explainer.instance, "explainer"),
            versions((self.explainer,)),
            self.seed,
            _content(self.predictor.model, "model"),
            fingerprint(self.background) if getattr(self.explainer.instance, "learns", True) else None,
            repr(header(take_rows(X, slice(0, 0)))),
        )


def chunk_keys(job: Job, X: Any, spans: list[tuple[int, int]]) -> list[str]:
    """Name every chunk by its job and by the content of its rows."""
    whole = job.key(X)
    words = np.column_stack([row_words(X, seed) for seed in (1, 2)])
    return [digest(whole, words[start:stop].astype("<u8").tobytes()) for start, stop in spans]


def _content(thing: Any, what: str) -> list[str]:
    """Digest an object: its state, and the file that defines it, so that edited code is another question."""
    import cloudpickle
    import joblib

    try:
        if hasattr(thing, "__code__"):
            return [digest(cloudpickle.dumps(thing)), _source(thing)]
        return [str(joblib.hash(thing)), _source(type(thing))]
    except Exception as error:
        raise InputError(
            f"the store cannot tell this {what} from another, for it cannot be pickled ({describe(error)}): "
            "define it in a module, or run without a store."
        ) from None


def _source(thing: Any) -> str:
    """Digest the file in which a function or class is defined; what was typed in has none."""
    try:
        file = inspect.getsourcefile(thing)
        return digest(Path(file).read_bytes()) if file else ""
    except (TypeError, OSError):
        return ""


def checked_explanations(given: Any, X: Any, who: str) -> Explanations:
    """Refuse anything but one explanation per row; note the explained rows beside them."""
    if not isinstance(given, Explanations):
        raise ContractError(
            f"the explainer {who} returned a {type(given).__name__}; expected faithkit.Explanations."
        )
    if len(given) != n_rows(X):
        raise ContractError(
            f"the explainer {who} returned {len(given)} explanations for {n_rows(X)} rows; expected one per "
            "row: mark rows without an explanation in `missing`."
        )
    return given if given.instances is not None else attrs.evolve(given, instances=X)


@attrs.frozen
class Faults:
    """What to do about a row that fails, and how long a row may take."""

    on_error: str = "raise"
    row_timeout: float | None = None


def explain_chunk(job: Job, X: Any, seeds: NDArray[np.uint32], faults: Faults, first_row: int) -> Chunk:
    """Explain the rows of a chunk; on a failure row by row, so that only the failing rows are lost."""
    if not _is_alone():
        # warnings can be caught in one thread at a time only; here they are shown as they come
        return _explain(job, X, seeds, faults, first_row)
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always", FaithkitWarning)
        chunk = _explain(job, X, seeds, faults, first_row)
    notes = [str(w.message) for w in caught if issubclass(w.category, FaithkitWarning)]
    return attrs.evolve(chunk, notes=tuple(dict.fromkeys(notes)))


def _is_alone() -> bool:
    """Whether no other thread of this process explains: in the main thread, or in a worker that has one."""
    if threading.current_thread() is threading.main_thread():
        return True
    distributed = sys.modules.get("distributed")
    try:
        return distributed is not None and distributed.get_worker().state.nthreads == 1
    except ValueError:  # this is no worker of a cluster
        return False


def _explain(job: Job, X: Any, seeds: NDArray[np.uint32], faults: Faults, first_row: int) -> Chunk:
    n = n_rows(X)
    job.fitted  # noqa: B018 (a failure to fit is nobody's row)
    if faults.row_timeout is None:
        try:
            return Chunk(_stripped(job.explain(X, seeds)), np.arange(n), [None] * n)
        except ContractError:
            raise
        except Exception as error:
            if n == 1:
                return _failed(job, error, faults, first_row)
    parts = [_explain_row(job, X, seeds, faults, i, first_row + i) for i in range(n)]
    return Chunk.joined(parts)


def _explain_row(job: Job, X: Any, seeds: Any, faults: Faults, i: int, row: int) -> Chunk:
    one = take_rows(X, slice(i, i + 1))
    try:
        with time_limit(faults.row_timeout):
            return Chunk(_stripped(job.explain(one, seeds[i : i + 1])), np.arange(1), [None])
    except ContractError:
        raise
    except (Exception, RowTimeout) as error:
        return _failed(job, error, faults, row)


def _failed(job: Job, error: BaseException, faults: Faults, row: int) -> Chunk:
    reason = str(error) if isinstance(error, RowTimeout) else describe(error)
    if faults.on_error == "record":
        return Chunk(None, np.arange(0), [reason])
    kind = type(error).__name__ if isinstance(error, FaithkitError) else ""
    raise ExplainerError(
        f"the explainer {job.explainer.text} failed on row {row}: {kind and kind + ': '}"
        f"{reason.rstrip('.')}. "
        "With on_error='record' (CLI: --on-error record) such rows are counted as unexplained."
    ) from (error if isinstance(error, Exception) else None)


def _stripped(explanations: Explanations) -> Explanations:
    """Leave the instances behind: whoever asked has them already."""
    return attrs.evolve(explanations, instances=None)


class Workbench(threading.local):
    """The job that this thread or process works on: rebuilt once, used for all of its chunks."""

    key: str | None = None
    job: Job | None = None

    def job_for(self, key: str, make: Any) -> Job:
        """Return this worker's own copy of the job."""
        if self.key != key:
            self.key, self.job = key, make().fresh()
        assert self.job is not None
        return self.job


BENCH = Workbench()
