"""In what unit scores are compared and rounded: that of classes is 1, and numbers have one of their own."""

from typing import Any

import attrs
import numpy as np
from numpy.typing import NDArray

import faithkit

Floats = NDArray[np.float64]
# of a number's distance from 0, in double and in single precision: where numbers lie far from 0, they are
# not known to a millionth of what they differ by
SHARE = {False: 1e-6, True: 0.1}
KNOWN = {False: 14, True: 6}  # digits behind the first one of a number that are the same in every batch
MOST = 300  # decimals of any float


@attrs.frozen(eq=False)
class Unit:
    """How far scores lie apart, and how large they are, for all of them or for each.

    Parameters
    ----------
    deviation, size : float or (outputs,)
    share : float
        The share of a score that counts as much as the deviation.
    known : int
        How many digits behind the first one of the largest score are no noise.

    Examples
    --------
    >>> prices = Unit.of(np.array([[1e6], [3e6]]))
    >>> prices.missed(np.array([[1e6 + 1.0]]), np.array([[1e6]]))  # by a millionth of the deviation
    array([1.e-06])
    >>> prices.rounded(np.array([[0.123456789]]), digits=9)
    array([[0.123]])
    """

    deviation: Any = 1.0
    size: Any = 1.0
    share: float = 1.0
    known: int = KNOWN[False]

    @classmethod
    def of(cls, numbers: Floats, single: bool = False) -> "Unit":
        """Learn the unit of numbers, (n, outputs), whatever their order: of constant ones their size."""
        size = np.abs(numbers).max(axis=0, initial=0.0)
        size = np.where(size > 0, size, 1.0)
        ordered = np.sort(numbers - numbers.min(axis=0), axis=0)
        deviation = ordered.std(axis=0)
        return cls(np.where(deviation > 0, deviation, size), size, SHARE[single], KNOWN[single])

    @classmethod
    def learnt(cls, predictor: faithkit.Predictor, background: Any) -> "Unit":
        """Return the unit of a predictor's scores: that of classes is 1."""
        if not predictor.is_regressor:
            return cls()
        single = predictor.scores_are_single(faithkit.plugin.take_rows(background, slice(0, 1)))
        return cls.of(predictor.scores(background), single)

    def missed(self, sums: Floats, scores: Floats) -> Floats:
        """Return by how much sums miss the scores, row by row; of large scores, by what share of them."""
        size = np.maximum(1.0, self.share * (np.abs(scores) / self.deviation).max(axis=1, initial=0.0))
        return (np.abs(sums - scores) / self.deviation).max(axis=1, initial=0.0) / size

    def rounded(self, values: Floats, digits: int = 12) -> Floats:
        """Return values (…, outputs) to so many digits of the deviation, and to none that is noise."""
        wanted, known = digits - _magnitude(self.deviation), self.known - _magnitude(self.size)
        places = np.minimum(np.minimum(wanted, known), MOST)
        if places.ndim == 0:
            return np.round(values, int(places))
        return np.stack([np.round(values[..., k], int(places[k])) for k in range(len(places))], axis=-1)


def _magnitude(sizes: Any) -> NDArray[np.int64]:
    """Return the place of the first digit."""
    return np.floor(np.log10(sizes)).astype(np.int64)
