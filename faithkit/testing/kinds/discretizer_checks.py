"""What a discretizer promises: that an explanation's identity depends on that explanation alone.

After `fit`, where there is one. Identities decide which explanations count as the same, so everything that
consistency reports depends on them.
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
from faithkit.measure.protocols import said
from faithkit.run.comparisons.discretizer_variants import tried_values
from faithkit.run.instances.readable_rows import identity_at
from faithkit.testing.batches import Batch, batches_for
from faithkit.testing.checks import demand, needs
from faithkit.testing.fixtures import fresh
from faithkit.testing.kinds.component_checks import check_can_be_made, make, needed_params
from faithkit.testing.sameness import changed_part, difference, unequal_pair
from faithkit.wording import describe


def check_discretizes_something(entry: Entry) -> None:
    """Check that explanations of at least one declared kind are discretized.

    It may refuse some with a `FaithkitError`; if it refuses all, nothing below was checked.
    """
    reasons = []
    for batch in batches_for(entry):
        try:
            _fitted(entry, batch).discretize(batch.explanations)
        except FaithkitError as error:
            reasons.append(f"{batch.name}: {error}")
        else:
            return
    mend = "Take one of them, or correct the `kinds` of its Component"
    demand(False, entry.component.name, f"it discretizes nothing. {'; '.join(reasons)}", mend)


def check_one_identity_per_row(entry: Entry) -> None:
    """Check that `discretize` returns one identity for each explanation, missing ones included.

    Identities are matched with explanations by position, and compared by equality.
    """
    for batch, discretizer in _tried(entry):
        who, given = _who(entry, batch), batch.with_missing()
        identities = discretizer.discretize(given)
        n = n_rows(identities) if hasattr(identities, "__len__") or hasattr(identities, "shape") else 0
        found = f"discretize returned {n} identities for {len(given)} explanations; expected one per row"
        demand(n == len(given), who, found, "Keep the rows whose explanation is missing, too")
        try:
            group(given.identified(identities).identities)
        except FaithkitError as error:
            mend = "Return a 2-D array or a list of hashable values"
            demand(False, who, f"identities cannot be compared: {error}", mend)


def check_explanations_are_left_alone(entry: Entry) -> None:
    """Check that `discretize` does not change the explanations.

    Relations still read the original.
    """
    for batch, discretizer in _tried(entry):
        given = fresh(batch.explanations)
        discretizer.discretize(given)
        part = changed_part(batch.explanations, given)
        demand(part is None, _who(entry, batch), f"discretize changed {part} in place", "Work on a copy")


def check_discretizing_again_gives_the_same_identities(entry: Entry) -> None:
    """Check that the same explanations get the same identities when asked twice.

    Otherwise the same question has two answers.
    """
    needs(check_one_identity_per_row, entry)
    for batch, discretizer in _tried(entry):
        mend = "Use no randomness, and keep nothing between calls"
        _demand_same(entry, batch, discretizer, _identified(discretizer, batch.explanations), "twice", mend)


def check_equal_explanations_get_equal_identities(entry: Entry) -> None:
    """Check that explanations with equal values, of equal instances, get equal identities.

    A discretizer unites explanations; it must not tell apart what was the same.
    """
    needs(check_discretizing_again_gives_the_same_identities, entry)
    for batch, discretizer in _tried(entry):
        pair = unequal_pair(_identified(discretizer, batch.explanations).identities, list(batch.twins))
        i, j = pair or (0, 0)
        found = f"explanations {i} and {j} are equal, and their identities are not"
        demand(pair is None, _who(entry, batch), found, "Let the identity depend on nothing else, such as i")


def check_order_of_discretizing_is_irrelevant(entry: Entry) -> None:
    """Check that explanations in the opposite order get the same identities.

    Results must not depend on how a file happens to be sorted.
    """
    needs(check_equal_explanations_get_equal_identities, entry)
    for batch, discretizer in _tried(entry):
        back = slice(None, None, -1)
        given = _identified(discretizer, batch.explanations.take(back)).take(back)
        mend = "Discretize every explanation by itself"
        _demand_same(entry, batch, discretizer, given, "in the opposite order", mend)


def check_chunks_of_discretizing_are_irrelevant(entry: Entry) -> None:
    """Check that explanations get the same identities in parts as all at once.

    Logs that are larger than memory are read in parts.
    """
    needs(check_order_of_discretizing_is_irrelevant, entry)
    for batch, discretizer in _tried(entry):
        given = Explanations.concat([_identified(discretizer, part) for part in batch.thirds()])
        mend = "Learn quantiles, scales and the like in fit(explanations), not in discretize"
        _demand_same(entry, batch, discretizer, given, "in three parts", mend)


def check_another_one_gives_the_same_identities(entry: Entry) -> None:
    """Check that a second discretizer, which met the explanations in another order, gives equal identities.

    Identities are compared between parts of a log, sessions and machines; a number by first sight is not.
    """
    needs(check_chunks_of_discretizing_are_irrelevant, entry)
    back = slice(None, None, -1)
    for batch, discretizer in _tried(entry):
        given = _identified(_fitted(entry, batch), batch.explanations.take(back)).take(back)
        mend = "Make the identity of the explanation's content: its signs, its bins, a tuple, a text"
        _demand_same(entry, batch, discretizer, given, "by another one, in the opposite order", mend)


def check_order_of_learning_is_irrelevant(entry: Entry) -> None:
    """Check that `fit`, where it has one, learns the same from the explanations in the opposite order.

    They are those of the background's rows, whose order means nothing.
    """
    needs(check_another_one_gives_the_same_identities, entry)
    if not hasattr(make(entry), "fit"):
        return
    for batch, discretizer in _tried(entry):
        other = make(entry)
        other.fit(fresh(batch.explanations.take(slice(None, None, -1))))
        mend = "Learn from all explanations: quantiles, means or the like"
        how = "by one that was fitted on them in the opposite order"
        _demand_same(entry, batch, discretizer, _identified(other, batch.explanations), how, mend)


def check_identities_are_told_in_words(entry: Entry) -> None:
    """Check that `tell`, where it has one, gives a text for every identity, whether names are given or not.

    Reports show it in place of numbers.
    """
    needs(check_one_identity_per_row, entry)
    for batch, discretizer in _tried(entry):
        if said(discretizer, "tell") is None:
            return
        given = _identified(discretizer, batch.explanations)
        for names in (None, _names(given)):
            for row in range(len(given)):
                _demand_words(_who(entry, batch), discretizer, identity_at(given, row), names)


def _names(given: Explanations) -> list[str]:
    width = np.shape(given.values)[1] if np.ndim(given.values) == 2 else 1
    return list(given.shared.get("names", [f"column {i}" for i in range(width)]))


def _demand_words(who: str, discretizer: Any, identity: Any, names: list[str] | None) -> None:
    asked = f"tell was asked about {str(identity)[:40]} and {'no names' if names is None else 'names'}, and"
    mend = "Return a text for every identity that discretize gives; names may be None"
    try:
        told = discretizer.tell(identity, names)
    except Exception as error:
        demand(False, who, f"{asked} {describe(error)} was raised", mend, error)
    demand(isinstance(told, str), who, f"{asked} returned a {type(told).__name__}", mend)


def check_accepts_an_empty_batch(entry: Entry) -> None:
    """Check that no explanations get no identities, instead of an exception.

    The last part of a file may be empty.
    """
    for batch, discretizer in _tried(entry):
        identities = discretizer.discretize(batch.explanations.take(slice(0, 0)))
        found = f"discretize returned {n_rows(identities)} identities for an empty batch"
        demand(n_rows(identities) == 0, _who(entry, batch), found, "Return an empty array")


def check_values_to_try_are_taken(entry: Entry) -> None:
    """Check that what it proposes to try, in `tries`, are parameters and values that it takes.

    Those that it refuses are left out in silence, since not all values suit all explanations.
    """
    needs(check_can_be_made, entry)
    mend = "Map the names of parameters to values that the constructor takes"
    try:
        for parameter, values in tried_values(entry).items():
            for value in values:
                build(entry, needed_params(entry) | {parameter: value})
    except FaithkitError as error:
        demand(False, entry.component.name, f"`tries` cannot be tried: {error}", mend)


def _tried(entry: Entry) -> Iterator[tuple[Batch, Any]]:
    """Yield the batches that the discretizer accepts, each with an instance that is fitted on it."""
    needs(check_discretizes_something, entry)
    for batch in batches_for(entry):
        discretizer = _fitted(entry, batch)
        try:
            discretizer.discretize(fresh(batch.explanations))
        except FaithkitError:
            continue
        yield batch, discretizer


def _fitted(entry: Entry, batch: Batch) -> Any:
    discretizer = make(entry)
    if hasattr(discretizer, "fit"):
        discretizer.fit(fresh(batch.explanations))
    return discretizer


def _identified(discretizer: Any, explanations: Explanations) -> Explanations:
    return explanations.identified(discretizer.discretize(fresh(explanations)))


def _demand_same(
    entry: Entry, batch: Batch, discretizer: Any, given: Explanations, how: str, mend: str
) -> None:
    unlike = difference(_identified(discretizer, batch.explanations), given)
    found = f"the explanations were discretized {how}, and {unlike}"
    demand(unlike is None, _who(entry, batch), found, mend)


def _who(entry: Entry, batch: Batch) -> str:
    return f"{entry.component.name} on {batch.name}"
