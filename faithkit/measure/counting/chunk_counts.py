"""A relation other than grouping over a sample that comes in pieces: every piece against all explanations.

The first pass has found the distinct explanations and who has them (`Census`). The second asks the relation
about each piece and all of them, and what is counted adds up; the third goes over the pseudo-values of each
piece's instances, of which a standard error needs only their number, their sum and that of their squares.
"""

import numpy as np

from faithkit.arrays.containers import concat_rows
from faithkit.arrays.grouping import group
from faithkit.explanations.explanations import Explanations, Sample
from faithkit.explanations.relations import Relation, key_of
from faithkit.measure.counting.owners import Counts, Owners
from faithkit.measure.counting.scans import ScanCounts, ScanTarget, ask, bit_blocks, note_own
from faithkit.measure.counting.tally import RowCount


def ask_piece(relation: Relation, sample: Sample, labels: Counts, whole: ScanTarget) -> ScanCounts:
    """Ask a relation about all explanations and the instances of a piece.

    Examples
    --------
    >>> from faithkit.measure.counting.census import Census
    >>> from faithkit.explanations.relations import NearExplanation
    >>> near, distinct = NearExplanation(tau=0.5), Explanations.vectors([[0.0], [1.0]])
    >>> whole = Census.of(near, distinct, np.array([0, 1]), ["no", "yes"]).whole
    >>> asked = ask_piece(near, Sample(None, distinct.take([1, 1])), np.array([0, 1]), whole)
    >>> asked.totals, asked.sums, asked.itself
    (array([0, 2]), array([0, 1]), array([0, 1]))
    """
    return ask(relation, sample, labels, whole, _places(relation, sample.explanations, labels, whole))


def _places(relation: Relation, own: Explanations, labels: Counts, whole: ScanTarget) -> Counts:
    """Return the slot of each instance, −1 for one without an explanation or whose slot is not asked for."""
    if not len(whole.row):
        return np.full(len(own), -1)
    distinct = whole.explanations
    keys = concat_rows([key_of(relation, distinct), key_of(relation, own)])
    owned = group(keys, np.concatenate([distinct.missing, own.missing])).codes[len(distinct) :]
    known, mine = whole.row * whole.n_labels + whole.label, owned * whole.n_labels + labels
    place = np.searchsorted(known, mine).clip(max=len(known) - 1)
    return np.where(known[place] == mine, place, -1)


def count_piece(
    relation: Relation, sample: Sample, labels: Counts, whole: ScanTarget, owners: Owners
) -> RowCount:
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
        agreement=whole.agreement,
        owned=owned,
        reflexive=reflexive,
        explanations=whole.explanations,
        owners=owners,
        place=owners.places(owned, whole.label[place], reflexive.astype(np.int64), whole.n_labels),
    )
