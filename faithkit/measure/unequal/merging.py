"""Rows that are alone, put together where rows have weights or clusters.

A row is alone where only its own cluster has its explanation. Identities that form a 2-D array of numbers are
put into blocks of near ones (`near_blocks`); all others that are alone form one block. That one
counts w_i·w_j for rows of different clusters that agree, over the most that one of its rows has of others.
Over each row's own others it could exceed the measure; the theory page shows it.
"""

import math
from functools import cached_property

import attrs
import numpy as np

from faithkit.measure.containers import as_floats
from faithkit.measure.estimators import ratio
from faithkit.measure.explanations import by_name
from faithkit.measure.merging.merged import BLOCK, NOTHING, Merged
from faithkit.measure.merging.paired import can_be_near
from faithkit.measure.relations import key_of
from faithkit.measure.slots import Counts
from faithkit.measure.spread import Spread
from faithkit.measure.sums import Floats, Grid, exact_sum, quotient
from faithkit.measure.unequal.agreeing_blocks import Blocks, Parts
from faithkit.measure.unequal.counting import Divisor, UnequalCount
from faithkit.measure.unequal.design import summed
from faithkit.measure.unequal.joining import joined
from faithkit.measure.unequal.near_blocks import NearBlocks

ROUNDING = 1e-9


def merged_unequal(counted: UnequalCount) -> tuple[Merged, Floats]:
    """Merge the rows that are alone, and find what each cluster has to do with it.

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
    own = Parts.of(next(counted.cells()))
    alone = own.units_of_block[own.block] == 1
    near = _near(counted, own.some(alone))
    if near is not None:
        shared = own.some(~alone)
        in_order = shared.merged(np.zeros(len(shared.block), dtype=bool))  # of content, none of them moved
        return _in_near_blocks(_blocks(in_order, counted), near, counted)
    return _in_one_block(own, _blocks(own.merged(alone), counted), counted)


def _blocks(parts: Parts, counted: UnequalCount) -> Blocks:
    return Blocks.of(parts, counted.design.step, counted.agreement)


def _near(counted: UnequalCount, alone: Parts) -> NearBlocks | None:
    """Put explanations that are alone with near ones, seeing what the relation compares and nothing else."""
    identities = key_of(counted.relation, counted.explanations)
    known = np.unique(alone.block)
    if len(known) < 2 or not can_be_near(identities):
        return None
    vectors = as_floats(by_name(identities, counted.explanations)[known])
    return NearBlocks.of(alone, vectors, counted.design.step, counted.agreement)


def _in_one_block(own: Parts, blocks: Blocks, counted: UnequalCount) -> tuple[Merged, Floats]:
    """Leave out one cluster at a time: the other one of two that share an explanation joins the block."""
    design = counted.design
    C, whole, gone = design.n_units, design.whole, _unexplained(counted)
    x, reach = (quotient(exact_sum(part), 1) / whole for part in (blocks.share, blocks.reach))
    x += blocks.worst * float(gone.sum()) / whole
    grid = Grid.of(whole * max(1.0, counted.agreement.most), 4)
    lost = summed(blocks.cells.unit, grid.whole(blocks.lost), C)
    unit, more = joined(own, blocks)
    np.add.at(lost, unit, grid.whole(more))
    left = x * whole - grid.floats(lost) - blocks.worst * gone
    without = _divided(ratio(left, whole - design.by_unit * design.step), counted.divisor)
    psi = C * x - (C - 1) * without
    how = BLOCK if blocks.alone.many else NOTHING
    return _found(how, x, reach, psi, counted), psi


def _unexplained(counted: UnequalCount) -> Floats:
    """Return what each cluster has of rows without an explanation, in weights that average to 1."""
    rows, design = counted.sample.explanations.missing, counted.design
    return summed(design.unit[rows], design.steps[rows], design.n_units) * design.step


def _divided(without: Floats, by: Divisor | None) -> Floats:
    """Return x without each cluster, where what it is divided by changes, too."""
    return without if by is None else np.where(by.left > 0, 1.0 - ratio(1.0 - without, by.left), 0.0)


def _found(how: str, x: float, reach: float, psi: Floats, counted: UnequalCount) -> Merged:
    spread = Spread.of(psi, x)
    skew = 0.0 if counted.divisor is None else spread.skewness
    return Merged(how, x, reach, spread.standard_error, counted.design.effective / 2, skew)


def _in_near_blocks(groups: Blocks, near: NearBlocks, counted: UnequalCount) -> tuple[Merged, Floats]:
    """Take each block of near ones as a unit; where all agree, or none, nothing varies but what they lose."""
    design, worst = counted.design, groups.worst
    gone = worst * float(_unexplained(counted).sum())
    both = (groups.share, near.share), (groups.reach, near.comparable), (groups.reach, near.others)
    x, most, reach = (min(1.0, quotient(exact_sum(np.concatenate(one)), 1) / design.whole) for one in both)
    found = _Apart(groups, near, counted)
    if not worst:
        varies = ROUNDING < x < most - ROUNDING
    else:
        x += gone / design.whole
        varies = x < most + worst * (1.0 - most) - ROUNDING
    told = _found(near.how, x, reach, found.pseudo_values, counted)
    return attrs.evolve(told, se=found.standard_error if varies else None), found.pseudo_values


class _Apart:
    """How far clusters and near blocks lie from the mean, in weights that average to 1.

    Of a cluster, that is what leaving it out takes from the groups that it shares, and from what numbers are
    divided by; of a block, what it agrees in.
    """

    def __init__(self, groups: Blocks, near: NearBlocks, counted: UnequalCount) -> None:
        design, gone = counted.design, groups.worst * _unexplained(counted)
        self.near, self.design = near, design
        self.grid = Grid.of(design.whole * max(1.0, counted.agreement.most), 4)
        lost = self._by_unit(groups.cells.unit, groups.lost) + gone
        self.mean = quotient(exact_sum(lost) + exact_sum(near.share), 1) / design.whole
        elsewhere = design.by_unit - summed(near.unit, near.size, design.n_units)
        self.unit = lost - self.mean * (elsewhere * design.step)
        if counted.divisor is not None:
            self.unit += design.whole * (1.0 - self.mean) * (1.0 - counted.divisor.left)
        self.block = near.share - self.mean * (near.total * design.step)

    def _by_unit(self, unit: Counts, values: Floats) -> Floats:
        return self.grid.floats(summed(unit, self.grid.whole(values), self.design.n_units))

    @cached_property
    def pseudo_values(self) -> Floats:
        """One for each cluster, which has its part of its blocks."""
        near = self.near
        part = self.block[near.block] * (near.size / near.total[near.block])
        apart = self.unit + self._by_unit(near.unit, part)
        return self.mean + self.design.n_units / self.design.whole * apart

    @property
    def standard_error(self) -> float | None:
        """Of x: blocks are units, which vary together where they share a cluster; None if nothing varies.

        A cluster with all its blocks is a unit, too, so each block is counted once for each of its cells: all
        but one are taken back.
        """
        near = self.near
        outside = self.design.by_unit > 0
        outside[near.unit] = False
        units = int(outside.sum()) + len(self.block)
        if units < 2 or np.ptp(self.pseudo_values) <= 1e-12:
            return None
        together = self.unit + self._by_unit(near.unit, self.block[near.block])
        again = np.bincount(near.block, minlength=len(self.block)) - 1
        linked = exact_sum(together**2) - exact_sum(again * self.block**2)
        independent = exact_sum(self.unit**2) + exact_sum(self.block**2)
        variance = quotient(max(linked, independent), 1) / self.design.whole**2
        return math.sqrt(units / (units - 1) * variance)
