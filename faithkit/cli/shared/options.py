"""Options that several verbs share."""

import contextlib
import functools
from collections.abc import Callable, Mapping
from typing import Any, TypeVar, cast

import click

from faithkit.cli.shared.gate_options import REQUIREMENTS, parse_limits
from faithkit.cli.shared.paths import placed, placed_folder, placed_model
from faithkit.display import VERBOSE

F = TypeVar("F", bound=Callable[..., Any])


debug = click.option(
    "--debug",
    is_flag=True,
    expose_value=False,
    callback=lambda ctx, _param, given: ctx.ensure_object(dict).update(debug=given),
    help="Show the traceback of an error.",
)


def together(*options: Callable[[F], F], into: str = "") -> Callable[[F], F]:
    """Apply several option decorators, in the order of the help text.

    With `into`, the verb gets what was given for them as one dictionary of that name, and passes it on whole:
    an option that is added here arrives where the dictionary goes, and nowhere else.

    Examples
    --------
    >>> pages = together(click.option("--from"), click.option("--to"), into="pages")
    >>> @click.command()
    ... @pages
    ... def read(pages):
    ...     print(pages)
    >>> read(["--from", "1", "--to", "9"], standalone_mode=False)
    {'from': '1', 'to': '9'}
    """

    def apply(function: F) -> F:
        before = len(getattr(function, "__click_params__", ()))
        for option in reversed(options):
            function = option(function)
        added = vars(function)["__click_params__"][before:]
        names = [param.name for param in reversed(added) if param.expose_value]  # the last was added first

        @functools.wraps(function)
        def gathered(*args: Any, **given: Any) -> Any:
            group = {name: given.pop(name) for name in names}
            return function(*args, **{into: group}, **given)

        return cast("F", gathered) if into else function

    return apply


def option(usage: str, *name: str, show_default: bool = True, **settings: Any) -> Callable[[F], F]:
    """Return an option by what its line in the help begins with: "--data FILE"; a flag has no second word."""
    flag, _, metavar = usage.partition(" ")
    return click.option(flag, *name, metavar=metavar or None, show_default=show_default, **settings)


def _drawing(more: str = "") -> Callable[[F], F]:
    return together(
        option("--weights COLUMN", help=f"Let each row count by the number in this column.{more}"),
        option(
            "--clusters COLUMN",
            help="Take rows that have one value in this column, such as a customer's, as one case: they are "
            f"not checked against each other.{more}",
        ),
        option(
            "--uninformative-weights",
            "uninformative",
            is_flag=True,
            help="Say that neither weights nor the sizes of clusters go with predictions: intervals get "
            "narrower.",
        ),
    )


drawing = _drawing()

loading = together(
    option(
        "--data FILE|NAME",
        default="breast-cancer",
        callback=placed,
        help="Read CSV, JSON Lines or Parquet (a file, a folder, a pattern), images from a .npy file, or "
        "take a dataset that `faithkit datasets` lists.",
    ),
    option("--target COLUMN", help="Predict this column. It is never shown to the model."),
    option("--columns NAMES", help="Use these columns only, with wildcards: 'age,phi_*,!phi_bias'."),
    option(
        "--drop NAMES",
        help="Keep these columns from the model, with wildcards: 'id,*_date'. A model that knows its columns "
        "sees no others anyway.",
    ),
    option("--text COLUMN", help="Take the texts in this column as the instances."),
    option(
        "--model MODEL",
        callback=placed_model,
        default="gradient-boosting",
        help="Explain this model: module:attribute, a .skops, .onnx or pickle file, a folder of MLflow, or "
        "one that is trained on a part of the data: gradient-boosting, random-forest, logistic, tree or knn.",
    ),
    option(
        "--trust-pickle",
        is_flag=True,
        help="Load a pickled model, or a folder of MLflow. Loading one RUNS ANY CODE in it: do so with your "
        "own files only.",
    ),
    option(
        "--trust-types NAME[,NAME]",
        default="",
        show_default=False,
        help="Let a .skops model hold these types besides scikit-learn's, by the full names that the refusal "
        "prints. The file MAY CALL what is named here: name only what you know.",
    ),
    option(
        "--classes NAME[,NAME]",
        help="Name the model's classes, in the order of its scores; what a function returns is then taken as "
        "scores.",
    ),
    option("--background FILE", callback=placed, help="Let the explainer learn from the rows in this file."),
    option(
        "--samples N",
        type=click.IntRange(min=1),
        help="Explain N rows, drawn at random; the others are a pool that explanations are checked against.",
    ),
    option(
        "--pool FILE|none",
        callback=placed,
        help="Check explanations against the rows of this file, too, which are predicted and not explained.  "
        "[default: the rows that --samples left]",
    ),
    _drawing(" A model that does not know its columns sees it only if --columns names it."),
    option(
        "--seed N",
        default=0,
        help="Start all random choices from this number; the same number gives the same result.",
    ),
    into="loading",
)

explaining = option(
    "--explainer NAME",
    default="shap",
    help="Use this explainer: a name, or name:param=value,… with parameters that `faithkit show NAME` lists.",
)

OWN_DISCRETIZER = "[default: the one that the explanations name, else original]"

discretizing = option(
    "--discretize NAME",
    "discretizer",
    help="Use this discretizer, which says what explanations count as equal, such as 1fp or sign.  "
    f"{OWN_DISCRETIZER}",
)

relating = option(
    "--relation NAME",
    help="Use this relation for sufficiency; it says where an explanation applies. Several compose, as in "
    "'in-scope & ~same-explanation'.",
)

confidence = option("--confidence SHARE", default=0.95, help="Give intervals of this confidence.")

measuring = together(
    relating,
    option(
        "--estimator NAME",
        default="leave-one-out",
        help="Use this estimator, which turns counts into values.",
    ),
    confidence,
    option("--permutations N", default=0, help="Shuffle the predictions N times, for a p-value."),
)


predicting = together(
    option(
        "--outcome",
        type=click.Choice(["labels", "numbers", "scores"]),
        help="Say what predictions are. Of numbers, what share of their variance explanations account for is "
        "measured.  [default: numbers of a regressor or with fractions, else labels]",
    ),
    option(
        "--agree within:N",
        help="Take predictions that are numbers as equal if they differ by at most N: within:2000.",
    ),
    option(
        "--range LOW:HIGH",
        help="Say what the smallest and the largest number can be that the model predicts: 0:500000. Without "
        "it, intervals of numbers are approximate.",
    ),
)


def _workers(*kinds: str, help: str) -> Callable[[F], F]:
    return together(
        option("--backend", type=click.Choice(kinds), help=help),
        option(
            "--scheduler ADDRESS",
            help="Use the cluster at this address, such as tcp://10.0.0.1:8786, with --backend dask.",
        ),
        into="workers",
    )


clustering = _workers("dask", help="Tally a folder's files on a cluster.")

running = together(
    option("--n-jobs N", default=1, help="Use N workers; -1 means one per core."),
    _workers("loky", "threading", "sequential", "dask", help="Use workers of this kind.  [default: loky]"),
    option(
        "--store DIR",
        callback=placed_folder,
        help="Keep finished chunks in this folder: a run that was killed goes on from them.",
    ),
    option(
        "--on-error",
        type=click.Choice(["raise", "record"]),
        default="raise",
        help="Stop at a row that cannot be explained, or count it as unexplained.",
    ),
    option("--row-timeout SECONDS", type=float, help="Give up on a row after this many seconds."),
)

naming = option(
    "--id COLUMN",
    help="Name rows that are shown by this column, such as a customer's number. A model that does not know "
    "its columns does not see it.",
)

asking = together(
    option("--by COLUMN", help="Measure inside each group of this column of the data, too."),
    option(
        "--violations K",
        type=click.IntRange(min=0),
        help="Show the K worst explanations that hold for different predictions, with two rows each.",
    ),
)

diagnosing = option(
    "--diagnose NAME",
    "diagnostics",
    multiple=True,
    callback=lambda _ctx, _param, given: _requested(given),
    help="Use this diagnostic, too, which answers a further question: a name or name:param=value,…, or none. "
    "`faithkit plugins` lists them. Can be given several times.  [default: those that are quick]",
)


def _requested(names: tuple[str, ...]) -> Any:
    from faithkit.run.diagnostics import requested

    return requested(names)


referring = option(
    "--reference FILE",
    callback=placed,
    help="Compare with this earlier sample, or with its result, which --json wrote, to see what has drifted.",
)

judging = together(
    option(
        "--fail-under MEASURE=VALUE",
        multiple=True,
        callback=lambda _ctx, _param, given: parse_limits(given),
        help="Exit with code 3 if the lower end of a measure's interval is below a limit: consistency=0.8.",
    ),
    option(
        "--fail-unless",
        type=click.Choice(REQUIREMENTS),
        multiple=True,
        help="Exit with code 3 unless the lower end of the interval is above chance: of the measures of "
        "--fail-under, or without it of all that were taken.",
    ),
    option(
        "--fail-unless-as-good MEASURE=MARGIN",
        multiple=True,
        callback=lambda _ctx, _param, given: parse_limits(given),
        help="Exit with code 3 unless a measure is shown not to be worse than in the --reference by more "
        "than a margin: consistency=0.02. The lower end of the difference's interval counts.",
    ),
    option(
        "--fail-if-worse MEASURE=MARGIN",
        multiple=True,
        callback=lambda _ctx, _param, given: parse_limits(given),
        help="Exit with code 3 if a measure is shown to be worse than in the --reference by more than a "
        "margin: consistency=0.02. The upper end of the difference's interval counts.",
    ),
    into="limits",
)

_FILES = (
    option("--json FILE", "json_path", help="Write the result to this file as JSON; - means stdout."),
    option("--csv FILE", "csv_path", help="Write the measures to this file as CSV; - means stdout."),
    option("--html FILE", "html_path", help="Write a report for a browser to this file; - means stdout."),
)

verbose = option(
    "--verbose",
    is_flag=True,
    expose_value=False,
    is_eager=True,
    callback=lambda ctx, _param, given: _show_all(ctx, given),
    help="Show all numbers, the value of the estimator among them.",
)


def _show_all(ctx: click.Context, given: bool) -> None:
    """Let tables show all numbers, until the command ends."""
    if given:
        before = VERBOSE.set(True)
        ctx.call_on_close(lambda: VERBOSE.reset(before))


output = together(*_FILES, verbose, debug, into="output")

judged_output = together(
    *_FILES,
    option(
        "--junit FILE",
        "junit_path",
        help="Write which limits were kept to this file as JUnit XML, for a build server; - means stdout.",
    ),
    verbose,
    debug,
    into="output",
)

printing = together(option("--json", "as_json", is_flag=True, help="Print JSON instead of text."), debug)


def begin(options: Mapping[str, Any]) -> None:
    """Tell of a misspelt name or parameter at once.

    Nobody should wait for data that is read and a model that is trained to learn of it.
    """
    from faithkit.run.components.resolution import METHOD, component

    for kind in METHOD:
        asked = (options.get(kind), *options.get(f"{kind}s", ()))
        for given in filter(None, asked):
            component(kind, given)


def configured_backend(backend: str | None, scheduler: str | None) -> contextlib.AbstractContextManager[Any]:
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
