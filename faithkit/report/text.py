"""Results as a person reads them in a terminal: tables of at most 80 columns, and plain sentences."""

from collections.abc import Sequence
from typing import Any

from faithkit.measure.witnesses import LocalResult, Violation
from faithkit.report.agreeing import words
from faithkit.report.formats import (
    Payload,
    between,
    held,
    plural,
    signed,
    significance,
)
from faithkit.report.instances import local_facts, local_table, no_violation, sharers, witness_lines
from faithkit.report.layout import (
    add_row,
    indented,
    measured_table,
    new_table,
    paragraphs,
    printed,
    sheet_text,
)
from faithkit.report.sheets import diagnostic_sheets
from faithkit.report.told import are_compared, confidence, estimates, group_estimates, note, printed_groups
from faithkit.report.views import (
    View,
    alone,
    changes,
    columns,
    compared_view,
    estimate_view,
    fragment_view,
    starred,
    subgroup_rows,
)
from faithkit.wording import visible


def summary(told: Payload, violations: Sequence[Violation] | None = None) -> str:
    """Return the table and what it means, then what else was asked for: drift, subgroups, witnesses."""
    shown = fragment_view(told)
    title = shown["headline"] + (f" of {shown['model']}" if shown["model"] else "")
    said = paragraphs([shown["permuted"], *shown["sentences"]])
    said += "".join(map(sheet_text, diagnostic_sheets(told)))
    parts = [printed(title, *shown["facts"], _table(shown)) + said]
    if "reference" in told:
        parts.append(_drift(told, told["reference"]))
    if "subgroups" in told:
        parts.append(subgroup_table(told, told["subgroups"]))
    if violations is not None:
        # their note stands among the sentences above; without any, they say whether there could be one
        parts.append(violation_text(list(violations) or violations))
    if told.get("next_steps"):
        parts.append(_next_steps(told["next_steps"]))
    return "\n".join(parts)


def _next_steps(steps: Sequence[str]) -> str:
    return "\n".join(["Next steps:", *(indented(f"- {step}", "  ") for step in steps)]) + "\n"


def _table(shown: View) -> Any:
    return measured_table(("measure",), shown["columns"], [([one["name"]], one) for one in shown["measures"]])


def subgroup_table(told: Payload, subgroups: Payload) -> str:
    """Return one row per group, for each measure: its value, and the difference to everybody else.

    Parameters
    ----------
    told : dict
        The result that was divided, or one of its groups: they have one confidence and one estimator.
    subgroups : dict
    """
    return "\n".join(_subgroups(told, subgroups, measure) for measure in subgroups["groups"])


def _subgroups(told: Payload, subgroups: Payload, measure: str) -> str:
    by, named = visible(subgroups["by"]), columns(told)
    parts = printed_groups(subgroups["groups"][measure])
    found = group_estimates(told, parts)
    said = words(told)
    rows = [([name, f"{parts[name]['n']:,}"], estimate_view(one, said)) for name, one in found.items()]
    table = measured_table((by, "n"), named, rows)
    title = f"{measure} by {by}"
    if not are_compared(parts):
        return printed(title, table) + paragraphs([alone(found), note(told)])
    sure = any(row["sure"] for row in subgroup_rows(parts, found, told))
    star = starred(sure, "p is corrected for the number of groups (Holm)")
    minus = _minus_the_rest(told, by, parts)
    return printed(title, table, "", minus) + paragraphs([alone(found), star, note(told)])


def _minus_the_rest(told: Payload, by: str, parts: Payload) -> Any:
    table = new_table(by, "minus the rest", columns(told)["interval"], "p", "", left=(by, ""))
    for name, part in parts.items():
        if part.get("from") is None:  # a group that is everybody, or one against one
            add_row(table, name, "–", "–", "–", "")
            continue
        sure = "*" if part["p_value"] < 1 - confidence(told) else ""
        ends = between(part["from"], part["to"])
        add_row(table, name, signed(part["difference"]), ends, significance(part["p_value"]), sure)
    return table


def comparison_table(told: Payload) -> str:
    """Return one row per system and measure; those that may be the best are marked."""
    shown = compared_view(told)
    tables = [one for one in shown["measures"] if told["best"][one["name"]]]
    parts = [_compared(one, shown["columns"]) for one in tables]
    notes = paragraphs(shown["remarks"])
    return "\n".join([*parts, notes] if notes else parts)


def _compared(shown: View, named: dict[str, str]) -> str:
    rows = [(["*" if one["mark"] else "", one["name"]], one) for one in shown["rows"]]
    table = measured_table(("", shown["name"]), named, rows, place=1)
    best = "the best" if shown["tie"] is None else f"these may all be the best: {shown['tie']}"
    star = f"*: {best} (paired differences, Holm's correction)."
    return printed(table) + paragraphs([star, shown["permuted"]])


def violation_text(violations: Sequence[Violation]) -> str:
    """Return the witnesses: each explanation, whom it holds for, and two rows that contradict each other."""
    if not violations:
        return f"{no_violation(violations)}\n"
    lines = ["Explanations that hold for instances of different predictions, worst first:"]
    meaning = getattr(violations, "note", None)
    if meaning is not None:
        lines = [indented(meaning, ""), "", *lines]
    for place, violation in enumerate(violations, 1):
        lines += ["", indented(f"{place}. {violation.explanation}", "   ")]
        lines += [indented(f"   holds for {held(violation)}", "     ")]
        lines += [indented(f"   {row}", "     ") for row in witness_lines(violation)]
    return "\n".join(lines) + "\n"


def local_text(found: LocalResult, row: int | None = None) -> str:
    """Return one instance: its explanation, both measures, and who shares it; `row` where it is known."""
    facts = "\n".join(indented(fact, "  ") for fact in local_facts(found, row))
    heads, rows = local_table(found)
    table = new_table(*heads, left=heads[:1])
    for cells in rows:
        add_row(table, *cells)
    return f"{facts}\n\n{printed(table)}{paragraphs([sharers(found)])}"


def _drift(told: Payload, reference: Payload) -> str:
    table = new_table("measure", "estimate", "reference", "difference", "p", left=("measure",))
    here, there = estimates(told), estimates(reference)
    for name, change in reference["difference"].items():
        values = [estimate_view(part[name])["estimate"] for part in (here, there)]
        minus = f"{signed(change['value'])} ({between(change['low'], change['high'])})"
        add_row(table, name, *values, minus, significance(change["p_value"]))
    title = f"compared with the reference, {plural(reference['n'], 'instance')}"
    return printed(title, table) + paragraphs(changes(reference))
