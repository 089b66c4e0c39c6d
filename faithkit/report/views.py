"""What reports show about results, in a terminal and on a page, as texts; templates escape them."""

import math
from collections.abc import Mapping
from typing import Any

from faithkit.display import VERBOSE
from faithkit.measure import MEASURES
from faithkit.measure.estimate import Estimate
from faithkit.report.agreeing import Words, words
from faithkit.report.agreeing import remarks as about_predictions
from faithkit.report.formats import (
    LEAVE_ONE_OUT,
    Payload,
    between,
    number,
    outward,
    percent,
    plural,
    signed,
    significance,
    system_name,
    unbroken,
)
from faithkit.report.sentences import OF_LABELS, sentence
from faithkit.report.told import confidence, estimates, estimator_name, interval_name, note, ranked
from faithkit.wording import listing

View = dict[str, Any]

ROUNDING = 1e-9

NUMBERS = ("estimate", "interval", "chance", "checked", "agree", "value", "bracket")


def fragment_view(told: Payload) -> View:
    """Return what fits in a terminal, and between the cells of a notebook."""
    said = [unbroken(sentence) for sentence in sentences(told)]  # a page breaks lines where it likes
    measures = [
        {"name": name, "sentence": sentence, **estimate_view(found, words(told))}
        for (name, found), sentence in zip(estimates(told).items(), said, strict=False)  # then come remarks
    ]
    p = [f"{one['name']} {one['p']}" for one in measures if one["p"]]
    return {
        "headline": system_name(told["explainer"], told["discretizer"]),
        "model": told["model"],
        "facts": _facts(told),
        "columns": columns(told),
        "glossary_words": words(told).glossary,
        "measures": measures,
        "permuted": _permuted(told, p),
        "sentences": said,
        "next_steps": [unbroken(step) for step in told.get("next_steps") or ()],
    }


def columns(told: Payload) -> dict[str, str]:
    """Return what the columns of an estimate's numbers are called, in every table.

    The value of leave-one-out is one of them only where all numbers are asked for: the estimate says more.
    """
    named = {
        "estimate": "estimate",
        "interval": interval_name(told),
        "chance": "by chance",
        "checked": "checked",
        "agree": words(told).agree,
    }
    is_usual = told["estimator"] in LEAVE_ONE_OUT and not VERBOSE.get()
    return named if is_usual else named | {"value": estimator_name(told)}


def _permuted(told: Payload, p: list[str]) -> str | None:
    if p:
        return f"p ({plural(told['permutations'], 'permutation')}): {', '.join(p)}"
    return "No p: no two clusters are of one size." if told["permutations"] and told.get("clusters") else None


def _facts(told: Payload) -> list[str]:
    """Return what the sample is made of, and what explainers had to say about it."""
    given = told["n_explanations"] - told["unexplained"]  # each unexplained instance counts as one
    lines = [f"{plural(told['n'], 'instance')}, {plural(given, 'distinct explanation')}"]
    if told["unexplained"]:
        lines[0] += f", {told['unexplained']:,} unexplained"
    if told.get("pool"):
        explained = plural(told["n"] - told["unexplained"], "row")
        lines.append(f"{explained} explained, checked against {told['pool']:,} more")
    if told.get("effective"):
        lines.append(_worth(told))
    if set(told["why_unexplained"]) - {"no explanation"}:
        lines.append(f"of the unexplained, {_counted(told['why_unexplained'])}")
    if told["remarks"]:
        lines.append(f"of the explanations, {_counted(told['remarks'])}")
    return lines


def _worth(told: Payload) -> str:
    """Say what rows with weights or clusters are worth."""
    worth = plural(math.floor(told["effective"] + ROUNDING), "independent instance")
    alone = f"worth as much as {worth} of equal weight"
    said = f"in {plural(told['clusters'], 'cluster')}, {alone}" if told["clusters"] else alone
    what = "weights and sizes of clusters" if told["clusters"] else "weights"
    return (
        f"{said}; {what} {'are declared not to' if told.get('uninformative') else 'may'} go with predictions"
    )


def _counted(remarks: Mapping[str, int]) -> str:
    return "; ".join(f"{remark}: {count:,}" for remark, count in remarks.items())


def sentences(told: Payload) -> list[str]:
    """Say in plain words what each measure means, then what else is to be known."""
    why, n, found = told["why_no_sufficiency"], told["n"], estimates(told)
    said = [sentence(name, one, n, why, words(told)) for name, one in found.items()]
    said += about_predictions(told, found)
    if told["background"] == "the sample itself":
        said.append("What was learnt was learnt from the rows it was judged on, which flatters it.")
    said += told.get("notes", ())
    return said if (remark := note(told)) is None else [*said, remark]


def estimate_view(found: Estimate | None, words: Words = OF_LABELS) -> View:
    """Return a measure's numbers."""
    if found is None:
        return {"measured": False, "finding": "not measured", "p": None, **dict.fromkeys(NUMBERS, "–")}
    return {
        "measured": True,
        "estimate": number(found.estimate),
        "interval": outward(found.low, found.high),
        "chance": number(found.chance),
        "checked": percent(found.verified),
        "agree": words.cell(found.agree, found.checked),
        "value": number(found.value),
        "bracket": outward(*found.bracket),
        "p": None if found.p_value is None else significance(found.p_value),
        "finding": words.finding(found.finding or "–"),
    }


def alone(found: Mapping[str, Estimate | None]) -> str | None:
    """Say which groups are one independent instance: what chance would give is known of all others."""
    names = [name for name, one in found.items() if one is not None and one.chance is None]
    if not names:
        return None
    return f"One instance alone has nothing to be checked against, nor to be compared: {listing(names)}."


def subgroup_rows(parts: Payload, found: Mapping[str, Estimate | None], told: Payload) -> list[View]:
    """Return a line for every group: its numbers, and the difference to everybody else."""
    alpha, said = 1 - confidence(told), words(told)
    return [
        {
            "name": name,
            "n": f"{part['n']:,}",
            **estimate_view(found[name], said),
            **_minus_the_rest(part, alpha),
        }
        for name, part in parts.items()
    ]


def _minus_the_rest(part: Payload, alpha: float) -> View:
    if part.get("from") is None:  # a group that is everybody, or one against one
        return {"difference": "–", "between": "–", "p": "–", "sure": False}
    return difference_view(part["difference"], part["from"], part["to"], part["p_value"], alpha)


def difference_view(value: float | None, low: float, high: float, p_value: float, alpha: float) -> View:
    """Return a difference's numbers, and whether it is surely not 0."""
    return {
        "difference": signed(value),
        "between": between(low, high),
        "p": significance(p_value),
        "sure": p_value < alpha,
    }


def starred(is_any: bool, correction: str) -> str:
    """Say what a star means, where there is one, and how p is corrected.

    Examples
    --------
    >>> starred(True, "p is corrected"), starred(False, "p is corrected")
    ('*: the difference is not 0; p is corrected.', 'p is corrected.')
    """
    return f"*: the difference is not 0; {correction}." if is_any else f"{correction}."


def changes(reference: Payload) -> list[str]:
    """Say of each measure whether it is worse than in the reference, or why that cannot be said."""
    said = [change["finding"] for change in reference["difference"].values()]
    said += [f"{name} was not compared: {why}" for name, why in reference["not_compared"].items()]
    return [unbroken(f"{line[0].upper()}{line[1:]}.") for line in said]


def compared_view(told: Payload) -> View:
    """Return the tables of systems, as far as they fit there, too."""
    first, *more = (columns(one) for one in told["systems"].values())
    return {
        "columns": first if all(one == first for one in more) else {**first, "value": "value"},
        "glossary_words": words(_first(told)).glossary,
        "measures": [_table(told, measure) for measure in MEASURES],
        "remarks": _remarks(told),
    }


def _table(told: Payload, measure: str) -> View:
    best, found, said = told["best"][measure], ranked(told, measure), words(_first(told))
    mark = "best" if len(best) == 1 else "may be the best"
    rows = [
        {"name": name, "mark": mark if name in best else "", **estimate_view(one, said)}
        for name, one in found.items()
    ]
    tie = _tie({name: found[name] for name in best}) if len(best) > 1 else None
    p = [f"{one['name']} {one['p']}" for one in rows if one["p"]]
    more = {"tie": tie, "sentence": _best_sentence(best, tie), "permuted": _permuted(_first(told), p)}
    return {"name": measure, "rows": rows, **more}


def _first(told: Payload) -> Payload:
    """Return one system of a comparison: all have the same predictions."""
    first: Payload = next(iter(told["systems"].values()))
    return first


def _best_sentence(best: list[str], tie: str | None) -> str:
    if tie is not None:
        return f"{len(best)} systems may be the best: {tie}."
    return f"The best is {best[0]}." if best else "No system has a value."


def _tie(best: Mapping[str, Estimate]) -> str:
    """Say why several systems may be the best; with most care where next to nothing could be checked."""
    unchecked = [name for name, one in best.items() if one.checkability == "unverifiable"]
    if not unchecked:
        return "the sample cannot tell them apart"
    count = "none" if all(best[name].verified == 0 for name in unchecked) else "hardly any"
    if len(unchecked) == len(best):
        return (
            f"which of them is better is not known, since {count} of their explanations could be checked "
            "against another instance"
        )
    some = listing(unchecked)
    return (
        f"the sample cannot tell them apart; of {some}, {count} of the explanations could be checked against "
        "another instance"
    )


def _remarks(told: Payload) -> list[str]:
    """Return what a comparison left out, and whose order it has where its values are of another estimator."""
    lines = [f"Left out: {'; '.join(told['left_out'])}."] if told["left_out"] else []
    lines += about_predictions(_first(told), {})
    orders = (note(one, "Order, intervals, differences and p") for one in told["systems"].values())
    return lines + [line for line in orders if line][:1]
