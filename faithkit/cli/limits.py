"""`--fail-under` and `--fail-if-worse`: a build that must fail when explanations are bad, or get worse."""

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import click

from faithkit.cli.streams import tell
from faithkit.errors import InputError
from faithkit.measure import MEASURES
from faithkit.supervision import MISSED
from faithkit.wording import exact

if TYPE_CHECKING:
    from faithkit.report.junit import Case
    from faithkit.run.judging import Judgement

CASES = "faithkit.cli.limits.cases"  # of click's context: what `--junit` will tell of limits


class UncheckedError(InputError):
    """A limit that cannot be checked."""


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
    from faithkit.report.junit import SKIPPED, Case
    from faithkit.run.judging import judged

    unlimited = (measure for measure in MEASURES if measure not in limits)
    cases().extend(Case(f"--fail-under {one}", SKIPPED, "no limit was given.") for one in unlimited)
    _enforce("--fail-under", judged(result, limits))


def check_worse(found: Any, limits: dict[str, float]) -> None:
    """Say which measures may be worse than in the reference by more than is allowed; if any, end with code 3.

    What counts is the lower end of the difference's interval. A difference that is none is an error.
    """
    from faithkit.run.judging import judged_by_reference

    _enforce("--fail-if-worse", judged_by_reference(found, limits))


def _enforce(option: str, judgements: "Sequence[Judgement]") -> None:
    cases().extend(_case(option, one) for one in judgements)
    for one in judgements:
        if one.kept is False:
            tell(f"failed: {one.words}.")
    unchecked = [f"{option} {one.unchecked}" for one in judgements if one.kept is None]
    if unchecked:
        raise UncheckedError(" ".join(unchecked))
    if not all(one.kept for one in judgements):
        raise click.exceptions.Exit(MISSED)


def cases() -> "list[Case]":
    """Return what is known by now of the limits of this run."""
    ctx = click.get_current_context(silent=True)
    found: list[Case] = [] if ctx is None else ctx.meta.setdefault(CASES, [])
    return found


def _case(option: str, one: "Judgement") -> "Case":
    from faithkit.report.junit import ERROR, FAILURE, PASSED, Case

    state = ERROR if one.kept is None else PASSED if one.kept else FAILURE
    return Case(f"{option} {one.measure}", state, one.unchecked if one.kept is None else f"{one.words}.")


def check_reference(reference: str | None, limits: dict[str, float]) -> None:
    """Refuse to ask whether something is worse than nothing."""
    if limits and reference is None:
        raise click.UsageError("--fail-if-worse needs something to compare with: give --reference FILE, too.")
