"""The first screen of a result: what was explained, the verdict, one line per measure, and the next step."""

import attrs

from faithkit.measure.estimate import Estimate
from faithkit.measure.finding import NAMES_THE_LABEL, ONE_LABEL
from faithkit.measure.sentences import explain_checks
from faithkit.measure.stated_scopes import OWN_ROW
from faithkit.measure.verdict import (
    ABOVE_CHANCE,
    ABOVE_ITS_CONTROL,
    FAITHFUL,
    NOT_ABOVE_CONTROL,
    NOTHING_TESTED,
)
from faithkit.measure.words import PREDICTED_CLASS
from faithkit.report.formats import (
    CHANCE,
    LEAVE_ONE_OUT,
    format_interval,
    format_number,
    format_percent,
    name_interval,
    pluralize,
)
from faithkit.report.sheet import Lead, Table
from faithkit.run.result import Result
from faithkit.run.sheets.measures import (
    CONTROL,
    describe_conditions,
    describe_permutations,
    explain_ceiling,
    list_closing_notes,
    n_owners,
    name_estimator,
    remark_on_control,
)

DOMINATED = (
    "Most rows have the same prediction, so these numbers say little about rare labels: by_label() (CLI: "
    "--by-label) shows each label."
)


def first_screen(result: Result, is_dominated: bool = False) -> list[str | Table | Lead | None]:
    """Return the parts of the first screen, without its title.

    It mentions everything that weakens a number: rows without an explanation, assumptions about weights,
    approximate intervals.
    """
    return [
        describe_subject(result) if result.origin.title else None,
        result.origin.note,
        verdict_lead(result),
        *warning_leads(result),
        *list_objections(result, OWN_ROW),  # explanations that are false of their own row
        headline_table(result),
        CONTROL if _shows_control(result) else None,
        *_checked_sentences(result),
        describe_permutations(result, result.both_measures),
        _unexplained_line(result),
        *(f"{line[0].upper()}{line[1:]}." for line in describe_conditions(result)),
        explain_ceiling(result),
        *remark_on_control(result),
        *(line for line in list_closing_notes(result) if line != PREDICTED_CLASS),
        DOMINATED if is_dominated else None,
        *(Lead("Next", step) for step in result.next_steps[:1]),
    ]


def describe_subject(result: Result) -> str:
    """Return the subject of a result: explainer, model, data and their size."""
    return f"{describe_system(result)} ({describe_sample(result)})"


def describe_system(result: Result) -> str:
    """Return explainer, discretizer, model and data.

    Examples
    --------
    >>> import faithkit
    >>> result = faithkit.score([0, 1], [[0.12], [0.91]], discretizer="1fp").with_origin(data="may.csv")
    >>> describe_system(result)
    'logged explanations, rounded down to 1 decimal, in may.csv'
    """
    origin, model, discretized = result.origin, result.setup.model, _describe_discretizer(result)
    name = result.setup.explainer_text or "logged explanations"
    name += f", {discretized}" if discretized else ""
    name += "," if discretized and (model or origin.data) else ""
    name += f" of {model}" if model else ""
    return name + (f" {'on' if model else 'in'} {origin.data}" if origin.data else "")


def _describe_discretizer(result: Result) -> str | None:
    if result.setup.discretizer.text == "original":
        return None
    return result.setup.discretized or f"discretized by {result.setup.discretizer.text}"


def describe_sample(result: Result) -> str:
    """Return the number of rows and columns, and how good the model is on them."""
    origin, columns = result.origin, result.evidence.population.n_columns
    size = pluralize(result.n, "test row" if origin.is_held_out else "row")
    if result.setup.model and columns is not None:
        size += f", {pluralize(columns, 'column')}"
    return size + (f"; {quality}" if (quality := describe_quality(result)) else "")


def describe_quality(result: Result) -> str | None:
    """Say how often the model is right, if the target is known."""
    origin = result.origin
    if origin.accuracy is not None:
        return f"the model is right on {format_percent(origin.accuracy)}"
    return None if origin.r2 is None else f"R² of the model {format_number(origin.r2)}"


def verdict_lead(result: Result) -> Lead:
    """Return the verdict and its reason.

    Examples
    --------
    >>> import faithkit
    >>> verdict_lead(faithkit.score(["yes"] * 5, ["a", "a", "b", "b", "b"])).sentence
    'nothing was tested: all explained predictions agree with each other.'
    """
    return Lead(
        "Verdict",
        f"{_phrase_verdict(result)}: {result.verdict.reason}.{_describe_closed_gap(result)}",
    )


def warning_leads(result: Result) -> list[Lead]:
    """Return the warnings of a result, which stand right after its verdict."""
    return [Lead("Warning", warning.sentence) for warning in result.warnings]


def list_objections(result: Result, name: str | None = None) -> list[str]:
    """Return what was checked beside the measures and did not decide the verdict, or the one of a name."""
    return [
        f"{objection.name.capitalize()}: {objection.sentence}."
        for objection in result.objections
        if objection.sentence != result.verdict.reason and name in (None, objection.name)
    ]


def _phrase_verdict(result: Result) -> str:
    verdict = result.verdict
    name = verdict.name
    if name == FAITHFUL:
        return "faithful as far as this sample can tell"
    if name not in (ABOVE_ITS_CONTROL, ABOVE_CHANCE):
        return str(name)
    errors = ", but with errors" if result.measures[verdict.measure].bracket[1] < 1 else ""
    return f"{name}{errors}"


def _shows_control(result: Result) -> bool:
    """Whether the table shows a control that the verdict does not explain."""
    if result.control is None or result.verdict.name == NOT_ABOVE_CONTROL:
        return False
    sufficiency = result.sufficiency
    return sufficiency is not None and sufficiency.is_compared


def _describe_closed_gap(result: Result) -> str:
    control = result.control
    if result.verdict.name != ABOVE_ITS_CONTROL or control is None or control.worth is None:
        return ""
    worth = str(control.worth)
    return f" Explanations close {worth} of the gap between the control and the full input."


def headline_table(result: Result) -> Table:
    """Return one line per measure: its estimate, interval and baselines."""
    why = result.why_no_sufficiency
    rows = [
        (name, "–", f"not measured: {why}") if estimate is None else _headline_values(result, name, estimate)
        for name, estimate in result.both_measures.items()
    ]
    return Table(("", "", ""), rows, is_numeric=False)


def _headline_values(result: Result, measure: str, estimate: Estimate) -> tuple[str, str, str]:
    relation = f"; {describe_relation(result)}" if measure == "sufficiency" else ""
    if not estimate.is_compared:
        return measure, "–", f"nothing could be compared{relation}"
    control = result.control if measure == "sufficiency" else None
    facts = {
        name_interval(result.confidence): format_interval(*estimate.interval),
        CHANCE: format_number(estimate.chance),
        "control": None if control is None else format_number(control.estimate),
    }
    if result.setup.estimator.text not in LEAVE_ONE_OUT:
        facts[name_estimator(result)] = format_number(estimate.value)
    listed = "; ".join(f"{name} {text}" for name, text in facts.items() if text is not None)
    return measure, format_number(estimate.estimate), f"{listed}{relation}"


def describe_relation(result: Result) -> str:
    """Say what explanations apply to, in words if the relation has some."""
    phrase = result.relation_phrase
    return f"relation {result.relation}" if phrase is None else f"of {phrase}"


def _checked_sentences(result: Result) -> list[str]:
    """Say what was checked for each measure, unless the verdict says it already."""
    verdict, outcome = result.verdict, result.setup.outcome.words
    taken = {
        name: estimate if estimate.is_compared else attrs.evolve(estimate, merging=None)
        for name, estimate in result.measures.items()
    }
    if verdict.name == NOTHING_TESTED or taken[verdict.measure].finding in (ONE_LABEL, NAMES_THE_LABEL):
        del taken[verdict.measure]
    sentences = {name: explain_checks(name, taken[name], n_owners(result, name), outcome) for name in taken}
    if len(sentences) == 1:
        return list(sentences.values())
    return [f"{name.capitalize()}: {text[0].lower()}{text[1:]}" for name, text in sentences.items()]


def _unexplained_line(result: Result) -> str | None:
    if not result.unexplained:
        return None
    rows = f"{result.unexplained:,} of {pluralize(result.n, 'row')}"
    if result.unexplained == 1:
        return f"{rows} has no explanation, and counts as not agreeing."
    return f"{rows} have no explanation, and count as not agreeing."
