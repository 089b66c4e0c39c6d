"""Show estimates and the control of sufficiency: numbers in a table, sentences, and the words of a report."""

import math
from collections.abc import Iterable, Mapping, Sequence

from faithkit.display import VERBOSE
from faithkit.measure.baselines.control import ABOVE, MIN_REPEATS, MIN_VERIFIED, Control, Worth
from faithkit.measure.difference import Difference
from faithkit.measure.estimate import Estimate
from faithkit.report.formats import (
    CHANCE,
    LEAVE_ONE_OUT,
    Payload,
    format_difference,
    format_interval,
    format_number,
    format_p_value,
    format_percent,
    format_percent_ends,
    name_interval,
    pluralize,
)
from faithkit.report.outcome_words import Shares, Words, choose_words, remark_on_predictions
from faithkit.report.payloads import (
    name_estimator,
    note_estimator,
    read_confidence,
    read_control,
    read_estimates,
)
from faithkit.report.sentences import OF_LABELS, explain_measure
from faithkit.report.sheets.sheet import Sheet, Table

ROUNDING = 1e-9
RANDOM = "random explanations, or random scopes of the same size,"
CONTROL = f"Control: {RANDOM} chosen without the model."
WORTH = "Worth: the share of the gap between the control and the full input that explanations close."

ESTIMATE = (
    "Instances that could be checked count as they are. For consistency, the others are compared with "
    "instances of similar explanations, or with all, which can only underestimate it; for sufficiency, they "
    "count {}. On average over samples the estimate is not above the measure; in one sample it may be."
)
MEANINGS = {
    "interval": "Where the measure lies, including what could not be checked.",
    CHANCE: "What one explanation for all instances would get: any two of them are compared. A dash "
    "where that is unknown.",
    "control": f"What {RANDOM} get that are chosen without the model: the mean of several draws, over the "
    "instances that both could check.",
    "worth": "The share of the gap between the control and the full input that explanations close.",
    "checked": "The share of instances with another instance to check against. A high share does not mean "
    "that explanations are good.",
    "leave-one-out": "The paper's estimate: instances that could not be checked count as 0. Another "
    "estimator has its own name here.",
    "bracket": "What the sample cannot rule out: from the estimate to its value if all that could not be "
    "checked agreed. It is the same for every estimator.",
    "finding": "Above chance: the whole interval lies above chance, or all instances were compared and a "
    "permutation test shows it. Below chance: the interval lies below. Not above chance: nothing shows "
    "either. One label, or one prediction: all predictions are the same, so nothing was tested. Names the "
    "label, or the prediction: there is one explanation for each prediction, which may only repeat the "
    "prediction. Unknown: nothing could be checked, and no bound is above chance.",
}


def estimate_values(estimate: Estimate | None, words: Words = OF_LABELS) -> dict[str, str]:
    """Return the numbers of an estimate as texts; none for a measure that was not measured."""
    if estimate is None:
        return {"finding": "not measured"}
    is_compared = estimate.is_compared
    return {
        "estimate": format_number(estimate.estimate if is_compared else None),
        "interval": format_interval(estimate.low, estimate.high) if is_compared else "–",
        "chance": format_number(estimate.chance),
        "checked": format_percent(estimate.verified),
        "agree": words.format_agreement(estimate.agree, estimate.checked),
        "value": format_number(estimate.value),
        "bracket": format_interval(*estimate.bracket),
        "finding": words.finding(estimate.finding),
    }


def number_columns(payload: Payload, has_control: bool = False) -> dict[str, str]:
    """Return the headings of an estimate's numbers, and of the control if there is one.

    The value of leave-one-out is shown only where all numbers are asked for: the estimate says more.
    """
    heads = {
        "estimate": "estimate",
        "interval": name_interval(read_confidence(payload)),
        "chance": CHANCE,
        **({"control": "control"} if has_control else {}),
        "checked": "checked",
        "agree": choose_words(payload).agree,
    }
    is_usual = payload["estimator"] in LEAVE_ONE_OUT and not VERBOSE.get()
    return heads if is_usual else heads | {"value": name_estimator(payload)}


def measure_table(
    heads: Sequence[str],
    columns: Mapping[str, str],
    rows: Iterable[tuple[Sequence[str], Mapping[str, str]]],
) -> Table:
    """Return a table of measures: in each row texts under `heads`, then numbers or dashes, and the finding.

    `columns` has the headings of the numbers, by their keys in `estimate_values`.
    """
    lines = [
        (*texts, *(values.get(key, "–") for key in columns), values["finding"]) for texts, values in rows
    ]
    return Table((*heads, *columns.values(), "finding"), lines, wide=("finding",))


def difference_values(value: float, low: float, high: float, p_value: float, alpha: float) -> tuple[str, ...]:
    """Return a difference, its interval, its p-value, and a star if it is not 0."""
    return (*format_difference(value, low, high), format_p_value(p_value), "*" if p_value < alpha else "")


def describe_permutations(payload: Payload, measures: Mapping[str, Estimate | None]) -> str | None:
    """Return the p-values of permutation tests, or why there is none."""
    p_values = [
        f"{name} {format_p_value(estimate.p_value)}"
        for name, estimate in measures.items()
        if estimate is not None and estimate.p_value is not None
    ]
    if p_values:
        return f"p ({pluralize(payload['permutations'], 'permutation')}): {', '.join(p_values)}"
    is_asked = payload["permutations"] and payload.get("clusters")
    return "No p: no two clusters are of one size." if is_asked else None


def list_sample_facts(payload: Payload) -> list[str]:
    """Describe the sample, and return the remarks of explainers about it."""
    n_explanations = payload["n_explanations"] - payload["unexplained"]  # each unexplained row counts as one
    size = f"{pluralize(payload['n'], 'instance')}, {pluralize(n_explanations, 'distinct explanation')}"
    unexplained = f", {payload['unexplained']:,} unexplained" if payload["unexplained"] else ""
    pairs = ", ".join(f"{name} about {feature}" for name, feature in payload["pairs"] or ())
    columns = [f"explanation columns: {pairs}"] if pairs else []
    source = payload["relation_learnt_from"]
    relation = f"relation of sufficiency: {payload['relation']}{f', learnt from {source}' if source else ''}"
    facts = [*columns, *([relation] if payload["relation"] else [])]
    return [f"{size}{unexplained}", *describe_conditions(payload), *facts]


def describe_conditions(payload: Payload) -> list[str]:
    """Return the conditions of the measurement: pool, blocks, weights, and remarks of explainers."""
    lines = []
    if payload.get("pool"):
        explained_rows = pluralize(payload["n"] - payload["unexplained"], "row")
        lines.append(f"{explained_rows} explained, checked against {payload['pool']:,} more")
    if payload.get("owners"):
        lines.append(
            f"sufficiency of {payload['owners']:,} rows, chosen by their content and compared with all rows"
        )
    if payload.get("blocks"):
        lines.append(
            f"in {pluralize(payload['blocks'], 'block')}: instances are compared only within a block"
        )
    if payload.get("effective"):
        lines.append(_design_line(payload))
    if set(payload["why_unexplained"]) - {"no explanation"}:
        lines.append(f"of the unexplained, {_list_counts(payload['why_unexplained'])}")
    if payload["remarks"]:
        lines.append(f"of the explanations, {_list_counts(payload['remarks'])}")
    return lines


def _design_line(payload: Payload) -> str:
    """Return the effective number of rows with weights or clusters."""
    worth = pluralize(math.floor(payload["effective"] + ROUNDING), "independent instance")
    line = f"worth as much as {worth} of equal weight"
    if payload["clusters"]:
        line = f"in {pluralize(payload['clusters'], 'cluster')}, {line}"
    weights = "weights and sizes of clusters" if payload["clusters"] else "weights"
    assumed = "are declared not to" if payload.get("uninformative") else "may"
    return f"{line}; {weights} {assumed} go with predictions"


def _list_counts(remarks: Mapping[str, int]) -> str:
    return "; ".join(f"{remark}: {count:,}" for remark, count in remarks.items())


def n_owners(payload: Payload, measure: str) -> int:
    """Return how many rows a measure is the mean of."""
    owners = payload.get("owners") if measure == "sufficiency" else None
    return int(owners or payload["n"])


def explain_measures(payload: Payload) -> list[str]:
    """Return what each measure means, then notes on predictions, background and input."""
    why, measures, outcome = payload["why_no_sufficiency"], read_estimates(payload), choose_words(payload)
    lines = [
        explain_measure(name, estimate, n_owners(payload, name), why, outcome)
        for name, estimate in measures.items()
    ]
    return [*lines, *explain_control(payload), *list_closing_notes(payload)]


def explain_control(payload: Payload) -> list[str]:
    """Return the sentences about the control, or the reason why there is none."""
    sufficiency, control = payload["measures"]["sufficiency"], read_control(payload)
    if sufficiency is None or control is None or not sufficiency["verified"]:
        return remark_on_control(payload)
    sentence = f"{_difference_sentence(control)} {_worth_sentence(control, payload)}".rstrip()
    return [sentence, *remark_on_control(payload)]


def remark_on_control(payload: Payload) -> list[str]:
    """Return why sufficiency has no control, or for which rows it has one."""
    sufficiency, control = payload["measures"]["sufficiency"], read_control(payload)
    if sufficiency is None or not sufficiency["verified"]:  # another sentence says so
        return []
    if control is None:
        return [f"Sufficiency has no control: {payload['why_no_control']}."]
    remarks = []
    if control.rows < payload["n"]:
        remarks.append(
            f"The control was drawn for {control.rows:,} of {payload['n']:,} rows, chosen by their content."
        )
    if control.verified < MIN_VERIFIED:
        remarks.append(
            f"{format_percent(control.verified)} of the checked explanations have a control, too few for a "
            "worth; sufficiency is compared with it on their rows alone."
        )
    return remarks


def _difference_sentence(control: Control) -> str:
    change = control.difference
    value, interval = format_difference(change.value, change.low, change.high)
    verdict = f"Sufficiency is {control.finding}: {RANDOM} get {format_number(control.estimate)}"
    checked = f"{value} ({name_interval(change.confidence)} {interval})"
    return f"{verdict}, and the difference is {checked} where both could be checked."


def _worth_sentence(control: Control, payload: Payload) -> str:
    """Return how much of the gap is closed; empty if nothing is closed, because another sentence says so."""
    full = (
        f"the full input ({_self_agreement(control, payload)})" if control.ceiling < 1 else "the full input"
    )
    worth = control.worth
    if worth is None and control.verified < MIN_VERIFIED:
        return ""
    if worth is None and 0 < control.ceiling_rows < MIN_REPEATS:
        return (
            f"Only {pluralize(control.ceiling_rows, 'instance')} were predicted more than once, too few to "
            "say how much of the gap between the control and the full input is closed."
        )
    if worth is None:
        return f"The gap between the control and {full} is too small to say how much of it is closed."
    if control.finding == ABOVE:
        return f"Explanations close {format_worth(worth)} of the gap between the control and {full}."
    if 100 * worth.high < 0.5:
        return ""
    highest = format_percent_ends(worth.low, worth.high)[1]
    return f"Explanations close at most {highest} of the gap between the control and {full}."


def explain_ceiling(payload: Payload) -> str | None:
    """Say how far the model agrees with itself, unless it always does."""
    control = read_control(payload)
    if control is None or control.ceiling == 1:
        return None
    return f"No explanation can agree with more than the model: {_self_agreement(control, payload)}."


def _self_agreement(control: Control, payload: Payload) -> str:
    repeated = pluralize(control.ceiling_rows, "instance")
    has_labels = payload["outcome"]["kind"] == "labels"
    share = f"{format_percent(control.ceiling)} of the time"
    extent = share if has_labels else f"by {format_number(control.ceiling)}"
    return f"the model agrees with itself {extent} on {repeated} that it predicted repeatedly"


def format_worth(worth: Worth) -> str:
    """Return the share of the gap that explanations close, and its interval.

    >>> format_worth(Worth(0.61, 0.4, 0.81))
    '61 % (40 % to 81 %)'
    """
    return f"{format_percent(worth.value)} ({_worth_interval(worth)})"


def _worth_interval(worth: Worth) -> str:
    return " to ".join(format_percent_ends(worth.low, worth.high))


def list_closing_notes(payload: Payload) -> list[str]:
    """Return notes on predictions, background, input and estimator."""
    lines = [*remark_on_predictions(payload, read_estimates(payload)), *payload.get("notes", ())]
    return [*lines, *filter(None, [note_estimator(payload)])]


def glossary_sheet(payload: Payload) -> Sheet:
    """Return the meaning of the measures and of every column, in the words of the outcome."""
    outcome = choose_words(payload).glossary
    meanings = {
        "consistency": outcome["consistency"],
        "sufficiency": outcome["sufficiency"],
        "estimate": ESTIMATE.format(outcome["alone"]),
        **MEANINGS,
        number_columns(payload)["agree"]: outcome["agree"],
    }
    return Sheet("What the words mean", [Table.of_pairs(meanings)], is_folded=True)


def estimate_sheet(estimate: Estimate) -> Sheet:
    """Return the numbers of one estimate.

    Examples
    --------
    >>> import faithkit
    >>> print(faithkit.score(["yes", "no", "no"] * 9, ["a", "b", "a"] * 9).consistency)
    estimate                   0.647
    95 % interval              0.524 – 0.829
    baseline (chance)          0.538
    checked                    100 %
    agree among those checked  65 % of 27
    bracket                    0.647 – 0.648
    finding                    not above chance
    """
    is_share = estimate.statistics is not None and estimate.statistics.span is not None
    outcome = Shares() if is_share else OF_LABELS
    values = estimate_values(estimate, outcome)
    pairs = {
        "estimate": values["estimate"],
        name_interval(estimate.confidence): values["interval"],
        CHANCE: values["chance"],
        "checked": values["checked"],
        outcome.agree: values["agree"],
        "bracket": values["bracket"],
        "p (permutations)": None if estimate.p_value is None else format_p_value(estimate.p_value),
        "finding": values["finding"],
    }
    return Sheet.of(None, Table.of_pairs(pairs))


def difference_sheet(
    difference: Difference, names: Sequence[str] = (), adjusted: float | None = None
) -> Sheet:
    """Return the numbers of a difference, and the names of its two sides if they are known."""
    value, interval = format_difference(difference.value, difference.low, difference.high)
    name, p_value = ("p", difference.p_value) if adjusted is None else ("p, adjusted", adjusted)
    pairs = {
        "difference": value,
        name_interval(difference.confidence): interval,
        name: format_p_value(p_value),
    }
    return Sheet.of(" minus ".join(names) or None, Table.of_pairs(pairs))


def control_sheet(control: Control) -> Sheet:
    """Return the numbers of a control."""
    change, worth = control.difference, control.worth
    value, interval = format_difference(change.value, change.low, change.high)
    pairs = {
        "control": format_number(control.estimate),
        "difference": value,
        name_interval(change.confidence): interval,
        "ceiling": format_number(control.ceiling),
        "worth": None if worth is None else format_percent(worth.value),
        "interval of worth": None if worth is None else _worth_interval(worth),
        "checked": format_percent(control.verified),
        "draws": str(control.draws),
        "rows": f"{control.rows:,}",
        "finding": control.finding,
    }
    return Sheet.of(None, Table.of_pairs(pairs))
