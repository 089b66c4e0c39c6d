"""`faithkit local`: one instance, its explanation, and whether it can be believed."""

import json
from typing import Any

import click

from faithkit.cli.delivery import escaped, hand_over
from faithkit.cli.evaluate import LOADING
from faithkit.cli.options import (
    check_components,
    confidence,
    configured_backend,
    debug,
    discretizing,
    explaining,
    loading,
    relating,
    running,
    warn_on_stderr,
)
from faithkit.cli.streams import Verb, say


@click.command(cls=Verb)
@click.option(
    "--row", type=click.IntRange(min=0), required=True, metavar="N", help="The row of the sample, from 0."
)
@loading
@explaining
@discretizing
@relating
@confidence
@running
@click.option("--json", "as_json", is_flag=True, help="As JSON on stdout.")
@debug
def command(
    row: int, seed: int, backend: str | None, scheduler: str | None, as_json: bool, **options: Any
) -> None:
    """Measure the explanation of one row, against all rows of the sample."""
    from faithkit.inputs.situation import prepare
    from faithkit.report.text import local_text
    from faithkit.run.api import evaluate

    warn_on_stderr()
    check_components(options)
    situation = prepare(seed=seed, **{name: options.pop(name) for name in LOADING})
    with configured_backend(backend, scheduler):
        result = evaluate(
            situation.model, situation.X, background=situation.background, seed=seed, progress=True, **options
        )
    found = result.local(row)
    if as_json:
        text = json.dumps(found.to_dict(), indent=2, ensure_ascii=False, allow_nan=False)
        hand_over("json_path", escaped(text) + "\n")
    else:
        say(local_text(found, row), end="")
