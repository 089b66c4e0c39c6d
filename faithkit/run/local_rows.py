"""One row measured against those in memory: a row of the sample, or a new one."""

from collections.abc import Mapping
from typing import Any

import attrs
import numpy as np

from faithkit.errors import InputError
from faithkit.inputs.models.columns import seen_by
from faithkit.inputs.objects.conversion import as_rows
from faithkit.inputs.predictions.labels import Labels, encode
from faithkit.inputs.rows import check_row
from faithkit.measure.arrays import Floats
from faithkit.measure.counting import CellCount
from faithkit.measure.explanations import Explanations
from faithkit.measure.instance import Local, local, local_from_agreement, local_from_counts, local_of_units
from faithkit.measure.owners import Counts
from faithkit.measure.predicted import predicted
from faithkit.measure.relations import SameExplanation
from faithkit.measure.tally import RowCount
from faithkit.measure.witnesses import LocalResult
from faithkit.run.contradictions import witness
from faithkit.run.discretizing import discretize
from faithkit.run.held import all_held, held, held_labels
from faithkit.run.readable import cells_of, readable
from faithkit.run.setup import Setup


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
    found = {name: _checked(counted, one, label, known, setup.confidence) for name, counted in counts.items()}
    return LocalResult(
        prediction=label,
        explanation=readable(one, 0, setup.discretizer.instance),
        consistency=found["consistency"],
        sufficiency=found.get("sufficiency"),
        shared_by=tuple(held(SameExplanation(), counts["consistency"].sample, one).tolist()),
        cells=cells_of(row, 0),
    )


def _counted_row(counted: RowCount, row: int, known: Labels, confidence: float) -> Local:
    """Look a row of the sample up in what was counted."""
    one, label = counted.sample.explanations.take([row]), int(counted.labels[row])
    if isinstance(counted, CellCount):
        return _unequal(counted, one, counted.agreement.apart(label, counted.labels), known, row, confidence)
    if counted.agreement.is_whole:
        found = local(counted, row, confidence)
        return attrs.evolve(found, numbers=_of_others(counted, one, row, known))
    apart = counted.agreement.apart(label, np.arange(counted.n_labels))
    return _by_distance(counted, one, apart, known, row, confidence)


def _checked(counted: RowCount, one: Explanations, label: Any, known: Labels, confidence: float) -> Local:
    """Check the explanation of a new row against the sample, and the pool where there is one."""
    apart = known.apart_from(label, _pool_codes(counted))
    same = apart == 0
    if isinstance(counted, CellCount):
        return _unequal(counted, one, apart[counted.labels] / counted.scale, known, None, confidence)
    if not counted.agreement.is_whole:
        return _by_distance(counted, one, apart, known, None, confidence)
    codes = held_labels(counted, one)
    found = local_from_counts(len(codes), int(same[codes].sum()), 0, confidence)
    return attrs.evolve(found, numbers=_of_others(counted, one, None, known))


def _pool_codes(counted: RowCount) -> Counts | None:
    if isinstance(counted, CellCount) and counted.more:
        return counted.labels[len(counted.place) :]
    return None if counted.pool is None else counted.pool.codes


def _unequal(
    counted: CellCount, one: Explanations, apart: Floats, known: Labels, row: int | None, confidence: float
) -> Local:
    """Measure where rows have weights or clusters; those of the row's own cluster are no others."""
    rows, unit, is_whole = all_held(counted, one), counted.design.unit, counted.agreement.is_whole
    found = local_of_units(rows, apart, counted.design, row, confidence, is_whole)
    others = rows if row is None else rows[unit[rows] != unit[row]]
    return attrs.evolve(found, numbers=_numbers(known, counted.labels[others]))


def _by_distance(
    counted: RowCount, one: Explanations, apart: Floats, known: Labels, row: int | None, confidence: float
) -> Local:
    """Measure by how far predictions are apart."""
    itself = row is not None and bool(counted.reflexive[row])
    found = local_from_agreement(apart[held_labels(counted, one)], itself, confidence)
    return attrs.evolve(found, numbers=_of_others(counted, one, row, known))


def _of_others(counted: RowCount, one: Explanations, row: int | None, known: Labels) -> Any:
    """Summarise the predictions of the others for whom an explanation holds, if they are numbers."""
    return _numbers(known, held_labels(counted, one, row)) if known.outcome.is_numeric else None


def _numbers(known: Labels, codes: Counts) -> Any:
    return predicted(known.classes, codes) if known.outcome.is_numeric else None
