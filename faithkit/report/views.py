"""What both kinds of page show about a result, as texts for their templates; the templates escape them."""

from typing import Any

from faithkit.measure.estimate import Estimate
from faithkit.report.formats import (
    Told,
    confidence,
    ends,
    estimates,
    facts,
    interval_name,
    number,
    percent,
    permuted,
    plural,
    signed,
    significance,
    system_name,
    unbroken,
    value_text,
)
from faithkit.report.text import sentences

View = dict[str, Any]


def fragment_view(told: Told) -> View:
    """Return what fits between the cells of a notebook."""
    said = [unbroken(sentence) for sentence in sentences(told)]  # a page breaks lines where it likes
    measures = zip(estimates(told).items(), said, strict=False)  # what follows are remarks
    return {
        "headline": system_name(told["explainer"], told["discretizer"]),
        "model": told["model"],
        "facts": facts(told),
        "interval": interval_name(told),
        "measures": [
            {"name": name, "sentence": sentence, **estimate_view(found)}
            for (name, found), sentence in measures
        ],
        "permuted": permuted(told),
        "sentences": said,
    }


def estimate_view(found: Estimate | None) -> View:
    """Return a measure's numbers."""
    if found is None:
        blank = dict.fromkeys(("value", "interval", "bracket", "verified", "chance"), "–")
        return {"measured": False, "verdict": "not measured", **blank}
    return {
        "measured": True,
        "value": value_text(found),
        "interval": ends(found.low, found.high),
        "bracket": ends(*found.bracket),
        "verified": percent(found.verified),
        "chance": number(found.by_chance),
        "p": None if found.p_value is None else significance(found.p_value),
        "verdict": found.verdict,
    }


def difference_view(value: float | None, low: float, high: float, p_value: float, alpha: float) -> View:
    """Return a difference's numbers, and whether it is surely not 0."""
    return {
        "difference": signed(value),
        "between": f"{signed(low)} to {signed(high)}",
        "p": significance(p_value),
        "sure": p_value < alpha,
    }


def system_facts(told: Told) -> dict[str, str]:
    """Return what explained."""
    return {
        "explainer": told["explainer"] or "none: the explanations were logged",
        "discretizer": told["discretizer"],
        "relation of sufficiency": told["relation"] or "none",
        "background": told["background"] or "none",
    }


def measuring_facts(told: Told) -> dict[str, str]:
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
