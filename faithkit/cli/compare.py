"""`faithkit compare`: several explainers and discretizers on the same rows, and which may be the best."""

from typing import Any

import click

from faithkit.cli.delivery import FORMATS, deliver
from faithkit.cli.evaluate import INPUTS, LOADING
from faithkit.cli.options import (
    check_components,
    configured_backend,
    loading,
    measuring,
    output,
    running,
    warn_on_stderr,
)
from faithkit.cli.places import check_paths
from faithkit.cli.streams import Verb


@click.command(cls=Verb)
@loading
@click.option(
    "--explainer",
    "explainers",
    multiple=True,
    required=True,
    metavar="NAME",
    help="A name, or name:param=value,…; give several.",
)
@click.option(
    "--discretize",
    "discretizers",
    multiple=True,
    default=("original",),
    show_default=True,
    metavar="NAME",
    help="What makes two explanations equal; give several.",
)
@measuring
@running
@output
def command(seed: int, backend: str | None, scheduler: str | None, **options: Any) -> None:
    """Compare explainers and discretizers on the same rows and predictions.

    Every explainer explains once. Differences are paired; what the sample cannot tell from the best is
    marked as the best, too.
    """
    from faithkit.inputs.situation import prepare
    from faithkit.run.api import compare

    warn_on_stderr()
    check_components(options)
    inputs = [options[name] for name in INPUTS]
    paths = check_paths({name: options.pop(name) for name in FORMATS}, inputs)
    situation = prepare(seed=seed, **{name: options.pop(name) for name in LOADING})
    with configured_backend(backend, scheduler):
        found = compare(
            situation.model, situation.X, background=situation.background, seed=seed, progress=True, **options
        )
    deliver(found, paths)
