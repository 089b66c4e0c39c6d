"""Local measures: the paper's Algorithm 1, for a row of the sample or a new instance."""

import attrs
import numpy as np
from numpy.typing import NDArray

from faithkit.arrays import Floats, sum_by
from faithkit.display import Displayable
from faithkit.measure.counting.design import Design, worth
from faithkit.measure.limits import share_limits
from faithkit.measure.prediction_codes import PredictionCodes


@attrs.frozen(repr=False)
class LocalEstimate(Displayable):
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
    numbers : PredictionCodes or None
        The predictions of the other instances, if they are numbers.
    """

    holds_for: int
    agree: int | None
    value: float | None
    low: float | None
    high: float | None
    confidence: float
    numbers: PredictionCodes | None = None


def local(
    held: NDArray[np.intp],
    apart: Floats,
    row: int | None,
    design: Design | None = None,
    confidence: float = 0.95,
    is_whole: bool = True,
) -> LocalEstimate:
    """Measure one instance against the rows that its explanation holds for.

    Rows are counted as they are; the share is that of their weights, and its interval assumes as many
    independent trials as the other clusters are worth.

    Parameters
    ----------
    held : (h,) int
        The rows for which the explanation holds.
    apart : (h,) float
        How far each of them disagrees with the instance.
    row : int or None
        The instance's own place among all rows; None for a new one.
    design : Design, optional
        The weights and clusters of all rows, where these are not equal.
    confidence : float
    is_whole : bool
        Whether two predictions agree or do not.

    Examples
    --------
    >>> one = local(np.array([0, 1, 2]), np.array([0.0, 0.0, 1.0]), row=0)
    >>> one.holds_for, one.agree, one.value
    (3, 2, 0.5)
    >>> design = Design.of([1, 1, 2], None, n=3)
    >>> local(np.array([0, 1, 2]), np.array([0.0, 0.0, 1.0]), row=0, design=design).value
    0.3333333333333333
    """
    unit = held if design is None else design.unit[held]
    own = row if design is None or row is None else design.unit[row]
    is_other = np.ones(len(held), dtype=bool) if own is None else unit != own
    weight = (np.ones(len(held), dtype=np.int64) if design is None else design.steps[held])[is_other]
    whole, others = int(weight.sum()), apart[is_other]
    if not is_whole:
        value = 1.0 - float((weight * others).sum()) / whole if whole else None
        return LocalEstimate(len(held), None, value, None, None, confidence)
    agree = int((apart == 0).sum())
    if not whole:
        return LocalEstimate(len(held), agree, None, 0.0, 1.0, confidence)
    share, trials = int(weight[others == 0].sum()) / whole, float(whole)
    if design is not None:
        trials = worth(sum_by(unit[is_other], weight, design.n_units))
    return LocalEstimate(len(held), agree, share, *share_limits(share, trials, confidence), confidence)
