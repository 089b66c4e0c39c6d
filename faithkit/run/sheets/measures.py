"""The numbers of a result in a table, and the sentences that say what they mean."""

import math
from collections.abc import Iterable, Mapping, Sequence

from faithkit.inputs.predictions.outcome import Outcome
from faithkit.measure.baselines.control import ABOVE, MIN_REPEATS, MIN_VERIFIED, Control
from faithkit.measure.estimate import Estimate
from faithkit.measure.sentences import explain_measure
from faithkit.measure.words import OF_LABELS, Words
from faithkit.report import VERBOSE
from faithkit.report.formats import (
    CHANCE,
    LEAVE_ONE_OUT,
    format_difference,
    format_number,
    format_p_value,
    format_percent,
    format_percent_ends,
    name_interval,
    pluralize,
)
from faithkit.report.sheet import Sheet, Table
from faithkit.run.result import Result

ROUNDING = 1e-9
RANDOM = "random explanations, or random scopes of the same size,"
INSTEAD = " Set outcome='labels' (CLI: --outcome labels) if they are labels."
BELOW_0 = (
    "A measure below 0 means that predictions differ more for the same explanation than for random pairs."
)
APPROXIMATE = (
    "The intervals are approximate, since a sample may not show the largest and the smallest prediction: "
    "declare them with range= (CLI: --range)."
)
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
    "bracket": "What the sample cannot rule out: the estimate if all that does not count as checked "
    "disagreed, and if it agreed. It is the same for every estimator.",
    "finding": "Above chance: the whole interval lies above chance, or all instances were compared and a "
    "permutation test shows it. Below chance: the interval lies below. Not above chance: nothing shows "
    "either. One label, or one prediction: all predictions are the same, so nothing was tested. Names the "
    "label, or the prediction: there is one explanation for each prediction, which may only repeat the "
    "prediction. Unknown: nothing could be checked, and no bound is above chance.",
}


def estimate_texts(estimate: Estimate | None, words: Words = OF_LABELS) -> dict[str, str]:
    """Return the numbers of an estimate as texts; none for a measure that was not measured."""
    return {"finding": "not measured"} if estimate is None else estimate.texts(words)


def name_estimator(result: Result) -> str:
    """Return the heading of the estimator's column."""
    return result.setup.estimator.text.removeprefix("faithkit/")


def note_estimator(result: Result, subject: str = "Intervals, differences and p") -> str | None:
    """Return a note on what does not depend on the estimator, if it is not leave-one-out."""
    if result.setup.estimator.text in LEAVE_ONE_OUT:
        return None
    return f"{subject} are the same for every estimator."


def remark_on_predictions(outcome: Outcome, estimates: Iterable[Estimate | None] = ()) -> list[str]:
    """Say how predictions are read if they are not labels, and warn about them."""
    reading, is_share = outcome.words.reading, outcome.is_normalised
    instead = INSTEAD if is_share and outcome.unasked else ""
    lines = [] if reading is None else [reading + instead]
    taken = [estimate for estimate in estimates if estimate is not None]
    values = [value for estimate in taken for value in (estimate.estimate, estimate.value)]
    lines += [BELOW_0] if any(value is not None and value < 0 for value in values) else []
    if is_share and outcome.range is None:
        lines.append(APPROXIMATE)
    return lines


def number_columns(result: Result, has_control: bool = False) -> dict[str, str]:
    """Return the headings of an estimate's numbers, and of the control if there is one.

    The value of leave-one-out is shown only where all numbers are asked for: the estimate says more.
    """
    heads = {
        "estimate": "estimate",
        "interval": name_interval(result.confidence),
        "chance": CHANCE,
        **({"control": "control"} if has_control else {}),
        "checked": "checked",
        "agree": result.setup.outcome.words.agree,
    }
    is_usual = result.setup.estimator.text in LEAVE_ONE_OUT and not VERBOSE.get()
    return heads if is_usual else heads | {"value": name_estimator(result)}


def measure_table(
    heads: Sequence[str],
    columns: Mapping[str, str],
    rows: Iterable[tuple[Sequence[str], Mapping[str, str]]],
) -> Table:
    """Return a table of measures: in each row texts under `heads`, then numbers or dashes, and the finding.

    `columns` has the headings of the numbers, by their keys in `estimate_texts`.
    """
    lines = [
        (*texts, *(values.get(key, "–") for key in columns), values["finding"]) for texts, values in rows
    ]
    return Table((*heads, *columns.values(), "finding"), lines, wide=("finding",))


def describe_permutations(result: Result, measures: Mapping[str, Estimate | None]) -> str | None:
    """Return the p-values of permutation tests, or why there is none."""
    p_values = [
        f"{name} {format_p_value(estimate.p_value)}"
        for name, estimate in measures.items()
        if estimate is not None and estimate.p_value is not None
    ]
    if p_values:
        return f"p ({pluralize(result.setup.permutations, 'permutation')}): {', '.join(p_values)}"
    is_asked = result.setup.permutations and result.design.clusters
    return "No p: no two clusters are of one size." if is_asked else None


def list_sample_facts(result: Result) -> list[str]:
    """Describe the sample, and return the remarks of explainers about it."""
    n_explanations = result.n_explanations - result.unexplained  # each unexplained row counts as one
    size = f"{pluralize(result.n, 'instance')}, {pluralize(n_explanations, 'distinct explanation')}"
    unexplained = f", {result.unexplained:,} unexplained" if result.unexplained else ""
    pairs = ", ".join(f"{name} about {feature}" for name, feature in result.setup.pairs or ())
    columns = [f"explanation columns: {pairs}"] if pairs else []
    source = result.relation_learnt_from
    relation = f"relation of sufficiency: {result.relation}{f', learnt from {source}' if source else ''}"
    facts = [*columns, *([relation] if result.relation else [])]
    return [f"{size}{unexplained}", *describe_conditions(result), *facts]


def describe_conditions(result: Result) -> list[str]:
    """Return the conditions of the measurement: pool, blocks, weights, and remarks of explainers."""
    lines = []
    if result.design.pool:
        explained_rows = pluralize(result.n - result.unexplained, "row")
        lines.append(f"{explained_rows} explained, checked against {result.design.pool:,} more")
    if result.design.owners:
        lines.append(
            f"sufficiency of {result.design.owners:,} rows, chosen by their content and compared with all "
            "rows"
        )
    if result.design.blocks:
        lines.append(
            f"in {pluralize(result.design.blocks, 'block')}: instances are compared only within a block"
        )
    if result.design.effective:
        lines.append(_design_line(result))
    if set(result.why_unexplained) - {"no explanation"}:
        lines.append(f"of the unexplained, {_list_counts(result.why_unexplained)}")
    if result.remarks:
        lines.append(f"of the explanations, {_list_counts(result.remarks)}")
    return lines


def _design_line(result: Result) -> str:
    """Return the effective number of rows, or of blocks, with weights or clusters."""
    unit = "instance" if result.design.blocks is None else "block"
    worth = pluralize(math.floor((result.design.effective or 0.0) + ROUNDING), f"independent {unit}")
    line = f"worth as much as {worth} of equal weight"
    if result.design.clusters:
        line = f"in {pluralize(result.design.clusters, 'cluster')}, {line}"
    weights = "weights and sizes of clusters" if result.design.clusters else "weights"
    assumed = "are declared not to" if result.design.uninformative else "may"
    return f"{line}; {weights} {assumed} go with predictions"


def _list_counts(remarks: Mapping[str, int]) -> str:
    return "; ".join(f"{remark}: {count:,}" for remark, count in remarks.items())


def n_owners(result: Result, measure: str) -> int:
    """Return how many rows a measure is the mean of."""
    owners = result.design.owners if measure == "sufficiency" else None
    return int(owners or result.n)


def explain_measures(result: Result) -> list[str]:
    """Return what each measure means, then notes on predictions, background and input."""
    why, words = result.why_no_sufficiency, result.setup.outcome.words
    lines = [
        explain_measure(name, estimate, n_owners(result, name), why, words)
        for name, estimate in result.both_measures.items()
    ]
    return [*lines, *explain_control(result), *list_closing_notes(result)]


def explain_control(result: Result) -> list[str]:
    """Return the sentences about the control, or the reason why there is none."""
    sufficiency, control = result.sufficiency, result.control
    if sufficiency is None or control is None or not sufficiency.verified:
        return remark_on_control(result)
    sentence = f"{_difference_sentence(control)} {_worth_sentence(control, result)}".rstrip()
    return [sentence, *remark_on_control(result)]


def remark_on_control(result: Result) -> list[str]:
    """Return why sufficiency has no control, or for which rows it has one."""
    sufficiency, control = result.sufficiency, result.control
    if sufficiency is None or not sufficiency.verified:  # another sentence says so
        return []
    if control is None:
        return [f"Sufficiency has no control: {result.why_no_control}."]
    remarks = []
    if control.rows < result.n:
        remarks.append(
            f"The control was drawn for {control.rows:,} of {result.n:,} rows, chosen by their content."
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


def _worth_sentence(control: Control, result: Result) -> str:
    """Return how much of the gap is closed; empty if nothing is closed, because another sentence says so."""
    full = f"the full input ({_self_agreement(control, result)})" if control.ceiling < 1 else "the full input"
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
        return f"Explanations close {worth} of the gap between the control and {full}."
    if 100 * worth.high < 0.5:
        return ""
    highest = format_percent_ends(worth.low, worth.high)[1]
    return f"Explanations close at most {highest} of the gap between the control and {full}."


def explain_ceiling(result: Result) -> str | None:
    """Say how far the model agrees with itself, unless it always does."""
    control = result.control
    if control is None or control.ceiling == 1:
        return None
    return f"No explanation can agree with more than the model: {_self_agreement(control, result)}."


def _self_agreement(control: Control, result: Result) -> str:
    repeated = pluralize(control.ceiling_rows, "instance")
    has_labels = result.setup.outcome.has_labels
    share = f"{format_percent(control.ceiling)} of the time"
    extent = share if has_labels else f"by {format_number(control.ceiling)}"
    return f"the model agrees with itself {extent} on {repeated} that it predicted repeatedly"


def list_closing_notes(result: Result) -> list[str]:
    """Return notes on predictions, background, input and estimator."""
    lines = [*remark_on_predictions(result.setup.outcome, result.measures.values()), *result.notes]
    return [*lines, *filter(None, [note_estimator(result)])]


def glossary_sheet(result: Result) -> Sheet:
    """Return the meaning of the measures and of every column, in the words of the outcome."""
    outcome = result.setup.outcome.words.glossary
    meanings = {
        "consistency": outcome["consistency"],
        "sufficiency": outcome["sufficiency"],
        "estimate": ESTIMATE.format(outcome["alone"]),
        **MEANINGS,
        number_columns(result)["agree"]: outcome["agree"],
    }
    return Sheet("What the words mean", [Table.of_pairs(meanings)], is_folded=True)
