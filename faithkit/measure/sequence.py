"""A confidence sequence: an interval of a mean that holds at all times at once, however often one looks.

The predictable plug-in empirical-Bernstein sequence of Waudby-Smith and Ramdas ("Estimating means of bounded
random variables by betting", 2024). It needs independent scores between 0 and 1 with one mean, and nothing
else of them. A few sums are its whole memory, so that a batch costs what its own rows cost.
"""

import math

import attrs
import numpy as np
from numpy.typing import NDArray

from faithkit.measure.blocks import spans

Floats = NDArray[np.float64]

BOLDEST = 0.5  # of all bets
_AT_ONCE = 2**20


@attrs.frozen
class Sequence:
    """What is known of a mean after `n` scores: it lies between `low` and `high`.

    The interval is the intersection of those after every score so far. With probability 1 − alpha the mean is
    in all of them; an empty one (`low` above `high`) says that the scores had more than one mean.

    Parameters
    ----------
    alpha : float
        The probability that the mean is ever outside.
    n : int
        How many scores there were.
    low, high : float
    total, spread, weight, weighted, slack : float
        Running sums: of the scores; of their squared distances to the mean so far; of the bets; of the scores
        times their bets; of what the interval has to be wider for.

    Examples
    --------
    >>> start = Sequence(alpha=0.05)
    >>> later = start.after(np.tile([1.0, 1.0, 1.0, 0.0], 250))
    >>> later.n, round(later.low, 2), round(later.high, 2)
    (1000, 0.7, 0.8)
    >>> start.after(np.ones(400)).after(np.tile([1.0, 0.0], 400)).is_empty
    True
    """

    alpha: float
    n: int = 0
    low: float = 0.0
    high: float = 1.0
    total: float = 0.0
    spread: float = 0.0
    weight: float = 0.0
    weighted: float = 0.0
    slack: float = 0.0

    @property
    def now(self) -> tuple[float, float, float]:
        """The estimate after all scores, and the ends of its own interval, without those before.

        It is the mean weighted by the bets, which are boldest at the beginning; the interval also holds for
        the mean of means that change, weighted alike.
        """
        if not self.n:
            return 0.5, 0.0, 1.0
        centre, radius = self.weighted / self.weight, (math.log(2 / self.alpha) + self.slack) / self.weight
        return centre, max(0.0, centre - radius), min(1.0, centre + radius)

    @property
    def is_empty(self) -> bool:
        """Whether no mean at all can have had these scores."""
        return self.low > self.high

    def meets(self, other: "Sequence") -> bool:
        """Whether one mean may have had the scores of both."""
        return max(self.low, other.low) <= min(self.high, other.high)

    def after(self, scores: Floats) -> "Sequence":
        """Return what is known after some more scores, in their order."""
        found = self
        for start, stop in spans(len(scores), _AT_ONCE):
            found = found._after(np.asarray(scores[start:stop], dtype=np.float64))
        return found

    def _after(self, x: Floats) -> "Sequence":
        t = self.n + np.arange(1.0, len(x) + 1)
        totals = _running(self.total, x)
        means = (0.5 + totals) / np.append(self.n + 1.0, t + 1)
        spreads = _running(self.spread, (x - means[1:]) ** 2)
        doubt = math.log(2 / self.alpha)
        bets = np.minimum(np.sqrt(2 * doubt / ((0.25 + spreads[:-1]) * np.log1p(t))), BOLDEST)
        weights, weighted = _running(self.weight, bets), _running(self.weighted, bets * x)
        slacks = _running(self.slack, (x - means[:-1]) ** 2 * (-np.log1p(-bets) - bets))
        centres, radii = weighted[1:] / weights[1:], (doubt + slacks[1:]) / weights[1:]
        return Sequence(
            self.alpha,
            self.n + len(x),
            max(self.low, float((centres - radii).max())),
            min(self.high, float((centres + radii).min())),
            *(float(sums[-1]) for sums in (totals, spreads, weights, weighted, slacks)),
        )


def _running(start: float, terms: Floats) -> Floats:
    """Return the sums from `start` on, term by term: batches leave no trace in their last bits."""
    return np.cumsum(np.append(start, terms))
