"""Show estimates: their numbers in a table, the sentences about them, and one estimate on its own."""

import math
from collections.abc import Mapping, Sequence

from faithkit.display import VERBOSE
from faithkit.measure.difference import Difference
from faithkit.measure.estimate import Estimate
from faithkit.report.formats import (
    CHANCE,
    LEAVE_ONE_OUT,
    Payload,
    format_difference,
    format_difference_interval,
    format_interval,
    format_number,
    format_p_value,
    format_percent,
    pluralize,
)
from faithkit.report.outcome_words import Shares, Words, remarks, words_for_outcome
from faithkit.report.payloads import estimates, estimator_name, interval_name, note
from faithkit.report.sentences import OF_LABELS, sentence
from faithkit.report.sheets.controls import control_sentences
from faithkit.report.sheets.sheet import Sheet, Table
from faithkit.wording import join_words

ROUNDING = 1e-9

NUMBERS = ("estimate", "interval", "chance", "checked", "agree", "value", "bracket")
FLATTERED = "The explainer was fitted on the evaluated rows, so results are optimistic."


def estimate_values(estimate: Estimate | None, words: Words = OF_LABELS) -> dict[str, str]:
    """Return the numbers of an estimate as texts; dashes for a measure that was not measured."""
    if estimate is None:
        return {**dict.fromkeys(NUMBERS, "–"), "finding": "not measured"}
    return {
        "estimate": format_number(estimate.estimate),
        "interval": format_interval(estimate.low, estimate.high),
        "chance": format_number(estimate.chance),
        "checked": format_percent(estimate.verified),
        "agree": words.format_agreement(estimate.agree, estimate.checked),
        "value": format_number(estimate.value),
        "bracket": format_interval(*estimate.bracket),
        "finding": words.finding(estimate.finding),
    }


def number_columns(payload: Payload) -> dict[str, str]:
    """Return the headings of an estimate's numbers.

    The value of leave-one-out is shown only where all numbers are asked for: the estimate says more.
    """
    heads = {
        "estimate": "estimate",
        "interval": interval_name(payload),
        "chance": CHANCE,
        "checked": "checked",
        "agree": words_for_outcome(payload).agree,
    }
    is_usual = payload["estimator"] in LEAVE_ONE_OUT and not VERBOSE.get()
    return heads if is_usual else heads | {"value": estimator_name(payload)}


def measure_table(
    heads: Sequence[str],
    rows: Sequence[tuple[Sequence[str], Estimate | None]],
    payload: Payload,
    columns: Mapping[str, str] | None = None,
    name: str | None = None,
    controls: Mapping[str, str] | None = None,
) -> Table:
    """Return a table of estimates: in each row texts under `heads`, then the numbers and the finding.

    Parameters
    ----------
    heads : sequence of str
    rows : sequence of (sequence of str, Estimate or None)
    payload : dict
        A result with the outcome and the estimator of all rows.
    columns : mapping of str to str, optional
        The heads of the numbers.
    name : str, optional
        The title of the table.
    controls : mapping of str to str, optional
        What the control gets, by the last text of a row.
    """
    columns = number_columns(payload) if columns is None else columns
    outcome = words_for_outcome(payload)
    values = [(texts, estimate_values(estimate, outcome)) for texts, estimate in rows]
    if controls:
        columns = _insert_after("chance", {"control": "control"}, columns)
        values = [(texts, numbers | {"control": controls.get(texts[-1], "–")}) for texts, numbers in values]
    lines = [(*texts, *(numbers[key] for key in columns), numbers["finding"]) for texts, numbers in values]
    return Table((*heads, *columns.values(), "finding"), lines, name=name, wide=("finding",))


def _insert_after(key: str, addition: Mapping[str, str], columns: Mapping[str, str]) -> dict[str, str]:
    place = list(columns).index(key) + 1
    items = list(columns.items())
    return dict([*items[:place], *addition.items(), *items[place:]])


def permutation_line(payload: Payload, measures: Mapping[str, Estimate | None]) -> str | None:
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


def sample_lines(payload: Payload) -> list[str]:
    """Describe the sample, and return the remarks of explainers about it."""
    n_explanations = payload["n_explanations"] - payload["unexplained"]  # each unexplained row counts as one
    size = f"{pluralize(payload['n'], 'instance')}, {pluralize(n_explanations, 'distinct explanation')}"
    unexplained = f", {payload['unexplained']:,} unexplained" if payload["unexplained"] else ""
    return [f"{size}{unexplained}", *condition_lines(payload)]


def condition_lines(payload: Payload) -> list[str]:
    """Return the conditions of the measurement: pool, blocks, weights, and remarks of explainers."""
    lines = []
    if payload.get("pool"):
        explained_rows = pluralize(payload["n"] - payload["unexplained"], "row")
        lines.append(f"{explained_rows} explained, checked against {payload['pool']:,} more")
    if payload.get("blocks"):
        lines.append(
            f"in {pluralize(payload['blocks'], 'block')}: instances are compared only within a block"
        )
    if payload.get("effective"):
        lines.append(_design_line(payload))
    if set(payload["why_unexplained"]) - {"no explanation"}:
        lines.append(f"of the unexplained, {_counts(payload['why_unexplained'])}")
    if payload["remarks"]:
        lines.append(f"of the explanations, {_counts(payload['remarks'])}")
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


def _counts(remarks: Mapping[str, int]) -> str:
    return "; ".join(f"{remark}: {count:,}" for remark, count in remarks.items())


def measure_sentences(payload: Payload) -> list[str]:
    """Return what each measure means, then notes on predictions, background and input."""
    why, measures, outcome = payload["why_no_sufficiency"], estimates(payload), words_for_outcome(payload)
    lines = [sentence(name, estimate, payload["n"], why, outcome) for name, estimate in measures.items()]
    lines += control_sentences(payload)
    lines += remarks(payload, measures)
    if payload["background"] == "the sample itself":
        lines.append(FLATTERED)
    lines += payload.get("notes", ())
    return [*lines, *filter(None, [note(payload)])]


def untested_groups(measures: Mapping[str, Estimate | None]) -> str | None:
    """Name the groups of one independent instance, for which chance is unknown."""
    names = [name for name, estimate in measures.items() if estimate is not None and estimate.chance is None]
    if not names:
        return None
    return f"One instance alone has nothing to be checked against, nor to be compared: {join_words(names)}."


def star_line(has_star: bool, correction: str) -> str:
    """Explain the star, if there is one, and the correction of p.

    Examples
    --------
    >>> star_line(True, "p is corrected"), star_line(False, "p is corrected")
    ('*: the difference is not 0; p is corrected.', 'p is corrected.')
    """
    return f"*: the difference is not 0; {correction}." if has_star else f"{correction}."


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
        f"{100 * estimate.confidence:g} % interval": values["interval"],
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
    p_value = difference.p_value if adjusted is None else adjusted
    pairs = {
        "difference": format_difference(difference.value, difference.low, difference.high),
        f"{100 * difference.confidence:g} % interval": format_difference_interval(
            difference.low, difference.high
        ),
        "p" if adjusted is None else "p, adjusted": format_p_value(p_value),
    }
    return Sheet.of(" minus ".join(names) or None, Table.of_pairs(pairs))
