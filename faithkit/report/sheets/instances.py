"""Show single instances: one row with its measures, and two rows that contradict an explanation."""

from collections.abc import Mapping, Sequence
from typing import Any

from faithkit.measure.local_estimate import LocalEstimate
from faithkit.measure.witnesses import ExplanationView, LocalResult, Violation, Witness
from faithkit.report.formats import (
    describe_scope,
    format_interval,
    format_number,
    format_percent,
    format_predictions,
    format_three_digits,
    pluralize,
)
from faithkit.report.sheets.explanations import (
    MAX_NAMED,
    describe_weights,
    mark_in_line,
    mark_rows,
    mark_words,
    show_explanation,
)
from faithkit.report.sheets.sheet import TEXT, Bullets, Contradiction, Part, Sheet, Table
from faithkit.wording import join_few, value_text

MAX_VALUES = 8  # of a row in a line
MAX_DRAWN = 20  # violations with pictures of their rows: a page must not grow without end
LOCAL_COLUMNS = ("value", "interval", "holds for", "agree", "others get", "±")
WORST_FIRST = "Explanations that hold for instances of different predictions, worst first:"


def local_sheet(estimate: LocalEstimate) -> Sheet:
    """Return one measure of one instance."""
    return Sheet.of(None, Table.of_pairs(_local_values(estimate)))


def instance_sheet(local: LocalResult, row: int | None = None) -> Sheet:
    """Return both measures of one instance, its explanation, and the rows that share or contradict it."""
    table = Sheet(None, [_local_table(local), _sharers(local)])
    rows = [witness_line(witness, view=local.view) for witness in local.contradicted_by]
    contradictions = Sheet("Rows that contradict it:", [Bullets(rows)]) if rows else None
    return Sheet.of(None, *_instance_lines(local, row), table, contradictions)


def decision_page(local: LocalResult, title: str) -> Sheet:
    """Return a page about one decision: the explanation, its measures, and the rows that contradict it."""
    estimate = _shown_estimate(local)
    label = format_predictions(local.prediction)[0]
    scope = "with this explanation" if local.sufficiency is None else "to which this explanation applies"
    sharers = _sharers(local) if local.shared_by or local.sufficiency is not None else None
    return Sheet.of(
        title,
        f"Prediction: {label}",
        Sheet.of("Explanation", *_explanation_parts(local, label)),
        Sheet.of("How far it can be trusted", _trust_sentence(estimate, scope), sharers),
        Sheet.of("What contradicts it", *_contradiction_parts(local, label)),
        Sheet.of("The numbers", _local_table(local)),
    )


def _shown_estimate(local: LocalResult) -> LocalEstimate:
    """Return sufficiency if it was measured, else consistency."""
    return local.consistency if local.sufficiency is None else local.sufficiency


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


def _explanation_parts(local: LocalResult, label: str) -> list[Part]:
    """Return the explanation, and below it the row with marks on what it names."""
    view, is_swapped = _view(local), _speaks_for_another(local)
    named_columns = (
        set(view.named_columns) if view.conditions else {weight.name for weight in view.weights[:MAX_NAMED]}
    )
    values = {
        name: value for name, value in (local.values or {}).items() if name in named_columns or name == TEXT
    }
    row = mark_rows(view, [f"this one → {label}"], [values], [local.image], is_swapped)
    shown = show_explanation(view, is_swapped=is_swapped)
    return [shown, row] if row.values or row.images else [shown]


def _view(shown: LocalResult | Violation) -> ExplanationView:
    return shown.view or ExplanationView(shown.explanation)


def _speaks_for_another(local: LocalResult) -> bool:
    """Whether an explanation supports another class than the predicted one."""
    return any(
        _view(local).speaks_for == format_predictions(row.prediction)[0] for row in local.contradicted_by
    )


def _contradiction_parts(local: LocalResult, label: str) -> list[Part]:
    if _shown_estimate(local).value is None:
        return ["It was compared with no other row, so nothing could contradict it."]
    if not local.contradicted_by:
        return ["No other row of the sample that it was compared with gets another prediction."]
    view, witnesses = _view(local), local.contradicted_by
    heads = list(map(_name_witness, witnesses))
    all_values = [values or {} for values in (local.values, *(row.values for row in witnesses))]
    named_columns = set(view.named_columns if view.conditions else ())
    names = sorted(all_values[0], key=lambda name: name not in named_columns and _is_same(name, all_values))
    values = [{name: row.get(name) for name in names} for row in all_values]
    images = [local.image, *(row.image for row in witnesses)]
    is_swapped = _speaks_for_another(local)
    table = mark_rows(view, [f"this one → {label}", *heads], values, images, is_swapped)
    return [table] if table.values or table.images else [", ".join(heads)]


def _is_same(name: str, all_values: Sequence[Mapping[str, Any]]) -> bool:
    return all(values.get(name) == all_values[0][name] for values in all_values)


def witness_sheet(witness: Witness) -> Sheet:
    """Return one row."""
    table = Table.of_pairs({name: value_text(value) for name, value in (witness.values or {}).items()})
    values = table.cut("values") if table.rows else ()
    return Sheet.of(_name_witness(witness), *values)


def violation_sheet(violation: Violation) -> Sheet:
    """Return an explanation that misleads, and two rows that show it."""
    return Sheet(None, [_contradiction(violation)])


def violations_sheet(violations: Sequence[Violation]) -> Sheet:
    """Return the explanations that mislead most, each with two rows."""
    if not violations:
        return Sheet(None, [no_violation(violations)])
    pairs = [_contradiction(violation, position) for position, violation in enumerate(violations, 1)]
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


def _contradiction(violation: Violation, number: int | None = None) -> Contradiction:
    first, second = violation.witnesses
    labels = format_predictions(first.prediction, second.prediction)
    view = _view(violation)
    is_swapped = view.speaks_for == labels[1]
    rows = list(zip(violation.witnesses, labels, strict=True))
    is_drawn = number is None or number <= MAX_DRAWN
    return Contradiction(
        show_explanation(view, number, is_swapped),
        _scope_sentence(view, violation),
        [witness_line(witness, label, view) for witness, label in rows],
        mark_rows(
            view,
            [_name_witness(witness, label) for witness, label in rows],
            [first.values, second.values],
            [first.image, second.image] if is_drawn else [],
            is_swapped,
        ),
        _bar(violation),
    )


def _scope_sentence(view: ExplanationView, violation: Violation) -> str:
    """Say which prediction an explanation was given for, and for which predictions it holds."""
    is_given = view.speaks_for is not None and not view.are_importances
    return (f"given for {view.speaks_for}, " if is_given else "") + f"holds for {describe_scope(violation)}"


def _bar(violation: Violation) -> tuple[float, float] | None:
    """Return where the bar of an explanation starts and how long it is, as shares; None for vectors.

    For labels it is the share of the first witness's label; for numbers, the middle half of their range.
    """
    numbers = violation.numbers
    if numbers is None and not violation.predictions:
        return None
    if numbers is None:
        return 0.0, violation.predictions[violation.witnesses[0].prediction] / violation.holds_for
    width = numbers.maximum - numbers.minimum or 1.0
    start, stop = (
        (end - numbers.minimum) / width for end in (numbers.lower_quartile, numbers.upper_quartile)
    )
    return start, stop - start


def witness_line(witness: Witness, prediction: str | None = None, view: ExplanationView | None = None) -> str:
    """Return a row, its prediction, and its first values if known.

    Examples
    --------
    >>> witness_line(Witness(3, "yes", {"age": 31, "job": None}))
    'row 3 → yes: age = 31, job = missing'
    """
    return _name_witness(witness, prediction) + _values_text(witness.values, view)


def _name_witness(witness: Witness, prediction: str | None = None) -> str:
    return f"{witness.place} → {prediction or format_predictions(witness.prediction)[0]}"


def _values_text(values: dict[str, Any] | None, view: ExplanationView | None = None) -> str:
    """Return the first values of a row after a colon; empty if unknown.

    The words of a text that an explanation names are marked. The values that a rule names end with "; also".
    """
    if not values:
        return ""
    if list(values) == [TEXT] and view is not None:
        return f": {mark_in_line(mark_words(value_text(values[TEXT]), view))}"
    shown = list(values.items())[:MAX_VALUES]
    named_columns = set(view.named_columns) if view is not None and view.conditions else set()
    parts = [
        ", ".join(
            f"{name} = {value_text(value)}" for name, value in shown if (name in named_columns) == is_named
        )
        for is_named in (True, False)
    ]
    return f": {'; also '.join(filter(None, parts))}" + (", …" if len(values) > MAX_VALUES else "")


def _instance_lines(local: LocalResult, row: int | None) -> list[str]:
    """Return the row, its prediction and its explanation."""
    values = _values_text(local.values, local.view)
    row_name = f"row {row}" if local.id is None else f"row {row} ({local.id})"
    name = (local.id or "") if row is None else row_name
    instance = f"{name}{values}".removeprefix(": ")
    explanation = describe_weights(_view(local))
    lines = [f"prediction: {format_predictions(local.prediction)[0]}", f"explanation: {explanation}"]
    return [instance, *lines] if instance else lines


def _local_table(local: LocalResult) -> Table:
    """Return both measures: how many rows agree, and for numbers the predictions of the others."""
    measures = {"consistency": local.consistency, "sufficiency": local.sufficiency}
    rows = {name: _local_values(estimate) for name, estimate in measures.items() if estimate is not None}
    columns = [name for name in LOCAL_COLUMNS if any(values[name] is not None for values in rows.values())]
    lines = [(measure, *(values[name] or "–" for name in columns)) for measure, values in rows.items()]
    return Table(("measure", *columns), lines)


def _local_values(estimate: LocalEstimate) -> dict[str, str | None]:
    """Return the numbers of one measure of an instance; None for those that its outcome does not have."""
    numbers = estimate.numbers
    return {
        "value": format_number(estimate.value),
        "interval": None if estimate.low is None else format_interval(estimate.low, estimate.high),
        "holds for": f"{estimate.holds_for:,}",
        "agree": None if estimate.agree is None else f"{estimate.agree:,}",
        "others get": None
        if numbers is None
        else f"{value_text(numbers.minimum)} to {value_text(numbers.maximum)}",
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
    verb = "shares" if len(local.shared_by) == 1 else "share"
    return f"{pluralize(len(local.shared_by), 'other row')} of the sample {verb} it: {rows}."
