"""What every kind of agreement can be asked."""

from collections.abc import Iterator
from typing import Any, Protocol

import attrs
import numpy as np
from numpy.typing import NDArray

from faithkit.measure.bitsets import Bits
from faithkit.measure.slots import Counts, Slots
from faithkit.measure.sums import Floats, Ints

Blocks = Iterator[tuple[int, int, Bits]]
"""A relation's matrix in parts: the first explanation of each, the one behind its last, and packed bits."""


@attrs.frozen(eq=False)
class Influence:
    """What each slot's owners gain or lose when an instance is left out that their explanation holds for.

    They gain `gain` − `loss` × agreement with that instance. `lone[u]` owners of u have no others then.
    """

    slots: Slots
    gain: Floats  # (2, c)
    loss: Floats  # (2, c)
    lone: Ints  # (m,)


class Held(Protocol):
    """Instances and their labels, for which a relation's matrix says which explanations hold."""

    def sums(self, bits: Bits, row: Counts, label: Counts) -> Ints:
        """Return what adds up over pieces of instances, for each slot or for each row of bits.

        `row` and `label` are the slots of these rows, in order.
        """

    def lost(self, blocks: Blocks, influence: Influence) -> tuple[Floats, Ints]:
        """Add up, for every instance, what owners of explanations that hold for it gain and lose by it."""


class Agreement(Protocol):
    """How far two predictions agree: 1 if they are the same, and less the further they are apart.

    Attributes
    ----------
    most : float
        The largest disagreement that two predictions can have.
    is_whole : bool
        Whether two predictions agree or do not, so that those that agree can be counted.
    is_divided : bool
        Whether disagreement is a part of what a constant explanation leaves.
    """

    most: float
    is_whole: bool
    is_divided: bool

    def over_slots(self, row: Counts, label: Counts, weight: NDArray[Any]) -> NDArray[Any]:
        """Return, for each slot, Σ weight × agreement over the slots of its row.

        Slots are in order of row and label; each pair occurs once.
        """

    def counts(self, sums: Ints, totals: Counts, row: Counts, label: Counts) -> NDArray[Any]:
        """Return, for each slot, the same over the instances of which `Held.sums` were taken."""

    def held(self, labels: Counts, n_labels: int) -> Held:
        """Look at instances with these labels, of so many."""

    def taken(self, labels: Counts) -> "Agreement":
        """Return the agreement of some labels, numbered anew in this order."""

    def left(self, label: Counts, n: int) -> Floats | None:
        """Return the part of the divisor that is left without an instance of each label; None: all of it."""


def agreeing_in_blocks(
    agreement: Agreement, block: Counts, label: Counts, weight: Counts | None = None
) -> NDArray[Any]:
    """Return, for each of some rows, Σ agreement over the rows of its block, itself among them.

    Unlike slots, rows come in any order, and several may have one label and one block.

    Examples
    --------
    >>> from faithkit.measure.agreement.same_label import SAME_LABEL
    >>> agreeing_in_blocks(SAME_LABEL, np.array([0, 0, 1]), np.array([1, 1, 1]))
    array([2, 2, 1])
    """
    size = int(label.max(initial=-1)) + 1
    codes, place = np.unique(block * size + label, return_inverse=True)
    times = np.zeros(len(codes), dtype=np.int64)
    np.add.at(times, place, 1 if weight is None else weight)
    return agreement.over_slots(*np.divmod(codes, max(1, size)), times)[place]
