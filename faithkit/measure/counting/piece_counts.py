"""Counts of a relation other than grouping, over a log that is read in pieces.

Three passes read the log. The first finds the distinct explanations and their owners (`Census`). The second
scans the relation's matrix of each piece and all explanations; these counts add up. The third computes the
pseudo-values of each piece; the standard error needs only their number, sum and sum of squares.
"""

import numpy as np

from faithkit.arrays.containers import concat_rows
from faithkit.arrays.grouping import group
from faithkit.explanations.explanations import Explanations, Sample
from faithkit.explanations.relations import Relation, key_of
from faithkit.measure.counting.owners import Counts, Owners
from faithkit.measure.counting.scans import ScanCounts, ScanTarget, bit_batches, mark_reflexive, scan_relation
from faithkit.measure.counting.tally import RowCount


def scan_piece(relation: Relation, sample: Sample, labels: Counts, target: ScanTarget) -> ScanCounts:
    """Count the relation's matrix of all explanations over the instances of a piece.

    Examples
    --------
    >>> from faithkit.measure.counting.census import Census
    >>> from faithkit.explanations.relations import NearExplanation
    >>> near, distinct = NearExplanation(tau=0.5), Explanations.vectors([[0.0], [1.0]])
    >>> target = Census.of(near, distinct, np.array([0, 1]), ["no", "yes"]).scan_target
    >>> counts = scan_piece(near, Sample(None, distinct.take([1, 1])), np.array([0, 1]), target)
    >>> counts.totals, counts.sums, counts.n_reflexive
    (array([0, 2]), array([0, 1]), array([0, 1]))
    """
    slots = _find_slots(relation, sample.explanations, labels, target)
    return scan_relation(relation, sample, labels, target, slots)


def _find_slots(relation: Relation, explanations: Explanations, labels: Counts, target: ScanTarget) -> Counts:
    """Return the slot of each instance; −1 for one without an explanation or outside the target's slots."""
    if not len(target.row):
        return np.full(len(explanations), -1)
    distinct = target.explanations
    keys = concat_rows([key_of(relation, distinct), key_of(relation, explanations)])
    owned_explanation = group(keys, np.concatenate([distinct.missing, explanations.missing])).codes[
        len(distinct) :
    ]
    slot_codes, row_codes = (
        target.row * target.n_labels + target.label,
        owned_explanation * target.n_labels + labels,
    )
    slot = np.searchsorted(slot_codes, row_codes).clip(max=len(slot_codes) - 1)
    return np.where(slot_codes[slot] == row_codes, slot, -1)


def count_piece(
    relation: Relation, sample: Sample, labels: Counts, target: ScanTarget, owners: Owners
) -> RowCount:
    """Return the rows of a piece with the counts of all pieces.

    A row without an explanation gets the slot of any missing explanation: none of these holds for a row.
    """
    slot = _find_slots(relation, sample.explanations, labels, target)
    if (slot < 0).any():
        slot[slot < 0] = target.explanations.missing[target.row].argmax()
    owned_explanation, reflexive = target.row[slot], np.zeros(len(slot), dtype=bool)
    for batch in bit_batches(relation, sample, target.explanations):
        mark_reflexive(reflexive, batch, owned_explanation)
    return RowCount(
        relation=relation,
        sample=sample,
        labels=labels,
        n_labels=target.n_labels,
        agreement=target.agreement,
        owned=owned_explanation,
        reflexive=reflexive,
        explanations=target.explanations,
        owners=owners,
        place=owners.find_entries(
            owned_explanation, target.label[slot], reflexive.astype(np.int64), target.n_labels
        ),
    )
