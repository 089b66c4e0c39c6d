"""`faithkit score`: measure logged explanations, without the model."""

from pathlib import Path
from typing import Any

import click

from faithkit.cli.shared.delivery import deliver, needed_diagnostics
from faithkit.cli.shared.gate_options import check_reference, margins
from faithkit.cli.shared.junit_option import GatedVerb
from faithkit.cli.shared.options import (
    check_components,
    dask_options,
    design_options,
    detail_options,
    diagnose_option,
    discretizer_option,
    gated_output_options,
    id_option,
    limit_options,
    measure_options,
    prediction_options,
    reference_option,
    use_backend,
)
from faithkit.cli.shared.origin import build_origin, origin_options
from faithkit.cli.shared.paths import check_paths, resolve_path
from faithkit.cli.shared.verb import DATA, option

EXAMPLES = """\b
Examples:
  faithkit score log.parquet --prediction label --explanation 'phi_*' --discretize sign
  faithkit score log.parquet --prediction label --explanation rule --features age,hours"""


@click.command(cls=GatedVerb, epilog=EXAMPLES)
@click.argument("log", metavar="LOG", callback=resolve_path)
@option(
    "--with FILE",
    "joined",
    heading=DATA,
    callback=resolve_path,
    help="Read further columns of LOG from this file, which has the same values in the column of --id, each "
    "once.",
)
@option(
    "--prediction NAMES",
    heading=DATA,
    required=True,
    help="Read the predictions from this column, or scores and outputs from several, with wildcards: 'p_*'.",
)
@option(
    "--explanation NAMES",
    heading=DATA,
    required=True,
    multiple=True,
    help="Read the explanations from these columns, with wildcards ('phi_*' or 'phi_*,!phi_id'); can be "
    "given several times.",
)
@option(
    "--features NAMES",
    heading=DATA,
    multiple=True,
    help="Read the instances from these columns, for relations that need them; can be given several times.",
)
@option(
    "--text COLUMN",
    heading=DATA,
    help="Use the texts in this column as the instances, for rules about words.",
)
@option(
    "--reasons FILE",
    heading=DATA,
    callback=resolve_path,
    help="Read the explanations as reason codes, and from this TOML file what each code claims about the "
    'columns of --features: R12 = "delinquencies > 2".',
)
@option(
    "--separator TEXT",
    heading=DATA,
    help="Read several codes of --reasons from one value, with this text between them.",
)
@design_options
@option(
    "--pool FILE|none",
    heading=DATA,
    callback=resolve_path,
    help="Check explanations also against the rows of this file, which has predictions and instances in "
    "columns of the same names, and no explanations.",
)
@option(
    "--unexplained",
    heading=DATA,
    type=click.Choice(["count", "pool"]),
    default="count",
    help="Count rows without an explanation as unexplained, or use them as a pool.",
)
@discretizer_option
@measure_options
@prediction_options
@diagnose_option
@reference_option
@detail_options
@id_option
@limit_options
@dask_options
@origin_options
@gated_output_options
def command(
    log: str,
    joined: str | None,
    prediction: str,
    explanation: tuple[str, ...],
    features: tuple[str, ...],
    text: str | None,
    reasons: str | None,
    separator: str | None,
    weights: str | None,
    clusters: str | None,
    blocks: str | None,
    pool: str | None,
    unexplained: str,
    outcome: str | None,
    diagnostics: Any,
    reference: str | None,
    by: str | None,
    by_label: bool,
    violations: int | None,
    id: str | None,
    limits: dict[str, Any],
    workers: dict[str, Any],
    origin: dict[str, Any],
    output: dict[str, Any],
    **options: Any,
) -> None:
    """Measure explanations that were logged in LOG: CSV, JSON Lines or Parquet, one file or several.

    For several files, give a folder or a pattern in quotes; names of folders (month=2026-01) become a column.
    Parquet is read in pieces, and may be larger than memory. Rows whose explanation columns are all empty
    count as unexplained. For rules, in words or in their JSON form, --features adds sufficiency. With --with
    or --reasons, all rows are read into memory.

    The log of --reference is read in the same way, and has the same columns. Components that learn are fitted
    on it.
    """
    from faithkit.inputs.logs.log_files import open_log
    from faithkit.inputs.pools import read_logged_pool
    from faithkit.inputs.predictions.outcome import parse_outcome
    from faithkit.run.comparisons.reference import is_saved_result, load_reference
    from faithkit.run.populations.log_scoring import score_log

    check_reference(reference, limits)
    check_components(options)
    options["discretizer"] = options["discretizer"] or "original"  # a log does not name a discretizer
    pool = None if pool == "none" else pool
    if pool is not None and unexplained == "pool":
        raise click.UsageError("--pool and --unexplained pool are two pools: give one of them.")
    if text is not None and (features or pool is not None):
        raise click.UsageError(
            "--text takes texts as the instances: leave --features and --pool out, or --text."
        )
    if joined is not None and id is None:
        raise click.UsageError("--with joins two files by a column that both have: name it with --id.")
    if reasons is not None and not features and text is None:
        raise click.UsageError("--reasons makes claims about columns: name these with --features.")
    if separator is not None and reasons is None:
        raise click.UsageError("--separator is for the codes of --reasons: give both, or leave it out.")
    if workers["backend"] == "dask" and (text or joined or reasons):
        raise click.UsageError(
            "--text, --with and --reasons read the whole log at once: leave --backend dask out."
        )
    paths = check_paths(output)
    outcome, *_ = parse_outcome(outcome, options["agree"], options["range"])
    columns = {"weights": weights, "clusters": clusters, "outcome": outcome}
    forms = {"text": text, "reasons": reasons, "separator": separator}
    with use_backend(**workers):
        logged = open_log(
            log,
            prediction,
            explanation,
            features,
            by,
            blocks=blocks,
            **columns,
            **forms,
            id=id,
            joined=joined,
        )
        _check_backend(log, logged, workers)
        pool_rows = None
        if pool is not None:
            pool_rows = read_logged_pool(pool, prediction, logged.features, **columns, ids=id)
        reference_log: Any = None
        if reference is not None and is_saved_result(reference):
            reference_log = load_reference(reference, **options)
        elif reference is not None:
            reference_log = open_log(
                reference, prediction, explanation, features, blocks=blocks, **columns, **forms
            )
            _check_backend(reference, reference_log, workers)
        report = score_log(
            logged,
            violations,
            pool_rows,
            unexplained,
            reference=reference_log,
            allowed=margins(limits),
            diagnostics=needed_diagnostics(diagnostics, paths),
            origin=build_origin(origin, log),
            by_label=by_label,
            **options,
        )
        deliver(report, paths, limits)


def _check_backend(path: str, log: Any, workers: dict[str, Any]) -> None:
    from faithkit.inputs.logs.log_files import ParquetLog

    if workers["backend"] == "dask" and not isinstance(log, ParquetLog):
        raise click.UsageError(
            f"a cluster tallies Parquet files, and {Path(path).name} is none: write it as Parquet, "
            "or leave --backend dask out."
        )
