"""`faithkit score`: measure logged explanations, without the model."""

from collections.abc import Mapping
from typing import Any

import click

from faithkit.cli.shared.delivery import check_outputs, deliver
from faithkit.cli.shared.options import (
    check_components,
    design_options,
    detail_options,
    diagnose_option,
    discretizer_option,
    log_id_option,
    log_prediction_options,
    measure_options,
    result_options,
)
from faithkit.cli.shared.origin import build_origin
from faithkit.cli.shared.paths import resolve_path
from faithkit.cli.shared.verb import DATA, Verb, combine, option

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
        "--as NAME",
        DATA,
        "Read the explanations with this adapter (a name, or name:param=value,…), such as "
        "'reason-codes:claims=reasons.toml' for reason codes, or compare texts as they are with none.  "
        "[default: the one that takes the texts, such as rule-texts]",
        "adapter",
    ),
    into="log_options",
)


@click.command(cls=Verb, epilog=EXAMPLES)
@click.argument("log", metavar="LOG", callback=resolve_path)
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
@detail_options
@log_id_option
@result_options
def command(
    log: str,
    log_options: dict[str, Any],
    weights: str | None,
    clusters: str | None,
    blocks: str | None,
    pool: str | None,
    unexplained: str,
    outcome: str | None,
    by: str | None,
    by_label: bool,
    contradictions: int | None,
    id: str | None,
    output: dict[str, Any],
    **options: Any,
) -> None:
    """Measure explanations that were logged in LOG: CSV, JSON Lines or Parquet, one file or several.

    For several files, give a folder or a pattern in quotes; names of folders (month=2026-01) become a column.
    Parquet is read in pieces, and may be larger than memory. Rows whose explanation columns are all empty
    count as unexplained.

    For rules, in words or in their JSON form, and for importances, --features adds sufficiency. Importances
    and features are paired by name (phi_age and age), else in the order in which you write both.
    """
    from faithkit.inputs.logs.log_files import open_log
    from faithkit.inputs.pools import read_logged_pool
    from faithkit.inputs.predictions.outcome import parse_outcome
    from faithkit.run.populations.log_scoring import score_log

    check_components(options)
    options["discretizer"] = options["discretizer"] or "original"  # a log does not name a discretizer
    pool = None if pool == "none" else pool
    _check_usage(log_options, pool, unexplained)
    outputs = check_outputs(**output)
    outcome, *_ = parse_outcome(outcome, options["agree"], options["range"])
    columns: dict[str, Any] = {"weights": weights, "clusters": clusters, "outcome": outcome}
    roles = {**log_options, **columns, "blocks": blocks}
    logged = open_log(log, **roles, by=by, id=id)
    pool_rows = None
    if pool is not None:
        features = logged.roles.features
        pool_rows = read_logged_pool(pool, log_options["prediction"], features, **columns, ids=id)
    report = score_log(
        logged,
        contradictions,
        pool_rows,
        unexplained,
        origin=build_origin(log),
        by_label=by_label,
        **options,
    )
    deliver(report, outputs)


def _check_usage(
    log_options: Mapping[str, Any],
    pool: str | None,
    unexplained: str,
) -> None:
    """Raise a usage error if two options exclude each other, or one needs another."""
    text, features = log_options["text"], log_options["features"]
    problems = {
        "--pool and --unexplained pool are two pools: give one of them.": pool and unexplained == "pool",
        "--text takes texts as the instances: leave --features and --pool out, or --text.": (
            text is not None and (features or pool is not None)
        ),
    }
    for problem, is_present in problems.items():
        if is_present:
            raise click.UsageError(problem)
