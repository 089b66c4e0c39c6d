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
    drawing,
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
@drawing
@option(
    "--pool FILE",
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
    weights: str | None,
    clusters: str | None,
    pool: str | None,
    unexplained: str,
    by: str | None,
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
    from faithkit.inputs.pools import logged_pool
    from faithkit.run.scoring import score_log

    begin(options)
    if pool is not None and unexplained == "pool":
        raise click.UsageError("--pool and --unexplained pool are two pools: give one of them.")
    paths = check_paths(output)
    drawn = {"weights": weights, "clusters": clusters}
    with configured_backend(**workers):
        logged = open_log(log, prediction, explanation, features, by, **drawn)
        if workers["backend"] == "dask" and not isinstance(logged, ParquetLog):
            raise click.UsageError(
                f"a cluster tallies Parquet files, and {Path(log).name} is none: write it as Parquet, "
                "or leave --backend dask out."
            )
        more = (
            None
            if pool is None
            else logged_pool(pool, prediction, logged.features, weights=weights, clusters=clusters)
        )
        found = score_log(logged, violations, more, unexplained, **options)
        deliver(found, paths, fail_under)
