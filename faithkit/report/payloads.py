"""Read estimates and names from the output of `to_dict`, so that saved results have the same reports."""

import re
from collections import Counter
from collections.abc import Mapping
from typing import TypeVar

from faithkit.measure import MEASURES
from faithkit.measure.estimate import Estimate
from faithkit.measure.finding import ABOVE
from faithkit.report.formats import LEAVE_ONE_OUT, Payload

T = TypeVar("T")

_LONG = re.compile(r"-?[0-9]+\.[0-9]{7,}")  # a number of more decimals than anybody reads


def estimates(payload: Payload) -> dict[str, Estimate | None]:
    """Return both measures of a result; None for one that was not measured."""
    measures = {name: payload["measures"][name] for name in MEASURES}
    return {name: values and Estimate.from_dict(values, payload["n"]) for name, values in measures.items()}


def group_estimates(payload: Payload, parts: Payload) -> dict[str, Estimate | None]:
    """Return a measure inside each group of a result; None if it was not measured."""
    # the p-value of a group is that of its difference to the rest
    shared = {"confidence": confidence(payload), "p_value": None}
    return {
        name: None if part.get("verified") is None else Estimate.from_dict({**part, **shared}, part["n"])
        for name, part in parts.items()
    }


def printed_groups(parts: Mapping[str, T]) -> dict[str, T]:
    """Return groups by their printed names: a number has six digits, unless two would look the same.

    Examples
    --------
    >>> list(printed_groups({"0.30000000000000004": 1, "0.3333333333333333": 2, "north": 3}))
    ['0.3', '0.333333', 'north']
    >>> list(printed_groups({"0.30000000000000004": 1, "0.3": 2}))
    ['0.30000000000000004', '0.3']
    """
    short = {name: f"{float(name):.6g}" if _LONG.fullmatch(name) else name for name in parts}
    counts = Counter(short.values())
    return {name if counts[short[name]] > 1 else short[name]: part for name, part in parts.items()}


def are_compared(parts: Payload) -> bool:
    """Return whether some group can be compared with the rest: neither all rows nor a single one."""
    return any(part.get("from") is not None for part in parts.values())


def ranked(payload: Payload, measure: str) -> dict[str, Estimate]:
    """Return the systems of a comparison that have a measure, the highest first."""
    measures = {name: estimates(payload["systems"][name])[measure] for name in payload["ranked"][measure]}
    return {name: estimate for name, estimate in measures.items() if estimate is not None}


def is_unknown(estimate: Estimate) -> bool:
    """Return whether nothing could be checked, and no bound is above chance."""
    return estimate.verified == 0 and estimate.finding != ABOVE


def confidence(payload: Payload) -> float:
    """Return the confidence of a result's intervals."""
    return float(payload["measures"]["consistency"]["confidence"])


def interval_name(payload: Payload) -> str:
    """Return the head of the column of intervals."""
    return f"{100 * confidence(payload):g} % interval"


def estimator_name(payload: Payload) -> str:
    """Return the head of the column of the estimator's values.

    >>> estimator_name({"estimator": "faithkit/plug-in"})
    'plug-in'
    """
    return str(payload["estimator"]).removeprefix("faithkit/")


def note(payload: Payload, subject: str = "Intervals, differences and p") -> str | None:
    """Say what does not depend on the estimator, if it is not leave-one-out."""
    if payload["estimator"] in LEAVE_ONE_OUT:
        return None
    return f"{subject} are the same for every estimator."
