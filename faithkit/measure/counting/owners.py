"""Owners: rows by the explanation that they own, their label, and whom they can be checked against.

Every measure is a mean over them: D others, of which A agree.
"""

from functools import cached_property
from typing import Any

import attrs
import numpy as np
from numpy.typing import NDArray

from faithkit.arrays import AT_ONCE, Floats, Ints, is_view, sum_by
from faithkit.arrays.blocks import each_block, map_blocks

Counts = Ints

ROUNDING = 1e-12  # by which shares of weights may miss 1


@attrs.frozen(eq=False, slots=False)
class Owners:
    """Rows that own explanations; those that are alike in everything are one entry.

    Entries are in order of explanation and label. Those of numbers that hardly repeat may be in any order,
    and several may be of the same two; `Count.settled` has them in order.

    Attributes
    ----------
    explanation, label : (c,) int
        A label of None: each entry has its own.
    rows : (c,) int
        How many rows an entry stands for.
    alike : (c,) int or float
        T: how far those agree with the label for whom the explanation holds, added up.
    totals : (m,) int
        N: what those count together for whom each explanation holds.
    own, own_alike : (c,) int or float
        What is no *other* to an owner among these, and how far it agrees with the label. Of equal rows it is
        1, the owner itself, where its explanation holds for it.
    steps : (c,) int, optional
        What the rows weigh, where weights count: then all else but `rows` are sums of weights.

    Examples
    --------
    Three instances share one explanation, two of them with label 0:

    >>> from faithkit.measure.counting.tally import Tally
    >>> owners = Tally(np.array([[2, 1]]), np.array([[[0, 0]], [[2, 1]]])).entries
    >>> owners.n, owners.others, owners.agreeing, owners.scores
    (3, array([2, 2]), array([1, 0]), array([0.5, 0. ]))
    """

    explanation: Counts
    _label: Counts | None
    rows: Counts
    alike: NDArray[Any]
    totals: Counts
    own: Counts
    _own_alike: NDArray[Any] | None = None
    steps: Counts | None = None

    def __len__(self) -> int:
        return len(self.explanation)

    @cached_property
    def label(self) -> Counts:
        """The label of each entry."""
        return self.labels(slice(None))

    def labels(self, some: slice) -> Counts:
        """Return the labels of some entries."""
        return np.arange(*some.indices(len(self))) if self._label is None else self._label[some]

    @property
    def own_alike(self) -> NDArray[Any]:
        """How far what is no other to an owner agrees with its label."""
        return self.own if self._own_alike is None else self._own_alike

    @property
    def weight(self) -> Counts:
        """What the rows of each entry count together."""
        return self.rows if self.steps is None else self.steps

    @cached_property
    def n(self) -> int:
        """The number of rows."""
        return int(self.rows.sum())

    @cached_property
    def whole(self) -> int:
        """What all rows count together."""
        return int(self.weight.sum())

    @property
    def others(self) -> Counts:
        """D: how many *other* instances an owner can be checked against."""
        return self.totals.take(self.explanation) - self.own

    @property
    def agreeing(self) -> NDArray[Any]:
        """A: how many of those agree with the owner."""
        return self.alike - self.own_alike

    @cached_property
    def scores(self) -> Floats:
        """h: the share of those that agree; 0 where there are no others."""
        scores = np.empty(len(self))

        def divide(start: int, stop: int) -> None:
            part, some = self.part(start, stop), scores[start:stop]
            others = part.others
            np.subtract(part.alike, part.own_alike, out=some)
            some /= np.maximum(others, 1)
            if part.alike.dtype.kind == "f":
                some[np.abs(some - 1.0) < ROUNDING] = 1.0
            some[others < 1] = 0.0

        each_block(divide, len(self), AT_ONCE)
        return scores

    @property
    def checked(self) -> tuple[int, int]:
        """How many rows have others, of those that count; and what these count together."""

        def check(start: int, stop: int) -> tuple[int, int]:
            part = self.part(start, stop)
            has_others = (part.others > 0) & (part.weight > 0)
            return int(part.rows[has_others].sum()), int(part.weight[has_others].sum())

        rows, weight = zip((0, 0), *map_blocks(check, len(self), AT_ONCE), strict=True)
        return sum(rows), sum(weight)

    @cached_property
    def scored(self) -> Floats:
        """What the owners of each explanation score together."""
        return self.by_explanation(self.times(self.scores))

    @property
    def sizes(self) -> Counts:
        """The number of owners of each explanation."""
        return self.by_explanation(self.rows)

    def by_explanation(self, values: NDArray[Any]) -> NDArray[Any]:
        """Add up what the entries of each explanation have."""
        return sum_by(self.explanation, values, len(self.totals))

    def by_label(self) -> Counts:
        """Return what the rows of each label that occurs count."""
        return sum_by(self.label, self.weight)

    def times(self, values: NDArray[Any]) -> NDArray[Any]:
        """Multiply what one row of each entry has by what the entry counts."""
        is_once = is_view(self.weight) and self.weight[0] == 1  # spares a copy
        return values if is_once else self.weight * values

    def part(self, start: int, stop: int) -> "Owners":
        """Return some entries: what is known of each of them does not depend on the others."""
        some = slice(start, stop)
        return attrs.evolve(
            self,
            explanation=self.explanation[some],
            label=self.labels(some),
            rows=self.rows[some],
            alike=self.alike[some],
            own=self.own[some],
            own_alike=None if self._own_alike is None else self._own_alike[some],
            steps=None if self.steps is None else self.steps[some],
        )

    def span(self, first: int, last: int) -> slice:
        """Return where the entries of some consecutive explanations stand, up to that before the last."""
        start, stop = np.searchsorted(self.explanation, [first, last])
        return slice(int(start), int(stop))

    def places(self, explanation: Counts, label: Counts, own: Counts, n_labels: int) -> Counts:
        """Return the entries of some rows, of which explanation, label and what is their own are known.

        Only of equal rows, and of entries that are in order.
        """
        codes = (self.explanation * n_labels + self.label) * 2 + self.own
        return places(codes, (explanation * n_labels + label) * 2 + own, 2 * len(self.totals) * n_labels)


def by_entry(values: Floats, explanation: Counts) -> Floats:
    """Return what the explanation of each entry has: where all have the same, a view that takes no memory."""
    if len(values) and (values == values[0]).all():
        return np.broadcast_to(values[0], explanation.shape)
    return values.take(explanation)


def constant(value: int, size: int) -> Counts:
    """Return a number so many times, in a view that takes no memory."""
    return np.broadcast_to(np.int64(value), size)


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
