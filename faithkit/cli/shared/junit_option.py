"""`--junit`: how a run ended, for a build server; the file is written at the start and again at the end."""

import contextlib
import os
from collections.abc import Iterator
from datetime import UTC, datetime
from typing import Any

import click

from faithkit.cli.shared.delivery import write_output
from faithkit.cli.shared.exit_codes import error_sentence
from faithkit.cli.shared.gate_options import UncheckedError, junit_cases
from faithkit.cli.shared.paths import check_paths
from faithkit.cli.shared.verb import Verb
from faithkit.files import is_replaced
from faithkit.supervision import MISSED

RUN = "measured and written"
NOT_ENDED = "the run has not ended by itself: it was killed, or third-party code has ended the process."


class GatedVerb(Verb):
    """A verb that can fail a build, and can write a JUnit file about it."""

    def invoke(self, ctx: click.Context) -> Any:
        """Run the verb, and write the JUnit file if there is a path for it."""
        outputs = {name: path for name, path in ctx.params.items() if name.endswith("_path")}
        if outputs["junit_path"] is None:
            return super().invoke(ctx)
        with _junit_file(ctx, check_paths(outputs)["junit_path"]):
            return super().invoke(ctx)


@contextlib.contextmanager
def _junit_file(ctx: click.Context, path: str) -> Iterator[None]:
    """Write that the run has not ended, then how it ended, so that no file of an earlier run stays."""
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
    from faithkit.report.junit import ERROR, PASSED, Case, format_junit

    run = Case(RUN, PASSED if problem is None else ERROR, problem or "")
    return format_junit(suite, [run, *junit_cases()], start, datetime.now(UTC))


def _run_problem(error: BaseException) -> str | None:
    """Return why a run failed, or None if only a limit did, which is a case of its own."""
    is_missed = isinstance(error, click.exceptions.Exit) and error.exit_code == MISSED
    if is_missed or isinstance(error, UncheckedError):
        return None
    if isinstance(error, click.ClickException):
        return error.format_message()
    return "interrupted." if isinstance(error, KeyboardInterrupt | click.Abort) else error_sentence(error)
