"""A job: all that a worker needs to explain rows."""

import copy
from functools import cached_property
from typing import Any

import attrs
import numpy as np
from numpy.typing import NDArray

from faithkit.arguments import whole_number
from faithkit.arrays.containers import copy_rows, n_rows
from faithkit.errors import ContractError, ExplainerError
from faithkit.explanations.explanations import Explanations
from faithkit.foreign import foreign
from faithkit.inputs.models.predictor import Predictor
from faithkit.inputs.objects.adapters import RowContext, adapter_for
from faithkit.inputs.objects.explanation_forms import as_explanations
from faithkit.inputs.rows import known_names
from faithkit.measure.protocols import said
from faithkit.run.components.resolution import FunctionExplainer, ResolvedComponent, component


@attrs.frozen(eq=False, slots=False)
class Job:
    """An explainer by name or by instance, the model and the background to fit it with, and a seed.

    It fits its explainer when first asked, so that a run that finds everything in the store never does.
    """

    explainer: ResolvedComponent
    predictor: Predictor
    background: Any
    seed: int

    @cached_property
    def fitted(self) -> Any:
        """The fitted explainer."""
        with foreign(f"fitting the explainer {self.explainer.text}", error=ExplainerError):
            fitted = self.explainer.instance.fit(self.predictor, self.background)
        if fitted is None:
            raise ContractError(f"the explainer {self.explainer.text}: fit returned None; expected itself.")
        return fitted

    def __reduce__(self) -> tuple[Any, ...]:
        """Travel light: without what is fitted, and without the explainer where it can be made by name."""
        given = self.explainer
        light = given if given.recipe is None else attrs.evolve(given, instance=None)
        return _rebuilt, (light, self.predictor, self.background, self.seed)

    def fresh(self) -> "Job":
        """Return the same job with an explainer of its own, for another thread."""
        given = self.explainer
        if given.recipe is None:
            given = attrs.evolve(given, instance=copy.deepcopy(given.instance))
        return _rebuilt(given, self.predictor, self.background, self.seed)

    def explain(self, X: Any, seeds: NDArray[np.uint32]) -> Explanations:
        """Explain rows: one explanation each, whatever the batch they come in."""
        own = copy_rows(X)  # some explainers change their input; what X holds is compared later
        given, who = self._taken(self.fitted.explain(own, seeds.copy()), X), self.explainer.text
        if len(given) != n_rows(X):
            raise ContractError(
                f"the explainer {who} returned {len(given)} explanations for {n_rows(X)} rows; expected one "
                "per row: mark rows without an explanation in `missing`."
            )
        return given if given.instances is not None else attrs.evolve(given, instances=X)

    def _taken(self, given: Any, X: Any) -> Explanations:
        """Take what an explainer returned: of a function in any form, else what an adapter takes."""
        if isinstance(given, Explanations):
            return given
        if not isinstance(self.explainer.instance, FunctionExplainer) and adapter_for(given) is None:
            raise ContractError(
                f"the explainer {self.explainer.text} returned a {type(given).__name__}; expected "
                "faithkit.Explanations, or what an adapter takes."
            )
        classes, predictor = self.predictor.classes, self.predictor
        return as_explanations(
            given,
            RowContext(
                n=n_rows(X),
                predict=lambda: predictor.predict(X),
                classes=None if classes is None else classes.tolist(),
                features=known_names(X),
                X=X,
            ),
        )

    @property
    def rows_per_chunk(self) -> int:
        """How many rows the explainer wants to explain at a time."""
        declared = declared_rows(self.explainer.instance, self.predictor)
        what = f"the explainer {self.explainer.text}: rows_per_chunk"
        rows: int = whole_number(declared, what, 1, error=ContractError)
        return rows


def declared_rows(explainer: Any, predictor: Predictor) -> Any:
    """Return the `rows_per_chunk` of an explainer, which may depend on the model."""
    declared = said(explainer, "rows_per_chunk")
    if not callable(declared):
        return declared
    with foreign(f"asking {type(explainer).__name__} for rows_per_chunk"):
        return declared(predictor)


def _rebuilt(given: ResolvedComponent, predictor: Predictor, background: Any, seed: int) -> Job:
    own = given if given.recipe is None else component("explainer", given.text)
    return Job(own, predictor, background, seed)
