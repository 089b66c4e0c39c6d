"""Measures by predicted label: the owners of one label, compared with all rows.

A measure is a mean over owners, so a rare label hardly counts in it. Here each label has its own mean. The
rows that an owner is compared with are the same as in the whole measure.
"""

from collections.abc import Mapping, Sequence
from typing import Any

import attrs
import numpy as np

from faithkit.arrays import Ints, sum_by
from faithkit.measure.counting.count import Count
from faithkit.measure.difference import adjust_by_holm, smallest_level
from faithkit.measure.finding import ABOVE, BELOW, NOT_ABOVE, UNKNOWN
from faithkit.measure.intervals import MeasureStatistics, compute_interval
from faithkit.measure.jackknife.summary import JackknifeEstimate
from faithkit.measure.words import OF_LABELS
from faithkit.report.base import Displayable
from faithkit.report.formats import (
    CHANCE,
    format_interval,
    format_number,
    format_p_value,
    name_interval,
    pluralize,
)
from faithkit.report.sheet import Sheet, Table

MAX_LABELS = 50
DOMINANT = 0.7  # share of the largest label above which a text shows each label
MIN_OWNERS = 2  # independent rows of a label that can agree with each other


@attrs.frozen(repr=False, kw_only=True)
class LabelEstimate(Displayable):
    """A measure of the owners of one label, which are compared with all rows.

    Attributes
    ----------
    n : int
        The number of rows with this label.
    estimate : float or None
        The point estimate: how far the rows of this label agree with those that share their explanation, or
        for which it holds. None where `why_not` gives a reason.
    se : float or None
        Standard error of `estimate`; None where the sample shows no variation.
    low, high : float or None
        Interval of the measure, for this label on its own.
    confidence : float
        The confidence of the interval.
    chance : float or None
        What one explanation for all rows would get for this label: its share among the other rows.
    control : float or None
        What explanations of the same form, or scopes of the same size, would get that were chosen without the
        model, over the rows that both could check; None where there is no control.
    p_value : float or None
        The p-value of the difference to `chance`, adjusted for the number of labels by Holm's method.
    verified : float
        The share of the label's rows with at least one *other* row to check against.
    checked : int
        The number of these rows.
    agree : float or None
        The mean share of others that agree, among the checked rows; None where nothing was checked.
    finding : str
        The comparison with chance by `p_value`: one of `faithkit.measure.finding.FINDINGS`.
    why_not : str or None
        Why there is no estimate.
    """

    n: int
    estimate: float | None = None
    se: float | None = None
    low: float | None = None
    high: float | None = None
    confidence: float
    chance: float | None = None
    control: float | None = None
    p_value: float | None = None
    verified: float = 0.0
    checked: int = 0
    agree: float | None = None
    finding: str = UNKNOWN
    why_not: str | None = None

    @property
    def bracket(self) -> tuple[float, float]:
        """The range from `estimate` to its value if every unchecked row agreed.

        Without an estimate, everything may be.

        Examples
        --------
        >>> LabelEstimate(n=4, confidence=0.95, estimate=0.25, verified=0.5, agree=0.5).bracket
        (0.25, 0.75)
        """
        if self.estimate is None:
            return 0.0, 1.0
        return self.estimate, max(self.estimate, 1.0 - self.verified * (1.0 - (self.agree or 0.0)))

    def line(self) -> str:
        """Return the estimate with its interval, or why there is none."""
        if self.why_not is not None:
            return self.why_not
        estimate = f"estimate {format_number(self.estimate)} ({format_interval(self.low, self.high)})"
        return f"{estimate}, {pluralize(self.n, 'instance')}, {self.finding}"

    def sheet(self) -> Sheet:
        """Return the numbers in a table.

        Examples
        --------
        >>> import faithkit
        >>> labels = faithkit.score(["ok"] * 40 + ["fraud"] * 8, ["a"] * 35 + ["b"] * 13).by_label()
        >>> print(labels["consistency"]["fraud"])
        number                             value
        ────────────────────────────────────────
        n                                      8
        estimate                           0.583
        95 % interval              0.162 – 1.000
        baseline (chance)                  0.149
        agree among those checked      58 % of 8
        p                                  0.083
        """
        values = self.texts(has_control=self.control is not None)
        return Sheet.of(None, Table(("number", "value"), list(values.items())), self.why_not)

    def texts(self, has_control: bool) -> dict[str, str]:
        """Return the numbers as texts, under their headings."""
        return {
            "n": f"{self.n:,}",
            "estimate": format_number(self.estimate),
            name_interval(self.confidence): format_interval(self.low, self.high),
            CHANCE: format_number(self.chance),
            **({"control": format_number(self.control)} if has_control else {}),
            OF_LABELS.agree: OF_LABELS.format_agreement(self.agree, self.checked),
            "p": "–" if self.p_value is None else format_p_value(self.p_value),
        }

    def to_dict(self) -> dict[str, Any]:
        """Return JSON values."""
        return attrs.asdict(self)

    @classmethod
    def from_dict(cls, payload: Mapping[str, Any]) -> "LabelEstimate":
        """Rebuild from the output of `to_dict`."""
        return cls(**{field.name: payload[field.name] for field in attrs.fields(cls)})


def frequent_labels(counts: Count, k: int) -> tuple[list[int], int]:
    """Return the codes of the k most frequent labels, and how many labels are left out.

    Examples
    --------
    >>> import faithkit
    >>> counts = faithkit.score(["b", "a", "c", "b"], ["x"] * 4).evidence.counts["consistency"]
    >>> frequent_labels(counts, 2)
    ([1, 0], 1)
    """
    n_rows = label_sizes(counts)
    order = np.argsort(-n_rows, kind="stable")
    labels = order[n_rows[order] > 0].tolist()
    return labels[:k], max(0, len(labels) - k)


def label_sizes(counts: Count) -> Ints:
    """Return the number of rows of every label."""
    return sum_by(counts.owners.label, np.asarray(counts.owners.rows), counts.n_labels)


def is_dominated(largest: int, n: int) -> bool:
    """Whether one of several labels dominates n rows, so that others hardly affect a measure.

    Examples
    --------
    >>> is_dominated(95, 100), is_dominated(50, 100), is_dominated(100, 100)
    (True, False, False)
    """
    return DOMINANT * n < largest < n


def measure_labels(
    counts: Count,
    labels: Sequence[int],
    confidence: float = 0.95,
    untested: str | None = None,
    control: Mapping[int, float] | None = None,
) -> list[LabelEstimate]:
    """Estimate a measure for each of these labels, which are codes that occur.

    `untested` is the finding of every label, where the whole measure tested nothing. `control` has the
    mean of the control by label.

    Examples
    --------
    >>> import faithkit
    >>> counts = faithkit.score(["b", "a", "b", "b"], ["x"] * 4).evidence.counts["consistency"]
    >>> [label.estimate and round(label.estimate, 3) for label in measure_labels(counts, [1, 0])]
    [0.667, None]
    """
    estimates = {label: _describe_label(counts, label, confidence) for label in labels}
    measurable = [label for label in labels if estimates[label].why_not is None]
    statistics = [JackknifeEstimate.of(counts, label=label).statistics for label in measurable]
    chances = [estimates[label].chance for label in measurable]
    p_values = adjust_by_holm(list(map(_p_value, statistics, chances)))
    for label, measured, p_value in zip(measurable, statistics, p_values, strict=True):
        estimates[label] = _add_estimate(estimates[label], measured, p_value, untested)
        if control is not None:
            estimates[label] = attrs.evolve(estimates[label], control=control.get(label))
    return list(estimates.values())


def _why_not(counts: Count, label: int) -> str | None:
    """Return why a label has no estimate; None if at least two independent rows own it."""
    owners, design, n = counts.owners.of_label(label), counts.design, counts.n_explained
    if design.is_equal:
        return None if owners.n >= MIN_OWNERS else "no other row has this label"
    has_weight = (counts.labels[:n] == label) & (design.steps[:n] > 0)
    n_units = len(np.unique(design.unit[:n][has_weight]))
    if n_units >= MIN_OWNERS:
        return None
    others = (
        "no row of another cluster has this label" if design.is_clustered else "no other row has this label"
    )
    return others if n_units else "its rows have the weight 0"


def _describe_label(counts: Count, label: int, confidence: float) -> LabelEstimate:
    """Return what is known of a label before its estimate: its size, its chance, and what was checked."""
    owners = counts.owners.of_label(label)
    checked, checked_weight = owners.checked
    return LabelEstimate(
        n=owners.n,
        confidence=confidence,
        chance=counts.constant.score(label),
        verified=checked_weight / owners.total_weight if owners.total_weight else 0.0,
        checked=checked,
        why_not=_why_not(counts, label),
    )


def _p_value(statistics: MeasureStatistics, chance: float | None) -> float:
    """Return the smallest α whose interval excludes chance."""
    if chance is None:
        return 1.0

    def distances(confidence: float) -> tuple[float, float]:
        low, high = compute_interval(statistics, confidence)
        return low - chance, high - chance

    return smallest_level(distances)


def _add_estimate(
    description: LabelEstimate, statistics: MeasureStatistics, p_value: float, untested: str | None
) -> LabelEstimate:
    """Complete the description of a label with its estimate, its interval and its finding."""
    low, high = compute_interval(statistics, description.confidence)
    return attrs.evolve(
        description,
        estimate=statistics.estimate,
        se=statistics.se,
        low=low,
        high=high,
        p_value=None if description.chance is None else p_value,
        verified=statistics.verified,
        agree=statistics.value / statistics.verified if statistics.verified > 0 else None,
        finding=untested or _classify(statistics, description.chance, p_value, description.confidence),
    )


def _classify(statistics: MeasureStatistics, chance: float | None, p_value: float, confidence: float) -> str:
    """Compare a label with its chance, by the adjusted p-value."""
    if chance is not None and p_value < 1 - confidence:
        return ABOVE if statistics.estimate > chance else BELOW
    return UNKNOWN if statistics.compared == 0 or chance is None else NOT_ABOVE
