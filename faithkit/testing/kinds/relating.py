"""Asking relations: on explanations of every kind that they declare, each fitted for it."""

from collections.abc import Iterator

import numpy as np
from numpy.typing import NDArray

from faithkit.arrays.bitsets import unpack_bits
from faithkit.errors import ContractError, FaithkitError
from faithkit.explanations.explanations import Explanations, Sample
from faithkit.explanations.relations import Relation, holds_bits
from faithkit.extension.entries import Entry
from faithkit.testing.batches import Batch, batches_for
from faithkit.testing.checks import demand
from faithkit.testing.fixtures import fresh
from faithkit.testing.kinds.component_checks import make

Matrix = NDArray[np.bool_]


def accepted(entry: Entry) -> Iterator[tuple[Batch, Relation]]:
    """Yield the batches that the relation accepts, each with an instance that is fitted for it."""
    for batch in batches_for(entry):
        if refusal(entry, fresh(batch)) is None:
            yield batch, ready(entry, batch)


def refusal(entry: Entry, batch: Batch) -> FaithkitError | None:
    """Return what a relation says that does not take a batch; None where it does."""
    try:
        ask(ready(entry, batch), batch.sample, batch.explanations)
    except ContractError:  # it was answered, if wrongly
        return None
    except FaithkitError as error:
        return error
    return None


def ready(entry: Entry, batch: Batch) -> Relation:
    """Make a relation, and fit it on a batch's background."""
    made: Relation = make(entry)
    returned = made.fit(fresh(batch.background))
    return returned if isinstance(returned, Relation) else made


def has_holds(relation: Relation) -> bool:
    """Whether it has a method `holds` of its own."""
    return type(relation).holds is not Relation.holds


def ask(relation: Relation, sample: Sample, explanations: Explanations) -> Matrix:
    """Return a relation's answer as the kernel counts it."""
    return unpack_bits(holds_bits(relation, sample, explanations), len(sample))


def answer(relation: Relation, batch: Batch) -> Matrix:
    """Return a relation's answer about a whole batch."""
    return ask(relation, batch.sample, batch.explanations)


def demand_same(entry: Entry, batch: Batch, relation: Relation, given: Matrix, how: str, mend: str) -> None:
    """Demand that an answer is the one that the relation gives about the whole batch."""
    unlike = given != answer(relation, batch)
    u, x = np.unravel_index(int(unlike.argmax()), unlike.shape)
    found = f"it was {how}, and the answer changed for explanation {u} and instance {x}"
    demand(not unlike.any(), who(entry, batch), found, mend)


def who(entry: Entry, batch: Batch) -> str:
    """Whom a message is about."""
    return f"{entry.component.name} on {batch.name}"
