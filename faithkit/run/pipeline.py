"""The pipeline's first half: predictions, explanations and their identities, each checked as it comes."""

import contextlib
import warnings
from collections.abc import Iterable, Mapping, Set
from typing import Any

import attrs
import numpy as np
import pandas as pd
from numpy.typing import NDArray

from faithkit.errors import ContractError, FaithkitError, FaithkitWarning, InputError
from faithkit.extension.registry import registry
from faithkit.foreign import foreign
from faithkit.inputs.predictor import Predictor
from faithkit.inputs.rows import check_columns, check_X, input_kind
from faithkit.inputs.seeds import row_seeds, row_words
from faithkit.measure.explanations import Explanations
from faithkit.measure.precision import Decimals, decimals_of, rounded
from faithkit.measure.relations import Relation, fitted
from faithkit.measure.rows import n_rows, take_rows
from faithkit.run.components import Given, component
from faithkit.run.execution import Execution, explain_sample
from faithkit.run.job import Job
from faithkit.wording import listing

ROWS = {"table": "the rows of a table", "text": "texts", "sparse": "the rows of a sparse matrix"}
ROWS_LEARNT = 1000  # of the background, by a discretizer that learns


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
    if not isinstance(predictions, Iterable) or isinstance(predictions, str | bytes | Mapping | Set):
        raise InputError(
            f"predictions of type {type(predictions).__name__} are not understood: give one label per row, "
            "in a list, an array or a Series."
        )
    with foreign("going through the predictions", "Give one label per row."):
        is_column = isinstance(predictions, pd.Series | np.ndarray)
        column = pd.Series(predictions if is_column else list(predictions))
    if not len(column):
        raise InputError("the sample is empty: give at least one row.")
    gone = column.isna().to_numpy()
    if gone.any():
        raise InputError(
            f"{int(gone.sum())} of {len(column)} predictions are missing (the first in row {gone.argmax()}): "
            "drop those rows, or name the label."
        )
    with foreign("comparing the predictions", "Give labels that are numbers, truths or texts."):
        codes, found = pd.factorize(column.to_numpy() if column.dtype == object else column)
        labels = found.tolist()
        dict(zip(labels, map(str, labels), strict=True))  # what would fail in a report fails here
        order = _sorted_places(labels)
    rank = np.empty(len(order), dtype=np.int64)
    rank[order] = np.arange(len(order))
    return Labels(rank[codes], [labels[place] for place in order])


def _sorted_places(labels: list[Any]) -> list[int]:
    try:
        return sorted(range(len(labels)), key=labels.__getitem__)
    except TypeError:  # labels of several types have no order; none is needed
        return list(range(len(labels)))


@attrs.frozen(eq=False)
class System:
    """An explanation system: what it takes to explain one more row."""

    job: Job
    discretizer: Given
    execution: Execution
    decimals: Decimals | None = None

    @property
    def predictor(self) -> Predictor:
        """The model."""
        return self.job.predictor

    def explain(self, X: Any) -> Explanations:
        """Explain rows that are not worth a trip to workers, and set their identity."""
        check_columns(X, self.job.background)
        found = self.job.explain(X, row_seeds(X, self.job.seed))
        return discretize(self.discretizer, rounded(found, self.decimals))

    def explain_all(self, X: Any) -> Explanations:
        """Explain a sample as `evaluate` does; a discretizer that learns has learnt already."""
        check_X(X)
        check_columns(X, self.job.background)
        found = explain_sample(self.job, X, self.execution)
        return discretize(self.discretizer, rounded(found, self.decimals))

    def learn(self, discretizer: Given, known: Explanations | None = None) -> None:
        """Let a discretizer that learns do so from the background's explanations, where none are known yet.

        Explaining costs, and quantiles of a thousand rows are as good as those of all.
        """
        if learns(discretizer):
            if known is None:
                rows = _some_rows(self.job.background, self.job.seed)
                known = rounded(explain_sample(self.job, rows, self.execution), self.decimals)
            teach(discretizer, known)


def explain_and_identify(
    job: Job, discretizer: Given, X: Any, execution: Execution
) -> tuple[System, Explanations]:
    """Explain the sample, round what was computed, and set identities."""
    explained = explain_sample(job, X, execution)
    decimals = decimals_of(explained, single=explained.kind == "vector" and _is_single(job))
    explanations = rounded(explained, decimals)
    system = System(job, discretizer, execution, decimals)
    system.learn(discretizer, explanations if job.background is X else None)
    return system, discretize(discretizer, explanations)


def _is_single(job: Job) -> bool:
    """Whether the model scores in single precision, and with it whoever asks for its scores."""
    try:
        return job.predictor.scores_are_single(take_rows(job.background, slice(0, 1)))
    except FaithkitError:  # an explainer that asks for labels alone does without scores
        return False


def teach(discretizer: Given, known: Explanations) -> None:
    """Fit a discretizer to explanations."""
    with _asking(discretizer):
        discretizer.instance.fit(known)


def _asking(discretizer: Given) -> contextlib.AbstractContextManager[None]:
    """Name the discretizer in what goes wrong inside it."""
    advice = "Use another one, such as original."
    return foreign(f"the discretizer {discretizer.text}", advice, ContractError)


def _some_rows(background: Any, seed: int) -> Any:
    """Return a part of the background: every so-many-th row when sorted by content, so that order is moot."""
    n = n_rows(background)
    if n <= ROWS_LEARNT:
        return background
    order = np.argsort(row_words(background, seed), kind="stable")
    return take_rows(background, order[np.arange(ROWS_LEARNT) * n // ROWS_LEARNT])


def discretize(discretizer: Given, explanations: Explanations) -> Explanations:
    """Set the explanations' identity."""
    if discretizer.text == "original":
        return explanations
    kinds = accepted_kinds(discretizer)
    if kinds and explanations.kind not in kinds:
        raise InputError(
            f"the discretizer {discretizer.text} takes explanations of kind {' or '.join(kinds)}, and "
            f"these are of kind {explanations.kind!r}: choose another one, or 'original'."
        )
    with _asking(discretizer):
        return explanations.identified(discretizer.instance.discretize(explanations))


def accepted_kinds(discretizer: Given) -> tuple[str, ...]:
    """Return the kinds of explanation that a discretizer takes; none where it does not say."""
    if discretizer.recipe is None:
        return ()
    return registry().find("discretizer", discretizer.recipe[0]).component.kinds


def check_inputs(explainer: Given, X: Any) -> None:
    """Refuse rows of a kind that an explainer says it does not explain, and name those that do."""
    if explainer.recipe is None or not n_rows(X):
        return
    known, kind = registry(), input_kind(X)
    declared = known.find("explainer", explainer.recipe[0]).component.inputs
    if kind in declared:
        return
    named = zip(known.entries("explainer"), known.names("explainer"), strict=True)
    others = [name for entry, name in named if kind in entry.component.inputs]
    raise InputError(
        f"{explainer.text} explains {listing([ROWS[word] for word in declared])}, and X has {ROWS[kind]}: "
        f"{'use ' + listing(others, 'or') if others else 'no installed explainer takes them'}."
    )


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
        return None, str(error).rstrip(".")
    return fitted(relation, background), None


def learns(given: Given) -> bool:
    """Whether a component learns from the background: explainers unless they deny it, others by `fit`."""
    if given.kind == "explainer":
        return bool(getattr(given.instance, "learns", True))
    return hasattr(given.instance, "fit")


def warn_about_background(given: Given, remedy: str = "pass background= (CLI: --background)") -> None:
    """Say that judging explanations on the rows they were learnt from flatters them."""
    warnings.warn(
        f"no background was given, so {given.text} learns from the rows it is judged on, which flatters it: "
        f"{remedy}.",
        FaithkitWarning,
        stacklevel=3,
    )
