"""`--fail-under`: a build that must fail when explanations get worse."""

import math
from collections.abc import Sequence
from decimal import ROUND_FLOOR, Decimal
from typing import Any

import click

from faithkit.cli.streams import tell
from faithkit.errors import InputError
from faithkit.measure import MEASURES
from faithkit.supervision import MISSED


def parse_limits(given: Sequence[str]) -> dict[str, float]:
    """Read MEASURE=VALUE pairs; anything else, and a measure named twice, is a usage error.

    Examples
    --------
    >>> parse_limits(["consistency=0.8"])
    {'consistency': 0.8}
    """
    limits: dict[str, float] = {}
    for text in given:
        measure, _, value = text.partition("=")
        try:
            limit = float(value)
        except ValueError:
            limit = float("nan")
        if measure not in MEASURES or not 0 <= limit <= 1:
            raise click.BadParameter(
                f"{text!r} is no limit: give a measure and a number from 0 to 1, such as consistency=0.8."
            )
        if measure in limits:
            raise click.BadParameter(
                f"{measure} is given twice, {_exact(limits[measure])} and {_exact(limit)}: "
                "give one limit per measure."
            )
        limits[measure] = limit
    return limits


def check_limits(result: Any, limits: dict[str, float]) -> None:
    """Say which limits the lower ends of the intervals miss, and end with code 3 if any does.

    A limit that cannot be checked is an error, once all that are missed have been told.
    """
    from faithkit.report.formats import number

    unchecked, missed = [], False
    for measure, limit in limits.items():
        found, reason = getattr(result, measure), _why_unchecked(result, measure)
        if reason is not None:
            unchecked.append(f"--fail-under {measure}={_exact(limit)} cannot be checked: {reason}.")
        elif not found.low >= limit:
            missed = True
            low, value = rounded_below(found.low, limit), number(found.value)
            tell(f"failed: {measure} may be as low as {low} (value {value}), below {_exact(limit)}.")
    if unchecked:
        raise InputError(" ".join(unchecked))
    if missed:
        raise click.exceptions.Exit(MISSED)


def rounded_below(low: float, limit: float) -> str:
    """Return a number below a limit, rounded down to as many digits as are needed for it to look so.

    Examples
    --------
    >>> rounded_below(0.71239, 0.8), rounded_below(0.79996, 0.8)
    ('0.712', '0.79996')
    """
    digits = next((d for d in range(3, 17) if round(low, d) < limit), 17)
    return str(Decimal(repr(float(low))).quantize(Decimal(1).scaleb(-digits), ROUND_FLOOR))


def _exact(limit: float) -> str:
    return repr(limit).removesuffix(".0")


def _why_unchecked(result: Any, measure: str) -> str | None:
    found = getattr(result, measure)
    if found is None:
        return str(result.why_no_sufficiency)
    if found.verified == 0:
        return (
            "no explanation holds for any other instance, so the sample says nothing about it; "
            "give more rows, or a coarser discretizer"
        )
    if found.low is None:
        return "the estimator has no interval; use leave-one-out"
    return "its interval could not be computed" if math.isnan(found.low) else None
