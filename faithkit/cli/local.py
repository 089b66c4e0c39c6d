"""`faithkit local`: measure the explanation of one row."""

import json
from typing import Any

import click

from faithkit.cli.shared.options import (
    check_components,
    confidence_option,
    discretizer_option,
    explainer_option,
    id_option,
    input_options,
    prediction_options,
    prepare_inputs,
    print_options,
    relation_option,
    running_options,
)
from faithkit.cli.shared.paths import check_paths
from faithkit.cli.shared.streams import escape_json, print_result, write_output, write_stdout
from faithkit.cli.shared.verb import DATA, OUTPUT, Verb, option

EXAMPLES = """\b
Examples:
  faithkit local --row 3 --explainer shap --discretize 1fp
  faithkit local --row 3 --data loans --explainer tree --json
  faithkit local --row 3 --data loans --explainer tree --html decision.html"""


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
@option("--html FILE", OUTPUT, "Write a page about this decision to this file; - means stdout.", "html_path")
@print_options
def command(
    row: tuple[str | None, str],
    id: str | None,
    inputs: dict[str, Any],
    html_path: str | None,
    as_json: bool,
    **options: Any,
) -> None:
    """Measure the explanation of one row, against all rows of the sample."""
    from faithkit.report.html import page_html
    from faithkit.report.sheets.instances import decision_page, instance_sheet
    from faithkit.report.text import sheet_text
    from faithkit.run.api import evaluate
    from faithkit.run.populations.row_metadata import RowIds

    check_components(options)
    paths = check_paths({"html_path": html_path})
    column, value = row
    prepared = prepare_inputs(inputs, options, by=column, id=id)
    column_values = prepared.groups
    if column_values is None:
        row_number = int(value)
    else:
        row_number = RowIds.of(column_values, None, len(column_values)).row(value)
    row_ids = column_values if id is None else prepared.ids
    result = evaluate(**prepared.evaluation_arguments(), ids=row_ids, **options)
    local_result = result.local(row_number)
    if paths:
        title = f"Row {row_number}" if local_result.id is None else str(local_result.id)
        write_output("html_path", paths["html_path"], page_html(decision_page(local_result, title)))
    if paths.get("html_path") == "-":
        return
    if as_json:
        text = json.dumps(local_result.to_dict(), indent=2, ensure_ascii=False, allow_nan=False)
        write_stdout("json_path", escape_json(text) + "\n")
    else:
        print_result(sheet_text(instance_sheet(local_result, row_number)), end="")
