"""`faithkit evaluate`: explain a sample and measure how faithful the explanations are."""

from typing import Any

import click

from faithkit.cli.delivery import FORMATS, deliver
from faithkit.cli.options import (
    asking,
    check_components,
    configured_backend,
    discretizing,
    explaining,
    loading,
    measuring,
    output,
    running,
    warn_on_stderr,
)
from faithkit.cli.places import check_paths, placed
from faithkit.cli.streams import Verb

LOADING = (
    "data",
    "target",
    "columns",
    "text",
    "model",
    "trust_pickle",
    "trust_types",
    "background",
    "samples",
)
INPUTS = ("data", "model", "background")


@click.command(cls=Verb)
@loading
@explaining
@discretizing
@measuring
@click.option(
    "--reference", metavar="FILE", callback=placed, help="An earlier sample, to see what has drifted since."
)
@asking
@running
@output
def command(
    seed: int,
    backend: str | None,
    scheduler: str | None,
    reference: str | None,
    by: str | None,
    violations: int | None,
    fail_under: dict[str, float],
    **options: Any,
) -> None:
    """Measure how faithful a model's explanations are.

    Without --data and --model it runs at once, offline, on an embedded dataset and a model trained on
    the spot.
    """
    from faithkit.inputs.situation import prepare, read_like
    from faithkit.run.api import evaluate
    from faithkit.run.findings import Findings

    warn_on_stderr()
    check_components(options)
    inputs = [reference, *(options[name] for name in INPUTS)]
    paths = check_paths({name: options.pop(name) for name in FORMATS}, inputs)
    loaded = {name: options.pop(name) for name in LOADING}
    situation = prepare(seed=seed, by=by, **loaded)
    earlier = None if reference is None else read_like(situation.X, reference, loaded["text"])
    with configured_backend(backend, scheduler):
        result = evaluate(
            situation.model,
            situation.X,
            background=situation.background,
            seed=seed,
            progress=True,
            **options,
        )
        before = None if earlier is None else result.on(earlier)
        found = Findings.of(result, violations, situation.groups, before)
    deliver(found, paths, fail_under)
