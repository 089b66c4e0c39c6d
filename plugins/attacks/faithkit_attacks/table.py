"""Findings as a table: two lines for each attack, the lie and the truth beside it."""

import csv
import io
from collections.abc import Iterable, Sequence

from faithkit_attacks.catalogue import Telling
from faithkit_attacks.measuring import MEASURES, Finding, betrays

HEADER = ("attack", "caught by", "explains", *MEASURES)
NOTHING = "nothing"


def lines(finding: Finding) -> list[list[str]]:
    """Return the two lines of an attack: first the lie, then its honest twin."""
    attack = finding.attack
    told = ", ".join(finding.caught_by) or NOTHING
    return [
        [attack.name, told, _who(attack.lie), *(str(finding.lie[name]) for name in MEASURES)],
        ["its honest twin", "", _who(attack.twin), *(str(finding.twin[name]) for name in MEASURES)],
    ]


def as_csv(findings: Iterable[Finding]) -> str:
    """Write findings as CSV."""
    text = io.StringIO()
    writer = csv.writer(text, lineterminator="\n")
    writer.writerow(HEADER)
    writer.writerows(line for finding in findings for line in lines(finding))
    return text.getvalue()


def as_text(finding: Finding) -> str:
    """Write one finding for a terminal: a line for each measure that says anything."""
    rows = [("", "the lie", "its honest twin", "")]
    for name in MEASURES:
        lie, twin = finding.lie[name], finding.twin[name]
        if (str(lie), str(twin)) != ("–", "–"):
            rows.append((name, str(lie), str(twin), "caught" if betrays(lie, twin) else ""))
    head = f"{finding.attack.name}: {finding.attack.summary}"
    who = f"  {_who(finding.attack.lie)} beside {_who(finding.attack.twin)}"
    return "\n".join([head, who, *_aligned(rows)])


def _who(told: Telling) -> str:
    return f"{told.explainer.partition(':')[0]} of {told.model}"


def _aligned(rows: Sequence[tuple[str, ...]]) -> list[str]:
    widths = [max(map(len, column)) for column in zip(*rows, strict=True)]
    return ["  " + "  ".join(f"{c:<{w}}" for c, w in zip(row, widths, strict=True)).rstrip() for row in rows]
