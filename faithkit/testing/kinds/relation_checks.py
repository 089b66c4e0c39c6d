"""Checks of relations: they return a Boolean for every pair, in the form that the kernel counts.

Relations do not receive labels, so no check is needed that they ignore them. Checks use synthetic
explanations of every kind that the component declares. For a kind without any, checks are skipped.
"""

from collections.abc import Iterator
from typing import Any

import numpy as np
from numpy.typing import NDArray

from faithkit.arrays.bitsets import check_packed, unpack_bits
from faithkit.arrays.containers import n_rows
from faithkit.arrays.grouping import group
from faithkit.errors import ContractError, FaithkitError
from faithkit.explanations.explanations import Explanations, Sample
from faithkit.explanations.relations import Relation, holds_bits
from faithkit.extension.entries import Entry
from faithkit.testing.batches import Batch, batches_for
from faithkit.testing.checks import require, skip_unless_passes
from faithkit.testing.equality import are_equal
from faithkit.testing.kinds.component_checks import create
from faithkit.testing.situations import deep_copy
from faithkit.wording import describe

Matrix = NDArray[np.bool_]


def find_refusal(entry: Entry, batch: Batch) -> FaithkitError | None:
    """Return the error by which a relation rejects a batch; None if it accepts the batch."""
    try:
        evaluate(fit_relation(entry, batch), batch.sample, batch.explanations)
    except ContractError:  # it accepted the batch, with a wrong answer
        return None
    except FaithkitError as error:
        return error
    return None


def fit_relation(entry: Entry, batch: Batch) -> Relation:
    """Create a relation and fit it on the background of a batch."""
    relation: Relation = create(entry)
    fit_result = relation.fit(deep_copy(batch.background))
    return fit_result if isinstance(fit_result, Relation) else relation


def overrides_holds(relation: Relation) -> bool:
    """Return whether a relation defines its own method `holds`."""
    return type(relation).holds is not Relation.holds


def evaluate(relation: Relation, sample: Sample, explanations: Explanations) -> Matrix:
    """Return the answer of a relation (explanations, instances) as the kernel counts it."""
    return unpack_bits(holds_bits(relation, sample, explanations), len(sample))


def evaluate_batch(relation: Relation, batch: Batch) -> Matrix:
    """Return the answer of a relation for all pairs of a batch."""
    return evaluate(relation, batch.sample, batch.explanations)


def require_same_answers(
    entry: Entry, batch: Batch, relation: Relation, answer: Matrix, action: str, remedy: str
) -> None:
    """Require that an answer equals the one for the whole batch."""
    is_different = answer != evaluate_batch(relation, batch)
    u, x = np.unravel_index(int(is_different.argmax()), is_different.shape)
    problem = f"it was {action}, and the answer changed for explanation {u} and instance {x}"
    require(not is_different.any(), subject(entry, batch), problem, remedy)


def subject(entry: Entry, batch: Batch) -> str:
    """Return the subject of messages."""
    return f"{entry.component.name} on {batch.name}"


def check_relates_something(entry: Entry) -> None:
    """Check that explanations of at least one declared kind are related to instances.

    It may reject some with a `FaithkitError`. If it rejects all, none of the other checks apply.
    """
    refusals = {batch.name: find_refusal(entry, batch) for batch in batches_for(entry)}
    reasons = "; ".join(f"{name}: {error}" for name, error in refusals.items())
    remedy = "Read one of them, or correct the `kinds` of its Component"
    accepts = None in refusals.values()
    require(accepts, entry.component.name, f"it relates nothing. {reasons}", remedy)


def accepted_batches(entry: Entry) -> Iterator[tuple[Batch, Relation]]:
    """Yield accepted batches, each with a relation fitted on it; skip the check if there are none."""
    skip_unless_passes(check_relates_something, entry)
    for batch in batches_for(entry):
        if find_refusal(entry, deep_copy(batch)) is None:
            yield batch, fit_relation(entry, batch)


def check_fit_returns_the_relation(entry: Entry) -> None:
    """Check that `fit` returns a relation.

    The kernel, and every relation that is composed of this one, uses the result of `fit`.
    """
    for batch, _ in accepted_batches(entry):
        fit_result = create(entry).fit(deep_copy(batch.background))
        problem = f"fit returned a {type(fit_result).__name__}; expected the relation"
        require(
            isinstance(fit_result, Relation), subject(entry, batch), problem, "End fit with `return self`"
        )


def check_fitting_leaves_the_background_alone(entry: Entry) -> None:
    """Check that `fit` does not change the background.

    Explainers and other relations learn from the same rows.
    """
    for batch, _ in accepted_batches(entry):
        background = deep_copy(batch.background)
        create(entry).fit(background)
        problem = "fit changed the background in place"
        require(are_equal(background, batch.background), subject(entry, batch), problem, "Work on a copy")


def check_no_background_is_accepted(entry: Entry) -> None:
    """Check that `fit(None)` returns a relation, or raises a `FaithkitError` that says what is needed.

    A log without instances has no background.
    """
    skip_unless_passes(check_fit_returns_the_relation, entry)
    remedy = "Return self if the background is None, or raise a FaithkitError that says what is needed"
    relation = create(entry)
    try:
        fit_result = relation.fit(None)
    except FaithkitError:
        return
    except Exception as error:
        problem = f"fit was given None for a background, and {describe(error)} was raised"
        require(False, entry.component.name, problem, remedy, error)
    problem = f"fit was given None for a background, and returned a {type(fit_result).__name__}"
    require(isinstance(fit_result, Relation), entry.component.name, problem, remedy)


def check_holds_is_a_boolean_matrix(entry: Entry) -> None:
    """Check that `holds` returns Booleans (explanations, instances), and `packed` the same as bits.

    The kernel counts the ones. A transposed matrix, for example, would be counted wrongly.
    """
    for batch, relation in accepted_batches(entry):
        label, explanations = subject(entry, batch), batch.explanations.take(slice(1, None))
        if overrides_holds(relation):
            _require_matrix(label, relation.holds(batch.sample, explanations), (len(batch) - 1, len(batch)))
        if relation.packed is not None:
            _require_bits(label, relation.packed(batch.sample, explanations), (len(batch) - 1, len(batch)))


def check_one_key_per_explanation(entry: Entry) -> None:
    """Check that `key` has one row per explanation, and that keys can be compared.

    Explanations with equal keys are counted once.
    """
    for batch, relation in accepted_batches(entry):
        label, key = subject(entry, batch), relation.key(batch.explanations)
        problem = (
            f"key has {n_rows(key)} rows for {len(batch.explanations)} explanations; expected one per row"
        )
        require(n_rows(key) == len(batch.explanations), label, problem, "Return values, or a part of them")
        try:
            group(key)
        except FaithkitError as error:
            require(
                False, label, f"keys cannot be compared: {error}", "Return a 2-D array or hashable values"
            )


def check_groups_are_equality(entry: Entry) -> None:
    """Check that a relation with `groups` holds exactly if the keys are equal.

    The kernel then counts equal keys and never calls `holds`.
    """
    skip_unless_passes(check_holds_is_a_boolean_matrix, entry)
    skip_unless_passes(check_one_key_per_explanation, entry)
    for batch, relation in accepted_batches(entry):
        if not relation.groups:
            return
        codes = group(relation.key(batch.explanations)).codes
        is_different = evaluate_batch(relation, batch) != (codes[:, None] == codes[None, :])
        u, x = np.unravel_index(int(is_different.argmax()), is_different.shape)
        equality = "equal" if codes[u] == codes[x] else "unequal"
        pair = f"explanation {u} and instance {x}, of {equality} keys"
        problem = f"it sets `groups`, but answers differently for {pair}"
        require(
            not is_different.any(),
            subject(entry, batch),
            problem,
            "Leave `groups` out, or make `holds` equality of keys",
        )


def _require_matrix(label: str, matrix: Any, shape: tuple[int, int]) -> None:
    is_array = isinstance(matrix, np.ndarray)
    description = f"{matrix.dtype} {matrix.shape}" if is_array else type(matrix).__name__
    is_valid = is_array and matrix.dtype == bool and matrix.shape == shape
    problem = f"holds returned {description}; expected bool {shape}"
    require(is_valid, label, problem, "Return one row per explanation and one column per instance")


def _require_bits(label: str, bits: Any, shape: tuple[int, int]) -> None:
    try:
        check_packed(bits, *shape, "it")
    except ContractError as error:
        require(False, label, str(error), "faithkit.plugin.pack_bits makes them of a Boolean matrix", error)
