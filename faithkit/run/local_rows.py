"""One row measured against those in memory: a row of the sample, or a new one."""

from collections.abc import Mapping
from typing import Any

import numpy as np

from faithkit.errors import InputError
from faithkit.inputs.rows import check_row
from faithkit.measure.explanations import Explanations
from faithkit.measure.instance import Local, local, local_from_counts
from faithkit.measure.relations import SameExplanation
from faithkit.measure.tally import RowCount
from faithkit.measure.unequal.counting import UnequalCount
from faithkit.measure.unequal.instance import local_of
from faithkit.measure.witnesses import LocalResult
from faithkit.run.contradictions import witness
from faithkit.run.discretizing import discretize
from faithkit.run.held import all_held, held
from faithkit.run.readable import cells_of, readable
from faithkit.run.setup import Setup


def local_row(row: Any, counts: Mapping[str, RowCount], classes: list[Any], setup: Setup) -> LocalResult:
    """Measure a row of the sample by its number, or a new one; `classes` are the labels by their codes."""
    if isinstance(row, int | np.integer):
        return _of_sample(int(row), counts, classes, setup)
    return _new(row, counts, classes, setup)


def _of_sample(given: int, counts: Mapping[str, RowCount], classes: list[Any], setup: Setup) -> LocalResult:
    counted = counts["consistency"]
    n = len(counted.sample)
    if not -n <= given < n:
        raise InputError(f"there is no row {given}: the sample has rows 0 to {n - 1}.")
    row = given % n
    found = {name: _counted_row(one, row, setup.confidence) for name, one in counts.items()}
    seen = witness(counted, classes, row)
    same = np.flatnonzero(counted.owned == counted.owned[row])
    return LocalResult(
        prediction=seen.prediction,
        explanation=readable(counted.sample.explanations, row, setup.discretizer.instance),
        consistency=found["consistency"],
        sufficiency=found.get("sufficiency"),
        shared_by=tuple(same[same != row].tolist()),
        cells=seen.cells,
    )


def _new(row: Any, counts: Mapping[str, RowCount], classes: list[Any], setup: Setup) -> LocalResult:
    if setup.system is None:
        raise InputError(
            "a new row needs the model and the explainer, and a score has neither: give an index."
        )
    check_row(row)
    one = discretize(setup.discretizer, setup.system.explain_one(row))
    label = setup.system.job.predictor.predict(row).tolist()[0]
    same = np.array([known == label for known in classes])
    found = {name: _checked(counted, one, same, setup.confidence) for name, counted in counts.items()}
    return LocalResult(
        prediction=label,
        explanation=readable(one, 0, setup.discretizer.instance),
        consistency=found["consistency"],
        sufficiency=found.get("sufficiency"),
        shared_by=tuple(held(SameExplanation(), counts["consistency"].sample, one).tolist()),
        cells=cells_of(row, 0),
    )


def _counted_row(counted: RowCount, row: int, confidence: float) -> Local:
    """Look a row of the sample up in what was counted."""
    if not isinstance(counted, UnequalCount):
        return local(counted, row, confidence)
    rows = all_held(counted, counted.sample.explanations.take([row]))
    return local_of(rows, counted.labels == counted.labels[row], counted.design, row, confidence)


def _checked(counted: RowCount, one: Explanations, same: np.ndarray, confidence: float) -> Local:
    """Check the explanation of a new row against the sample, and the pool where there is one.

    `same` says which labels are that of the row.
    """
    if isinstance(counted, UnequalCount):
        return local_of(all_held(counted, one), same[counted.labels], counted.design, None, confidence)
    N = A = 0
    for sample, codes in ((counted.sample, counted.labels), *(counted.pool or ())):
        rows = held(counted.relation, sample, one)
        N, A = N + len(rows), A + int(same[codes[rows]].sum())
    return local_from_counts(N, A, 0, confidence)
