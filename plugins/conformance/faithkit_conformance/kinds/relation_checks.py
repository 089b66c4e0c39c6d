"""Checks of relations: they return a Boolean for every pair, in the form that the kernel counts.

Relations do not receive labels, so no check is needed that they ignore them. Checks use synthetic
explanations of every kind that the component declares. For a kind without any, checks are skipped.
"""

from collections.abc import Iterator
from copy import deepcopy
from typing import Any

import numpy as np
from attrs import frozen

from faithkit import Explanations
from faithkit.errors import ContractError, FaithkitError
from faithkit.plugin import Relation, Sample, group, n_rows
from faithkit_conformance.checks import for_each, forbid, require, skip_unless_passes
from faithkit_conformance.equality import are_equal
from faithkit_conformance.explanation_batches import Batch, batches_for
from faithkit_conformance.kinds.component_checks import create
from faithkit_conformance.kit import Candidate
from faithkit_conformance.relating import Matrix, check_matrix, evaluate_relation, unpack
from faithkit_conformance.wording import describe


@frozen(eq=False)
class RelationTrial:
    """A relation that accepts a batch of explanations, fitted on the background of the batch."""

    candidate: Candidate
    batch: Batch
    relation: Relation

    @property
    def name(self) -> str:
        """The name of the batch."""
        return self.batch.name

    @property
    def matrix(self) -> Matrix:
        """The answer for all explanations and instances of the batch. The relation is called every time."""
        return self.evaluate(self.batch.sample, self.batch.explanations)

    def evaluate(self, sample: Sample, explanations: Explanations) -> Matrix:
        """Return the answer of the relation (explanations, instances) as the kernel counts it."""
        return evaluate_relation(self.relation, sample, explanations)


def overrides_holds(relation: Relation) -> bool:
    """Return whether a relation defines its own method `holds`."""
    return type(relation).holds is not Relation.holds


def find_pair(is_different: Matrix) -> str | None:
    """Name the first pair of explanation and instance in a mask; None if it is empty."""
    pairs = np.argwhere(is_different)
    return f"explanation {pairs[0][0]} and instance {pairs[0][1]}" if len(pairs) else None


def check_relates_something(candidate: Candidate) -> None:
    """Check that explanations of at least one declared kind are related to instances.

    It may reject some with a `FaithkitError`. If it rejects all, none of the other checks apply.
    """
    outcomes = {batch.name: _try_relation(candidate, batch) for batch in batches_for(candidate)}
    refusals = [f"{name}: {error}" for name, error in outcomes.items() if isinstance(error, FaithkitError)]
    remedy = "Read one of them, or correct the `kinds` of its Component"
    require(len(refusals) < len(outcomes), f"it relates nothing. {'; '.join(refusals)}", remedy)


def relation_trials(candidate: Candidate) -> Iterator[RelationTrial]:
    """Yield the trials on all accepted batches; skip the check if there are none."""
    skip_unless_passes(check_relates_something, candidate)
    for batch in batches_for(candidate):
        trial = _try_relation(candidate, batch)
        if isinstance(trial, RelationTrial):
            yield trial


def _try_relation(candidate: Candidate, batch: Batch) -> RelationTrial | FaithkitError:
    """Return a relation fitted on a batch, or the error by which it rejects the batch."""
    fitted: Relation = create(candidate)
    try:
        fit_result: Any = fitted.fit(deepcopy(batch.background), len(batch))
        fitted = fit_result if isinstance(fit_result, Relation) else fitted
        _ = RelationTrial(candidate, deepcopy(batch), fitted).matrix
    except ContractError:  # it accepted the batch, with a wrong answer
        pass
    except FaithkitError as error:
        return error
    except Exception:  # so it did, and the checks show where it fails
        pass
    return RelationTrial(candidate, batch, fitted)


@for_each(relation_trials)
def check_fit_returns_the_relation(trial: RelationTrial) -> None:
    """Check that `fit` returns a relation, and leaves the background alone.

    The kernel, and every relation that is composed of this one, uses the result of `fit`. Explainers and
    other relations learn from the same rows.
    """
    background = deepcopy(trial.batch.background)
    fit_result = create(trial.candidate).fit(background, len(trial.batch))
    problem = f"fit returned a {type(fit_result).__name__}; expected the relation"
    require(isinstance(fit_result, Relation), problem, "End fit with `return self`")
    is_same = are_equal(background, trial.batch.background)
    require(is_same, "fit changed the background in place", "Work on a copy")


def check_no_background_is_accepted(candidate: Candidate) -> None:
    """Check that `fit(None)` returns a relation, or raises a `FaithkitError` that says what is needed.

    A log without instances has no background.
    """
    skip_unless_passes(check_fit_returns_the_relation, candidate)
    relation = create(candidate)
    try:
        fit_result = relation.fit(None, 2)
        outcome = f"returned a {type(fit_result).__name__}"
        is_accepted = isinstance(fit_result, Relation)
    except Exception as error:
        outcome = f"{describe(error)} was raised"
        is_accepted = isinstance(error, FaithkitError)
    problem = f"fit was given None for a background, and {outcome}"
    remedy = "Return self if the background is None, or raise a FaithkitError that says what is needed"
    require(is_accepted, problem, remedy)


@for_each(relation_trials)
def check_holds_is_a_boolean_matrix(trial: RelationTrial) -> None:
    """Check that `holds` returns Booleans (explanations, instances), and `packed` the same as bits.

    The kernel counts the ones. A transposed matrix, for example, would be counted wrongly.
    """
    batch, relation = trial.batch, trial.relation
    explanations, shape = batch.explanations.take(slice(1, None)), (len(batch) - 1, len(batch))
    if overrides_holds(relation):
        matrix = relation.holds(batch.sample, explanations)
        remedy = "Return one row per explanation and one column per instance"
        with forbid(ContractError, "the matrix cannot be counted", remedy):
            check_matrix(matrix, *shape)
    if relation.packed is not None:
        remedy = "faithkit.plugin.pack_bits makes them of a Boolean matrix"
        with forbid(ContractError, "the bits cannot be counted", remedy):
            unpack(relation.packed(batch.sample, explanations), *shape)


@for_each(relation_trials)
def check_one_key_per_explanation(trial: RelationTrial) -> None:
    """Check that `key` has one row per explanation, and that keys can be compared.

    Explanations with equal keys are counted once.
    """
    n, key = len(trial.batch), trial.relation.key(trial.batch.explanations)
    problem = f"key has {n_rows(key)} rows for {n} explanations; expected one per row"
    require(n_rows(key) == n, problem, "Return values, or a part of them")
    with forbid(FaithkitError, "keys cannot be compared", "Return a 2-D array or hashable values"):
        group(key)


@for_each(relation_trials, check_holds_is_a_boolean_matrix, check_one_key_per_explanation)
def check_groups_are_equality(trial: RelationTrial) -> None:
    """Check that a relation with `groups` holds exactly if the keys are equal.

    The kernel then counts equal keys; it calls `holds` for single explanations and in compositions.
    """
    if not trial.relation.groups:
        return
    codes = group(trial.relation.key(trial.batch.explanations)).codes
    are_keys_equal = codes[:, None] == codes[None, :]
    for u, x in np.argwhere(trial.matrix != are_keys_equal):
        equality = "equal" if are_keys_equal[u, x] else "unequal"
        pair = f"explanation {u} and instance {x}, of {equality} keys"
        problem = f"it sets `groups`, but answers differently for {pair}"
        require(False, problem, "Leave `groups` out, or make `holds` equality of keys")
