"""What a relation promises of its answer: a Boolean about every pair, in the form that the kernel counts.

Labels are not among what it is given, so that it reads none needs no check. The explanations are made up, of
every kind that the component declares; of a kind that is not known here nothing can be checked.
"""

from collections.abc import Iterator
from typing import Any

import numpy as np

from faithkit.arrays.bitsets import check_packed
from faithkit.arrays.containers import n_rows
from faithkit.arrays.grouping import group
from faithkit.errors import ContractError, FaithkitError
from faithkit.explanations.relations import Relation
from faithkit.extension.entries import Entry
from faithkit.testing.batches import Batch, batches_for
from faithkit.testing.checks import demand, needs
from faithkit.testing.fixtures import fresh
from faithkit.testing.kinds.component_checks import make
from faithkit.testing.kinds.relating import accepted, answer, has_holds, refusal, who
from faithkit.testing.sameness import same
from faithkit.wording import describe


def check_relates_something(entry: Entry) -> None:
    """Check that explanations of at least one declared kind are related to instances.

    It may refuse some with a `FaithkitError`; if it refuses all, nothing below was checked.
    """
    refusals = {batch.name: refusal(entry, batch) for batch in batches_for(entry)}
    reasons = "; ".join(f"{name}: {refusal}" for name, refusal in refusals.items())
    mend = "Read one of them, or correct the `kinds` of its Component"
    accepts = None in refusals.values()
    demand(accepts, entry.component.name, f"it relates nothing. {reasons}", mend)


def tried(entry: Entry) -> Iterator[tuple[Batch, Relation]]:
    """Yield what the relation accepts, and the relation; skip the check where it relates nothing."""
    needs(check_relates_something, entry)
    return accepted(entry)


def check_fit_returns_the_relation(entry: Entry) -> None:
    """Check that `fit` returns a relation.

    The kernel, and every relation that is composed of this one, goes on with what `fit` returns.
    """
    for batch, _ in tried(entry):
        returned = make(entry).fit(fresh(batch.background))
        found = f"fit returned a {type(returned).__name__}; expected the relation"
        demand(isinstance(returned, Relation), who(entry, batch), found, "End fit with `return self`")


def check_fitting_leaves_the_background_alone(entry: Entry) -> None:
    """Check that `fit` does not change the background.

    Explainers and other relations learn from the same rows.
    """
    for batch, _ in tried(entry):
        background = fresh(batch.background)
        make(entry).fit(background)
        found = "fit changed the background in place"
        demand(same(background, batch.background), who(entry, batch), found, "Work on a copy")


def check_no_background_is_accepted(entry: Entry) -> None:
    """Check that `fit(None)` returns a relation, or raises a `FaithkitError` that says what is needed.

    A log without instances has no background.
    """
    needs(check_fit_returns_the_relation, entry)
    mend = "Return self where the background is None, or raise a FaithkitError that says what is needed"
    relation = make(entry)
    try:
        returned = relation.fit(None)
    except FaithkitError:
        return
    except Exception as error:
        found = f"fit was given None for a background, and {describe(error)} was raised"
        demand(False, entry.component.name, found, mend, error)
    found = f"fit was given None for a background, and returned a {type(returned).__name__}"
    demand(isinstance(returned, Relation), entry.component.name, found, mend)


def check_holds_is_a_boolean_matrix(entry: Entry) -> None:
    """Check that `holds` gives Booleans, one row per explanation and one column per instance; `packed`, bits.

    The kernel counts the ones; anything else, such as a matrix the other way round, would be counted wrongly.
    """
    for batch, relation in tried(entry):
        whom, part = who(entry, batch), batch.explanations.take(slice(1, None))
        if has_holds(relation):
            _demand_matrix(whom, relation.holds(batch.sample, part), (len(batch) - 1, len(batch)))
        if relation.packed is not None:
            _demand_bits(whom, relation.packed(batch.sample, part), (len(batch) - 1, len(batch)))


def check_one_key_per_explanation(entry: Entry) -> None:
    """Check that `key` has one row per explanation, and that keys can be compared.

    Explanations with equal keys are counted once.
    """
    for batch, relation in tried(entry):
        whom, key = who(entry, batch), relation.key(batch.explanations)
        found = f"key has {n_rows(key)} rows for {len(batch.explanations)} explanations; expected one per row"
        demand(n_rows(key) == len(batch.explanations), whom, found, "Return values, or a part of them")
        try:
            group(key)
        except FaithkitError as error:
            demand(False, whom, f"keys cannot be compared: {error}", "Return a 2-D array or hashable values")


def check_groups_are_equality(entry: Entry) -> None:
    """Check that a relation which says `groups` holds where the keys are equal, and nowhere else.

    The kernel then counts equal keys and never asks `holds`: whatever that says would be ignored.
    """
    needs(check_holds_is_a_boolean_matrix, entry)
    needs(check_one_key_per_explanation, entry)
    for batch, relation in tried(entry):
        if not relation.groups:
            return
        codes = group(relation.key(batch.explanations)).codes
        unlike = answer(relation, batch) != (codes[:, None] == codes[None, :])
        u, x = np.unravel_index(int(unlike.argmax()), unlike.shape)
        equal = "equal" if codes[u] == codes[x] else "unequal"
        found = (
            f"it says `groups`, and answers otherwise about explanation {u} and instance {x}, of {equal} keys"
        )
        demand(
            not unlike.any(), who(entry, batch), found, "Leave `groups` out, or make `holds` equality of keys"
        )


def _demand_matrix(who: str, matrix: Any, shape: tuple[int, int]) -> None:
    is_array = isinstance(matrix, np.ndarray)
    given = f"{matrix.dtype} {matrix.shape}" if is_array else type(matrix).__name__
    right = is_array and matrix.dtype == bool and matrix.shape == shape
    found = f"holds returned {given}; expected bool {shape}"
    demand(right, who, found, "Return one row per explanation and one column per instance")


def _demand_bits(who: str, bits: Any, shape: tuple[int, int]) -> None:
    try:
        check_packed(bits, *shape, "it")
    except ContractError as error:
        demand(False, who, str(error), "faithkit.plugin.pack_bits makes them of a Boolean matrix", error)
