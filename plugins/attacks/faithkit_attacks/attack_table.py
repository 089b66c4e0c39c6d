"""Format results as a table with two rows for each attack: the lie and its honest twin."""

import csv
import io
from collections.abc import Iterable, Sequence

from faithkit_attacks.attack_catalogue import ModelAndExplainer
from faithkit_attacks.measuring import MEASURES, AttackResult, SideResult

HEADER = ("attack", "verdict", "caught by", "explains", *MEASURES)
NOTHING = "nothing"
NOT_APPLICABLE = "–"


def table_rows(result: AttackResult) -> list[list[str]]:
    """Return the two rows of an attack: first the lie, then its honest twin."""
    attack, lie, twin = result.attack, result.lie, result.twin
    caught_by = ", ".join(result.caught_by) or NOTHING
    return [
        [attack.name, lie.verdict, caught_by, _describe(attack.lie), *_cells(lie)],
        ["its honest twin", twin.verdict, "", _describe(attack.twin), *_cells(twin)],
    ]


def format_csv(results: Iterable[AttackResult]) -> str:
    """Format results as CSV."""
    text = io.StringIO()
    writer = csv.writer(text, lineterminator="\n")
    writer.writerow(HEADER)
    writer.writerows(row for result in results for row in table_rows(result))
    return text.getvalue()


def format_text(result: AttackResult) -> str:
    """Format a result for a terminal: the verdicts, what speaks against each side, and the measures."""
    lie, twin = result.lie, result.twin
    rows = [
        ("verdict", lie.verdict, twin.verdict),
        (
            "objections",
            ", ".join(lie.objections) or NOT_APPLICABLE,
            ", ".join(twin.objections) or NOT_APPLICABLE,
        ),
        ("warnings", ", ".join(lie.warnings) or NOT_APPLICABLE, ", ".join(twin.warnings) or NOT_APPLICABLE),
        *zip(MEASURES, _cells(lie), _cells(twin), strict=True),
    ]
    shown = [row for row in rows if row[1:] != (NOT_APPLICABLE, NOT_APPLICABLE)]
    head = f"{result.attack.name}: {result.attack.summary}"
    sides = f"  {_describe(result.attack.lie)} beside {_describe(result.attack.twin)}"
    caught_by = f"  caught by: {', '.join(result.caught_by) or NOTHING}"
    return "\n".join([head, sides, *_align_columns([("", "the lie", "its honest twin"), *shown]), caught_by])


def _cells(side: SideResult) -> list[str]:
    return [str(side.measurements[name]) for name in MEASURES]


def _describe(side: ModelAndExplainer) -> str:
    return f"{side.explainer.partition(':')[0]} of {side.model}"


def _align_columns(rows: Sequence[tuple[str, ...]]) -> list[str]:
    widths = [max(map(len, column)) for column in zip(*rows, strict=True)]
    return [
        "  " + "  ".join(f"{text:<{width}}" for text, width in zip(row, widths, strict=True)).rstrip()
        for row in rows
    ]
