"""Standard errors for any relation: every delete-one jackknife value, exactly.

They come from the slots and one more pass over the relation's matrix (none for grouping); the theory page
derives each formula. All sums are exact on a common grid, so neither the order of rows nor blocks or pieces
change a bit of them.
"""

import math
from collections.abc import Callable
from typing import Any

import attrs
import numpy as np
from numpy.typing import NDArray

from faithkit.measure.bitsets import Bits, column_sums, get_bits
from faithkit.measure.estimators import ratio
from faithkit.measure.label_sets import LabelSets
from faithkit.measure.slots import SELF, Slots
from faithkit.measure.sums import Floats, Grid, Ints, exact_sum, quotient
from faithkit.measure.tally import RowCount


@attrs.frozen(eq=False)
class Pseudo:
    """Jackknife pseudo-values with their multiplicities, and the smallest number of trials to assume.

    Grouping has one value per s and slot, other relations one per instance. `few` is a function: it takes
    another pass, and most intervals do not depend on it.
    """

    value: Floats
    verified: Floats
    weight: Ints
    few: Callable[[], float]

    @property
    def disagreement(self) -> Floats:
        """Pseudo-values of Q, the verified disagreement."""
        return self.verified - self.value

    def spreads(self, value: float, verified: float) -> "tuple[Spread, Spread]":
        """Measure the pseudo-values of M and of Q, which lie around the M and the Q of all instances."""
        agreeing = Spread.of(self.value, value, self.weight)
        return agreeing, Spread.of(self.disagreement, verified - value, self.weight)


@attrs.frozen(eq=False)
class _Influence:
    """What each explanation's owners lose or gain when an instance it holds for is left out.

    The first two are in steps of the grid, to be added up exactly.
    """

    grid: Grid
    gain: Ints  # (m,): G[u]
    loss: Ints  # (c,): E[u, y]
    lone: Ints  # (m,): Z[u]


def _influence(slots: Slots, most: int) -> _Influence:
    """Compute it; `most` is how many of the terms are ever added up."""
    D, h, owners = slots.others, ratio(slots.agreeing, slots.others), slots.owners.astype(np.float64)
    gain = owners * np.where(D >= 2, ratio(h, D - 1.0), -h)
    loss = owners * ratio(np.ones_like(h), np.where(D >= 2, D - 1.0, 0.0))
    grid = Grid.of(max(np.abs(gain).max(initial=0.0), loss.max(initial=0.0)), 2 * most)
    return _Influence(
        grid,
        slots.by_explanation(grid.whole(gain)),
        grid.whole(loss).sum(axis=0),
        slots.by_explanation(slots.owners * (D == 1)),
    )


def _assemble(own: tuple[NDArray[Any], ...], sums: tuple[Floats, Ints]) -> tuple[Floats, Floats]:
    """Put pseudo-values of M and V together from an owner's own D, A, s and the sums over explanations."""
    D, A, s = own
    S, Z = sums
    h = ratio(A, D)
    term = np.where(D >= 2, ratio(h - 1.0, D - 1.0), -h)
    return h - S + s * term, ((D > 0) + Z - s * (D == 1)).astype(np.float64)


def pseudo_values(counted: RowCount) -> Pseudo:
    """Compute every delete-one jackknife pseudo-value of M and V.

    Examples
    --------
    >>> from faithkit.measure.explanations import Explanations, Sample
    >>> from faithkit.measure.relations import SameExplanation
    >>> from faithkit.measure.tally import count
    >>> sample = Sample(None, Explanations.of(["a", "a", "a"]))
    >>> pseudo_values(count(SameExplanation(), sample, np.array([0, 0, 1]), 2)).value.round(3)
    array([ 1., -1.])
    """
    slots = counted.slots
    if counted.relation.groups:
        return grouped_pseudo_values(slots)
    influence = _influence(slots, 2 * len(slots))
    s, place = counted.reflexive.astype(np.int64), counted.place
    D, A = slots.totals[slots.row[place]] - s, slots.counts[place] - s
    S, Z = _sums_over_explanations(counted, influence)
    value, verified = _assemble((D, A, s), (influence.grid.floats(S), Z))
    once = np.ones(len(s), dtype=np.int64)
    return Pseudo(value, verified, once, lambda: slots.n / (1.0 + largest_share(counted)))


def grouped_pseudo_values(slots: Slots) -> Pseudo:
    """Compute the same for grouping, from the slots alone: one value for each s and slot."""
    most = np.bincount(slots.row).max(initial=1)  # slots of one explanation, each with both s
    influence = _influence(slots, 2 * int(most))
    S = influence.grid.floats(influence.gain[slots.row] - influence.loss)
    sums = SELF * S, SELF * influence.lone[slots.row]  # a missing explanation holds for nothing
    value, verified = _assemble((slots.others, slots.agreeing, SELF), sums)
    used = slots.owners > 0
    return Pseudo(value[used], verified[used], slots.owners[used], lambda: slots.n / 2)


def _sums_over_explanations(counted: RowCount, influence: _Influence) -> tuple[Ints, Ints]:
    """Sum G − E, in steps of the grid, and Z over the explanations that hold for each instance."""
    sets, slots = counted.sets, counted.slots
    sums = np.zeros((len(counted.labels), 2 if influence.lone.any() else 1), dtype=np.int64)
    groups = sets.rank[counted.labels]
    for start, stop, bits in counted.blocks():
        mine = slots.span(start, stop)
        where = slots.row[mine] - start, slots.label[mine]
        weights = np.empty((stop - start, len(sets.common) + (not sets.all_common), sums.shape[1]), np.int64)
        weights[:, :, 0] = influence.gain[start:stop, None]
        weights[:, :, 1:] = influence.lone[start:stop, None, None]  # seldom anything but 0
        common = np.flatnonzero(sets.rank[where[1]] < len(sets.common))
        weights[where[0][common], sets.rank[where[1][common]], 0] -= influence.loss[mine][common]
        sums += column_sums(bits, weights, groups)
        _subtract_rare(sums[:, 0], bits, sets, where, influence.loss[mine])
        del bits  # before the next block is made
    return sums[:, 0], sums[:, 1] if sums.shape[1] > 1 else np.zeros_like(sums[:, 0])


def _subtract_rare(sums: Ints, bits: Bits, sets: LabelSets, where: tuple[Ints, Ints], loss: Ints) -> None:
    """Subtract, in place, what rare labels have lost from the instances that have them."""
    row, label = where
    for slot, instance in sets.pairs(label):
        held = get_bits(bits, row[slot], instance)
        np.subtract.at(sums, instance[held], loss[slot[held]])


def largest_share(counted: RowCount) -> float:
    """Return the largest w of an instance: the shares that it has in the values of others, added up."""
    slots, s = counted.slots, counted.reflexive
    share = slots.owners * ratio(np.ones(slots.owners.shape), slots.others)
    grid = Grid.of(share.max(initial=0.0), 2 * len(slots))
    weights = slots.by_explanation(grid.whole(share))
    own = s * ratio(np.ones(len(s)), slots.totals[slots.row[counted.place]] - s)
    return float((grid.floats(counted.sums(weights)) - own).max(initial=0.0))


def per_row(counted: RowCount, pseudo: Pseudo) -> tuple[Floats, Floats]:
    """Return the pseudo-values of M and Q for every instance, in the sample's order."""
    if not counted.relation.groups:
        return pseudo.value, pseudo.disagreement
    used = counted.slots.owners > 0
    index = np.cumsum(used).reshape(used.shape) - 1
    rows = index[counted.reflexive.astype(np.int64), counted.place]
    return pseudo.value[rows], pseudo.disagreement[rows]


@attrs.frozen
class Spread:
    """How many numbers there are, their sum and that of their squares, exactly, and their range.

    Numbers are taken as their distances from a `centre` that lies near their mean: no digits are lost then.

    Examples
    --------
    >>> both = Spread.of(np.array([0.0, 0.0]), 0.5) + Spread.of(np.array([1.0, 1.0]), 0.5)
    >>> round(both.standard_error, 4)
    0.2887
    >>> Spread.of(np.array([1.0]), 0.5, np.array([4])).standard_error is None
    True
    """

    n: int
    total: int
    squares: int
    low: float
    high: float

    @classmethod
    def of(cls, values: Floats, centre: float, weight: Ints | None = None) -> "Spread":
        """Measure some numbers, each of which may occur several times."""
        apart = values - centre
        times = np.ones(len(values), dtype=np.int64) if weight is None else weight
        return cls(
            int(times.sum()),
            exact_sum(times * apart),
            exact_sum(times * apart**2),
            float(values.min(initial=math.inf)),
            float(values.max(initial=-math.inf)),
        )

    def __add__(self, other: "Spread") -> "Spread":
        return Spread(
            self.n + other.n,
            self.total + other.total,
            self.squares + other.squares,
            min(self.low, other.low),
            max(self.high, other.high),
        )

    @property
    def standard_error(self) -> float | None:
        """The standard error of the mean; None where the numbers do not vary."""
        if self.n < 2 or self.high - self.low <= 1e-12:
            return None
        mean = quotient(self.total, self.n)
        variance = (quotient(self.squares, self.n) - mean * mean) * self.n / (self.n - 1)
        return math.sqrt(max(0.0, variance) / self.n)
