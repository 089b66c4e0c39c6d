"""`faithkit show`: one component's parameters and documentation."""

import inspect

import click

from faithkit.cli.options import debug
from faithkit.extension.registry import EMPTY, KINDS, parameters, registry


@click.command()
@click.argument("kind", type=click.Choice(KINDS))
@click.argument("name")
@debug
def command(kind: str, name: str) -> None:
    """Show a component's parameters: `faithkit show explainer shap`."""
    entry = registry().find(kind, name)
    click.echo(f"{kind} {entry.component.name}: {entry.component.summary}")
    click.echo(f"from {entry.distribution} {entry.version}")
    found = parameters(entry)
    if found:
        click.echo("\nparameters")
    for parameter in found:
        value = parameter.preset if parameter.preset is not EMPTY else parameter.default
        click.echo(f"  {parameter.name}" + (" (required)" if value is EMPTY else f" = {value!r}"))
    text = inspect.getdoc(entry.component.load())
    if text:
        click.echo(f"\n{text}")
