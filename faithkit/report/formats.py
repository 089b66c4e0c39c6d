"""Numbers and names as every report writes them, in a terminal or on a page.

Reports are made of what `to_dict` tells, here called `told`, so that a result read from a file has them too.
"""

from collections.abc import Mapping
from decimal import ROUND_CEILING, ROUND_FLOOR, Decimal
from typing import Any

from faithkit.measure import MEASURES
from faithkit.measure.estimate import Estimate
from faithkit.measure.witnesses import Violation
from faithkit.wording import listing

Told = Mapping[str, Any]

LEAVE_ONE_OUT = ("leave-one-out", "faithkit/leave-one-out")
MOST_LABELS = 10  # in a line
_STEP = Decimal("0.001")


def estimates(told: Told) -> dict[str, Estimate | None]:
    """Return both measures of a result; None for the one that was not taken."""
    taken = told["measures"]
    return {name: taken[name] and Estimate.from_dict(taken[name], told["n"]) for name in MEASURES}


def group_estimates(told: Told, parts: Told) -> dict[str, Estimate | None]:
    """Return a measure inside each group of a result; None where it was not taken."""
    # the p-value that a group tells is that of its difference to the rest
    shared = {"confidence": confidence(told), "p_value": None}
    return {
        name: None if part.get("verified") is None else Estimate.from_dict({**part, **shared}, part["n"])
        for name, part in parts.items()
    }


def confidence(told: Told) -> float:
    """Return the confidence of a result's intervals, which all of them have in common."""
    return float(told["measures"]["consistency"]["confidence"])


def number(value: float | None) -> str:
    """Return a measure's value, or a dash where there is none.

    >>> number(0.86249), number(None)
    ('0.862', '–')
    """
    return "–" if value is None else f"{value:.3f}"


def ends(low: float | None, high: float | None) -> str:
    """Return an interval, or a dash where there is none.

    >>> ends(0.8, 0.9)
    '0.800 – 0.900'
    """
    return "–" if low is None or high is None else f"{low:.3f} – {high:.3f}"


def outward(low: float | None, high: float | None) -> str:
    """Return an interval that is no narrower than it is: its lower end rounded down, its upper end up.

    >>> outward(0.8129, 0.8991), outward(0.0, 1.0), outward(None, None)
    ('0.812 – 0.900', '0.000 – 1.000', '–')
    """
    if low is None or high is None:
        return "–"
    down, up = (Decimal(end).quantize(_STEP, way) for end, way in ((low, ROUND_FLOOR), (high, ROUND_CEILING)))
    return f"{down} – {up}"


def percent(share: float) -> str:
    """Return a whole percentage that says 0 or 100 only where nothing or everything is meant.

    >>> percent(0.999), percent(1)
    ('99 %', '100 %')
    """
    rounded = round(100 * share)
    if 0 < share < 1:
        rounded = min(max(rounded, 1), 99)
    return f"{rounded} %"


def signed(value: float | None) -> str:
    """Return a difference with its sign, or a dash where there is none.

    >>> signed(0.0412), signed(-0.2), signed(-0.0001), signed(None)
    ('+0.041', '−0.200', '+0.000', '–')
    """
    return "–" if value is None else f"{round(value, 3) + 0.0:+.3f}".replace("-", "−")


def significance(p_value: float) -> str:
    """Return a p-value.

    >>> significance(0.0412), significance(1e-9)
    ('0.041', '< 0.001')
    """
    return "< 0.001" if p_value < 0.001 else f"{p_value:.3f}"


def corrected(told: Told) -> str:
    """Return whose correction the p-values of subgroups or pairs have.

    >>> corrected({"adjust": "benjamini-hochberg"}), corrected({})
    ('Benjamini–Hochberg', 'Holm')
    """
    return "–".join(name.capitalize() for name in told.get("adjust", "holm").split("-"))


def unbroken(text: str) -> str:
    """Keep numbers and their percent signs on one line, on a page that breaks lines where it likes."""
    return text.replace(" %", "\u00a0%")


def plural(count: int, noun: str) -> str:
    """Return a count with its noun.

    >>> plural(1, "row"), plural(2000, "row")
    ('1 row', '2,000 rows')
    """
    return f"{count:,} {noun}{'' if count == 1 else 's'}"


def interval_name(told: Told) -> str:
    """Return what the column of intervals is called."""
    return f"{100 * confidence(told):g} % interval"


def system_name(explainer: str | None, discretizer: str) -> str:
    """Return what an explainer and a discretizer are called together.

    >>> system_name("shap", "1fp"), system_name("tree", "original")
    ('shap · 1fp', 'tree')
    """
    parts = [part for part in (explainer, discretizer) if part is not None and part != "original"]
    return " · ".join(parts) or "logged explanations"


def note(told: Told, what: str = "Differences, intervals and p") -> str | None:
    """Return which estimator the differences are of, where values beside them are those of another."""
    if told["estimator"] in LEAVE_ONE_OUT:
        return None
    return f"{what} are of leave-one-out, which estimates the measure."


def held(violation: Violation) -> str:
    """Return how many instances an explanation holds for and what they get, the first witness's first."""
    first, known = violation.witnesses[0].prediction, violation.predictions
    many = len(known) > MOST_LABELS or violation.unlisted > 0
    order = sorted(filter(known.get, known), key=lambda label: (label != first, -known[label] if many else 0))
    shown = order[: MOST_LABELS - 1] if many else order
    told = [f"{known[label]:,} get {label}" for label in shown]
    if many:
        told.append(f"{violation.holds_for - sum(known[label] for label in shown):,} get something else")
    return f"{plural(violation.holds_for, 'instance')}: {listing(told)}"


def ranked(told: Told, measure: str) -> dict[str, Estimate]:
    """Return the systems of a comparison that have a measure, the highest first."""
    systems = told["systems"]
    found = {name: systems[name] for name in told["ranked"][measure]}
    return {name: Estimate.from_dict(one["measures"][measure], one["n"]) for name, one in found.items()}
