"""What a result tells, read back: the estimates that reports show."""

import re
from collections import Counter
from collections.abc import Mapping
from typing import Any, TypeVar

from faithkit.measure import MEASURES
from faithkit.measure.estimate import Estimate
from faithkit.measure.finding import ABOVE
from faithkit.report.formats import LEAVE_ONE_OUT, Payload

T = TypeVar("T")

_LONG = re.compile(r"-?[0-9]+\.[0-9]{7,}")  # a number of more decimals than anybody reads


def estimates(told: Payload) -> dict[str, Estimate | None]:
    """Return both measures of a result; None for the one that was not taken."""
    return {name: found and Estimate.from_dict(found, told["n"]) for name, found in _measures(told).items()}


def group_estimates(told: Payload, parts: Payload) -> dict[str, Estimate | None]:
    """Return a measure inside each group of a result; None where it was not taken."""
    # the p-value that a group tells is that of its difference to the rest
    shared = {"confidence": confidence(told), "p_value": None}
    return {
        name: None if part.get("verified") is None else Estimate.from_dict({**part, **shared}, part["n"])
        for name, part in parts.items()
    }


def printed_groups(parts: Mapping[str, T]) -> dict[str, T]:
    """Return groups by what they are called in print: a number has six digits, where these tell it apart.

    Examples
    --------
    >>> list(printed_groups({"0.30000000000000004": 1, "0.3333333333333333": 2, "north": 3}))
    ['0.3', '0.333333', 'north']
    >>> list(printed_groups({"0.30000000000000004": 1, "0.3": 2}))
    ['0.30000000000000004', '0.3']
    """
    short = {name: f"{float(name):.6g}" if _LONG.fullmatch(name) else name for name in parts}
    times = Counter(short.values())
    return {name if times[short[name]] > 1 else short[name]: part for name, part in parts.items()}


def are_compared(parts: Payload) -> bool:
    """Whether some group has a rest to be different from: not one that is everybody, nor one against one."""
    return any(part.get("from") is not None for part in parts.values())


def ranked(told: Payload, measure: str) -> dict[str, Estimate]:
    """Return the systems of a comparison that have a measure, the highest first."""
    found = {name: estimates(told["systems"][name])[measure] for name in told["ranked"][measure]}
    return {name: one for name, one in found.items() if one is not None}


def _measures(told: Payload) -> dict[str, Any]:
    return {name: told["measures"][name] for name in MEASURES}


def nothing_known(found: Estimate) -> bool:
    """Whether nothing could be checked, and nothing else shows more than chance would."""
    return found.verified == 0 and found.finding != ABOVE


def confidence(told: Payload) -> float:
    """Return the confidence of a result's intervals, which all of them have in common."""
    return float(told["measures"]["consistency"]["confidence"])


def interval_name(told: Payload) -> str:
    """Return what the column of intervals is called."""
    return f"{100 * confidence(told):g} % interval"


def estimator_name(told: Payload) -> str:
    """Return what the column of the estimator's values is called.

    >>> estimator_name({"estimator": "faithkit/plug-in"})
    'plug-in'
    """
    return str(told["estimator"]).removeprefix("faithkit/")


def note(told: Payload, what: str = "Intervals, differences and p") -> str | None:
    """Say what has nothing to do with the estimator, where it is not the one of the measure itself."""
    if told["estimator"] in LEAVE_ONE_OUT:
        return None
    return f"{what} are the same for every estimator."
