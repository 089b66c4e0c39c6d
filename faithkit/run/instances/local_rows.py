"""Measure one row against the rows in memory: a row of the sample, or a new one."""

from collections.abc import Mapping
from typing import Any

import attrs
import numpy as np
from numpy.typing import NDArray

from faithkit.arrays import Floats, Ints
from faithkit.arrays.containers import take_rows
from faithkit.errors import InputError
from faithkit.explanations.explanations import Explanations
from faithkit.explanations.relations import SameExplanation
from faithkit.inputs.models.model_columns import select_model_columns
from faithkit.inputs.objects.conversion import as_rows
from faithkit.inputs.predictions.labels import Labels, encode
from faithkit.inputs.rows import check_row
from faithkit.measure.counting.count import Count
from faithkit.measure.counting.design import Design
from faithkit.measure.instances.local_estimate import LocalEstimate, measure_instance, summarise_predictions
from faithkit.measure.instances.local_result import LocalResult
from faithkit.measure.instances.rows import SampleRow
from faithkit.run.components.discretization import discretize
from faithkit.run.components.setup import Setup
from faithkit.run.instances.contradictions import (
    build_row,
    rows_and_labels_in_scope,
    rows_in_scope,
    shown_measure,
    view_scope,
)
from faithkit.run.instances.nearest_rows import measure_distances
from faithkit.run.instances.readable_rows import image_of, order_values, values_of

MAX_CONTRADICTIONS = 3
MAX_COMPARED = 1_000  # rows that are searched for the nearest


def measure_row(row: Any, counts: Mapping[str, Count], labels: Labels, setup: Setup) -> LocalResult:
    """Measure a row of the sample by its number, or a new one; `labels` are the sample's predictions."""
    consistency_count = counts["consistency"]
    sample, owned = consistency_count.sample, consistency_count.owned
    if isinstance(row, int | np.integer):
        number = _check_number(int(row), len(sample))
        instance = None if sample.X is None else take_rows(sample.X, [number])
        explanation, code = sample.explanations.take([number]), consistency_count.labels[number]
        label = labels.classes[code]
        scopes = {
            name: _Scope.of_sample_row(count, number, explanation, int(code))
            for name, count in counts.items()
        }
        sharing = np.flatnonzero((owned == owned[number]) & (np.arange(len(sample)) != number))
    else:
        number = None
        instance, explanation, label = _explain_new_row(as_rows(row), consistency_count, setup)
        scopes = {
            name: _Scope.of_new_row(count, explanation, label, labels) for name, count in counts.items()
        }
        sharing = rows_in_scope(SameExplanation(), sample, explanation)
    estimates = {name: scope.estimate(labels, setup.confidence) for name, scope in scopes.items()}
    image, measure = image_of(instance, 0), shown_measure(counts)
    view = view_scope(counts[measure].relation, explanation, setup, [str(label)], image)
    return LocalResult(
        prediction=label,
        explanation=view.text,
        consistency=estimates["consistency"],
        sufficiency=estimates.get("sufficiency"),
        shared_by=tuple(sharing.tolist()),
        values=order_values(values_of(instance, 0), view.named_columns),
        contradicted_by=scopes[measure].contradictions(instance, labels, view.named_columns),
        view=view,
        image=image,
        row=number,
    )


def _check_number(number: int, n: int) -> int:
    """Return the number of a row from 0 on; a negative one counts from the end."""
    if not -n <= number < n:
        raise InputError(f"there is no row {number}: the sample has rows 0 to {n - 1}.")
    return number % n


def _explain_new_row(row: Any, count: Count, setup: Setup) -> tuple[Any, Explanations, Any]:
    """Return a new row in the columns of the model, its explanation and its prediction."""
    if count.is_in_blocks:
        raise InputError(
            "a new row has no block, and rows are compared only within blocks: give the index of a row of "
            "the sample."
        )
    if setup.system is None:
        raise InputError(
            "a new row needs the model and the explainer, and a score has neither: give an index."
        )
    predictor = setup.system.job.predictor
    row = select_model_columns(predictor, check_row(row), "the new row")
    explanation = setup.system.explain_row(row).like(count.sample.explanations)
    label = encode(predictor.answers(row, setup.outcome), setup.outcome).classes[0]
    return row, discretize(setup.discretizer, explanation), label


@attrs.frozen(eq=False)
class _Scope:
    """The rows to which one explanation applies, their labels, and how far they disagree with its owner.

    `row` is the owner, or None for a new row.
    """

    counted: Count
    rows: Ints
    codes: Ints
    disagreement: Floats
    row: int | None

    @classmethod
    def of_sample_row(cls, count: Count, row: int, explanation: Explanations, label: int) -> "_Scope":
        """Find the rows to which the explanation of a row of the sample applies."""
        rows, codes = rows_and_labels_in_scope(count, explanation)
        if count.row_numbers is not None:
            row = int(np.flatnonzero(count.row_numbers == row)[0])
        return cls(count, rows, codes, count.agreement.disagreement(label, codes), row)

    @classmethod
    def of_new_row(cls, count: Count, explanation: Explanations, label: Any, labels: Labels) -> "_Scope":
        """Find the rows of the sample and of its pool to which the explanation of a new row applies."""
        rows, codes = rows_and_labels_in_scope(count, explanation)
        pool_codes = [piece_codes for _, piece_codes in count.pieces()][1:]
        disagreement = labels.disagreement_with(label, np.concatenate(pool_codes) if pool_codes else None)
        return cls(count, rows, codes, (disagreement / count.scale)[codes], None)

    @property
    def design(self) -> Design | None:
        """The weights and clusters of the rows."""
        return None if self.counted.design.is_equal else self.counted.design

    @property
    def is_other(self) -> NDArray[np.bool_]:
        """Which of the rows are neither the owner nor of its cluster."""
        if self.row is None:
            return np.ones(len(self.rows), dtype=bool)
        unit = None if self.design is None else self.design.unit
        return np.asarray(self.rows != self.row if unit is None else unit[self.rows] != unit[self.row])

    def estimate(self, labels: Labels, confidence: float) -> LocalEstimate:
        """Estimate the measure of the owner."""
        is_binary = self.counted.agreement.is_binary
        estimate = measure_instance(
            self.rows, self.disagreement, self.row, self.design, confidence, is_binary
        )
        if not labels.outcome.is_numeric:
            return estimate
        return attrs.evolve(
            estimate, numbers=summarise_predictions(labels.classes, self.codes[self.is_other])
        )

    def contradictions(self, instance: Any, labels: Labels, columns: list[str]) -> tuple[SampleRow, ...]:
        """Return the nearest rows of the sample that disagree; for numbers, those that disagree most.

        Their values in `columns` come first.
        """
        X = self.counted.sample.X
        positions = np.flatnonzero(
            self.is_other & (self.disagreement > 0) & (self.rows < len(self.counted.sample))
        )
        if not self.counted.agreement.is_binary:
            positions = positions[np.argsort(-self.disagreement[positions].round(9), kind="stable")]
        elif instance is not None and X is not None and len(positions):
            positions = positions[:MAX_COMPARED]
            distances = measure_distances(instance, take_rows(X, self.rows[positions]))[0]
            positions = positions[np.argsort(distances, kind="stable")]
        rows = self.rows[positions[:MAX_CONTRADICTIONS]]
        pair = [build_row(self.counted, labels.classes, row) for row in rows.tolist()]
        return tuple(attrs.evolve(row, values=order_values(row.values, columns)) for row in pair)
