"""Local measures: the paper's Algorithm 1, for a row of the sample or a new instance."""

import attrs
import numpy as np
from numpy.typing import NDArray

from faithkit.errors import InputError
from faithkit.measure.arrays import Floats, sum_by
from faithkit.measure.design import Design, worth
from faithkit.measure.limits import share_limits
from faithkit.measure.owners import Counts
from faithkit.measure.predicted import Predicted
from faithkit.measure.tally import RowCount
from faithkit.shown import Shown


@attrs.frozen(repr=False)
class Local(Shown):
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
    owners, place = counted.owners, counted.place[row]
    N, A = int(owners.totals[owners.explanation[place]]), int(owners.alike[place])
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


def local_of_units(
    held: NDArray[np.intp],
    apart: Floats,
    design: Design,
    row: int | None,
    confidence: float,
    is_whole: bool = True,
) -> Local:
    """Measure one instance against the rows that its explanation holds for.

    Rows are counted as they are; the share is that of their weights, and its interval assumes as many
    independent trials as the other clusters are worth.

    Parameters
    ----------
    held : (h,) int
        The rows for which the explanation holds.
    apart : (n,) float
        How far each row disagrees with the instance.
    design : Design
    row : int or None
        The instance's own place among the rows; None for a new one.
    confidence : float
    is_whole : bool
        Whether two predictions agree or do not.

    Examples
    --------
    >>> design = Design.of([1, 1, 2], None, n=3)
    >>> local_of_units(np.array([0, 1, 2]), np.array([0.0, 0.0, 1.0]), design, 0, 0.95).value
    0.3333333333333333
    """
    others = held if row is None else held[design.unit[held] != design.unit[row]]
    weight = design.steps[others]
    whole, N = int(weight.sum()), len(held)
    if not is_whole:
        value = 1.0 - float((weight * apart[others]).sum()) / whole if whole else None
        return Local(N, None, value, None, None, confidence)
    agree, A = int(weight[apart[others] == 0].sum()), int((apart[held] == 0).sum())
    if not whole:
        return Local(N, A, None, 0.0, 1.0, confidence)
    low, high = share_limits(agree / whole, _effective(others, design), confidence)
    return Local(N, A, agree / whole, low, high, confidence)


def _effective(rows: Counts, design: Design) -> float:
    """Return how many independent rows of one weight some rows are worth."""
    return worth(sum_by(design.unit[rows], design.steps[rows], design.n_units))
