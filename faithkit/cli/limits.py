"""`--fail-under`: a build that must fail when explanations get worse."""

from collections.abc import Sequence
from typing import Any

import click

from faithkit.measure import MEASURES

FAILED = 3


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
                f"{measure} is given twice, {limits[measure]:g} and {limit:g}: give one limit per measure."
            )
        limits[measure] = limit
    return limits


def check_limits(result: Any, limits: dict[str, float]) -> bool:
    """Say which limits the lower ends of the intervals miss, and return whether all are kept.

    A limit that cannot be checked is an error, once all that are missed have been told.
    """
    from faithkit.errors import InputError

    unchecked = {measure: _why_unchecked(result, measure) for measure in limits}
    missed = [
        measure
        for measure, limit in limits.items()
        if unchecked[measure] is None and getattr(result, measure).low < limit
    ]
    for measure in missed:
        found = getattr(result, measure)
        click.echo(
            f"failed: {measure} may be as low as {found.low:.3f} (value {found.value:.3f}), below "
            f"{limits[measure]:g}.",
            err=True,
        )
    reasons = [
        f"--fail-under {measure}={limits[measure]:g} cannot be checked: {reason}."
        for measure, reason in unchecked.items()
        if reason is not None
    ]
    if reasons:
        raise InputError(" ".join(reasons))
    return not missed


def _why_unchecked(result: Any, measure: str) -> str | None:
    found = getattr(result, measure)
    if found is None:
        return str(result.why_no_sufficiency)
    return "the estimator has no interval; use leave-one-out" if found.low is None else None
