"""`faithkit check`: run the conformance kit on an installed plugin."""

import json
import sys
from itertools import groupby
from typing import TYPE_CHECKING

import click

from faithkit.cli.options import debug

if TYPE_CHECKING:
    from faithkit.testing import Check, Report

FAILED = 3


@click.command()
@click.argument("distribution")
@click.option("--component", "only", multiple=True, metavar="NAME", help="Only this component. Repeatable.")
@click.option("--json", "as_json", is_flag=True, help="As JSON on stdout.")
@debug
@click.pass_context
def command(ctx: click.Context, distribution: str, only: tuple[str, ...], as_json: bool) -> None:
    """Check that the plugin of an installed DISTRIBUTION keeps the contract.

    Every check is one promise of the extension API; what fails is told with a way to mend it. The exit code
    is 3 where any does.
    """
    from faithkit.errors import InputError
    from faithkit.testing import checks_for
    from faithkit.wording import suggest

    checks = checks_for(distribution)
    known = {check.component for check in checks}
    for name in only:
        if name not in known:
            raise InputError(f"{distribution} has no component {name!r}. {suggest(name, sorted(known))}")
    wanted = [check for check in checks if not only or check.component in only]
    reports = [(name, _run(name, list(group))) for name, group in groupby(wanted, key=lambda c: c.component)]
    if as_json:
        click.echo(json.dumps({name: _facts(report) for name, report in reports}, indent=2))
    else:
        _tell(distribution, reports)
    if any(report.failed for _, report in reports):
        ctx.exit(FAILED)


def _run(name: str, checks: "list[Check]") -> "Report":
    from faithkit.testing.checks import run

    if sys.stderr.isatty():
        click.echo(f"checking {name} …", err=True)
    return run(checks)


def _tell(distribution: str, reports: "list[tuple[str, Report]]") -> None:
    width = max(len(name) for name, _ in reports)
    for name, report in reports:
        failed = f", {len(report.failed)} failed" if report.failed else ""
        skipped = f", {len(report.skipped)} do not apply" if report.skipped else ""
        click.echo(f"{name:<{width}}  {len(report.passed)} passed{failed}{skipped}")
        for check, message in report.failed.items():
            click.echo(f"  {check.removeprefix(f'{name}-')}: {message}")
    total = sum(len(report.passed) + len(report.failed) for _, report in reports)
    bad = sum(len(report.failed) for _, report in reports)
    click.echo(f"{distribution}: {total} checks, {'all passed' if not bad else f'{bad} failed'}.")


def _facts(report: "Report") -> dict[str, object]:
    return {"passed": list(report.passed), "failed": report.failed, "skipped": report.skipped}
