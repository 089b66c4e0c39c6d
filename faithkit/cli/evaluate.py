"""`faithkit evaluate`: explain a sample and measure how faithful the explanations are."""

from collections.abc import Callable
from typing import TYPE_CHECKING, Any

import click

from faithkit.cli.shared.delivery import check_outputs, deliver, needed_diagnostics
from faithkit.cli.shared.gates import (
    GatedVerb,
    check_reference,
    combine_margins,
    limit_options,
    reference_option,
)
from faithkit.cli.shared.options import (
    check_components,
    detail_options,
    diagnose_option,
    discretizer_option,
    explainer_option,
    gated_output_options,
    id_option,
    input_options,
    measure_options,
    prediction_options,
    prepare_inputs,
    running_options,
    use_backend,
)
from faithkit.cli.shared.origin import add_origin
from faithkit.errors import InputError

if TYPE_CHECKING:
    from faithkit.inputs.evaluation_inputs import EvaluationInputs
    from faithkit.run.evaluation import Evaluation

EXAMPLES = """\b
Examples:
  faithkit evaluate --explainer shap --discretize 1fp
  faithkit evaluate --data loans --model tree --explainer tree --violations 3
  faithkit evaluate --explainer tree --out report.html --fail-under consistency=0.8"""


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
    **options: Any,
) -> None:
    """Measure how faithful a model's explanations are.

    Without --data and --model it runs at once, offline, on embedded applications for loans and a model
    trained on the spot.
    """
    from faithkit.run.api import evaluate
    from faithkit.run.comparisons.reference import check_comparable
    from faithkit.run.evaluation_report import EvaluationReport

    check_reference(reference, limits)
    check_components(options)
    outputs = check_outputs(**output)
    prepared = prepare_inputs(inputs, options, by=by, id=id)
    measure_reference = None
    if reference is not None:
        measure_reference = _read_reference(reference, prepared, inputs["text"], options)
    with use_backend(**workers):
        result = evaluate(**prepared.evaluation_arguments(), ids=prepared.ids, **options)
        result = add_origin(result, inputs, prepared).with_origin(columns=_model_columns(prepared))
        reference_result = None if measure_reference is None else measure_reference(result)
        if reference_result is not None:
            check_comparable(result, reference_result)
        report = EvaluationReport.of(
            result,
            violations,
            prepared.groups,
            reference_result,
            combine_margins(limits),
            needed_diagnostics(diagnostics, outputs),
            by_label,
        )
    deliver(report, outputs, limits)


def _read_reference(
    path: str, prepared: "EvaluationInputs", text: str | None, options: dict[str, Any]
) -> "Callable[[Evaluation], Evaluation]":
    """Load or read a reference, and return a function that measures it as the result was measured."""
    from faithkit.run.comparisons.reference import check_saved_columns, is_saved_result, load_reference

    if is_saved_result(path):
        saved_result = load_reference(path, has_background=prepared.background is not None, **options)
        check_saved_columns(saved_result, _model_columns(prepared), is_log=False)
        return lambda result: saved_result
    design = (prepared.weights, prepared.clusters, prepared.blocks)
    if any(column is not None for column in design):
        raise InputError(
            "the rows of --reference have no weights, clusters or blocks, and those of the sample have: "
            "give the result of the reference, which --out writes, instead of its rows."
        )
    rows = prepared.read_like(path, text)
    return lambda result: result.on(rows)


def _model_columns(prepared: "EvaluationInputs") -> tuple[str, ...] | None:
    """Return the names of the columns that the model reads; None for texts and images."""
    from faithkit.inputs.models.model_columns import select_model_columns

    X = select_model_columns(prepared.model, prepared.X)
    return tuple(map(str, X.columns)) if hasattr(X, "columns") else None
