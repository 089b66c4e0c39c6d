"""`--fail-under`: a build that must fail when explanations get worse."""

from collections.abc import Sequence
from typing import Any

import click

from faithkit.measure import MEASURES

FAILED = 3


def parse_limits(given: Sequence[str]) -> dict[str, float]:
    """Read MEASURE=VALUE pairs; anything else is a usage error.

    Examples
    --------
    >>> parse_limits(["consistency=0.8"])
    {'consistency': 0.8}
    """
    limits = {}
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
        limits[measure] = limit
    return limits


def check_limits(result: Any, limits: dict[str, float]) -> bool:
    """Say which limits the lower ends of the intervals miss, and return whether all are kept."""
    from faithkit.errors import InputError

    kept = True
    for measure, limit in limits.items():
        found = getattr(result, measure)
        if found is None:
            raise InputError(
                f"--fail-under {measure}={limit:g} cannot be checked: {result.why_no_sufficiency}."
            )
        if found.low is None:
            raise InputError(
                f"--fail-under {measure}={limit:g} cannot be checked: the estimator has no interval. "
                "Use leave-one-out."
            )
        if found.low < limit:
            kept = False
            click.echo(
                f"failed: {measure} may be as low as {found.low:.3f} (value {found.value:.3f}), below "
                f"{limit:g}.",
                err=True,
            )
    return kept
