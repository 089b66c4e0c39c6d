"""Local measures: the paper's Algorithm 1, for a row of the sample or a new instance."""

import attrs
import numpy as np

from faithkit.errors import InputError
from faithkit.measure.predicted import Predicted
from faithkit.measure.sums import Floats
from faithkit.measure.tally import RowCount


@attrs.frozen
class Local:
    """One instance's measure: N and A as the paper prints them, and the value without the row itself.

    Attributes
    ----------
    holds_for, agree : int
        N, the instances for which the explanation holds, and A, those of them with the same label
        (both with the row itself, where its explanation holds for it). Of numbers and scores, which agree
        more or less, A is None.
    value : float or None
        The share of *other* instances that agree; of scores how far they do on average, and of numbers the
        share of the variance that is accounted for, which may be below 0. None where there are none.
    low, high : float or None
        Clopper–Pearson interval; (0, 1) where nothing could be checked. None of numbers and scores.
    numbers : Predicted or None
        The predictions of the other instances, if they are numbers.
    """

    holds_for: int
    agree: int | None
    value: float | None
    low: float | None
    high: float | None
    confidence: float
    numbers: Predicted | None = None


def local(counted: RowCount, row: int, confidence: float = 0.95) -> Local:
    """Measure one row of the sample.

    Examples
    --------
    >>> from faithkit.measure.explanations import Explanations, Sample
    >>> from faithkit.measure.relations import SameExplanation
    >>> from faithkit.measure.tally import count
    >>> sample = Sample(None, Explanations.of(["a", "a", "a"]))
    >>> one = local(count(SameExplanation(), sample, np.array([0, 0, 1]), 2), 0)
    >>> one.holds_for, one.agree, one.value
    (3, 2, 0.5)
    """
    n = len(counted.sample)
    if not isinstance(row, int | np.integer) or not -n <= row < n:
        raise InputError(f"there is no row {row!r}: the sample has rows 0 to {n - 1}.")
    slots, place = counted.slots, counted.place[row]
    N, A = int(slots.totals[slots.row[place]]), int(slots.counts[place])
    return local_from_counts(N, A, int(counted.reflexive[row]), confidence)


def local_from_counts(N: int, A: int, itself: int, confidence: float = 0.95) -> Local:
    """Measure from counts; `itself` is 1 where the instance is one of those counted, else 0."""
    low, high = clopper_pearson(A - itself, N - itself, confidence)
    value = (A - itself) / (N - itself) if itself < N else None
    return Local(N, A, value, low, high, confidence)


def local_from_agreement(apart: Floats, itself: bool, confidence: float = 0.95) -> Local:
    """Measure by how far those disagree for whom the explanation holds; `itself` where one is the instance.

    Examples
    --------
    >>> local_from_agreement(np.array([0.0, 0.5, 0.1]), itself=True).value
    0.7
    """
    others = len(apart) - int(itself)
    value = 1.0 - float(apart.sum()) / others if others else None
    return Local(len(apart), None, value, None, None, confidence)


def clopper_pearson(successes: int, trials: int, confidence: float = 0.95) -> tuple[float, float]:
    """Return the exact binomial interval; (0, 1) without trials.

    Examples
    --------
    >>> [round(end, 3) for end in clopper_pearson(10, 10)]
    [0.692, 1.0]
    """
    if not trials:
        return 0.0, 1.0
    from scipy.special import betaincinv  # `binomtest` searches for both ends, a hundred times as long

    half, failures = (1 - confidence) / 2, trials - successes
    low = float(betaincinv(successes, failures + 1, half)) if successes else 0.0
    high = float(betaincinv(successes + 1, failures, 1 - half)) if failures else 1.0
    return low, high
