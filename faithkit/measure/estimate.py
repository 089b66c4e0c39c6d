"""The result of one measure: its estimate, its interval, and the share of rows that could be checked."""

from collections.abc import Mapping
from typing import Any

import attrs

from faithkit.measure.counting.count import Count
from faithkit.measure.estimators import LeaveOneOut, by_chance, mean_score_of_count
from faithkit.measure.finding import ABOVE, classify_finding
from faithkit.measure.intervals import MeasureStatistics, compute_interval
from faithkit.measure.jackknife.merging import NEAR_BLOCKS, PAIRS
from faithkit.measure.planning.forecast import CheckableCounts
from faithkit.measure.protocols import Estimator, get_optional_attribute
from faithkit.measure.words import OF_LABELS, Shares, Words
from faithkit.report.base import Displayable
from faithkit.report.formats import (
    CHANCE,
    format_interval,
    format_number,
    format_p_value,
    format_percent,
    name_interval,
)
from faithkit.report.sheet import Sheet, Table

VERIFIABLE, UNVERIFIABLE = 0.95, 0.05
FIELD_ORDER = (
    *("value", "se", "estimate", "merging", "low", "high", "floor", "confidence", "p_value"),
    *("verified", "checked", "agree", "bracket", "mse_bound", "checkability", "finding"),
    *("by_chance", "chance"),
)


@attrs.frozen(repr=False, kw_only=True)
class Estimate(Displayable):
    """A measure estimated from a sample.

    Attributes
    ----------
    value : float or None
        The value of the estimator; None where nothing could be checked, or the estimator leaves out all
        instances.
    estimate : float
        The point estimate inside the interval: leave-one-out. Relations that group also compare rows with a
        unique explanation, and weights or clusters are treated by the pair ratio. It is never below the
        `floor`. In about half of all samples it is above the measure.
    merging : str or None
        How rows with a unique explanation were merged: "pairs", "near blocks", "one block" or "nothing"; None
        for relations that do not group.
    verified : float
        The share of instances with at least one *other* instance to check against.
    checked : int
        The number of these instances.
    agree : float or None
        The mean share of others that agree, among the checked instances; None where nothing was checked.
    bracket : tuple of float
        The values that the sample cannot rule out: the estimate if all that does not count as checked
        disagreed, and 1 − the disagreement of rows that have others. The expectation of the first is at most
        the measure, and without weights and clusters it is `estimate`. Neither is below the `floor`.
    se : float or None
        Standard error of the lower end of `bracket`; None where the sample shows no variation.
    low, high : float or None
        Interval of the measure, around `estimate`. Both are None, like `se`, where the estimator estimates
        another quantity.
    floor : float or None
        The smallest possible value of the measure: one over the number of labels that the model declares.
        `statistics` and `value` are as observed, and may be smaller.
    confidence : float
        The confidence of the interval.
    p_value : float or None
        The p-value of the permutation test; None unless requested.
    mse_bound : float or None
        Bound on the mean-squared error; for relations that do not group, an estimate of it.
    by_chance : float or None
        The `value` that explanations unrelated to the predictions would get; None for a single instance, and
        where the estimator does not define it.
    chance : float or None
        The baseline of `estimate` and its interval: what one explanation for all instances would get. None
        for a single instance.
    finding : str
        The comparison with chance: one of `faithkit.measure.finding.FINDINGS`.
    statistics : MeasureStatistics or None
        The statistics behind the interval. They are needed to compare measures.
    checkable_counts : CheckableCounts or None
        How many others each row could be checked against. They are needed to plan samples. None where rows
        have weights, clusters or blocks, and with a pool.
    checkability : str
        "verifiable", "partly verifiable" or "unverifiable".

    Examples
    --------
    >>> import faithkit
    >>> faithkit.score([0, 0, 1], ["a", "a", "b"]).consistency.checkability
    'partly verifiable'
    """

    value: float | None
    estimate: float
    verified: float
    checked: int
    bracket: tuple[float, float]
    se: float | None
    low: float | None
    high: float | None
    confidence: float
    p_value: float | None
    mse_bound: float | None
    finding: str
    by_chance: float | None = None
    chance: float | None = None
    merging: str | None = None
    agree: float | None = None
    floor: float | None = None
    statistics: MeasureStatistics | None = None
    checkable_counts: CheckableCounts | None = None

    @property
    def interval(self) -> tuple[float, float]:
        """The interval around `estimate`, which is the same for every estimator."""
        if self.low is not None and self.high is not None:
            return self.low, self.high
        low, high = (
            (0.0, 1.0) if self.statistics is None else compute_interval(self.statistics, self.confidence)
        )
        return _at_least(self.floor, low), _at_least(self.floor, high)

    @property
    def is_compared(self) -> bool:
        """Whether rows were compared by their explanations: with rows that share them, or have near ones."""
        return self.verified > 0 or self.merging in (PAIRS, NEAR_BLOCKS)

    @property
    def is_within_blocks(self) -> bool:
        """Whether rows were compared only with rows of their block."""
        return self.statistics is not None and self.statistics.units.are_blocks

    @property
    def checkability(self) -> str:
        """Whether people could check these explanations."""
        if self.verified >= VERIFIABLE:
            return "verifiable"
        return "unverifiable" if self.verified <= UNVERIFIABLE else "partly verifiable"

    @property
    def is_unknown(self) -> bool:
        """Whether nothing could be checked, and no bound is above chance."""
        return self.verified == 0 and self.finding != ABOVE

    @property
    def level(self) -> str:
        """The estimate and its interval in words, or that it is unknown: a bare 0 would be misread."""
        if self.is_unknown:
            return "unknown"
        ends = "" if self.low is None else f" ({format_interval(self.low, self.high)})"
        return f"estimate {format_number(self.estimate)}{ends}"

    def line(self) -> str:
        """Return the estimate, how much was checked, and the finding."""
        return f"{self.level}, {format_percent(self.verified)} checked, {self.finding}"

    def sheet(self) -> Sheet:
        """Return the numbers in a table.

        Examples
        --------
        >>> import faithkit
        >>> print(faithkit.score(["yes", "no", "no"] * 9, ["a", "b", "a"] * 9).consistency)
        estimate                   0.647
        95 % interval              0.524 – 0.829
        baseline (chance)          0.538
        checked                    100 %
        agree among those checked  65 % of 27
        bracket                    0.647 – 0.648
        finding                    not above chance
        """
        is_share = self.statistics is not None and self.statistics.span is not None
        words = Shares() if is_share else OF_LABELS
        texts = self.texts(words)
        pairs = {
            "estimate": texts["estimate"],
            name_interval(self.confidence): texts["interval"],
            CHANCE: texts["chance"],
            "checked": texts["checked"],
            words.agree: texts["agree"],
            "bracket": texts["bracket"],
            "p (permutations)": None if self.p_value is None else format_p_value(self.p_value),
            "finding": texts["finding"],
        }
        return Sheet.of(None, Table.of_pairs(pairs))

    def texts(self, words: Words = OF_LABELS) -> dict[str, str]:
        """Return the numbers as texts."""
        return {
            "estimate": format_number(self.estimate if self.is_compared else None),
            "interval": format_interval(self.low, self.high) if self.is_compared else "–",
            "chance": format_number(self.chance),
            "checked": format_percent(self.verified),
            "agree": words.format_agreement(self.agree, self.checked),
            "value": format_number(self.value),
            "bracket": format_interval(*self.bracket),
            "finding": words.finding(self.finding),
        }

    def to_dict(self) -> dict[str, Any]:
        """Return JSON values, in the documented order."""
        return {name: getattr(self, name) for name in FIELD_ORDER} | {
            "bracket": list(self.bracket),
            "moments": None if self.statistics is None else self.statistics.to_dict(),
            "others": None if self.checkable_counts is None else self.checkable_counts.to_dict(),
        }

    def to_row(self) -> dict[str, Any]:
        """Return the fields that fit into a row of a table."""
        return {name: value for name, value in self.to_dict().items() if name not in ("moments", "others")}

    @classmethod
    def from_dict(cls, payload: Mapping[str, Any], n: int) -> "Estimate":
        """Rebuild the estimate of n rows from the output of `to_dict` or `to_row`."""
        fields: dict[str, Any] = {field.name: payload.get(field.name) for field in attrs.fields(cls)}
        fields["bracket"] = tuple(payload["bracket"])
        statistics, counts = payload.get("moments"), payload.get("others")
        if statistics is not None:
            fields["statistics"] = MeasureStatistics.from_dict(statistics, n, payload["verified"])
        if counts is not None:
            fields["checkable_counts"] = CheckableCounts.from_dict(counts)
        return cls(**fields)


def estimate(
    counts: Count,
    statistics: MeasureStatistics,
    estimator: Estimator,
    confidence: float = 0.95,
    p_value: float | None = None,
    n_classes: int | None = None,
) -> Estimate:
    """Build the estimate of a measure; the model declares `n_classes` labels."""
    floor = counts.lowest_value(n_classes)
    has_interval = get_optional_attribute(estimator, "interval")
    low, high = compute_interval(statistics, confidence) if has_interval else (None, None)
    # the mean of leave-one-out's scores is among the statistics
    is_leave_one_out = isinstance(estimator, LeaveOneOut)
    value = statistics.value if is_leave_one_out else mean_score_of_count(estimator, counts)
    is_checked, chance = statistics.verified > 0, counts.chance()
    lowest = _at_least(floor, statistics.low_estimate)
    is_grouped = counts.relation.groups and counts.is_plain
    return Estimate(
        value=value if is_checked else None,
        estimate=_at_least(floor, statistics.estimate),
        merging=statistics.merging,
        verified=statistics.verified,
        checked=counts.owners.checked[0],
        agree=statistics.value / statistics.verified if is_checked else None,
        bracket=(lowest, max(lowest, 1.0 - statistics.disagreement)),  # rounding must not swap the ends
        se=statistics.se if low is not None else None,
        low=None if low is None else _at_least(floor, low),
        high=None if high is None else _at_least(floor, high),
        floor=floor,
        confidence=confidence,
        p_value=p_value,
        mse_bound=None if statistics.span is not None else _mse_bound(statistics, is_grouped),
        by_chance=by_chance(estimator, statistics.verified, counts.checked_chance()) if is_checked else None,
        chance=None if chance is None else _at_least(floor, chance),
        finding=classify_finding(counts, statistics, chance, confidence, p_value),
        statistics=statistics,
        checkable_counts=CheckableCounts.of(counts.owners) if counts.is_plain else None,
    )


def _at_least(floor: float | None, value: float) -> float:
    """Return the value, or the floor where that is larger."""
    return value if floor is None else max(value, floor)


def _mse_bound(statistics: MeasureStatistics, is_grouped: bool) -> float | None:
    """Return variance plus squared bias. The variance is bounded for groups of equal rows, else estimated."""
    squared_bias = (1.0 - statistics.verified) ** 2
    if is_grouped:
        return 9.0 / (4.0 * statistics.n) + squared_bias
    return None if statistics.se is None else statistics.se**2 + squared_bias
