"""`faithkit check`: run the conformance kit on an installed plugin."""

import json
import sys
import textwrap
import traceback
from itertools import groupby
from operator import attrgetter
from typing import TYPE_CHECKING, Any

import click

from faithkit.cli.shared.options import option, printing
from faithkit.cli.shared.streams import Verb, say, tell
from faithkit.errors import InputError
from faithkit.supervision import MISSED
from faithkit.wording import suggest

if TYPE_CHECKING:
    from faithkit.testing import Check, Report

Group = tuple[str, str, "list[Check]", "Report"]


@click.command(cls=Verb)
@click.argument("distribution")
@option(
    "--component NAME", "only", multiple=True, help="Check only this component. Can be given several times."
)
@option("--verbose", "-v", is_flag=True, help="Name every check, and say why any was skipped.")
@printing
@click.pass_context
def command(
    ctx: click.Context, distribution: str, only: tuple[str, ...], verbose: bool, as_json: bool
) -> None:
    """Check that the plugin of an installed DISTRIBUTION keeps the contract.

    Every check is one promise of the extension API; what fails is told with a way to mend it, and why it
    matters. The exit code is 3 where any does. With --debug the traceback of what failed is shown, too.
    """
    from faithkit.testing import checks_for

    checks = _only(checks_for(distribution), only, distribution)
    by_component = groupby(checks, attrgetter("kind", "component"))
    groups = [_run(kind, name, list(group)) for (kind, name), group in by_component]
    if as_json:
        say(json.dumps(_facts(distribution, groups), indent=2))
    else:
        _tell(distribution, groups, verbose)
    if ctx.obj["debug"]:
        _show_tracebacks(groups)
    if any(report.failed for *_, report in groups):
        ctx.exit(MISSED)


def _only(checks: "list[Check]", names: tuple[str, ...], distribution: str) -> "list[Check]":
    known = {check.component for check in checks}
    for name in names:
        if name not in known:
            raise InputError(f"{distribution} has no component {name!r}. {suggest(name, sorted(known))}")
    return [check for check in checks if not names or check.component in names]


def _run(kind: str, name: str, checks: "list[Check]") -> Group:
    from faithkit.testing.checks import run

    if sys.stderr.isatty():
        tell(f"checking {kind} {name} …")
    return kind, name, checks, run(checks)


def _tell(distribution: str, groups: list[Group], verbose: bool) -> None:
    width = max(len(f"{kind} {name}") for kind, name, *_ in groups)
    for kind, name, checks, report in groups:
        say(f"{f'{kind} {name}':<{width}}  {_counts(report)}")
        for check in checks:
            _tell_check(check, report, verbose)
    for line in _clashes(distribution):
        _indented(f"note: {line}", "")
    say(f"{distribution}: {_summary([report for *_, report in groups])}.")


def _summary(reports: "list[Report]") -> str:
    """Say how many checks there were, and how many of them could not be tried: these are no praise."""
    passed, failed, expected, skipped = (
        sum(len(getattr(report, name)) for report in reports)
        for name in ("passed", "failed", "expected", "skipped")
    )
    total = passed + failed + expected
    said = [f"{total} {'check' if total == 1 else 'checks'}", "all passed" if passed == total else ""]
    said += [f"{failed} failed" if failed else "", f"{expected} failed as expected" if expected else ""]
    said += [f"{skipped} not tried (-v says why)" if skipped else ""]
    return ", ".join(filter(None, said))


def _counts(report: "Report") -> str:
    failed = f", {len(report.failed)} failed" if report.failed else ""
    expected = f", {len(report.expected)} failed as expected" if report.expected else ""
    skipped = f", {len(report.skipped)} not tried" if report.skipped else ""
    return f"{len(report.passed)} passed{failed}{expected}{skipped}"


def _tell_check(check: "Check", report: "Report", verbose: bool) -> None:
    if check.id in report.failed:
        say(f"  failed   {check.name}")
        _indented(report.failed[check.id], " " * 11)
        _indented(f"Why: {check.why}", " " * 11)
    elif check.id in report.expected:
        say(f"  expected {check.name}")
        _indented(report.expected[check.id], " " * 11)
    elif verbose and check.id in report.skipped:
        say(f"  skipped  {check.name}")
        _indented(report.skipped[check.id], " " * 11)
    elif verbose:
        say(f"  passed   {check.name}")


def _indented(text: str, margin: str) -> None:
    say(textwrap.fill(text, 100, initial_indent=margin, subsequent_indent=margin))


def _clashes(distribution: str) -> list[str]:
    """Say which names this installation has twice: no fault of the plugin, but its users meet it."""
    from faithkit.extension.component_names import conflicts
    from faithkit.extension.plugin_sources import installed_sources, normalised
    from faithkit.extension.registry import registry
    from faithkit.extension.verbs import COMMANDS, clashes

    commands, _ = installed_sources(COMMANDS)
    lines = [*conflicts(registry().entries()), *clashes(commands)]
    mine = [line for line in lines if line.distribution == normalised(distribution)]
    return [f"{line.problem}. {line.hint}." for line in mine]


def _show_tracebacks(groups: list[Group]) -> None:
    for *_, report in groups:
        for check, error in report.errors.items():
            tell(f"\n{check}\n" + "".join(traceback.format_exception(error.__cause__ or error)).rstrip())


def _facts(distribution: str, groups: list[Group]) -> dict[str, Any]:
    return {
        "distribution": distribution,
        "components": [
            {
                "kind": kind,
                "name": name,
                "passed": [check.name for check in checks if check.id in report.passed],
                "failed": {c.name: report.failed[c.id] for c in checks if c.id in report.failed},
                "expected": {c.name: report.expected[c.id] for c in checks if c.id in report.expected},
                "skipped": {c.name: report.skipped[c.id] for c in checks if c.id in report.skipped},
            }
            for kind, name, checks, report in groups
        ],
        "notes": _clashes(distribution),
    }
