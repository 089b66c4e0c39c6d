"""A verb of Acme's."""

import click

import faithkit


@click.command()
@click.argument("dataset")
def columns(dataset):
    """List the columns of a DATASET."""
    for name in faithkit.load_dataset(dataset).X.columns:
        click.echo(name)
