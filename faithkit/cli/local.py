"""`faithkit local`: one instance, its explanation, and whether it can be believed."""

import json
from typing import Any

import click

from faithkit.cli.delivery import escaped, hand_over
from faithkit.cli.options import (
    begin,
    confidence,
    configured_backend,
    discretizing,
    explaining,
    loading,
    option,
    predicting,
    printing,
    relating,
    running,
)
from faithkit.cli.streams import Verb, say


@click.command(cls=Verb)
@option(
    "--row N",
    type=click.IntRange(min=0),
    required=True,
    help="Measure the explanation of this row of the sample; the first is 0.",
)
@loading
@explaining
@predicting
@discretizing
@relating
@confidence
@running
@printing
def command(
    row: int, loading: dict[str, Any], workers: dict[str, Any], as_json: bool, **options: Any
) -> None:
    """Measure the explanation of one row, against all rows of the sample."""
    from faithkit.inputs.outcome import checked
    from faithkit.inputs.situation import prepare
    from faithkit.report.text import local_text
    from faithkit.run.api import evaluate

    begin(options)
    kind, _ = checked(options["outcome"], options["agree"])
    situation = prepare(outcome=kind, **loading)
    with configured_backend(**workers):
        result = evaluate(**situation.question(), **options)
    found = result.local(row)
    if as_json:
        text = json.dumps(found.to_dict(), indent=2, ensure_ascii=False, allow_nan=False)
        hand_over("json_path", escaped(text) + "\n")
    else:
        say(local_text(found, row), end="")
