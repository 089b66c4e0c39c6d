"""`faithkit datasets`: list the datasets that `--data` knows by name, and where each one is."""

import json

import click

from faithkit.cli.shared.options import print_options
from faithkit.cli.shared.streams import print_message, print_result
from faithkit.cli.shared.verb import Verb
from faithkit.errors import FaithkitError

BROKEN = "broken"


@click.command(cls=Verb)
@print_options
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
        print_result(json.dumps([dict(zip(keys, row, strict=True)) for row in rows], indent=2))
        return
    width = max((len(name) for name, *_ in rows), default=0)
    for place in dict.fromkeys(place for _, place, _ in rows):
        print_result(place)
        for name, _, summary in (row for row in rows if row[1] == place):
            print_result(f"  {name:<{width}}  {summary}")


def _place(name: str) -> str:
    from faithkit.inputs.datasets import dataset_place

    try:
        return dataset_place(name)
    except FaithkitError as error:  # a broken dataset must not hide the others
        print_message(f"warning: {error}")
        return BROKEN
