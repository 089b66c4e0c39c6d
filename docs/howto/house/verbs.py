"""`faithkit audit`: a folder of logs, one line each."""

from pathlib import Path

import click

import faithkit


@click.command()
@click.argument("folder", type=click.Path(exists=True, file_okay=False, path_type=Path))
@click.option("--prediction", required=True, metavar="COLUMN", help="The column of predictions.")
@click.option("--explanation", required=True, metavar="COLUMN", help="The column of explanations.")
def audit(folder: Path, prediction: str, explanation: str) -> None:
    """Score every CSV file in FOLDER, and print one line for each."""
    import pandas as pd

    files = sorted(folder.glob("*.csv"))
    if not files:
        raise faithkit.errors.InputError(f"there is no .csv file in {folder}: name the folder of the logs.")
    for file in files:
        log = pd.read_csv(file)
        found = faithkit.score(log[prediction], log[explanation]).consistency
        click.echo(f"{file.name}: estimate {found.estimate:.3f}, {found.finding}")
