"""Which reading of a table comes closest to the printed numbers, over all its cells.

``python -m faithkit_paper.closest table-shap --profile full > readings.csv``. Readings with the same
explainer share their explanations; the others have theirs made, so a table may name fewer rows for the
comparison in the profile ``full`` than for itself.
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
from faithkit_paper.printed import beside_printed
from faithkit_paper.readings import Reading
from faithkit_paper.report import Summary
from faithkit_paper.tables import Table


@attrs.frozen
class Tried:
    """A reading, and how near its cells are: on all datasets, and on each."""

    reading: Reading
    summary: Summary
    by_dataset: dict[str, float]


def tried(context: Context, table: Table, reading: Reading, datasets: Sequence[str] = DATASETS) -> Tried:
    """Measure a table under a reading."""
    found = {
        dataset: [beside_printed(table.name, cell) for cell in table.cells(context, dataset, reading)]
        for dataset in datasets
    }
    summaries = {dataset: Summary.of(cells) for dataset, cells in found.items()}
    whole = Summary.of([cell for cells in found.values() for cell in cells])
    assert whole is not None  # every table of discretizations has printed cells
    return Tried(reading, whole, {name: one.mean for name, one in summaries.items() if one is not None})


def closest(context: Context, table: Table, datasets: Sequence[str] = DATASETS) -> list[Tried]:
    """Measure a table under all its readings; the closest comes first."""
    every = []
    for reading in table.candidates:
        context.tell(f"{table.name}: {reading}")
        every.append(tried(context, table, reading, datasets))
    return sorted(every, key=lambda one: one.summary.mean)


def as_csv(every: Sequence[Tried]) -> str:
    """Return a line for each reading: its mean absolute difference on all datasets, and on each."""
    out = io.StringIO(newline="")
    writer = csv.writer(out, lineterminator="\n")
    writer.writerow(["reading", "all", *every[0].by_dataset])
    for one in every:
        means = (one.summary.mean, *one.by_dataset.values())
        writer.writerow([str(one.reading), *(f"{mean:.3f}" for mean in means)])
    return out.getvalue()


@click.command()
@click.argument("name", type=click.Choice(["table-shap", "table-lime", "table-counterfactuals"]))
@click.argument("datasets", nargs=-1, type=click.Choice(DATASETS))
@click.option("--profile", type=click.Choice(["tiny", "quick", "full"]), default="quick", show_default=True)
@click.option("--store", type=click.Path(path_type=Path), help="Keep explanations here, and go on from them.")
@click.option("--rows", type=int, help="Explain so many rows of each dataset, whatever the profile says.")
@click.option("--seed", default=0, show_default=True)
@click.option("--n-jobs", default=1, show_default=True)
def main(name: str, datasets: tuple[str, ...], rows: int | None, **options: Any) -> None:
    """Compare the readings of a table, on all datasets if none is named; the closest comes first."""
    from faithkit_paper.experiments import table_counterfactuals, table_lime, table_shap

    tables = (table_shap.TABLE, table_lime.TABLE, table_counterfactuals.TABLE)
    table = {table.name: table for table in tables}[name]
    context = Context(**options, tell=lambda text: click.echo(text, err=True))
    if rows is not None:
        table = attrs.evolve(table, rows={context.profile: {"": rows}})
    elif context.profile == "full":
        table = attrs.evolve(table, rows={"full": table.rows.get("compared", table.rows["full"])})
    click.echo(as_csv(closest(context, table, datasets or DATASETS)), nl=False)


if __name__ == "__main__":
    main()
