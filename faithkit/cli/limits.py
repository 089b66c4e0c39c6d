"""`--fail-under` and `--fail-if-worse`: a build that must fail when explanations are bad, or get worse."""

import math
from collections.abc import Sequence
from typing import Any

import click

from faithkit.cli.streams import tell
from faithkit.errors import InputError
from faithkit.measure import MEASURES
from faithkit.supervision import MISSED
from faithkit.wording import exact, listing

NO_INTERVAL = "its interval could not be computed"
NOTHING_KNOWN = (
    "no explanation holds for any other instance, and nothing else shows that it is above chance; give more "
    "rows, or a coarser discretizer"
)


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
                f"{measure} is given twice, {exact(limits[measure])} and {exact(limit)}: "
                "give one limit per measure."
            )
        limits[measure] = limit
    return limits


def check_limits(result: Any, limits: dict[str, float]) -> None:
    """Say which limits the lower ends of the intervals miss, and end with code 3 if any does.

    A limit that cannot be checked is an error, once all that are missed have been told.
    """
    from faithkit.report.formats import below

    unchecked, missed = [], False
    for measure, limit in limits.items():
        found, reason = getattr(result, measure), _why_unchecked(result, measure)
        if reason is not None:
            unchecked.append(f"--fail-under {measure}={exact(limit)} cannot be checked: {reason}.")
        elif not found.low >= limit:
            missed = True
            tell(f"failed: {measure} may be as low as {below(found.low, limit)}, below {exact(limit)}.")
    if unchecked:
        raise InputError(" ".join(unchecked))
    if missed:
        raise click.exceptions.Exit(MISSED)


def check_worse(found: Any, limits: dict[str, float]) -> None:
    """Say which measures may be worse than in the reference by more than is allowed; if any, end with code 3.

    What counts is the lower end of the difference's interval. A difference that is none is an error.
    """
    unchecked, missed, drift = [], False, found.drift()
    for measure, limit in limits.items():
        change = drift.get(measure)
        reason = found.why_not_compared(measure) if change is None else _why_undecided(found, measure, change)
        if reason is not None:
            unchecked.append(f"--fail-if-worse {measure}={exact(limit)} cannot be checked: {reason}.")
        elif not change.low >= -limit:
            missed = True
            tell(f"failed: {found.change(measure, change)['finding']}.")
    if unchecked:
        raise InputError(" ".join(unchecked))
    if missed:
        raise click.exceptions.Exit(MISSED)


def check_reference(reference: str | None, limits: dict[str, float]) -> None:
    """Refuse to ask whether something is worse than nothing."""
    if limits and reference is None:
        raise click.UsageError("--fail-if-worse needs something to compare with: give --reference FILE, too.")


def _why_unchecked(result: Any, measure: str) -> str | None:
    from faithkit.report.told import nothing_known

    found = getattr(result, measure)
    if found is None:
        return str(result.why_no_sufficiency)
    if nothing_known(found):
        return NOTHING_KNOWN
    if found.low is None:
        return "the estimator has no interval; use leave-one-out"
    return NO_INTERVAL if math.isnan(found.low) else None


def _why_undecided(found: Any, measure: str, change: Any) -> str | None:
    if where := found.unknown(measure):
        return f"{listing(where)} {NOTHING_KNOWN}"
    return NO_INTERVAL if math.isnan(change.low) else None
