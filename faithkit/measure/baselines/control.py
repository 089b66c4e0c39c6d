"""Compare a measure with its control and its ceiling.

A control are explanations of the same form, or scopes of the same size, chosen without the model. It is
drawn at least ten times. The measure of a row is compared with the mean of those draws that could check the
row.
"""

import math
from collections.abc import Mapping
from typing import Any

import attrs
import numpy as np
from scipy.special import stdtr

from faithkit.arrays import Floats, divide_safely
from faithkit.errors import InputError
from faithkit.measure.baselines.ceiling import Ceiling
from faithkit.measure.baselines.paired_rows import PairedRows
from faithkit.measure.difference import Difference
from faithkit.measure.intervals import student_quantile
from faithkit.measure.jackknife.summary import Moments
from faithkit.report.base import Displayable
from faithkit.report.formats import (
    format_difference,
    format_number,
    format_percent,
    format_percent_ends,
    name_interval,
)
from faithkit.report.sheet import Sheet, Table

ABOVE, NOT_ABOVE, BELOW = "above its control", "not above its control", "below its control"
MIN_ROWS = 40  # of fewer rows the interval is wrong too often
MIN_DRAWS = 10
MIN_VERIFIED = 0.95  # of the checked rows, for worth
MIN_GAP = 0.05  # between control and ceiling, for worth
MIN_REPEATS = 50  # rows of instances predicted more than once, for worth: fewer do not show the ceiling
ROUNDING = 1e-9


@attrs.frozen
class Worth:
    """The share of the gap between control and ceiling that explanations close, with its interval.

    Examples
    --------
    >>> print(Worth(0.61, 0.4, 0.81))
    61 % (40 % to 81 %)
    """

    value: float
    low: float
    high: float

    @property
    def interval(self) -> str:
        """The interval in words."""
        return " to ".join(format_percent_ends(self.low, self.high))

    def __str__(self) -> str:
        return f"{format_percent(self.value)} ({self.interval})"


@attrs.frozen(repr=False, kw_only=True)
class Control(Displayable):
    """What explanations of the same form, or scopes of the same size, get that were chosen without the model.

    Attributes
    ----------
    estimate : float
        The mean agreement of the control, over the rows that both it and the measure could check.
    verified : float
        The share of these rows, by their weight, among those that the measure could check.
    draws : int
    rows : int
        The number of rows that it was drawn for: all, or those chosen by their content from a larger sample.
    difference : Difference
        The mean agreement of the measure minus that of the control, over the rows that both could check.
    finding : str
        "above its control", "not above its control" or "below its control".
    ceiling : float
        How far the model agrees with itself on the same instance; 1 for a deterministic model.
    ceiling_rows : int
        The number of rows whose instance was predicted more than once. If it is 0, the model is taken to be
        deterministic.
    worth : Worth or None
        difference / (ceiling − control); None where under 95 % of the checked rows have a control, where the
        ceiling is at most 0.05 above the control, or where fewer than 50 rows show what the ceiling is.

    Examples
    --------
    >>> import faithkit, numpy as np
    >>> X = np.random.default_rng(0).normal(size=(200, 4))
    >>> ends = ((0, np.inf), (-np.inf, 0))
    >>> above, below = (faithkit.Rule([faithkit.plugin.Interval(0, *pair)]) for pair in ends)
    >>> rules = [above if x > 0 else below for x in X[:, 0]]
    >>> explanations = faithkit.Explanations.of(rules, kind="rule", relation="in-scope")
    >>> control = faithkit.score(X[:, 0] > 0, explanations, X).control
    >>> control.finding, round(control.worth.value, 3)
    ('above its control', 1.0)
    """

    estimate: float
    verified: float
    draws: int
    rows: int
    difference: Difference
    finding: str
    ceiling: float
    ceiling_rows: int
    worth: Worth | None

    def line(self) -> str:
        """Return the control, the number of its draws, and the finding."""
        return f"{format_number(self.estimate)} of {self.draws} draws; {self.finding}"

    def sheet(self) -> Sheet:
        """Return the numbers in a table."""
        change, worth = self.difference, self.worth
        value, interval = format_difference(change.value, change.low, change.high)
        pairs = {
            "control": format_number(self.estimate),
            "difference": value,
            name_interval(change.confidence): interval,
            "ceiling": format_number(self.ceiling),
            "worth": None if worth is None else format_percent(worth.value),
            "interval of worth": None if worth is None else worth.interval,
            "checked": format_percent(self.verified),
            "draws": str(self.draws),
            "rows": f"{self.rows:,}",
            "finding": self.finding,
        }
        return Sheet.of(None, Table.of_pairs(pairs))

    def to_dict(self) -> dict[str, Any]:
        """Return JSON values."""
        return attrs.asdict(self)

    @classmethod
    def from_dict(cls, payload: Mapping[str, Any]) -> "Control":
        """Rebuild from the output of `to_dict`."""
        worth = payload["worth"]
        parts = {
            "difference": Difference(**payload["difference"]),
            "worth": None if worth is None else Worth(**worth),
        }
        return cls(**{**payload, **parts})


def compare_with_control(rows: PairedRows, ceiling: Ceiling, confidence: float) -> Control:
    """Compare a measure with the draws of its control, and with its ceiling.

    Raises
    ------
    InputError
        If there are fewer than 40 rows, clusters or blocks that both could check.
    """
    if rows.n_units < MIN_ROWS:
        design = rows.measure.design
        units = "blocks" if design.block is not None else "clusters" if design.is_clustered else "rows"
        raise InputError(
            f"a control is compared on {MIN_ROWS} {units} or more that both could check, and there "
            f"are {rows.n_units}"
        )
    measure, control = rows.means()
    contrast = _Contrast(
        np.array([measure, control, ceiling.value]), *rows.means_without(ceiling), confidence
    )
    value, se = contrast.jackknife(lambda x, control, _: x - control)
    low, high = contrast.interval(value, se)
    has_worth = (
        rows.verified >= MIN_VERIFIED
        and ceiling.value - control > MIN_GAP
        and not 0 < ceiling.rows < MIN_REPEATS
    )
    return Control(
        estimate=control,
        verified=rows.verified,
        draws=len(rows.draws),
        rows=len(rows.is_checked),
        difference=Difference(value, low, high, confidence, contrast.p_value(value, se)),
        finding=ABOVE if low > ROUNDING else BELOW if high < -ROUNDING else NOT_ABOVE,
        ceiling=ceiling.value,
        ceiling_rows=ceiling.rows,
        worth=contrast.worth() if has_worth else None,
    )


@attrs.frozen(eq=False)
class _Contrast:
    """Measure, control and ceiling, and all three without each unit, for the jackknife of their functions.

    Units of the pool are a stratum of their own.
    """

    values: Floats
    without: Floats
    without_pool: Floats
    confidence: float

    def jackknife(self, function: Any) -> tuple[float, float]:
        """Return a function of the three, and its standard error."""
        n = len(self.without)
        moments = Moments.of(np.asarray(function(*self.without.T)))
        pool = Moments.of(np.asarray(function(*self.without_pool.T)))
        variance = (n - 1) * moments.variance + pool.squares
        return float(function(*self.values)), math.sqrt(variance)

    def interval(self, value: float, se: float) -> tuple[float, float]:
        """Return value ± t·se."""
        t = student_quantile(float(len(self.without)), self.confidence)
        return value - t * se, value + t * se

    def p_value(self, value: float, se: float) -> float:
        """Return the p-value of the hypothesis that the value is 0."""
        if abs(value) <= ROUNDING:
            return 1.0
        return 2 * float(stdtr(len(self.without) - 1.0, -abs(value) / se)) if se > 0 else 0.0

    def worth(self) -> Worth:
        """Return the share of the gap that is closed."""
        value, se = self.jackknife(lambda x, control, ceiling: _share(x - control, ceiling - control))
        return Worth(value, *self.interval(value, se))


def _share(part: Floats, gap: Floats) -> Floats:
    return divide_safely(np.asarray(part), np.asarray(gap))
