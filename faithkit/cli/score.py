"""`faithkit score`: measure logged explanations, without the model."""

from collections.abc import Mapping
from pathlib import Path
from typing import Any

import click

from faithkit.cli.shared.delivery import check_outputs, deliver, needed_diagnostics
from faithkit.cli.shared.gates import (
    GatedVerb,
    check_reference,
    combine_margins,
    limit_options,
    reference_option,
)
from faithkit.cli.shared.options import (
    check_components,
    dask_options,
    design_options,
    detail_options,
    diagnose_option,
    discretizer_option,
    gated_output_options,
    log_id_option,
    log_prediction_options,
    measure_options,
    use_backend,
)
from faithkit.cli.shared.origin import build_origin
from faithkit.cli.shared.paths import resolve_path
from faithkit.cli.shared.verb import DATA, combine, option

EXAMPLES = """\b
Examples:
  faithkit score log.parquet --prediction label --explanation 'phi_*' --discretize sign
  faithkit score log.parquet --prediction label --explanation rule --features age,hours"""


_log_options = combine(
    option(
        "--prediction NAMES",
        DATA,
        "Read the predictions from this column, or scores and outputs from several, with wildcards: 'p_*'.",
        required=True,
    ),
    option(
        "--explanation NAMES",
        DATA,
        "Read the explanations from these columns, with wildcards ('phi_*' or 'phi_*,!phi_id'); can be "
        "given several times.",
        required=True,
        multiple=True,
    ),
    option(
        "--features NAMES",
        DATA,
        "Read the instances from these columns, for relations that need them; can be given several times.",
        multiple=True,
    ),
    option("--text COLUMN", DATA, "Use the texts in this column as the instances, for rules about words."),
    option(
        "--reasons FILE",
        DATA,
        "Read the explanations as reason codes, and from this TOML file what each code claims about the "
        'columns of --features: R12 = "delinquencies > 2".',
        callback=resolve_path,
    ),
    option(
        "--separator TEXT",
        DATA,
        "Read several codes of --reasons from one value, with this text between them.",
    ),
    into="log_options",
)


@click.command(cls=GatedVerb, epilog=EXAMPLES)
@click.argument("log", metavar="LOG", callback=resolve_path)
@option(
    "--with FILE",
    DATA,
    "Read further columns of LOG from this file, which has the same values in the column of --id, each once.",
    "joined",
    callback=resolve_path,
)
@_log_options
@design_options
@option(
    "--pool FILE|none",
    DATA,
    "Check explanations also against the rows of this file, which has predictions and instances in "
    "columns of the same names, and no explanations; none uses no pool.",
    callback=resolve_path,
)
@option(
    "--unexplained",
    DATA,
    "Count rows without an explanation as unexplained, or use them as a pool.",
    type=click.Choice(["count", "pool"]),
    default="count",
)
@discretizer_option
@measure_options
@log_prediction_options
@diagnose_option
@reference_option
@detail_options
@log_id_option
@limit_options
@dask_options
@gated_output_options
def command(
    log: str,
    joined: str | None,
    log_options: dict[str, Any],
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
    output: dict[str, Any],
    **options: Any,
) -> None:
    """Measure explanations that were logged in LOG: CSV, JSON Lines or Parquet, one file or several.

    For several files, give a folder or a pattern in quotes; names of folders (month=2026-01) become a column.
    Parquet is read in pieces, and may be larger than memory. Rows whose explanation columns are all empty
    count as unexplained. With --with or --reasons, all rows are read into memory.

    For rules, in words or in their JSON form, and for importances, --features adds sufficiency. Importances
    and features are paired by name (phi_age and age), else in the order in which you write both.

    The log of --reference is read in the same way, and has the same columns. Components that learn are fitted
    on it.
    """
    from faithkit.inputs.pools import read_logged_pool
    from faithkit.inputs.predictions.outcome import parse_outcome
    from faithkit.run.comparisons.reference import is_saved_result, load_reference
    from faithkit.run.populations.log_scoring import score_log

    check_reference(reference, limits)
    check_components(options)
    options["discretizer"] = options["discretizer"] or "original"  # a log does not name a discretizer
    pool = None if pool == "none" else pool
    _check_usage(log_options, joined, id, pool, unexplained, workers)
    outputs = check_outputs(**output)
    outcome, *_ = parse_outcome(outcome, options["agree"], options["range"])
    columns: dict[str, Any] = {"weights": weights, "clusters": clusters, "outcome": outcome}
    with use_backend(**workers):
        roles = {**log_options, **columns, "blocks": blocks}
        logged = _open_log(log, workers, **roles, by=by, id=id, joined=joined)
        pool_rows = reference_log = None
        if pool is not None:
            features = logged.roles.features
            pool_rows = read_logged_pool(pool, log_options["prediction"], features, **columns, ids=id)
        if reference is not None:
            reference_log = (
                load_reference(reference, **options)
                if is_saved_result(reference)
                else _open_log(reference, workers, **roles)
            )
        report = score_log(
            logged,
            violations,
            pool_rows,
            unexplained,
            reference=reference_log,
            allowed=combine_margins(limits),
            diagnostics=needed_diagnostics(diagnostics, outputs),
            origin=build_origin(log),
            by_label=by_label,
            **options,
        )
        deliver(report, outputs, limits)


def _check_usage(
    log_options: Mapping[str, Any],
    joined: str | None,
    id: str | None,
    pool: str | None,
    unexplained: str,
    workers: Mapping[str, Any],
) -> None:
    """Raise a usage error if two options exclude each other, or one needs another."""
    text, features, reasons = log_options["text"], log_options["features"], log_options["reasons"]
    has_instances = bool(features) or text is not None
    reads_at_once = text or joined or reasons
    problems = {
        "--pool and --unexplained pool are two pools: give one of them.": pool and unexplained == "pool",
        "--text takes texts as the instances: leave --features and --pool out, or --text.": (
            text is not None and (features or pool is not None)
        ),
        "--with joins two files by a column that both have: name it with --id.": joined and id is None,
        "--reasons makes claims about columns: name these with --features.": reasons and not has_instances,
        "--separator is for the codes of --reasons: give both, or leave it out.": (
            log_options["separator"] is not None and reasons is None
        ),
        "--text, --with and --reasons read the whole log at once: leave --backend dask out.": (
            workers["backend"] == "dask" and reads_at_once
        ),
    }
    for problem, is_present in problems.items():
        if is_present:
            raise click.UsageError(problem)


def _open_log(path: str, workers: Mapping[str, Any], **roles: Any) -> Any:
    """Open a log; a cluster reads Parquet only."""
    from faithkit.inputs.logs.log_files import ParquetLog, open_log

    log = open_log(path, **roles)
    if workers["backend"] == "dask" and not isinstance(log, ParquetLog):
        raise click.UsageError(
            f"a cluster tallies Parquet files, and {Path(path).name} is none: write it as Parquet, "
            "or leave --backend dask out."
        )
    return log
