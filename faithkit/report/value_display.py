"""Show every kind of value: in one line, as text, and in a notebook.

Values are known by the names of their classes, because `faithkit.run`, where some of them live, is above
this wing.
"""

import sys
from collections.abc import Callable
from typing import Any

import attrs

from faithkit.display import VERBOSE, set_renderer
from faithkit.errors import InputError
from faithkit.report import one_line as lines
from faithkit.report.html import render_page, sheet_html
from faithkit.report.pictures.figures import report_figure
from faithkit.report.pictures.plots import draw_report
from faithkit.report.sheets import instances, measures
from faithkit.report.sheets.by_label import label_sheet, label_sheets
from faithkit.report.sheets.comparisons import comparison_sheet
from faithkit.report.sheets.controls import control_line, control_sheet
from faithkit.report.sheets.plans import plan_sheet
from faithkit.report.sheets.results import provenance_sheet, result_sheet
from faithkit.report.sheets.sheet import Sheet
from faithkit.report.sheets.subgroups import subgroup_sheets
from faithkit.report.text import sheet_text
from faithkit.wording import one_line, to_printable


@attrs.frozen
class ValueDisplay:
    """How values of one class are shown: in a line, and as a sheet."""

    line: Callable[[Any], str]
    sheet: Callable[[Any], Sheet]


def _payload(value: Any) -> Any:
    return value.to_dict(include_data=False)


def _result_sheet(result: Any) -> Sheet:
    is_dominated = result.has_dominant_label
    payload = result.to_dict(include_data=False, by_label=is_dominated and VERBOSE.get())
    return result_sheet(
        payload | {"data": {"columns": result.evidence.population.n_columns}}, is_dominated=is_dominated
    )


def _report_sheet(report: Any) -> Sheet:
    result, is_dominated = report.result, report.result.has_dominant_label
    payload = report.to_dict(include_data=False, by_label=report.by_label or (is_dominated and VERBOSE.get()))
    return result_sheet(
        payload | {"data": {"columns": result.evidence.population.n_columns}},
        report.violations,
        report.by_label,
        is_dominated,
        report.has_requested_diagnoses,
    )


def _subgroup_sheet(groups: Any) -> Sheet:
    first = next(iter(groups.values()))
    return Sheet(
        None,
        subgroup_sheets(
            first.to_dict(include_data=False, include_steps=False, by_label=False), groups.to_dict()
        ),
    )


DISPLAYS = {
    "Result": ValueDisplay(lines.result_line, _result_sheet),
    "EvaluationReport": ValueDisplay(lines.report_line, _report_sheet),
    "Comparison": ValueDisplay(
        lines.comparison_line, lambda comparison: comparison_sheet(_payload(comparison))
    ),
    "Subgroups": ValueDisplay(lines.subgroup_line, _subgroup_sheet),
    "ByLabel": ValueDisplay(lines.by_label_line, lambda labels: Sheet(None, label_sheets(labels.to_dict()))),
    "LabelEstimate": ValueDisplay(lines.label_line, label_sheet),
    "Pair": ValueDisplay(
        lines.pair_line,
        lambda pair: measures.difference_sheet(pair.difference, (pair.first, pair.second), pair.adjusted),
    ),
    "Difference": ValueDisplay(lines.difference_line, measures.difference_sheet),
    "Control": ValueDisplay(control_line, control_sheet),
    "Estimate": ValueDisplay(lines.estimate_line, measures.estimate_sheet),
    "LocalEstimate": ValueDisplay(lines.local_line, instances.local_sheet),
    "LocalResult": ValueDisplay(lines.instance_line, instances.instance_sheet),
    "Witness": ValueDisplay(instances.witness_line, instances.witness_sheet),
    "Violation": ValueDisplay(lines.violation_line, instances.violation_sheet),
    "Violations": ValueDisplay(lines.violations_line, instances.violations_sheet),
    "Plan": ValueDisplay(lines.plan_line, plan_sheet),
}


def line(value: Any) -> str:
    """Return one line, for `repr`; control characters in data are escaped."""
    return f"<{type(value).__name__} {one_line(to_printable(_display(value).line(value)))}>"


def text(value: Any) -> str:
    """Return lines of at most 80 columns, for `str`."""
    return sheet_text(_display(value).sheet(value)).removesuffix("\n")


def html(value: Any) -> str:
    """Return the HTML that a notebook shows, without colours, so that it fits into any theme."""
    return sheet_html(_display(value).sheet(value))


def plot(value: Any, ax: Any) -> Any:
    """Return the axes on which a report has drawn itself."""
    if not hasattr(value, "draw"):
        raise InputError(f"a {type(value).__name__} has no plot: print it, or write it with to_html.")
    return draw_report(value.draw, ax)


def page(value: Any) -> str:
    """Return a plugin's report as an HTML page: its plot if it has one, its sheet, and its provenance."""
    sheet, draw, provenance = value.sheet(), getattr(value, "draw", None), value.provenance()
    title = sheet.title or "report"
    figure = None if draw is None else report_figure(draw, title)
    details = provenance_sheet(provenance, {}) if provenance else None
    return render_page(Sheet.of(title, figure, *sheet.parts, details))


def _display(value: Any) -> ValueDisplay:
    names = (cls.__name__ for cls in type(value).__mro__)
    displays = (DISPLAYS[name] for name in names if name in DISPLAYS)
    return next(displays, ValueDisplay(lambda report: report.line(), lambda report: report.sheet()))


set_renderer(sys.modules[__name__])
