"""What every kind of agreement can be asked."""

from collections.abc import Iterator
from typing import Any, Protocol

import attrs
import numpy as np
from numpy.typing import NDArray

from faithkit.arrays import Floats, sum_by
from faithkit.arrays.bitsets import Bits
from faithkit.measure.counting.owners import Counts, Owners

Blocks = Iterator[tuple[int, int, Bits]]
"""A relation's matrix in parts: the first explanation of each, the one behind its last, and packed bits."""


@attrs.frozen(eq=False)
class Influence:
    """What owners gain or lose when an instance is left out that their explanation holds for.

    They gain `gain` − `loss` × agreement with that instance. `lone[u]` owners of u have no others then.
    """

    owners: Owners
    gain: Floats  # (c,)
    loss: Floats  # (c,)
    lone: Floats  # (m,)


class ScopePredictions(Protocol):
    """Instances and their labels, for which a relation's matrix says which explanations hold."""

    def sums(self, bits: Bits, row: Counts, label: Counts) -> NDArray[Any]:
        """Return what adds up over pieces of instances, for each slot or for each row of bits.

        `row` and `label` are the slots of these rows, in order.
        """

    def lost(self, blocks: Blocks, influence: Influence) -> tuple[Floats, Floats]:
        """Add up, for every instance, what owners of explanations that hold for it gain and lose by it."""


class Sums(Protocol):
    """What can be added up over slots."""

    def over_slots(
        self, row: Counts, label: Counts | None, weight: NDArray[Any], by_row: NDArray[Any] | None = None
    ) -> NDArray[Any]:
        """Return, for each slot, Σ weight × agreement over the slots of its row.

        Slots are in order of row and label; each pair occurs once. A label of None: each slot has its own.
        `by_row` is what the slots of each row weigh together, where that is known.
        """


class Agreement(Sums, Protocol):
    """How far two predictions agree: 1 if they are the same, and less the further they are apart."""

    @property
    def most(self) -> float:
        """The largest disagreement that two predictions can have."""

    @property
    def is_whole(self) -> bool:
        """Whether two predictions agree or do not, so that those that agree can be counted."""

    @property
    def is_convex(self) -> bool:
        """Whether explanations together agree no more than apart: then merging bounds the measure."""

    @property
    def is_divided(self) -> bool:
        """Whether disagreement is a part of what a constant explanation leaves."""

    @property
    def is_bounded(self) -> bool:
        """Whether two predictions cannot disagree by more than `most`, in this sample or in any other."""

    def counts(self, sums: NDArray[Any], totals: Counts, row: Counts, label: Counts) -> NDArray[Any]:
        """Return, for each slot, the same over the instances of which `ScopePredictions.sums` were taken."""

    def held(self, labels: Counts, n_labels: int) -> ScopePredictions:
        """Look at instances with these labels, of so many."""

    def taken(self, labels: Counts) -> "Agreement":
        """Return the agreement of some labels, numbered anew in this order."""

    def apart(self, label: int | Counts, labels: Counts) -> Floats:
        """Return how far each of some labels disagrees with one, or with one each; 0: they agree wholly."""

    def lost(self, label: Counts, in_pool: bool = False) -> Floats | None:
        """Return the part of the divisor that goes with an instance of each label; None: there is no divisor.

        The instances are of the sample, or of its pool.
        """


def toward(agreement: Sums, by_label: Counts) -> NDArray[Any]:
    """Return, for every label, how far some instances agree with it; `by_label` is how many have which.

    Examples
    --------
    >>> from faithkit.measure.agreement.same_label import SAME_LABEL
    >>> toward(SAME_LABEL, np.array([2, 0, 1]))
    array([2, 0, 1])
    """
    label = np.arange(len(by_label))
    return agreement.over_slots(np.zeros_like(label), label, by_label)


def chance(label_counts: NDArray[np.int64], agreement: Sums) -> float | None:
    """Return the probability that two instances agree by chance: what a constant explainer gets.

    Examples
    --------
    >>> from faithkit.measure.agreement.same_label import SAME_LABEL
    >>> chance(np.array([2, 2]), SAME_LABEL)
    0.3333333333333333
    """
    n = int(label_counts.sum())
    if n < 2:
        return None
    agreeing = toward(agreement, label_counts) - 1
    if agreeing.dtype.kind == "f":
        return float((label_counts * agreeing).sum()) / (n * (n - 1))
    pairs = sum(c * a for c, a in zip(label_counts.tolist(), agreeing.tolist(), strict=True))
    return pairs / (n * (n - 1))


class Always:
    """Everything agrees: what is found with it is the most that could be found.

    Examples
    --------
    >>> Always().over_slots(np.array([0, 0, 1]), np.array([0, 1, 1]), np.array([2, 1, 4]))
    array([3, 3, 4])
    """

    def over_slots(
        self, row: Counts, label: Counts | None, weight: Counts, by_row: Counts | None = None
    ) -> Counts:
        """Return the weight of each slot's row."""
        return sum_by(row, weight)[row]
