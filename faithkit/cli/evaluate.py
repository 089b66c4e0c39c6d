"""`faithkit evaluate`: explain a sample and measure how faithful the explanations are."""

from typing import Any

import click

from faithkit.cli.shared.delivery import deliver
from faithkit.cli.shared.gate_options import check_reference, margins
from faithkit.cli.shared.junit_option import GatedVerb
from faithkit.cli.shared.options import (
    asking,
    begin,
    configured_backend,
    diagnosing,
    discretizing,
    explaining,
    judged_output,
    judging,
    loading,
    measuring,
    naming,
    predicting,
    referring,
    running,
)
from faithkit.cli.shared.paths import check_paths
from faithkit.errors import InputError


@click.command(cls=GatedVerb)
@loading
@explaining
@predicting
@discretizing
@measuring
@diagnosing
@referring
@asking
@naming
@judging
@running
@judged_output
def command(
    loading: dict[str, Any],
    workers: dict[str, Any],
    output: dict[str, Any],
    diagnostics: Any,
    reference: str | None,
    by: str | None,
    violations: int | None,
    id: str | None,
    limits: dict[str, Any],
    **options: Any,
) -> None:
    """Measure how faithful a model's explanations are.

    Without --data and --model it runs at once, offline, on an embedded dataset and a model trained on
    the spot.
    """
    from faithkit.inputs.evaluation_inputs import prepare
    from faithkit.inputs.predictions.outcome import checked
    from faithkit.run.api import evaluate
    from faithkit.run.comparisons.reference import check_alike, is_saved, saved_reference
    from faithkit.run.evaluation_report import EvaluationReport

    check_reference(reference, limits)
    begin(options)
    paths = check_paths(output)
    kind, *_ = checked(options["outcome"], options["agree"], options["range"])
    situation = prepare(by=by, id=id, outcome=kind, **loading)
    saved = earlier = None
    if reference is not None and is_saved(reference):
        saved = saved_reference(reference, taught=situation.background is not None, **options)
    elif reference is not None:
        if situation.weights is not None or situation.clusters is not None:
            raise InputError(
                "the rows of --reference have no weights or clusters, and those of the sample have: give the "
                "result of the reference, which --json writes, instead of its rows."
            )
        earlier = situation.read_like(reference, loading["text"])
    with configured_backend(**workers):
        result = evaluate(**situation.question(), ids=situation.ids, **options)
        before = saved if earlier is None else result.on(earlier)
        if before is not None:
            check_alike(result, before)
        found = EvaluationReport.of(
            result, violations, situation.groups, before, margins(limits), diagnostics
        )
    deliver(found, paths, limits)
