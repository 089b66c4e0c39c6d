"""Format results as a table with two rows for each attack: the lie and its honest twin."""

import csv
import io
from collections.abc import Iterable, Sequence

from faithkit_attacks.attack_catalogue import ModelAndExplainer
from faithkit_attacks.measuring import MEASURES, AttackResult, exposes_lie

HEADER = ("attack", "caught by", "explains", *MEASURES)
NOTHING = "nothing"


def table_rows(result: AttackResult) -> list[list[str]]:
    """Return the two rows of an attack: first the lie, then its honest twin."""
    attack = result.attack
    caught_by = ", ".join(result.caught_by) or NOTHING
    return [
        [attack.name, caught_by, _describe(attack.lie), *(str(result.lie[name]) for name in MEASURES)],
        ["its honest twin", "", _describe(attack.twin), *(str(result.twin[name]) for name in MEASURES)],
    ]


def format_csv(results: Iterable[AttackResult]) -> str:
    """Format results as CSV."""
    text = io.StringIO()
    writer = csv.writer(text, lineterminator="\n")
    writer.writerow(HEADER)
    writer.writerows(row for result in results for row in table_rows(result))
    return text.getvalue()


def format_text(result: AttackResult) -> str:
    """Format a result for a terminal, with a row for each measure that applies."""
    rows = [("", "the lie", "its honest twin", "")]
    for name in MEASURES:
        lie, twin = result.lie[name], result.twin[name]
        if (str(lie), str(twin)) != ("–", "–"):
            rows.append((name, str(lie), str(twin), "caught" if exposes_lie(lie, twin) else ""))
    head = f"{result.attack.name}: {result.attack.summary}"
    sides = f"  {_describe(result.attack.lie)} beside {_describe(result.attack.twin)}"
    return "\n".join([head, sides, *_align_columns(rows)])


def _describe(side: ModelAndExplainer) -> str:
    return f"{side.explainer.partition(':')[0]} of {side.model}"


def _align_columns(rows: Sequence[tuple[str, ...]]) -> list[str]:
    widths = [max(map(len, column)) for column in zip(*rows, strict=True)]
    return [
        "  " + "  ".join(f"{text:<{width}}" for text, width in zip(row, widths, strict=True)).rstrip()
        for row in rows
    ]
