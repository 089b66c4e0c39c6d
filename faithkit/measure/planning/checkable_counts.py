"""How many others each row could be checked against: what a plan, a curve and a later comparison need.

The expected value of a smaller sample depends on a row's score only through the number of its others, so the
rows of one number are kept together, with their mean score.
"""

from collections.abc import Mapping, Sequence
from typing import Any

import attrs
import numpy as np

from faithkit.arrays import Floats, Ints, ratio, sum_by
from faithkit.errors import InputError
from faithkit.measure.counting.owners import Owners, numbered, places

NEVER = 746  # e to the minus that is 0
EXACT = 256  # different numbers; with more, large ones are rounded to two digits


@attrs.frozen
class CheckableCounts:
    """Rows by the number of others that they could be checked against.

    Attributes
    ----------
    number : tuple of int
        Numbers of others that occur, in order. Of more than 256 different ones, those behind the first 256
        are rounded to two digits.
    rows : tuple of int
        How many rows have that number.
    score : tuple of float
        The mean share of these others that agree with the row; 0 where there are none.

    Examples
    --------
    >>> from faithkit.measure.counting.tally import Tally
    >>> counts = np.array([[2, 1], [0, 1]])
    >>> CheckableCounts.of(Tally(counts, np.stack([0 * counts, counts])).entries)
    CheckableCounts(number=(0, 2), rows=(1, 3), score=(0.0, 0.3333333333333333))
    """

    number: tuple[int, ...]
    rows: tuple[int, ...]
    score: tuple[float, ...]

    @classmethod
    def of(cls, owners: Owners) -> "CheckableCounts":
        """Gather equal rows."""
        D = owners.others
        size = int(D.max(initial=0)) + 1
        number, _ = numbered(D, size)
        place = places(number, D, size)
        rows = sum_by(place, owners.rows, len(number))
        score = ratio(sum_by(place, owners.times(owners.scores), len(number)), rows)
        if len(number) > EXACT:
            number, rows, score = _rounded(number, rows, score)
        return cls(tuple(number.tolist()), tuple(rows.tolist()), tuple(score.tolist()))

    @property
    def n(self) -> int:
        """The number of rows."""
        return sum(self.rows)

    def unverified(self, size: int) -> float:
        """Return the share that n′ ≤ n of the rows could not check, in the mean over all subsamples, exactly.

        Examples
        --------
        >>> sample = CheckableCounts(number=(0, 1), rows=(1, 2), score=(0.0, 1.0))
        >>> [round(sample.unverified(size), 3) for size in (1, 2, 3)]
        [1.0, 0.667, 0.333]
        """
        return float(np.dot(self.rows, self.missed(size)) / self.n)

    def missed(self, size: int) -> Floats:
        """Return, for each number D of others, the probability that a subsample has none of them.

        That is C(n−1−D, n′−1)/C(n−1, n′−1): the others are missed one after the other, which leaves one less
        to miss, so it is Π (1 − (n′−1)/(n−1−i)).
        """
        if not 1 <= size <= self.n:
            raise InputError(f"smaller samples are known from 1 to {self.n}, the sample's size; got {size}.")
        steps = min(max(self.number, default=0), NEVER * self.n // max(1, size - 1) + 1)
        left = self.n - 1 - np.arange(steps)
        with np.errstate(divide="ignore"):  # the logarithm of 0: somebody is surely drawn
            missed = np.cumsum(np.log1p(-np.minimum(1.0, (size - 1) / left)))
        chances: Floats = np.exp(np.concatenate([[0.0], missed]))[np.minimum(self.number, steps)]
        return chances

    def to_dict(self) -> dict[str, Any]:
        """Return JSON values: three lists of one length."""
        return {"number": list(self.number), "rows": list(self.rows), "score": list(self.score)}

    @classmethod
    def from_dict(cls, told: Mapping[str, Sequence[Any]]) -> "CheckableCounts":
        """Make it of what `to_dict` told."""
        return cls(tuple(told["number"]), tuple(told["rows"]), tuple(told["score"]))


def _rounded(number: Ints, rows: Ints, score: Floats) -> tuple[Ints, Ints, Floats]:
    """Round the large numbers to two digits, and put together what falls together."""
    unit = 10 ** np.maximum(0, np.floor(np.log10(np.maximum(number, 1))).astype(np.int64) - 1)
    near = np.where(np.arange(len(number)) < EXACT, number, (number + unit // 2) // unit * unit)
    kept, place = np.unique(near, return_inverse=True)
    weight = sum_by(place, rows, len(kept))
    return kept, weight, sum_by(place, rows * score, len(kept)) / weight
