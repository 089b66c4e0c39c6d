"""`faithkit score`: measure logged explanations, without the model that made them."""

from pathlib import Path
from typing import Any

import click

from faithkit.cli.shared.delivery import deliver
from faithkit.cli.shared.gate_options import check_reference, margins
from faithkit.cli.shared.junit_option import GatedVerb
from faithkit.cli.shared.options import (
    asking,
    begin,
    clustering,
    configured_backend,
    diagnosing,
    discretizing,
    drawing,
    judged_output,
    judging,
    measuring,
    naming,
    option,
    predicting,
    referring,
)
from faithkit.cli.shared.paths import check_paths, placed


@click.command(cls=GatedVerb)
@click.argument("log", metavar="LOG", callback=placed)
@option(
    "--prediction NAMES",
    required=True,
    help="Read the predictions from this column; several, with wildcards, are scores or outputs: 'p_*'.",
)
@option(
    "--explanation NAMES",
    required=True,
    multiple=True,
    help="Read the explanations from these columns, with wildcards: 'phi_*', or 'phi_*,!phi_id' without one. "
    "Can be given several times.",
)
@option(
    "--features NAMES",
    multiple=True,
    help="Read the instances from these columns, for relations that need them. Can be given several times.",
)
@option("--text COLUMN", help="Take the texts in this column as the instances, for rules about words.")
@drawing
@option(
    "--pool FILE|none",
    callback=placed,
    help="Check explanations against the rows of this file, too: it has predictions and instances in columns "
    "of the same names, and no explanations.",
)
@option(
    "--unexplained",
    type=click.Choice(["count", "pool"]),
    default="count",
    help="Say that rows without an explanation count as unexplained, or that they are a pool.",
)
@predicting
@discretizing
@measuring
@diagnosing
@referring
@asking
@naming
@judging
@clustering
@judged_output
def command(
    log: str,
    prediction: str,
    explanation: tuple[str, ...],
    features: tuple[str, ...],
    text: str | None,
    weights: str | None,
    clusters: str | None,
    pool: str | None,
    unexplained: str,
    outcome: str | None,
    diagnostics: Any,
    reference: str | None,
    by: str | None,
    violations: int | None,
    id: str | None,
    limits: dict[str, Any],
    workers: dict[str, Any],
    output: dict[str, Any],
    **options: Any,
) -> None:
    """Measure explanations that were logged in LOG: CSV, JSON Lines or Parquet, one file or several.

    Several files are a folder, or a pattern in quotes; what folders are called (month=2026-01) is a column.
    Parquet is read in pieces, and may be larger than memory. Rows whose explanation cells are all empty count
    as unexplained. A column of rules, in words or in their JSON form, with --features, has sufficiency, too.

    The log of --reference is read alike: with the same columns, and in pieces. What learns does so from it.
    """
    from faithkit.inputs.logs.log_files import open_log
    from faithkit.inputs.pools import logged_pool
    from faithkit.inputs.predictions.outcome import checked
    from faithkit.run.comparisons.reference import is_saved, saved_reference
    from faithkit.run.populations.log_scoring import score_log

    check_reference(reference, limits)
    begin(options)
    options["discretizer"] = options["discretizer"] or "original"  # a log names none
    pool = None if pool == "none" else pool
    if pool is not None and unexplained == "pool":
        raise click.UsageError("--pool and --unexplained pool are two pools: give one of them.")
    if text is not None and (features or pool is not None):
        raise click.UsageError(
            "--text takes texts as the instances: leave --features and --pool out, or --text."
        )
    paths = check_paths(output)
    kind, *_ = checked(outcome, options["agree"], options["range"])
    columns = {"weights": weights, "clusters": clusters, "outcome": kind}
    with configured_backend(**workers):
        logged = open_log(log, prediction, explanation, features, by, **columns, id=id, text=text)
        _check_cluster(log, logged, workers)
        more = None if pool is None else logged_pool(pool, prediction, logged.features, **columns, ids=id)
        earlier: Any = None
        if reference is not None and is_saved(reference):
            earlier = saved_reference(reference, **options)
        elif reference is not None:
            earlier = open_log(reference, prediction, explanation, features, **columns, text=text)
            _check_cluster(reference, earlier, workers)
        earlier_too = {"reference": earlier, "allowed": margins(limits)}
        asked = {**earlier_too, "diagnostics": diagnostics, **options}
        found = score_log(logged, violations, more, unexplained, **asked)
        deliver(found, paths, limits)


def _check_cluster(path: str, log: Any, workers: dict[str, Any]) -> None:
    from faithkit.inputs.logs.parquet_log import ParquetLog

    if workers["backend"] == "dask" and not isinstance(log, ParquetLog):
        raise click.UsageError(
            f"a cluster tallies Parquet files, and {Path(path).name} is none: write it as Parquet, "
            "or leave --backend dask out."
        )
