"""One row measured against those in memory: a row of the sample, or a new one."""

from collections.abc import Mapping
from typing import Any

import attrs
import numpy as np

from faithkit.arrays import Floats, Ints
from faithkit.errors import InputError
from faithkit.explanations.explanations import Explanations
from faithkit.explanations.relations import SameExplanation
from faithkit.inputs.models.model_columns import seen_by
from faithkit.inputs.objects.conversion import as_rows
from faithkit.inputs.predictions.labels import Labels, encode
from faithkit.inputs.rows import check_row
from faithkit.measure.counting.cell_count import CellCount
from faithkit.measure.counting.tally import RowCount
from faithkit.measure.local_estimate import LocalEstimate, local
from faithkit.measure.prediction_codes import predicted
from faithkit.measure.witnesses import LocalResult
from faithkit.run.components.discretization import discretize
from faithkit.run.components.setup import Setup
from faithkit.run.instances.contradictions import witness
from faithkit.run.instances.readable_rows import cells_of, readable
from faithkit.run.instances.scope import all_held, held


def local_row(row: Any, counts: Mapping[str, RowCount], known: Labels, setup: Setup) -> LocalResult:
    """Measure a row of the sample by its number, or a new one; `known` are the predictions of the sample."""
    if isinstance(row, int | np.integer):
        return _of_sample(int(row), counts, known, setup)
    return _new(as_rows(row), counts, known, setup)


def _of_sample(given: int, counts: Mapping[str, RowCount], known: Labels, setup: Setup) -> LocalResult:
    counted = counts["consistency"]
    n = len(counted.sample)
    if not -n <= given < n:
        raise InputError(f"there is no row {given}: the sample has rows 0 to {n - 1}.")
    row = given % n
    found = {name: _counted_row(one, row, known, setup.confidence) for name, one in counts.items()}
    seen = witness(counted, known.classes, row)
    same = np.flatnonzero(counted.owned == counted.owned[row])
    return LocalResult(
        prediction=seen.prediction,
        explanation=readable(counted.sample.explanations, row, setup.discretizer.instance),
        consistency=found["consistency"],
        sufficiency=found.get("sufficiency"),
        shared_by=tuple(same[same != row].tolist()),
        cells=seen.cells,
    )


def _new(row: Any, counts: Mapping[str, RowCount], known: Labels, setup: Setup) -> LocalResult:
    if setup.system is None:
        raise InputError(
            "a new row needs the model and the explainer, and a score has neither: give an index."
        )
    row = seen_by(setup.system.job.predictor, check_row(row), "the new row")
    told = setup.system.explain_one(row).like(counts["consistency"].sample.explanations)
    one = discretize(setup.discretizer, told)
    label = encode(setup.system.job.predictor.answers(row, setup.outcome), setup.outcome).classes[0]
    found = {name: _new_row(counted, one, label, known, setup.confidence) for name, counted in counts.items()}
    return LocalResult(
        prediction=label,
        explanation=readable(one, 0, setup.discretizer.instance),
        consistency=found["consistency"],
        sufficiency=found.get("sufficiency"),
        shared_by=tuple(held(SameExplanation(), counts["consistency"].sample, one).tolist()),
        cells=cells_of(row, 0),
    )


def _counted_row(counted: RowCount, row: int, known: Labels, confidence: float) -> LocalEstimate:
    """Measure a row of the sample."""
    one, label = counted.sample.explanations.take([row]), int(counted.labels[row])
    rows, labels = all_held(counted, one)
    return _measured(counted, rows, labels, counted.agreement.apart(label, labels), row, known, confidence)


def _new_row(
    counted: RowCount, one: Explanations, label: Any, known: Labels, confidence: float
) -> LocalEstimate:
    """Check the explanation of a new row against the sample, and the pool where there is one."""
    rows, labels = all_held(counted, one)
    pool = [codes for _, codes in counted.pieces()][1:]
    apart = known.apart_from(label, np.concatenate(pool) if pool else None) / counted.scale
    return _measured(counted, rows, labels, apart[labels], None, known, confidence)


def _measured(
    counted: RowCount,
    rows: Ints,
    labels: Ints,
    apart: Floats,
    row: int | None,
    known: Labels,
    confidence: float,
) -> LocalEstimate:
    design = counted.design if isinstance(counted, CellCount) else None
    found = local(rows, apart, row, design, confidence, counted.agreement.is_whole)
    if not known.outcome.is_numeric:
        return found
    unit = rows if design is None else design.unit[rows]
    own = row if design is None or row is None else design.unit[row]
    others = labels if own is None else labels[unit != own]
    return attrs.evolve(found, numbers=predicted(known.classes, others))
