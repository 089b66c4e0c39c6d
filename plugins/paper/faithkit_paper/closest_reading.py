"""Find the reading of a table that comes closest to the printed numbers over all its cells.

``python -m faithkit_paper.closest_reading table-shap --store kept --ranges ranges.csv > best.csv``. Readings
with the same explainer share their explanations, and the store keeps all of them. The full profile explains
`Table.compared_rows`. The ranges are, for each printed number, the smallest and the largest that any reading
gives, and the closest with its interval.
"""

import csv
import io
import math
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import attrs
import click

from faithkit_paper.context import Context, write_atomically
from faithkit_paper.discretization_tables import Reading, Table
from faithkit_paper.findings import Cell, Findings
from faithkit_paper.models import DATASETS
from faithkit_paper.printed_numbers import with_printed_number
from faithkit_paper.report import LIMITS, Summary


@attrs.frozen
class ReadingResult:
    """A reading, its cells beside the printed ones, and its distance from them."""

    reading: Reading
    cells: tuple[Cell, ...]

    @property
    def summary(self) -> Summary:
        """The distance on all datasets."""
        summary = Summary.of(self.cells)
        assert summary is not None  # every table of discretizations has printed cells
        return summary

    @property
    def by_dataset(self) -> dict[str, float]:
        """The mean absolute difference on each dataset."""
        groups: dict[str, list[Cell]] = {cell.dataset: [] for cell in self.cells}
        for cell in self.cells:
            groups[cell.dataset].append(cell)
        summaries = {dataset: Summary.of(cells) for dataset, cells in groups.items()}
        return {dataset: summary.mean for dataset, summary in summaries.items() if summary is not None}


def measure_reading(
    context: Context, table: Table, reading: Reading, datasets: Sequence[str] = DATASETS
) -> ReadingResult:
    """Measure a table under a reading."""

    def measure_dataset(dataset: str) -> Findings:
        n = table.max_rows(context, dataset)
        name = f"{table.name}, {reading}" + (f", {n:,} rows" if n else "")
        return context.load_or_compute(
            name, dataset, lambda: Findings(tuple(table.measure_cells(context, dataset, reading)))
        )

    findings = Findings.concatenate(map(measure_dataset, datasets))
    return ReadingResult(reading, tuple(with_printed_number(table.name, cell) for cell in findings.cells))


def rank_readings(context: Context, table: Table, datasets: Sequence[str] = DATASETS) -> list[ReadingResult]:
    """Measure a table under all its readings, and sort them, the closest first."""
    results = [measure_reading(context, table, reading, datasets) for reading in table.candidates]
    return sorted(results, key=lambda result: result.summary.mean)


def limit_rows(table: Table, profile: str, max_rows: int | None) -> Table:
    """Return the table with as many rows as readings are compared on, and at most `max_rows`."""
    rows = dict(table.compared_rows)
    if max_rows is not None:
        rows = {"": max_rows} | {dataset: min(max_rows, n) for dataset, n in rows.items()}
    return attrs.evolve(table, rows={profile: rows})


def format_csv(results: Sequence[ReadingResult]) -> str:
    """Return CSV with a row for each reading: its mean absolute difference on all datasets, and on each."""
    out = io.StringIO(newline="")
    writer = csv.writer(out, lineterminator="\n")
    writer.writerow(["reading", "all", *results[0].by_dataset])
    for result in results:
        means = (result.summary.mean, *result.by_dataset.values())
        writer.writerow([str(result.reading), *(f"{mean:.3f}" for mean in means)])
    return out.getvalue()


def format_ranges(results: Sequence[ReadingResult]) -> str:
    """Return CSV with a row for each printed number: its range over all readings, and the closest of them."""
    out = io.StringIO(newline="")
    writer = csv.writer(out, lineterminator="\n")
    head = ["dataset", "setting", "measure", "paper", "smallest", "closest", "low", "high", "largest", "n"]
    writer.writerow([*head, f"within {LIMITS[0]}"])
    for cells in zip(*(result.cells for result in results), strict=True):
        numbers = [cell.ours for cell in cells if cell.ours is not None]
        first, closest = cells[0], min(cells, key=_distance)
        row = first.dataset, first.setting, first.measure, first.paper
        ours = (
            "" if number is None else f"{number:.3f}"
            for number in (min(numbers), closest.ours, closest.low, closest.high, max(numbers))
        )
        writer.writerow([*row, *ours, first.n, "yes" if _distance(closest) <= LIMITS[0] + 1e-9 else "no"])
    return out.getvalue()


def _distance(cell: Cell) -> float:
    """Return the distance of a cell from its printed number."""
    return math.inf if cell.difference is None else abs(cell.difference)


@click.command()
@click.argument("name", type=click.Choice(["table-shap", "table-lime", "table-counterfactuals"]))
@click.argument("datasets", nargs=-1, type=click.Choice(DATASETS))
@click.option("--profile", type=click.Choice(["tiny", "quick", "full"]), default="quick", show_default=True)
@click.option("--store", type=click.Path(path_type=Path), help="Keep explanations here, and reuse them.")
@click.option("--ranges", type=click.Path(path_type=Path), help="Write the range of each cell to this file.")
@click.option("--rows", type=click.IntRange(1), help="Explain at most this many rows of each dataset.")
@click.option("--seed", default=0, show_default=True)
@click.option("--n-jobs", default=1, show_default=True)
def main(name: str, datasets: tuple[str, ...], ranges: Path | None, rows: int | None, **options: Any) -> None:
    """Compare the readings of a table, by default on all datasets, and list the closest first."""
    from faithkit_paper.experiments import table_counterfactuals, table_lime, table_shap

    tables = (table_shap.TABLE, table_lime.TABLE, table_counterfactuals.TABLE)
    table = {table.name: table for table in tables}[name]
    if rows is not None or options["profile"] == "full":
        table = limit_rows(table, options["profile"], rows)
    context = Context(**options, log=lambda text: click.echo(text, err=True))
    results = rank_readings(context, table, datasets or DATASETS)
    if ranges is not None:
        write_atomically(ranges, format_ranges(results))
    click.echo(format_csv(results), nl=False)


if __name__ == "__main__":
    main()
