"""Read estimates and names from the output of `to_dict`, so that saved results have the same reports."""

from collections.abc import Mapping

from faithkit.measure import MEASURES
from faithkit.measure.baselines.control import Control
from faithkit.measure.estimate import Estimate
from faithkit.measure.finding import ABOVE
from faithkit.report.formats import LEAVE_ONE_OUT, Payload
from faithkit.wording import join_words


def read_estimates(payload: Payload) -> dict[str, Estimate | None]:
    """Return both measures of a result; None for one that was not measured."""
    measures = {name: payload["measures"][name] for name in MEASURES}
    return {name: values and Estimate.from_dict(values, payload["n"]) for name, values in measures.items()}


def read_control(payload: Payload) -> Control | None:
    """Return the control of a result."""
    values = payload.get("control")
    return None if values is None else Control.from_dict(values)


def rank_systems(payload: Payload, measure: str) -> dict[str, Estimate]:
    """Return the systems of a comparison that have a measure, the highest first."""
    measures = {
        name: read_estimates(payload["systems"][name])[measure] for name in payload["ranked"][measure]
    }
    return {name: estimate for name, estimate in measures.items() if estimate is not None}


def join_by_reason(reasons: Mapping[str, str | None]) -> dict[str, str]:
    """Return the names for which there is a reason, in words, by their reason.

    >>> join_by_reason({"a": "too rare", "b": None, "c": "too rare"})
    {'too rare': 'a and c'}
    """
    names: dict[str, list[str]] = {}
    for name, reason in reasons.items():
        if reason is not None:
            names.setdefault(reason, []).append(name)
    return {reason: join_words(group) for reason, group in names.items()}


def is_unknown(estimate: Estimate) -> bool:
    """Return whether nothing could be checked, and no bound is above chance."""
    return estimate.verified == 0 and estimate.finding != ABOVE


def read_confidence(payload: Payload) -> float:
    """Return the confidence of a result's intervals."""
    return float(payload["measures"]["consistency"]["confidence"])


def name_estimator(payload: Payload) -> str:
    """Return the heading of the estimator's column.

    >>> name_estimator({"estimator": "faithkit/plug-in"})
    'plug-in'
    """
    return str(payload["estimator"]).removeprefix("faithkit/")


def note_estimator(payload: Payload, subject: str = "Intervals, differences and p") -> str | None:
    """Return a note on what does not depend on the estimator, if it is not leave-one-out."""
    if payload["estimator"] in LEAVE_ONE_OUT:
        return None
    return f"{subject} are the same for every estimator."
