"""The tally: two tables of counts from which every measure is computed.

`counts[u, y]` is the number of instances of label y for which the explanation u holds. `owners[s, u, y]` is
the number of instances of label y that have the explanation u (s = 1 if u holds for the instance itself).
The tables are mostly empty, so the kernel stores a list of owners. It builds tables for estimators, a part of
the explanations at a time.
"""

from bisect import bisect_right
from collections.abc import Iterator
from typing import Any

import attrs
import numpy as np
from numpy.typing import NDArray

from faithkit.errors import InputError
from faithkit.measure.agreement.base import Agreement
from faithkit.measure.agreement.same_label import SAME_LABEL
from faithkit.measure.counting.owners import Owners

SELF = np.array([[0], [1]])  # default of `Tally.own`: an owner in its own scope counts as 1
MAX_ENTRIES = 2**25  # limit for a table that is built in one part
NOTHING = 1e-12  # share of a total that counts as a rounding error
PART_ENTRIES = 2**15  # entries of a part of a grouping's table: most are empty, so small parts are faster


def check_size(m: int, k: int) -> None:
    """Refuse to hold a tally that is too large."""
    if m * k > MAX_ENTRIES:
        raise InputError(
            f"the tally of {m:,} explanations × {k:,} labels is too large to be held as a whole: use a "
            "coarser discretizer, or an estimator with whole = False, which is given a part at a time."
        )


@attrs.frozen(eq=False)
class Tally:
    """Counts and owners of m distinct explanations over k labels.

    Attributes
    ----------
    counts : (m, k) int
        The number of instances of each label for which each explanation holds.
    owners : (2, m, k) int
        The number of instances of each label that have each explanation, by s.
    own, own_agreeing : (2, m) int
        The part of an explanation's scope that does not count as *other* instances for an owner, and how much
        of it agrees: by default the owner itself, if s is 1. If rows have weights or clusters, an explanation
        has one row for each kind of owner, and all numbers are sums of weights, which average to 1.
    agreement : Agreement
        Measures how far two labels agree.

    Examples
    --------
    Three instances share one explanation, two of them with label 0:

    >>> tally = Tally(np.array([[2, 1]]), np.array([[[0, 0]], [[2, 1]]]))
    >>> tally.n, tally.others[1, 0, 0], tally.agreeing[1, 0].tolist()
    (3, np.int64(2), [1, 0])
    """

    counts: NDArray[Any]
    owners: NDArray[Any]
    own: NDArray[Any] = SELF
    own_agreeing: NDArray[Any] = SELF
    agreement: Agreement = SAME_LABEL

    def __repr__(self) -> str:
        m, k = self.counts.shape
        return f"<Tally of {self.n:,} instances: {m:,} explanations × {k:,} labels>"

    @property
    def n(self) -> int:
        """The number of instances."""
        return int(self.owners.sum())

    @property
    def alike(self) -> NDArray[Any]:
        """T[u, y]: how many instances in the scope of u agree with label y; for labels, `counts`."""
        row, label = (index.ravel() for index in np.indices(self.counts.shape))
        return self.agreement.sum_over_slots(row, label, self.counts.ravel()).reshape(self.counts.shape)

    @property
    def others(self) -> NDArray[Any]:
        """D[s, u, y]: the number of *other* instances that an owner can be checked against."""
        totals = self.counts.sum(axis=1)[None, :, None]
        others = totals - self.own[..., None]
        if others.dtype.kind == "f":  # weights: remove rounding errors
            others = np.where(others < NOTHING * totals, 0.0, others)
        return np.broadcast_to(others, self.owners.shape)

    @property
    def agreeing(self) -> NDArray[Any]:
        """A[s, u, y]: the number of these instances that agree with the owner."""
        agreeing: NDArray[Any] = self.alike[None] - self.own_agreeing[..., None]
        if agreeing.dtype.kind != "f":
            return agreeing
        lower_bound = 0.0 if self.agreement.is_binary else -np.inf  # removes rounding errors
        clipped: NDArray[Any] = np.clip(agreeing, lower_bound, self.others)
        return clipped

    @property
    def entries(self) -> Owners:
        """The owners as a list, without empty entries."""
        row, label, s = np.nonzero(self.owners.transpose(1, 2, 0))
        rows, alike, totals = self.owners[s, row, label], self.alike[row, label], self.counts.sum(axis=1)
        return Owners(row, label, rows, alike, totals, own=s, own_agreeing=s)

    def without_unused_labels(self) -> "Tally":
        """Return the tally without labels that have no owners and no counts."""
        occurs = self.counts.any(axis=0) | self.owners.any(axis=(0, 1))
        if occurs.all():
            return self
        agreement = self.agreement.select_labels(np.flatnonzero(occurs))
        return attrs.evolve(
            self, counts=self.counts[:, occurs], owners=self.owners[:, :, occurs], agreement=agreement
        )


def narrow_spans(owners: Owners) -> Iterator[tuple[int, int]]:
    """Yield (start, stop) of consecutive explanations whose table over their own labels is small."""
    m = len(owners.totals)
    entry_stops = np.searchsorted(owners.explanation, np.arange(m + 1)).tolist()
    start = 0
    while start < m:
        first = start
        sizes = range(first + 1, m + 1)
        n_fitting = bisect_right(
            sizes, PART_ENTRIES, key=lambda stop: (stop - first) * (entry_stops[stop] - entry_stops[first])
        )
        start = first + max(1, n_fitting)
        yield first, start
