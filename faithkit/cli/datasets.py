"""`faithkit datasets`: what `--data` knows by name, and where it is."""

import json

import click

from faithkit.cli.shared.options import printing
from faithkit.cli.shared.streams import Verb, say, tell
from faithkit.errors import FaithkitError

BROKEN = "broken"


@click.command(cls=Verb)
@printing
def command(as_json: bool) -> None:
    """List the datasets that --data knows by name.

    The embedded ones need neither file nor network. Those of faithkit-paper are looked for in the folder
    that the environment variable FAITHKIT_DATA names (as NAME.csv.gz), then in the user's cache, and are
    downloaded into it when first used.
    """
    from faithkit.inputs.datasets import PLACES, dataset_names, dataset_summary

    rows = [(name, _place(name), dataset_summary(name)) for name in dataset_names()]
    rows.sort(key=lambda row: [*PLACES, BROKEN].index(row[1]))
    if as_json:
        keys = ("name", "place", "summary")
        say(json.dumps([dict(zip(keys, row, strict=True)) for row in rows], indent=2))
        return
    width = max((len(name) for name, *_ in rows), default=0)
    for place in dict.fromkeys(place for _, place, _ in rows):
        say(place)
        for name, _, summary in (row for row in rows if row[1] == place):
            say(f"  {name:<{width}}  {summary}")


def _place(name: str) -> str:
    from faithkit.inputs.datasets import dataset_place

    try:
        return dataset_place(name)
    except FaithkitError as error:  # one that is broken hides no other
        tell(f"warning: {error}")
        return BROKEN
