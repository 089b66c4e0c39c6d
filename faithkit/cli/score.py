"""`faithkit score`: measure logged explanations, without the model that made them."""

from pathlib import Path
from typing import Any

import click

from faithkit.cli.delivery import deliver
from faithkit.cli.limits import check_reference
from faithkit.cli.options import (
    asking,
    begin,
    clustering,
    configured_backend,
    discretizing,
    judging,
    measuring,
    option,
    output,
    referring,
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
@referring
@asking
@judging
@clustering
@output
def command(
    log: str,
    prediction: str,
    explanation: tuple[str, ...],
    features: tuple[str, ...],
    reference: str | None,
    by: str | None,
    adjust: str,
    violations: int | None,
    limits: dict[str, dict[str, float]],
    workers: dict[str, Any],
    output: dict[str, Any],
    **options: Any,
) -> None:
    """Measure explanations that were logged in LOG: a CSV or Parquet file, or a folder of Parquet files.

    Parquet is read in pieces, and may be larger than memory. Rows whose explanation cells are all empty count
    as unexplained. A column of rules in their JSON form, with --features, has sufficiency, too.

    The log of --reference is read alike: with the same columns, and in pieces. What learns does so from it.
    """
    from faithkit.inputs.logs import open_log
    from faithkit.run.reference import is_saved, saved_reference
    from faithkit.run.scoring import score_log

    check_reference(reference, limits["fail_if_worse"])
    begin(options)
    paths, columns = check_paths(output), (prediction, explanation, features)
    with configured_backend(**workers):
        logged = open_log(log, *columns, by)
        _check_cluster(log, logged, workers)
        earlier: Any = None
        if reference is not None and is_saved(reference):
            earlier = saved_reference(reference, **options)
        elif reference is not None:
            earlier = open_log(reference, *columns)
            _check_cluster(reference, earlier, workers)
        found = score_log(logged, violations, adjust, earlier, limits["fail_if_worse"], **options)
        deliver(found, paths, **limits)


def _check_cluster(path: str, log: Any, workers: dict[str, Any]) -> None:
    from faithkit.inputs.logs import ParquetLog

    if workers["backend"] == "dask" and not isinstance(log, ParquetLog):
        raise click.UsageError(
            f"a cluster tallies Parquet files, and {Path(path).name} is none: write it as Parquet, "
            "or leave --backend dask out."
        )
