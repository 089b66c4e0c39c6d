"""A confidence sequence, whose intervals for a mean hold at all looks together, and an alarm based on it.

The sequence is the predictable plug-in empirical-Bernstein sequence of Waudby-Smith and Ramdas ("Estimating
means of bounded random variables by betting", 2024). It needs independent scores between 0 and 1 with one
mean. It stores a few sums only, so the cost of a batch depends on its own rows alone.

One sequence over a whole stream notices a change late: after a quiet year, a bad week hardly moves the mean.
So `ChangeDetector` also starts new sequences. On level i a window is 2**i looks long, and the next window
follows it: whenever something changes, a window of the right length begins soon after. Each window has its
share of the probability of a false alarm, and the shares of all windows add up to one.
"""

import math
from collections.abc import Iterator

import attrs
import numpy as np
from numpy.typing import NDArray

Floats = NDArray[np.float64]

MAX_BET = 0.5
_BATCH = 2**20  # scores that are processed at a time


@attrs.frozen
class Sequence:
    """The interval of a mean after `n` scores: it lies between `low` and `high`.

    The interval is the intersection of those after every score so far. With probability 1 − alpha the mean is
    in all of them. An empty interval (`low` above `high`) shows that the scores had more than one mean.

    Parameters
    ----------
    alpha : float
        The probability that the mean is ever outside the interval.
    n : int
        The number of scores.
    low, high : float
    total, spread, weight, weighted, slack : float
        Running sums: of the scores; of their squared distances to the mean so far; of the bets; of the scores
        times their bets; and of the variance terms that widen the interval.

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
        """The current estimate and its interval, not intersected with earlier intervals.

        The estimate is the mean weighted by the bets, which are largest at the beginning. If the mean changes
        over time, the interval holds for the average of the means with the same weights.
        """
        if not self.n:
            return 0.5, 0.0, 1.0
        centre, radius = self.weighted / self.weight, (math.log(2 / self.alpha) + self.slack) / self.weight
        return centre, max(0.0, centre - radius), min(1.0, centre + radius)

    @property
    def is_empty(self) -> bool:
        """Whether the scores cannot have had a single mean."""
        return self.low > self.high

    def meets(self, other: "Sequence") -> bool:
        """Whether the scores of both may have had the same mean."""
        return max(self.low, other.low) <= min(self.high, other.high)

    def after(self, scores: Floats) -> "Sequence":
        """Return the sequence after more scores, in their order."""
        sequence = self
        for start in range(0, len(scores), _BATCH):
            sequence = sequence._after(np.asarray(scores[start : start + _BATCH], dtype=np.float64))
        return sequence

    def _after(self, x: Floats) -> "Sequence":
        t = self.n + np.arange(1.0, len(x) + 1)
        totals = _running_sums(self.total, x)
        means = (0.5 + totals) / np.append(self.n + 1.0, t + 1)
        spreads = _running_sums(self.spread, (x - means[1:]) ** 2)
        log_term = math.log(2 / self.alpha)
        bets = np.minimum(np.sqrt(2 * log_term / ((0.25 + spreads[:-1]) * np.log1p(t))), MAX_BET)
        weights, weighted = _running_sums(self.weight, bets), _running_sums(self.weighted, bets * x)
        slacks = _running_sums(self.slack, (x - means[:-1]) ** 2 * (-np.log1p(-bets) - bets))
        centres, radii = weighted[1:] / weights[1:], (log_term + slacks[1:]) / weights[1:]
        return Sequence(
            self.alpha,
            self.n + len(x),
            max(self.low, float((centres - radii).max())),
            min(self.high, float((centres + radii).min())),
            *(float(sums[-1]) for sums in (totals, spreads, weights, weighted, slacks)),
        )


def _running_sums(start: float, terms: Floats) -> Floats:
    """Return the sums from `start` on, term by term, so that batches do not change the last bits."""
    return np.cumsum(np.append(start, terms))


@attrs.frozen
class Alarm:
    """Scores since a look (the first is 0) with an unexpected mean, and the interval of that mean.

    `change` is "lower", "higher" or "changed". The latter are scores with more than one mean, which have no
    interval.
    """

    change: str
    since: int
    low: float
    high: float


@attrs.frozen
class ChangeDetector:
    """A stream of scores after some looks: `whole` is the entire stream, `windows[i]` the latest of level i.

    Parameters
    ----------
    alpha : float
        The probability that the mean of a stream without change is ever outside any of the intervals.

    Examples
    --------
    >>> expected = Sequence(alpha=0.025).after(np.tile([1.0, 1.0, 1.0, 0.0], 500))
    >>> watch = ChangeDetector.new(alpha=0.025)
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
    def new(cls, alpha: float) -> "ChangeDetector":
        """Start a stream: one half of alpha is for the whole, the other for all windows together."""
        return cls(alpha, Sequence(alpha / 2))

    def after(self, scores: Floats) -> "ChangeDetector":
        """Return the watch after one more look, at these scores."""
        levels = range(self.looks.bit_length())  # earlier, a window of a level would be the whole
        windows = tuple(self._window(level).after(scores) for level in levels)
        return ChangeDetector(self.alpha, self.whole.after(scores), windows, self.looks + 1)

    def _window(self, level: int) -> Sequence:
        """Return the window of a level for the next look: the latest, or a new one."""
        number, position = divmod(self.looks, 2**level)
        if position:
            return self.windows[level]
        return Sequence(self.alpha / 2 / ((level + 1) * (level + 2)) / (number * (number + 1)))

    def alarm(self, expected: Sequence) -> Alarm | None:
        """Return an alarm for the part of the stream farthest from the expected mean, if any deviates."""
        deviating = [
            (since, sequence) for since, sequence in self._sequences() if not sequence.meets(expected)
        ]
        if not deviating:
            return None
        since, farthest = max(deviating, key=lambda candidate: _distance(candidate[1], expected))
        return Alarm(_change(farthest, expected), since, farthest.low, farthest.high)

    def _sequences(self) -> Iterator[tuple[int, Sequence]]:
        """Yield each sequence with the look at which it began."""
        yield 0, self.whole
        for level, window in enumerate(self.windows):
            yield (self.looks - 1) // 2**level * 2**level, window


def _change(sequence: Sequence, expected: Sequence) -> str:
    if sequence.is_empty:
        return "changed"
    return "lower" if sequence.high < expected.low else "higher"


def _distance(sequence: Sequence, expected: Sequence) -> float:
    """Return the distance between two intervals; 0 for an empty interval."""
    return 0.0 if sequence.is_empty else max(expected.low - sequence.high, sequence.low - expected.high)
