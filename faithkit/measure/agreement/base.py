"""The protocols that every kind of agreement implements, and chance agreement."""

from collections.abc import Iterator
from typing import Any, Protocol

import attrs
import numpy as np
from numpy.typing import NDArray

from faithkit.arrays import Floats
from faithkit.arrays.bitsets import Bits
from faithkit.measure.counting.owners import Counts, Owners

Batches = Iterator[tuple[int, int, Bits]]
"""A relation's matrix in batches of explanations: start, stop and packed bits of each."""


@attrs.frozen(eq=False)
class Influence:
    """The change of owners' scores if one instance in the scope of their explanation is deleted.

    The score of an owner changes by `gain` − `loss` × agreement with that instance. `n_left_alone[u]` owners
    of u then have no other instances.
    """

    owners: Owners
    gain: Floats  # (c,)
    loss: Floats  # (c,)
    n_left_alone: Floats  # (m,)


class ScopePredictions(Protocol):
    """The predictions of instances, for sums over a relation's matrix."""

    def sums(self, bits: Bits, row: Counts, label: Counts) -> NDArray[Any]:
        """Return sums for each slot or for each row of bits; those of two pieces of instances add up.

        `row` and `label` are the slots of the rows of bits, sorted.
        """

    def sum_influence(self, batches: Batches, influence: Influence) -> tuple[Floats, Floats]:
        """Sum, for every instance, the score changes and the lone owners that its deletion causes."""


class Agreement(Protocol):
    """A measure of how far two predictions agree: 1 if they are equal, less the more they differ."""

    @property
    def max_disagreement(self) -> float:
        """The largest possible disagreement of two predictions."""

    @property
    def is_binary(self) -> bool:
        """Whether agreement is 0 or 1, so that agreeing predictions can be counted."""

    @property
    def is_convex(self) -> bool:
        """Whether merging explanations never increases agreement; it then bounds the measure from below."""

    @property
    def is_normalised(self) -> bool:
        """Whether disagreement is divided by the disagreement that a constant explanation leaves."""

    @property
    def is_bounded(self) -> bool:
        """Whether `max_disagreement` bounds the disagreement in every sample, and not only in this one."""

    def sum_over_slots(
        self, row: Counts, label: Counts | None, weight: NDArray[Any], by_row: NDArray[Any] | None = None
    ) -> NDArray[Any]:
        """Return, for each slot, Σ weight × agreement over the slots of its row.

        Slots are sorted by row and label; each pair occurs once. If `label` is None, slot c has the label c.
        `by_row` is the total weight of each row, if it is known.
        """

    def counts(self, sums: NDArray[Any], totals: Counts, row: Counts, label: Counts) -> NDArray[Any]:
        """Return the agreement of each slot with the instances in its scope, from `ScopePredictions.sums`."""

    def scope_predictions(self, labels: Counts, n_labels: int) -> ScopePredictions:
        """Return the predictions of instances with these labels, for sums over a relation's matrix."""

    def select_labels(self, labels: Counts) -> "Agreement":
        """Return the agreement of the selected labels, renumbered in this order."""

    def disagreement(self, label: int | Counts, labels: Counts) -> Floats:
        """Return the disagreement of `labels` with one label, or with one label each; 0 if they agree."""

    def divisor_left(self, label: Counts, in_pool: bool = False) -> Floats | None:
        """Return the share of the divisor that is left without an instance of each label; None if no divisor.

        The instance is one of the sample, or of the pool if `in_pool`.
        """


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


def chance(label_counts: Counts, agreement: Agreement, pool_counts: Counts | int = 0) -> float | None:
    """Return the mean agreement of a row with any other, which is the score of a constant explainer.

    `pool_counts` are the labels of rows that are only checked against.

    Examples
    --------
    >>> from faithkit.measure.agreement.same_label import SAME_LABEL
    >>> chance(np.array([2, 2]), SAME_LABEL)
    0.3333333333333333
    """
    all_counts = label_counts + pool_counts
    n_pairs = int(label_counts.sum()) * (int(all_counts.sum()) - 1)
    if not n_pairs:
        return None
    agreeing = agreement_by_label(agreement, all_counts) - 1
    if agreeing.dtype.kind == "f":
        return float((label_counts * agreeing).sum()) / n_pairs
    pairs = zip(label_counts.tolist(), agreeing.tolist(), strict=True)  # Python's integers do not overflow
    n_agreeing_pairs: int = sum(count * n_agreeing for count, n_agreeing in pairs)
    return n_agreeing_pairs / n_pairs
