"""Score a log on disk: in pieces where that gives the same numbers, else in memory."""

from typing import Any

import attrs

from faithkit.errors import FaithkitError
from faithkit.inputs.logs import Log, ParquetLog
from faithkit.inputs.pools import PoolRows
from faithkit.run.api import score
from faithkit.run.components import component
from faithkit.run.discretizing import learns
from faithkit.run.evaluation import Evaluation
from faithkit.run.findings import Findings
from faithkit.run.on_disk import OnDisk, learns_from_rows
from faithkit.run.passes import Reading
from faithkit.run.pipeline import measured
from faithkit.run.setup import Applicability, Setup


def score_log(
    log: Log | ParquetLog,
    violations: int | None = None,
    pool: PoolRows | None = None,
    unexplained: str = "count",
    **options: Any,
) -> Findings:
    """Measure a log, with its groups where it names some; `options` are those of `score`.

    Rows without an explanation are counted as such, or are a "pool" for those that have one.
    """
    if unexplained == "pool":
        log, pool = log.apart()
    if isinstance(log, ParquetLog) and pool is None:
        result = score_in_pieces(log, **options)
        if result is not None:
            return Findings.of(result, violations, log.roles.by)
    held = log.read() if isinstance(log, ParquetLog) else log
    drawn = {"weights": held.weights, "clusters": held.clusters, "pool": pool}
    found = score(held.predictions, held.explanations, X=held.X, **drawn, **options)
    return Findings.of(found, violations, held.groups)


def score_in_pieces(
    log: ParquetLog,
    discretizer: Any = "original",
    relation: Any = None,
    estimator: Any = "leave-one-out",
    **numbers: Any,
) -> Evaluation | None:
    """Measure a log piece by piece; None where something needs all of its rows at once.

    That is a discretizer or a relation that learns from them, a permutation test, weights and clusters, and
    another relation than equality inside groups.
    """
    if log.roles.weights is not None or log.roles.clusters is not None:
        return None
    way, scorer = component("discretizer", discretizer), component("estimator", estimator)
    setup = Setup(discretizer=way, estimator=scorer, **numbers)
    population = OnDisk(Reading(log, way))
    named = population.example.relation if relation is None else relation
    if setup.permutations or learns(way):
        return None
    if named is not None and (log.roles.by is not None or _must_learn(named)):
        return None
    applies = Applicability.of(relation, population.example, None)
    return measured(population, attrs.evolve(setup, applies=applies))


def _must_learn(relation: Any) -> bool:
    try:
        return learns_from_rows(component("relation", relation).instance)
    except FaithkitError:  # `Applicability` knows what to say
        return False
