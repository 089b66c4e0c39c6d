"""Show the control of sufficiency: the difference to it, and how much of the gap explanations close."""

from faithkit.measure.baselines.control import ABOVE, Control, Worth
from faithkit.report.formats import (
    Payload,
    format_difference,
    format_number,
    format_percent,
    interval_name,
    pluralize,
)
from faithkit.report.payloads import payload_control
from faithkit.report.sheets.sheet import Sheet, Table

UNLIKE = 0.05  # a larger difference of the shares checked is mentioned
FORM = "explanations of the same form that were chosen without the model"
CONTROL = "Control: random explanations of the same form, chosen without the model."
WORTH = "Worth: the share of the gap between the control and the full input that explanations close."


def control_sentences(payload: Payload) -> list[str]:
    """Return the sentences about the control, or the reason why there is none."""
    sufficiency, control = payload["measures"]["sufficiency"], payload_control(payload)
    if sufficiency is None or control is None or not sufficiency["verified"]:
        return control_remarks(payload)
    sentence = f"{_difference_sentence(control)} {_worth_sentence(control, payload)}".rstrip()
    return [sentence, *control_remarks(payload)]


def control_remarks(payload: Payload) -> list[str]:
    """Return why sufficiency has no control, or that its control could be checked more or less often."""
    sufficiency, control = payload["measures"]["sufficiency"], payload_control(payload)
    if sufficiency is None or not sufficiency["verified"]:  # another sentence says so
        return []
    if control is None:
        return [f"Sufficiency has no control: {payload['why_no_control']}."]
    sentences = []
    if abs(control.verified - sufficiency["verified"]) > UNLIKE:
        sentences.append(
            f"{format_percent(sufficiency['verified'])} of the explanations could be checked, and "
            f"{format_percent(control.verified)} of the control's: explanations that could not be checked "
            "count as disagreeing, which is part of the difference."
        )
    return sentences


def _difference_sentence(control: Control) -> str:
    change = control.difference
    value, interval = format_difference(change.value, change.low, change.high)
    verdict = f"Sufficiency is {control.finding}: {FORM} get {format_number(control.estimate)}"
    return f"{verdict}, and the difference is {value} ({interval_name(change.confidence)} {interval})."


def _worth_sentence(control: Control, payload: Payload) -> str:
    """Return how much of the gap is closed; empty if nothing is closed, because another sentence says so."""
    full = (
        f"the full input ({_self_agreement(control, payload)})" if control.ceiling < 1 else "the full input"
    )
    worth = control.worth
    if worth is None:
        return f"The gap between the control and {full} is too small to say how much of it is closed."
    if control.finding == ABOVE:
        return f"Explanations close {format_worth(worth)} of the gap between the control and {full}."
    if 100 * worth.high < 0.5:
        return ""
    return (
        f"Explanations close at most {format_percent(worth.high)} of the gap between the control and {full}."
    )


def ceiling_sentence(payload: Payload) -> str | None:
    """Say how far the model agrees with itself, unless it always does."""
    control = payload_control(payload)
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
    return f"{format_percent(worth.low)} to {format_percent(worth.high)}"


def control_sheet(control: Control) -> Sheet:
    """Return the numbers of a control."""
    change, worth = control.difference, control.worth
    value, interval = format_difference(change.value, change.low, change.high)
    pairs = {
        "control": format_number(control.estimate),
        "difference": value,
        interval_name(change.confidence): interval,
        "ceiling": format_number(control.ceiling),
        "worth": None if worth is None else format_percent(worth.value),
        "interval of worth": None if worth is None else _worth_interval(worth),
        "checked": format_percent(control.verified),
        "draws": str(control.draws),
        "finding": control.finding,
    }
    return Sheet.of(None, Table.of_pairs(pairs))
