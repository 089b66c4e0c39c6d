"""Results as a person reads them in a terminal: tables of at most 80 columns, and plain sentences."""

import io
import re
import textwrap
from collections.abc import Iterable, Sequence
from typing import Any

from faithkit.measure.instance import Local
from faithkit.measure.witnesses import LocalResult, Violation
from faithkit.report.agreeing import words
from faithkit.report.formats import (
    Told,
    about,
    between,
    corrected,
    held,
    number,
    outward,
    plural,
    predictions,
    signed,
    significance,
    unbroken,
)
from faithkit.report.monitoring import monitor_view
from faithkit.report.told import are_compared, confidence, estimates, group_estimates, note
from faithkit.report.views import View, alone, changes, columns, compared_view, estimate_view, fragment_view
from faithkit.wording import cell_text, few, visible

WIDTH = 80
MOST_CELLS = 8
MOST_LOOKS = 30
# letters in a line of a column's name, of some columns, of others, and of one word
NARROW, USUAL, LONGEST = {"interval": 8, "agree": 13}, 7, 12
LEAST = 12  # letters of a name in a line
GAP = 2  # between columns
LOCAL = ("value", "interval", "holds for", "agree", "others get", "±")


def summary(told: Told, violations: Sequence[Violation] | None = None) -> str:
    """Return the table and what it means, then what else was asked for: drift, subgroups, witnesses."""
    shown = fragment_view(told)
    title = shown["headline"] + (f" of {shown['model']}" if shown["model"] else "")
    said = _lines([shown["permuted"], *shown["sentences"], *shown["reader"]])
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
    return "".join(f"{line.rstrip()}\n" for line in out.getvalue().replace("\u00a0", " ").splitlines())


def _new_table(*names: str, left: tuple[str, ...], folding: tuple[str, ...] = ()) -> Any:
    """Return a table; the first of the columns at the left, and those that fold, are wrapped if need be."""
    from rich import box
    from rich.table import Table

    table = Table(box=box.SIMPLE_HEAD, pad_edge=False, show_edge=False, padding=(0, 1, 0, 0))
    for name in names:
        justify: Any = "left" if name in left else "right"
        whole = name not in (*left[:1], *folding)
        table.add_column(_plain(name, keep="\n"), justify=justify, no_wrap=whole, overflow="fold")
    return table


def _measured_table(
    first: tuple[str, ...], named: dict[str, str], rows: list[tuple[list[str], View]], place: int = 0
) -> Any:
    """Return a table of estimates, one in a row: cells that say which, under `first`, and its numbers.

    At a place among the former are names, which have the room that all others leave.
    """
    folded = {key: _folded(text, NARROW.get(key, USUAL)) for key, text in named.items()}
    heads = [*first, *folded.values()]
    cells = [[*which, *(shown[key].replace(" %", "\u00a0%") for key in named)] for which, shown in rows]
    table = _new_table(*heads, left=(first[place], ""), folding=(folded["agree"],))
    others = [column for i, column in enumerate(zip(heads, *cells, strict=True)) if i != place]
    room = max(LEAST, WIDTH - sum(map(_width, others)) - GAP * len(others))
    for row in cells:
        row[place] = _broken(visible(row[place]), room)
        table.add_row(*(_plain(cell, keep="\n") for cell in row))
    return table


def _folded(name: str, width: int) -> str:
    lines = textwrap.wrap(visible(name), width, break_long_words=False)
    return "\n".join(part for line in lines for part in textwrap.wrap(line, max(width, LONGEST)))


def _width(column: Iterable[str]) -> int:
    return max(len(line) for text in column for line in text.split("\n"))


def _broken(name: str, room: int) -> str:
    """Break a name that is too long where a person would: after a blank or a sign."""
    lines = [""]
    for piece in re.findall(r".+?(?:[-:,=/ ]+|$)", name):
        if lines[-1] and len(lines[-1]) + len(piece.rstrip()) > room:
            lines.append("")
        lines[-1] += piece
    return "\n".join(line.rstrip() for line in lines)


def _add_row(table: Any, *cells: str) -> None:
    table.add_row(*map(_plain, cells))


def _plain(text: str, keep: str = "") -> Any:
    """Return text as it stands: what looks like markup in data is none, and no terminal obeys it."""
    from rich.text import Text

    return Text(visible(text, keep))


def _wrapped(sentence: str) -> str:
    """Break at 80 columns, but never between a number and its sign."""
    return textwrap.fill(unbroken(visible(sentence)), WIDTH).replace("\u00a0", " ")


def _lines(told: Sequence[str | None]) -> str:
    return "".join(f"{_wrapped(line)}\n" for line in told if line)


def _table(shown: View) -> Any:
    return _measured_table(
        ("measure",), shown["columns"], [([one["name"]], one) for one in shown["measures"]]
    )


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
    by, parts, named = visible(subgroups["by"]), subgroups["groups"][measure], columns(told)
    found = group_estimates(told, parts)
    said = words(told)
    rows = [([name, f"{parts[name]['n']:,}"], estimate_view(one, said)) for name, one in found.items()]
    table = _measured_table((by, "n"), named, rows)
    title = f"{measure} by {by}"
    if not are_compared(parts):
        return _printed(title, table) + _lines([alone(found), note(told)])
    star = f"*: the difference is not 0; p is corrected for the number of groups ({corrected(subgroups)})."
    minus = _minus_the_rest(told, by, parts)
    return _printed(title, table, "", minus) + _lines([alone(found), star, note(told)])


def _minus_the_rest(told: Told, by: str, parts: Told) -> Any:
    table = _new_table(by, "minus the rest", columns(told)["interval"], "p", "", left=(by, ""))
    for name, part in parts.items():
        if part.get("from") is None:  # a group that is everybody, or one against one
            _add_row(table, name, "–", "–", "–", "")
            continue
        sure = "*" if part["p_value"] < 1 - confidence(told) else ""
        ends = between(part["from"], part["to"])
        _add_row(table, name, signed(part["difference"]), ends, significance(part["p_value"]), sure)
    return table


def comparison_table(told: Told) -> str:
    """Return one row per system and measure; those that may be the best are marked."""
    shown = compared_view(told)
    tables = [one for one in shown["measures"] if told["best"][one["name"]]]
    parts = [_compared(one, shown["columns"], shown["corrected"]) for one in tables]
    notes = _lines(shown["remarks"])
    return "\n".join([*parts, notes] if notes else parts)


def _compared(shown: View, named: dict[str, str], corrected: str) -> str:
    rows = [(["*" if one["mark"] else "", one["name"]], one) for one in shown["rows"]]
    table = _measured_table(("", shown["name"]), named, rows, place=1)
    best = "the best" if shown["tie"] is None else f"these may all be the best: {shown['tie']}"
    star = f"*: {best} (paired differences, {corrected}'s correction)."
    return _printed(table) + _lines([star, shown["permuted"]])


def violation_text(violations: Sequence[Violation]) -> str:
    """Return the witnesses: each explanation, whom it holds for, and two rows that contradict each other."""
    if not violations:
        return "No explanation holds for instances of different predictions.\n"
    lines = ["Explanations that hold for instances of different predictions, worst first:"]
    for place, violation in enumerate(violations, 1):
        lines += ["", _indented(f"{place}. {violation.explanation}", "   ")]
        lines += [_indented(f"   holds for {held(violation)}", "     ")]
        shown = predictions(*(seen.prediction for seen in violation.witnesses))
        for seen, prediction in zip(violation.witnesses, shown, strict=True):
            lines += [_indented(f"   {seen} → {prediction}{_cells(seen.cells)}", "     ")]
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
        visible(f"prediction: {predictions(found.prediction)[0]}"),
        _indented(f"explanation: {found.explanation}", "  "),
        "",
    ]
    return "\n".join(lines) + "\n" + _printed(_local_table(found)) + _sharers(found) + "\n"


def _local_table(found: LocalResult) -> Any:
    """Return both measures of one instance: how many agree, and of numbers what the others get."""
    both = {"consistency": found.consistency, "sufficiency": found.sufficiency}
    rows = {name: _local_cells(one) for name, one in both.items() if one is not None}
    names = [name for name in LOCAL if any(cells[name] is not None for cells in rows.values())]
    table = _new_table("measure", *names, left=("measure",))
    for name, cells in rows.items():
        _add_row(table, name, *(cells[column] or "–" for column in names))
    return table


def _local_cells(one: Local) -> dict[str, str | None]:
    """Return what is told of one measure of an instance; None for what such predictions do not have."""
    numbers = one.numbers
    return {
        "value": number(one.value),
        "interval": None if one.low is None else outward(one.low, one.high),
        "holds for": f"{one.holds_for:,}",
        "agree": None if one.agree is None else f"{one.agree:,}",
        "others get": None if numbers is None else f"{cell_text(numbers.least)} to {cell_text(numbers.most)}",
        "±": None if numbers is None else about(numbers.sd),
    }


def _sharers(found: LocalResult) -> str:
    if not found.shared_by:
        return "No other row of the sample has this explanation."
    rows = few(map(str, found.shared_by))
    return _wrapped(f"{plural(len(found.shared_by), 'other row')} of the sample share it: {rows}.")


def _drift(told: Told, reference: Told) -> str:
    table = _new_table("measure", "at least", "reference", "difference", "p", left=("measure",))
    here, there = estimates(told), estimates(reference)
    for name, change in reference["difference"].items():
        values = [estimate_view(part[name])["at_least"] for part in (here, there)]
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
