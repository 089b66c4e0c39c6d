"""A confidence sequence, whose intervals of a mean hold at all looks together, and an alarm built on it.

The sequence is the predictable plug-in empirical-Bernstein sequence of Waudby-Smith and Ramdas ("Estimating
means of bounded random variables by betting", 2024). It needs independent scores between 0 and 1 with one
mean. It keeps a few sums only, so a batch costs what its own rows cost.

One sequence over a whole stream notices a change late: after a quiet year, a bad week hardly moves the mean.
So `Watch` also starts new sequences on the way. On level i a window is 2**i looks long, and the next window
follows it: whenever something changes, a window of the right length begins soon after. Each window has its
share of the probability of a false alarm, and the shares of all windows add up to one.
"""

import math
from collections.abc import Iterator

import attrs
import numpy as np
from numpy.typing import NDArray

Floats = NDArray[np.float64]

BOLDEST = 0.5  # of all bets
_BATCH = 2**20  # scores that are in memory together


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
        """Return the sequence after some more scores, in their order."""
        sequence = self
        for start in range(0, len(scores), _BATCH):
            sequence = sequence._after(np.asarray(scores[start : start + _BATCH], dtype=np.float64))
        return sequence

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


@attrs.frozen
class Alarm:
    """Scores since a look (the first is 0) whose mean is not the expected one, and where it lies instead.

    `change` is one of "lower", "higher" and "changed": scores that had more than one mean have no interval.
    """

    change: str
    since: int
    low: float
    high: float


@attrs.frozen
class Watch:
    """A stream of scores after some looks at it: `whole` is all of it, `windows[i]` the latest of level i.

    Parameters
    ----------
    alpha : float
        The probability that the mean is ever outside of any of the intervals, had the stream only one.

    Examples
    --------
    >>> expected = Sequence(alpha=0.025).after(np.tile([1.0, 1.0, 1.0, 0.0], 500))
    >>> watch = Watch.new(alpha=0.025)
    >>> for _ in range(30):
    ...     watch = watch.after(np.tile([1.0, 0.0, 1.0, 1.0], 50))
    >>> watch.alarm(expected) is None
    True
    >>> for _ in range(5):
    ...     watch = watch.after(np.tile([1.0, 0.0], 100))
    >>> watch.alarm(expected).change, watch.alarm(expected).since
    ('lower', 32)
    """

    alpha: float
    whole: Sequence
    windows: tuple[Sequence, ...] = ()
    looks: int = 0

    @classmethod
    def new(cls, alpha: float) -> "Watch":
        """Begin: one half of alpha is for the whole, the other for all windows together."""
        return cls(alpha, Sequence(alpha / 2))

    def after(self, scores: Floats) -> "Watch":
        """Return the watch after one more look, at these scores."""
        levels = range(self.looks.bit_length())  # before, a window of a level would be the whole itself
        windows = tuple(self._window(level).after(scores) for level in levels)
        return Watch(self.alpha, self.whole.after(scores), windows, self.looks + 1)

    def _window(self, level: int) -> Sequence:
        """Return the window of a level to which the next look belongs: the latest, or a new one."""
        number, place = divmod(self.looks, 2**level)
        if place:
            return self.windows[level]
        return Sequence(self.alpha / 2 / ((level + 1) * (level + 2)) / (number * (number + 1)))

    def alarm(self, expected: Sequence) -> Alarm | None:
        """Return the part of the stream that is farthest from the expected, if any surely is not there."""
        apart = [part for part in self._parts() if not part[1].meets(expected)]
        if not apart:
            return None
        since, farthest = max(apart, key=lambda part: _distance(part[1], expected))
        return Alarm(_change(farthest, expected), since, farthest.low, farthest.high)

    def _parts(self) -> Iterator[tuple[int, Sequence]]:
        """Yield each sequence with the look at which it began."""
        yield 0, self.whole
        for level, window in enumerate(self.windows):
            yield (self.looks - 1) // 2**level * 2**level, window


def _change(part: Sequence, expected: Sequence) -> str:
    if part.is_empty:
        return "changed"
    return "lower" if part.high < expected.low else "higher"


def _distance(part: Sequence, expected: Sequence) -> float:
    """Return how far apart two intervals are; an empty interval is nowhere."""
    return 0.0 if part.is_empty else max(expected.low - part.high, part.low - expected.high)
