"""The cells of a relation that groups: those of rows that share an explanation."""

from functools import cached_property
from itertools import pairwise

import attrs
import numpy as np
from numpy.typing import NDArray

from faithkit.arrays import Floats, Ints, is_broadcast, sum_by
from faithkit.arrays.batches import stream
from faithkit.measure.agreement.base import Agreement, agreeing_weights
from faithkit.measure.agreement.same_label import SAME_LABEL
from faithkit.measure.counting.cells import Cells, mark_run_starts
from faithkit.measure.counting.owners import Owners, broadcast_ones, sort_runs
from faithkit.measure.counting.pair_ratio import CellSizes, Losses, PairRatio, SizeSums, Sums
from faithkit.measure.counting.parts import Parts

BATCH_CELLS = 2**14  # they fit in the cache


@attrs.frozen(eq=False, slots=False)
class Groups:
    """The cells of all explanations, in memory.

    Attributes
    ----------
    cells : Cells
    step : float
        The weight of one step of the cells.
    n_explanations, n_units : int
    """

    cells: Cells
    step: float
    n_explanations: int
    n_units: int

    @classmethod
    def of_owners(cls, owners: Owners) -> "Groups":
        """Return the cells of equal rows; those that share explanation and label are one, several times."""
        explanation, ones = owners.explanation, broadcast_ones(len(owners))
        outside = broadcast_ones(len(owners)) - 1 if is_broadcast(owners.own) else 1 - owners.own
        columns = explanation, np.arange(len(owners)), owners.label, owners.own, ones, outside, ones
        cells = Cells(*columns, times=owners.rows)
        if (np.diff(explanation) < 0).any():  # numbers of a log that hardly repeat
            cells = cells.take(sort_runs(explanation)[0])
        return cls(cells, 1.0, len(owners.totals), len(owners))

    @cached_property
    def cell_range(self) -> tuple[int, int]:
        """The weights of the smallest and the largest cell that holds something."""
        return (1, 1) if self.cells.times is not None else self.cells.weight_range

    @cached_property
    def _units_of_explanation(self) -> Ints:
        """The number of units for which each explanation holds."""
        cells, n = self.cells, self.n_explanations
        if cells.times is not None:
            return sum_by(cells.explanation, cells.held * cells.times, n)
        first = cells.first[cells.cell_weights[0] > 0]
        return np.bincount(cells.explanation[first], minlength=n)

    def lone_cells(self) -> tuple[Cells, NDArray[np.bool_]]:
        """Return the cells of explanations that only one unit has, and which explanations these are."""
        is_lone = self._units_of_explanation == 1
        return self.cells.take(is_lone[self.cells.explanation] & (self.cells.held > 0)), is_lone

    def label_counts(self, explanations: Ints, by_weight: bool = False) -> Ints:
        """Refuse: `Count` reads the labels of groups from their owners."""
        raise NotImplementedError

    def sizes(self, label: int | None = None) -> CellSizes:
        """Return how unequal the cells are that owners, or a label's owners, are compared with."""
        sums = SizeSums(self.n_units)
        for span in find_spans(self.cells.explanation):
            sums.add(Parts.of(self.cells.take(span), self.step, label))
        return sums.sizes

    @cached_property
    def _shared_cells(self) -> Cells:
        """The cells of explanations that several units have: the others have no pairs."""
        is_shared = (self._units_of_explanation > 1)[self.cells.explanation]
        return self.cells if is_shared.all() else self.cells.take(is_shared)

    def pair_sums(self, ratio: PairRatio, label: int | None = None, shares: Floats | None = None) -> Sums:
        """Sum over the pairs of all owners, or of a label's owners; groups have no shares."""
        cells = self._shared_cells

        def sum_span(span: slice) -> list[Losses]:
            return ratio.losses(Parts.of(cells.take(span), self.step, label))

        all_spans = find_spans(cells.explanation)
        return ratio.sum_losses(
            map(sum_span, all_spans) if len(all_spans) < 2 else stream(sum_span, all_spans)
        )


def find_spans(explanation: Ints, size: int = BATCH_CELLS) -> list[slice]:
    """Return batches of about `size` consecutive entries; those of one explanation are in one batch.

    Examples
    --------
    >>> find_spans(np.array([0, 0, 0, 1, 1, 2]), size=4)
    [slice(0, 3, None), slice(3, 6, None)]
    """
    starts = np.append(np.flatnonzero(mark_run_starts(explanation)), len(explanation))
    stops = [0]
    while stops[-1] < len(explanation):
        position = int(np.searchsorted(starts, stops[-1] + size, side="right")) - 1
        following = int(np.searchsorted(starts, stops[-1], side="right"))
        stops.append(int(starts[max(position, following)]))
    return [slice(*span) for span in pairwise(stops)]


def grouped_owners(
    explanation: Ints,
    label: Ints | None,
    rows: Ints,
    holds: NDArray[np.bool_],
    agreement: Agreement = SAME_LABEL,
) -> Owners:
    """Return the owners of a grouping relation: an explanation holds for its owners unless it is missing."""
    own = broadcast_ones(len(rows)) if holds.all() else holds[explanation].astype(np.int64)
    holding_rows = rows if holds.all() else rows * own
    totals = sum_by(explanation, holding_rows, len(holds))
    # numbers that do not repeat have one row per entry: a view takes no memory
    if not is_broadcast(rows) and (rows == 1).all():
        rows = broadcast_ones(len(rows))
    alike = agreement.sum_over_slots(explanation, label, holding_rows, totals)
    return Owners(explanation, label, rows, alike, totals, own, own_agreeing=own)


def count_owners(cells: Cells, agreement: Agreement, n_explanations: int) -> tuple[Owners, Ints]:
    """Return the owners of a grouping relation, and the unit of each entry.

    An entry is what one unit owns of one explanation and label.
    """
    explanation, label, held = cells.explanation, cells.label, cells.held
    totals = sum_by(explanation, held, n_explanations)
    alike = agreeing_weights(agreement, explanation, label, held)
    own_agreeing = agreement.sum_over_slots(cells.cell, label, held)
    own = cells.cell_weights[0][cells.cell]
    columns = explanation, label, cells.n_owners, alike, totals, own, own_agreeing
    return Owners(*columns, steps=cells.owned), cells.unit
