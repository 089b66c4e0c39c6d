"""A relation other than grouping over a sample that comes in pieces: every piece against all explanations.

The first pass has found the distinct explanations and who has them (`Census`). The second asks the relation
about each piece and all of them, and what is counted adds up; the third goes over the pseudo-values of each
piece's instances, of which a standard error needs only their number, their sum and that of their squares.
"""

import attrs
import numpy as np

from faithkit.measure.asking import Asked, ask, bit_blocks, note_own
from faithkit.measure.census import Census
from faithkit.measure.containers import concat_rows
from faithkit.measure.explanations import Explanations, Sample
from faithkit.measure.grouping import group
from faithkit.measure.inference import agreement
from faithkit.measure.jackknife import Spread, pseudo_values
from faithkit.measure.label_sets import LabelSets
from faithkit.measure.relations import Relation, key_of
from faithkit.measure.slots import Counts, Slots
from faithkit.measure.tally import RowCount

NOBODY = np.zeros(0, dtype=np.int64)


@attrs.frozen(eq=False)
class Whole:
    """What a piece is counted against: explanations, and the slots of those that are to be told apart.

    `row` and `label` say which explanation and which label each slot stands for, in order.
    """

    explanations: Explanations
    n_labels: int
    row: Counts = NOBODY
    label: Counts = NOBODY

    @classmethod
    def of(cls, census: Census) -> "Whole":
        """Take all slots of the first pass."""
        row, label, _ = census.ordered
        return cls(census.explanations, len(census.labels), row, label)


def ask_piece(relation: Relation, sample: Sample, labels: Counts, whole: Whole) -> Asked:
    """Ask a relation about all explanations and the instances of a piece.

    Examples
    --------
    >>> from faithkit.measure.relations import NearExplanation
    >>> near, distinct = NearExplanation(tau=0.5), Explanations.vectors([[0.0], [1.0]])
    >>> whole = Whole.of(Census.of(near, distinct, np.array([0, 1]), ["no", "yes"]))
    >>> asked = ask_piece(near, Sample(None, distinct.take([1, 1])), np.array([0, 1]), whole)
    >>> asked.totals, asked.counts, asked.itself
    (array([0, 2]), array([0, 1]), array([0, 1]))
    """
    shape = len(whole.explanations), whole.n_labels
    blocks = bit_blocks(relation, sample, whole.explanations)
    place = _places(relation, sample.explanations, labels, whole)
    return ask(blocks, LabelSets(labels, whole.n_labels), (whole.row, whole.label), place, shape)


def _places(relation: Relation, own: Explanations, labels: Counts, whole: Whole) -> Counts:
    """Return the slot of each instance, −1 for one without an explanation or whose slot is not asked for."""
    if not len(whole.row):
        return np.full(len(own), -1)
    distinct = whole.explanations
    keys = concat_rows([key_of(relation, distinct), key_of(relation, own)])
    owned = group(keys, np.concatenate([distinct.missing, own.missing])).codes[len(distinct) :]
    known, mine = whole.row * whole.n_labels + whole.label, owned * whole.n_labels + labels
    place = np.searchsorted(known, mine).clip(max=len(known) - 1)
    return np.where(known[place] == mine, place, -1)


def count_piece(relation: Relation, sample: Sample, labels: Counts, whole: Whole, slots: Slots) -> RowCount:
    """Say where the instances of a piece stand in the counts of all instances.

    One without an explanation stands at any slot of a missing one: none of these holds for anything.
    """
    place = _places(relation, sample.explanations, labels, whole)
    if (place < 0).any():
        place[place < 0] = whole.explanations.missing[whole.row].argmax()
    owned, reflexive = whole.row[place], np.zeros(len(place), dtype=bool)
    for block in bit_blocks(relation, sample, whole.explanations):
        note_own(reflexive, block, owned)
    return RowCount(
        relation=relation,
        sample=sample,
        labels=labels,
        n_labels=whole.n_labels,
        owned=owned,
        reflexive=reflexive,
        explanations=whole.explanations,
        slots=slots,
        place=place,
    )


def spreads(counted: RowCount) -> tuple[Spread, Spread]:
    """Measure the pseudo-values of M and Q of a piece's instances, by the counts of all instances."""
    value, verified = agreement(counted.slots)
    pseudo = pseudo_values(counted)
    return Spread.of(pseudo.value, value), Spread.of(pseudo.disagreement, verified - value)
