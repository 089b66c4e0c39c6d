"""The verb `faithkit audit`: score a folder of logs."""

from pathlib import Path

import click

import faithkit


@click.command()
@click.argument("folder", type=click.Path(exists=True, file_okay=False, path_type=Path))
@click.option("--prediction", required=True, metavar="COLUMN", help="Read predictions from this column.")
@click.option("--explanation", required=True, metavar="COLUMN", help="Read explanations from this column.")
def audit(folder: Path, prediction: str, explanation: str) -> None:
    """Score every CSV file in FOLDER, and print one line for each."""
    import pandas as pd

    files = sorted(folder.glob("*.csv"))
    if not files:
        raise faithkit.errors.InputError(f"there is no .csv file in {folder}: name the folder of the logs.")
    for file in files:
        log = pd.read_csv(file)
        estimate = faithkit.score(log[prediction], log[explanation]).consistency
        click.echo(f"{file.name}: estimate {estimate.estimate:.3f}, {estimate.finding}")
