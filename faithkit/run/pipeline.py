"""The pipeline's first half: predictions, explanations and their identities, each checked as it comes."""

import warnings
from typing import Any

import attrs
import numpy as np
import pandas as pd
from numpy.typing import NDArray

from faithkit.errors import FaithkitError, FaithkitWarning, InputError
from faithkit.extension.registry import registry
from faithkit.inputs.predictor import Predictor
from faithkit.inputs.seeds import row_seeds
from faithkit.measure.explanations import Explanations
from faithkit.measure.relations import Relation
from faithkit.run.components import Given, component
from faithkit.run.execution import Execution, explain_sample
from faithkit.run.job import Job


@attrs.frozen(eq=False)
class Labels:
    """Predictions as codes 0 … k − 1, and the labels that the codes stand for."""

    codes: NDArray[np.int64]
    classes: list[Any]


def encode_labels(predictions: Any) -> Labels:
    """Turn predictions into codes; missing ones are refused, for they can agree with nothing.

    Examples
    --------
    >>> encode_labels(["yes", "no", "yes"]).codes
    array([1, 0, 1])
    """
    if getattr(predictions, "ndim", 1) != 1:
        raise InputError(f"predictions of shape {np.shape(predictions)}: give one label per row.")
    column = pd.Series(list(predictions) if isinstance(predictions, tuple | list) else predictions)
    if not len(column):
        raise InputError("the sample is empty: give at least one row.")
    gone = column.isna().to_numpy()
    if gone.any():
        raise InputError(
            f"{int(gone.sum())} of {len(column)} predictions are missing (the first in row {gone.argmax()}): "
            "drop those rows, or name the label."
        )
    try:
        codes, classes = pd.factorize(column, sort=True)
    except TypeError:  # labels of several types have no order; none is needed
        codes, classes = pd.factorize(column)
    return Labels(codes.astype(np.int64), classes.tolist())


@attrs.frozen(eq=False)
class System:
    """An explanation system: what it takes to explain one more row."""

    job: Job
    discretizer: Given

    @property
    def predictor(self) -> Predictor:
        """The model."""
        return self.job.predictor

    def explain(self, X: Any) -> Explanations:
        """Explain rows that are not worth a trip to workers, and set their identity."""
        return discretize(self.discretizer, self.job.explain(X, row_seeds(X, self.job.seed)))


def explain_and_identify(job: Job, discretizer: Given, X: Any, execution: Execution) -> Explanations:
    """Explain the sample and set identities; a discretizer that learns sees the background's first."""
    if hasattr(discretizer.instance, "fit"):
        discretizer.instance.fit(explain_sample(job, job.background, execution))
    return discretize(discretizer, explain_sample(job, X, execution))


def discretize(discretizer: Given, explanations: Explanations) -> Explanations:
    """Set the explanations' identity."""
    if discretizer.text == "original":
        return explanations
    kinds = _accepted_kinds(discretizer)
    if kinds and explanations.kind not in kinds:
        raise InputError(
            f"the discretizer {discretizer.text} takes explanations of kind {' or '.join(kinds)}, and "
            f"these are of kind {explanations.kind!r}: choose another one, or 'original'."
        )
    return explanations.identified(discretizer.instance.discretize(explanations))


def _accepted_kinds(discretizer: Given) -> tuple[str, ...]:
    if discretizer.recipe is None:
        return ()
    return registry().find("discretizer", discretizer.recipe[0]).component.kinds


def applicability(
    given: Any, explanations: Explanations, background: Any
) -> tuple[Relation | None, str | None]:
    """Return sufficiency's relation, or why there is none."""
    name = given if given is not None else explanations.relation
    if name is None:
        return None, (
            f"explanations of kind {explanations.kind!r} do not say where else they apply: name a relation "
            "(relation=, CLI: --relation) to measure sufficiency"
        )
    try:
        relation: Relation = component("relation", name).instance
    except FaithkitError as error:
        if given is not None:
            raise
        return None, str(error)
    return relation.fit(background), None


def warn_about_background(explainer: Given) -> None:
    """Say that judging explanations on the rows they were learnt from flatters them."""
    warnings.warn(
        f"no background was given, so {explainer.text} learns from the rows it is judged on, which "
        "flatters it: pass background= (CLI: --background).",
        FaithkitWarning,
        stacklevel=3,
    )
