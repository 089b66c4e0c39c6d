"""Checks of discretizers: after `fit`, the identity of an explanation depends on that explanation only.

Identities decide which explanations count as equal, so consistency depends on them.
"""

from collections.abc import Iterator
from copy import deepcopy
from itertools import islice
from typing import Any

import attrs
import numpy as np
import pandas as pd
from attrs import frozen

from faithkit import Explanations
from faithkit.errors import FaithkitError
from faithkit.plugin import build, group, n_rows
from faithkit_conformance.checks import for_each, forbid, require, skip_unless_passes
from faithkit_conformance.equality import describe_difference, first_changed_column
from faithkit_conformance.explanation_batches import Batch, batches_for
from faithkit_conformance.kinds.component_checks import check_can_be_created, create, required_params
from faithkit_conformance.kit import Candidate

_BACKWARDS = slice(None, None, -1)
_MAX_VALUES = 10  # of a parameter that the kernel tries


@frozen(eq=False)
class DiscretizerTrial:
    """A discretizer that accepts a batch of explanations, fitted on them."""

    candidate: Candidate
    batch: Batch
    discretizer: Any

    @property
    def name(self) -> str:
        """The name of the batch."""
        return self.batch.name

    def discretize(self, explanations: Explanations) -> Explanations:
        """Return a copy of explanations with their identities."""
        return explanations.identified(self.discretizer.discretize(deepcopy(explanations)))

    def discretize_backwards(self, explanations: Explanations) -> Explanations:
        """Return the identities, discretized in the opposite order."""
        return self.discretize(explanations.take(_BACKWARDS)).take(_BACKWARDS)

    def require_same(self, discretized: Explanations, action: str, remedy: str) -> None:
        """Require that identities are those of the whole batch."""
        change = describe_difference(self.discretize(self.batch.explanations), discretized)
        require(change is None, f"the explanations were discretized {action}, and {change}", remedy)


def _fit_discretizer(candidate: Candidate, batch: Batch, rows: slice = slice(None)) -> DiscretizerTrial:
    discretizer = create(candidate)
    if hasattr(discretizer, "fit"):
        discretizer.fit(deepcopy(batch.explanations.take(rows)))
    return DiscretizerTrial(candidate, batch, discretizer)


def check_discretizes_something(candidate: Candidate) -> None:
    """Check that explanations of at least one declared kind are discretized.

    It may reject some with a `FaithkitError`. If it rejects all, none of the other checks apply.
    """
    reasons = []
    for batch in batches_for(candidate):
        try:
            _fit_discretizer(candidate, batch).discretizer.discretize(batch.explanations)
        except FaithkitError as error:
            reasons.append(f"{batch.name}: {error}")
        else:
            return
    remedy = "Take one of them, or correct the `kinds` of its Component"
    require(False, f"it discretizes nothing. {'; '.join(reasons)}", remedy)


def _discretizer_trials(candidate: Candidate) -> Iterator[DiscretizerTrial]:
    """Yield the trials on all accepted batches."""
    skip_unless_passes(check_discretizes_something, candidate)
    for batch in batches_for(candidate):
        trial = _fit_discretizer(candidate, batch)
        try:
            trial.discretizer.discretize(deepcopy(batch.explanations))
        except FaithkitError:
            continue
        yield trial


@for_each(_discretizer_trials)
def check_one_identity_per_row(trial: DiscretizerTrial) -> None:
    """Check that `discretize` returns one identity for each explanation, missing ones included.

    Identities are matched with explanations by position, and compared by equality.
    """
    explanations = trial.batch.with_missing()
    identities = trial.discretizer.discretize(explanations)
    n = n_rows(identities) if hasattr(identities, "__len__") or hasattr(identities, "shape") else 0
    problem = f"discretize returned {n} identities for {len(explanations)} explanations; expected one per row"
    require(n == len(explanations), problem, "Keep the rows whose explanation is missing")
    remedy = "Return a 2-D array or a list of hashable values"
    with forbid(FaithkitError, "identities cannot be compared", remedy):
        group(explanations.identified(identities).identities)


@for_each(_discretizer_trials)
def check_explanations_are_left_alone(trial: DiscretizerTrial) -> None:
    """Check that `discretize` does not change the explanations.

    Relations read the original explanations afterwards.
    """
    explanations = deepcopy(trial.batch.explanations)
    trial.discretizer.discretize(explanations)
    column = first_changed_column(trial.batch.explanations, explanations)
    require(column is None, f"discretize changed {column} in place", "Work on a copy")


@for_each(_discretizer_trials, check_one_identity_per_row)
def check_discretizing_again_gives_the_same_identities(trial: DiscretizerTrial) -> None:
    """Check that the same explanations get the same identities twice.

    Otherwise the same question has two answers.
    """
    discretized = trial.discretize(trial.batch.explanations)
    trial.require_same(discretized, "twice", "Use no randomness, and keep nothing between calls")


@for_each(_discretizer_trials, check_discretizing_again_gives_the_same_identities)
def check_equal_explanations_get_equal_identities(trial: DiscretizerTrial) -> None:
    """Check that explanations with equal values, of equal instances, get equal identities.

    A discretizer merges explanations. It must not separate equal ones, such as vectors with 0.0 and −0.0.
    """
    explanations = trial.batch.explanations
    codes = group(trial.discretize(explanations).identities).codes
    for i, j in trial.batch.equal_pairs:
        problem = f"explanations {i} and {j} are equal, and their identities are not"
        require(bool(codes[i] == codes[j]), problem, "Let the identity depend on nothing else, such as i")
    if explanations.kind == "vector":
        positive, negative = (
            attrs.evolve(explanations, values=np.where(explanations.values == 0, zero, explanations.values))
            for zero in (0.0, -0.0)
        )
        change = describe_difference(trial.discretize(positive), trial.discretize(negative))
        problem = f"0.0 was replaced by −0.0, which is equal, and {change}"
        require(change is None, problem, "Add 0.0 to numbers before you write them as text")


@for_each(_discretizer_trials, check_equal_explanations_get_equal_identities)
def check_chunks_of_discretizing_are_irrelevant(trial: DiscretizerTrial) -> None:
    """Check that explanations get the same identities in slices, each in the opposite order, as all at once.

    Logs that are larger than memory are read in slices, and the order of a file has no meaning.
    """
    parts = [trial.discretize_backwards(part) for part in trial.batch.split_in_three()]
    remedy = "Learn quantiles, scales and the like in fit(explanations), not in discretize"
    trial.require_same(Explanations.concat(parts), "in three parts", remedy)


@for_each(_discretizer_trials, check_chunks_of_discretizing_are_irrelevant)
def check_another_instance_gives_the_same_identities(trial: DiscretizerTrial) -> None:
    """Check that a second instance, which gets the explanations in parts and backwards, gives the same.

    Identities are compared across parts of a log, sessions and machines. Numbers by first appearance differ.
    """
    second = _fit_discretizer(trial.candidate, trial.batch)
    parts = [second.discretize_backwards(part) for part in trial.batch.split_in_three()]
    remedy = "Make the identity of the explanation's content: its signs, its bins, a tuple, a text"
    trial.require_same(Explanations.concat(parts), "by another one, in parts and backwards", remedy)


@for_each(_discretizer_trials, check_another_instance_gives_the_same_identities)
def check_order_of_learning_is_irrelevant(trial: DiscretizerTrial) -> None:
    """Check that `fit`, if there is one, learns the same from the explanations in the opposite order.

    These are explanations of the background's rows, whose order has no meaning.
    """
    second = _fit_discretizer(trial.candidate, trial.batch, _BACKWARDS)
    discretized = second.discretize(trial.batch.explanations)
    remedy = "Learn from all explanations: quantiles, means or the like"
    trial.require_same(discretized, "by one that was fitted on them in the opposite order", remedy)


@for_each(_discretizer_trials, check_one_identity_per_row)
def check_identities_are_described(trial: DiscretizerTrial) -> None:
    """Check that `describe`, if there is one, returns a text for every identity, with and without names.

    Reports show this text instead of numbers.
    """
    if getattr(trial.discretizer, "describe", None) is None:
        return
    discretized = trial.discretize(trial.batch.explanations)
    for names in (None, _column_names(discretized)):
        for row in range(len(discretized)):
            _require_text(trial.discretizer, _identity_at(discretized, row), names)


def _column_names(explanations: Explanations) -> list[str]:
    width = np.shape(explanations.values)[1] if np.ndim(explanations.values) == 2 else 1
    return list(explanations.shared.get("names", [f"column {i}" for i in range(width)]))


def _identity_at(explanations: Explanations, row: int) -> Any:
    """Return the identity of one row; where several columns form it, a tuple."""
    identities = explanations.identities
    columns = identities if isinstance(identities, tuple) else (identities,)
    values = [column.iloc[row] if isinstance(column, pd.DataFrame) else column[row] for column in columns]
    return tuple(values) if isinstance(identities, tuple) else values[0]


def _require_text(discretizer: Any, identity: Any, names: list[str] | None) -> None:
    call = f"describe, called with {str(identity)[:40]} and {'no names' if names is None else 'names'},"
    remedy = "Return a text for every identity that discretize gives; names may be None"
    with forbid(Exception, f"{call} fails", remedy):
        text = discretizer.describe(identity, names)
    require(isinstance(text, str), f"{call} returned a {type(text).__name__}", remedy)


@for_each(_discretizer_trials)
def check_accepts_an_empty_batch(trial: DiscretizerTrial) -> None:
    """Check that an empty batch gets no identities, instead of an exception.

    The last slice of a file may be empty.
    """
    identities = trial.discretizer.discretize(trial.batch.explanations.take(slice(0, 0)))
    problem = f"discretize returned {n_rows(identities)} identities for an empty batch"
    require(n_rows(identities) == 0, problem, "Return an empty array")


def check_values_to_try_are_taken(candidate: Candidate) -> None:
    """Check that `tries` maps its parameters to values that it accepts.

    Rejected values are skipped silently, since not all values suit all explanations.
    """
    skip_unless_passes(check_can_be_created, candidate)
    remedy = "Map the names of parameters to values that the constructor takes"
    with forbid(Exception, "`tries` is not accepted", remedy):
        for parameter, values in getattr(candidate.component.load(), "tries", {}).items():
            for value in islice(values, _MAX_VALUES):
                build(candidate.entry, required_params(candidate) | {parameter: value})
