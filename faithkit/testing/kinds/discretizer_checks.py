"""Checks of discretizers: after `fit`, the identity of an explanation depends on that explanation only.

Identities decide which explanations count as equal, so consistency depends on them.
"""

from collections.abc import Iterator
from typing import Any

import numpy as np

from faithkit.arrays.containers import n_rows
from faithkit.arrays.grouping import group
from faithkit.errors import FaithkitError
from faithkit.explanations.explanations import Explanations
from faithkit.extension.creation import build
from faithkit.extension.entries import Entry
from faithkit.measure.protocols import get_optional_attribute
from faithkit.run.comparisons.discretizer_variants import values_to_try
from faithkit.run.instances.readable_rows import identity_at
from faithkit.testing.batches import Batch, batches_for
from faithkit.testing.checks import require, skip_unless_passes
from faithkit.testing.equality import describe_difference, find_unequal_pair, first_changed_column
from faithkit.testing.kinds.component_checks import check_can_be_created, create, required_params
from faithkit.testing.situations import deep_copy
from faithkit.wording import describe


def check_discretizes_something(entry: Entry) -> None:
    """Check that explanations of at least one declared kind are discretized.

    It may reject some with a `FaithkitError`. If it rejects all, none of the other checks apply.
    """
    reasons = []
    for batch in batches_for(entry):
        try:
            _fit_discretizer(entry, batch).discretize(batch.explanations)
        except FaithkitError as error:
            reasons.append(f"{batch.name}: {error}")
        else:
            return
    remedy = "Take one of them, or correct the `kinds` of its Component"
    require(False, entry.component.name, f"it discretizes nothing. {'; '.join(reasons)}", remedy)


def check_one_identity_per_row(entry: Entry) -> None:
    """Check that `discretize` returns one identity for each explanation, missing ones included.

    Identities are matched with explanations by position, and compared by equality.
    """
    for batch, discretizer in _accepted_batches(entry):
        subject, explanations = _subject(entry, batch), batch.with_missing()
        identities = discretizer.discretize(explanations)
        n = n_rows(identities) if hasattr(identities, "__len__") or hasattr(identities, "shape") else 0
        problem = (
            f"discretize returned {n} identities for {len(explanations)} explanations; expected one per row"
        )
        require(n == len(explanations), subject, problem, "Keep the rows whose explanation is missing")
        try:
            group(explanations.identified(identities).identities)
        except FaithkitError as error:
            remedy = "Return a 2-D array or a list of hashable values"
            require(False, subject, f"identities cannot be compared: {error}", remedy)


def check_explanations_are_left_alone(entry: Entry) -> None:
    """Check that `discretize` does not change the explanations.

    Relations read the original explanations afterwards.
    """
    for batch, discretizer in _accepted_batches(entry):
        explanations = deep_copy(batch.explanations)
        discretizer.discretize(explanations)
        column = first_changed_column(batch.explanations, explanations)
        require(
            column is None, _subject(entry, batch), f"discretize changed {column} in place", "Work on a copy"
        )


def check_discretizing_again_gives_the_same_identities(entry: Entry) -> None:
    """Check that the same explanations get the same identities twice.

    Otherwise the same question has two answers.
    """
    skip_unless_passes(check_one_identity_per_row, entry)
    for batch, discretizer in _accepted_batches(entry):
        remedy = "Use no randomness, and keep nothing between calls"
        _require_same_identities(
            entry, batch, discretizer, _discretize(discretizer, batch.explanations), "twice", remedy
        )


def check_equal_explanations_get_equal_identities(entry: Entry) -> None:
    """Check that explanations with equal values, of equal instances, get equal identities.

    A discretizer merges explanations. It must not separate equal ones.
    """
    skip_unless_passes(check_discretizing_again_gives_the_same_identities, entry)
    for batch, discretizer in _accepted_batches(entry):
        pair = find_unequal_pair(
            _discretize(discretizer, batch.explanations).identities, list(batch.equal_pairs)
        )
        i, j = pair or (0, 0)
        problem = f"explanations {i} and {j} are equal, and their identities are not"
        require(
            pair is None,
            _subject(entry, batch),
            problem,
            "Let the identity depend on nothing else, such as i",
        )


def check_order_of_discretizing_is_irrelevant(entry: Entry) -> None:
    """Check that explanations in the opposite order get the same identities.

    Results must not depend on how a file happens to be sorted.
    """
    skip_unless_passes(check_equal_explanations_get_equal_identities, entry)
    for batch, discretizer in _accepted_batches(entry):
        backwards = slice(None, None, -1)
        discretized = _discretize(discretizer, batch.explanations.take(backwards)).take(backwards)
        remedy = "Discretize every explanation by itself"
        _require_same_identities(entry, batch, discretizer, discretized, "in the opposite order", remedy)


def check_chunks_of_discretizing_are_irrelevant(entry: Entry) -> None:
    """Check that explanations get the same identities in slices as all at once.

    Logs that are larger than memory are read in slices.
    """
    skip_unless_passes(check_order_of_discretizing_is_irrelevant, entry)
    for batch, discretizer in _accepted_batches(entry):
        discretized = Explanations.concat(
            [_discretize(discretizer, explanations) for explanations in batch.split_in_three()]
        )
        remedy = "Learn quantiles, scales and the like in fit(explanations), not in discretize"
        _require_same_identities(entry, batch, discretizer, discretized, "in three parts", remedy)


def check_another_instance_gives_the_same_identities(entry: Entry) -> None:
    """Check that a second instance, which gets the explanations in another order, gives equal identities.

    Identities are compared across parts of a log, sessions and machines. Numbers by first appearance differ.
    """
    skip_unless_passes(check_chunks_of_discretizing_are_irrelevant, entry)
    backwards = slice(None, None, -1)
    for batch, discretizer in _accepted_batches(entry):
        discretized = _discretize(_fit_discretizer(entry, batch), batch.explanations.take(backwards)).take(
            backwards
        )
        remedy = "Make the identity of the explanation's content: its signs, its bins, a tuple, a text"
        _require_same_identities(
            entry, batch, discretizer, discretized, "by another one, in the opposite order", remedy
        )


def check_order_of_learning_is_irrelevant(entry: Entry) -> None:
    """Check that `fit`, if there is one, learns the same from the explanations in the opposite order.

    These are explanations of the background's rows, whose order has no meaning.
    """
    skip_unless_passes(check_another_instance_gives_the_same_identities, entry)
    if not hasattr(create(entry), "fit"):
        return
    for batch, discretizer in _accepted_batches(entry):
        second = create(entry)
        second.fit(deep_copy(batch.explanations.take(slice(None, None, -1))))
        remedy = "Learn from all explanations: quantiles, means or the like"
        action = "by one that was fitted on them in the opposite order"
        _require_same_identities(
            entry, batch, discretizer, _discretize(second, batch.explanations), action, remedy
        )


def check_identities_are_described(entry: Entry) -> None:
    """Check that `tell`, if there is one, returns a text for every identity, with and without column names.

    Reports show this text instead of numbers.
    """
    skip_unless_passes(check_one_identity_per_row, entry)
    for batch, discretizer in _accepted_batches(entry):
        if get_optional_attribute(discretizer, "tell") is None:
            return
        discretized = _discretize(discretizer, batch.explanations)
        for names in (None, _column_names(discretized)):
            for row in range(len(discretized)):
                _require_text(_subject(entry, batch), discretizer, identity_at(discretized, row), names)


def _column_names(explanations: Explanations) -> list[str]:
    width = np.shape(explanations.values)[1] if np.ndim(explanations.values) == 2 else 1
    return list(explanations.shared.get("names", [f"column {i}" for i in range(width)]))


def _require_text(subject: str, discretizer: Any, identity: Any, names: list[str] | None) -> None:
    call = f"tell was called with {str(identity)[:40]} and {'no names' if names is None else 'names'}, and"
    remedy = "Return a text for every identity that discretize gives; names may be None"
    try:
        text = discretizer.tell(identity, names)
    except Exception as error:
        require(False, subject, f"{call} {describe(error)} was raised", remedy, error)
    require(isinstance(text, str), subject, f"{call} returned a {type(text).__name__}", remedy)


def check_accepts_an_empty_batch(entry: Entry) -> None:
    """Check that an empty batch gets no identities, instead of an exception.

    The last slice of a file may be empty.
    """
    for batch, discretizer in _accepted_batches(entry):
        identities = discretizer.discretize(batch.explanations.take(slice(0, 0)))
        problem = f"discretize returned {n_rows(identities)} identities for an empty batch"
        require(n_rows(identities) == 0, _subject(entry, batch), problem, "Return an empty array")


def check_values_to_try_are_taken(entry: Entry) -> None:
    """Check that `tries` maps its parameters to values that it accepts.

    Rejected values are skipped silently, since not all values suit all explanations.
    """
    skip_unless_passes(check_can_be_created, entry)
    remedy = "Map the names of parameters to values that the constructor takes"
    try:
        for parameter, values in values_to_try(entry).items():
            for value in values:
                build(entry, required_params(entry) | {parameter: value})
    except FaithkitError as error:
        require(False, entry.component.name, f"`tries` is not accepted: {error}", remedy)


def _accepted_batches(entry: Entry) -> Iterator[tuple[Batch, Any]]:
    """Yield the batches that the discretizer accepts, each with a discretizer fitted on it."""
    skip_unless_passes(check_discretizes_something, entry)
    for batch in batches_for(entry):
        discretizer = _fit_discretizer(entry, batch)
        try:
            discretizer.discretize(deep_copy(batch.explanations))
        except FaithkitError:
            continue
        yield batch, discretizer


def _fit_discretizer(entry: Entry, batch: Batch) -> Any:
    discretizer = create(entry)
    if hasattr(discretizer, "fit"):
        discretizer.fit(deep_copy(batch.explanations))
    return discretizer


def _discretize(discretizer: Any, explanations: Explanations) -> Explanations:
    return explanations.identified(discretizer.discretize(deep_copy(explanations)))


def _require_same_identities(
    entry: Entry, batch: Batch, discretizer: Any, discretized: Explanations, action: str, remedy: str
) -> None:
    change = describe_difference(_discretize(discretizer, batch.explanations), discretized)
    problem = f"the explanations were discretized {action}, and {change}"
    require(change is None, _subject(entry, batch), problem, remedy)


def _subject(entry: Entry, batch: Batch) -> str:
    return f"{entry.component.name} on {batch.name}"
