"""`faithkit evaluate`: explain a sample and measure how faithful the explanations are."""

from typing import Any

import attrs
import click

from faithkit.cli.shared.delivery import deliver, needed_diagnostics
from faithkit.cli.shared.gate_options import check_reference, margins
from faithkit.cli.shared.junit_option import GatedVerb
from faithkit.cli.shared.options import (
    check_components,
    detail_options,
    diagnose_option,
    discretizer_option,
    explainer_option,
    gated_output_options,
    id_option,
    input_options,
    limit_options,
    measure_options,
    prediction_options,
    reference_option,
    running_options,
    use_backend,
)
from faithkit.cli.shared.origin import build_origin, origin_options
from faithkit.cli.shared.paths import check_paths
from faithkit.errors import InputError

EXAMPLES = """\b
Examples:
  faithkit evaluate --explainer shap --discretize 1fp
  faithkit evaluate --data loans --model tree --explainer tree --violations 3
  faithkit evaluate --explainer tree --html report.html --fail-under consistency=0.8"""


@click.command(cls=GatedVerb, epilog=EXAMPLES)
@explainer_option
@input_options
@discretizer_option
@measure_options
@prediction_options
@diagnose_option
@reference_option
@detail_options
@id_option
@limit_options
@running_options
@origin_options
@gated_output_options
def command(
    inputs: dict[str, Any],
    workers: dict[str, Any],
    output: dict[str, Any],
    diagnostics: Any,
    reference: str | None,
    by: str | None,
    by_label: bool,
    violations: int | None,
    id: str | None,
    limits: dict[str, Any],
    origin: dict[str, Any],
    **options: Any,
) -> None:
    """Measure how faithful a model's explanations are.

    Without --data and --model it runs at once, offline, on an embedded dataset and a model trained on
    the spot.
    """
    from faithkit.inputs.evaluation_inputs import prepare
    from faithkit.inputs.predictions.outcome import parse_outcome
    from faithkit.run.api import evaluate
    from faithkit.run.comparisons.reference import check_comparable, is_saved_result, load_reference
    from faithkit.run.evaluation_report import EvaluationReport

    check_reference(reference, limits)
    check_components(options)
    paths = check_paths(output)
    outcome, *_ = parse_outcome(options["outcome"], options["agree"], options["range"])
    evaluation_inputs = prepare(by=by, id=id, outcome=outcome, **inputs)
    saved_result = reference_rows = None
    if reference is not None and is_saved_result(reference):
        saved_result = load_reference(
            reference, has_background=evaluation_inputs.background is not None, **options
        )
    elif reference is not None:
        if any(
            column is not None
            for column in (evaluation_inputs.weights, evaluation_inputs.clusters, evaluation_inputs.blocks)
        ):
            raise InputError(
                "the rows of --reference have no weights, clusters or blocks, and those of the sample have: "
                "give the result of the reference, which --json writes, instead of its rows."
            )
        reference_rows = evaluation_inputs.read_like(reference, inputs["text"])
    with use_backend(**workers):
        result = evaluate(**evaluation_inputs.evaluation_arguments(), ids=evaluation_inputs.ids, **options)
        result = attrs.evolve(
            result,
            origin=build_origin(origin, inputs["data"], inputs["model"], evaluation_inputs.is_held_out),
        )
        result = result if evaluation_inputs.target is None else result.with_target(evaluation_inputs.target)
        reference_result = saved_result if reference_rows is None else result.on(reference_rows)
        if reference_result is not None:
            check_comparable(result, reference_result)
        report = EvaluationReport.of(
            result,
            violations,
            evaluation_inputs.groups,
            reference_result,
            margins(limits),
            needed_diagnostics(diagnostics, paths),
            by_label,
        )
    deliver(report, paths, limits)
