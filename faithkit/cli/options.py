"""Options that several verbs share, and how warnings reach the person."""

import contextlib
import warnings
from collections.abc import Callable, Mapping
from typing import Any, TypeVar

import click

from faithkit.cli.limits import parse_limits
from faithkit.cli.places import placed, placed_folder, placed_model
from faithkit.cli.streams import tell
from faithkit.errors import FaithkitWarning

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


loading = together(
    click.option(
        "--data",
        default="breast-cancer",
        show_default=True,
        metavar="FILE|NAME",
        callback=placed,
        help="CSV (also .gz) or Parquet, or a name that `faithkit datasets` lists.",
    ),
    click.option("--target", metavar="COLUMN", help="The column to predict; never shown to the model."),
    click.option("--columns", metavar="NAMES", help="Columns to use, with wildcards: 'age,phi_*'."),
    click.option("--text", metavar="COLUMN", help="The instances are the texts in this column."),
    click.option(
        "--model",
        metavar="MODEL",
        callback=placed_model,
        default="gradient-boosting",
        show_default=True,
        help="module:attribute, a .skops, .onnx or pickle file, or a default that is trained on a part of "
        "the data: gradient-boosting, random-forest, logistic, tree, knn.",
    ),
    click.option(
        "--trust-pickle",
        is_flag=True,
        help="Load a pickled model. Loading a pickle RUNS ANY CODE in it: only your own files.",
    ),
    click.option(
        "--trust-types",
        default="",
        metavar="NAME[,NAME]",
        help="Types that a .skops model may hold besides scikit-learn's, by the full names that the refusal "
        "prints. A file MAY CALL what is named here: only what you know.",
    ),
    click.option(
        "--background", metavar="FILE", callback=placed, help="Rows that the explainer learns from."
    ),
    click.option(
        "--samples", type=click.IntRange(min=1), metavar="N", help="Evaluate N rows, drawn at random."
    ),
    click.option("--seed", default=0, show_default=True, metavar="N", help="Of every random choice."),
)

explaining = click.option(
    "--explainer",
    default="shap",
    show_default=True,
    metavar="NAME",
    help="A name, or name:param=value,… as `faithkit show explainer NAME` tells.",
)

discretizing = click.option(
    "--discretize",
    "discretizer",
    default="original",
    show_default=True,
    metavar="NAME",
    help="What makes two explanations equal, such as 1fp or sign.",
)

relating = click.option("--relation", metavar="NAME", help="Where an explanation applies, for sufficiency.")

confidence = click.option(
    "--confidence", default=0.95, show_default=True, metavar="SHARE", help="Of the intervals."
)

measuring = together(
    relating,
    click.option(
        "--estimator",
        default="leave-one-out",
        show_default=True,
        metavar="NAME",
        help="How counts become a value.",
    ),
    confidence,
    click.option(
        "--permutations", default=0, show_default=True, metavar="N", help="Shuffled labels for a p-value."
    ),
)

BACKENDS = ("loky", "threading", "sequential", "dask")

scheduler = click.option(
    "--scheduler", metavar="ADDRESS", help="Of the cluster, with --backend dask: tcp://10.0.0.1:8786."
)

clustering = together(
    click.option("--backend", type=click.Choice(["dask"]), help="Tally a folder's files on a cluster."),
    scheduler,
)

running = together(
    click.option("--n-jobs", default=1, show_default=True, metavar="N", help="Workers; -1 for one per core."),
    click.option("--backend", type=click.Choice(BACKENDS), help="What kind of workers.  [default: loky]"),
    scheduler,
    click.option(
        "--store",
        metavar="DIR",
        callback=placed_folder,
        help="Keep finished chunks here: a killed run goes on from them.",
    ),
    click.option(
        "--on-error",
        type=click.Choice(["raise", "record"]),
        default="raise",
        show_default=True,
        help="Stop at a row that cannot be explained, or count it as unexplained.",
    ),
    click.option("--row-timeout", type=float, metavar="SECONDS", help="The longest that one row may take."),
)

asking = together(
    click.option("--by", metavar="COLUMN", help="Measure inside each group of this column of the data, too."),
    click.option(
        "--violations",
        type=click.IntRange(min=0),
        metavar="K",
        help="Show the K worst explanations that hold for different predictions, with two rows each.",
    ),
    click.option(
        "--fail-under",
        multiple=True,
        metavar="MEASURE=VALUE",
        callback=lambda _ctx, _param, given: parse_limits(given),
        help="Exit with code 3 if the lower end of a measure's interval is below: consistency=0.8.",
    ),
)

output = together(
    click.option("--json", "json_path", metavar="FILE", help="Write the result as JSON; - for stdout."),
    click.option("--csv", "csv_path", metavar="FILE", help="Write the measures as CSV; - for stdout."),
    click.option("--html", "html_path", metavar="FILE", help="Write a report for a browser; - for stdout."),
    debug,
)


def check_components(options: Mapping[str, Any]) -> None:
    """Tell of a misspelt name or parameter at once, not after data was read and a model trained."""
    from faithkit.run.components import METHOD, component

    for kind in METHOD:
        asked = (options.get(kind), *options.get(f"{kind}s", ()))
        for given in filter(None, asked):
            component(kind, given)


def configured_backend(
    backend: str | None, scheduler: str | None = None
) -> contextlib.AbstractContextManager[Any]:
    """Let joblib use the named backend, or whatever it uses anyway."""
    if (backend == "dask") != (scheduler is not None):
        raise click.UsageError("--backend dask and --scheduler ADDRESS go together: give both or neither.")
    if backend is None:
        return contextlib.nullcontext()
    if scheduler is not None:
        from faithkit.run.explaining.cluster import connected

        return connected(scheduler)
    import joblib

    return joblib.parallel_config(backend=backend)


def warn_on_stderr() -> None:
    """Show faithkit's own warnings as one line each; all others as Python does."""

    def show(message: Any, category: Any, filename: Any, lineno: Any, *_: Any, **__: Any) -> None:
        if issubclass(category, FaithkitWarning):
            tell(f"warning: {' '.join(str(message).split())}")
        else:
            tell(warnings.formatwarning(message, category, filename, lineno).rstrip())

    warnings.showwarning = show
