"""The job: everything that an executor's workers need to explain rows."""

import copy
from functools import cached_property
from typing import Any

import attrs
import numpy as np
from numpy.typing import NDArray

from faithkit.arguments import check_integer
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
from faithkit.third_party import guard


@attrs.frozen(eq=False, slots=False)
class Job:
    """An explainer, the model and the background to fit it with, and a seed.

    The explainer is fitted at its first use. So a run that finds every result in a store never fits it. A job
    can be pickled if its model and background can, and its explainer has a name or can be pickled.

    Attributes
    ----------
    explainer : ResolvedComponent
        Its `instance`; the `text` that names it; and its `recipe`, name and parameters, or None if it is an
        object of the user.
    predictor : Predictor
    background : array, DataFrame, sparse matrix or list of str
    seed : int
    on_error : str
        "raise", or "record" to count rows that fail as unexplained.
    """

    explainer: ResolvedComponent
    predictor: Predictor
    background: Rows
    seed: int
    on_error: str = "raise"

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
        return _rebuild_job, (explainer, self.predictor, self.background, self.seed, self.on_error)

    def copy_unfitted(self) -> "Job":
        """Return the same job with a new explainer, for another thread."""
        explainer = self.explainer
        if explainer.recipe is None:
            explainer = attrs.evolve(explainer, instance=copy.deepcopy(explainer.instance))
        return _rebuild_job(explainer, self.predictor, self.background, self.seed, self.on_error)

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


def _rebuild_job(
    explainer: ResolvedComponent, predictor: Predictor, background: Rows, seed: int, on_error: str
) -> Job:
    """Build a job, with a new explainer where its name says how to build one."""
    if explainer.recipe is not None:
        explainer = resolve_component("explainer", explainer.text)
    return Job(explainer, predictor, background, seed, on_error)


def check_on_error(on_error: Any) -> str:
    """Check what to do with rows that an explainer fails on.

    >>> check_on_error("record")
    'record'
    """
    if on_error not in ("raise", "record"):
        raise InputError(f"on_error must be 'raise' or 'record', got {on_error!r}.")
    return str(on_error)
