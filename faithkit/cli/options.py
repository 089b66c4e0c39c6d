"""Options that several verbs share, and how results and warnings reach the person."""

import contextlib
import warnings
from collections.abc import Callable
from typing import TYPE_CHECKING, Any, TypeVar

import click

from faithkit.errors import FaithkitWarning

if TYPE_CHECKING:
    from faithkit.run.evaluation import Evaluation

F = TypeVar("F", bound=Callable[..., Any])


def _set_debug(ctx: click.Context, _param: click.Parameter, value: bool) -> None:
    if value and isinstance(ctx.obj, dict):
        ctx.obj["debug"] = True


debug = click.option(
    "--debug", is_flag=True, expose_value=False, callback=_set_debug, help="Show the traceback of an error."
)


def together(*options: Callable[[F], F]) -> Callable[[F], F]:
    """Apply several option decorators, in the order of the help text."""

    def apply(function: F) -> F:
        for option in reversed(options):
            function = option(function)
        return function

    return apply


measuring = together(
    click.option(
        "--discretize",
        "discretizer",
        default="original",
        show_default=True,
        metavar="NAME",
        help="What makes two explanations equal, such as 1fp or sign.",
    ),
    click.option("--relation", metavar="NAME", help="Where an explanation applies, for sufficiency."),
    click.option("--estimator", default="leave-one-out", show_default=True, metavar="NAME"),
    click.option("--confidence", default=0.95, show_default=True, metavar="SHARE", help="Of the intervals."),
    click.option(
        "--permutations", default=0, show_default=True, metavar="N", help="Shuffled labels for a p-value."
    ),
)

BACKENDS = ("loky", "threading", "sequential")

running = together(
    click.option("--n-jobs", default=1, show_default=True, metavar="N", help="Workers; -1 for one per core."),
    click.option("--backend", type=click.Choice(BACKENDS), help="What kind of workers.  [default: loky]"),
    click.option("--store", metavar="DIR", help="Keep finished chunks here: a killed run goes on from them."),
    click.option(
        "--on-error",
        type=click.Choice(["raise", "record"]),
        default="raise",
        show_default=True,
        help="Stop at a row that cannot be explained, or count it as unexplained.",
    ),
    click.option("--row-timeout", type=float, metavar="SECONDS", help="The longest that one row may take."),
)

output = together(
    click.option("--json", "json_path", metavar="FILE", help="Write the result as JSON; - for stdout."),
    debug,
)


def configured_backend(backend: str | None) -> contextlib.AbstractContextManager[Any]:
    """Let joblib use the named backend, or whatever it uses anyway."""
    if backend is None:
        return contextlib.nullcontext()
    import joblib

    return joblib.parallel_config(backend=backend)


def show_result(result: "Evaluation", json_path: str | None) -> None:
    """Print the table, unless JSON takes its place on stdout."""
    from faithkit.report.text import summary

    if json_path == "-":
        click.echo(result.to_json(), nl=False)
        return
    click.echo(summary(result), nl=False)
    if json_path:
        result.to_json(json_path)


def warn_on_stderr() -> None:
    """Show faithkit's own warnings as one line each; all others as Python does."""
    python_shows = warnings.showwarning

    def show(message: Any, category: Any, *rest: Any, **more: Any) -> None:
        if issubclass(category, FaithkitWarning):
            click.echo(f"warning: {message}", err=True)
        else:
            python_shows(message, category, *rest, **more)

    warnings.showwarning = show
