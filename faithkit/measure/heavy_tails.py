"""Heavy tails of what explanations leave of numbers, which make approximate intervals too short."""

import numpy as np

from faithkit.arrays import AT_ONCE, Floats, Ints
from faithkit.arrays.blocks import map_blocks
from faithkit.measure.agreement.squares import Squares
from faithkit.measure.counting.owners import Owners
from faithkit.measure.counting.tally import Count

FEW = 0.01  # of the rows
SOME = 2**16  # of all rows
MUCH = 0.155  # of what is left: normal residuals have 0.045, Student's with five degrees of freedom 0.095


def tail_share(counted: Count) -> float | None:
    """Return the share of all disagreement that the 1 % of rows have which disagree most with others.

    A row that has no others is taken against all. None where it is not the share of a variance that is
    measured, and below 100 rows.

    Examples
    --------
    >>> import faithkit
    >>> round(tail_share(faithkit.score([0.5] * 50 + [1.5] * 50, ["a"] * 100).counts["consistency"]), 3)
    0.01
    """
    agreement = counted.agreement
    if not isinstance(agreement, Squares) or not agreement.is_divided:
        return None
    owners = counted.owners
    n = owners.whole
    few = int(np.ceil(FEW * n))
    if FEW * n < 1:
        return None  # in a small sample one row is more than that share of them
    left = _Left(owners, agreement)
    (most, often), whole = left.largest(few), left.whole()
    order = np.argsort(-most, kind="stable")
    most, often = most[order], often[order]
    taken = np.minimum(often, np.maximum(0, few - (np.cumsum(often) - often)))
    return float((most * taken).sum()) / whole if whole else 0.0


class _Left:
    """How far owners disagree with others."""

    def __init__(self, owners: Owners, agreement: Squares) -> None:
        self.owners, self.agreement, self.weight = owners, agreement, owners.weight

    def of(self, some: slice) -> Floats:
        """Return it for some entries; half the squared distance from all others is the mean of 1 and z²."""
        owners = self.owners
        others = owners.totals.take(owners.explanation[some]) - owners.own[some]
        alone = (1.0 + self.agreement.squares_of(owners.labels(some))) / 2
        return np.where(others > 0, np.maximum(0.0, 1.0 - owners.scores[some]), alone)

    def whole(self) -> float:
        """Add it up over all rows."""

        def add(start: int, stop: int) -> float:
            return float((self.of(slice(start, stop)) * self.weight[start:stop]).sum())

        return sum(map_blocks(add, len(self.owners), AT_ONCE))

    def largest(self, few: int) -> tuple[Floats, Ints]:
        """Return so many of the largest or some more, and how often each of them occurs.

        A part of all tells which need not be looked at.
        """
        c = len(self.owners)
        some = self.of(slice(None, None, max(1, c // SOME)))
        rank = min(len(some), 1 + 2 * few * len(some) // c)
        found = self._at_least(np.partition(some, -rank)[-rank])
        return found if len(found[0]) >= min(few, c) else self._at_least(0.0)

    def _at_least(self, least: float) -> tuple[Floats, Ints]:

        def look(start: int, stop: int) -> tuple[Floats, Ints]:
            left = self.of(slice(start, stop))
            kept = np.flatnonzero(left >= least)
            return left[kept], self.weight[start:stop][kept]

        parts = map_blocks(look, len(self.owners), AT_ONCE)
        squares, often = (np.concatenate(some) for some in zip(*parts, strict=True))
        return squares, often


def is_heavy(share: float | None) -> bool:
    """Whether so much of what is left is due to few rows that an approximate interval may be too short.

    Examples
    --------
    >>> is_heavy(0.05), is_heavy(0.4), is_heavy(None)
    (False, True, False)
    """
    return share is not None and share > MUCH
