"""What both kinds of page show about a result, as texts for their templates; the templates escape them."""

from typing import TYPE_CHECKING, Any

from faithkit.measure import MEASURES
from faithkit.report.formats import (
    ends,
    facts,
    interval_name,
    luck_text,
    percent,
    permuted,
    plural,
    signed,
    significance,
    system,
    unbroken,
    value_text,
)
from faithkit.report.text import sentences

if TYPE_CHECKING:
    from faithkit.measure.estimate import Estimate
    from faithkit.run.evaluation import Evaluation

View = dict[str, Any]


def fragment_view(result: "Evaluation") -> View:
    """Return what fits between the cells of a notebook."""
    return {
        "headline": system(result),
        "model": result.provenance.model,
        "facts": facts(result),
        "interval": interval_name(result),
        "measures": measures_view(result),
        "permuted": permuted(result),
        "sentences": page_sentences(result),
    }


def measures_view(result: "Evaluation") -> list[View]:
    """Return each measure with all its numbers, and the sentence that says what it means."""
    told = zip(estimates(result).items(), page_sentences(result), strict=False)  # what follows are remarks
    return [{"name": name, "sentence": sentence, **estimate_view(found)} for (name, found), sentence in told]


def page_sentences(result: "Evaluation") -> list[str]:
    """Return what the terminal says, for a page that breaks lines where it likes."""
    return [unbroken(sentence) for sentence in sentences(result)]


def estimates(result: "Evaluation") -> "dict[str, Estimate | None]":
    """Return both measures; None for the one that was not taken."""
    return {name: getattr(result, name) for name in MEASURES}


def estimate_view(found: "Estimate | None") -> View:
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
        "chance": luck_text(found),
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


def system_facts(result: "Evaluation") -> dict[str, str]:
    """Return what explained."""
    told = result.to_dict()
    return {
        "explainer": told["explainer"] or "none: the explanations were logged",
        "discretizer": told["discretizer"],
        "relation of sufficiency": told["relation"] or "none",
        "background": told["background"] or "none",
    }


def measuring_facts(result: "Evaluation") -> dict[str, str]:
    """Return what was measured, and how."""
    told = result.to_dict()
    data = told["data"]
    columns = "" if data["columns"] is None else f", {plural(data['columns'], 'column')}"
    return {
        "model": told["model"] or "none: the predictions were logged",
        "estimator": told["estimator"],
        "confidence": f"{100 * result.confidence:g} %",
        "permutations": f"{result.permutations:,}" if result.permutations else "none",
        "seed": str(told["seed"]),
        "data": f"{plural(data['rows'], 'row')}{columns}",
        "data checksum": data["fingerprint"] or "none: not all values have one",
    }
