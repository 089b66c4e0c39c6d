"""Show values in one line, for `repr`: what they are, and the numbers that matter."""

from collections.abc import Mapping
from typing import Any

from faithkit.jsonable import unique_keys
from faithkit.measure.by_label import LabelEstimate
from faithkit.measure.difference import Difference
from faithkit.measure.estimate import Estimate
from faithkit.measure.local_estimate import LocalEstimate
from faithkit.measure.planning.plans import Plan
from faithkit.measure.witnesses import LocalResult, Violation
from faithkit.report.formats import (
    describe_scope,
    format_difference,
    format_difference_interval,
    format_interval,
    format_number,
    format_p_value,
    format_percent,
    format_predictions,
    pluralize,
    system_name,
)
from faithkit.report.payloads import is_unknown, printed_groups
from faithkit.wording import join_few

LETTERS = 60  # of an explanation


def result_line(result: Any) -> str:
    """Return the system, its size and its measures, without computing anything."""
    setup = result.setup
    name = system_name(None if setup.explainer is None else setup.explainer.text, setup.discretizer.text)
    measures = [f"{measure} {format_level(estimate)}" for measure, estimate in result.measures.items()]
    return f"of {name}: {', '.join([pluralize(result.n, 'instance'), *measures])}"


def format_level(estimate: Estimate) -> str:
    """Return the estimate of a measure, or that nothing is known of it: a bare 0 would be misread.

    Examples
    --------
    >>> import faithkit
    >>> format_level(faithkit.score(["yes", "no"], ["a", "b"]).consistency)
    'unknown'
    """
    if is_unknown(estimate):
        return "unknown"
    ends = "" if estimate.low is None else f" ({format_interval(estimate.low, estimate.high)})"
    return f"estimate {format_number(estimate.estimate)}{ends}"


def estimate_line(estimate: Estimate) -> str:
    """Return the level, how much could be checked, and the finding."""
    finding = estimate.finding or "no finding"
    return f"{format_level(estimate)}, {format_percent(estimate.verified)} checked, {finding}"


def each_line(estimates: Mapping[Any, Any]) -> str:
    """Return the level of each of several systems or groups."""
    levels = {
        name: "unknown" if is_unknown(estimate) else format_number(estimate.estimate)
        for name, estimate in estimates.items()
    }
    return join_few(f"{name} {text}" for name, text in levels.items())


def comparison_line(comparison: Any) -> str:
    """Return the systems, the highest first."""
    rankings = {measure: comparison.ranked(measure) for measure in ("consistency", "sufficiency")}
    levels = [
        f"{measure} estimates: {each_line(systems)}" for measure, systems in rankings.items() if systems
    ]
    return f"of {pluralize(len(comparison.results), 'system')}; {'; '.join(levels)}"


def subgroup_line(groups: Any) -> str:
    """Return the groups and their consistency."""
    estimates = {
        name: group.consistency for name, group in zip(unique_keys(groups), groups.values(), strict=True)
    }
    return f"by {groups.name}; consistency estimates: {each_line(printed_groups(estimates))}"


def by_label_line(labels: Any) -> str:
    """Return the labels and their estimates."""
    measures = (f"{measure} estimates: {each_label(parts)}" for measure, parts in labels.items())
    return "; ".join(measures)


def each_label(parts: Mapping[Any, LabelEstimate]) -> str:
    """Return the estimate of each label."""
    estimates = {key: part.estimate for key, part in zip(unique_keys(parts), parts.values(), strict=True)}
    return join_few(f"{label} {format_number(value)}" for label, value in estimates.items())


def label_line(part: LabelEstimate) -> str:
    """Return the estimate of a label with its interval, or why there is none."""
    if part.why_not is not None:
        return part.why_not
    ends = format_interval(part.low, part.high)
    return (
        f"estimate {format_number(part.estimate)} ({ends}), {pluralize(part.n, 'instance')}, {part.finding}"
    )


def difference_line(difference: Difference) -> str:
    """Return a difference with interval and p."""
    ends = format_difference_interval(difference.low, difference.high)
    interval = f"{100 * difference.confidence:g} % interval {ends}"
    value = format_difference(difference.value, difference.low, difference.high)
    return f"{value} ({interval}), p {format_p_value(difference.p_value)}"


def pair_line(pair: Any) -> str:
    """Return the difference of two systems."""
    difference, adjusted = difference_line(pair.difference), format_p_value(pair.adjusted)
    return f"{pair.first} minus {pair.second}: {difference}, adjusted {adjusted}"


def local_line(estimate: LocalEstimate) -> str:
    """Return one measure of one instance."""
    ends = "" if estimate.low is None else f" ({format_interval(estimate.low, estimate.high)})"
    return f"{format_number(estimate.value)}{ends}, holds for {pluralize(estimate.holds_for, 'instance')}"


def instance_line(local: LocalResult) -> str:
    """Return both measures of one instance."""
    both = {"consistency": local.consistency, "sufficiency": local.sufficiency}
    values = [
        f"{name} {format_number(estimate.value)}" for name, estimate in both.items() if estimate is not None
    ]
    prediction = format_predictions(local.prediction)[0]
    return f"{prediction}, explained by {_short(local.explanation)}: {', '.join(values)}"


def violation_line(violation: Violation) -> str:
    """Return an explanation, and the instances that it holds for."""
    return f"{_short(violation.explanation)}: holds for {describe_scope(violation)}"


def violations_line(violations: list[Violation]) -> str:
    """Return how many there are, and the worst."""
    worst = f", the worst: {violation_line(violations[0])}" if violations else ""
    return pluralize(len(violations), "explanation") + worst


def plan_line(plan: Plan) -> str:
    """Return how many rows to explain."""
    rows = "no number can be promised" if plan.n is None else f"explain {pluralize(plan.n, 'row')}"
    return f"for {plan.measure} ± {plan.epsilon:g}: {rows}"


def report_line(report: Any) -> str:
    """Return the result of a report."""
    return result_line(report.result)


def _short(explanation: str) -> str:
    return explanation if len(explanation) <= LETTERS else f"{explanation[:LETTERS]}…"
