"""Show all explanations: a map, and a table of the worst and the largest."""

import numpy as np

from faithkit.measure.explanation_losses import ExplanationTotals, Instances, Overview
from faithkit.report.formats import describe_count, format_number, format_percent, pluralize, shorten
from faithkit.report.outcome_words import Words
from faithkit.report.sheets.sheet import Drawing, Exploration, Sheet
from faithkit.wording import to_printable

MAX_LETTERS = 300  # of an explanation
MAX_NAME = 40  # letters of a prediction or an id

READING = (
    "Agreement is the {agreement}, on average over the rows with an explanation. Loss is the part of "
    "{measure} that disagreement under an explanation takes away; all losses add up to {loss}."
)


def overview_sheet(overview: Overview, outcome: Words) -> Sheet | None:
    """Return the map and the table of explanations; None where nothing could be checked."""
    totals = overview.totals
    if not totals.is_checked.any():
        return None
    loss = format_number(float(totals.loss.sum()))
    caption = READING.format(agreement=outcome.local, measure=overview.measure, loss=loss)
    texts = [_shorten(text, MAX_LETTERS) for text in overview.texts]
    figure = Drawing("map", (totals, dict(zip(overview.selected.tolist(), texts, strict=True))))
    return Sheet.of("Explanations", figure, caption, _unshown(overview), _table(overview, texts))


def _unshown(overview: Overview) -> str:
    """Say which explanations the table shows, and how many are left out."""
    n, n_shown = len(overview.totals.rows), len(overview.selected)
    if n == n_shown:
        return f"The table has all {pluralize(n, 'explanation')}, those that cost most first."
    loss = float(overview.totals.loss.sum() - overview.totals.loss[overview.selected].sum())
    return (
        f"The table has {n_shown:,} of {n:,} explanations: those that cost most, and the largest. The other "
        f"{n - n_shown:,} cost {format_number(max(0.0, loss))} together."
    )


def _table(overview: Overview, texts: list[str]) -> Exploration:
    instances = f"instances ({_shorten(overview.id_column or 'row', MAX_NAME)})"
    rows = [
        (text, _numbers(overview.totals, position), [_line(part) for part in parts])
        for text, position, parts in zip(texts, overview.selected.tolist(), overview.instances, strict=True)
    ]
    scope = () if overview.totals.scope is None else ("applies to",)
    heads = ("explanation", "rows", "share of rows", *scope, "agreement", "loss", instances)
    return Exploration(heads, rows)


def _numbers(totals: ExplanationTotals, position: int) -> list[tuple[float | None, str]]:
    """Return the numbers of an explanation with their texts; dashes where nothing could be checked."""
    rows, share = int(totals.rows[position]), float(totals.share[position])
    numbers: list[tuple[float | None, str]] = [(rows, f"{rows:,}"), (share, format_percent(share))]
    if totals.scope is not None:
        numbers.append((int(totals.scope[position]), f"{totals.scope[position]:,}"))
    for values in (totals.agreement, totals.loss):
        value = None if np.isnan(totals.agreement[position]) else float(values[position])
        numbers.append((value, format_number(value)))
    return numbers


def _line(part: Instances) -> str:
    """Return how many rows have one prediction, and the first of them.

    >>> _line(Instances("yes", 12, ("0", "4", "17"))), _line(Instances(None, 5, ()))
    ('12 get yes: 0, 4, 17, …', '5 get something else')
    """
    prediction = "something else" if part.prediction is None else _shorten(part.prediction, MAX_NAME)
    names = [_shorten(name, MAX_NAME) for name in part.first]
    rows = ", ".join([*names, "…"] if part.n > len(names) else names)
    return describe_count(part.n, prediction) + (f": {rows}" if names else "")


def _shorten(text: str, limit: int) -> str:
    return shorten(to_printable(text), limit)
