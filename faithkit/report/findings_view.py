"""What the page about one explanation system shows: measures, plots, witnesses, subgroups, drift."""

from collections.abc import Iterable
from typing import TYPE_CHECKING, Any

from faithkit.measure import MEASURES
from faithkit.report.figures import figures, lines
from faithkit.report.formats import held, plural
from faithkit.report.views import (
    View,
    difference_view,
    estimate_view,
    estimates,
    fragment_view,
    measuring_facts,
    page_sentences,
    system_facts,
)
from faithkit.wording import cell_text

if TYPE_CHECKING:
    from faithkit.measure.witnesses import Violation
    from faithkit.run.findings import Findings
    from faithkit.run.subgroups import Subgroups

WITNESSES = 3  # where nobody said how many
CELLS = 16  # of a witness; further ones are folded
LETTERS = 300  # of an explanation; what is longer is folded
LINES = 12  # of a plot of subgroups; a longer one is no overview


def findings_view(found: "Findings") -> View:
    """Return one system: its measures, plots, witnesses, subgroups and drift, and where they come from."""
    result = found.result
    violations = result.violations(WITNESSES) if found.violations is None else found.violations
    return {
        **fragment_view(result),
        "notes": page_sentences(result)[len(MEASURES) :],
        "plot": lines(estimates(result), "measures"),
        "figures": figures(result, "result"),
        "unchecked": [name for name, one in estimates(result).items() if one and one.verified == 0],
        "witnesses": [_witness(violation) for violation in violations],
        "subgroups": None if found.subgroups is None else _subgroups(found.subgroups),
        "drift": _drift(found),
        "provenance": system_facts(result) | measuring_facts(result),
        "versions": result.to_dict()["versions"],
    }


def _witness(violation: "Violation") -> View:
    one, two = violation.witnesses
    cells = list(_side_by_side(one.cells or {}, two.cells or {}))
    whole = violation.explanation
    return {
        "explanation": whole,
        "start": f"{whole[:LETTERS]}…" if len(whole) > LETTERS else None,
        "held": held(violation),
        "share": f"{100 * violation.predictions[one.prediction] / violation.holds_for:.1f}",
        "rows": [{"row": seen.row, "prediction": str(seen.prediction)} for seen in (one, two)],
        "cells": cells[:CELLS],
        "more": cells[CELLS:],
    }


def _side_by_side(one: dict[str, Any], two: dict[str, Any]) -> Iterable[View]:
    for name, cell in one.items():
        pair = [{"text": cell_text(value), "missing": value is None} for value in (cell, two[name])]
        yield {"name": name, "pair": pair, "differs": cell != two[name]}


def _subgroups(groups: "Subgroups") -> View:
    taken = [name for name in MEASURES if any(getattr(part, name) for part in groups.values())]
    return {
        "name": groups.name,
        "figures": [_subgroup_figure(groups, measure) for measure in taken if len(groups) <= LINES],
        "tables": [{"measure": measure, "rows": _subgroup_rows(groups, measure)} for measure in taken],
    }


def _subgroup_figure(groups: "Subgroups", measure: str) -> View:
    parts = {str(group): getattr(part, measure) for group, part in groups.items()}
    return {"title": measure, "caption": "", "svg": lines(parts, f"{measure} by {groups.name}")}


def _subgroup_rows(groups: "Subgroups", measure: str) -> list[View]:
    differences = groups.to_frame(measure).to_dict("records")
    return [
        {
            "name": str(group),
            "n": f"{part.n:,}",
            **estimate_view(getattr(part, measure)),
            **_minus_the_rest(row, 1 - part.confidence),
        }
        for (group, part), row in zip(groups.items(), differences, strict=True)
    ]


def _minus_the_rest(row: dict[Any, Any], alpha: float) -> View:
    if row.get("from") is None or row["from"] != row["from"]:  # a group that is everybody
        return {"difference": "–", "between": "–", "p": "–", "sure": False}
    value = None if row["difference"] != row["difference"] else row["difference"]
    return difference_view(value, row["from"], row["to"], row["p_value"], alpha)


def _drift(found: "Findings") -> View | None:
    reference = found.reference
    if reference is None:
        return None
    alpha = 1 - found.result.confidence
    rows = [
        {
            "name": name,
            "here": estimate_view(getattr(found.result, name))["value"],
            "there": estimate_view(getattr(reference, name))["value"],
            **difference_view(change.value, change.low, change.high, change.p_value, alpha),
        }
        for name, change in found.drift().items()
    ]
    return {"sizes": [plural(part.n, "instance") for part in (found.result, reference)], "rows": rows}
