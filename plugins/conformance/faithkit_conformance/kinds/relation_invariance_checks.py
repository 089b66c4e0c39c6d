"""Checks of relations: "π holds for x" depends only on π, x and the fitted relation."""

from copy import deepcopy
from itertools import pairwise
from typing import Any
from unittest import SkipTest

import numpy as np
from attrs import evolve
from numpy.typing import NDArray

from faithkit import Explanations
from faithkit.errors import ContractError
from faithkit.plugin import Sample, group, hash_content, n_rows, take_rows
from faithkit_conformance.checks import for_each, forbid, require
from faithkit_conformance.equality import are_equal, first_changed_column
from faithkit_conformance.kinds.component_checks import create
from faithkit_conformance.kinds.relation_checks import (
    RelationTrial,
    check_fit_returns_the_relation,
    check_groups_are_equality,
    check_holds_is_a_boolean_matrix,
    check_one_key_per_explanation,
    find_pair,
    overrides_holds,
    relation_trials,
)
from faithkit_conformance.relating import Matrix, draw_control

_SAMPLE_SIZES = (1, 63, 64, 65, 70)
_SINGLE_INSTANCES = 8  # instances that are evaluated one by one


@for_each(relation_trials, check_holds_is_a_boolean_matrix)
def check_asking_again_gives_the_same_answer(trial: RelationTrial) -> None:
    """Check that the relation gives the same answer twice.

    Counts are exact and reproducible.
    """
    remedy = "Use no randomness, and keep nothing between calls"
    _require_same(trial, trial.matrix, "evaluated twice", remedy)


@for_each(relation_trials, check_asking_again_gives_the_same_answer)
def check_packed_equals_holds(trial: RelationTrial) -> None:
    """Check that `packed`, if there is one, has the same bits as `holds`, padded with zeros.

    The fast path must not change a count. Errors are likely at word boundaries, every 64 instances.
    """
    if trial.relation.packed is None or not overrides_holds(trial.relation):
        raise SkipTest("There are not two ways to compare: it has only one of holds and packed.")
    explanations = trial.batch.explanations
    for n in {min(n, len(trial.batch)) for n in _SAMPLE_SIZES}:
        sample = trial.batch.sample_of(slice(n))
        matrix = trial.relation.holds(sample, explanations)
        pair = find_pair(trial.evaluate(sample, explanations) != matrix)
        problem = f"with {n} instances packed and holds differ on {pair}"
        remedy = "Make packed the same matrix as holds: faithkit.plugin.pack_bits packs one"
        require(pair is None, problem, remedy)


@for_each(relation_trials, check_asking_again_gives_the_same_answer, check_fit_returns_the_relation)
def check_learns_the_same_in_any_order(trial: RelationTrial) -> None:
    """Check that a second relation, fitted on the background in the opposite order, gives the same answers.

    Later sessions fit the relation again, and the order of the background has no meaning.
    """
    background = deepcopy(take_rows(trial.batch.background, slice(None, None, -1)))
    second = evolve(trial, relation=create(trial.candidate).fit(background, len(trial.batch)))
    action = "fitted again, on the background in the opposite order"
    _require_same(trial, second.matrix, action, "Learn from all rows of the background, without randomness")


@for_each(relation_trials, check_packed_equals_holds)
def check_chunks_of_explanations_are_irrelevant(trial: RelationTrial) -> None:
    """Check that explanations evaluated in slices, on one sample, get the same answers as all at once.

    The kernel evaluates relations in slices of bounded memory.
    """
    sample = trial.batch.sample
    rows = [trial.evaluate(sample, explanations) for explanations in trial.batch.split_in_three()]
    remedy = "Answer for every explanation by itself; what a sample remembers must not depend on them"
    _require_same(trial, np.concatenate(rows), "evaluated in three parts", remedy)


@for_each(relation_trials, check_packed_equals_holds)
def check_pieces_of_instances_are_irrelevant(trial: RelationTrial) -> None:
    """Check that a sample in pieces, some of a single instance, gives the same answers as the whole sample.

    Tallies of pieces add up only if "π holds for x" does not depend on the other instances.
    """
    n = len(trial.batch)
    edges = sorted({*range(min(_SINGLE_INSTANCES, n) + 1), n // 2, n})
    pieces = [trial.batch.sample_of(slice(*pair)) for pair in pairwise(edges)]
    columns = [trial.evaluate(piece, trial.batch.explanations) for piece in pieces]
    remedy = "Learn scales and neighbours in fit(background), not from the sample"
    _require_same(trial, np.concatenate(columns, axis=1), "evaluated on pieces of the sample", remedy)


@for_each(relation_trials, check_packed_equals_holds)
def check_instance_only_reads_no_explanations(trial: RelationTrial) -> None:
    """Check that a relation with `instance_only` gives the same answers for instances without explanations.

    Explanations are then checked against a pool of rows that are not explained.
    """
    if not trial.relation.instance_only:
        raise SkipTest("It does not set `instance_only`.")
    remedy = "Read sample.X alone, or leave `instance_only` out"
    with forbid(Exception, "it fails where the instances have no explanations", remedy):
        matrix = trial.evaluate(_without_explanations(trial.batch.X), trial.batch.explanations)
    _require_same(trial, matrix, "evaluated on instances without explanations", remedy)


@for_each(
    relation_trials,
    check_groups_are_equality,
    check_one_key_per_explanation,
    check_asking_again_gives_the_same_answer,
)
def check_equal_keys_give_equal_rows(trial: RelationTrial) -> None:
    """Check that explanations with equal keys hold for the same instances.

    The kernel evaluates one of them and counts it for all.
    """
    groups = group(trial.relation.key(trial.batch.explanations))
    first, matrix = groups.first[groups.codes], trial.matrix
    for row in np.flatnonzero((matrix != matrix[first]).any(axis=1)):
        problem = f"explanations {first[row]} and {row} have equal keys and unequal answers"
        require(False, problem, "Return from key all that holds reads of an explanation")


@for_each(relation_trials, check_holds_is_a_boolean_matrix)
def check_sample_is_left_alone(trial: RelationTrial) -> None:
    """Check that evaluating the relation changes neither the instances nor the explanations.

    Several relations are evaluated on one sample.
    """
    batch = trial.batch
    X, explanations = deepcopy(batch.X), deepcopy(batch.explanations)
    trial.evaluate(Sample(X, explanations), explanations)
    require(are_equal(X, batch.X), "evaluating it changed X in place", "Work on a copy")
    column = first_changed_column(batch.explanations, explanations)
    problem = f"evaluating it changed the explanations' {column} in place"
    require(column is None, problem, "Work on a copy")


@for_each(relation_trials, check_asking_again_gives_the_same_answer)
def check_composes(trial: RelationTrial) -> None:
    """Check that the relation can be negated and combined, with the answers of Boolean logic.

    Users write ``(in_scope & within) | ~same_explanation``.
    """
    relation, matrix = trial.relation, trial.matrix
    compositions = {
        "~r": (~relation, ~matrix),
        "r & r": (relation & relation, matrix),
        "r & ~r": (relation & ~relation, matrix & False),
        "r | ~r": (relation | ~relation, matrix | True),
    }
    for text, (composed, expected) in compositions.items():
        is_same = np.array_equal(evolve(trial, relation=composed).matrix, expected)
        problem = f"{text} differs from the Boolean logic of r"
        require(is_same, problem, "Leave &, | and ~ to faithkit.plugin.Relation")


@for_each(relation_trials, check_chunks_of_explanations_are_irrelevant)
def check_missing_explanations_are_accepted(trial: RelationTrial) -> None:
    """Check that the relation accepts missing explanations, and that they do not affect the others.

    An explainer may find no explanation for a row. Its value is then None or NaN, and it holds for nothing. A
    relation that compares explanations does not hold for such a row either.
    """
    with_missing = trial.batch.with_missing()
    is_missing, matrix = with_missing.missing, trial.evaluate(trial.batch.sample, with_missing)
    require(not matrix[is_missing].any(), "a missing explanation holds", "It must not")
    is_same = np.array_equal(matrix[~is_missing], trial.matrix[~is_missing])
    problem = "other explanations get other answers where some are missing"
    require(is_same, problem, "Skip the rows in explanations.missing")
    if trial.relation.groups:  # the kernel compares keys, and knows which rows have none
        return
    in_sample = trial.evaluate(Sample(trial.batch.X, with_missing), with_missing)
    reads_explanations = not np.array_equal(in_sample[:, is_missing], matrix[:, is_missing])
    problem = "an explanation holds for a row without an explanation, although the two are compared"
    remedy = "Set the columns of sample.explanations.missing to False"
    require(not reads_explanations or not in_sample[:, is_missing].any(), problem, remedy)


@for_each(relation_trials, check_missing_explanations_are_accepted)
def check_control_has_the_same_form(trial: RelationTrial) -> None:
    """Check that `control`, if there is one, draws explanations of the same kind that the relation accepts.

    A control is missing where the explanation is. Relations receive no predictions, so it is blind to them.
    """
    explanations = trial.batch.with_missing()
    control = _draw_control(trial, Sample(trial.batch.X, explanations), np.arange(len(explanations)))
    trial.evaluate(Sample(trial.batch.X, control), control)


@for_each(relation_trials, check_control_has_the_same_form)
def check_control_depends_on_seeds_alone(trial: RelationTrial) -> None:
    """Check that equal seeds draw the same control, in any order of the rows.

    Seeds belong to rows, so that neither order nor repetition changes a result.
    """
    seeds, reverse = np.arange(len(trial.batch)), np.arange(len(trial.batch))[::-1]
    words = _key_words(trial, _draw_control(trial, trial.batch.sample, seeds))
    again = _key_words(trial, _draw_control(trial, trial.batch.sample, seeds))
    remedy = "Draw with faithkit.plugin.row_uniforms(seeds, …) and no other randomness"
    require(np.array_equal(again, words), "equal seeds drew another control", remedy)
    reversed_sample = Sample(take_rows(trial.batch.X, reverse), trial.batch.explanations.take(reverse))
    reordered = _key_words(trial, _draw_control(trial, reversed_sample, seeds[reverse]))
    problem = "the rows came in another order, and its control changed"
    remedy = "Draw other rows from an order by content: faithkit.plugin.hash_content"
    require(np.array_equal(reordered[reverse], words), problem, remedy)


def _without_explanations(X: Any) -> Sample:
    n = n_rows(X)
    return Sample(X, Explanations(kind="value", values=np.full(n, None), missing=np.ones(n, dtype=bool)))


def _key_words(trial: RelationTrial, control: Explanations) -> NDArray[np.uint64]:
    """Return the content of everything that the relation reads of a control."""
    return hash_content(trial.relation.key(control))


def _draw_control(trial: RelationTrial, sample: Sample, seeds: NDArray[Any]) -> Explanations:
    if trial.relation.control is None:
        raise SkipTest("It offers no control.")
    remedy = "Return attrs.evolve(explanations, values=…)"
    with forbid(ContractError, "its control has another form", remedy):
        control = draw_control(trial.relation, sample, seeds.astype(np.uint32))
    if control is None:
        raise SkipTest("It offers no control for these rows.")
    return control


def _require_same(trial: RelationTrial, matrix: Matrix, action: str, remedy: str) -> None:
    """Require that an answer equals the one for the whole batch."""
    pair = find_pair(matrix != trial.matrix)
    require(pair is None, f"it was {action}, and the answer changed for {pair}", remedy)
