"""The local measure of one instance: the paper's Algorithm 1, for a row of the sample or a new instance.

For numbers, a summary of the predictions that it is checked against comes with it.
"""

from typing import Any

import attrs
import numpy as np
from numpy.typing import NDArray

from faithkit.arrays import Floats, sum_by
from faithkit.measure.counting.design import Design, effective_number
from faithkit.measure.counting.owners import Counts
from faithkit.measure.intervals import share_limits
from faithkit.report.base import Displayable
from faithkit.report.formats import format_interval, format_number, format_three_digits, pluralize
from faithkit.report.sheet import Sheet, Table
from faithkit.wording import value_text


@attrs.frozen(kw_only=True)
class PredictionSummary:
    """The number, mean, standard deviation and quartiles of numeric predictions.

    Attributes
    ----------
    n : int
        The number of predictions.
    mean, sd : float
        Mean and population standard deviation; the standard deviation of one number is 0.
    minimum, lower_quartile, median, upper_quartile, maximum : float

    Examples
    --------
    >>> summary = PredictionSummary.of(np.array([1.0, 2.0, 7.0]), np.array([1, 0, 3]))
    >>> summary.n, summary.mean, summary.minimum, summary.lower_quartile, summary.median, summary.maximum
    (4, 5.5, 1.0, 1.0, 7.0, 7.0)
    >>> print(summary)
    1 to 7, half of them 1 to 7
    """

    n: int
    mean: float
    sd: float
    minimum: float
    lower_quartile: float
    median: float
    upper_quartile: float
    maximum: float

    def __str__(self) -> str:
        ends = self.minimum, self.maximum, self.lower_quartile, self.upper_quartile
        return "{} to {}, half of them {} to {}".format(*map(value_text, ends))

    @classmethod
    def of(cls, values: Floats, times: Counts) -> "PredictionSummary":
        """Summarise sorted values, each of which occurs `times` times; at least one must occur."""
        values, times = values[times > 0], times[times > 0]
        n = int(times.sum())
        center = values[len(values) // 2]  # subtracted, or large numbers would lose their small differences
        deviations = values - center
        mean = float((times * deviations).sum()) / n
        # a power of two, or squares would overflow or vanish
        unit = 2.0 ** min(1023, int(np.frexp(np.abs(deviations).max(initial=0.0))[1]))
        variance = float((times * ((deviations - mean) / unit) ** 2).sum()) / n
        quartiles = values[np.searchsorted(np.cumsum(times), n * np.array([0.25, 0.5, 0.75]))]
        lower, median, upper = quartiles.tolist()
        return cls(
            n=n,
            mean=float(center + mean),
            sd=float(np.sqrt(variance) * unit),
            minimum=float(values[0]),
            lower_quartile=lower,
            median=median,
            upper_quartile=upper,
            maximum=float(values[-1]),
        )


@attrs.frozen(repr=False)
class LocalEstimate(Displayable):
    """The measure of one instance: the paper's N and A, and the value without the instance itself.

    Attributes
    ----------
    holds_for, agree : int
        N, the number of instances for which the explanation holds, and A, those of them with the same label.
        Both include the row itself if its explanation holds for it. A is None for numbers and scores, which
        agree by degrees.
    value : float or None
        The share of *other* instances that agree. For scores it is their mean agreement, and for numbers the
        share of the variance explained, which may be negative. None where there are no other instances.
    low, high : float or None
        Clopper–Pearson interval; (0, 1) where nothing could be checked. None for numbers and scores.
    numbers : PredictionSummary or None
        A summary of the predictions of the other instances, if they are numbers.
    """

    holds_for: int
    agree: int | None
    value: float | None
    low: float | None
    high: float | None
    confidence: float
    numbers: PredictionSummary | None = None

    def line(self) -> str:
        """Return the value with its interval, and for how many instances the explanation holds."""
        ends = "" if self.low is None else f" ({format_interval(self.low, self.high)})"
        return f"{format_number(self.value)}{ends}, holds for {pluralize(self.holds_for, 'instance')}"

    def sheet(self) -> Sheet:
        """Return the numbers in a table."""
        return Sheet.of(None, Table.of_pairs(self.texts()))

    def texts(self) -> dict[str, str | None]:
        """Return the numbers as texts; None for those that the outcome does not have."""
        numbers = self.numbers
        return {
            "value": format_number(self.value),
            "interval": None if self.low is None else format_interval(self.low, self.high),
            "holds for": f"{self.holds_for:,}",
            "agree": None if self.agree is None else f"{self.agree:,}",
            "others get": None
            if numbers is None
            else f"{value_text(numbers.minimum)} to {value_text(numbers.maximum)}",
            "±": None if numbers is None else format_three_digits(numbers.sd),
        }


def measure_instance(
    rows: NDArray[np.intp],
    disagreement: Floats,
    row: int | None,
    design: Design | None = None,
    confidence: float = 0.95,
    is_binary: bool = True,
) -> LocalEstimate:
    """Measure one instance against the rows for which its explanation holds.

    `holds_for` and `agree` count rows. The value is a share of their weights, and its interval assumes as
    many independent trials as the effective number of other clusters.

    Parameters
    ----------
    rows : (h,) int
        The rows for which the explanation holds.
    disagreement : (h,) float
        The disagreement of each of them with the instance.
    row : int or None
        The instance's own position among all rows; None for a new instance.
    design : Design, optional
        The weights and clusters of all rows, where these are not equal.
    confidence : float
    is_binary : bool
        Whether two predictions either agree or disagree, with nothing in between.

    Examples
    --------
    >>> estimate = measure_instance(np.array([0, 1, 2]), np.array([0.0, 0.0, 1.0]), row=0)
    >>> estimate.holds_for, estimate.agree, estimate.value
    (3, 2, 0.5)
    >>> design = Design.of([1, 1, 2], None, n=3)
    >>> measure_instance(np.array([0, 1, 2]), np.array([0.0, 0.0, 1.0]), row=0, design=design).value
    0.3333333333333333
    """
    units = rows if design is None else design.unit[rows]
    own_unit = row if design is None or row is None else design.unit[row]
    is_other = np.ones(len(rows), dtype=bool) if own_unit is None else units != own_unit
    weights = (np.ones(len(rows), dtype=np.int64) if design is None else design.steps[rows])[is_other]
    total_weight, other_disagreement = int(weights.sum()), disagreement[is_other]
    if not is_binary:
        value = 1.0 - float((weights * other_disagreement).sum()) / total_weight if total_weight else None
        return LocalEstimate(len(rows), None, value, None, None, confidence)
    agree = int((disagreement == 0).sum())
    if not total_weight:
        return LocalEstimate(len(rows), agree, None, 0.0, 1.0, confidence)
    share, trials = int(weights[other_disagreement == 0].sum()) / total_weight, float(total_weight)
    if design is not None:
        trials = effective_number(sum_by(units[is_other], weights, design.n_units))
    return LocalEstimate(len(rows), agree, share, *share_limits(share, trials, confidence), confidence)


def summarise_predictions(classes: list[Any], codes: Counts) -> PredictionSummary | None:
    """Summarise the predictions of rows; None where there are no rows or predictions are not single numbers.

    `classes` are the predictions that the codes stand for, in ascending order.
    """
    if not len(codes) or not isinstance(classes[0], float):
        return None
    return PredictionSummary.of(np.array(classes), np.bincount(codes, minlength=len(classes)))
