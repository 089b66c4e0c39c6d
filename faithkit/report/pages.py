"""What only pages show: plots, witnesses, subgroups, drift, differences, and where a result comes from."""

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from faithkit.measure import MEASURES
from faithkit.measure.counting.owners import Owners
from faithkit.measure.witnesses import Violation
from faithkit.report.figures import figures, lines, spreads
from faithkit.report.formats import Payload, held, plural, predictions
from faithkit.report.instances import no_violation
from faithkit.report.told import are_compared, confidence, estimates, group_estimates, printed_groups, ranked
from faithkit.report.views import (
    View,
    alone,
    changes,
    compared_view,
    difference_view,
    estimate_view,
    fragment_view,
    starred,
    subgroup_rows,
)
from faithkit.wording import cell_text, listing

CELLS = 16  # of a witness; further ones are folded
LETTERS = 300  # of an explanation; what is longer is folded
LINES = 12  # of a plot of subgroups; a longer one is no overview


def findings_view(
    told: Payload, violations: Sequence[Violation] | None, owners: Mapping[str, Owners]
) -> View:
    """Return one system: its measures, plots, witnesses, subgroups and drift, and where they come from."""
    shown, found = fragment_view(told), estimates(told)
    meaning = getattr(violations, "note", None) if violations else None  # stands where explanations are shown
    return {
        **shown,
        "notes": [note for note in shown["sentences"][len(MEASURES) :] if note != meaning],
        "meaning": meaning,
        "plot": lines(found, "measures"),
        "figures": figures(told, "result", owners) + spreads(violations or ()),
        "unchecked": [name for name, one in found.items() if one and one.verified == 0],
        "no_violation": no_violation(() if violations is None else violations),
        "witnesses": None if violations is None else [_witness(violation) for violation in violations],
        "subgroups": _subgroups(told) if "subgroups" in told else None,
        "drift": _drift(told) if "reference" in told else None,
        "provenance": _system_facts(told) | _measuring_facts(told),
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
        "bar": _bar(violation),
        "rows": [
            {"row": seen.place, "prediction": prediction}
            for seen, prediction in zip((one, two), predictions(one.prediction, two.prediction), strict=True)
        ],
        "cells": cells[:CELLS],
        "more": cells[CELLS:],
    }


def _bar(violation: Violation) -> View | None:
    """Return where a bar starts and how long it is, in percent; None for vectors.

    That is the share of the first witness's label; of numbers, from all of them the half in the middle.
    """
    numbers = violation.numbers
    if numbers is None and not violation.predictions:
        return None
    if numbers is None:
        share = violation.predictions[violation.witnesses[0].prediction] / violation.holds_for
        return {"start": "0.0", "length": f"{100 * share:.1f}"}
    whole = numbers.most - numbers.least or 1.0
    start, stop = ((end - numbers.least) / whole for end in (numbers.quarter, numbers.three_quarters))
    return {"start": f"{100 * start:.1f}", "length": f"{100 * (stop - start):.1f}"}


def _side_by_side(one: dict[str, Any], two: dict[str, Any]) -> Iterable[View]:
    for name, cell in one.items():
        pair = [{"text": cell_text(value), "missing": value is None} for value in (cell, two[name])]
        yield {"name": name, "pair": pair, "differs": cell != two[name]}


def _subgroups(told: Payload) -> View:
    by, every = told["subgroups"]["by"], told["subgroups"]["groups"]
    groups = {measure: printed_groups(parts) for measure, parts in every.items()}
    found = {measure: group_estimates(told, parts) for measure, parts in groups.items()}
    rows = {measure: subgroup_rows(groups[measure], parts, told) for measure, parts in found.items()}
    sure = any(row["sure"] for some in rows.values() for row in some)
    correction = "p is corrected for the number of groups (Holm)"
    return {
        "name": by,
        "star": starred(sure, correction),
        "figures": [
            {"title": measure, "caption": "", "svg": lines(parts, f"{measure} by {by}")}
            for measure, parts in found.items()
            if len(parts) <= LINES
        ],
        "tables": [
            {
                "measure": measure,
                "rows": rows[measure],
                "compared": are_compared(groups[measure]),
                "alone": alone(parts),
            }
            for measure, parts in found.items()
        ],
    }


def _drift(told: Payload) -> View:
    reference, alpha = told["reference"], 1 - confidence(told)
    here, there = estimates(told), estimates(reference)
    rows = [
        {
            "name": name,
            "here": estimate_view(here[name])["estimate"],
            "there": estimate_view(there[name])["estimate"],
            **difference_view(change["value"], change["low"], change["high"], change["p_value"], alpha),
        }
        for name, change in reference["difference"].items()
    ]
    sizes = [plural(part["n"], "instance") for part in (told, reference)]
    return {"sizes": sizes, "rows": rows, "sentences": changes(reference)}


def comparison_view(told: Payload, owners: Mapping[str, Mapping[str, Owners]]) -> View:
    """Return several systems side by side, and each on its own."""
    shown, systems = compared_view(told), told["systems"]
    first = next(iter(systems.values()))
    return {
        **shown,
        "headline": plural(len(systems), "explanation system"),
        "model": first["model"],
        "facts": [plural(first["n"], "instance")],
        "measures": [table | _details(told, table["name"]) for table in shown["measures"]],
        "systems": [
            {
                **fragment_view(one),
                "name": name,
                "figures": figures(one, name, owners.get(name, {})),
                "provenance": _system_facts(one),
            }
            for name, one in systems.items()
        ],
        "provenance": _measuring_facts(first),
        "versions": dict(sorted(known for one in systems.values() for known in one["versions"].items())),
    }


def _details(told: Payload, measure: str) -> View:
    found = ranked(told, measure)
    alpha = 1 - confidence(next(iter(told["systems"].values())))
    pairs = sorted(told["differences"][measure], key=lambda pair: pair["adjusted_p_value"])
    absent = {name: one for name, one in told["systems"].items() if name not in found}
    return {
        "plot": lines(found, measure, told["best"][measure]) if found else None,
        "pairs": [
            pair | difference_view(pair["value"], pair["low"], pair["high"], pair["adjusted_p_value"], alpha)
            for pair in pairs
        ],
        "absent": _reasons(absent),
    }


def _reasons(absent: Payload) -> dict[str, str]:
    """Return the systems without sufficiency, by reason."""
    names: dict[str, list[str]] = {}
    for name, one in absent.items():
        names.setdefault(str(one["why_no_sufficiency"]), []).append(name)
    return {reason: listing(those) for reason, those in names.items()}


def _system_facts(told: Payload) -> dict[str, str]:
    """Return what explained."""
    way = ", ".join(f"{what} {how}" for what, how in told.get("explained_by", {}).items())
    return {
        "explainer": told["explainer"] or "none: the explanations were logged",
        **({"explained by": way} if way else {}),
        "discretizer": told["discretizer"],
        "relation of sufficiency": told["relation"] or "none",
        "background": told["background"] or "none",
    }


def _measuring_facts(told: Payload) -> dict[str, str]:
    """Return what was measured, and how."""
    data = told["data"]
    columns = "" if data["columns"] is None else f", {plural(data['columns'], 'column')}"
    return {
        "model": told["model"] or "none: the predictions were logged",
        "estimator": told["estimator"],
        "confidence": f"{100 * confidence(told):g} %",
        "permutations": f"{told['permutations']:,}" if told["permutations"] else "none",
        "seed": str(told["seed"]),
        "data": f"{plural(data['rows'], 'row')}{columns}",
        "data checksum": data["fingerprint"] or "none: not all values have one",
    }
