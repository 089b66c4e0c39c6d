"""Which clusters an explanation holds for, and how much of them: block by block of explanations."""

from collections.abc import Iterator, Sequence
from functools import cached_property
from typing import Any

import attrs
import numpy as np
from numpy.typing import NDArray

from faithkit.measure.agreement.base import Agreement, Sums
from faithkit.measure.agreement.same_label import SAME_LABEL
from faithkit.measure.bitsets import Bits, pack_bits, unpack_bits
from faithkit.measure.blocks import ranges, spans
from faithkit.measure.explanations import Explanations, Sample
from faithkit.measure.relations import Relation, holds_bits
from faithkit.measure.slots import Counts
from faithkit.measure.tally import RowCount
from faithkit.measure.unequal.design import Design, summed

PAIRS = 2**22  # of explanation and instance that are looked at together


@attrs.frozen(eq=False)
class Cells:
    """A cell is an explanation with a cluster for some of whose rows it holds, and has parts by label.

    Attributes
    ----------
    start, stop : int
        The explanations of this block.
    codes, size : (c,) int
        Each cell's code, explanation × clusters + cluster, in order; and the weight of those rows.
    part_codes, part_size : (p,) int
        The same for each label: the codes are the cell's place × labels + label.
    """

    start: int
    stop: int
    n_units: int
    n_labels: int
    codes: Counts
    size: Counts
    part_codes: Counts
    part_size: Counts

    @classmethod
    def of(
        cls, span: tuple[int, int], pairs: tuple[Counts, Counts], design: Design, labels: Counts, k: int
    ) -> "Cells":
        """Add up the pairs of explanation and instance of a block."""
        explanation, instance = pairs
        codes, cell = np.unique(explanation * design.n_units + design.unit[instance], return_inverse=True)
        size = summed(cell, design.steps[instance], len(codes))
        part_codes, part = np.unique(cell * k + labels[instance], return_inverse=True)
        part_size = summed(part, design.steps[instance], len(part_codes))
        return cls(*span, design.n_units, k, codes, size, part_codes, part_size)

    @cached_property
    def explanation(self) -> Counts:
        """The explanation of each cell."""
        return self.codes // self.n_units

    @cached_property
    def unit(self) -> Counts:
        """The cluster of each cell."""
        return self.codes % self.n_units

    def totals(self) -> Counts:
        """Return the weight of the rows for which each explanation of the block holds."""
        return summed(self.explanation - self.start, self.size, self.stop - self.start)

    def by_label(self) -> tuple[Counts, Counts]:
        """Return the same by label: codes, explanation × labels + label, and sizes."""
        cell, label = np.divmod(self.part_codes, self.n_labels)
        codes, place = np.unique(self.explanation[cell] * self.n_labels + label, return_inverse=True)
        return codes, summed(place, self.part_size, len(codes))

    def places(self, explanation: Counts, unit: Counts) -> Counts:
        """Return which cell some explanations and clusters have, −1 where they have none."""
        return found(self.codes, explanation * self.n_units + unit)

    def agreeing(self, cell: Counts, label: Counts, agreement: Agreement) -> NDArray[Any]:
        """Return what some cells have that agrees with a label each; 0 where a cell is −1."""
        wanted = np.where(cell < 0, -1, cell * self.n_labels + label)
        return agreeing(agreement, self.part_codes, self.part_size, wanted, self.n_labels)

    def parts_of(self, cell: Counts) -> Counts:
        """Return the places of all parts that some cells have."""
        first, last = np.searchsorted(self.part_codes, np.stack([cell, cell + 1]) * self.n_labels)
        return ranges(first, last - first)


def found(known: Counts, wanted: Counts) -> Counts:
    """Return where each code stands among known ones, −1 where it does not."""
    if not len(known):
        return np.full(len(wanted), -1)
    place = np.searchsorted(known, wanted).clip(max=len(known) - 1)
    return np.where(known[place] == wanted, place, -1)


def sizes(known: Counts, size: Counts, wanted: Counts) -> Counts:
    """Return the size that belongs to each code, 0 for one that is not known."""
    place = found(known, wanted)
    return np.where(place < 0, 0, size[place]) if len(known) else np.zeros(len(wanted), dtype=np.int64)


def agreeing(agreement: Sums, known: Counts, size: Counts, wanted: Counts, k: int) -> NDArray[Any]:
    """Return, for codes that are rows × labels + label, what the sizes of their row add up to that agree.

    Nothing is known of a code below 0, and nothing agrees with it.

    Examples
    --------
    >>> agreeing(SAME_LABEL, np.array([0, 1, 3]), np.array([5, 7, 9]), np.array([1, 2, -1]), k=2)
    array([7, 0, 0])
    """
    if agreement is SAME_LABEL:
        return sizes(known, size, wanted)
    codes, place = np.unique(np.concatenate([known, wanted.clip(min=0)]), return_inverse=True)
    weight = np.zeros(len(codes), dtype=np.int64)
    weight[place[: len(known)]] = size
    row, label = np.divmod(codes, k)
    found = agreement.over_slots(np.unique(row, return_inverse=True)[1], label, weight)
    return np.where(wanted < 0, 0, found[place[len(known) :]])


def cells_by_block(counted: RowCount, design: Design) -> Iterator[Cells]:
    """Yield, block by block, how much of each cluster every explanation holds for."""
    rows = design, counted.labels, counted.n_labels
    if counted.relation.groups:
        held = np.flatnonzero(~counted.sample.explanations.missing)
        yield Cells.of((0, len(counted.explanations)), (counted.owned[held], held), *rows)
        return
    n = len(counted.labels)
    for start, _, bits in counted.blocks():
        for first, last in spans(len(bits), max(1, PAIRS // n)):
            explanation, instance = np.nonzero(unpack_bits(bits[first:last], n))
            span = start + first, start + last
            yield Cells.of(span, (explanation + span[0], instance), *rows)
        del bits  # before the next block is made


def joint_blocks(
    relation: Relation, samples: Sequence[Sample], explanations: Explanations
) -> Iterator[tuple[int, int, Bits]]:
    """Yield a relation's matrix over several samples side by side, in blocks of explanations, as bits."""
    n = sum(map(len, samples))
    for start, stop in spans(len(explanations), max(1, PAIRS // max(1, n))):
        some = explanations.take(slice(start, stop))
        held = [unpack_bits(holds_bits(relation, sample, some), len(sample)) for sample in samples]
        yield start, stop, pack_bits(np.concatenate(held, axis=1))
