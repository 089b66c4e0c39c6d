"""Which reading of a table comes closest to the printed numbers, over all its cells.

``python -m faithkit_paper.closest table-shap``. Readings with the same explainer share their explanations.
"""

from collections.abc import Sequence
from pathlib import Path

import attrs
import click

from faithkit_paper.context import Context
from faithkit_paper.models import DATASETS
from faithkit_paper.printed import beside_printed
from faithkit_paper.readings import Reading, Table
from faithkit_paper.report import Summary


@attrs.frozen
class Tried:
    """A reading, and how near its cells are: on all datasets, and on each."""

    reading: Reading
    summary: Summary
    by_dataset: dict[str, float]

    def __str__(self) -> str:
        each = ", ".join(f"{dataset} {mean:.3f}" for dataset, mean in self.by_dataset.items())
        return f"{self.summary.mean:.3f}  {self.reading}  ({each})"


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


@click.command()
@click.argument("name", type=click.Choice(["table-shap", "table-lime", "table-counterfactuals"]))
@click.argument("datasets", nargs=-1, type=click.Choice(DATASETS))
@click.option("--profile", type=click.Choice(["tiny", "quick", "full"]), default="quick", show_default=True)
@click.option("--store", type=click.Path(path_type=Path), help="Keep explanations here, and go on from them.")
@click.option("--seed", default=0, show_default=True)
@click.option("--n-jobs", default=1, show_default=True)
def main(
    name: str, datasets: tuple[str, ...], profile: str, store: Path | None, seed: int, n_jobs: int
) -> None:
    """Compare the readings of a table, on all datasets if none is named; the closest comes first."""
    from faithkit_paper.experiments import table_counterfactuals, table_lime, table_shap

    tables = (table_shap.TABLE, table_lime.TABLE, table_counterfactuals.TABLE)
    table = {table.name: table for table in tables}[name]
    context = Context(
        profile, seed=seed, store=store, n_jobs=n_jobs, tell=lambda text: click.echo(text, err=True)
    )
    for one in closest(context, table, datasets or DATASETS):
        click.echo(str(one))


if __name__ == "__main__":
    main()
