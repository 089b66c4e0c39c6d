"""Find the reading of a table that comes closest to the printed numbers over all its cells.

``python -m faithkit_paper.closest table-shap --profile full > readings.csv``. Readings with the same
explainer share their explanations. All other explanations are computed, so a table may have fewer rows for
this comparison in the profile ``full`` than for itself.
"""

import csv
import io
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import attrs
import click

from faithkit_paper.context import Context
from faithkit_paper.models import DATASETS
from faithkit_paper.printed import with_printed_number
from faithkit_paper.readings import Reading
from faithkit_paper.report import Summary
from faithkit_paper.tables import Table


@attrs.frozen
class ReadingResult:
    """A reading, and its distance from the printed cells: on all datasets, and on each."""

    reading: Reading
    summary: Summary
    by_dataset: dict[str, float]


def measure_reading(
    context: Context, table: Table, reading: Reading, datasets: Sequence[str] = DATASETS
) -> ReadingResult:
    """Measure a table under a reading."""
    cells_by_dataset = {
        dataset: [
            with_printed_number(table.name, cell) for cell in table.measure_cells(context, dataset, reading)
        ]
        for dataset in datasets
    }
    summaries = {dataset: Summary.of(cells) for dataset, cells in cells_by_dataset.items()}
    overall = Summary.of([cell for cells in cells_by_dataset.values() for cell in cells])
    assert overall is not None  # every table of discretizations has printed cells
    means = {dataset: summary.mean for dataset, summary in summaries.items() if summary is not None}
    return ReadingResult(reading, overall, means)


def rank_readings(context: Context, table: Table, datasets: Sequence[str] = DATASETS) -> list[ReadingResult]:
    """Measure a table under all its readings, and sort them, the closest first."""
    results = []
    for reading in table.candidates:
        context.log(f"{table.name}: {reading}")
        results.append(measure_reading(context, table, reading, datasets))
    return sorted(results, key=lambda result: result.summary.mean)


def format_csv(results: Sequence[ReadingResult]) -> str:
    """Return CSV with a row for each reading: its mean absolute difference on all datasets, and on each."""
    out = io.StringIO(newline="")
    writer = csv.writer(out, lineterminator="\n")
    writer.writerow(["reading", "all", *results[0].by_dataset])
    for result in results:
        means = (result.summary.mean, *result.by_dataset.values())
        writer.writerow([str(result.reading), *(f"{mean:.3f}" for mean in means)])
    return out.getvalue()


@click.command()
@click.argument("name", type=click.Choice(["table-shap", "table-lime", "table-counterfactuals"]))
@click.argument("datasets", nargs=-1, type=click.Choice(DATASETS))
@click.option("--profile", type=click.Choice(["tiny", "quick", "full"]), default="quick", show_default=True)
@click.option("--store", type=click.Path(path_type=Path), help="Keep explanations here, and reuse them.")
@click.option(
    "--rows", type=int, help="Explain this many rows of each dataset, instead of the number of the profile."
)
@click.option("--seed", default=0, show_default=True)
@click.option("--n-jobs", default=1, show_default=True)
def main(name: str, datasets: tuple[str, ...], rows: int | None, **options: Any) -> None:
    """Compare the readings of a table, by default on all datasets, and list the closest first."""
    from faithkit_paper.experiments import table_counterfactuals, table_lime, table_shap

    tables = (table_shap.TABLE, table_lime.TABLE, table_counterfactuals.TABLE)
    table = {table.name: table for table in tables}[name]
    context = Context(**options, log=lambda text: click.echo(text, err=True))
    if rows is not None:
        table = attrs.evolve(table, rows={context.profile: {"": rows}})
    elif context.profile == "full":
        table = attrs.evolve(table, rows={"full": table.rows.get("compared", table.rows["full"])})
    click.echo(format_csv(rank_readings(context, table, datasets or DATASETS)), nl=False)


if __name__ == "__main__":
    main()
