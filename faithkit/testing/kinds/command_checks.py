"""Checks of commands: they are click commands, so that `faithkit` can list and run them."""

import click

from faithkit.extension.entries import Entry
from faithkit.testing.checks import require, skip_unless_passes
from faithkit.testing.kinds.declaration_checks import check_factory_can_be_imported


def check_is_a_click_command(entry: Entry) -> None:
    """Check that the factory is a `click.Command` itself.

    `faithkit` runs it and parses its options like those of its own commands.
    """
    skip_unless_passes(check_factory_can_be_imported, entry)
    factory = entry.component.load()
    problem = f"{entry.component.factory} is a {type(factory).__name__}; expected a click.Command"
    remedy = "Decorate the function with @click.command()"
    require(isinstance(factory, click.Command), entry.component.name, problem, remedy)
