"""Commands with one fault each, and a sound one."""

import click


@click.command()
def sound() -> None:
    """Say nothing."""


def is_a_function() -> None:
    """Do what a command does, without the options."""
