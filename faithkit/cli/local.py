"""`faithkit local`: one instance, its explanation, and whether it can be believed."""

import json
from typing import Any

import click

from faithkit.cli.shared.delivery import escaped, hand_over
from faithkit.cli.shared.options import (
    begin,
    confidence,
    configured_backend,
    discretizing,
    explaining,
    loading,
    naming,
    option,
    predicting,
    printing,
    relating,
    running,
)
from faithkit.cli.shared.streams import Verb, say


def _asked(_ctx: Any, _param: Any, row: str) -> tuple[str | None, str]:
    """Return the column to find a row by, and its value there; None for one that is asked for by number."""
    if row.isascii() and row.isdigit():
        return None, row
    column, sign, value = row.partition("=")
    if not sign:
        raise click.BadParameter(
            f"{row} is neither a row's number, of which the first is 0, nor COLUMN=VALUE."
        )
    return column, value


@click.command(cls=Verb)
@option(
    "--row N|COLUMN=VALUE",
    required=True,
    callback=_asked,
    help="Measure the explanation of this row of the sample; the first is 0. Or of the one that has a value "
    "in a column of the data: customer=4711.",
)
@naming
@loading
@explaining
@predicting
@discretizing
@relating
@confidence
@running
@printing
def command(
    row: tuple[str | None, str],
    id: str | None,
    loading: dict[str, Any],
    workers: dict[str, Any],
    as_json: bool,
    **options: Any,
) -> None:
    """Measure the explanation of one row, against all rows of the sample."""
    from faithkit.inputs.evaluation_inputs import prepare
    from faithkit.inputs.predictions.outcome import checked
    from faithkit.report.text import local_text
    from faithkit.run.api import evaluate
    from faithkit.run.populations.row_metadata import RowIds

    begin(options)
    kind, *_ = checked(options["outcome"], options["agree"], options["range"])
    column, value = row
    situation = prepare(outcome=kind, by=column, id=id, **loading)
    known = situation.groups
    place = int(value) if known is None else RowIds.of(known, None, len(known)).row(value)
    with configured_backend(**workers):
        named = known if id is None else situation.ids
        result = evaluate(**situation.question(), ids=named, **options)
    found = result.local(place)
    if as_json:
        text = json.dumps(found.to_dict(), indent=2, ensure_ascii=False, allow_nan=False)
        hand_over("json_path", escaped(text) + "\n")
    else:
        say(local_text(found, place), end="")
