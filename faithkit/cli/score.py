"""`faithkit score`: measure logged explanations, without the model that made them."""

from pathlib import Path
from typing import Any

import click

from faithkit.cli.delivery import deliver
from faithkit.cli.options import (
    asking,
    begin,
    clustering,
    configured_backend,
    discretizing,
    measuring,
    option,
    output,
)
from faithkit.cli.places import check_paths, placed
from faithkit.cli.streams import Verb


@click.command(cls=Verb)
@click.argument("log", metavar="LOG", callback=placed)
@option("--prediction COLUMN", required=True, help="Read the predicted labels from this column.")
@option(
    "--explanation NAMES",
    required=True,
    multiple=True,
    help="Read the explanations from these columns, with wildcards: 'phi_*'. Can be given several times.",
)
@option(
    "--features NAMES",
    multiple=True,
    help="Read the instances from these columns, for relations that need them. Can be given several times.",
)
@discretizing
@measuring
@asking
@clustering
@output
def command(
    log: str,
    prediction: str,
    explanation: tuple[str, ...],
    features: tuple[str, ...],
    by: str | None,
    adjust: str,
    violations: int | None,
    fail_under: dict[str, float],
    workers: dict[str, Any],
    output: dict[str, Any],
    **options: Any,
) -> None:
    """Measure explanations that were logged in LOG: a CSV or Parquet file, or a folder of Parquet files.

    Parquet is read in pieces, and may be larger than memory. Rows whose explanation cells are all empty count
    as unexplained. A column of rules in their JSON form, with --features, has sufficiency, too.
    """
    from faithkit.inputs.logs import ParquetLog, open_log
    from faithkit.run.scoring import score_log

    begin(options)
    paths = check_paths(output)
    with configured_backend(**workers):
        logged = open_log(log, prediction, explanation, features, by)
        if workers["backend"] == "dask" and not isinstance(logged, ParquetLog):
            raise click.UsageError(
                f"a cluster tallies Parquet files, and {Path(log).name} is none: write it as Parquet, "
                "or leave --backend dask out."
            )
        found = score_log(logged, violations, adjust, **options)
        deliver(found, paths, fail_under)
