"""Gates: options that fail a build if explanations are bad, no better than chance, or got worse."""

from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Any

import click

from faithkit.cli.shared.streams import print_message
from faithkit.errors import InputError
from faithkit.measure import MEASURES
from faithkit.supervision import MISSED
from faithkit.wording import format_exactly

if TYPE_CHECKING:
    from faithkit.report.junit import Case
    from faithkit.run.evaluation_report import EvaluationReport
    from faithkit.run.gates import GateResult

ABOVE_CHANCE, ABOVE_CONTROL = REQUIREMENTS = ("above-chance", "above-control")
CASES = "faithkit.cli.shared.gate_options.cases"  # a key of click's context: the limits that --junit reports


class UncheckedError(InputError):
    """A limit that cannot be checked."""


def parse_limits(texts: Sequence[str]) -> dict[str, float]:
    """Parse MEASURE=VALUE pairs; another form, or a measure named twice, is a usage error.

    Examples
    --------
    >>> parse_limits(["consistency=0.8"])
    {'consistency': 0.8}
    """
    limits: dict[str, float] = {}
    for text in texts:
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
                f"{measure} is given twice, {format_exactly(limits[measure])} and {format_exactly(limit)}: "
                "give one limit per measure."
            )
        limits[measure] = limit
    return limits


def gate_steps(
    report: "EvaluationReport",
    fail_under: Mapping[str, float],
    fail_unless: Collection[str],
    fail_unless_as_good: Mapping[str, float],
    fail_if_worse: Mapping[str, float],
) -> Iterator[Callable[[], None]]:
    """Yield a function for each option with limits, which exits with code 3 if one of them is missed."""
    from faithkit.run import gates

    result = report.result
    junit_cases().extend(_unlimited_case(measure) for measure in MEASURES if measure not in fail_under)
    yield lambda: enforce("--fail-under", gates.judge_limits(result, fail_under))
    if ABOVE_CHANCE in fail_unless:
        chance_gate = f"--fail-unless {ABOVE_CHANCE}"
        yield lambda: enforce(chance_gate, gates.judge_against_chance(result, fail_under))
    if ABOVE_CONTROL in fail_unless:
        yield lambda: enforce(f"--fail-unless {ABOVE_CONTROL}", gates.judge_against_control(result))
    if fail_unless_as_good:
        yield lambda: enforce("--fail-unless-as-good", gates.judge_as_good(report, fail_unless_as_good))
    if fail_if_worse:
        yield lambda: enforce("--fail-if-worse", gates.judge_worse(report, fail_if_worse))


def enforce(option: str, gate_results: "Sequence[GateResult]") -> None:
    """Exit with code 3 if a limit is missed.

    If a limit cannot be checked, an error is raised after all missed limits are printed.
    """
    junit_cases().extend(_case(option, gate_result) for gate_result in gate_results)
    for gate_result in gate_results:
        if gate_result.is_kept is False:
            print_message(f"failed: {gate_result.words}.")
        elif gate_result.is_kept and gate_result.is_above_chance is False:
            print_message(f"warning: {gate_result.words}.")
    unchecked = [f"{option} {gate.unchecked}" for gate in gate_results if gate.is_kept is None]
    if unchecked:
        raise UncheckedError(" ".join(unchecked))
    if not all(gate_result.is_kept for gate_result in gate_results):
        raise click.exceptions.Exit(MISSED)


def junit_cases() -> "list[Case]":
    """Return the list of limits that were checked so far in this run, which callers extend."""
    ctx = click.get_current_context(silent=True)
    cases: list[Case] = [] if ctx is None else ctx.meta.setdefault(CASES, [])
    return cases


def _case(option: str, gate: "GateResult") -> "Case":
    from faithkit.report.junit import ERROR, FAILURE, PASSED, Case

    state = ERROR if gate.is_kept is None else PASSED if gate.is_kept else FAILURE
    return Case(
        f"{option} {gate.measure}", state, gate.unchecked if gate.is_kept is None else f"{gate.words}."
    )


def _unlimited_case(measure: str) -> "Case":
    from faithkit.report.junit import SKIPPED, Case

    return Case(f"--fail-under {measure}", SKIPPED, "no limit was given.")


def check_reference(reference: str | None, limits: Mapping[str, Any]) -> None:
    """Check that there is a reference if a limit compares with it."""
    for name in ("fail_unless_as_good", "fail_if_worse"):
        if limits[name] and reference is None:
            option = f"--{name.replace('_', '-')}"
            raise click.UsageError(f"{option} needs something to compare with: add --reference FILE.")


def margins(limits: Mapping[str, Any]) -> dict[str, float]:
    """Return the margin of each measure; --fail-unless-as-good counts before --fail-if-worse."""
    margins: dict[str, float] = limits["fail_if_worse"] | limits["fail_unless_as_good"]
    return margins
