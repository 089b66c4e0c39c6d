"""Show a measure inside each subgroup, and its difference to the rest."""

from faithkit.report.formats import Payload, format_difference, format_difference_interval, format_p_value
from faithkit.report.payloads import (
    are_compared,
    confidence,
    group_estimates,
    interval_name,
    note,
    printed_groups,
)
from faithkit.report.pictures.figures import group_figure
from faithkit.report.sheets.measures import measure_table, star_line, untested_groups
from faithkit.report.sheets.sheet import Sheet, Table

CORRECTION = "p is corrected for the number of groups (Holm)"


def subgroup_sheets(payload: Payload, subgroups: Payload, has_figures: bool = False) -> list[Sheet]:
    """Return a section for each measure: the numbers of every group, and its difference to the rest.

    Parameters
    ----------
    payload : dict
        The result that was divided, or one of its groups: they share a confidence and an estimator.
    subgroups : dict
    has_figures : bool
        Whether a plot is drawn for each measure.
    """
    return [
        _measure_sheet(payload, subgroups["by"], measure, printed_groups(groups), has_figures)
        for measure, groups in subgroups["groups"].items()
    ]


def _measure_sheet(payload: Payload, by: str, measure: str, groups: Payload, has_figures: bool) -> Sheet:
    estimates, title = group_estimates(payload, groups), f"{measure} by {by}"
    rows = [([name, f"{groups[name]['n']:,}"], estimate) for name, estimate in estimates.items()]
    parts = [
        group_figure(estimates, [group["n"] for group in groups.values()], title) if has_figures else None,
        measure_table((by, "n"), rows, payload),
        *_differences(payload, by, groups),
        untested_groups(estimates),
        _star(payload, groups) if are_compared(groups) else None,
        note(payload),
    ]
    return Sheet.of(title, *parts)


def _differences(payload: Payload, by: str, groups: Payload) -> list[Sheet]:
    if not are_compared(groups):
        return []
    rows = [(name, *_difference_values(payload, group)) for name, group in groups.items()]
    heads = (by, "minus the rest", interval_name(payload), "p", "")
    return [Sheet(None, [Table(heads, rows)])]


def _difference_values(payload: Payload, group: Payload) -> tuple[str, str, str, str]:
    if group.get("from") is None:  # a group that is everybody, or one against one
        return "–", "–", "–", ""
    ends = format_difference_interval(group["from"], group["to"])
    star = "*" if _is_sure(payload, group) else ""
    value = format_difference(group["difference"], group["from"], group["to"])
    return value, ends, format_p_value(group["p_value"]), star


def _star(payload: Payload, groups: Payload) -> str:
    has_star = any(group.get("from") is not None and _is_sure(payload, group) for group in groups.values())
    return star_line(has_star, CORRECTION)


def _is_sure(payload: Payload, group: Payload) -> bool:
    return bool(group["p_value"] < 1 - confidence(payload))
