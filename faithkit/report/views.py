"""What reports show about results, in a terminal and on a page, as texts; templates escape them."""

import math
from collections.abc import Mapping
from typing import Any

from faithkit.measure import MEASURES
from faithkit.measure.estimate import Estimate
from faithkit.report.formats import (
    Told,
    corrected,
    ends,
    estimates,
    interval_name,
    note,
    number,
    percent,
    plural,
    ranked,
    significance,
    system_name,
    unbroken,
)

View = dict[str, Any]

WHO = {"consistency": "that share an explanation", "sufficiency": "to which an explanation applies"}


def fragment_view(told: Told) -> View:
    """Return what fits in a terminal, and between the cells of a notebook."""
    said = [unbroken(sentence) for sentence in sentences(told)]  # a page breaks lines where it likes
    measures = [
        {"name": name, "sentence": sentence, **estimate_view(found)}
        for (name, found), sentence in zip(estimates(told).items(), said, strict=False)  # then come remarks
    ]
    p = [f"{one['name']} {one['p']}" for one in measures if one["p"]]
    return {
        "headline": system_name(told["explainer"], told["discretizer"]),
        "model": told["model"],
        "facts": _facts(told),
        "interval": interval_name(told),
        "measures": measures,
        "permuted": _permuted(told, p),
        "sentences": said,
        "next_steps": [unbroken(step) for step in told.get("next_steps") or ()],
    }


def _permuted(told: Told, p: list[str]) -> str | None:
    if p:
        return f"p ({plural(told['permutations'], 'permutation')}): {', '.join(p)}"
    return "No p: no two clusters are of one size." if told["permutations"] and told.get("clusters") else None


def _facts(told: Told) -> list[str]:
    """Return what the sample is made of, and what explainers had to say about it."""
    given = told["n_explanations"] - told["unexplained"]  # each unexplained instance counts as one
    lines = [f"{plural(told['n'], 'instance')}, {plural(given, 'distinct explanation')}"]
    if told["unexplained"]:
        lines[0] += f", {told['unexplained']:,} unexplained"
    if told.get("pool"):
        lines.append(f"{plural(told['n'], 'row')} explained, checked against {told['pool']:,} more")
    if told.get("effective"):
        lines.append(_worth(told))
    if set(told["why_unexplained"]) - {"no explanation"}:
        lines.append(f"of the unexplained, {_counted(told['why_unexplained'])}")
    if told["remarks"]:
        lines.append(f"of the explanations, {_counted(told['remarks'])}")
    return lines


def _worth(told: Told) -> str:
    """Say what rows with weights or clusters are worth."""
    alone = f"worth as much as {math.floor(told['effective']):,} independent instances of equal weight"
    return f"in {plural(told['clusters'], 'cluster')}, {alone}" if told["clusters"] else alone


def _counted(remarks: Mapping[str, int]) -> str:
    return "; ".join(f"{remark}: {count:,}" for remark, count in remarks.items())


def sentences(told: Told) -> list[str]:
    """Say in plain words what each measure means."""
    said = [_sentence(name, found, told["why_no_sufficiency"]) for name, found in estimates(told).items()]
    if told["background"] == "the sample itself":
        said.append("What was learnt was learnt from the rows it was judged on, which flatters it.")
    return said if (remark := note(told)) is None else [*said, remark]


def _sentence(name: str, found: Estimate | None, why_not: str | None) -> str:
    if found is None:
        return f"{name.capitalize()} was not measured: {why_not}."
    who = f"Instances {WHO[name]}"
    if found.verified == 0:
        nothing = "so nothing could be checked; the sample says nothing about the truth"
        return f"{who}: none were found, {nothing}."
    agree = found.bracket[0] / found.verified
    rest = "all instances could be checked"
    if found.verified < 1:
        rest = f"{percent(1 - found.verified)} of instances could not be checked"
    return f"{who} get the same prediction {percent(agree)} of the time; {rest}."


def estimate_view(found: Estimate | None) -> View:
    """Return a measure's numbers."""
    if found is None:
        blank = dict.fromkeys(("value", "interval", "bracket", "verified", "chance"), "–")
        return {"measured": False, "verdict": "not measured", "p": None, **blank}
    return {
        "measured": True,
        # a 0 where nothing could be checked would look unfaithful
        "value": "–" if found.verified == 0 else number(found.value),
        "interval": ends(found.low, found.high),
        "bracket": ends(*found.bracket),
        "verified": percent(found.verified),
        "chance": number(found.by_chance),
        "p": None if found.p_value is None else significance(found.p_value),
        "verdict": found.verdict,
    }


def changes(reference: Told) -> list[str]:
    """Say of each measure whether it is worse than in the reference, or why that cannot be said."""
    said = [change["finding"] for change in reference["difference"].values()]
    said += [f"{name} was not compared: {why}" for name, why in reference["not_compared"].items()]
    return [unbroken(f"{line[0].upper()}{line[1:]}.") for line in said]


def compared_view(told: Told) -> View:
    """Return the tables of systems, as far as they fit there, too."""
    return {
        "interval": interval_name(next(iter(told["systems"].values()))),
        "measures": [_table(told, measure) for measure in MEASURES],
        "remarks": _remarks(told),
        "corrected": corrected(told),
    }


def _table(told: Told, measure: str) -> View:
    best = told["best"][measure]
    mark = "best" if len(best) == 1 else "may be the best"
    rows = [
        {"name": name, "mark": mark if name in best else "", **estimate_view(one)}
        for name, one in ranked(told, measure).items()
    ]
    return {"name": measure, "rows": rows, "sentence": _best_sentence(best)}


def _best_sentence(best: list[str]) -> str:
    if len(best) > 1:
        return f"{len(best)} systems may be the best: the sample cannot tell them apart."
    return f"The best is {best[0]}." if best else "No system has a value."


def _remarks(told: Told) -> list[str]:
    """Return what a comparison left out, and whose order it has where its values are of another estimator."""
    lines = [f"Left out: {'; '.join(told['left_out'])}."] if told["left_out"] else []
    orders = (note(one, "Order, differences, intervals and p") for one in told["systems"].values())
    return lines + [line for line in orders if line][:1]
