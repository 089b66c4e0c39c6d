"""Results as a person reads them in a terminal: tables of at most 80 columns, and plain sentences."""

import io
import textwrap
from typing import TYPE_CHECKING, Any

from faithkit.measure import MEASURES
from faithkit.measure.estimate import Estimate
from faithkit.report.formats import (
    ends,
    facts,
    held,
    interval_name,
    left_out_line,
    luck_text,
    note,
    number,
    ordering,
    percent,
    permuted,
    plural,
    significance,
    title,
    value_text,
)
from faithkit.wording import cell_text, few, visible

if TYPE_CHECKING:
    from faithkit.measure.witnesses import LocalResult, Violation, Witness
    from faithkit.run.comparison import Comparison
    from faithkit.run.evaluation import Evaluation
    from faithkit.run.findings import Findings
    from faithkit.run.subgroups import Subgroups

WIDTH = 80
MOST_CELLS = 8


def summary(result: "Evaluation") -> str:
    """Return the table and what it means."""
    told = _lines([permuted(result), *sentences(result)])
    return _printed(title(result), *facts(result), _table(result)) + told


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


def _lines(told: list[str | None]) -> str:
    return "".join(f"{_wrapped(line)}\n" for line in told if line)


def _table(result: "Evaluation") -> Any:
    columns = ("measure", "value", interval_name(result), "verified", "by chance", "verdict")
    table = _new_table(*columns, left=("measure", "verdict"))
    for name, found in _measures(result):
        _add_row(table, name, *_cells(found))
    return table


def _measures(result: "Evaluation") -> list[tuple[str, Estimate | None]]:
    return [("consistency", result.consistency), ("sufficiency", result.sufficiency)]


def _cells(found: Estimate | None) -> list[str]:
    if found is None:
        return ["–", "–", "–", "–", "not measured"]
    shown = [value_text(found), ends(found.low, found.high), percent(found.verified)]
    return [*shown, luck_text(found), found.verdict]


def sentences(result: "Evaluation") -> list[str]:
    """Say in plain words what each measure means."""
    told = [_sentence("Instances that share an explanation", result.consistency)]
    if result.sufficiency is not None:
        told.append(_sentence("Instances to which an explanation applies", result.sufficiency))
    else:
        told.append(f"Sufficiency was not measured: {result.why_no_sufficiency}.")
    if result.provenance.background == "the sample itself":
        told.append("What was learnt was learnt from the rows it was judged on, which flatters it.")
    return told if (remark := note(result)) is None else [*told, remark]


def _sentence(who: str, found: Estimate) -> str:
    if found.verified == 0:
        return (
            f"{who}: none were found, so nothing could be checked; the sample says nothing about the truth."
        )
    agree = found.bracket[0] / found.verified
    rest = "all instances could be checked"
    if found.verified < 1:
        rest = f"{percent(1 - found.verified)} of instances could not be checked"
    return f"{who} get the same prediction {percent(agree)} of the time; {rest}."


def subgroup_table(groups: "Subgroups") -> str:
    """Return one row per group, for each measure: its value, and the difference to everybody else."""
    measures = ["consistency"]
    if any(part.sufficiency is not None for part in groups.values()):
        measures.append("sufficiency")
    return "\n".join(_subgroups(groups, measure) for measure in measures)


def _subgroups(groups: "Subgroups", measure: str) -> str:
    first = next(iter(groups.values()))
    columns = (groups.name, "n", "value", interval_name(first), "verified", "minus the rest")
    table = _new_table(*columns, left=(groups.name,))
    for group, row in groups.to_frame(measure).astype(object).iterrows():
        cells = _cells(getattr(groups[group], measure))[:3]
        _add_row(table, str(group), f"{groups[group].n:,}", *cells, _minus(row, 1 - first.confidence))
    told = ["*: the difference is not 0; corrected for the number of groups (Holm).", note(first)]
    return _printed(f"{measure} by {groups.name}", table) + _lines(told)


def _minus(row: Any, alpha: float) -> str:
    if row.get("from") is None or row["from"] != row["from"]:  # a group that is everybody
        return "–"
    sure = "*" if row["p_value"] < alpha else " "
    value = row["difference"]
    told = "–" if value is None or value != value else f"{value:+.2f}"
    return f"{told} ({row['from']:+.2f}, {row['to']:+.2f}) {sure}"


def comparison_table(found: "Comparison") -> str:
    """Return one row per system and measure; those that may be the best are marked."""
    parts = []
    for measure in MEASURES:
        best = found.best(measure)
        if best:
            parts.append(_compared(found, measure, best))
    notes = _lines([left_out_line(found), ordering(found)])
    return "\n".join([*parts, notes] if notes else parts)


def _compared(found: "Comparison", measure: str, best: list[str]) -> str:
    first = next(iter(found.results.values()))
    ranked = found.ranked(measure)
    p = {name: significance(one.p_value) for name, one in ranked.items() if one.p_value is not None}
    columns = ("", measure, "value", interval_name(first), "verified", *(["p"] if p else []))
    table = _new_table(*columns, left=(measure, ""))
    for name, one in ranked.items():
        last = [p.get(name, "–")] if p else []
        _add_row(table, "*" if name in best else "", name, *_cells(one)[:3], *last)
    tied = "the best" if len(best) == 1 else "these may all be the best: the sample cannot tell them apart"
    return _printed(table) + _lines([f"*: {tied} (paired differences, Holm's correction)."])


def violation_text(violations: "list[Violation]") -> str:
    """Return the witnesses: each explanation, whom it holds for, and two rows that contradict each other."""
    if not violations:
        return "No explanation holds for instances of different predictions.\n"
    lines = ["Explanations that hold for instances of different predictions, worst first:"]
    for place, violation in enumerate(violations, 1):
        lines += ["", _indented(f"{place}. {violation.explanation}", "   ")]
        lines += [_indented(f"   holds for {held(violation)}", "     ")]
        lines += [_witness(seen) for seen in violation.witnesses]
    return "\n".join(lines) + "\n"


def _witness(seen: "Witness") -> str:
    cells = f": {cells_text(seen.cells)}" if seen.cells else ""
    return _indented(f"   row {seen.row} → {seen.prediction}{cells}", "     ")


def cells_text(cells: dict[str, Any]) -> str:
    """Return a row's first cells as a person reads them."""
    shown = [f"{name} = {cell_text(cell)}" for name, cell in list(cells.items())[:MOST_CELLS]]
    return ", ".join(shown) + (", …" if len(cells) > MOST_CELLS else "")


def _indented(line: str, more: str) -> str:
    return textwrap.fill(visible(line), WIDTH, subsequent_indent=more)


def local_text(found: "LocalResult", row: int) -> str:
    """Return one instance: its explanation, both measures, and who shares it."""
    cells = [_indented(f"row {row}: {cells_text(found.cells)}", "  ")] if found.cells else [f"row {row}"]
    lines = [
        *cells,
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


def _sharers(found: "LocalResult") -> str:
    if not found.shared_by:
        return "No other row of the sample has this explanation."
    rows = few(map(str, found.shared_by))
    return _wrapped(f"{plural(len(found.shared_by), 'other row')} of the sample share it: {rows}.")


def findings_text(found: "Findings") -> str:
    """Return the summary, then what else was asked for."""
    parts = [summary(found.result)]
    if found.reference is not None:
        parts.append(_drift(found))
    if found.subgroups is not None:
        parts.append(subgroup_table(found.subgroups))
    if found.violations is not None:
        parts.append(violation_text(found.violations))
    return "\n".join(parts)


def _drift(found: "Findings") -> str:
    table = _new_table("measure", "value", "reference", "difference", "p", left=("measure",))
    for name, change in found.drift().items():
        values = [value_text(getattr(part, name)) for part in (found.result, found.reference)]
        value = "–" if change.value is None else f"{change.value:+.3f}"
        told = f"{value} ({change.low:+.3f} to {change.high:+.3f})"
        _add_row(table, name, *values, told, f"{change.p_value:.2g}")
    return _printed(table)
