"""The first screen of a result: what was explained, the verdict, one line per measure, and the next step."""

import attrs

from faithkit.measure.estimate import Estimate
from faithkit.measure.finding import NAMES_THE_LABEL, ONE_LABEL
from faithkit.measure.stated_scopes import OWN_ROW
from faithkit.measure.verdict import (
    ABOVE_CHANCE,
    ABOVE_ITS_CONTROL,
    FAITHFUL,
    NOT_ABOVE_CONTROL,
    NOTHING_TESTED,
)
from faithkit.report.formats import (
    CHANCE,
    LEAVE_ONE_OUT,
    Payload,
    format_interval,
    format_number,
    format_percent,
    name_interval,
    pluralize,
)
from faithkit.report.outcome_words import PREDICTED_CLASS, choose_words
from faithkit.report.payloads import name_estimator, read_confidence, read_control, read_estimates
from faithkit.report.sentences import explain_checks
from faithkit.report.sheets.measures import (
    CONTROL,
    describe_conditions,
    describe_permutations,
    explain_ceiling,
    format_worth,
    list_closing_notes,
    n_owners,
    remark_on_control,
)
from faithkit.report.sheets.sheet import Lead, Part, Table

DOMINATED = (
    "Most rows have the same prediction, so these numbers say little about rare labels: by_label() (CLI: "
    "--by-label) shows each label."
)


def first_screen(payload: Payload, is_dominated: bool = False) -> list[Part | None]:
    """Return the parts of the first screen, without its title.

    It mentions everything that weakens a number: rows without an explanation, assumptions about weights,
    approximate intervals.
    """
    return [
        describe_subject(payload) if payload["origin"]["title"] else None,
        payload["origin"]["note"],
        verdict_lead(payload),
        *warning_leads(payload),
        *_false_explanations(payload),
        headline_table(payload),
        CONTROL if _shows_control(payload) else None,
        *_checked_sentences(payload),
        describe_permutations(payload, read_estimates(payload)),
        _unexplained_line(payload),
        *(f"{line[0].upper()}{line[1:]}." for line in describe_conditions(payload)),
        explain_ceiling(payload),
        *remark_on_control(payload),
        *(line for line in list_closing_notes(payload) if line != PREDICTED_CLASS),
        DOMINATED if is_dominated else None,
        Lead("Next", payload["next_steps"][0]) if payload.get("next_steps") else None,
    ]


def describe_subject(payload: Payload) -> str:
    """Return the subject of a result: explainer, model, data and their size."""
    return f"{describe_system(payload)} ({describe_sample(payload)})"


def describe_system(payload: Payload) -> str:
    """Return explainer, discretizer, model and data.

    Examples
    --------
    >>> import faithkit
    >>> result = faithkit.score([0, 1], [[0.12], [0.91]], discretizer="1fp").with_origin(data="may.csv")
    >>> describe_system(result.to_dict())
    'logged explanations, rounded down to 1 decimal, in may.csv'
    """
    origin, model, discretized = payload["origin"], payload["model"], _describe_discretizer(payload)
    name = payload["explainer"] or "logged explanations"
    name += f", {discretized}" if discretized else ""
    name += "," if discretized and (model or origin["data"]) else ""
    name += f" of {model}" if model else ""
    return name + (f" {'on' if model else 'in'} {origin['data']}" if origin["data"] else "")


def _describe_discretizer(payload: Payload) -> str | None:
    if payload["discretizer"] == "original":
        return None
    return payload["discretized"] or f"discretized by {payload['discretizer']}"


def describe_sample(payload: Payload) -> str:
    """Return the number of rows and columns, and how good the model is on them."""
    origin, columns = payload["origin"], payload.get("data", {}).get("columns")
    size = pluralize(payload["n"], "test row" if origin["is_held_out"] else "row")
    if payload["model"] and columns is not None:
        size += f", {pluralize(columns, 'column')}"
    return size + (f"; {quality}" if (quality := describe_quality(payload)) else "")


def describe_quality(payload: Payload) -> str | None:
    """Say how often the model is right, if the target is known."""
    origin = payload["origin"]
    if origin["accuracy"] is not None:
        return f"the model is right on {format_percent(origin['accuracy'])}"
    return None if origin["r2"] is None else f"R² of the model {format_number(origin['r2'])}"


def verdict_lead(payload: Payload) -> Lead:
    """Return the verdict and its reason.

    Examples
    --------
    >>> import faithkit
    >>> verdict_lead(faithkit.score(["yes"] * 5, ["a", "a", "b", "b", "b"]).to_dict()).sentence
    'nothing was tested: all explained predictions agree with each other.'
    """
    return Lead(
        "Verdict",
        f"{_phrase_verdict(payload)}: {payload['verdict']['reason']}.{_describe_closed_gap(payload)}",
    )


def warning_leads(payload: Payload) -> list[Lead]:
    """Return the warnings of a result, which stand right after its verdict."""
    return [Lead("Warning", warning["sentence"]) for warning in payload["warnings"]]


def list_objections(payload: Payload) -> list[str]:
    """Return what was checked beside the measures and did not decide the verdict."""
    reason = payload["verdict"]["reason"]
    return [
        f"{objection['name'].capitalize()}: {objection['sentence']}."
        for objection in payload["objections"]
        if objection["sentence"] != reason
    ]


def _false_explanations(payload: Payload) -> list[str]:
    """Say that explanations are false of their own row, unless the verdict says it."""
    objections = [one for one in payload["objections"] if one["name"] == OWN_ROW]
    return list_objections(dict(payload) | {"objections": objections})


def _phrase_verdict(payload: Payload) -> str:
    verdict = payload["verdict"]
    name = verdict["name"]
    if name == FAITHFUL:
        return "faithful as far as this sample can tell"
    if name not in (ABOVE_ITS_CONTROL, ABOVE_CHANCE):
        return str(name)
    errors = ", but with errors" if payload["measures"][verdict["measure"]]["bracket"][1] < 1 else ""
    return f"{name}{errors}"


def _shows_control(payload: Payload) -> bool:
    """Whether the table shows a control that the verdict does not explain."""
    if read_control(payload) is None or payload["verdict"]["name"] == NOT_ABOVE_CONTROL:
        return False
    sufficiency = read_estimates(payload)["sufficiency"]
    return sufficiency is not None and sufficiency.is_compared


def _describe_closed_gap(payload: Payload) -> str:
    control = read_control(payload)
    if payload["verdict"]["name"] != ABOVE_ITS_CONTROL or control is None or control.worth is None:
        return ""
    worth = format_worth(control.worth)
    return f" Explanations close {worth} of the gap between the control and the full input."


def headline_table(payload: Payload) -> Table:
    """Return one line per measure: its estimate, interval and baselines."""
    why = payload["why_no_sufficiency"]
    rows = [
        (name, "–", f"not measured: {why}") if estimate is None else _headline_values(payload, name, estimate)
        for name, estimate in read_estimates(payload).items()
    ]
    return Table(("", "", ""), rows, is_numeric=False)


def _headline_values(payload: Payload, measure: str, estimate: Estimate) -> tuple[str, str, str]:
    relation = f"; {describe_relation(payload)}" if measure == "sufficiency" else ""
    if not estimate.is_compared:
        return measure, "–", f"nothing could be compared{relation}"
    control = read_control(payload) if measure == "sufficiency" else None
    facts = {
        name_interval(read_confidence(payload)): format_interval(*estimate.interval),
        CHANCE: format_number(estimate.chance),
        "control": None if control is None else format_number(control.estimate),
    }
    if payload["estimator"] not in LEAVE_ONE_OUT:
        facts[name_estimator(payload)] = format_number(estimate.value)
    listed = "; ".join(f"{name} {text}" for name, text in facts.items() if text is not None)
    return measure, format_number(estimate.estimate), f"{listed}{relation}"


def describe_relation(payload: Payload) -> str:
    """Say what explanations apply to, in words if the relation has some."""
    phrase = payload["relation_phrase"]
    return f"relation {payload['relation']}" if phrase is None else f"of {phrase}"


def _checked_sentences(payload: Payload) -> list[str]:
    """Say what was checked for each measure, unless the verdict says it already."""
    verdict, outcome = payload["verdict"], choose_words(payload)
    taken = {
        name: estimate if estimate.is_compared else attrs.evolve(estimate, merging=None)
        for name, estimate in read_estimates(payload).items()
        if estimate is not None
    }
    if verdict["name"] == NOTHING_TESTED or taken[verdict["measure"]].finding in (ONE_LABEL, NAMES_THE_LABEL):
        del taken[verdict["measure"]]
    sentences = {name: explain_checks(name, taken[name], n_owners(payload, name), outcome) for name in taken}
    if len(sentences) == 1:
        return list(sentences.values())
    return [f"{name.capitalize()}: {text[0].lower()}{text[1:]}" for name, text in sentences.items()]


def _unexplained_line(payload: Payload) -> str | None:
    if not payload["unexplained"]:
        return None
    rows = f"{payload['unexplained']:,} of {pluralize(payload['n'], 'row')}"
    if payload["unexplained"] == 1:
        return f"{rows} has no explanation, and counts as not agreeing."
    return f"{rows} have no explanation, and count as not agreeing."
