"""Show the measures of each predicted label."""

from collections.abc import Mapping
from typing import Any

from faithkit.measure.by_label import LabelEstimate
from faithkit.report.formats import (
    CHANCE,
    Payload,
    format_interval,
    format_number,
    format_p_value,
    format_share_of,
    pluralize,
)
from faithkit.report.payloads import printed_groups
from faithkit.report.pictures.figures import group_figure
from faithkit.report.sheets.sheet import Figure, Sheet, Table
from faithkit.wording import join_words

CORRECTION = "p compares a label with its own chance, and is corrected for the number of labels (Holm)."


def label_sheets(payload: Payload, has_figures: bool = False) -> list[Sheet]:
    """Return a section for each measure: the numbers of every label.

    Parameters
    ----------
    payload : dict
        The output of `ByLabel.to_dict`.
    has_figures : bool
        Whether a plot is drawn for each measure.
    """
    sheets = [
        Sheet.of(
            f"{measure} by predicted label",
            _figure(printed_groups(labels), f"{measure} by predicted label") if has_figures else None,
            _table(printed_groups(labels)),
            *_reasons(labels),
            _left_out(payload["left_out"]),
            CORRECTION,
        )
        for measure, labels in payload["measures"].items()
    ]
    reasons = (
        f"{measure.capitalize()} was not measured by label: {why}."
        for measure, why in payload["not_measured"].items()
    )
    return [*sheets, *(Sheet(None, [reason]) for reason in reasons)]


def label_sheet(part: LabelEstimate) -> Sheet:
    """Return the numbers of one label.

    Examples
    --------
    >>> import faithkit
    >>> labels = faithkit.score(["ok"] * 40 + ["fraud"] * 8, ["a"] * 35 + ["b"] * 13).by_label()
    >>> print(labels["consistency"]["fraud"])
    number                             value
    ────────────────────────────────────────
    n                                      8
    estimate                           0.583
    95 % interval              0.162 – 1.000
    baseline (chance)                  0.149
    agree among those checked      58 % of 8
    p                                  0.083
    """
    payload, has_control = part.to_dict(), part.control is not None
    rows = list(zip(_heads(payload, has_control), _format_values(payload, has_control), strict=True))
    return Sheet.of(None, Table(("number", "value"), rows), part.why_not)


def _figure(labels: Mapping[str, Payload], title: str) -> Figure:
    estimates = {
        name: None if part["estimate"] is None else LabelEstimate.from_dict(part)
        for name, part in labels.items()
    }
    return group_figure(estimates, [part["n"] for part in labels.values()], title)


def _table(labels: Mapping[str, Payload]) -> Table:
    has_control = any(part["control"] is not None for part in labels.values())
    first: Payload = next(iter(labels.values()))
    rows = [(name, *_format_values(part, has_control), part["finding"]) for name, part in labels.items()]
    return Table(("prediction", *_heads(first, has_control), "finding"), rows, wide=("finding",))


def _heads(part: Payload, has_control: bool) -> list[str]:
    control = ["control"] if has_control else []
    interval = f"{100 * part['confidence']:g} % interval"
    return ["n", "estimate", interval, CHANCE, *control, "agree among those checked", "p"]


def _format_values(part: Mapping[str, Any], has_control: bool) -> list[str]:
    return [
        f"{part['n']:,}",
        format_number(part["estimate"]),
        format_interval(part["low"], part["high"]),
        format_number(part["chance"]),
        *([format_number(part["control"])] if has_control else []),
        format_share_of(part["agree"], part["checked"]),
        "–" if part["p_value"] is None else format_p_value(part["p_value"]),
    ]


def _reasons(labels: Mapping[str, Payload]) -> list[str]:
    """Say which labels have no estimate, and why."""
    names: dict[str, list[str]] = {}
    for name, part in printed_groups(labels).items():
        if part["why_not"] is not None:
            names.setdefault(part["why_not"], []).append(name)
    return [f"{join_words(unmeasured)}: no estimate, since {why}." for why, unmeasured in names.items()]


def _left_out(n_labels: int) -> str | None:
    return f"{pluralize(n_labels, 'rarer label')} left out." if n_labels else None
