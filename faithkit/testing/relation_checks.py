"""What a relation promises: that "π holds for x" depends on π, x and what was fitted, and on nothing else.

Labels are not among what it is given, so that it reads none needs no check. The explanations are made up, of
every kind that the component declares; of a kind that is not known here nothing can be checked.
"""

from collections.abc import Iterator
from typing import Any
from unittest import SkipTest

import numpy as np
from numpy.typing import NDArray

from faithkit.errors import ContractError, FaithkitError
from faithkit.extension.entries import Entry
from faithkit.measure.bitsets import check_packed, unpack_bits
from faithkit.measure.containers import n_rows
from faithkit.measure.explanations import Explanations, Sample
from faithkit.measure.grouping import group
from faithkit.measure.pool import unexplained
from faithkit.measure.relations import Relation, holds_bits
from faithkit.testing.batches import Batch, batches_for
from faithkit.testing.checks import demand, needs
from faithkit.testing.component_checks import make
from faithkit.testing.fixtures import fresh
from faithkit.testing.sameness import changed_part, same
from faithkit.wording import describe

Matrix = NDArray[np.bool_]
_SIZES = (1, 63, 64, 65, 70)


def check_relates_something(entry: Entry) -> None:
    """Check that explanations of at least one declared kind are related to instances.

    It may refuse some with a `FaithkitError`; if it refuses all, nothing below was checked.
    """
    refusals = {batch.name: _refusal(entry, batch) for batch in batches_for(entry)}
    reasons = "; ".join(f"{name}: {refusal}" for name, refusal in refusals.items())
    mend = "Read one of them, or correct the `kinds` of its Component"
    accepts = None in refusals.values()
    demand(accepts, entry.component.name, f"it relates nothing. {reasons}", mend)


def check_fit_returns_the_relation(entry: Entry) -> None:
    """Check that `fit` returns a relation.

    The kernel, and every relation that is composed of this one, goes on with what `fit` returns.
    """
    for batch, _ in _tried(entry):
        returned = make(entry).fit(fresh(batch.background))
        found = f"fit returned a {type(returned).__name__}; expected the relation"
        demand(isinstance(returned, Relation), _who(entry, batch), found, "End fit with `return self`")


def check_holds_is_a_boolean_matrix(entry: Entry) -> None:
    """Check that `holds` gives Booleans, one row per explanation and one column per instance; `packed`, bits.

    The kernel counts the ones; anything else, such as a matrix the other way round, would be counted wrongly.
    """
    for batch, relation in _tried(entry):
        who, part = _who(entry, batch), batch.explanations.take(slice(1, None))
        if _has_holds(relation):
            _demand_matrix(who, relation.holds(batch.sample, part), (len(batch) - 1, len(batch)))
        if relation.packed is not None:
            _demand_bits(who, relation.packed(batch.sample, part), (len(batch) - 1, len(batch)))


def check_one_key_per_explanation(entry: Entry) -> None:
    """Check that `key` has one row per explanation, and that keys can be compared.

    Explanations with equal keys are counted once.
    """
    for batch, relation in _tried(entry):
        who, key = _who(entry, batch), relation.key(batch.explanations)
        found = f"key has {n_rows(key)} rows for {len(batch.explanations)} explanations; expected one per row"
        demand(n_rows(key) == len(batch.explanations), who, found, "Return values, or a part of them")
        try:
            group(key)
        except FaithkitError as error:
            demand(False, who, f"keys cannot be compared: {error}", "Return a 2-D array or hashable values")


def check_asking_again_gives_the_same_answer(entry: Entry) -> None:
    """Check that the relation answers the same when asked twice.

    Counts are exact, and repeatable.
    """
    needs(check_holds_is_a_boolean_matrix, entry)
    for batch, relation in _tried(entry):
        mend = "Use no randomness, and keep nothing between calls"
        _demand_same(entry, batch, relation, _answer(relation, batch), "asked twice", mend)


def check_packed_equals_holds(entry: Entry) -> None:
    """Check that `packed`, where there is one, has the same bits as `holds`, padded with zeros.

    The fast path must not change a count; word boundaries at 64 instances are where it does.
    """
    needs(check_asking_again_gives_the_same_answer, entry)
    for batch, relation in _tried(entry):
        if relation.packed is None or not _has_holds(relation):
            raise SkipTest("There are not two ways to compare: it has only one of holds and packed.")
        for n in {min(n, len(batch)) for n in _SIZES}:
            _demand_equal(_who(entry, batch), relation, batch.piece(slice(n)), batch.explanations)


def check_chunks_of_explanations_are_irrelevant(entry: Entry) -> None:
    """Check that explanations asked about in parts, on one sample, get the same answers as all at once.

    The kernel asks in blocks of bounded memory.
    """
    needs(check_packed_equals_holds, entry)
    for batch, relation in _tried(entry):
        sample = batch.sample
        rows = [_ask(relation, sample, part) for part in batch.thirds()]
        mend = "Answer for every explanation by itself; what a sample remembers must not depend on them"
        _demand_same(entry, batch, relation, np.concatenate(rows), "asked in three parts", mend)


def check_pieces_of_instances_are_irrelevant(entry: Entry) -> None:
    """Check that a sample in two pieces gives the same answers as the whole.

    Tallies of pieces add up only if "π holds for x" does not depend on the other instances.
    """
    needs(check_packed_equals_holds, entry)
    for batch, relation in _tried(entry):
        half = len(batch) // 2
        pieces = [batch.piece(slice(half)), batch.piece(slice(half, None))]
        columns = [_ask(relation, piece, batch.explanations) for piece in pieces]
        mend = "Learn scales and neighbours in fit(background), not from the sample"
        given = np.concatenate(columns, axis=1)
        _demand_same(entry, batch, relation, given, "asked about two pieces of the sample", mend)


def check_instance_only_reads_no_explanations(entry: Entry) -> None:
    """Check that a relation which says `instance_only` answers the same where nobody explained the instances.

    Explanations are then checked against a pool of rows that have none.
    """
    needs(check_packed_equals_holds, entry)
    for batch, relation in _tried(entry):
        if not relation.instance_only:
            raise SkipTest("It does not say that it reads the instance only.")
        mend = "Read sample.X alone, or leave `instance_only` out"
        try:
            given = _ask(relation, unexplained(batch.X), batch.explanations)
        except Exception as error:
            found = f"it fails where the instances have no explanations: {describe(error)}"
            demand(False, _who(entry, batch), found, mend)
        _demand_same(entry, batch, relation, given, "asked about instances without explanations", mend)


def check_equal_keys_give_equal_rows(entry: Entry) -> None:
    """Check that explanations with equal keys hold for the same instances.

    The kernel asks about one of them and counts for all.
    """
    needs(check_one_key_per_explanation, entry)
    needs(check_asking_again_gives_the_same_answer, entry)
    for batch, relation in _tried(entry):
        groups = group(relation.key(batch.explanations))
        matrix = _answer(relation, batch)
        unlike = (matrix != matrix[groups.first[groups.codes]]).any(axis=1)
        row = int(unlike.argmax())
        found = (
            f"explanations {groups.first[groups.codes[row]]} and {row} have equal keys and unequal answers"
        )
        mend = "Return from key all that holds reads of an explanation"
        demand(not unlike.any(), _who(entry, batch), found, mend)


def check_sample_is_left_alone(entry: Entry) -> None:
    """Check that asking changes neither the instances nor the explanations.

    Several relations are asked about one sample.
    """
    needs(check_holds_is_a_boolean_matrix, entry)
    for batch, relation in _tried(entry):
        X, explanations = fresh(batch.X), fresh(batch.explanations)
        _ask(relation, Sample(X, explanations), explanations)
        who, part = _who(entry, batch), changed_part(batch.explanations, explanations)
        demand(same(X, batch.X), who, "asking changed X in place", "Work on a copy")
        demand(part is None, who, f"asking changed the explanations' {part} in place", "Work on a copy")


def check_composes(entry: Entry) -> None:
    """Check that the relation can be negated and combined, and that the answers are what logic says.

    Users write ``(in_scope & within) | ~same_explanation``.
    """
    needs(check_asking_again_gives_the_same_answer, entry)
    for batch, relation in _tried(entry):
        matrix, who = _answer(relation, batch), _who(entry, batch)
        expected = {"~r": ~matrix, "r & r": matrix, "r & ~r": matrix & False, "r | ~r": matrix | True}
        given = [~relation, relation & relation, relation & ~relation, relation | ~relation]
        for (text, wanted), composed in zip(expected.items(), given, strict=True):
            found = f"{text} is not what logic says of r"
            mend = "Leave &, | and ~ to faithkit.Relation"
            demand(np.array_equal(_answer(composed, batch), wanted), who, found, mend)


def check_missing_explanations_are_accepted(entry: Entry) -> None:
    """Check that explanations that are missing are no reason to fail, and that the others are not affected.

    An explainer may find nothing for a row: its value is then None or NaN, and it holds for nothing.
    """
    needs(check_chunks_of_explanations_are_irrelevant, entry)
    for batch, relation in _tried(entry):
        some = batch.with_missing()
        matrix = _ask(relation, batch.sample, some)
        demand(
            not matrix[some.missing].any(), _who(entry, batch), "a missing explanation holds", "It must not"
        )
        is_same = np.array_equal(matrix[~some.missing], _answer(relation, batch)[~some.missing])
        found = "other explanations get other answers where some are missing"
        demand(is_same, _who(entry, batch), found, "Skip the rows in explanations.missing")
        _ask(relation, Sample(batch.X, some), some)


def _tried(entry: Entry) -> Iterator[tuple[Batch, Relation]]:
    """Yield the batches that the relation accepts, each with an instance that is fitted for it."""
    needs(check_relates_something, entry)
    for batch in batches_for(entry):
        if _refusal(entry, fresh(batch)) is None:
            yield batch, _fitted(entry, batch)


def _refusal(entry: Entry, batch: Batch) -> FaithkitError | None:
    try:
        _ask(_fitted(entry, batch), batch.sample, batch.explanations)
    except ContractError:  # it was answered, if wrongly
        return None
    except FaithkitError as error:
        return error
    return None


def _fitted(entry: Entry, batch: Batch) -> Relation:
    made: Relation = make(entry)
    returned = made.fit(fresh(batch.background))
    return returned if isinstance(returned, Relation) else made


def _has_holds(relation: Relation) -> bool:
    return type(relation).holds is not Relation.holds


def _ask(relation: Relation, sample: Sample, explanations: Explanations) -> Matrix:
    return unpack_bits(holds_bits(relation, sample, explanations), len(sample))


def _answer(relation: Relation, batch: Batch) -> Matrix:
    return _ask(relation, batch.sample, batch.explanations)


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
        raise AssertionError(f"{who}: {error}") from error


def _demand_equal(who: str, relation: Relation, sample: Sample, explanations: Explanations) -> None:
    fast, n = _ask(relation, sample, explanations), len(sample)
    unlike = fast != relation.holds(sample, explanations)
    u, x = np.unravel_index(int(unlike.argmax()), unlike.shape)
    found = f"with {n} instances packed and holds differ on explanation {u} and instance {x}"
    demand(not unlike.any(), who, found, "Make packed the same matrix as holds: faithkit.pack_bits packs one")


def _demand_same(entry: Entry, batch: Batch, relation: Relation, given: Matrix, how: str, mend: str) -> None:
    unlike = given != _answer(relation, batch)
    u, x = np.unravel_index(int(unlike.argmax()), unlike.shape)
    found = f"it was {how}, and the answer changed for explanation {u} and instance {x}"
    demand(not unlike.any(), _who(entry, batch), found, mend)


def _who(entry: Entry, batch: Batch) -> str:
    return f"{entry.component.name} on {batch.name}"
