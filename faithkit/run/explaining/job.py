"""The data that workers receive: the job, the settings of the run, and a pickled function."""

import copy
import os
import sys
import threading
import uuid
from collections.abc import Callable
from functools import cached_property
from numbers import Integral, Real
from typing import Any

import attrs
import numpy as np
from numpy.typing import NDArray

from faithkit.arguments import check_integer, to_python
from faithkit.arrays.containers import copy_rows, n_rows
from faithkit.errors import ContractError, ExplainerError, InputError
from faithkit.explanations.explanations import Explanations
from faithkit.inputs.models.predictor import Predictor
from faithkit.inputs.objects.adapters import RowContext, find_adapter
from faithkit.inputs.objects.explanation_forms import as_explanations
from faithkit.inputs.pairing import align_columns
from faithkit.inputs.rows import Rows, feature_names_or_none
from faithkit.measure.protocols import get_optional_attribute
from faithkit.run.components.resolution import FunctionExplainer, ResolvedComponent, resolve_component
from faithkit.run.explaining.store import Store
from faithkit.third_party import guard


@attrs.frozen(eq=False, slots=False)
class Job:
    """An explainer, the model and the background to fit it with, and a seed.

    The explainer is fitted at its first use. A run that finds every result in the store never fits it.
    """

    explainer: ResolvedComponent
    predictor: Predictor
    background: Rows
    seed: int

    @cached_property
    def fitted(self) -> Any:
        """The fitted explainer."""
        with guard(f"fitting the explainer {self.explainer.text}", error=ExplainerError):
            fitted = self.explainer.instance.fit(self.predictor, self.background)
        if fitted is None:
            raise ContractError(f"the explainer {self.explainer.text}: fit returned None; expected itself.")
        return fitted

    def __reduce__(self) -> tuple[Any, ...]:
        """Pickle without the fitted explainer, and without any explainer that can be built by name."""
        explainer = self.explainer
        if explainer.recipe is not None:
            explainer = attrs.evolve(explainer, instance=None)
        return _rebuild_job, (explainer, self.predictor, self.background, self.seed)

    def copy_unfitted(self) -> "Job":
        """Return the same job with a new explainer, for another thread."""
        explainer = self.explainer
        if explainer.recipe is None:
            explainer = attrs.evolve(explainer, instance=copy.deepcopy(explainer.instance))
        return _rebuild_job(explainer, self.predictor, self.background, self.seed)

    def explain(self, X: Rows, seeds: NDArray[np.uint32]) -> Explanations:
        """Return one explanation for each row."""
        X_copy = copy_rows(X)  # some explainers change their input, and X is compared later
        explanations = self._as_explanations(self.fitted.explain(X_copy, seeds.copy()), X)
        explanations = align_columns(explanations, X)
        if len(explanations) != n_rows(X):
            raise ContractError(
                f"the explainer {self.explainer.text} returned {len(explanations)} explanations for "
                f"{n_rows(X)} rows; expected one per row: mark rows without an explanation in `missing`."
            )
        return explanations if explanations.instances is not None else attrs.evolve(explanations, instances=X)

    def _as_explanations(self, returned: Any, X: Rows) -> Explanations:
        """Convert the explainer's return value: any form from a function, else a form with an adapter."""
        if isinstance(returned, Explanations):
            return returned
        if not isinstance(self.explainer.instance, FunctionExplainer) and find_adapter(returned) is None:
            raise ContractError(
                f"the explainer {self.explainer.text} returned a {type(returned).__name__}; expected "
                "faithkit.Explanations, or what an adapter takes."
            )
        classes, predictor = self.predictor.classes, self.predictor
        return as_explanations(
            returned,
            RowContext(
                n=n_rows(X),
                predict=lambda: predictor.predict(X),
                classes=None if classes is None else classes.tolist(),
                features=feature_names_or_none(X),
                X=X,
            ),
        )

    @property
    def rows_per_chunk(self) -> int:
        """The number of rows that the explainer prefers to explain at a time."""
        declared = declared_rows_per_chunk(self.explainer.instance, self.predictor)
        name = f"the explainer {self.explainer.text}: rows_per_chunk"
        rows: int = check_integer(declared, name, minimum=1, error=ContractError)
        return rows


def declared_rows_per_chunk(explainer: Any, predictor: Predictor) -> Any:
    """Return the `rows_per_chunk` of an explainer, which may depend on the model."""
    declared = get_optional_attribute(explainer, "rows_per_chunk")
    if not callable(declared):
        return declared
    with guard(f"asking {type(explainer).__name__} for rows_per_chunk"):
        return declared(predictor)


def _rebuild_job(explainer: ResolvedComponent, predictor: Predictor, background: Rows, seed: int) -> Job:
    """Build a job, with a new explainer where its name says how to build one."""
    if explainer.recipe is not None:
        explainer = resolve_component("explainer", explainer.text)
    return Job(explainer, predictor, background, seed)


# --- the settings of a run -------------------------------------------------------------------------------


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


# --- the way to workers -----------------------------------------------------------------------------------


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
        import cloudpickle

        return cls(np.frombuffer(cloudpickle.dumps(function), dtype=np.uint8))

    def load(self) -> Any:
        """Return the function; each thread unpickles it once and reuses it afterwards."""
        import cloudpickle

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
