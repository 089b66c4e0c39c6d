"""`faithkit gate`: fail a build if a saved result is bad, no better than chance, or worse than before."""

import contextlib
import os
from collections.abc import Callable, Iterator, Mapping, Sequence
from datetime import UTC, datetime
from typing import TYPE_CHECKING, Any

import click

import faithkit
from faithkit_integrations.gate.junit import ERROR, FAILURE, PASSED, Case, escape_controls, format_junit
from faithkit_integrations.gate.numbers import format_exactly

if TYPE_CHECKING:
    from faithkit_integrations.gate.gates import GateResult
    from faithkit_integrations.gate.judgement import Judgement

MISSED = 3  # the exit code
MEASURES = ("consistency", "sufficiency")
ABOVE_CHANCE, ABOVE_CONTROL = REQUIREMENTS = ("above-chance", "above-control")
GATES = "--fail-under, --fail-unless, --fail-unless-as-good or --fail-if-worse"
OWN = ("result", "reference", "junit", "fail_under", "fail_unless", "fail_unless_as_good", "fail_if_worse")
RESULT, JUDGED = "the result is there", "all gates are judged"
EXAMPLES = """\b
Examples:
  faithkit evaluate --explainer tree --out result.json
  faithkit gate result.json --fail-under sufficiency=0.8 --fail-unless above-control
  faithkit gate result.json --reference old.json --fail-if-worse sufficiency=0.02 --junit gates.xml"""


class UncheckedError(faithkit.errors.InputError):
    """A gate that cannot be checked."""


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


def _limit_option(usage: str, help: str) -> Callable[[Any], Any]:
    """Return an option that takes limits, and may be given several times."""
    return faithkit.plugin.option(
        usage,
        "Checks and gates",
        help,
        multiple=True,
        callback=lambda _ctx, _param, texts: parse_limits(texts),
    )


@faithkit.plugin.report_command
@click.argument("result", type=click.Path())
@faithkit.plugin.option(
    "--reference RESULT",
    "Checks and gates",
    "Compare with the result of an earlier sample, to see drift.",
    type=click.Path(),
)
@_limit_option(
    "--fail-under MEASURE=VALUE",
    "Exit with code 3 if the lower end of a measure's interval is below a limit: consistency=0.8.",
)
@faithkit.plugin.option(
    "--fail-unless",
    "Checks and gates",
    "Exit with code 3 unless the lower ends of all measures (or of those of --fail-under) are above chance; "
    "with above-control, unless sufficiency is above its control.",
    type=click.Choice(REQUIREMENTS),
    multiple=True,
)
@_limit_option(
    "--fail-unless-as-good MEASURE=MARGIN",
    "Exit with code 3 unless the interval of the difference shows that a measure is not worse than in the "
    "--reference by more than a margin: consistency=0.02.",
)
@_limit_option(
    "--fail-if-worse MEASURE=MARGIN",
    "Exit with code 3 if the interval of the difference shows that a measure is worse than in the "
    "--reference by more than a margin: consistency=0.02.",
)
@faithkit.plugin.option(
    "--junit FILE",
    "Output",
    "Write the outcome of each gate to this file as JUnit XML for a build server; - means stdout.",
    type=click.Path(),
)
def gate(
    deliver: Callable[[Any], None],
    result: str,
    reference: str | None,
    fail_under: dict[str, float],
    fail_unless: tuple[str, ...],
    fail_unless_as_good: dict[str, float],
    fail_if_worse: dict[str, float],
    junit: str | None,
) -> None:
    """Fail a build if a RESULT does not pass its gates.

    RESULT is a file that `faithkit evaluate` or `faithkit score` wrote with --out. The exit code is 0 if
    every gate passes, 3 if one fails, and 1 if one cannot be checked, or if there is no such result.
    """
    from faithkit_integrations.gate.judgement import judge

    options: dict[str, Any] = {
        **fail_under,
        "above_chance": ABOVE_CHANCE in fail_unless,
        "above_control": ABOVE_CONTROL in fail_unless,
        "as_good": fail_unless_as_good,
        "worse": fail_if_worse,
    }
    with _junit_report(deliver, junit, [result, reference], result) as (cases, show):
        _check_usage(options, reference)
        loaded = load_result(result)
        cases.append(Case(RESULT, PASSED, ""))
        earlier = None if reference is None else load_result(reference)
        judgement = judge(loaded, reference=earlier, **options)
        cases.extend(map(_case, judgement))
        enforce(judgement, loaded, show)


gate.epilog = EXAMPLES


def _check_usage(options: Mapping[str, Any], reference: str | None) -> None:
    """Raise a usage error if there is no gate, or nothing to compare with."""
    if not any(options.values()) and not any(measure in options for measure in MEASURES):
        raise click.UsageError(f"there is no gate: add {GATES}.")
    for name, option in {"as_good": "--fail-unless-as-good", "worse": "--fail-if-worse"}.items():
        if options[name] and reference is None:
            raise click.UsageError(f"{option} needs something to compare with: add --reference RESULT.")


def load_result(path: str) -> faithkit.Evaluation:
    """Load the result of one system."""
    result = faithkit.load(path)
    if isinstance(result, faithkit.Evaluation):
        return result
    raise faithkit.errors.InputError(
        f"{path} has several systems; expected the result of one, of evaluate or score."
    )


def enforce(judgement: "Judgement", result: faithkit.Evaluation, show: Callable[[Any], None]) -> None:
    """Show the judgement, and exit with code 3 if a gate is missed.

    If a gate cannot be checked, or the judgement cannot be written, an error is raised after all missed gates
    are printed.
    """
    problems: list[faithkit.errors.FaithkitError] = []
    try:
        show(judgement)
    except faithkit.errors.FaithkitError as error:
        problems.append(error)
    for warning in result.warnings:
        _print(f"warning: {warning.sentence}")
    for gate_result in judgement:
        if gate_result.is_kept is False:
            _print(f"failed: {gate_result.words}.")
        elif gate_result.is_kept and gate_result.is_above_chance is False:
            _print(f"warning: {gate_result.words}.")
    unchecked = [f"--{one.gate} {one.unchecked}" for one in judgement if one.is_kept is None]
    if problems:
        raise faithkit.errors.InputError(" ".join([*map(str, problems), *unchecked])) from problems[0]
    if unchecked:
        raise UncheckedError(" ".join(unchecked))
    if not judgement.is_kept:
        raise click.exceptions.Exit(MISSED)


def _print(text: str) -> None:
    click.echo(escape_controls(text), err=True)


def _case(gate_result: "GateResult") -> Case:
    name = f"--{gate_result.gate} {gate_result.measure}"
    if gate_result.is_kept is None:
        return Case(name, ERROR, gate_result.unchecked)
    return Case(name, PASSED if gate_result.is_kept else FAILURE, f"{gate_result.words}.")


class _Text:
    """A text to be printed in place of a report."""

    def __init__(self, text: str) -> None:
        self._text = text

    def __str__(self) -> str:
        return self._text


@contextlib.contextmanager
def _junit_report(
    deliver: Callable[[Any], None], path: str | None, inputs: Sequence[str | None], result: str
) -> Iterator[tuple[list[Case], Callable[[Any], None]]]:
    """Yield a list of cases, and how to show a judgement; write the cases as JUnit XML, whatever happens."""
    _check_path(path, inputs)
    cases: list[Case] = []
    start, suite = datetime.now(UTC), f"faithkit gate {os.path.basename(result)}"
    try:
        yield cases, (lambda _: None) if path == "-" else deliver
    except BaseException as error:
        if (problem := _problem(error)) is not None:
            cases.append(Case(JUDGED if cases else RESULT, ERROR, problem))
        raise
    finally:
        text = format_junit(suite, cases, start, datetime.now(UTC))
        if path == "-":
            deliver(_Text(text.removesuffix("\n")))
        elif path is not None:
            faithkit.plugin.write_atomically(path, text)


def _check_path(path: str | None, inputs: Sequence[str | None]) -> None:
    """Refuse a place for JUnit XML that is taken."""
    params = click.get_current_context().params
    if path == "-" and any(value for name, value in params.items() if name not in OWN):
        raise click.UsageError("--junit - takes stdout for itself: give --junit a file, or no other output.")
    for file in filter(None, inputs):
        if path is not None and os.path.realpath(path) == os.path.realpath(file):
            raise faithkit.errors.InputError(f"cannot write {path}: {file} is read; give a file of its own.")


def _problem(error: BaseException) -> str | None:
    """Return why gates were not judged; None where each gate says so itself."""
    if isinstance(error, UncheckedError | click.exceptions.Exit):
        return None
    if isinstance(error, click.ClickException):
        return error.format_message()
    if isinstance(error, KeyboardInterrupt | click.Abort):
        return "interrupted."
    return str(error) if isinstance(error, faithkit.errors.FaithkitError) else repr(error)
