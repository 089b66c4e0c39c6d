"""One instance, and two that contradict each other, as the texts that every report shows."""

from collections.abc import Sequence
from typing import Any

from faithkit.measure.local_estimate import LocalEstimate
from faithkit.measure.witnesses import LocalResult, Violation, Witness
from faithkit.report.formats import about, number, outward, plural, predictions
from faithkit.wording import cell_text, few

MOST_CELLS = 8
LOCAL = ("value", "interval", "holds for", "agree", "others get", "±")


def witness_lines(violation: Violation) -> list[str]:
    """Return the two rows that show that an explanation misleads."""
    shown = predictions(*(seen.prediction for seen in violation.witnesses))
    return [witness_line(seen, told) for seen, told in zip(violation.witnesses, shown, strict=True)]


def witness_line(seen: Witness, prediction: str | None = None) -> str:
    """Return a row, its prediction, and its first cells where they are known.

    Examples
    --------
    >>> witness_line(Witness(3, "yes", {"age": 31, "job": None}))
    'row 3 → yes: age = 31, job = missing'
    """
    told = predictions(seen.prediction)[0] if prediction is None else prediction
    return f"{seen.place} → {told}{_after(seen.cells)}"


def _after(cells: dict[str, Any] | None) -> str:
    """Return what follows a row: its first cells as a person reads them, or nothing where none are known."""
    if not cells:
        return ""
    shown = [f"{name} = {cell_text(cell)}" for name, cell in list(cells.items())[:MOST_CELLS]]
    return f": {', '.join(shown)}" + (", …" if len(cells) > MOST_CELLS else "")


def local_facts(found: LocalResult, row: int | None = None) -> list[str]:
    """Return what an instance is, what it gets, and why."""
    cells = _after(found.cells)
    named = "" if found.id is None else f" ({found.id})"
    which = f"row {row}{named}{cells}" if row is not None else f"{found.id or ''}{cells}".removeprefix(": ")
    facts = [f"prediction: {predictions(found.prediction)[0]}", f"explanation: {found.explanation}"]
    return [which, *facts] if which else facts


def local_table(found: LocalResult) -> tuple[tuple[str, ...], list[tuple[str, ...]]]:
    """Return both measures of one instance: how many agree, and of numbers what the others get.

    These are the names of the columns, and a row for each measure.
    """
    both = {"consistency": found.consistency, "sufficiency": found.sufficiency}
    rows = {name: local_cells(one) for name, one in both.items() if one is not None}
    names = [name for name in LOCAL if any(cells[name] is not None for cells in rows.values())]
    return ("measure", *names), [
        (measure, *(cells[name] or "–" for name in names)) for measure, cells in rows.items()
    ]


def local_cells(one: LocalEstimate) -> dict[str, str | None]:
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


def sharers(found: LocalResult) -> str:
    """Say which rows have the same explanation."""
    if not found.shared_by:
        return "No other row of the sample has this explanation."
    names = found.shared_ids or (None,) * len(found.shared_by)
    both = zip(found.shared_by, names, strict=True)
    rows = few(f"{row}" if name is None else f"{row} ({name})" for row, name in both)
    return f"{plural(len(found.shared_by), 'other row')} of the sample share it: {rows}."


def no_violation(violations: Sequence[Violation]) -> str:
    """Say why there is no violation to show: nothing contradicts an explanation, or nothing could.

    Examples
    --------
    >>> import faithkit
    >>> no_violation(faithkit.score(["yes", "no"], ["a", "b"]).violations())
    'No explanation holds for a second instance, so nothing could contradict one.'
    """
    if getattr(violations, "is_tested", True):
        return "No explanation holds for instances of different predictions."
    return "No explanation holds for a second instance, so nothing could contradict one."
