"""`faithkit check`: run the conformance kit on an installed plugin."""

import contextlib
import json
import sys
import textwrap
import traceback
from itertools import groupby
from operator import attrgetter
from typing import TYPE_CHECKING, Any

import click

from faithkit.errors import InputError
from faithkit.plugin import did_you_mean, join_words, option, to_printable

if TYPE_CHECKING:
    from faithkit_conformance import Check, Report

MISSED = 3  # the exit code if a check fails

Group = tuple[str, str, "list[Check]", "Report"]
"""The kind and the name of a component, its checks, and their outcomes."""

EXCEPTIONS = {"failed": "failed", "expected": "failed as expected", "skipped": "not tried"}
"""The outcomes of checks that did not pass, in words."""


@click.command()
@click.argument("distribution")
@option(
    "--component NAME",
    "Checks and gates",
    "Check only this component; can be given several times.",
    "names",
    multiple=True,
)
@option("--verbose", "Output", "Name every check, and say why any was skipped.", "-v", is_flag=True)
@option("--json", "Output", "Print JSON instead of text.", "as_json", is_flag=True)
@click.pass_context
def command(
    ctx: click.Context, distribution: str, names: tuple[str, ...], verbose: bool, as_json: bool
) -> None:
    """Run the conformance checks on the plugin of an installed DISTRIBUTION.

    Every check is one promise of the extension API. A failed check says how to correct the plugin, and why
    the promise matters. The exit code is 3 if any check fails. With --debug, the tracebacks are shown.
    """
    from faithkit_conformance import checks_for

    with contextlib.redirect_stdout(sys.stderr):  # the code of the plugin may print, and that is no result
        checks = _select(checks_for(distribution), names, distribution)
        by_component = groupby(checks, attrgetter("kind", "component"))
        groups = [_run(kind, name, list(group)) for (kind, name), group in by_component]
    if as_json:
        click.echo(json.dumps(_to_dict(distribution, groups), indent=2))
    else:
        _print_groups(distribution, groups, verbose)
    if ctx.obj["debug"]:
        _print_tracebacks(groups)
    if any(report.failed for *_, report in groups):
        ctx.exit(MISSED)


def _select(checks: "list[Check]", names: tuple[str, ...], distribution: str) -> "list[Check]":
    components = {check.component for check in checks}
    for name in names:
        if name not in components:
            suggestion = did_you_mean(name, components) or f"Available: {join_words(sorted(components))}."
            raise InputError(f"{distribution} has no component {name!r}. {suggestion}")
    return [check for check in checks if not names or check.component in names]


def _run(kind: str, name: str, checks: "list[Check]") -> Group:
    from faithkit_conformance.checks import run

    if sys.stderr.isatty():
        click.echo(f"checking {kind} {name} …", err=True)
    return kind, name, checks, run(checks)


def _print_groups(distribution: str, groups: list[Group], verbose: bool) -> None:
    width = max(len(f"{kind} {name}") for kind, name, *_ in groups)
    for kind, name, checks, report in groups:
        counts = ", ".join([f"{len(report.passed)} passed", *_exceptions([report])])
        _print(f"{f'{kind} {name}':<{width}}  {counts}")
        for check in checks:
            _print_check(check, report, verbose)
    for note in _clash_notes(distribution):
        _print_indented(f"note: {note}", "")
    _print(f"{distribution}: {_summary([report for *_, report in groups])}.")


def _summary(reports: "list[Report]") -> str:
    """Summarise how many checks ran and passed; skipped checks are counted separately."""
    n_passed = sum(len(report.passed) for report in reports)
    total = n_passed + sum(len(report.failed) + len(report.expected) for report in reports)
    phrases = [f"{total} {'check' if total == 1 else 'checks'}", *_exceptions(reports)]
    if n_passed == total:
        phrases.insert(1, "all passed")
    hint = " (-v says why)" if any(report.skipped for report in reports) else ""
    return ", ".join(phrases) + hint


def _exceptions(reports: "list[Report]") -> list[str]:
    """Count the checks that did not pass."""
    counts = {outcome: sum(len(getattr(report, outcome)) for report in reports) for outcome in EXCEPTIONS}
    return [f"{counts[outcome]} {words}" for outcome, words in EXCEPTIONS.items() if counts[outcome]]


def _print_check(check: "Check", report: "Report", verbose: bool) -> None:
    outcome, reason = _outcome(check, report)
    if outcome in ("failed", "expected") or verbose:
        _print(f"  {outcome:<8} {check.name}")
        if outcome != "passed":
            _print_indented(reason, " " * 11)
        if outcome == "failed":
            _print_indented(f"Why: {check.why}", " " * 11)
    if check.id in report.remarks:
        _print(f"  remark   {check.name}")
        _print_indented(report.remarks[check.id], " " * 11)


def _outcome(check: "Check", report: "Report") -> tuple[str, str]:
    """Return how a check ended, and why it did not pass."""
    for outcome in EXCEPTIONS:
        reasons = getattr(report, outcome)
        if check.id in reasons:
            return outcome, reasons[check.id]
    return "passed", ""


def _print(text: str) -> None:
    click.echo(to_printable(text, keep="\n"))


def _print_indented(text: str, margin: str) -> None:
    _print(textwrap.fill(text, 100, initial_indent=margin, subsequent_indent=margin))


def _clash_notes(distribution: str) -> list[str]:
    """Return notes about names that another distribution also uses: problems that it has not on its own."""
    from faithkit.plugin import Registry, registry
    from faithkit_conformance.check_targets import GROUP, find_entry_points, normalise_name

    own_problems = Registry(entry_points=find_entry_points(GROUP, distribution)).broken
    return [
        f"{problem.problem}. {problem.hint}."
        for problem in registry().broken
        if problem.distribution == normalise_name(distribution) and problem not in own_problems
    ]


def _print_tracebacks(groups: list[Group]) -> None:
    for *_, report in groups:
        for check, error in report.errors.items():
            lines = traceback.format_exception(error.__cause__ or error)
            click.echo(to_printable(f"\n{check}\n{''.join(lines).rstrip()}", keep="\n"), err=True)


def _to_dict(distribution: str, groups: list[Group]) -> dict[str, Any]:
    components = []
    for kind, name, checks, report in groups:
        outcomes: dict[str, dict[str, str]] = {"passed": {}, **{outcome: {} for outcome in EXCEPTIONS}}
        for check in checks:
            outcome, reason = _outcome(check, report)
            outcomes[outcome][check.name] = reason
        remarks = {check.name: report.remarks[check.id] for check in checks if check.id in report.remarks}
        passed = list(outcomes["passed"])
        components.append({"kind": kind, "name": name, **outcomes, "passed": passed, "remarks": remarks})
    return {"distribution": distribution, "components": components, "notes": _clash_notes(distribution)}
