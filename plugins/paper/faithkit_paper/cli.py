"""`faithkit reproduce`: repeat the paper's experiments, and compare with the printed numbers."""

import warnings
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

if TYPE_CHECKING:
    from faithkit_paper.experiment_catalogue import Experiment
    from faithkit_paper.findings import Cell, Findings


def _set_debug(ctx: click.Context, _param: click.Parameter, value: bool) -> None:
    if value and isinstance(ctx.obj, dict):
        ctx.obj["debug"] = True


@click.command()
@click.argument("experiments", nargs=-1, metavar="[EXPERIMENT]…")
@click.option("--list", "listing", is_flag=True, help="List the experiments.")
@click.option(
    "--profile",
    type=click.Choice(["tiny", "quick", "full"]),
    default="quick",
    show_default=True,
    help="Use small samples (quick, minutes), large ones (full, hours), or a few rows (tiny, seconds).",
)
@click.option(
    "--output",
    default="reproduction",
    show_default=True,
    metavar="DIR",
    help="Write the files to this folder.",
)
@click.option(
    "--store",
    metavar="DIR",
    help="Keep finished results in this folder, so that an interrupted run can continue.",
)
@click.option(
    "--dataset",
    "datasets",
    multiple=True,
    metavar="NAME",
    help="Measure only this dataset; can be given several times.",
)
@click.option(
    "--n-jobs", default=1, show_default=True, metavar="N", help="Use N workers; -1 means one per core."
)
@click.option(
    "--seed", default=0, show_default=True, metavar="N", help="Start all random choices from this number."
)
@click.option("--search", is_flag=True, help="Repeat the paper's search for hyper-parameters, which is slow.")
@click.option(
    "--debug", is_flag=True, expose_value=False, callback=_set_debug, help="Show the traceback of an error."
)
def reproduce(
    experiments: tuple[str, ...], listing: bool, output: str, store: str | None, **options: Any
) -> None:
    """Repeat the paper's experiments (all of them, if none is named) and compare with the printed numbers.

    Each writes NAME.csv with every number, NAME.md with paper, ours and difference (NAME-accuracy.csv and
    NAME-shown.csv are its tables), and NAME.svg where the paper has a figure. summary.csv has the
    mean difference of each.
    """
    from faithkit_paper.experiment_catalogue import select_experiments

    selected_experiments = select_experiments(experiments)
    if listing:
        width = max(len(experiment.name) for experiment in selected_experiments)
        for experiment in selected_experiments:
            click.echo(f"{experiment.name:<{width}}  {experiment.summary}")
        return
    _run(selected_experiments, Path(output), None if store is None else Path(store), options)


def _run(experiments: "list[Experiment]", folder: Path, store: Path | None, options: dict[str, Any]) -> None:
    import faithkit
    from faithkit_paper.context import Context, make_folder, write_atomically
    from faithkit_paper.report import format_summaries, run_experiment

    make_folder(folder)
    context = Context(store=store and make_folder(store), log=_log, progress=True, **options)
    cells: dict[str, Sequence[Cell]] = {}
    for experiment in experiments:
        with warnings.catch_warnings():
            # the remarks of the experiments explain what they do on purpose
            warnings.simplefilter("ignore", faithkit.errors.FaithkitWarning)
            findings = run_experiment(experiment, context, folder)
        _print_summary(experiment, findings, folder)
        cells[experiment.name] = findings.cells
    write_atomically(folder / "summary.csv", format_summaries(cells))


def _log(text: str) -> None:
    click.echo(text, err=True)


def _print_summary(experiment: "Experiment", findings: "Findings", folder: Path) -> None:
    from faithkit_paper.report import Summary, accuracies

    click.echo(experiment.name)
    for line in accuracies(findings.cells):
        click.echo(f"  {line}")
    summary = Summary.of(findings.cells)
    if summary is not None:
        click.echo(f"  {summary}")
    if findings.cpu_seconds:
        click.echo(f"  {findings.cpu_seconds / 60:.1f} minutes of CPU time")
    click.echo(f"  {folder / experiment.name}.md")
