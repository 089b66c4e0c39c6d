"""What a command promises: that it is one of click's, so that `faithkit` can list and run it."""

import click

from faithkit.extension.entries import Entry
from faithkit.testing.checks import demand, needs
from faithkit.testing.declarations import check_factory_can_be_imported


def check_is_a_click_command(entry: Entry) -> None:
    """Check that the factory is a `click.Command` itself.

    `faithkit` runs it as one of its own commands, and parses its options as theirs.
    """
    needs(check_factory_can_be_imported, entry)
    factory = entry.component.load()
    found = f"{entry.component.factory} is a {type(factory).__name__}; expected a click.Command"
    mend = "Decorate the function with @click.command()"
    demand(isinstance(factory, click.Command), entry.component.name, found, mend)
