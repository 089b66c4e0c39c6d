"""`faithkit local`: measure the explanation of one row."""

from typing import TYPE_CHECKING, Any

import click

from faithkit.cli.shared.delivery import check_outputs, deliver
from faithkit.cli.shared.options import (
    check_components,
    confidence_option,
    debug_option,
    discretizer_option,
    explainer_option,
    file_options,
    id_option,
    input_options,
    prediction_options,
    prepare_inputs,
    relation_option,
    running_options,
)
from faithkit.cli.shared.verb import DATA, Verb, option

if TYPE_CHECKING:
    pass

EXAMPLES = """\b
Examples:
  faithkit local --row 3 --explainer shap --discretize 1fp
  faithkit local --row 3 --data loans --explainer tree --out - --format json
  faithkit local --row 3 --data loans --explainer tree --out decision.html"""


def _parse_row(_ctx: click.Context, _param: click.Parameter, row: str) -> tuple[str | None, str]:
    """Return the column that identifies a row, and the row's value there; None for a row's number."""
    if row.isascii() and row.isdigit():
        return None, row
    column, sign, value = row.partition("=")
    if not sign:
        raise click.BadParameter(
            f"{row} is neither a row's number, of which the first is 0, nor COLUMN=VALUE."
        )
    return column, value


@click.command(cls=Verb, epilog=EXAMPLES)
@option(
    "--row N|COLUMN=VALUE",
    DATA,
    "Measure the explanation of this row of the sample: its number, from 0, or a column's value in it, "
    "such as customer=4711.",
    required=True,
    callback=_parse_row,
)
@id_option
@explainer_option
@input_options
@discretizer_option
@relation_option
@confidence_option
@prediction_options
@running_options
@file_options
@debug_option
def command(
    row: tuple[str | None, str],
    id: str | None,
    inputs: dict[str, Any],
    output: dict[str, Any],
    **options: Any,
) -> None:
    """Measure the explanation of one row, against all rows of the sample."""
    from faithkit.run.api import evaluate
    from faithkit.run.populations.row_metadata import RowIds

    check_components(options)
    outputs = check_outputs(**output)
    column, value = row
    prepared = prepare_inputs(inputs, options, by=column, id=id)
    column_values = prepared.groups
    if column_values is None:
        row_number = int(value)
    else:
        row_number = RowIds.of(column_values, None, len(column_values)).row(value)
    row_ids = column_values if id is None else prepared.ids
    result = evaluate(**prepared.evaluation_arguments(), ids=row_ids, **options)
    deliver(result.local(row_number), outputs)
