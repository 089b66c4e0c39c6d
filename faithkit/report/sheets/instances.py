"""Show single instances: one row with its measures, and two rows that contradict an explanation."""

from collections.abc import Sequence
from typing import Any

from faithkit.measure.local_estimate import LocalEstimate
from faithkit.measure.witnesses import LocalResult, Violation, Witness
from faithkit.report.formats import (
    describe_scope,
    format_interval,
    format_number,
    format_percent,
    format_predictions,
    format_three_digits,
    pluralize,
)
from faithkit.report.sheets.sheet import Bullets, Contradiction, Sheet, Table
from faithkit.wording import join_few, value_text

MAX_CELLS = 8  # of a row in a line
LOCAL_COLUMNS = ("value", "interval", "holds for", "agree", "others get", "±")
WORST_FIRST = "Explanations that hold for instances of different predictions, worst first:"


def local_sheet(estimate: LocalEstimate) -> Sheet:
    """Return one measure of one instance."""
    return Sheet.of(None, Table.of_pairs(_local_cells(estimate)))


def instance_sheet(local: LocalResult, row: int | None = None) -> Sheet:
    """Return both measures of one instance, its explanation, and the rows that share or contradict it."""
    table = Sheet(None, [_local_table(local), _sharers(local)])
    rows = [witness_line(witness) for witness in local.contradicted_by]
    contradictions = Sheet("The nearest rows that contradict it:", [Bullets(rows)]) if rows else None
    return Sheet.of(None, *_instance_lines(local, row), table, contradictions)


def decision_page(local: LocalResult, title: str) -> Sheet:
    """Return one decision as a page: the explanation, how far it can be trusted, and what contradicts it."""
    estimate = local.consistency if local.sufficiency is None else local.sufficiency
    label = format_predictions(local.prediction)[0]
    scope = "with this explanation" if local.sufficiency is None else "to which this explanation applies"
    return Sheet.of(
        title,
        f"Prediction: {label}",
        Sheet.of("Explanation", local.explanation),
        Sheet.of("How far it can be trusted", _trust_sentence(estimate, scope), _sharers(local)),
        Sheet.of("What contradicts it", *_contradiction_parts(local, label)),
        Sheet.of("The numbers", _local_table(local)),
    )


def _trust_sentence(estimate: LocalEstimate, scope: str) -> str:
    """Return how many other rows agree, and how sure that is."""
    if estimate.value is None:
        return f"There is no other row {scope}, so nothing is known of its truth."
    if estimate.agree is None or estimate.low is None:
        return f"Predictions of other rows {scope} agree with this one to {format_number(estimate.value)}."
    interval = format_interval(estimate.low, estimate.high)
    return (
        f"Of the other rows {scope}, {format_percent(estimate.value)} get the same prediction (interval "
        f"{interval})."
    )


def _contradiction_parts(local: LocalResult, label: str) -> list[Table | str]:
    if not local.contradicted_by:
        return ["No other row of the sample that it was compared with gets another prediction."]
    heads = ["", f"this one → {label}"]
    heads += [
        f"{witness.place} → {format_predictions(witness.prediction)[0]}" for witness in local.contradicted_by
    ]
    names = sorted(local.cells or {}, key=lambda name: _is_same(name, local))  # those that differ come first
    rows = [
        (name, *(value_text((cells or {}).get(name)) for cells in (local.cells, *_cells(local))))
        for name in names
    ]
    return (
        [Table(heads, rows, is_numeric=False)]
        if rows
        else [witness.place for witness in local.contradicted_by]
    )


def _cells(local: LocalResult) -> list[dict[str, Any] | None]:
    return [witness.cells for witness in local.contradicted_by]


def _is_same(name: str, local: LocalResult) -> bool:
    return all((cells or {}).get(name) == (local.cells or {}).get(name) for cells in _cells(local))


def witness_sheet(witness: Witness) -> Sheet:
    """Return one row."""
    table = Table.of_pairs({name: value_text(value) for name, value in (witness.cells or {}).items()})
    cells = table.cut("cells") if table.rows else ()
    return Sheet.of(f"{witness.place} → {format_predictions(witness.prediction)[0]}", *cells)


def violation_sheet(violation: Violation) -> Sheet:
    """Return an explanation that misleads, and two rows that show it."""
    return Sheet(None, [_contradiction(violation, violation.explanation)])


def violations_sheet(violations: Sequence[Violation]) -> Sheet:
    """Return the explanations that mislead most, each with two rows."""
    if not violations:
        return Sheet(None, [no_violation(violations)])
    pairs = [
        _contradiction(violation, f"{place}. {violation.explanation}")
        for place, violation in enumerate(violations, 1)
    ]
    worst = Sheet(None, [WORST_FIRST, *pairs])
    note = getattr(violations, "note", None)
    return Sheet(None, [note, worst]) if note else worst


def no_violation(violations: Sequence[Violation]) -> str:
    """Return why there is no violation: nothing contradicts an explanation, or nothing could.

    Examples
    --------
    >>> import faithkit
    >>> no_violation(faithkit.score(["yes", "no"], ["a", "b"]).violations())
    'No explanation holds for a second instance, so nothing could contradict one.'
    """
    if getattr(violations, "is_tested", True):
        return "No explanation holds for instances of different predictions."
    return "No explanation holds for a second instance, so nothing could contradict one."


def _contradiction(violation: Violation, explanation: str) -> Contradiction:
    first, second = violation.witnesses
    labels = format_predictions(first.prediction, second.prediction)
    cells = [
        (name, (value_text(value), value_text((second.cells or {})[name])))
        for name, value in (first.cells or {}).items()
    ]
    return Contradiction(
        explanation,
        describe_scope(violation),
        [witness_line(witness, label) for witness, label in zip(violation.witnesses, labels, strict=True)],
        [(witness.place, label) for witness, label in zip(violation.witnesses, labels, strict=True)],
        cells,
        _bar(violation),
    )


def _bar(violation: Violation) -> tuple[float, float] | None:
    """Return where the bar of an explanation starts and how long it is, as shares; None for vectors.

    For labels it is the share of the first witness's label; for numbers, the middle half of their range.
    """
    numbers = violation.numbers
    if numbers is None and not violation.predictions:
        return None
    if numbers is None:
        return 0.0, violation.predictions[violation.witnesses[0].prediction] / violation.holds_for
    width = numbers.most - numbers.least or 1.0
    start, stop = ((end - numbers.least) / width for end in (numbers.quarter, numbers.three_quarters))
    return start, stop - start


def witness_line(witness: Witness, prediction: str | None = None) -> str:
    """Return a row, its prediction, and its first cells where they are known.

    Examples
    --------
    >>> witness_line(Witness(3, "yes", {"age": 31, "job": None}))
    'row 3 → yes: age = 31, job = missing'
    """
    label = format_predictions(witness.prediction)[0] if prediction is None else prediction
    return f"{witness.place} → {label}{_cells_text(witness.cells)}"


def _cells_text(cells: dict[str, Any] | None) -> str:
    """Return the first cells of a row after a colon, or nothing where they are unknown."""
    if not cells:
        return ""
    texts = [f"{name} = {value_text(value)}" for name, value in list(cells.items())[:MAX_CELLS]]
    return f": {', '.join(texts)}" + (", …" if len(cells) > MAX_CELLS else "")


def _instance_lines(local: LocalResult, row: int | None) -> list[str]:
    """Return the row, its prediction and its explanation."""
    cells = _cells_text(local.cells)
    place = f"row {row}" if local.id is None else f"row {row} ({local.id})"
    name = (local.id or "") if row is None else place
    instance = f"{name}{cells}".removeprefix(": ")
    lines = [f"prediction: {format_predictions(local.prediction)[0]}", f"explanation: {local.explanation}"]
    return [instance, *lines] if instance else lines


def _local_table(local: LocalResult) -> Table:
    """Return both measures: how many rows agree, and for numbers the predictions of the others."""
    measures = {"consistency": local.consistency, "sufficiency": local.sufficiency}
    rows = {name: _local_cells(estimate) for name, estimate in measures.items() if estimate is not None}
    columns = [name for name in LOCAL_COLUMNS if any(cells[name] is not None for cells in rows.values())]
    lines = [(measure, *(cells[name] or "–" for name in columns)) for measure, cells in rows.items()]
    return Table(("measure", *columns), lines)


def _local_cells(estimate: LocalEstimate) -> dict[str, str | None]:
    """Return the numbers of one measure of an instance; None for those that its outcome does not have."""
    numbers = estimate.numbers
    return {
        "value": format_number(estimate.value),
        "interval": None if estimate.low is None else format_interval(estimate.low, estimate.high),
        "holds for": f"{estimate.holds_for:,}",
        "agree": None if estimate.agree is None else f"{estimate.agree:,}",
        "others get": None
        if numbers is None
        else f"{value_text(numbers.least)} to {value_text(numbers.most)}",
        "±": None if numbers is None else format_three_digits(numbers.sd),
    }


def _sharers(local: LocalResult) -> str:
    """Return the rows that have the same explanation."""
    if not local.shared_by:
        return "No other row of the sample has this explanation."
    ids = local.shared_ids or (None,) * len(local.shared_by)
    rows = join_few(
        f"{row}" if id is None else f"{row} ({id})" for row, id in zip(local.shared_by, ids, strict=True)
    )
    return f"{pluralize(len(local.shared_by), 'other row')} of the sample share it: {rows}."
