"""`--junit`: how a run ended, for a build server; written when it starts, and again however it ends."""

import contextlib
import os
from collections.abc import Iterator
from datetime import UTC, datetime
from typing import Any

import click

from faithkit.cli.shared.delivery import put
from faithkit.cli.shared.exit_codes import sentence
from faithkit.cli.shared.gate_options import UncheckedError, cases
from faithkit.cli.shared.paths import check_paths
from faithkit.cli.shared.streams import Verb
from faithkit.files import is_replaced
from faithkit.supervision import MISSED

RUN = "measured and written"
UNENDED = "the run has not ended by itself: it was killed, or code of others has ended the process."


class GatedVerb(Verb):
    """A verb that can fail a build, and can say so to a build server."""

    def invoke(self, ctx: click.Context) -> Any:
        """Run the verb, and tell how it ended, if that is wanted."""
        outputs = {name: given for name, given in ctx.params.items() if name.endswith("_path")}
        if outputs["junit_path"] is None:
            return super().invoke(ctx)
        with _told(ctx, check_paths(outputs)["junit_path"]):
            return super().invoke(ctx)


@contextlib.contextmanager
def _told(ctx: click.Context, path: str) -> Iterator[None]:
    """Write that the run has not ended, and once it has, how: no file of an earlier run speaks for it."""
    log = ctx.params.get("log")
    system = ctx.params["explainer"] if log is None else os.path.basename(log)
    suite, started = f"faithkit {ctx.info_name} {system}", datetime.now(UTC)
    if path != "-" and is_replaced(path):  # what is not, such as a pipe, gets one report
        put("junit_path", path, _report(suite, started, UNENDED))
    trouble = None
    try:
        yield
    except BaseException as error:
        trouble = _trouble(error)
        raise
    finally:
        put("junit_path", path, _report(suite, started, trouble))


def _report(suite: str, started: datetime, trouble: str | None) -> str:
    from faithkit.report.junit import ERROR, PASSED, Case, junit

    run = Case(RUN, PASSED if trouble is None else ERROR, trouble or "")
    return junit(suite, [run, *cases()], started, datetime.now(UTC))


def _trouble(error: BaseException) -> str | None:
    """Return what kept a run from doing what it was asked; what is wrong with a limit is told beside it."""
    missed = isinstance(error, click.exceptions.Exit) and error.exit_code == MISSED
    if missed or isinstance(error, UncheckedError):
        return None
    if isinstance(error, click.ClickException):
        return error.format_message()
    return "interrupted." if isinstance(error, KeyboardInterrupt | click.Abort) else sentence(error)
