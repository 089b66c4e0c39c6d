"""How many other rows each row could be checked against.

Plans, sample-size curves and later comparisons need these counts. The expected value of a smaller sample
depends on a row's score only through the number of its others. So rows with the same number are stored
together, with their mean score.
"""

from collections.abc import Mapping, Sequence
from typing import Any

import attrs
import numpy as np

from faithkit.arrays import Floats, Ints, divide_safely, sum_by
from faithkit.errors import InputError
from faithkit.measure.counting.owners import Owners, count_codes, find_positions

VANISHING_EXPONENT = 746  # exp(−746) is 0
EXACT = 256  # distinct numbers; beyond these, larger ones are rounded to two digits


@attrs.frozen
class CheckableCounts:
    """The number of rows for each number of others that they could be checked against.

    Attributes
    ----------
    number : tuple of int
        The numbers of others that occur, in ascending order. After the first 256, they are rounded to two
        digits.
    rows : tuple of int
        How many rows have each number of others.
    score : tuple of float
        The mean share of these others that agree with the row; 0 for rows without others.

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
        """Count the rows of these owners."""
        D = owners.others
        size = int(D.max(initial=0)) + 1
        number, _ = count_codes(D, size)
        place = find_positions(number, D, size)
        rows = sum_by(place, owners.rows, len(number))
        score = divide_safely(sum_by(place, owners.times(owners.scores), len(number)), rows)
        if len(number) > EXACT:
            number, rows, score = _round_numbers(number, rows, score)
        return cls(tuple(number.tolist()), tuple(rows.tolist()), tuple(score.tolist()))

    @property
    def n(self) -> int:
        """The number of rows."""
        return sum(self.rows)

    def unverified(self, size: int) -> float:
        """Return the share that a subsample of n′ ≤ n rows cannot check: the exact mean over all subsamples.

        Examples
        --------
        >>> sample = CheckableCounts(number=(0, 1), rows=(1, 2), score=(0.0, 1.0))
        >>> [round(sample.unverified(size), 3) for size in (1, 2, 3)]
        [1.0, 0.667, 0.333]
        """
        return float(np.dot(self.rows, self.miss_probabilities(size)) / self.n)

    def miss_probabilities(self, size: int) -> Floats:
        """Return, for each number D of others, the probability that a subsample contains none of them.

        That is C(n−1−D, n′−1)/C(n−1, n′−1) = Π (1 − (n′−1)/(n−1−i)) over i < D: the subsample misses one
        other after the next.
        """
        if not 1 <= size <= self.n:
            raise InputError(f"smaller samples are known from 1 to {self.n}, the sample's size; got {size}.")
        steps = min(max(self.number, default=0), VANISHING_EXPONENT * self.n // max(1, size - 1) + 1)
        rows_left = self.n - 1 - np.arange(steps)
        with np.errstate(divide="ignore"):  # the logarithm of 0: the subsample surely contains one
            log_probabilities = np.cumsum(np.log1p(-np.minimum(1.0, (size - 1) / rows_left)))
        by_number: Floats = np.exp(np.concatenate([[0.0], log_probabilities]))
        return by_number[np.minimum(self.number, steps)]

    def to_dict(self) -> dict[str, Any]:
        """Return JSON values: three lists of equal length."""
        return {"number": list(self.number), "rows": list(self.rows), "score": list(self.score)}

    @classmethod
    def from_dict(cls, payload: Mapping[str, Sequence[Any]]) -> "CheckableCounts":
        """Rebuild from the output of `to_dict`."""
        return cls(tuple(payload["number"]), tuple(payload["rows"]), tuple(payload["score"]))


def _round_numbers(number: Ints, rows: Ints, score: Floats) -> tuple[Ints, Ints, Floats]:
    """Round large numbers to two digits, and combine the rows of numbers that become equal."""
    unit = 10 ** np.maximum(0, np.floor(np.log10(np.maximum(number, 1))).astype(np.int64) - 1)
    rounded = np.where(np.arange(len(number)) < EXACT, number, (number + unit // 2) // unit * unit)
    distinct, place = np.unique(rounded, return_inverse=True)
    combined_rows = sum_by(place, rows, len(distinct))
    return distinct, combined_rows, sum_by(place, rows * score, len(distinct)) / combined_rows
