"""What a relation promises: that "π holds for x" depends on π, x and what was fitted, and on nothing else."""

from itertools import pairwise
from unittest import SkipTest

import numpy as np

from faithkit.arrays.grouping import group
from faithkit.explanations.explanations import Explanations, Sample
from faithkit.explanations.relations import Relation
from faithkit.extension.entries import Entry
from faithkit.measure.counting.pool import unexplained
from faithkit.testing.checks import demand, needs
from faithkit.testing.fixtures import fresh
from faithkit.testing.kinds.relating import answer, ask, demand_same, has_holds, who
from faithkit.testing.kinds.relation_checks import (
    check_groups_are_equality,
    check_holds_is_a_boolean_matrix,
    check_one_key_per_explanation,
    tried,
)
from faithkit.testing.sameness import changed_part, same
from faithkit.wording import describe

_SIZES = (1, 63, 64, 65, 70)
_ALONE = 8  # instances that are asked about alone


def check_asking_again_gives_the_same_answer(entry: Entry) -> None:
    """Check that the relation answers the same when asked twice.

    Counts are exact, and repeatable.
    """
    needs(check_holds_is_a_boolean_matrix, entry)
    for batch, relation in tried(entry):
        mend = "Use no randomness, and keep nothing between calls"
        demand_same(entry, batch, relation, answer(relation, batch), "asked twice", mend)


def check_packed_equals_holds(entry: Entry) -> None:
    """Check that `packed`, where there is one, has the same bits as `holds`, padded with zeros.

    The fast path must not change a count; word boundaries at 64 instances are where it does.
    """
    needs(check_asking_again_gives_the_same_answer, entry)
    for batch, relation in tried(entry):
        if relation.packed is None or not has_holds(relation):
            raise SkipTest("There are not two ways to compare: it has only one of holds and packed.")
        for n in {min(n, len(batch)) for n in _SIZES}:
            _demand_equal(who(entry, batch), relation, batch.piece(slice(n)), batch.explanations)


def check_chunks_of_explanations_are_irrelevant(entry: Entry) -> None:
    """Check that explanations asked about in parts, on one sample, get the same answers as all at once.

    The kernel asks in blocks of bounded memory.
    """
    needs(check_packed_equals_holds, entry)
    for batch, relation in tried(entry):
        sample = batch.sample
        rows = [ask(relation, sample, part) for part in batch.thirds()]
        mend = "Answer for every explanation by itself; what a sample remembers must not depend on them"
        demand_same(entry, batch, relation, np.concatenate(rows), "asked in three parts", mend)


def check_pieces_of_instances_are_irrelevant(entry: Entry) -> None:
    """Check that a sample in pieces, some of one instance, gives the same answers as the whole.

    Tallies of pieces add up only if "π holds for x" does not depend on the other instances.
    """
    needs(check_packed_equals_holds, entry)
    for batch, relation in tried(entry):
        edges = sorted({*range(min(_ALONE, len(batch)) + 1), len(batch) // 2, len(batch)})
        pieces = [batch.piece(slice(*pair)) for pair in pairwise(edges)]
        columns = [ask(relation, piece, batch.explanations) for piece in pieces]
        mend = "Learn scales and neighbours in fit(background), not from the sample"
        given = np.concatenate(columns, axis=1)
        demand_same(entry, batch, relation, given, "asked about pieces of the sample", mend)


def check_instance_only_reads_no_explanations(entry: Entry) -> None:
    """Check that a relation which says `instance_only` answers the same where nobody explained the instances.

    Explanations are then checked against a pool of rows that have none.
    """
    needs(check_packed_equals_holds, entry)
    for batch, relation in tried(entry):
        if not relation.instance_only:
            raise SkipTest("It does not say that it reads the instance only.")
        mend = "Read sample.X alone, or leave `instance_only` out"
        try:
            given = ask(relation, unexplained(batch.X), batch.explanations)
        except Exception as error:
            found = f"it fails where the instances have no explanations: {describe(error)}"
            demand(False, who(entry, batch), found, mend)
        demand_same(entry, batch, relation, given, "asked about instances without explanations", mend)


def check_equal_keys_give_equal_rows(entry: Entry) -> None:
    """Check that explanations with equal keys hold for the same instances.

    The kernel asks about one of them and counts for all.
    """
    needs(check_groups_are_equality, entry)
    needs(check_one_key_per_explanation, entry)
    needs(check_asking_again_gives_the_same_answer, entry)
    for batch, relation in tried(entry):
        groups = group(relation.key(batch.explanations))
        matrix = answer(relation, batch)
        unlike = (matrix != matrix[groups.first[groups.codes]]).any(axis=1)
        row = int(unlike.argmax())
        found = (
            f"explanations {groups.first[groups.codes[row]]} and {row} have equal keys and unequal answers"
        )
        mend = "Return from key all that holds reads of an explanation"
        demand(not unlike.any(), who(entry, batch), found, mend)


def check_sample_is_left_alone(entry: Entry) -> None:
    """Check that asking changes neither the instances nor the explanations.

    Several relations are asked about one sample.
    """
    needs(check_holds_is_a_boolean_matrix, entry)
    for batch, relation in tried(entry):
        X, explanations = fresh(batch.X), fresh(batch.explanations)
        ask(relation, Sample(X, explanations), explanations)
        whom, part = who(entry, batch), changed_part(batch.explanations, explanations)
        demand(same(X, batch.X), whom, "asking changed X in place", "Work on a copy")
        demand(part is None, whom, f"asking changed the explanations' {part} in place", "Work on a copy")


def check_composes(entry: Entry) -> None:
    """Check that the relation can be negated and combined, and that the answers are what logic says.

    Users write ``(in_scope & within) | ~same_explanation``.
    """
    needs(check_asking_again_gives_the_same_answer, entry)
    for batch, relation in tried(entry):
        matrix, whom = answer(relation, batch), who(entry, batch)
        expected = {"~r": ~matrix, "r & r": matrix, "r & ~r": matrix & False, "r | ~r": matrix | True}
        given = [~relation, relation & relation, relation & ~relation, relation | ~relation]
        for (text, wanted), composed in zip(expected.items(), given, strict=True):
            found = f"{text} is not what logic says of r"
            mend = "Leave &, | and ~ to faithkit.plugin.Relation"
            demand(np.array_equal(answer(composed, batch), wanted), whom, found, mend)


def check_missing_explanations_are_accepted(entry: Entry) -> None:
    """Check that explanations that are missing are no reason to fail, and that the others are not affected.

    An explainer may find nothing for a row: its value is then None or NaN, and it holds for nothing.
    """
    needs(check_chunks_of_explanations_are_irrelevant, entry)
    for batch, relation in tried(entry):
        some = batch.with_missing()
        matrix = ask(relation, batch.sample, some)
        demand(
            not matrix[some.missing].any(), who(entry, batch), "a missing explanation holds", "It must not"
        )
        is_same = np.array_equal(matrix[~some.missing], answer(relation, batch)[~some.missing])
        found = "other explanations get other answers where some are missing"
        demand(is_same, who(entry, batch), found, "Skip the rows in explanations.missing")
        ask(relation, Sample(batch.X, some), some)


def _demand_equal(who: str, relation: Relation, sample: Sample, explanations: Explanations) -> None:
    fast, n = ask(relation, sample, explanations), len(sample)
    unlike = fast != relation.holds(sample, explanations)
    u, x = np.unravel_index(int(unlike.argmax()), unlike.shape)
    found = f"with {n} instances packed and holds differ on explanation {u} and instance {x}"
    demand(
        not unlike.any(),
        who,
        found,
        "Make packed the same matrix as holds: faithkit.plugin.pack_bits packs one",
    )
