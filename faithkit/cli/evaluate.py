"""`faithkit evaluate`: explain a sample and measure how faithful the explanations are."""

from typing import TYPE_CHECKING, Any

import click

from faithkit.cli.shared.delivery import check_outputs, deliver
from faithkit.cli.shared.options import (
    check_components,
    detail_options,
    diagnose_option,
    discretizer_option,
    explainer_option,
    id_option,
    input_options,
    measure_options,
    prediction_options,
    prepare_inputs,
    result_options,
    running_options,
)
from faithkit.cli.shared.origin import add_origin
from faithkit.cli.shared.verb import Verb

if TYPE_CHECKING:
    from faithkit.inputs.evaluation_inputs import EvaluationInputs

EXAMPLES = """\b
Examples:
  faithkit evaluate --explainer shap --discretize 1fp
  faithkit evaluate --data loans --model tree --explainer tree --contradictions 3
  faithkit evaluate --explainer tree --out report.html --out result.json"""


@click.command(cls=Verb, epilog=EXAMPLES)
@explainer_option
@input_options
@discretizer_option
@measure_options
@prediction_options
@diagnose_option
@detail_options
@id_option
@running_options
@result_options
def command(
    inputs: dict[str, Any],
    output: dict[str, Any],
    by: str | None,
    by_label: bool,
    contradictions: int | None,
    id: str | None,
    **options: Any,
) -> None:
    """Measure how faithful a model's explanations are.

    Without --data and --model it runs at once, offline, on embedded applications for loans and a model
    trained on the spot.
    """
    from faithkit.run.api import evaluate
    from faithkit.run.evaluation_report import EvaluationReport

    check_components(options)
    outputs = check_outputs(**output)
    prepared = prepare_inputs(inputs, options, by=by, id=id)
    result = evaluate(**prepared.evaluation_arguments(), ids=prepared.ids, **options)
    result = add_origin(result, inputs, prepared).with_origin(columns=_model_columns(prepared))
    report = EvaluationReport.of(result, contradictions, prepared.groups, by_label)
    deliver(report, outputs)


def _model_columns(prepared: "EvaluationInputs") -> tuple[str, ...] | None:
    """Return the names of the columns that the model reads; None for texts and images."""
    from faithkit.inputs.models.model_columns import select_model_columns

    X = select_model_columns(prepared.model, prepared.X)
    return tuple(map(str, X.columns)) if hasattr(X, "columns") else None
