"""Rows that are alone in one block, where rows have weights or clusters.

A block counts w_i·w_j for rows of different clusters that agree, over the most that one of its rows has of
others. Over each row's own others it could exceed the measure; the theory page shows it. A row is alone
where only its own cluster has its explanation.
"""

import numpy as np

from faithkit.measure.estimators import ratio
from faithkit.measure.merging.merged import BLOCK, NOTHING, Merged
from faithkit.measure.spread import Spread
from faithkit.measure.sums import Floats, Grid, exact_sum, quotient
from faithkit.measure.unequal.agreeing_blocks import Blocks, Parts
from faithkit.measure.unequal.counting import UnequalCount
from faithkit.measure.unequal.design import summed
from faithkit.measure.unequal.joining import joined


def merged_unequal(counted: UnequalCount) -> tuple[Merged, Floats]:
    """Merge the rows that are alone into one block, and leave out one cluster at a time.

    Returns
    -------
    Merged
    (C,) float
        The pseudo-value of x for every cluster.

    Examples
    --------
    >>> from faithkit.measure.explanations import Explanations, Sample
    >>> from faithkit.measure.relations import SameExplanation
    >>> from faithkit.measure.unequal.counting import count_unequal
    >>> from faithkit.measure.unequal.design import Design
    >>> sample = Sample(None, Explanations.of(["a", "b", "c"]))
    >>> design = Design.of([1, 1, 2], None, n=3)
    >>> counted = count_unequal(SameExplanation(), sample, np.array([0, 0, 1]), 2, design)
    >>> round(merged_unequal(counted)[0].value, 4)  # (1·1 + 1·1) / (4 − 1) / 4
    0.1667
    """
    design = counted.design
    C, whole = design.n_units, float(design.steps.sum()) * design.step
    own = Parts.of(next(counted.cells()))
    single = own.units_of_block[own.block] == 1
    blocks = Blocks.of(own.merged(single), design.step)
    x, reach = (quotient(exact_sum(part), 1) / whole for part in (blocks.share, blocks.reach))
    grid = Grid.of(whole, 4)
    lost = summed(blocks.cells.unit, grid.whole(blocks.lost), C)
    unit, more = joined(own, blocks, design.step)
    np.add.at(lost, unit, grid.whole(more))
    left = x * whole - grid.floats(lost)
    psi = C * x - (C - 1) * ratio(left, whole - design.by_unit * design.step)
    how = BLOCK if blocks.alone.many else NOTHING
    return Merged(how, x, reach, Spread.of(psi, x).standard_error, design.effective / 2), psi
