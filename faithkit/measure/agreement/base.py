"""The base of every kind of agreement, and chance agreement."""

from typing import Any, Protocol

import attrs
import numpy as np
from numpy.typing import NDArray

from faithkit.arrays import Floats, sum_by
from faithkit.arrays.bitsets import Bits
from faithkit.measure.counting.owners import Counts, index_codes

Batch = tuple[int, int, Bits]
"""Some explanations of a relation's matrix: start, stop and packed bits."""


@attrs.frozen(eq=False)
class HeldLosses:
    """What is lost without an instance, for each explanation that holds for it.

    Without an instance, explanation u loses `lost[u]` less Σ `agreeing` × agreement with that instance over
    its entries, and of further sums `further[u]`. Entries are sorted by explanation.
    """

    explanation: Counts  # (c,)
    label: Counts  # (c,)
    agreeing: Floats  # (c,)
    lost: Floats  # (m,)
    further: Floats  # (m, q)

    def span(self, start: int, stop: int) -> slice:
        """Return the slice of entries of the explanations from `start` to `stop`."""
        first, last = np.searchsorted(self.explanation, [start, stop])
        return slice(int(first), int(last))


class ScopePredictions(Protocol):
    """The predictions of instances, for sums over a relation's matrix."""

    def sums(self, bits: Bits, row: Counts, label: Counts) -> NDArray[Any]:
        """Return sums for each slot or for each row of bits; those of two pieces of instances add up.

        `row` and `label` are the slots of the rows of bits, sorted.
        """

    def sum_losses(self, batch: Batch, losses: HeldLosses) -> Floats:
        """Return what is lost without each instance: (n, 1 + q) sums over explanations that hold for it."""


class Agreement:
    """A measure of how far two predictions agree: 1 if they are equal, less the more they differ.

    Attributes
    ----------
    max_disagreement : float
        The largest possible disagreement of two predictions.
    is_binary : bool
        Whether agreement is 0 or 1, so that agreeing predictions can be counted.
    is_convex : bool
        Whether merging explanations never increases agreement; it then bounds the measure from below.
    is_normalised : bool
        Whether disagreement is divided by the disagreement that a constant explanation leaves.
    is_bounded : bool
        Whether `max_disagreement` bounds the disagreement in every sample, and not only in this one.
    """

    max_disagreement: float = 1.0
    is_binary: bool = True
    is_convex: bool = True
    is_normalised: bool = False
    is_bounded: bool = True

    def sum_over_slots(
        self, row: Counts, label: Counts | None, weight: NDArray[Any], by_row: NDArray[Any] | None = None
    ) -> NDArray[Any]:
        """Return, for each slot, Σ weight × agreement over the slots of its row.

        Slots are sorted by row and label; each pair occurs once. If `label` is None, slot c has the label c.
        `by_row` is the total weight of each row, if it is known.
        """
        raise NotImplementedError

    def counts(self, sums: NDArray[Any], totals: Counts, row: Counts, label: Counts) -> NDArray[Any]:
        """Return the agreement of each slot with the instances in its scope, from `ScopePredictions.sums`."""
        return sums

    def scope_predictions(self, labels: Counts, n_labels: int) -> ScopePredictions:
        """Return the predictions of instances with these labels, for sums over a relation's matrix."""
        raise NotImplementedError

    def select_labels(self, labels: Counts) -> "Agreement":
        """Return the agreement of the selected labels, renumbered in this order."""
        raise NotImplementedError

    def disagreement(self, label: int | Counts, labels: Counts) -> Floats:
        """Return the disagreement of `labels` with one label, or with one label each; 0 if they agree."""
        raise NotImplementedError


def agreement_by_label(agreement: Agreement, by_label: Counts) -> NDArray[Any]:
    """Return the total agreement with every label; `by_label` is the number of instances of each label.

    Examples
    --------
    >>> from faithkit.measure.agreement.same_label import SAME_LABEL
    >>> agreement_by_label(SAME_LABEL, np.array([2, 0, 1]))
    array([2, 0, 1])
    """
    label = np.arange(len(by_label))
    return agreement.sum_over_slots(np.zeros_like(label), label, by_label)


def agreeing_weights(
    agreement: Agreement, group: Counts, label: Counts, weight: NDArray[Any]
) -> NDArray[Any]:
    """Return, for each row, the weight of the rows of its group that agree with it, itself included.

    Examples
    --------
    >>> from faithkit.measure.agreement.same_label import SAME_LABEL
    >>> agreeing_weights(SAME_LABEL, np.array([0, 0, 1]), np.array([1, 1, 1]), np.array([2, 3, 4]))
    array([5, 5, 4])
    """
    k = int(label.max(initial=0)) + 1
    slots, _, slot = index_codes(group * k + label)
    slot_weight = sum_by(slot, weight, len(slots))
    return agreement.sum_over_slots(slots // k, slots % k, slot_weight)[slot]


def chance(label_counts: Counts, agreement: Agreement, all_counts: Counts | None = None) -> float | None:
    """Return the mean agreement of a row with any other, which is the score of a constant explainer.

    `all_counts` are the labels of all rows that are checked against, where these are more.

    Examples
    --------
    >>> from faithkit.measure.agreement.same_label import SAME_LABEL
    >>> chance(np.array([2, 2]), SAME_LABEL)
    0.3333333333333333
    """
    all_counts = label_counts if all_counts is None else all_counts
    n_pairs = int(label_counts.sum()) * (int(all_counts.sum()) - 1)
    if not n_pairs:
        return None
    agreeing = agreement_by_label(agreement, all_counts) - 1
    return float((label_counts * agreeing).sum()) / n_pairs
