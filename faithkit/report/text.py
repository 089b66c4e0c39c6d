"""A result as a person reads it in a terminal: a table of at most 80 columns and a sentence each."""

import io
import textwrap
from typing import TYPE_CHECKING, Any

from faithkit.measure.estimate import Estimate

if TYPE_CHECKING:
    from faithkit.run.evaluation import Evaluation

WIDTH = 80


def summary(result: "Evaluation") -> str:
    """Return the table and what it means."""
    from rich.console import Console

    out = io.StringIO()
    console = Console(file=out, width=WIDTH, color_system=None, highlight=False)
    console.print(_heading(result))
    console.print(_table(result))
    told = [_wrapped(sentence) for sentence in sentences(result)]
    return "\n".join([*(line.rstrip() for line in out.getvalue().splitlines()), *told]) + "\n"


def _wrapped(sentence: str) -> str:
    """Break at 80 columns, but never between a number and its percent sign."""
    return textwrap.fill(sentence.replace(" %", "\u00a0%"), WIDTH).replace("\u00a0", " ")


def _heading(result: "Evaluation") -> str:
    facts = result.provenance
    parts = [given.text for given in (facts.explainer, facts.discretizer) if given is not None]
    system = " · ".join(part for part in parts if part != "original") or "logged explanations"
    model = f" of {facts.model}" if facts.model else ""
    distinct = _plural(result.n_explanations, "distinct explanation")
    lines = [f"{system}{model}", f"{_plural(result.n, 'instance')}, {distinct}"]
    if result.unexplained:
        lines.append(f"{result.unexplained:,} unexplained ({_told(result.why_unexplained)})")
    if result.remarks:
        lines.append(f"of the explanations, {_told(result.remarks)}")
    return "\n".join(lines)


def _told(remarks: dict[str, int]) -> str:
    return "; ".join(f"{remark}: {count:,}" for remark, count in remarks.items())


def _plural(number: int, noun: str) -> str:
    return f"{number:,} {noun}{'' if number == 1 else 's'}"


def _table(result: "Evaluation") -> Any:
    from rich import box
    from rich.table import Table

    table = Table(box=box.SIMPLE_HEAD, pad_edge=False, show_edge=False)
    percent = f"{100 * result.consistency.confidence:g} % interval"
    for name in ("measure", "value", percent, "verified", "by chance", "verdict"):
        table.add_column(name, justify="left" if name in ("measure", "verdict") else "right", no_wrap=True)
    for name, found in _measures(result):
        table.add_row(name, *_cells(found, result.chance))
    return table


def _measures(result: "Evaluation") -> list[tuple[str, Estimate | None]]:
    return [("consistency", result.consistency), ("sufficiency", result.sufficiency)]


def _cells(found: Estimate | None, chance: float | None) -> list[str]:
    if found is None:
        return ["–", "–", "–", "–", "not measured"]
    ends = "–" if found.low is None or found.high is None else f"{found.low:.3f} – {found.high:.3f}"
    luck = "–" if chance is None else f"{found.verified * chance:.3f}"
    return [_number(found.value), ends, f"{_percent(found.verified)}", luck, found.verdict]


def _number(value: float | None) -> str:
    return "–" if value is None else f"{value:.3f}"


def _percent(share: float) -> str:
    """Return a whole percentage that says 0 or 100 only where nothing or everything is meant."""
    rounded = round(100 * share)
    if 0 < share < 1:
        rounded = min(max(rounded, 1), 99)
    return f"{rounded} %"


def sentences(result: "Evaluation") -> list[str]:
    """Say in plain words what each measure means."""
    told = [_sentence("Instances that share an explanation", result.consistency)]
    if result.sufficiency is not None:
        told.append(_sentence("Instances to which an explanation applies", result.sufficiency))
    else:
        told.append(f"Sufficiency was not measured: {result.why_no_sufficiency}.")
    if result.provenance.background == "the sample itself":
        told.append("The explainer learnt from the rows it was judged on, which flatters it.")
    return told


def _sentence(who: str, found: Estimate) -> str:
    if found.verified == 0:
        return (
            f"{who}: none were found, so nothing could be checked; the value 0 says nothing about the truth."
        )
    agree = found.bracket[0] / found.verified
    rest = "all instances could be checked"
    if found.verified < 1:
        rest = f"{_percent(1 - found.verified)} of instances could not be checked"
    return f"{who} get the same prediction {_percent(agree)} of the time; {rest}."
