"""Show a measure inside each subgroup, with its difference to the rest, and of each predicted label."""

import re
from collections import Counter
from collections.abc import Mapping
from typing import Any, TypeVar

from faithkit.measure.by_label import LabelEstimate
from faithkit.measure.estimate import Estimate
from faithkit.report.formats import (
    CHANCE,
    Payload,
    format_interval,
    format_number,
    format_p_value,
    name_interval,
    pluralize,
)
from faithkit.report.outcome_words import choose_words
from faithkit.report.payloads import join_by_reason, note_estimator, read_confidence
from faithkit.report.sentences import OF_LABELS
from faithkit.report.sheets.measures import (
    difference_values,
    estimate_values,
    measure_table,
    number_columns,
)
from faithkit.report.sheets.sheet import Drawing, Sheet, Table
from faithkit.wording import join_words

T = TypeVar("T")

OF_GROUPS = "p is corrected for the number of groups (Holm)."
BY_LABEL = "p compares a label with its own chance, and is corrected for the number of labels (Holm)."
_LONG = re.compile(r"-?[0-9]+\.[0-9]{7,}")  # a number of more decimals than anybody reads


def subgroup_sheets(payload: Payload, subgroups: Payload, has_figures: bool = False) -> list[Sheet]:
    """Return a section for each measure: the numbers of every group, and its difference to the rest.

    `payload` is the result that was divided, or one of its groups: they share a confidence and an estimator.
    """
    return [
        _subgroup_sheet(payload, subgroups["by"], measure, printed_groups(groups), has_figures)
        for measure, groups in subgroups["groups"].items()
    ]


def printed_groups(groups: Mapping[str, T]) -> dict[str, T]:
    """Return groups by their printed names: a number has six digits, unless two would look the same.

    Examples
    --------
    >>> list(printed_groups({"0.30000000000000004": 1, "0.3333333333333333": 2, "north": 3}))
    ['0.3', '0.333333', 'north']
    >>> list(printed_groups({"0.30000000000000004": 1, "0.3": 2}))
    ['0.30000000000000004', '0.3']
    """
    short = {name: f"{float(name):.6g}" if _LONG.fullmatch(name) else name for name in groups}
    counts = Counter(short.values())
    return {name if counts[short[name]] > 1 else short[name]: group for name, group in groups.items()}


def _subgroup_sheet(payload: Payload, by: str, measure: str, groups: Payload, has_figures: bool) -> Sheet:
    title, words = f"{measure} by {by}", choose_words(payload)
    estimates = {name: _group_estimate(payload, group) for name, group in groups.items()}
    rows = [
        ((name, f"{groups[name]['n']:,}"), estimate_values(estimate, words))
        for name, estimate in estimates.items()
    ]
    differences, star = _compare_with_rest(payload, by, groups)
    return Sheet.of(
        title,
        _figure(estimates, [group["n"] for group in groups.values()], title) if has_figures else None,
        measure_table((by, "n"), number_columns(payload), rows),
        differences,
        _untested_groups(estimates),
        star,
        note_estimator(payload),
    )


def _figure(estimates: Mapping[str, Any], sizes: list[int], title: str) -> Drawing:
    return Drawing("groups", (estimates, sizes, title))


def _group_estimate(payload: Payload, group: Payload) -> Estimate | None:
    """Return a measure inside a group; None if it was not measured."""
    if group.get("verified") is None:
        return None
    # the p-value of a group is that of its difference to the rest
    return Estimate.from_dict({**group, "confidence": read_confidence(payload), "p_value": None}, group["n"])


def _compare_with_rest(payload: Payload, by: str, groups: Payload) -> tuple[Sheet | None, str | None]:
    """Return the differences to the rest and what a star means; None if no group has two rows and a rest."""
    if all(group.get("from") is None for group in groups.values()):
        return None, None
    rows = [(name, *_difference_to_rest(payload, group)) for name, group in groups.items()]
    heads = (by, "minus the rest", name_interval(read_confidence(payload)), "p", "")
    star = "*: the difference is not 0; " if any(row[-1] for row in rows) else ""
    return Sheet(None, [Table(heads, rows)]), star + OF_GROUPS


def _difference_to_rest(payload: Payload, group: Payload) -> tuple[str, ...]:
    estimate = _group_estimate(payload, group)
    # the group may be everybody, or one against one
    if group.get("from") is None or estimate is None or not estimate.is_compared:
        return "–", "–", "–", ""
    alpha = 1 - read_confidence(payload)
    return difference_values(group["difference"], group["from"], group["to"], group["p_value"], alpha)


def _untested_groups(measures: Mapping[str, Estimate | None]) -> str | None:
    """Name the groups of one independent instance, for which chance is unknown."""
    names = [name for name, estimate in measures.items() if estimate is not None and estimate.chance is None]
    if not names:
        return None
    return f"One instance alone has nothing to be checked against, nor to be compared: {join_words(names)}."


def label_sheets(payload: Payload, has_figures: bool = False) -> list[Sheet]:
    """Return a section for each measure: the numbers of every label; `payload` is that of `ByLabel`."""
    n_rare = payload["left_out"]
    rare = f"{pluralize(n_rare, 'rarer label')} left out." if n_rare else None
    sheets = [
        _measure_by_label(f"{measure} by predicted label", printed_groups(labels), rare, has_figures)
        for measure, labels in payload["measures"].items()
    ]
    reasons = (
        f"{measure.capitalize()} was not measured by label: {why}."
        for measure, why in payload["not_measured"].items()
    )
    return [*sheets, *(Sheet(None, [reason]) for reason in reasons)]


def _measure_by_label(
    title: str, labels: Mapping[str, Payload], rare: str | None, has_figures: bool
) -> Sheet:
    has_control = any(part["control"] is not None for part in labels.values())
    values = {name: _label_values(part, has_control) for name, part in labels.items()}
    heads = ("prediction", *next(iter(values.values())), "finding")
    rows = [(name, *texts.values(), labels[name]["finding"]) for name, texts in values.items()]
    estimates = {
        name: None if part["estimate"] is None else LabelEstimate.from_dict(part)
        for name, part in labels.items()
    }
    reasons = join_by_reason({name: part["why_not"] for name, part in labels.items()})
    return Sheet.of(
        title,
        _figure(estimates, [part["n"] for part in labels.values()], title) if has_figures else None,
        Table(heads, rows, wide=("finding",)),
        *(f"{names}: no estimate, since {why}." for why, names in reasons.items()),
        rare,
        BY_LABEL,
    )


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
    values = _label_values(part.to_dict(), part.control is not None)
    return Sheet.of(None, Table(("number", "value"), list(values.items())), part.why_not)


def _label_values(part: Payload, has_control: bool) -> dict[str, str]:
    """Return the numbers of a label under their headings."""
    return {
        "n": f"{part['n']:,}",
        "estimate": format_number(part["estimate"]),
        name_interval(part["confidence"]): format_interval(part["low"], part["high"]),
        CHANCE: format_number(part["chance"]),
        **({"control": format_number(part["control"])} if has_control else {}),
        OF_LABELS.agree: OF_LABELS.format_agreement(part["agree"], part["checked"]),
        "p": "–" if part["p_value"] is None else format_p_value(part["p_value"]),
    }
