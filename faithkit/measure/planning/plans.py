"""Plans: how many rows to explain, from the number of possible explanations, from a pilot, or from both.

The sizes from the number of explanations are the paper's bounds, corrected where needed. They hold for
consistency, whatever the frequencies of the explanations. The theory page derives each of them.
"""

import math
from collections.abc import Callable
from typing import Any

import attrs

from faithkit.arguments import check_integer, check_share
from faithkit.errors import InputError
from faithkit.jsonable import SCHEMA
from faithkit.measure import MEASURES
from faithkit.measure.intervals import normal_quantile
from faithkit.measure.planning.forecast import MAX_FORECAST_FACTOR, Pilot
from faithkit.report.base import Report
from faithkit.report.formats import pluralize
from faithkit.report.sheet import Bullets, Sheet

ROUNDING = 1e-12
MAX_MAGNITUDE = 290  # decimal digits of a number of rows
MAX_EXPLAINED_FACTOR = 100  # times the pilot's size
LARGER_PILOT = "Take a larger pilot."
COARSER_EXPLANATIONS = "Coarser explanations would leave less."


@attrs.frozen
class RangePlan:
    """Numbers of rows that suffice for consistency, whatever the frequencies of the explanations.

    Attributes
    ----------
    n_explanations : int
        K: the number of possible explanations.
    bias : int
        Rows for a bias of at most ε: on average, the value is too low by no more.
    half_width : int
        Rows for an interval with a half-width of at most ε.
    corollary : int
        The paper's corollary: rows for a mean-squared error of at most ε.
    """

    n_explanations: int
    bias: int
    half_width: int
    corollary: int

    def promises(self, epsilon: float, interval: str) -> list[str]:
        """Say what each number of rows is enough for; `interval` says how narrow it shall be."""
        bias = (
            f"a bias of at most {epsilon:g}. Bias is how much too low the estimate is on average; sampling "
            "error comes in addition"
        )
        error = f"a mean-squared error of at most {epsilon:g}, by the paper's corollary"
        return [
            f"{pluralize(self.bias, 'row')}: {bias}.",
            f"{pluralize(self.half_width, 'row')}: {interval}.",
            f"{pluralize(self.corollary, 'row')}: {error}.",
        ]


@attrs.frozen
class PilotPlan:
    """Numbers of rows that suffice according to a pilot.

    Attributes
    ----------
    n : int
        The number of rows of the pilot.
    unverified : tuple of int or None
        (at best, at worst) the rows to check against for a mean unverified share of at most ε; None for an
        end beyond eight times the pilot's size.
    half_width : int or None
        Rows to explain for a half-width of at most ε, in nine pilots of ten; at least the pilot's size, and
        None beyond a hundred times that. It takes merging into account, as far as the pilot shows its effect.
    pool : int
        Rows to check against that are not explained.
    on_average : int or None
        Rows to explain for a mean half-width of ε, judged by the pilot's own interval; the pilot's size where
        that is narrow enough, and None beyond eight times that.
    """

    n: int
    unverified: tuple[int | None, int | None]
    half_width: int | None
    pool: int = 0
    on_average: int | None = None

    def promises(self, epsilon: float, interval: str) -> list[str]:
        """Say what each number of rows is enough for; `interval` says how narrow it shall be."""
        best, worst = self.unverified
        rows = _more_than(MAX_FORECAST_FACTOR * self.n) if worst is None else pluralize(worst, "row")
        if best is not None and best != worst:
            rows += f" ({best:,} at best)" if worst is not None else f" at worst, {best:,} at best"
        narrow = (
            pluralize(self.half_width, "row")
            if self.half_width
            else _more_than(MAX_EXPLAINED_FACTOR * self.n)
        )
        return [
            f"{rows}: at most {epsilon:g} of them unchecked, on average.",
            f"{narrow}: {interval}, in nine cases of ten{self._on_average}.",
        ]

    @property
    def _on_average(self) -> str:
        """How many rows are enough on average, by the pilot's own interval."""
        if self.on_average is None or self.on_average == self.half_width:
            return ""
        if self.on_average == self.n:
            return ". The pilot's own interval is that narrow, which may be by chance"
        return f". On average {self.on_average:,} rows are enough"


@attrs.frozen(repr=False)
class Plan(Report):
    """How many rows to explain, for an error of at most ε.

    Attributes
    ----------
    epsilon : float
        ε: the largest acceptable error.
    measure : str
        "consistency" or "sufficiency".
    confidence : float
        The confidence of the interval.
    from_range : RangePlan or None
        The plan from the number of possible explanations.
    from_pilot : PilotPlan or None
        The plan from a pilot.
    """

    epsilon: float
    measure: str = "consistency"
    confidence: float = 0.95
    from_range: RangePlan | None = None
    from_pilot: PilotPlan | None = None

    @property
    def to_check(self) -> int | None:
        """The rows to check against, explained or in a pool: the smaller number of the two plans."""
        by_range = None if self.from_range is None else self.from_range.bias
        by_pilot = None if self.from_pilot is None else self.from_pilot.unverified[1]
        return _fewest(by_range, by_pilot)

    @property
    def to_explain(self) -> int | None:
        """The rows to explain for a narrow interval: the smaller number of the two plans."""
        by_range = None if self.from_range is None else self.from_range.half_width
        by_pilot = None if self.from_pilot is None else self.from_pilot.half_width
        return _fewest(by_range, by_pilot)

    @property
    def n(self) -> int | None:
        """The rows to explain, for both goals; None where the pilot is too small to tell."""
        if self.to_check is None or self.to_explain is None:
            return None
        pool = 0 if self.from_pilot is None else self.from_pilot.pool
        return max(self.to_check - pool, self.to_explain)

    @property
    def why(self) -> str:
        """The reason for the number of rows, or for its absence."""
        if self.to_check is None and self.from_pilot is not None and self.from_pilot.unverified[0] is None:
            factor = MAX_FORECAST_FACTOR
            too_far = f"even {factor} times the pilot would leave more than {self.epsilon:g} unchecked"
            return f"{too_far}{self._narrow_interval}. {COARSER_EXPLANATIONS}"
        if self.to_check is None:
            too_small = f"the pilot is too small to say what leaves at most {self.epsilon:g} unchecked"
            return f"{too_small}{self._narrow_interval}. {LARGER_PILOT}"
        if self.to_explain is None:
            return f"the pilot is too small to say what makes the interval ± {self.epsilon:g}. {LARGER_PILOT}"
        return (
            f"enough can be checked from {self.to_check:,} rows on, and the interval is narrow enough from "
            f"{self.to_explain:,} on{self._how_sure}; use the larger number."
        )

    @property
    def _narrow_interval(self) -> str:
        """The clause that says from how many rows the interval is narrow enough, if that is known."""
        if self.to_explain is None:
            return ""
        return f", though the interval is narrow enough from {self.to_explain:,} rows on{self._how_sure}"

    @property
    def _how_sure(self) -> str:
        """The clause that says how certain a number is that comes from the pilot."""
        by_pilot = None if self.from_pilot is None else self.from_pilot.half_width
        return ", in nine cases of ten" if by_pilot is not None and by_pilot == self.to_explain else ""

    def line(self) -> str:
        """Return how many rows to explain, and for what."""
        rows = "no number can be promised" if self.n is None else f"explain {pluralize(self.n, 'row')}"
        return f"for {self.measure} ± {self.epsilon:g}: {rows}"

    def sheet(self) -> Sheet:
        """Return the precision of each number of rows, by its source, and which number to use.

        Examples
        --------
        >>> import faithkit
        >>> print(faithkit.plan(0.05, n_explanations=2))
        For the consistency of any explainer with at most 2 explanations:
          - 16 rows: a bias of at most 0.05. Bias is how much too low the estimate is on
            average; sampling error comes in addition.
          - 2,465 rows: a 95 % interval of ± 0.05 or less.
          - 1,966 rows: a mean-squared error of at most 0.05, by the paper's corollary.
        Explain 2,465 rows: enough can be checked from 16 rows on, and the interval is
        narrow enough from 2,465 on; use the larger number.
        """
        interval = f"a {100 * self.confidence:g} % interval of ± {self.epsilon:g} or less"
        parts: list[str | Bullets] = []
        if self.from_range is not None:
            size = pluralize(self.from_range.n_explanations, "explanation")
            parts.append(f"For the consistency of any explainer with at most {size}:")
            parts.append(Bullets(self.from_range.promises(self.epsilon, interval)))
        if self.from_pilot is not None:
            parts.append(f"For {self.measure}, from a pilot of {pluralize(self.from_pilot.n, 'row')}:")
            parts.append(Bullets(self.from_pilot.promises(self.epsilon, interval)))
        return Sheet(None, [*parts, *self._advice()])

    def _advice(self) -> list[str]:
        """Return which number to use and why, and how many of these rows a pool can replace."""
        if self.n is None or self.to_explain is None:
            return [f"No sample size is certain to be enough: {self.why}"]
        lines = [f"Explain {pluralize(self.n, 'row')}: {self.why}"]
        spare, pilot = self.n - self.to_explain, self.from_pilot
        if pilot is not None and self.n == pilot.n:
            lines.append("The pilot has them; fewer may be enough.")
        if pilot is not None and pilot.pool:
            lines.append(f"They are checked against each other and a pool of {pluralize(pilot.pool, 'row')}.")
        elif spare and self.measure == "sufficiency":
            lines.append(f"With a pool of {pluralize(spare, 'row')}, explain only {self.to_explain:,}.")
        return lines

    def to_dict(self) -> dict[str, Any]:
        """Return JSON values, as `faithkit plan --out` writes them."""
        payload = attrs.asdict(self)
        if self.from_pilot is not None:
            payload["from_pilot"]["unverified"] = list(self.from_pilot.unverified)
        return {"schema": SCHEMA, "n": self.n, "why": self.why, **payload}


def _more_than(rows: int) -> str:
    return f"more than {pluralize(rows, 'row')}"


def _fewest(*sizes: int | None) -> int | None:
    """Return the smallest size that is not None."""
    return min((size for size in sizes if size is not None), default=None)


def plan_samples(
    epsilon: float,
    n_explanations: int | None = None,
    pilot: Pilot | None = None,
    measure: str = "consistency",
    pool: int = 0,
) -> Plan:
    """Plan a sample from the number of possible explanations, from a pilot of the measure, or from both.

    Examples
    --------
    >>> plan = plan_samples(0.1, n_explanations=2048)
    >>> plan.n, plan.from_range.half_width, plan.from_range.corollary
    (7535, 5617, 835879)
    """
    epsilon = check_share(epsilon, "epsilon", usual=0.1)
    pool = check_integer(pool, "pool", minimum=0)
    _check_sources(n_explanations, pilot, measure, pool)
    confidence = 0.95 if pilot is None else pilot.confidence
    return Plan(
        epsilon,
        measure,
        confidence,
        None if n_explanations is None else _from_range(n_explanations, epsilon, confidence),
        None if pilot is None else _from_pilot(pilot, epsilon, pool),
    )


def check_measure(measure: Any) -> None:
    """Check that samples can be planned for a measure.

    Examples
    --------
    >>> check_measure("accuracy")
    Traceback (most recent call last):
    ...
    faithkit.errors.InputError: the measure is 'accuracy'; expected consistency or sufficiency.
    """
    if measure not in MEASURES:
        raise InputError(f"the measure is {measure!r:.60}; expected {' or '.join(MEASURES)}.")


def _check_sources(n_explanations: int | None, pilot: Pilot | None, measure: str, pool: int) -> None:
    check_measure(measure)
    if n_explanations is None and pilot is None:
        raise InputError("nothing to plan from: give the number of explanations (CLI: --range) or a pilot.")
    if n_explanations is not None and measure == "sufficiency":
        raise InputError("a range says nothing about sufficiency: give a pilot alone.")
    if n_explanations is not None and pilot is not None and pilot.statistics.span is not None:
        raise InputError(
            "a range promises something about labels, and the pilot's predictions are numbers: give it alone."
        )
    if pool and measure == "consistency":
        raise InputError("consistency needs every row's explanation, so a pool is no help: plan sufficiency.")


def _from_range(n_explanations: int, epsilon: float, confidence: float) -> RangePlan:
    K = check_integer(n_explanations, "the number of explanations", minimum=1)
    if math.log10(K) - 2 * math.log10(epsilon) > MAX_MAGNITUDE:
        raise InputError(
            "so many explanations, with so small an epsilon, need more rows than a float can count: give "
            "fewer explanations (CLI: --range), or a larger epsilon (CLI: --epsilon)."
        )
    return RangePlan(
        K,
        bias_sample_size(K, epsilon),
        interval_sample_size(K, epsilon, confidence),
        corollary_sample_size(K, epsilon),
    )


def _from_pilot(pilot: Pilot, epsilon: float, pool: int) -> PilotPlan:
    n, max_size = pilot.checkable_counts.n, pilot.max_size
    best = _smallest_size(lambda size: pilot.unverified(size)[0] <= epsilon, 2, max_size)
    worst = _smallest_size(lambda size: pilot.unverified(size)[1] <= epsilon, 2, max_size)

    def is_narrow(n_explained: int) -> bool:
        n_checked = max(n_explained + pool, worst or 0)
        return pilot.half_width(n_explained, pilot.unverified(n_checked)[1]) <= epsilon

    half_width = _smallest_size(is_narrow, n, MAX_EXPLAINED_FACTOR * n)
    on_average = _fewest(half_width, rows_for_width(pilot, epsilon))
    return PilotPlan(n, (best, worst), half_width, pool, on_average)


def rows_for_width(pilot: Pilot, epsilon: float) -> int | None:
    """Return the rows for an interval with a mean half-width of ε; None beyond eight times the pilot's size.

    The rows of a plan are more: they suffice for nine pilots of ten.
    """

    def is_narrow(size: int) -> bool:
        return pilot.expected_half_width(size) <= epsilon

    return _smallest_size(is_narrow, pilot.checkable_counts.n, pilot.max_size)


def _smallest_size(is_enough: Callable[[int], bool], low: int, high: int) -> int | None:
    """Return the smallest size from `low` to `high` that is enough; all larger sizes must also be enough."""
    if not is_enough(high):
        return None
    while low < high:
        middle = (low + high) // 2
        low, high = (low, middle) if is_enough(middle) else (middle + 1, high)
    return high


def bias_sample_size(n_explanations: int, epsilon: float) -> int:
    """Return the smallest n with a bias of at most ε: about K/(e·ε) + 1/2.

    An explanation of mass p adds at most p(1 − p)^(n−1) to the bias. That is largest at p = 1/n, so the bias
    is at most K/n · (1 − 1/n)^(n−1), which is more than K/(e·n) and less than K/(e·(n−1)).

    Examples
    --------
    >>> bias_sample_size(2048, 0.1)
    7535
    """
    K, limit = n_explanations, epsilon * (1 + ROUNDING)
    n = max(2, math.ceil(K / (math.e * epsilon)))  # one or two below the answer
    while K / n * math.exp((n - 1) * math.log1p(-1 / n)) > limit:
        n += 1
    return n


def interval_sample_size(n_explanations: int, epsilon: float, confidence: float = 0.95) -> int:
    """Return the smallest n for which the interval's expected half-width is at most ε.

    The width of the interval is the share that could not be checked, at most K/(e·(n−1)), plus its two arms.
    Their standard errors are at most 3/2 and 1 over √(n−1).

    Examples
    --------
    >>> interval_sample_size(2048, 0.1), interval_sample_size(2, 0.05)
    (5617, 2465)
    """
    z = normal_quantile(confidence)

    def is_narrow(n: int) -> bool:
        unchecked = n_explanations / (math.e * (n - 1))
        arms = 2.5 * z / math.sqrt(n - 1) + (z * z + 1) / (2 * n)
        return (unchecked + arms) / 2 <= epsilon

    enough = 2
    while not is_narrow(enough):
        enough *= 2
    return _smallest_size(is_narrow, 2, enough) or enough


def corollary_sample_size(n_explanations: int, epsilon: float) -> int:
    """Return the paper's n for a mean-squared error of at most ε: K·(12/ε)·log(3/ε).

    Examples
    --------
    >>> corollary_sample_size(2048, 0.1)
    835879
    """
    return math.ceil(n_explanations * 12 / epsilon * math.log(3 / epsilon))
