"""Score a log on disk: in pieces where that gives the same numbers, else in memory."""

from collections.abc import Mapping, Sequence
from typing import Any

import attrs

from faithkit.errors import FaithkitError
from faithkit.inputs.logs.log import Log
from faithkit.inputs.logs.parquet_log import ParquetLog
from faithkit.inputs.pools import PoolRows
from faithkit.run.api import score
from faithkit.run.comparisons.reference import check_alike, check_columns
from faithkit.run.components.discretization import learns
from faithkit.run.components.frozen import learnt_discretizer, learnt_relation
from faithkit.run.components.resolution import ResolvedComponent, component
from faithkit.run.components.setup import THE_SAMPLE, Applicability, Setup
from faithkit.run.evaluation import Evaluation
from faithkit.run.evaluation_report import EvaluationReport
from faithkit.run.pipeline import measured
from faithkit.run.populations.log_passes import LogReading
from faithkit.run.populations.on_disk import OnDisk, learns_from_rows
from faithkit.run.populations.sample_design import check_declared
from faithkit.run.populations.weighted_log import WeightedLog


def score_log(
    log: Log | ParquetLog,
    violations: int | None = None,
    pool: PoolRows | None = None,
    unexplained: str = "count",
    reference: Log | ParquetLog | Evaluation | None = None,
    allowed: Mapping[str, float] | None = None,
    diagnostics: Sequence[ResolvedComponent] | None = (),
    **options: Any,
) -> EvaluationReport:
    """Measure a log, with its groups where it names some; `options` are those of `score`.

    Rows without an explanation are counted as such, or are a "pool" for those that have one. An earlier log,
    the reference, is measured alike: what learns does so from it, for both.
    """
    taught = False
    if isinstance(reference, Log | ParquetLog):
        check_columns(log.roles, reference.roles)
        taught = learns(_way(options.get("discretizer")))
        reference, options = _learnt(reference, options)
        earlier = _scored(reference, None, unexplained, options)[0]
        reference = _having_learnt(THE_SAMPLE if taught else None, earlier)
    result, groups = _scored(log, pool, unexplained, options)
    result = _having_learnt("given" if taught else result.setup.learnt_from, result)
    if reference is not None:
        check_alike(result, reference)
    return EvaluationReport.of(result, violations, groups, reference, allowed, diagnostics)


def _learnt(reference: Log | ParquetLog, options: dict[str, Any]) -> tuple[Log | ParquetLog, dict[str, Any]]:
    """Let what learns do so from all of the reference, once; and return both as they are then."""
    way, relation = _way(options.get("discretizer")), options.get("relation")
    bound = relation is not None and _must_learn(relation)
    if not bound and not learns(way):
        return reference, options
    held = reference.read() if isinstance(reference, ParquetLog) else reference
    learnt = {"discretizer": learnt_discretizer(way, held.explanations)}
    return held, options | learnt | ({"relation": learnt_relation(relation, held.X)} if bound else {})


def _way(discretizer: Any) -> ResolvedComponent:
    """Return the discretizer of a log, whose explanations name none."""
    return component("discretizer", "original" if discretizer is None else discretizer)


def _having_learnt(learnt_from: str | None, result: Evaluation) -> Evaluation:
    return attrs.evolve(result, setup=attrs.evolve(result.setup, learnt_from=learnt_from))


def _scored(
    log: Log | ParquetLog, pool: PoolRows | None, unexplained: str, options: Mapping[str, Any]
) -> tuple[Evaluation, Any]:
    """Measure a log, and return its groups, too: their column where they stay on disk."""
    if unexplained == "pool":
        log, pool = log.apart()
    if isinstance(log, ParquetLog) and pool is None:
        result = score_in_pieces(log, **options)
        if result is not None:
            return result, log.roles.by
    held = log.read() if isinstance(log, ParquetLog) else log
    drawn = {"weights": held.weights, "clusters": held.clusters, "pool": pool, "ids": held.ids}
    given = {"outcome": held.roles.kind, **drawn, **options}
    result = score(held.predictions, held.explanations, X=held.X, **given)
    return attrs.evolve(result, notes=(*held.roles.notes, *result.notes)), held.groups


def score_in_pieces(
    log: ParquetLog,
    discretizer: Any = None,
    relation: Any = None,
    estimator: Any = "leave-one-out",
    agree: str | None = None,
    range: Any = None,
    uninformative: bool = False,
    **numbers: Any,
) -> Evaluation | None:
    """Measure a log piece by piece; None where something needs all of its rows at once.

    That is a discretizer or a relation that learns from them, a permutation test, and another relation than
    equality inside groups; with weights or clusters, groups and any such relation.
    """
    way, scorer = _way(discretizer), component("estimator", estimator)
    outcome, notes = log.outcome(agree, range), log.roles.notes
    setup = Setup(discretizer=way, estimator=scorer, outcome=outcome, notes=notes, **numbers)
    reading = LogReading(log, way, setup.outcome)
    is_weighted = log.roles.weights is not None or log.roles.clusters is not None
    if is_weighted:
        population: OnDisk = WeightedLog(reading, uninformative=uninformative)
    else:
        check_declared(uninformative)
        population = OnDisk(reading)
    named = population.example.relation if relation is None else relation
    if setup.permutations or learns(way):
        return None
    if named is not None and (is_weighted or log.roles.by is not None or _must_learn(named)):
        return None
    if is_weighted and log.roles.by is not None:
        return None
    applies = Applicability.of(relation, population.example, None)
    return measured(population, attrs.evolve(setup, applies=applies))


def _must_learn(relation: Any) -> bool:
    try:
        return learns_from_rows(component("relation", relation).instance)
    except FaithkitError:  # `Applicability` knows what to say
        return False
