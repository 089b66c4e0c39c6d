"""`faithkit evaluate`: explain a sample and measure how faithful the explanations are."""

from typing import Any

import click

from faithkit.cli.delivery import deliver
from faithkit.cli.options import (
    asking,
    begin,
    configured_backend,
    discretizing,
    explaining,
    loading,
    measuring,
    option,
    output,
    running,
)
from faithkit.cli.places import check_paths, placed
from faithkit.cli.streams import Verb


@click.command(cls=Verb)
@loading
@explaining
@discretizing
@measuring
@option(
    "--reference FILE",
    callback=placed,
    help="Measure this earlier sample, too, to see what has drifted since.",
)
@asking
@running
@output
def command(
    loading: dict[str, Any],
    workers: dict[str, Any],
    output: dict[str, Any],
    reference: str | None,
    by: str | None,
    adjust: str,
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

    begin(options)
    paths = check_paths(output)
    situation = prepare(by=by, **loading)
    earlier = None if reference is None else read_like(situation.X, reference, loading["text"])
    with configured_backend(**workers):
        result = evaluate(**situation.question(), **options)
        before = None if earlier is None else result.on(earlier)
        found = Findings.of(result, violations, situation.groups, before, adjust)
    deliver(found, paths, fail_under)
