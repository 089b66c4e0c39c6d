"""How each kind of value is shown: in one line, as lines of text, and in a notebook.

This is the one place that knows it, for all wings: values are known by the names of their classes, since
those of `faithkit.run` stand above.
"""

import sys
from collections.abc import Callable, Sequence
from typing import Any

import attrs

from faithkit.display import show_with
from faithkit.errors import InputError
from faithkit.measure.witnesses import Violation
from faithkit.report import lines, sheets, small
from faithkit.report.formats import Payload
from faithkit.report.html import report_page, sheet_html
from faithkit.report.instances import witness_line
from faithkit.report.layout import sheet_text
from faithkit.report.plans import plan_text
from faithkit.report.plots import chart
from faithkit.report.sheets import Sheet
from faithkit.report.text import (
    comparison_table,
    local_text,
    subgroup_table,
    summary,
    violation_text,
)
from faithkit.report.views import changes
from faithkit.wording import one_line, visible


@attrs.frozen
class Kind:
    """How values of one class are shown; those without a text of their own are printed like their sheet."""

    line: Callable[[Any], str]
    sheet: Callable[[Any], Sheet]
    text: Callable[[Any], str] | None = None


def _told(value: Any) -> Any:
    return value.to_dict(data=False)


def _grouped(groups: Any) -> tuple[Any, Any]:
    first = next(iter(groups.values()))
    return first.to_dict(data=False, steps=False), groups.to_dict()


def _whole(told: Payload, violations: Sequence[Violation] | None) -> Sheet:
    """Return a result with what else was asked about it."""
    found = sheets.result_sheet(told)
    drift = changes(told["reference"]) if "reference" in told else []
    groups = sheets.subgroup_sheet(told, told["subgroups"]).parts if "subgroups" in told else []
    seen = [] if violations is None else small.violations_sheet(list(violations)).parts
    return Sheet(found.title, [*found.parts, *drift, *groups, *seen])


KINDS = {
    "Result": Kind(
        lines.result_line, lambda one: sheets.result_sheet(_told(one)), lambda one: summary(_told(one))
    ),
    "EvaluationReport": Kind(
        lines.findings_line,
        lambda one: _whole(_told(one), one.violations),
        lambda one: summary(_told(one), one.violations),
    ),
    "Comparison": Kind(
        lines.comparison_line,
        lambda one: sheets.comparison_sheet(_told(one)),
        lambda one: comparison_table(_told(one)),
    ),
    "Subgroups": Kind(
        lines.subgroup_line,
        lambda one: sheets.subgroup_sheet(*_grouped(one)),
        lambda one: subgroup_table(*_grouped(one)),
    ),
    "Pair": Kind(
        lines.pair_line,
        lambda one: small.difference_sheet(one.difference, (one.first, one.second), one.adjusted),
    ),
    "Difference": Kind(lines.difference_line, small.difference_sheet),
    "Estimate": Kind(lines.estimate_line, small.estimate_sheet),
    "LocalEstimate": Kind(lines.local_line, small.local_sheet),
    "LocalResult": Kind(lines.instance_line, small.instance_sheet, local_text),
    "Witness": Kind(witness_line, small.witness_sheet),
    "Violation": Kind(lines.violation_line, small.violation_sheet),
    "Violations": Kind(lines.violations_line, small.violations_sheet, violation_text),
    "Plan": Kind(lines.plan_line, small.plan_sheet, plan_text),
}


def line(value: Any) -> str:
    """Return one line, for `repr`; what stands in data is shown as it is, and obeyed by no terminal."""
    return f"<{type(value).__name__} {one_line(visible(_kind(value).line(value)))}>"


def text(value: Any) -> str:
    """Return lines of at most 80 columns, for `str`."""
    kind = _kind(value)
    return (sheet_text(kind.sheet(value)) if kind.text is None else kind.text(value)).removesuffix("\n")


def html(value: Any) -> str:
    """Return what a notebook shows: no colours and no resources, so that it fits into any theme."""
    return sheet_html(_kind(value).sheet(value))


def plot(value: Any, ax: Any) -> Any:
    """Return the axes on which a report has drawn itself."""
    if not hasattr(value, "draw"):
        raise InputError(f"a {type(value).__name__} has no plot: print it, or write it with to_html.")
    return chart(value.draw, ax)


def page(value: Any) -> str:
    """Return a report of a plugin as an HTML page."""
    return report_page(value.sheet(), getattr(value, "draw", None), value.provenance())


def _kind(value: Any) -> Kind:
    known = (KINDS[cls.__name__] for cls in type(value).__mro__ if cls.__name__ in KINDS)
    return next(known, Kind(lambda own: own.line(), lambda own: own.sheet()))


show_with(sys.modules[__name__])
