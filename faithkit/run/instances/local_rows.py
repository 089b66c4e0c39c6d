"""Measure one row against the rows in memory: a row of the sample, or a new one."""

from collections.abc import Mapping
from typing import Any

import attrs
import numpy as np

from faithkit.arrays import Floats, Ints
from faithkit.errors import InputError
from faithkit.explanations.explanations import Explanations
from faithkit.explanations.relations import SameExplanation
from faithkit.inputs.models.model_columns import select_model_columns
from faithkit.inputs.objects.conversion import as_rows
from faithkit.inputs.predictions.labels import Labels, encode
from faithkit.inputs.rows import check_row
from faithkit.measure.counting.block_count import BlockCount
from faithkit.measure.counting.cell_count import CellCount
from faithkit.measure.counting.tally import RowCount
from faithkit.measure.local_estimate import LocalEstimate, measure_instance, summarise_predictions
from faithkit.measure.witnesses import LocalResult
from faithkit.run.components.discretization import discretize
from faithkit.run.components.setup import Setup
from faithkit.run.instances.readable_rows import cells_of, format_explanation
from faithkit.run.instances.violations import rows_and_labels_in_scope, rows_in_scope, witness


def measure_row(row: Any, counts: Mapping[str, RowCount], labels: Labels, setup: Setup) -> LocalResult:
    """Measure a row of the sample by its number, or a new one; `labels` are the sample's predictions."""
    if isinstance(row, int | np.integer):
        return _measure_sample_row(int(row), counts, labels, setup)
    return _measure_new_row(as_rows(row), counts, labels, setup)


def _measure_sample_row(
    index: int, counts: Mapping[str, RowCount], labels: Labels, setup: Setup
) -> LocalResult:
    counted = counts["consistency"]
    n = len(counted.sample)
    if not -n <= index < n:
        raise InputError(f"there is no row {index}: the sample has rows 0 to {n - 1}.")
    row = index % n
    estimates = {
        measure: _estimate_sample_row(count, row, labels, setup.confidence)
        for measure, count in counts.items()
    }
    row_witness = witness(counted, labels.classes, row)
    sharing = np.flatnonzero(counted.owned == counted.owned[row])
    return LocalResult(
        prediction=row_witness.prediction,
        explanation=format_explanation(counted.sample.explanations, row, setup.discretizer.instance),
        consistency=estimates["consistency"],
        sufficiency=estimates.get("sufficiency"),
        shared_by=tuple(sharing[sharing != row].tolist()),
        cells=row_witness.cells,
    )


def _measure_new_row(row: Any, counts: Mapping[str, RowCount], labels: Labels, setup: Setup) -> LocalResult:
    if isinstance(counts["consistency"], BlockCount):
        raise InputError(
            "a new row has no block, and rows are compared only within blocks: give the index of a row of "
            "the sample."
        )
    if setup.system is None:
        raise InputError(
            "a new row needs the model and the explainer, and a score has neither: give an index."
        )
    row = select_model_columns(setup.system.job.predictor, check_row(row), "the new row")
    sample = counts["consistency"].sample
    explanation = discretize(setup.discretizer, setup.system.explain_row(row).like(sample.explanations))
    label = encode(setup.system.job.predictor.answers(row, setup.outcome), setup.outcome).classes[0]
    estimates = {
        measure: _estimate_new_row(counted, explanation, label, labels, setup.confidence)
        for measure, counted in counts.items()
    }
    return LocalResult(
        prediction=label,
        explanation=format_explanation(explanation, 0, setup.discretizer.instance),
        consistency=estimates["consistency"],
        sufficiency=estimates.get("sufficiency"),
        shared_by=tuple(rows_in_scope(SameExplanation(), sample, explanation).tolist()),
        cells=cells_of(row, 0),
    )


def _estimate_sample_row(counted: RowCount, row: int, labels: Labels, confidence: float) -> LocalEstimate:
    """Check the explanation of a row of the sample against the other rows."""
    code = int(counted.labels[row])
    rows, codes = rows_and_labels_in_scope(counted, counted.sample.explanations.take([row]))
    disagreement = counted.agreement.disagreement(code, codes)
    return _local_estimate(counted, rows, codes, disagreement, row, labels, confidence)


def _estimate_new_row(
    counted: RowCount, explanation: Explanations, label: Any, labels: Labels, confidence: float
) -> LocalEstimate:
    """Check the explanation of a new row against the sample, and against the pool if there is one."""
    rows, codes = rows_and_labels_in_scope(counted, explanation)
    pool_codes = [piece_codes for _, piece_codes in counted.pieces()][1:]
    disagreement = labels.disagreement_with(label, np.concatenate(pool_codes) if pool_codes else None)
    return _local_estimate(
        counted, rows, codes, (disagreement / counted.scale)[codes], None, labels, confidence
    )


def _local_estimate(
    counted: RowCount,
    rows: Ints,
    codes: Ints,
    disagreement: Floats,
    row: int | None,
    labels: Labels,
    confidence: float,
) -> LocalEstimate:
    design = counted.design if isinstance(counted, CellCount) else None
    estimate = measure_instance(rows, disagreement, row, design, confidence, counted.agreement.is_binary)
    if not labels.outcome.is_numeric:
        return estimate
    units = rows if design is None else design.unit[rows]
    row_unit = row if design is None or row is None else design.unit[row]
    other_codes = codes if row_unit is None else codes[units != row_unit]
    return attrs.evolve(estimate, numbers=summarise_predictions(labels.classes, other_codes))
