"""Results as a person reads them in a terminal: tables of at most 80 columns, and plain sentences."""

import io
import textwrap
from collections.abc import Sequence
from typing import Any

from faithkit.measure.witnesses import LocalResult, Violation
from faithkit.report.changes import between, spread
from faithkit.report.formats import (
    Told,
    confidence,
    corrected,
    ends,
    estimates,
    group_estimates,
    held,
    interval_name,
    note,
    number,
    plural,
    signed,
    significance,
)
from faithkit.report.monitoring import monitor_view
from faithkit.report.views import View, changes, compared_view, estimate_view, fragment_view
from faithkit.wording import cell_text, few, visible

WIDTH = 80
MOST_CELLS = 8
MOST_LOOKS = 30


def summary(told: Told, violations: Sequence[Violation] | None = None) -> str:
    """Return the table and what it means, then what else was asked for: drift, subgroups, witnesses."""
    shown = fragment_view(told)
    title = shown["headline"] + (f" of {shown['model']}" if shown["model"] else "")
    said = _lines([shown["permuted"], *shown["sentences"]])
    parts = [_printed(title, *shown["facts"], _table(shown)) + said]
    if "reference" in told:
        parts.append(_drift(told, told["reference"]))
    if "subgroups" in told:
        parts.append(subgroup_table(told, told["subgroups"]))
    if violations is not None:
        parts.append(violation_text(violations))
    if told.get("next_steps"):
        parts.append(_next_steps(told["next_steps"]))
    return "\n".join(parts)


def _next_steps(steps: Sequence[str]) -> str:
    return "\n".join(["Next steps:", *(_indented(f"- {step}", "  ") for step in steps)]) + "\n"


def _printed(*parts: Any) -> str:
    """Lay out tables and text without colours or trailing blanks."""
    from rich.console import Console

    out = io.StringIO()
    console = Console(file=out, width=WIDTH, color_system=None, highlight=False)
    for part in parts:
        console.print(_plain(part) if isinstance(part, str) else part)
    return "".join(f"{line.rstrip()}\n" for line in out.getvalue().splitlines())


def _new_table(*columns: str, left: tuple[str, ...]) -> Any:
    from rich import box
    from rich.table import Table

    table = Table(box=box.SIMPLE_HEAD, pad_edge=False, show_edge=False)
    for name in columns:
        justify: Any = "left" if name in left else "right"
        table.add_column(_plain(name), justify=justify, no_wrap=name not in left[:1])
    return table


def _add_row(table: Any, *cells: str) -> None:
    table.add_row(*map(_plain, cells))


def _plain(text: str) -> Any:
    """Return text as it stands: what looks like markup in data is none, and no terminal obeys it."""
    from rich.text import Text

    return Text(visible(text))


def _wrapped(sentence: str) -> str:
    """Break at 80 columns, but never between a number and its percent sign."""
    return textwrap.fill(visible(sentence).replace(" %", "\u00a0%"), WIDTH).replace("\u00a0", " ")


def _lines(told: Sequence[str | None]) -> str:
    return "".join(f"{_wrapped(line)}\n" for line in told if line)


def _table(shown: View) -> Any:
    columns = ("measure", "value", shown["interval"], "verified", "by chance", "verdict")
    table = _new_table(*columns, left=("measure", "verdict"))
    for one in shown["measures"]:
        _add_row(table, one["name"], *_numbers(one), one["chance"], one["verdict"])
    return table


def _numbers(shown: View) -> list[str]:
    return [shown["value"], shown["interval"], shown["verified"]]


def subgroup_table(told: Told, subgroups: Told) -> str:
    """Return one row per group, for each measure: its value, and the difference to everybody else.

    Parameters
    ----------
    told : dict
        The result that was divided, or one of its groups: they have one confidence and one estimator.
    subgroups : dict
    """
    return "\n".join(_subgroups(told, subgroups, measure) for measure in subgroups["groups"])


def _subgroups(told: Told, subgroups: Told, measure: str) -> str:
    by, parts = subgroups["by"], subgroups["groups"][measure]
    table = _new_table(by, "n", "value", interval_name(told), "verified", "minus the rest", left=(by,))
    for name, found in group_estimates(told, parts).items():
        n, minus = f"{parts[name]['n']:,}", _minus(parts[name], 1 - confidence(told))
        _add_row(table, name, n, *_numbers(estimate_view(found)), minus)
    star = f"*: the difference is not 0; corrected for the number of groups ({corrected(subgroups)})."
    return _printed(f"{measure} by {by}", table) + _lines([star, note(told)])


def _minus(part: Told, alpha: float) -> str:
    if part.get("from") is None:  # a group that is everybody
        return "–"
    sure = "*" if part["p_value"] < alpha else " "
    return f"{signed(part['difference'])} ({', '.join(spread(part['from'], part['to']))}) {sure}"


def comparison_table(told: Told) -> str:
    """Return one row per system and measure; those that may be the best are marked."""
    shown = compared_view(told)
    tables = [one for one in shown["measures"] if told["best"][one["name"]]]
    parts = [_compared(one, shown["interval"], shown["corrected"]) for one in tables]
    notes = _lines(shown["remarks"])
    return "\n".join([*parts, notes] if notes else parts)


def _compared(shown: View, interval: str, corrected: str) -> str:
    measure, rows = shown["name"], shown["rows"]
    p = ["p"] if any(one["p"] for one in rows) else []
    table = _new_table("", measure, "value", interval, "verified", *p, left=(measure, ""))
    for one in rows:
        last = [one[name] or "–" for name in p]
        _add_row(table, "*" if one["mark"] else "", one["name"], *_numbers(one), *last)
    alone = any(one["mark"] == "best" for one in rows)
    tied = "the best" if alone else "these may all be the best: the sample cannot tell them apart"
    return _printed(table) + _lines([f"*: {tied} (paired differences, {corrected}'s correction)."])


def violation_text(violations: Sequence[Violation]) -> str:
    """Return the witnesses: each explanation, whom it holds for, and two rows that contradict each other."""
    if not violations:
        return "No explanation holds for instances of different predictions.\n"
    lines = ["Explanations that hold for instances of different predictions, worst first:"]
    for place, violation in enumerate(violations, 1):
        lines += ["", _indented(f"{place}. {violation.explanation}", "   ")]
        lines += [_indented(f"   holds for {held(violation)}", "     ")]
        for seen in violation.witnesses:
            lines += [_indented(f"   {seen} → {seen.prediction}{_cells(seen.cells)}", "     ")]
    return "\n".join(lines) + "\n"


def _cells(cells: dict[str, Any] | None) -> str:
    """Return what follows a row: its first cells as a person reads them, or nothing where none are known."""
    if not cells:
        return ""
    shown = [f"{name} = {cell_text(cell)}" for name, cell in list(cells.items())[:MOST_CELLS]]
    return f": {', '.join(shown)}" + (", …" if len(cells) > MOST_CELLS else "")


def _indented(line: str, more: str) -> str:
    return textwrap.fill(visible(line), WIDTH, subsequent_indent=more)


def local_text(found: LocalResult, row: int) -> str:
    """Return one instance: its explanation, both measures, and who shares it."""
    lines = [
        _indented(f"row {row}{_cells(found.cells)}", "  "),
        visible(f"prediction: {found.prediction}"),
        _indented(f"explanation: {found.explanation}", "  "),
        "",
    ]
    table = _new_table("measure", "value", "interval", "holds for", "same prediction", left=("measure",))
    for name, one in (("consistency", found.consistency), ("sufficiency", found.sufficiency)):
        if one is not None:
            counts = f"{one.holds_for:,}", f"{one.agree:,}"
            _add_row(table, name, number(one.value), ends(one.low, one.high), *counts)
    return "\n".join(lines) + "\n" + _printed(table) + _sharers(found) + "\n"


def _sharers(found: LocalResult) -> str:
    if not found.shared_by:
        return "No other row of the sample has this explanation."
    rows = few(map(str, found.shared_by))
    return _wrapped(f"{plural(len(found.shared_by), 'other row')} of the sample share it: {rows}.")


def _drift(told: Told, reference: Told) -> str:
    table = _new_table("measure", "value", "reference", "difference", "p", left=("measure",))
    here, there = estimates(told), estimates(reference)
    for name, change in reference["difference"].items():
        values = [estimate_view(part[name])["value"] for part in (here, there)]
        minus = f"{signed(change['value'])} ({between(change['low'], change['high'])})"
        _add_row(table, name, *values, minus, significance(change["p_value"]))
    title = f"compared with the reference, {plural(reference['n'], 'instance')}"
    return _printed(title, table) + _lines(changes(reference))


def monitor_text(told: Told) -> str:
    """Return the looks of a monitor, the last ones where there are many, and what they mean."""
    shown = monitor_view(told)
    names = ("rows", "unverified", "agreement", "so far", "interval")
    table = _new_table("batch", *names, "", left=("batch", ""))
    earlier = max(0, len(shown["looks"]) - MOST_LOOKS)
    for one in [shown["calibration"], *shown["looks"][earlier:]]:
        _add_row(table, one["name"], *(one[name] for name in names), one["mark"])
    told_too = [f"{plural(earlier, 'earlier look')}: --csv has all." if earlier else None]
    told_too += ["*: something is not as expected at this look." if shown["alarm"] else None]
    return _printed(shown["headline"], *shown["facts"], table) + _lines([*told_too, *shown["sentences"]])
