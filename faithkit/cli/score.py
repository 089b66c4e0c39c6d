"""`faithkit score`: measure logged explanations, without the model that made them."""

from typing import Any

import click

from faithkit.cli.options import measuring, output, show_result, warn_on_stderr


@click.command()
@click.argument("log", metavar="LOG")
@click.option("--prediction", required=True, metavar="COLUMN", help="The column of predicted labels.")
@click.option(
    "--explanation",
    required=True,
    multiple=True,
    metavar="NAMES",
    help="The columns of the explanation, with wildcards: 'phi_*'. Repeatable.",
)
@click.option(
    "--features", multiple=True, metavar="NAMES", help="The instances' columns, for relations that read them."
)
@measuring
@output
def command(
    log: str,
    prediction: str,
    explanation: tuple[str, ...],
    features: tuple[str, ...],
    json_path: str | None,
    **measures: Any,
) -> None:
    """Measure explanations that were logged in a CSV or Parquet file LOG.

    Rows whose explanation cells are all empty count as unexplained.
    """
    from faithkit.inputs.logs import read_log
    from faithkit.run.api import score

    warn_on_stderr()
    logged = read_log(log, prediction, explanation, features)
    show_result(score(logged.predictions, logged.explanations, X=logged.X, **measures), json_path)
