"""Checks of relations: "π holds for x" depends only on π, x and the fitted relation."""

from itertools import pairwise
from unittest import SkipTest

import numpy as np

from faithkit.arrays.grouping import group
from faithkit.explanations.explanations import Explanations, Sample
from faithkit.explanations.relations import Relation
from faithkit.extension.entries import Entry
from faithkit.measure.counting.pool import unexplained_sample
from faithkit.testing.checks import require, skip_unless_passes
from faithkit.testing.equality import are_equal, first_changed_column
from faithkit.testing.kinds.relation_checks import (
    accepted_batches,
    check_groups_are_equality,
    check_holds_is_a_boolean_matrix,
    check_one_key_per_explanation,
    evaluate,
    evaluate_batch,
    overrides_holds,
    require_same_answers,
    subject,
)
from faithkit.testing.situations import deep_copy
from faithkit.wording import describe

_SAMPLE_SIZES = (1, 63, 64, 65, 70)
_SINGLE_INSTANCES = 8  # instances that are evaluated one by one


def check_asking_again_gives_the_same_answer(entry: Entry) -> None:
    """Check that the relation gives the same answer twice.

    Counts are exact and reproducible.
    """
    skip_unless_passes(check_holds_is_a_boolean_matrix, entry)
    for batch, relation in accepted_batches(entry):
        remedy = "Use no randomness, and keep nothing between calls"
        require_same_answers(
            entry, batch, relation, evaluate_batch(relation, batch), "evaluated twice", remedy
        )


def check_packed_equals_holds(entry: Entry) -> None:
    """Check that `packed`, if there is one, has the same bits as `holds`, padded with zeros.

    The fast path must not change a count. Errors are likely at word boundaries, every 64 instances.
    """
    skip_unless_passes(check_asking_again_gives_the_same_answer, entry)
    for batch, relation in accepted_batches(entry):
        if relation.packed is None or not overrides_holds(relation):
            raise SkipTest("There are not two ways to compare: it has only one of holds and packed.")
        for n in {min(n, len(batch)) for n in _SAMPLE_SIZES}:
            _require_packed_equals_holds(
                subject(entry, batch), relation, batch.sample_of(slice(n)), batch.explanations
            )


def check_chunks_of_explanations_are_irrelevant(entry: Entry) -> None:
    """Check that explanations evaluated in slices, on one sample, get the same answers as all at once.

    The kernel evaluates relations in slices of bounded memory.
    """
    skip_unless_passes(check_packed_equals_holds, entry)
    for batch, relation in accepted_batches(entry):
        sample = batch.sample
        rows = [evaluate(relation, sample, explanations) for explanations in batch.split_in_three()]
        remedy = "Answer for every explanation by itself; what a sample remembers must not depend on them"
        require_same_answers(entry, batch, relation, np.concatenate(rows), "evaluated in three parts", remedy)


def check_pieces_of_instances_are_irrelevant(entry: Entry) -> None:
    """Check that a sample in pieces, some of a single instance, gives the same answers as the whole sample.

    Tallies of pieces add up only if "π holds for x" does not depend on the other instances.
    """
    skip_unless_passes(check_packed_equals_holds, entry)
    for batch, relation in accepted_batches(entry):
        edges = sorted({*range(min(_SINGLE_INSTANCES, len(batch)) + 1), len(batch) // 2, len(batch)})
        pieces = [batch.sample_of(slice(*pair)) for pair in pairwise(edges)]
        columns = [evaluate(relation, sample_of, batch.explanations) for sample_of in pieces]
        remedy = "Learn scales and neighbours in fit(background), not from the sample"
        matrix = np.concatenate(columns, axis=1)
        require_same_answers(entry, batch, relation, matrix, "evaluated on pieces of the sample", remedy)


def check_instance_only_reads_no_explanations(entry: Entry) -> None:
    """Check that a relation with `instance_only` gives the same answers for instances without explanations.

    Explanations are then checked against a pool of rows that are not explained.
    """
    skip_unless_passes(check_packed_equals_holds, entry)
    for batch, relation in accepted_batches(entry):
        if not relation.instance_only:
            raise SkipTest("It does not set `instance_only`.")
        remedy = "Read sample.X alone, or leave `instance_only` out"
        try:
            matrix = evaluate(relation, unexplained_sample(batch.X), batch.explanations)
        except Exception as error:
            problem = f"it fails where the instances have no explanations: {describe(error)}"
            require(False, subject(entry, batch), problem, remedy)
        require_same_answers(
            entry, batch, relation, matrix, "evaluated on instances without explanations", remedy
        )


def check_equal_keys_give_equal_rows(entry: Entry) -> None:
    """Check that explanations with equal keys hold for the same instances.

    The kernel evaluates one of them and counts it for all.
    """
    skip_unless_passes(check_groups_are_equality, entry)
    skip_unless_passes(check_one_key_per_explanation, entry)
    skip_unless_passes(check_asking_again_gives_the_same_answer, entry)
    for batch, relation in accepted_batches(entry):
        groups = group(relation.key(batch.explanations))
        matrix = evaluate_batch(relation, batch)
        is_different = (matrix != matrix[groups.first[groups.codes]]).any(axis=1)
        row = int(is_different.argmax())
        problem = (
            f"explanations {groups.first[groups.codes[row]]} and {row} have equal keys and unequal answers"
        )
        remedy = "Return from key all that holds reads of an explanation"
        require(not is_different.any(), subject(entry, batch), problem, remedy)


def check_sample_is_left_alone(entry: Entry) -> None:
    """Check that evaluating the relation changes neither the instances nor the explanations.

    Several relations are evaluated on one sample.
    """
    skip_unless_passes(check_holds_is_a_boolean_matrix, entry)
    for batch, relation in accepted_batches(entry):
        X, explanations = deep_copy(batch.X), deep_copy(batch.explanations)
        evaluate(relation, Sample(X, explanations), explanations)
        label, column = subject(entry, batch), first_changed_column(batch.explanations, explanations)
        require(are_equal(X, batch.X), label, "evaluating it changed X in place", "Work on a copy")
        require(
            column is None,
            label,
            f"evaluating it changed the explanations' {column} in place",
            "Work on a copy",
        )


def check_composes(entry: Entry) -> None:
    """Check that the relation can be negated and combined, with the answers of Boolean logic.

    Users write ``(in_scope & within) | ~same_explanation``.
    """
    skip_unless_passes(check_asking_again_gives_the_same_answer, entry)
    for batch, relation in accepted_batches(entry):
        matrix, label = evaluate_batch(relation, batch), subject(entry, batch)
        expected = {"~r": ~matrix, "r & r": matrix, "r & ~r": matrix & False, "r | ~r": matrix | True}
        compositions = [~relation, relation & relation, relation & ~relation, relation | ~relation]
        for (text, expected_matrix), composed in zip(expected.items(), compositions, strict=True):
            problem = f"{text} differs from the Boolean logic of r"
            remedy = "Leave &, | and ~ to faithkit.plugin.Relation"
            require(np.array_equal(evaluate_batch(composed, batch), expected_matrix), label, problem, remedy)


def check_missing_explanations_are_accepted(entry: Entry) -> None:
    """Check that the relation accepts missing explanations, and that they do not affect the others.

    An explainer may find no explanation for a row. Its value is then None or NaN, and it holds for nothing.
    """
    skip_unless_passes(check_chunks_of_explanations_are_irrelevant, entry)
    for batch, relation in accepted_batches(entry):
        with_missing = batch.with_missing()
        matrix = evaluate(relation, batch.sample, with_missing)
        require(
            not matrix[with_missing.missing].any(),
            subject(entry, batch),
            "a missing explanation holds",
            "It must not",
        )
        is_same = np.array_equal(
            matrix[~with_missing.missing], evaluate_batch(relation, batch)[~with_missing.missing]
        )
        problem = "other explanations get other answers where some are missing"
        require(is_same, subject(entry, batch), problem, "Skip the rows in explanations.missing")
        evaluate(relation, Sample(batch.X, with_missing), with_missing)


def _require_packed_equals_holds(
    label: str, relation: Relation, sample: Sample, explanations: Explanations
) -> None:
    packed, n = evaluate(relation, sample, explanations), len(sample)
    is_different = packed != relation.holds(sample, explanations)
    u, x = np.unravel_index(int(is_different.argmax()), is_different.shape)
    problem = f"with {n} instances packed and holds differ on explanation {u} and instance {x}"
    require(
        not is_different.any(),
        label,
        problem,
        "Make packed the same matrix as holds: faithkit.plugin.pack_bits packs one",
    )
