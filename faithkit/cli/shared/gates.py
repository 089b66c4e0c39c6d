"""Gates: options that fail a build if explanations are bad, no better than chance, or got worse.

`--junit` reports how a run ended, and each limit, to a build server.
"""

import contextlib
import os
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from datetime import UTC, datetime
from typing import TYPE_CHECKING, Any

import click

from faithkit.cli.shared.paths import check_paths, resolve_path
from faithkit.cli.shared.streams import error_sentence, print_message, write_output
from faithkit.cli.shared.verb import CHECKS, F, Verb, combine, option
from faithkit.errors import InputError
from faithkit.files import is_replaced
from faithkit.measure import MEASURES
from faithkit.report.junit import ERROR, FAILURE, PASSED, SKIPPED, Case, format_junit
from faithkit.supervision import MISSED
from faithkit.wording import format_exactly

if TYPE_CHECKING:
    from faithkit.run.evaluation_report import EvaluationReport
    from faithkit.run.gates import GateResult

ABOVE_CHANCE, ABOVE_CONTROL = REQUIREMENTS = ("above-chance", "above-control")
RUN = "measured and written"
NOT_ENDED = "the run has not ended by itself: it was killed, or third-party code has ended the process."
CASES = "faithkit.cli.shared.gates.cases"  # a key of click's context: the limits that --junit reports


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


def _limit_option(usage: str, help: str) -> Callable[[F], F]:
    """Return an option that takes limits, and may be given several times."""
    return option(
        usage, CHECKS, help, multiple=True, callback=lambda _ctx, _param, texts: parse_limits(texts)
    )


reference_option = option(
    "--reference FILE",
    CHECKS,
    "Compare with this earlier sample, or with its result that --out wrote, to see drift.",
    callback=resolve_path,
)

limit_options = combine(
    _limit_option(
        "--fail-under MEASURE=VALUE",
        "Exit with code 3 if the lower end of a measure's interval is below a limit: consistency=0.8.",
    ),
    option(
        "--fail-unless",
        CHECKS,
        "Exit with code 3 unless the lower ends of all measures (or of those of --fail-under) are above "
        "chance; with above-control, unless sufficiency is above its control.",
        type=click.Choice(REQUIREMENTS),
        multiple=True,
    ),
    _limit_option(
        "--fail-unless-as-good MEASURE=MARGIN",
        "Exit with code 3 unless the interval of the difference shows that a measure is not worse than "
        "in the --reference by more than a margin: consistency=0.02.",
    ),
    _limit_option(
        "--fail-if-worse MEASURE=MARGIN",
        "Exit with code 3 if the interval of the difference shows that a measure is worse than in the "
        "--reference by more than a margin: consistency=0.02.",
    ),
    into="limits",
)


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
    junit_cases().extend(
        Case(f"--fail-under {measure}", SKIPPED, "no limit was given.")
        for measure in MEASURES
        if measure not in fail_under
    )
    if fail_under or fail_unless or fail_unless_as_good or fail_if_worse:
        for warning in result.warnings:
            print_message(f"warning: {warning.sentence}")
    yield lambda: enforce("--fail-under", gates.judge_limits(result, fail_under))
    if ABOVE_CHANCE in fail_unless:
        chance_gate = f"--fail-unless {ABOVE_CHANCE}"
        yield lambda: enforce(chance_gate, gates.judge_against_chance(result, fail_under))
    if ABOVE_CONTROL in fail_unless:
        yield lambda: enforce(f"--fail-unless {ABOVE_CONTROL}", gates.judge_against_control(result))
    if fail_unless_as_good:
        yield lambda: enforce("--fail-unless-as-good", report.judge_as_good(fail_unless_as_good))
    if fail_if_worse:
        yield lambda: enforce("--fail-if-worse", report.judge_worse(fail_if_worse))


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


def junit_cases() -> list[Case]:
    """Return the list of limits that were checked so far in this run, which callers extend."""
    ctx = click.get_current_context(silent=True)
    cases: list[Case] = [] if ctx is None else ctx.meta.setdefault(CASES, [])
    return cases


def _case(option: str, gate: "GateResult") -> Case:
    name = f"{option} {gate.measure}"
    if gate.is_kept is None:
        return Case(name, ERROR, gate.unchecked)
    return Case(name, PASSED if gate.is_kept else FAILURE, f"{gate.words}.")


def check_reference(reference: str | None, limits: Mapping[str, Any]) -> None:
    """Check that there is a reference if a limit compares with it."""
    for name in ("fail_unless_as_good", "fail_if_worse"):
        if limits[name] and reference is None:
            option = f"--{name.replace('_', '-')}"
            raise click.UsageError(f"{option} needs something to compare with: add --reference FILE.")


def combine_margins(limits: Mapping[str, Any]) -> dict[str, float]:
    """Return the margin of each measure; --fail-unless-as-good counts before --fail-if-worse."""
    return {**limits["fail_if_worse"], **limits["fail_unless_as_good"]}


class GatedVerb(Verb):
    """A verb that can fail a build, and can write a JUnit file about it."""

    def invoke(self, ctx: click.Context) -> Any:
        """Run the verb, and write the JUnit file if there is a path for it."""
        outputs = {name: path for name, path in ctx.params.items() if name.endswith("_path")}
        outputs |= {f"--out {place}": path for place, path in enumerate(ctx.params["outs"])}
        if outputs["junit_path"] is None:
            return super().invoke(ctx)
        with _junit_file(ctx, check_paths(outputs)["junit_path"]):
            return super().invoke(ctx)


@contextlib.contextmanager
def _junit_file(ctx: click.Context, path: str) -> Iterator[None]:
    """Write a file that says the run has not ended, and replace it when the run ends."""
    log = ctx.params.get("log")
    system = ctx.params["explainer"] if log is None else os.path.basename(log)
    suite, start = f"faithkit {ctx.info_name} {system}", datetime.now(UTC)
    if path != "-" and is_replaced(path):  # a pipe, which is not replaced, gets one report only
        write_output("junit_path", path, _junit_text(suite, start, NOT_ENDED))
    problem = None
    try:
        yield
    except BaseException as error:
        problem = _run_problem(error)
        raise
    finally:
        write_output("junit_path", path, _junit_text(suite, start, problem))


def _junit_text(suite: str, start: datetime, problem: str | None) -> str:
    run = Case(RUN, PASSED if problem is None else ERROR, problem or "")
    return format_junit(suite, [run, *junit_cases()], start, datetime.now(UTC))


def _run_problem(error: BaseException) -> str | None:
    """Return why a run failed; None if only a limit was missed, which has its own case."""
    is_missed = isinstance(error, click.exceptions.Exit) and error.exit_code == MISSED
    if is_missed or isinstance(error, UncheckedError):
        return None
    if isinstance(error, click.ClickException):
        return error.format_message()
    return "interrupted." if isinstance(error, KeyboardInterrupt | click.Abort) else error_sentence(error)
