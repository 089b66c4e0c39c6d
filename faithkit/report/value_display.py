"""Show every kind of value: in one line, as text, and in a notebook.

Values are known by the names of their classes, because `faithkit.run`, where some of them live, is above
this wing.
"""

from collections.abc import Callable, Mapping, Sequence
from typing import Any

import attrs

from faithkit.display import VERBOSE
from faithkit.jsonable import unique_keys
from faithkit.measure.baselines.control import Control
from faithkit.measure.by_label import LabelEstimate
from faithkit.measure.difference import Difference
from faithkit.measure.estimate import Estimate
from faithkit.measure.local_estimate import LocalEstimate
from faithkit.measure.planning.plans import Plan
from faithkit.measure.witnesses import LocalResult, Violation
from faithkit.report.formats import (
    describe_scope,
    format_difference,
    format_interval,
    format_number,
    format_p_value,
    format_percent,
    format_predictions,
    name_interval,
    name_system,
    pluralize,
    shorten,
)
from faithkit.report.payloads import is_unknown
from faithkit.report.sheets import instances, measures
from faithkit.report.sheets.comparisons import comparison_sheet
from faithkit.report.sheets.groups import label_sheet, label_sheets, printed_groups, subgroup_sheets
from faithkit.report.sheets.plans import plan_sheet
from faithkit.report.sheets.results import result_sheet
from faithkit.report.sheets.sheet import Sheet
from faithkit.report.text import sheet_text
from faithkit.report.writing import fragment_html
from faithkit.wording import join_few, one_line, to_printable

LETTERS = 60  # of an explanation


def line(value: Any) -> str:
    """Return one line, for `repr`; control characters in data are escaped."""
    return f"<{type(value).__name__} {one_line(to_printable(_display(value).line(value)))}>"


def text(value: Any) -> str:
    """Return lines of at most 80 columns, for `str`."""
    return sheet_text(_display(value).sheet(value)).removesuffix("\n")


def html(value: Any) -> str | None:
    """Return the HTML that a notebook shows; None if no reporter makes HTML, so that it shows the text."""
    return fragment_html(_display(value).sheet(value))


def sheet(value: Any) -> Sheet:
    """Return the sheet of a value."""
    return _display(value).sheet(value)


@attrs.frozen
class ValueDisplay:
    """How values of one class are shown: in a line, and as a sheet."""

    line: Callable[[Any], str]
    sheet: Callable[[Any], Sheet]


def _display(value: Any) -> ValueDisplay:
    names = (cls.__name__ for cls in type(value).__mro__)
    displays = (DISPLAYS[name] for name in names if name in DISPLAYS)
    return next(displays, ValueDisplay(lambda report: report.line(), lambda report: report.sheet()))


def _result_line(result: Any) -> str:
    """Return the system, its size and its measures, without computing anything."""
    setup = result.setup
    name = name_system(None if setup.explainer is None else setup.explainer.text, setup.discretizer.text)
    levels = [f"{measure} {_level(estimate)}" for measure, estimate in result.measures.items()]
    return f"of {name}: {', '.join([pluralize(result.n, 'instance'), *levels])}"


def _level(estimate: Estimate) -> str:
    """Format the estimate of a measure, or say that it is unknown: a bare 0 would be misread."""
    if is_unknown(estimate):
        return "unknown"
    return f"estimate {format_number(estimate.estimate)}{_ends(estimate)}"


def _ends(estimate: Estimate | LocalEstimate) -> str:
    return "" if estimate.low is None else f" ({format_interval(estimate.low, estimate.high)})"


def _estimate_line(estimate: Estimate) -> str:
    return f"{_level(estimate)}, {format_percent(estimate.verified)} checked, {estimate.finding}"


def _each_line(estimates: Mapping[str, Estimate]) -> str:
    """Return the estimate of each of several systems or groups."""
    return join_few(
        f"{name} {'unknown' if is_unknown(estimate) else format_number(estimate.estimate)}"
        for name, estimate in estimates.items()
    )


def _comparison_line(comparison: Any) -> str:
    """Return the systems, the highest first."""
    rankings = {measure: comparison.ranked(measure) for measure in ("consistency", "sufficiency")}
    levels = [
        f"{measure} estimates: {_each_line(systems)}" for measure, systems in rankings.items() if systems
    ]
    apart = comparison.not_comparable
    levels += [f"not comparable: {join_few(apart)}"] if apart else []
    return f"of {pluralize(len(comparison.results), 'system')}; {'; '.join(levels)}"


def _subgroup_line(groups: Any) -> str:
    names = unique_keys(groups)
    estimates = {name: group.consistency for name, group in zip(names, groups.values(), strict=True)}
    return f"by {groups.name}; consistency estimates: {_each_line(printed_groups(estimates))}"


def _by_label_line(labels: Any) -> str:
    lines = []
    for measure, parts in labels.items():
        names = zip(unique_keys(parts), parts.values(), strict=True)
        estimates = join_few(f"{name} {format_number(part.estimate)}" for name, part in names)
        lines.append(f"{measure} estimates: {estimates}")
    return "; ".join(lines)


def _label_line(part: LabelEstimate) -> str:
    """Return the estimate of a label with its interval, or why there is none."""
    if part.why_not is not None:
        return part.why_not
    estimate = f"estimate {format_number(part.estimate)} ({format_interval(part.low, part.high)})"
    return f"{estimate}, {pluralize(part.n, 'instance')}, {part.finding}"


def _difference_line(difference: Difference) -> str:
    value, interval = format_difference(difference.value, difference.low, difference.high)
    p_value = format_p_value(difference.p_value)
    return f"{value} ({name_interval(difference.confidence)} {interval}), p {p_value}"


def _pair_line(pair: Any) -> str:
    difference, adjusted = _difference_line(pair.difference), format_p_value(pair.adjusted)
    return f"{pair.first} minus {pair.second}: {difference}, adjusted {adjusted}"


def _control_line(control: Control) -> str:
    return f"{format_number(control.estimate)} of {control.draws} draws; {control.finding}"


def _local_line(estimate: LocalEstimate) -> str:
    scope = pluralize(estimate.holds_for, "instance")
    return f"{format_number(estimate.value)}{_ends(estimate)}, holds for {scope}"


def _instance_line(local: LocalResult) -> str:
    both = {"consistency": local.consistency, "sufficiency": local.sufficiency}
    values = [
        f"{name} {format_number(estimate.value)}" for name, estimate in both.items() if estimate is not None
    ]
    prediction = format_predictions(local.prediction)[0]
    return f"{prediction}, explained by {shorten(local.explanation, LETTERS)}: {', '.join(values)}"


def _violation_line(violation: Violation) -> str:
    return f"{shorten(violation.explanation, LETTERS)}: holds for {describe_scope(violation)}"


def _violations_line(violations: Sequence[Violation]) -> str:
    """Return how many there are, and the worst."""
    worst = f", the worst: {_violation_line(violations[0])}" if violations else ""
    return pluralize(len(violations), "explanation") + worst


def _plan_line(plan: Plan) -> str:
    rows = "no number can be promised" if plan.n is None else f"explain {pluralize(plan.n, 'row')}"
    return f"for {plan.measure} ± {plan.epsilon:g}: {rows}"


def _result_sheet(result: Any) -> Sheet:
    return _evaluation_sheet(result, result)


def _report_sheet(report: Any) -> Sheet:
    return _evaluation_sheet(
        report, report.result, report.violations, report.by_label, report.has_requested_diagnoses
    )


def _evaluation_sheet(
    shown: Any, result: Any, violations: Any = None, by_label: bool = False, has_diagnoses: bool = False
) -> Sheet:
    is_dominated = result.has_dominant_label
    payload = shown.to_dict(include_data=False, by_label=by_label or (is_dominated and VERBOSE.get()))
    payload["data"] = {"columns": result.evidence.population.n_columns}
    return result_sheet(payload, violations, by_label, is_dominated, has_diagnoses)


def _subgroup_sheet(groups: Any) -> Sheet:
    first = next(iter(groups.values()))
    payload = first.to_dict(include_data=False, include_steps=False, by_label=False)
    return Sheet(None, subgroup_sheets(payload, groups.to_dict()))


DISPLAYS = {
    "Result": ValueDisplay(_result_line, _result_sheet),
    "EvaluationReport": ValueDisplay(lambda report: _result_line(report.result), _report_sheet),
    "Comparison": ValueDisplay(
        _comparison_line, lambda comparison: comparison_sheet(comparison.to_dict(include_data=False))
    ),
    "Subgroups": ValueDisplay(_subgroup_line, _subgroup_sheet),
    "ByLabel": ValueDisplay(_by_label_line, lambda labels: Sheet(None, label_sheets(labels.to_dict()))),
    "LabelEstimate": ValueDisplay(_label_line, label_sheet),
    "Pair": ValueDisplay(
        _pair_line,
        lambda pair: measures.difference_sheet(pair.difference, (pair.first, pair.second), pair.adjusted),
    ),
    "Difference": ValueDisplay(_difference_line, measures.difference_sheet),
    "Control": ValueDisplay(_control_line, measures.control_sheet),
    "Estimate": ValueDisplay(_estimate_line, measures.estimate_sheet),
    "LocalEstimate": ValueDisplay(_local_line, instances.local_sheet),
    "LocalResult": ValueDisplay(_instance_line, instances.instance_sheet),
    "Witness": ValueDisplay(instances.witness_line, instances.witness_sheet),
    "Violation": ValueDisplay(_violation_line, instances.violation_sheet),
    "Violations": ValueDisplay(_violations_line, instances.violations_sheet),
    "Plan": ValueDisplay(_plan_line, plan_sheet),
}
