"""Options that several verbs share, as decorators."""

import contextlib
from collections.abc import Callable, Mapping
from typing import Any, TypeVar

import click

from faithkit.cli.shared.paths import resolve_folder, resolve_model_path, resolve_path
from faithkit.cli.shared.verb import (
    CHECKS,
    DATA,
    EXPLAINER,
    MEASURE,
    MODEL,
    OUTPUT,
    RUNNING,
    combine,
    option,
)
from faithkit.display import VERBOSE

F = TypeVar("F", bound=Callable[..., Any])


def _design_options(weights_note: str = "", clusters_note: str = "") -> Callable[[F], F]:
    return combine(
        option(
            "--weights COLUMN",
            heading=DATA,
            help=f"Weight each row by the number in this column{weights_note}.",
        ),
        option(
            "--clusters COLUMN",
            heading=DATA,
            help="Treat rows with the same value in this column, such as a customer, as one case that is not "
            f"checked against itself{clusters_note}.",
        ),
        option(
            "--blocks COLUMN",
            heading=DATA,
            help="Compare rows only with rows of the same value in this column, such as answers to the same "
            f"question{clusters_note}.",
        ),
        option(
            "--uninformative-weights",
            "uninformative",
            heading=DATA,
            is_flag=True,
            help="Assume that predictions do not depend on row weights or cluster sizes (narrower "
            "intervals).",
        ),
    )


design_options = _design_options()

input_options = combine(
    option(
        "--data FILE|NAME",
        heading=DATA,
        default="breast-cancer",
        callback=resolve_path,
        help="Read this CSV, JSON Lines or Parquet data (a file, a folder or a pattern), these images in a "
        ".npy file, or a dataset that `faithkit datasets` lists.",
    ),
    option("--target COLUMN", heading=DATA, help="Predict this column, which the model never sees."),
    option(
        "--columns NAMES",
        heading=DATA,
        help="Use only these columns, with wildcards: 'age,phi_*,!phi_bias'.",
    ),
    option(
        "--drop NAMES",
        heading=DATA,
        help="Hide these columns from the model, with wildcards: 'id,*_date'.",
    ),
    option("--text COLUMN", heading=DATA, help="Use the texts in this column as the instances."),
    option(
        "--model MODEL",
        heading=MODEL,
        callback=resolve_model_path,
        default="gradient-boosting",
        help="Explain this model: module:attribute, a .skops, .onnx or pickle file, an MLflow folder, or "
        "a model that is trained on a part of the data (gradient-boosting, random-forest, logistic, tree, "
        "knn).",
    ),
    option(
        "--trust-pickle",
        heading=MODEL,
        is_flag=True,
        help="Load a pickled model or an MLflow folder, which RUNS ANY CODE in it: use only your own files.",
    ),
    option(
        "--trust-types NAME[,NAME]",
        heading=MODEL,
        default="",
        show_default=False,
        help="Trust these types in a .skops model, named as in the error message: the file MAY CALL them, so "
        "name only types that you know.",
    ),
    option(
        "--classes NAME[,NAME]",
        heading=MODEL,
        help="Name the model's classes in the order of its scores, and read the output of a function as "
        "scores.",
    ),
    option(
        "--background FILE",
        heading=EXPLAINER,
        callback=resolve_path,
        help="Fit the explainer on the rows of this file.",
    ),
    option(
        "--samples N",
        heading=DATA,
        type=click.IntRange(min=1),
        help="Explain N random rows, and use the other rows as a pool to check explanations against.",
    ),
    option(
        "--pool FILE|none",
        heading=DATA,
        callback=resolve_path,
        help="Check explanations also against the rows of this file, which are predicted but not explained; "
        "none uses no pool.  [default: the rows that --samples leaves out]",
    ),
    _design_options(
        ", which the model sees only if it knows the column or --columns names it",
        "; the model sees the column as with --weights",
    ),
    option(
        "--seed N",
        heading=RUNNING,
        default=0,
        help="Start all random choices from this number, so that the same number gives the same result.",
    ),
    into="inputs",
)

explainer_option = option(
    "--explainer NAME",
    heading=EXPLAINER,
    default="shap",
    help="Use this explainer: a name, or name:param=value,… with parameters that `faithkit show NAME` lists.",
)

DISCRETIZER_DEFAULT = "[default: the one that the explanations name, else original]"

discretizer_option = option(
    "--discretize NAME",
    "discretizer",
    heading=MEASURE,
    help="Use this discretizer, such as 1fp or sign, which decides which explanations count as equal.  "
    f"{DISCRETIZER_DEFAULT}",
)

relation_option = option(
    "--relation NAME",
    heading=MEASURE,
    help="Use this relation for sufficiency, which decides where an explanation holds, or a composition such "
    "as 'in-scope & ~same-explanation'.",
)

confidence_option = option(
    "--confidence SHARE", heading=MEASURE, default=0.95, help="Give intervals with this confidence."
)

estimate_options = combine(
    option(
        "--estimator NAME",
        heading=MEASURE,
        default="leave-one-out",
        help="Use this estimator, which turns counts into values.",
    ),
    confidence_option,
    option(
        "--permutations N",
        heading=MEASURE,
        default=0,
        help="Shuffle the predictions N times to compute a p-value.",
    ),
    option(
        "--control-draws N",
        heading=MEASURE,
        type=int,
        help="Compare sufficiency with N draws of explanations of the same form that were chosen without the "
        "model, or with none if N is 0.  [default: 10 for at most 10,000 rows]",
    ),
    option(
        "--faithful-at LEVEL",
        heading=MEASURE,
        default=0.8,
        help="Call explanations faithful if the lower end of the interval reaches this level.",
    ),
)

measure_options = combine(relation_option, estimate_options)


def _prediction_options(default: str) -> Callable[[F], F]:
    return combine(
        option(
            "--outcome",
            heading=MEASURE,
            type=click.Choice(["labels", "numbers", "scores"]),
            help="Treat predictions as labels, numbers or scores; for numbers, measure the share of variance "
            f"that explanations account for.  [default: {default}]",
        ),
        option(
            "--agree within:N",
            heading=MEASURE,
            help="Treat predicted numbers as equal if they differ by at most N: within:2000.",
        ),
        option(
            "--range LOW:HIGH",
            heading=MEASURE,
            help="Bound the numbers that the model can predict (0:500000); without bounds, their intervals "
            "are approximate.",
        ),
    )


prediction_options = _prediction_options("numbers for a regressor or with fractions, else labels")
log_prediction_options = _prediction_options("numbers if they have fractions, else labels")


def _worker_options(*backends: str, help: str) -> Callable[[F], F]:
    return combine(
        option("--backend", heading=RUNNING, type=click.Choice(backends), help=help),
        option(
            "--scheduler ADDRESS",
            heading=RUNNING,
            help="Use the cluster at this address, such as tcp://10.0.0.1:8786, with --backend dask.",
        ),
        into="workers",
    )


dask_options = _worker_options("dask", help="Count the files of a folder on a cluster.")

running_options = combine(
    option("--n-jobs N", heading=RUNNING, default=1, help="Use N workers; -1 means one per core."),
    _worker_options(
        "loky", "threading", "sequential", "dask", help="Use workers of this kind.  [default: loky]"
    ),
    option(
        "--store DIR",
        heading=RUNNING,
        callback=resolve_folder,
        help="Keep finished chunks in this folder, so that a killed run continues from them.",
    ),
    option(
        "--on-error",
        heading=RUNNING,
        type=click.Choice(["raise", "record"]),
        default="raise",
        help="Stop at a row that cannot be explained, or count it as unexplained.",
    ),
    option(
        "--row-timeout SECONDS",
        heading=RUNNING,
        type=float,
        help="Stop explaining a row after this many seconds.",
    ),
)


def _id_option(note: str = "") -> Callable[[F], F]:
    help = f"Name rows in the output by this column, such as a customer number{note}."
    return option("--id COLUMN", heading=DATA, help=help)


id_option = _id_option(", which the model sees only if it knows the column")
log_id_option = _id_option()

detail_options = combine(
    option("--by COLUMN", heading=MEASURE, help="Measure also inside each group of this column."),
    option(
        "--by-label",
        heading=MEASURE,
        is_flag=True,
        help="Show each predicted label, compared with all rows, even if no label has most of the rows.",
    ),
    option(
        "--violations K",
        heading=OUTPUT,
        type=click.IntRange(min=0),
        help="Show the K worst explanations that hold for different predictions, with two rows each.",
    ),
)

diagnose_option = option(
    "--diagnose NAME",
    "diagnostics",
    heading=CHECKS,
    multiple=True,
    callback=lambda _ctx, _param, names: _request_diagnostics(names),
    help="Run this diagnostic (a name, name:param=value,… or none) that `faithkit plugins` lists; can be "
    "given several times.  [default: quick ones, shown with --verbose, --json and --html]",
)


def _request_diagnostics(names: tuple[str, ...]) -> Any:
    from faithkit.run.diagnostics import requested_diagnostics

    return requested_diagnostics(names)


_FILE_OPTIONS = (
    option(
        "--json FILE",
        "json_path",
        heading=OUTPUT,
        help="Write the result to this file as JSON; - means stdout.",
    ),
    option(
        "--csv FILE",
        "csv_path",
        heading=OUTPUT,
        help="Write the measures to this file as CSV; - means stdout.",
    ),
    option(
        "--html FILE",
        "html_path",
        heading=OUTPUT,
        help="Write a report for a browser to this file; - means stdout.",
    ),
)

verbose_option = option(
    "--verbose",
    heading=OUTPUT,
    is_flag=True,
    expose_value=False,
    is_eager=True,
    callback=lambda ctx, _param, is_verbose: _show_all_numbers(ctx, is_verbose),
    help="Show everything: all numbers and sentences, diagnoses, and all next steps.",
)


def _show_all_numbers(ctx: click.Context, is_verbose: bool) -> None:
    """Show all numbers in tables until the command ends."""
    if is_verbose:
        token = VERBOSE.set(True)
        ctx.call_on_close(lambda: VERBOSE.reset(token))


debug_option = option(
    "--debug",
    heading=OUTPUT,
    is_flag=True,
    expose_value=False,
    callback=lambda ctx, _param, is_debug: ctx.ensure_object(dict).update(debug=is_debug),
    help="Show the traceback of an error.",
)

output_options = combine(*_FILE_OPTIONS, verbose_option, debug_option, into="output")


def _check_export(_ctx: click.Context, _param: click.Parameter, path: str | None) -> str | None:
    if path is not None:
        from faithkit.run.exported_rows import check_ending

        check_ending(path)
    return path


gated_output_options = combine(
    *_FILE_OPTIONS,
    option(
        "--export FILE",
        "export_path",
        heading=OUTPUT,
        callback=_check_export,
        help="Write the rows, predictions and explanations to this file, which `faithkit score` reads: .csv, "
        ".jsonl or .parquet.",
    ),
    option(
        "--junit FILE",
        "junit_path",
        heading=OUTPUT,
        help="Write the outcome of each limit to this file as JUnit XML for a build server; - means stdout.",
    ),
    verbose_option,
    debug_option,
    into="output",
)

print_options = combine(
    option("--json", "as_json", heading=OUTPUT, is_flag=True, help="Print JSON instead of text."),
    debug_option,
)


def check_components(options: Mapping[str, Any]) -> None:
    """Check the names and parameters of all components, before data is read and a model is trained."""
    from faithkit.run.components.resolution import METHOD, resolve_component

    for kind in METHOD:
        spec = options.get(kind)
        specs = list(spec.values()) if isinstance(spec, Mapping) else [spec]
        for spec in filter(None, [*specs, *options.get(f"{kind}s", ())]):
            resolve_component(kind, spec)


def prepare_inputs(inputs: dict[str, Any], options: Mapping[str, Any], **columns: Any) -> Any:
    """Read the data and the model that the options name, as the options about predictions say."""
    from faithkit.inputs.evaluation_inputs import prepare
    from faithkit.inputs.predictions.outcome import parse_outcome

    outcome, *_ = parse_outcome(options["outcome"], options["agree"], options["range"])
    return prepare(outcome=outcome, **columns, **inputs)


def use_backend(backend: str | None, scheduler: str | None) -> contextlib.AbstractContextManager[Any]:
    """Return a context in which joblib uses the named backend, or its default if there is no name."""
    if (backend == "dask") != (scheduler is not None):
        raise click.UsageError("--backend dask and --scheduler ADDRESS go together: give both or neither.")
    if backend is None:
        return contextlib.nullcontext()
    if scheduler is not None:
        from faithkit.run.explaining.cluster import connect_to_scheduler

        return connect_to_scheduler(scheduler)
    import joblib

    config: contextlib.AbstractContextManager[Any] = joblib.parallel_config(backend=backend)
    return config
