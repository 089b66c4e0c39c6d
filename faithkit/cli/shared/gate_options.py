"""Gates: options that fail a build where explanations are bad, no better than chance, or got worse."""

from collections.abc import Collection, Mapping, Sequence
from typing import TYPE_CHECKING, Any

import click

from faithkit.cli.shared.streams import tell
from faithkit.errors import InputError
from faithkit.measure import MEASURES
from faithkit.supervision import MISSED
from faithkit.wording import exact

if TYPE_CHECKING:
    from faithkit.report.junit import Case
    from faithkit.run.gates import GateResult

ABOVE_CHANCE = "above-chance"
REQUIREMENTS = (ABOVE_CHANCE,)
CASES = "faithkit.cli.shared.gate_options.cases"  # of click's context: what `--junit` will tell of limits


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


def check_limits(result: Any, limits: Mapping[str, float]) -> None:
    """Say which limits the lower ends of the intervals miss, and end with code 3 if any does.

    A limit that cannot be checked is an error, once all that are missed have been told.
    """
    from faithkit.report.junit import SKIPPED, Case
    from faithkit.run.gates import judged

    unlimited = (measure for measure in MEASURES if measure not in limits)
    cases().extend(Case(f"--fail-under {one}", SKIPPED, "no limit was given.") for one in unlimited)
    _enforce("--fail-under", judged(result, limits))


def check_unless(result: Any, requirements: Collection[str], limits: Mapping[str, float]) -> None:
    """Check what `--fail-unless` requires of measures with limits, or of all that were taken if none has."""
    from faithkit.run.gates import judged_by_chance

    if ABOVE_CHANCE in requirements:
        _enforce(f"--fail-unless {ABOVE_CHANCE}", judged_by_chance(result, limits))


def check_as_good(findings: Any, margins: Mapping[str, float]) -> None:
    """End with code 3 unless each measure is shown not to be worse than in the reference by its margin."""
    from faithkit.run.gates import judged_as_good

    _enforce("--fail-unless-as-good", judged_as_good(findings, margins))


def check_worse(findings: Any, margins: Mapping[str, float]) -> None:
    """End with code 3 if any measure is shown to be worse than in the reference by more than its margin."""
    from faithkit.run.gates import judged_worse

    _enforce("--fail-if-worse", judged_worse(findings, margins))


def _enforce(option: str, judgements: "Sequence[GateResult]") -> None:
    cases().extend(_case(option, judgement) for judgement in judgements)
    for judgement in judgements:
        if judgement.kept is False:
            tell(f"failed: {judgement.words}.")
        elif judgement.kept and judgement.above_chance is False:
            tell(f"warning: {judgement.words}.")
    unchecked = [f"{option} {judgement.unchecked}" for judgement in judgements if judgement.kept is None]
    if unchecked:
        raise UncheckedError(" ".join(unchecked))
    if not all(judgement.kept for judgement in judgements):
        raise click.exceptions.Exit(MISSED)


def cases() -> "list[Case]":
    """Return what is known by now of the limits of this run."""
    ctx = click.get_current_context(silent=True)
    found: list[Case] = [] if ctx is None else ctx.meta.setdefault(CASES, [])
    return found


def _case(option: str, one: "GateResult") -> "Case":
    from faithkit.report.junit import ERROR, FAILURE, PASSED, Case

    state = ERROR if one.kept is None else PASSED if one.kept else FAILURE
    return Case(f"{option} {one.measure}", state, one.unchecked if one.kept is None else f"{one.words}.")


def check_reference(reference: str | None, limits: Mapping[str, Any]) -> None:
    """Refuse to compare with a reference that is not there."""
    for name in ("fail_unless_as_good", "fail_if_worse"):
        if limits[name] and reference is None:
            option = f"--{name.replace('_', '-')}"
            raise click.UsageError(f"{option} needs something to compare with: give --reference FILE, too.")


def margins(limits: Mapping[str, Any]) -> dict[str, float]:
    """Return the margin that a report compares each difference with: where there are two, of as good."""
    return limits["fail_if_worse"] | limits["fail_unless_as_good"]
