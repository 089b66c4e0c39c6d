"""One explanation for all rows: what it gets is chance, and what it leaves of numbers is their unit."""

import attrs
import numpy as np

from faithkit.arrays import Floats, Ints
from faithkit.errors import InputError
from faithkit.measure.agreement.base import Agreement
from faithkit.measure.agreement.squares import NOTHING, Squares
from faithkit.measure.counting.cells import Cells
from faithkit.measure.counting.design import Design
from faithkit.measure.counting.pair_ratio import PairRatio, Sums
from faithkit.measure.counting.parts import Parts


@attrs.frozen(eq=False)
class Constant:
    """The cells of one explanation for all rows, or in blocks of one for all rows of each block.

    Everything that has a pair counts as checked.

    Attributes
    ----------
    cells : Cells
    step : float
        The weight of one step of the cells.
    ratio : PairRatio
    """

    cells: Cells
    step: float
    ratio: PairRatio

    @classmethod
    def of_equal_rows(cls, sizes: Ints, pool_sizes: Ints, agreement: Agreement) -> "Constant":
        """Build from the numbers of rows of each label, in the sample and in its pool.

        The unit of label y is 2y, and 2y + 1 in the pool.
        """
        times = np.column_stack([sizes, pool_sizes]).ravel()
        unit = np.flatnonzero(times)
        ones, zeros = np.ones_like(unit), np.zeros_like(unit)
        cells = Cells(zeros, unit, unit // 2, ones, 1 - unit % 2, zeros, ones, times[unit])
        return cls(cells, 1.0, PairRatio(agreement, len(times), is_mixed=False))

    @classmethod
    def of_rows(cls, design: Design, labels: Ints, n_explained: int, agreement: Agreement) -> "Constant":
        """Build from rows with a design, those of a pool last."""
        owned = np.where(np.arange(len(design)) < n_explained, design.steps, 0)
        block = np.zeros_like(owned) if design.block is None else design.block
        n_units = int(design.independent_unit.max()) + 1
        ratio = PairRatio(
            agreement,
            n_units,
            is_mixed=not design.uninformative,
            unit_of_explanation=None if design.block is None else np.arange(n_units),
        )
        return cls(Cells.of(block, design.unit, labels, design.steps, owned), design.step, ratio)

    def sums(self) -> Sums:
        """Return the sums over all pairs, and what they lose without each unit."""
        return self.ratio.sum_parts([Parts.of(self.cells, self.step)])

    def score(self, label: int | None = None, weight: Floats | None = None) -> float | None:
        """Return the score of the owners of one label, or of all; None if no two rows can be compared.

        `weight` replaces the weight of the owners of each block.
        """
        parts = Parts.of(self.cells, self.step, label)
        is_checked, level = self.ratio.levels(parts)
        owned = parts.by_part(parts.owned, owners=True) if weight is None else weight[parts.explanation]
        owned = owned * is_checked
        if not owned.any():
            return None
        return min(1.0, max(0.0, 1.0 - float((owned * level).sum() / owned.sum())))  # but for rounding


def rescale(agreement: Agreement, design: Design, labels: Ints, n_explained: int) -> tuple[Agreement, float]:
    """Return the agreement of numbers in units of what one explanation leaves, and that unit."""
    if design.is_equal or not isinstance(agreement, Squares) or not agreement.is_normalised:
        return agreement, 1.0
    sums = Constant.of_rows(design, labels, n_explained, agreement).sums()
    if sums.all_disagreement <= NOTHING * max(1.0, sums.all_compared):
        within = "" if design.block is None else "in every block "
        raise InputError(
            f"there is nothing to explain: {within}all predictions of rows with a weight are the same "
            "number, or of one cluster. For numbers, faithkit measures the share of variance explained, and "
            "they have none."
        )
    scale = sums.all_disagreement / sums.all_compared
    return agreement.rescale(scale), scale
