"""Options that several verbs share, as decorators."""

from collections.abc import Callable, Mapping
from typing import Any, TypeVar

import click

from faithkit.cli.shared.paths import resolve_model_path, resolve_path
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
from faithkit.report import VERBOSE

F = TypeVar("F", bound=Callable[..., Any])


def _design_options(weights_note: str = "", clusters_note: str = "") -> Callable[[F], F]:
    return combine(
        option("--weights COLUMN", DATA, f"Weight each row by the number in this column{weights_note}."),
        option(
            "--clusters COLUMN",
            DATA,
            "Treat rows with the same value in this column, such as a customer, as one case that is not "
            f"checked against itself{clusters_note}.",
        ),
        option(
            "--blocks COLUMN",
            DATA,
            "Compare rows only with rows of the same value in this column, such as answers to the same "
            f"question{clusters_note}.",
        ),
        option(
            "--uninformative-weights",
            DATA,
            "Assume that predictions do not depend on row weights or cluster sizes (narrower intervals).",
            "uninformative",
            is_flag=True,
        ),
    )


design_options = _design_options()

input_options = combine(
    option(
        "--data FILE|NAME",
        DATA,
        "Read this CSV, JSON Lines or Parquet data (a file, a folder or a pattern), these images in a "
        ".npy file, or a dataset that `faithkit datasets` lists.",
        default="loans",
        callback=resolve_path,
    ),
    option("--target COLUMN", DATA, "Predict this column, which the model never sees."),
    option("--columns NAMES", DATA, "Use only these columns, with wildcards: 'age,phi_*,!phi_bias'."),
    option("--drop NAMES", DATA, "Hide these columns from the model, with wildcards: 'id,*_date'."),
    option("--text COLUMN", DATA, "Use the texts in this column as the instances."),
    option(
        "--model MODEL",
        MODEL,
        "Explain this model: module:attribute, a .skops, .onnx or pickle file, an MLflow folder, or "
        "a model that is trained on a part of the data (gradient-boosting, random-forest, logistic, tree, "
        "knn).",
        callback=resolve_model_path,
        default="gradient-boosting",
    ),
    option(
        "--trust-pickle",
        MODEL,
        "Load a pickled model or an MLflow folder, which RUNS ANY CODE in it: use only your own files.",
        is_flag=True,
    ),
    option(
        "--trust-types NAME[,NAME]",
        MODEL,
        "Trust these types in a .skops model, named as in the error message: the file MAY CALL them, so "
        "name only types that you know.",
        default="",
        show_default=False,
    ),
    option(
        "--classes NAME[,NAME]",
        MODEL,
        "Name the model's classes in the order of its scores, and read the output of a function as scores.",
    ),
    option(
        "--background FILE", EXPLAINER, "Fit the explainer on the rows of this file.", callback=resolve_path
    ),
    option(
        "--samples N",
        DATA,
        "Explain N random rows, and use the other rows as a pool to check explanations against.",
        type=click.IntRange(min=1),
    ),
    option(
        "--pool FILE|none",
        DATA,
        "Check explanations also against the rows of this file, which are predicted but not explained; "
        "none uses no pool.  [default: the rows that --samples leaves out]",
        callback=resolve_path,
    ),
    _design_options(
        ", which the model sees only if it knows the column or --columns names it",
        "; the model sees the column as with --weights",
    ),
    option(
        "--seed N",
        RUNNING,
        "Start all random choices from this number, so that the same number gives the same result.",
        default=0,
    ),
    into="inputs",
)

explainer_option = option(
    "--explainer NAME",
    EXPLAINER,
    "Use this explainer: a name, or name:param=value,… with parameters that `faithkit show NAME` lists.",
    default="shap",
)

DISCRETIZER_DEFAULT = "[default: the one that the explanations name, else original]"

discretizer_option = option(
    "--discretize NAME",
    MEASURE,
    "Use this discretizer, such as 1fp or sign, which decides which explanations count as equal.  "
    f"{DISCRETIZER_DEFAULT}",
    "discretizer",
)

relation_option = option(
    "--relation NAME",
    MEASURE,
    "Use this relation for sufficiency, which decides where an explanation holds, or a composition such "
    "as 'in-scope & ~same-explanation'.",
)

confidence_option = option(
    "--confidence SHARE", MEASURE, "Give intervals with this confidence.", default=0.95
)

estimate_options = combine(
    option(
        "--estimator NAME",
        MEASURE,
        "Use this estimator, which turns counts into values.",
        default="leave-one-out",
    ),
    confidence_option,
    option("--permutations N", MEASURE, "Shuffle the predictions N times to compute a p-value.", default=0),
    option(
        "--control-draws N",
        MEASURE,
        "Compare sufficiency with N draws of random explanations, or random scopes of the same size, or "
        "with none if N is 0; a log of more than 10,000 rows that is read in pieces has a control only if "
        "this option asks for one.  [default: 10]",
        type=int,
    ),
    option(
        "--faithful-at LEVEL",
        MEASURE,
        "Call explanations faithful only if the lower end of the interval reaches this level.",
        default=0.8,
    ),
)

measure_options = combine(relation_option, estimate_options)


def _prediction_options(default: str) -> Callable[[F], F]:
    return combine(
        option(
            "--outcome",
            MEASURE,
            "Treat predictions as labels, numbers or scores; for numbers, measure the share of variance "
            f"that explanations account for.  [default: {default}]",
            type=click.Choice(["labels", "numbers", "scores"]),
        ),
        option(
            "--agree within:N",
            MEASURE,
            "Treat predicted numbers as equal if they differ by at most N: within:2000.",
        ),
        option(
            "--range LOW:HIGH",
            MEASURE,
            "Bound the numbers that the model can predict (0:500000); without bounds, their intervals "
            "are approximate.",
        ),
    )


prediction_options = _prediction_options("numbers for a regressor or with fractions, else labels")
log_prediction_options = _prediction_options("numbers if they have fractions, else labels")


running_options = combine(
    option(
        "--executor NAME",
        RUNNING,
        "Explain with this executor: here, threads, processes:workers=8,timeout=30, dask:scheduler=ADDRESS, "
        "or stored:folder=DIR,inside=processes, from which a killed run continues.  [default: here]",
    ),
    option(
        "--n-jobs N",
        RUNNING,
        "Use N worker processes, short for --executor processes:workers=N; -1 means one per core.",
        default=1,
    ),
    option(
        "--on-error",
        RUNNING,
        "Stop at a row that cannot be explained, or count it as unexplained.",
        type=click.Choice(["raise", "record"]),
        default="raise",
    ),
)


def _id_option(note: str = "") -> Callable[[F], F]:
    help = f"Name rows in the output by this column, such as a customer number{note}."
    return option("--id COLUMN", DATA, help)


id_option = _id_option(", which the model sees only if it knows the column")
log_id_option = _id_option()

detail_options = combine(
    option("--by COLUMN", MEASURE, "Measure also inside each group of this column."),
    option(
        "--by-label",
        MEASURE,
        "Show each predicted label, compared with all rows, even if no label has most of the rows.",
        is_flag=True,
    ),
    option(
        "--contradictions K",
        OUTPUT,
        "Show the K worst explanations that hold for different predictions, with two rows each.",
        type=click.IntRange(min=0),
    ),
)


def _no_names(_ctx: click.Context, _param: click.Parameter, names: tuple[str, ...]) -> Any:
    """Return None where nobody was named: an empty tuple would mean no diagnostic at all."""
    return names or None


diagnose_option = option(
    "--diagnose NAME",
    CHECKS,
    "Run this diagnostic (a name, name:param=value,… or none) that `faithkit plugins` lists; can be "
    "given several times.",
    "diagnose",
    multiple=True,
    callback=_no_names,
)

_FILE_OPTIONS = (
    option(
        "--out FILE",
        OUTPUT,
        "Write the result to this file, in the format of its ending: .json, .csv, .txt, or .html with "
        "faithkit-html; - means stdout; can be given several times.",
        "outs",
        multiple=True,
    ),
    option(
        "--format NAME",
        OUTPUT,
        "Use this format for - and for files without an ending: json, csv, text, or another reporter that "
        "`faithkit plugins` lists.",
    ),
)
file_options = combine(*_FILE_OPTIONS, into="output")


def _show_all_numbers(ctx: click.Context, _param: click.Parameter, is_verbose: bool) -> None:
    """Show all numbers in tables until the command ends."""
    if is_verbose:
        token = VERBOSE.set(True)
        ctx.call_on_close(lambda: VERBOSE.reset(token))


verbose_option = option(
    "--verbose",
    OUTPUT,
    "Show everything: all numbers and sentences, diagnoses, and all next steps.",
    is_flag=True,
    expose_value=False,
    is_eager=True,
    callback=_show_all_numbers,
)

debug_option = option(
    "--debug",
    OUTPUT,
    "Show the traceback of an error.",
    is_flag=True,
    expose_value=False,
    callback=lambda ctx, _param, is_debug: ctx.ensure_object(dict).update(debug=is_debug),
)

output_options = combine(*_FILE_OPTIONS, verbose_option, debug_option, into="output")


def _check_export(_ctx: click.Context, _param: click.Parameter, path: str | None) -> str | None:
    if path is not None:
        from faithkit.run.exported_rows import check_ending

        check_ending(path)
    return path


result_options = combine(
    *_FILE_OPTIONS,
    option(
        "--export FILE",
        OUTPUT,
        "Write the rows, predictions and explanations to this file, which `faithkit score` reads: .csv, "
        ".jsonl or .parquet.",
        "export_path",
        callback=_check_export,
    ),
    verbose_option,
    debug_option,
    into="output",
)

print_options = combine(
    option("--json", OUTPUT, "Print JSON instead of text.", "as_json", is_flag=True),
    debug_option,
)


def check_components(options: dict[str, Any]) -> None:
    """Check the names and parameters of all components, before data is read and a model is trained."""
    from faithkit.run.components.resolution import METHOD, resolve_component
    from faithkit.run.diagnostics import choose_diagnostics
    from faithkit.run.explaining.executors import resolve_executor

    choose_diagnostics(options.get("diagnose"))
    if options.get("executor") is not None:  # its folder is that of the command, wherever code goes
        options["executor"] = resolve_component("executor", options["executor"])
    resolve_executor(options.get("executor"), options.get("n_jobs", 1))
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
