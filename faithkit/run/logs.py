"""Score a log on disk: in pieces where that gives the same numbers, else in memory."""

from typing import Any

import attrs
import numpy as np

from faithkit.errors import FaithkitError
from faithkit.inputs.logs import Log, ParquetLog
from faithkit.measure.cells import Cells
from faithkit.measure.relations import Relation, SameExplanation
from faithkit.run.api import checked_options, score
from faithkit.run.components import Given, component
from faithkit.run.evaluation import Evaluation
from faithkit.run.findings import Findings
from faithkit.run.log_evaluation import LogEvaluation, learns_from_rows, predictions_of, rows_of
from faithkit.run.passes import FirstPass, Reading
from faithkit.run.pipeline import applicability, learns
from faithkit.run.provenance import Provenance


def score_log(log: Log | ParquetLog, violations: int | None = None, **options: Any) -> Findings:
    """Measure a log, with its groups where it names some; `options` are those of `score`."""
    if isinstance(log, ParquetLog):
        result = score_in_pieces(log, **options)
        if result is not None:
            return Findings.of(result, violations, log.roles.by)
        log = log.read()
    held = score(log.predictions, log.explanations, X=log.X, **options)
    return Findings.of(held, violations, log.groups)


def score_in_pieces(
    log: ParquetLog,
    discretizer: Any = "original",
    relation: Any = None,
    estimator: Any = "leave-one-out",
    confidence: float = 0.95,
    permutations: int = 0,
) -> Evaluation | None:
    """Measure a log piece by piece; None where something needs all of its rows at once.

    That is a discretizer or a relation that learns from them, a permutation test, and another relation than
    equality inside groups.
    """
    confidence, permutations = checked_options(confidence, permutations)
    chosen, scorer = component("discretizer", discretizer), component("estimator", estimator)
    if permutations or learns(chosen):
        return None
    example = log.roles.log(log.table.empty()).explanations
    named = relation or example.relation
    if named is not None and (log.roles.by is not None or _must_learn(named)):
        return None
    applies, why_not = applicability(relation, example, None)
    return _scored(Reading(log, chosen), applies, why_not, relation is not None, scorer, confidence)


def _scored(
    reading: Reading,
    applies: Relation | None,
    why_not: str | None,
    relation_given: bool,
    estimator: Given,
    confidence: float,
) -> LogEvaluation:
    found = FirstPass(reading, SameExplanation()).run()
    if reading.discretizer.text == "original":
        found = _as_floats(found)
    return LogEvaluation(
        **rows_of(predictions_of(found)),
        reading=reading,
        grouped_cells=None if reading.log.roles.by is None else found,
        estimator=estimator,
        confidence=confidence,
        permutations=0,
        seed=0,
        applies=applies,
        relation_given=relation_given,
        why_no_sufficiency=why_not,
        provenance=Provenance(None, reading.discretizer, background=None, model=None),
    )


def _must_learn(relation: Any) -> bool:
    try:
        return learns_from_rows(component("relation", relation).instance)
    except FaithkitError:  # `applicability` knows what to say
        return False


def _as_floats(cells: Cells) -> Cells:
    """Name explanations by their numbers as floats, where no integer among them is too large for that."""
    found = cells.explanations
    if found.kind != "vector" or found.identity is None or (np.abs(found.values) >= 2.0**53).any():
        return cells
    return attrs.evolve(cells, explanations=attrs.evolve(found, identity=None))
