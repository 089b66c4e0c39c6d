"""Which clusters an explanation holds for, and how much of them: block by block of explanations."""

from collections.abc import Iterator

import attrs
import numpy as np

from faithkit.measure.asking import bit_blocks
from faithkit.measure.bitsets import unpack_bits
from faithkit.measure.blocks import spans
from faithkit.measure.explanations import Explanations, Sample
from faithkit.measure.relations import Relation
from faithkit.measure.slots import Counts
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
        The same for each label: the codes are cell code × labels + label.
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
        codes = (explanation * design.n_units + design.unit[instance]) * k + labels[instance]
        part_codes, place = np.unique(codes, return_inverse=True)
        part_size = summed(place, design.steps[instance], len(part_codes))
        cells, place = np.unique(part_codes // k, return_inverse=True)
        size = summed(place, part_size, len(cells))
        return cls(*span, design.n_units, k, cells, size, part_codes, part_size)

    @property
    def explanation(self) -> Counts:
        """The explanation of each cell."""
        return self.codes // self.n_units

    @property
    def unit(self) -> Counts:
        """The cluster of each cell."""
        return self.codes % self.n_units

    def totals(self) -> Counts:
        """Return the weight of the rows for which each explanation of the block holds."""
        return summed(self.explanation - self.start, self.size, self.stop - self.start)

    def by_label(self) -> tuple[Counts, Counts]:
        """Return the same by label: codes, explanation × labels + label, and sizes."""
        label, cell = self.part_codes % self.n_labels, self.part_codes // self.n_labels
        codes, place = np.unique(cell // self.n_units * self.n_labels + label, return_inverse=True)
        return codes, summed(place, self.part_size, len(codes))

    def places(self, explanation: Counts, unit: Counts) -> Counts:
        """Return which cell some explanations and clusters have, −1 where they have none."""
        return found(self.codes, explanation * self.n_units + unit)

    def parts(self, cell: Counts, label: Counts) -> Counts:
        """Return the size of a label's part of some cells; 0 where a cell is −1 or has no such part."""
        wanted = np.where(cell < 0, -1, self.codes[cell] * self.n_labels + label) if len(self.codes) else cell
        return sizes(self.part_codes, self.part_size, wanted)

    def parts_of(self, cell: Counts) -> Counts:
        """Return the places of all parts that some cells have."""
        first, last = (
            np.searchsorted(self.part_codes, (self.codes[cell] + one) * self.n_labels) for one in (0, 1)
        )
        times = last - first
        offset = np.arange(int(times.sum())) - np.repeat(np.cumsum(times) - times, times)
        return np.repeat(first, times) + offset


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


def cells_by_block(
    relation: Relation,
    sample: Sample,
    explanations: Explanations,
    owned: Counts,
    rows: tuple[Design, Counts, int],
) -> Iterator[Cells]:
    """Yield the cells of blocks of explanations; `rows` are the design, the labels and their number."""
    if relation.groups:
        held = np.flatnonzero(~sample.explanations.missing)
        yield Cells.of((0, len(explanations)), (owned[held], held), *rows)
        return
    most = max(1, PAIRS // max(1, len(sample)))
    for start, _, bits in bit_blocks(relation, sample, explanations):
        for first, last in spans(len(bits), most):
            explanation, instance = np.nonzero(unpack_bits(bits[first:last], len(sample)))
            span = start + first, start + last
            yield Cells.of(span, (explanation + span[0], instance), *rows)
        del bits  # before the next block is made
