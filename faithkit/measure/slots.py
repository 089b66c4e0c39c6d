"""The tally where it has owners: a list of slots, however many labels there are.

A slot is an explanation u with a label y that some of its owners have. A sample of n instances has at most n
slots, and each table of a `Tally` m × k entries. All that the kernel computes is a function of the slots and
of how many instances each explanation holds for; only estimators may ask for more.
"""

from functools import cached_property
from typing import Any

import attrs
import numpy as np
from numpy.typing import NDArray

from faithkit.measure.blocks import each_block
from faithkit.measure.sums import AT_ONCE, Floats, Grid

Counts = NDArray[np.int64]

SELF = np.array([[0], [1]])  # s, by which the owners of a slot differ


@attrs.frozen(eq=False)
class Slots:
    """The slots of a tally that have owners, in order of explanation and label.

    Those of numbers that hardly repeat may be in any order, and several may be of the same two: what each has
    is the same then. `Count.settled` has slots in order.

    Attributes
    ----------
    row, label : (c,) int
        Which explanation and which label each slot stands for. A label of None: each slot has its own.
    counts : (c,) int or float
        T: the instances for which that explanation holds that agree with that label; where predictions are
        numbers, how far they agree, added up.
    owners : (2, c) int
        The instances of that label which it explains, by s: 1 where it holds for the instance itself.
    totals : (m,) int
        N: the instances for which each explanation holds.
    own, own_agreeing : (2, c) int
        What is no *other* to an owner among these, and what of it has the owner's label: by default itself,
        where its explanation holds for it.
    rows : (c,) int, optional
        The number of owners, where weights count: then all else are sums of weights.
    owned : (2, m) int, optional
        The owners of each explanation, by s, where they are known already.

    Examples
    --------
    Three instances share one explanation, two of them with label 0:

    >>> from faithkit.measure.tally import Tally
    >>> slots = Tally(np.array([[2, 1]]), np.array([[[0, 0]], [[2, 1]]])).slots
    >>> slots.n, slots.others[1], slots.agreeing[1]
    (3, array([2, 2]), array([1, 0]))
    """

    row: Counts
    _label: Counts | None
    counts: NDArray[Any]
    owners: Counts
    totals: Counts
    own: Counts = SELF
    own_agreeing: Counts = SELF
    rows: Counts | None = None
    _owned: Counts | None = None

    def __len__(self) -> int:
        return len(self.row)

    @cached_property
    def label(self) -> Counts:
        """The label of each slot."""
        return self.labels(slice(None))

    def labels(self, some: slice) -> Counts:
        """Return the labels of some slots."""
        return np.arange(*some.indices(len(self))) if self._label is None else self._label[some]

    @cached_property
    def n(self) -> int:
        """The number of instances."""
        return self.weight if self.rows is None else int(self.rows.sum())

    @cached_property
    def weight(self) -> int:
        """What all instances count together."""
        return int(self.owners.sum())

    @property
    def times(self) -> Counts:
        """How much the owners of each slot count, over both s."""
        owners = self.compact.owners
        return owners[0] if len(owners) == 1 else owners.sum(axis=0)

    @cached_property
    def compact(self) -> "Slots":
        """The same without the owners of s = 0, where there are none: every explanation holds for its own."""
        if len(self.owners) == 1 or self.owners[0].any():
            return self
        own, agreeing = self.own[1:], self.own_agreeing[1:]
        owned = None if self._owned is None else self._owned[1:]
        return attrs.evolve(self, owners=self.owners[1:], own=own, own_agreeing=agreeing, owned=owned)

    @property
    def others(self) -> Counts:
        """D[s, c]: how many *other* instances an owner can be checked against."""
        return self.totals.take(self.row) - self.own

    @property
    def agreeing(self) -> NDArray[Any]:
        """A[s, c]: how many of those agree with the owner."""
        return self.counts - self.own_agreeing

    @cached_property
    def scores(self) -> Floats:
        """h[s, c]: the share of those that agree; 0 where there are no others."""
        found = np.empty(np.broadcast_shapes(self.counts.shape, self.own.shape))

        def divide(start: int, stop: int) -> None:
            part, scores = self.part(start, stop), found[:, start:stop]
            others = part.others
            np.subtract(part.counts, part.own_agreeing, out=scores)
            scores /= np.maximum(others, 1)
            if others.min() < 1:
                scores[np.broadcast_to(others < 1, scores.shape)] = 0.0

        each_block(divide, len(self), AT_ONCE)
        return found

    @property
    def checked(self) -> int:
        """What those owners count together that have others."""
        if self.own.shape[1] == 1:
            return int(self.owned[self.totals > self.own].sum())
        return int((self.owners * (self.others > 0)).sum())

    @cached_property
    def scored(self) -> Floats:
        """What the owners of each explanation score together, by s."""
        return self.added(self.scores)

    @cached_property
    def owned(self) -> Counts:
        """The owners of each explanation, by s."""
        return self._by_both(self.owners) if self._owned is None else self._owned

    @property
    def sizes(self) -> Counts:
        """The number of owners of each explanation."""
        return self.compact.owned.sum(axis=0) if self.rows is None else self.by_explanation(self.rows[None])

    def by_explanation(self, values: NDArray[Any]) -> NDArray[Any]:
        """Add up what the slots of each explanation have, over both s."""
        found: NDArray[Any] = self._by_both(values).sum(axis=0)
        return found

    def added(self, values: NDArray[Any]) -> NDArray[Any]:
        """Add up what each slot's owners have, by explanation and s: floats on a grid, so in any order."""
        if values.dtype.kind != "f":
            return self._by_both(self.owners * values)
        largest = max(values.max(initial=0.0), -values.min(initial=0.0))
        grid, size = Grid.of(largest, int(self.owned.max(initial=1))), len(self.totals)
        by_both = zip(np.broadcast_to(values, self.owners.shape), self.owners, strict=True)
        return np.stack([grid.sums(self.row, one, owners, size) for one, owners in by_both])

    def _by_both(self, values: NDArray[Any]) -> NDArray[Any]:
        sums = np.zeros((len(values), len(self.totals)), dtype=values.dtype)
        for total, one in zip(sums, values, strict=True):
            np.add.at(total, self.row, one)
        return sums

    def used(self, values: NDArray[Any]) -> NDArray[Any]:
        """Return what slots have, for each s that has owners there, one after the other."""
        every = np.broadcast_to(values, self.owners.shape)
        return every.reshape(-1) if self._is_used else every[self.owners > 0]  # a view, where it can be one

    @cached_property
    def _is_used(self) -> bool:
        """Whether every slot has owners, for each s."""
        return bool(self.owners.min(initial=1) > 0)

    def part(self, start: int, stop: int) -> "Slots":
        """Return some slots: what is known of each of them does not depend on the others."""
        both = self.own, self.own_agreeing
        own, agreeing = (one if one.shape[1] == 1 else one[:, start:stop] for one in both)
        return attrs.evolve(
            self,
            row=self.row[start:stop],
            label=self.labels(slice(start, stop)),
            counts=self.counts[start:stop],
            owners=self.owners[:, start:stop],
            own=own,
            own_agreeing=agreeing,
            rows=None if self.rows is None else self.rows[start:stop],
            owned=None,
        )

    def by_label(self) -> Counts:
        """Return the number of instances of each label that occurs."""
        sums = np.zeros(int(self.label.max(initial=-1)) + 1, dtype=np.int64)
        np.add.at(sums, self.label, self.times)
        return sums

    def span(self, start: int, stop: int) -> slice:
        """Return where the slots of some consecutive explanations stand."""
        first, last = np.searchsorted(self.row, [start, stop])
        return slice(int(first), int(last))


def by_slot(values: Floats, row: Counts) -> Floats:
    """Return what the explanation of each slot has: where all have the same, a view that takes no memory."""
    if len(values) and (values == values[0]).all():
        return np.broadcast_to(values[0], row.shape)
    return values.take(row)


def numbered(codes: Counts, size: int) -> tuple[Counts, Counts]:
    """Return the distinct ones of some codes below `size`, in order, and how often each occurs."""
    if size > 4 * len(codes):
        found: tuple[Counts, Counts] = np.unique(codes, return_counts=True)
        return found
    times = np.bincount(codes, minlength=size)
    occurring = np.flatnonzero(times)
    return occurring, times[occurring]


def placed(codes: Counts) -> tuple[Counts, Counts, Counts]:
    """Return the distinct ones of any codes, in order, how often each occurs, and where each code stands.

    Examples
    --------
    >>> placed(np.array([7, 5, 7]))
    (array([5, 7]), array([1, 2]), array([1, 0, 1]))
    """
    order, start = runs(codes)
    times = np.diff(start, append=len(codes))
    place = np.empty_like(order)
    place[order] = np.repeat(np.arange(len(start)), times)
    return codes[order[start]], times, place


def runs(codes: Counts) -> tuple[Counts, Counts]:
    """Return an order in which equal codes, from 0 on, follow each other, and where in it each code begins.

    It is that of the codes, and of equal ones the first comes first. NumPy counts numbers of 16 bits, which
    is faster than to compare them.

    Examples
    --------
    >>> runs(np.array([7, 5, 7]))
    (array([1, 0, 2]), array([0, 1]))
    """
    order = np.argsort(codes.astype(np.uint16), kind="stable")
    for shift in range(16, int(codes.max(initial=0)).bit_length(), 16):
        digits = (codes >> shift).astype(np.uint16)
        order = order[np.argsort(digits[order], kind="stable")]
    found = codes[order]
    is_new = np.ones(len(found), dtype=bool)
    np.not_equal(found[1:], found[:-1], out=is_new[1:])
    return order, np.flatnonzero(is_new)


def places(occurring: Counts, codes: Counts, size: int) -> Counts:
    """Return where each code stands among those that occur."""
    if size > 4 * len(codes):
        return np.searchsorted(occurring, codes)
    place = np.zeros(size, dtype=np.int64)
    place[occurring] = np.arange(len(occurring))
    return place[codes]
