"""`faithkit compare`: several explainers and discretizers on the same rows, and which may be the best."""

from typing import Any

import click

from faithkit.cli.delivery import deliver
from faithkit.cli.options import (
    OWN_DISCRETIZER,
    adjusting,
    begin,
    configured_backend,
    loading,
    measuring,
    naming,
    option,
    output,
    predicting,
    running,
)
from faithkit.cli.places import check_paths
from faithkit.cli.streams import Verb


@click.command(cls=Verb)
@loading
@option(
    "--explainer NAME",
    "explainers",
    multiple=True,
    required=True,
    help="Compare this explainer: a name, or name:param=value,…. Can be given several times.",
)
@option(
    "--discretize NAME",
    "discretizers",
    multiple=True,
    help=f"Compare this discretizer, too. Can be given several times.  {OWN_DISCRETIZER}",
)
@predicting
@measuring
@adjusting
@naming
@running
@output
def command(
    id: str | None,
    loading: dict[str, Any],
    workers: dict[str, Any],
    output: dict[str, Any],
    **options: Any,
) -> None:
    """Compare explainers and discretizers on the same rows and predictions.

    Every explainer explains once. Differences are paired; what the sample cannot tell from the best is
    marked as the best, too.
    """
    from faithkit.inputs.predictions.outcome import checked
    from faithkit.inputs.situation import prepare
    from faithkit.run.api import compare

    begin(options)
    options["discretizers"] = options["discretizers"] or None
    paths = check_paths(output)
    kind, _ = checked(options["outcome"], options["agree"])
    situation = prepare(outcome=kind, id=id, **loading)
    with configured_backend(**workers):
        found = compare(**situation.question(), ids=situation.ids, **options)
    deliver(found, paths)
