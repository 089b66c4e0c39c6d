"""What the page about one explanation system shows: measures, plots, witnesses, subgroups, drift."""

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from faithkit.measure import MEASURES
from faithkit.measure.estimate import Estimate
from faithkit.measure.slots import Slots
from faithkit.measure.witnesses import Violation
from faithkit.report.figures import figures, lines
from faithkit.report.formats import Told, confidence, estimates, group_estimates, held, plural
from faithkit.report.views import (
    View,
    difference_view,
    estimate_view,
    fragment_view,
    measuring_facts,
    system_facts,
)
from faithkit.wording import cell_text

CELLS = 16  # of a witness; further ones are folded
LETTERS = 300  # of an explanation; what is longer is folded
LINES = 12  # of a plot of subgroups; a longer one is no overview


def findings_view(told: Told, violations: Sequence[Violation] | None, slots: Mapping[str, Slots]) -> View:
    """Return one system: its measures, plots, witnesses, subgroups and drift, and where they come from."""
    shown, found = fragment_view(told), estimates(told)
    return {
        **shown,
        "notes": shown["sentences"][len(MEASURES) :],
        "plot": lines(found, "measures"),
        "figures": figures(told, "result", slots),
        "unchecked": [name for name, one in found.items() if one and one.verified == 0],
        "witnesses": None if violations is None else [_witness(violation) for violation in violations],
        "subgroups": _subgroups(told) if "subgroups" in told else None,
        "drift": _drift(told) if "reference" in told else None,
        "provenance": system_facts(told) | measuring_facts(told),
        "versions": told["versions"],
    }


def _witness(violation: Violation) -> View:
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


def _subgroups(told: Told) -> View:
    by, groups = told["subgroups"]["by"], told["subgroups"]["groups"]
    found = {measure: group_estimates(told, parts) for measure, parts in groups.items()}
    return {
        "name": by,
        "figures": [
            {"title": measure, "caption": "", "svg": lines(parts, f"{measure} by {by}")}
            for measure, parts in found.items()
            if len(parts) <= LINES
        ],
        "tables": [
            {"measure": measure, "rows": _subgroup_rows(groups[measure], parts, 1 - confidence(told))}
            for measure, parts in found.items()
        ],
    }


def _subgroup_rows(parts: Told, found: Mapping[str, Estimate | None], alpha: float) -> list[View]:
    return [
        {"name": name, "n": f"{part['n']:,}", **estimate_view(found[name]), **_minus_the_rest(part, alpha)}
        for name, part in parts.items()
    ]


def _minus_the_rest(part: Told, alpha: float) -> View:
    if part.get("from") is None:  # a group that is everybody
        return {"difference": "–", "between": "–", "p": "–", "sure": False}
    return difference_view(part["difference"], part["from"], part["to"], part["p_value"], alpha)


def _drift(told: Told) -> View:
    reference, alpha = told["reference"], 1 - confidence(told)
    here, there = estimates(told), estimates(reference)
    rows = [
        {
            "name": name,
            "here": estimate_view(here[name])["value"],
            "there": estimate_view(there[name])["value"],
            **difference_view(change["value"], change["low"], change["high"], change["p_value"], alpha),
        }
        for name, change in reference["difference"].items()
    ]
    return {"sizes": [plural(part["n"], "instance") for part in (told, reference)], "rows": rows}
