"""An alarm that keeps its promise however often one looks, and that notices a late change soon, too.

One sequence over a whole stream notices a change late: after a quiet year, a bad week hardly moves the mean.
So others begin anew on the way. On level i a window is 2**i looks long, and the next one follows it: whenever
something changes, a window of the right length begins soon after. Each has its share of the probability of a
false alarm, and the shares of all windows that there can ever be add up to one.
"""

from collections.abc import Iterator

import attrs

from faithkit.measure.sequence import Floats, Sequence

CHANGES = ("lower", "higher", "changed")
"""What an alarm says of a stream: below or above what it is compared with, or at odds with itself."""


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
    >>> import numpy as np
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
        """Return what is known after one more look, at these scores."""
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
        found = [part for part in self._parts() if not part[1].meets(expected)]
        if not found:
            return None
        since, one = max(found, key=lambda part: _distance(part[1], expected))
        return Alarm(_change(one, expected), since, one.low, one.high)

    def _parts(self) -> Iterator[tuple[int, Sequence]]:
        """Yield each sequence with the look at which it began."""
        yield 0, self.whole
        for level, window in enumerate(self.windows):
            yield (self.looks - 1) // 2**level * 2**level, window


def _change(found: Sequence, expected: Sequence) -> str:
    if found.is_empty:
        return "changed"
    return "lower" if found.high < expected.low else "higher"


def _distance(found: Sequence, expected: Sequence) -> float:
    """Return how far apart two intervals are; one that is empty is nowhere."""
    return 0.0 if found.is_empty else max(expected.low - found.high, found.low - expected.high)
