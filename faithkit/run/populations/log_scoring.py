"""Score a log on disk: in pieces if that gives the same numbers, else in memory."""

from collections.abc import Mapping
from typing import Any

import attrs

from faithkit.errors import FaithkitError
from faithkit.inputs.data_warnings import warn_about_numbers
from faithkit.inputs.logs.log import Log
from faithkit.inputs.logs.log_files import ParquetLog
from faithkit.inputs.pairing import read_pairs
from faithkit.inputs.pools import PoolRows
from faithkit.inputs.predictions.labels import MissingPredictionError, describe_missing_labels
from faithkit.run.api import score
from faithkit.run.comparisons.control_draws import MAX_ROWS
from faithkit.run.components.learning import learns
from faithkit.run.components.relation_rows import RelationRows, learns_from_rows
from faithkit.run.components.resolution import ResolvedComponent, resolve_component
from faithkit.run.components.setup import Applicability, Setup
from faithkit.run.diagnostics import add_diagnoses, choose_diagnostics
from faithkit.run.evaluation import Evaluation
from faithkit.run.evaluation_report import EvaluationReport
from faithkit.run.pipeline import measure_population
from faithkit.run.populations.log_passes import LogReader
from faithkit.run.populations.on_disk import OnDisk
from faithkit.run.populations.sample_design import check_declared
from faithkit.run.populations.weighted_log import open_weighted_log
from faithkit.run.provenance import Origin


def score_log(
    log: Log | ParquetLog,
    contradictions: int | None = None,
    pool: PoolRows | None = None,
    unexplained: str = "count",
    diagnose: Any = (),
    by_label: bool = False,
    origin: Origin | None = None,
    **options: Any,
) -> EvaluationReport:
    """Measure a log, and the groups that it names.

    Parameters
    ----------
    log : Log or ParquetLog
    contradictions : int, optional
        How many contradictions the report shows.
    pool : PoolRows, optional
        Rows without explanations, against which sufficiency is checked.
    unexplained : str
        "count" counts rows without an explanation as such; "pool" uses them as the pool.
    diagnose : str, object or callable, or several of these, optional
    by_label : bool
        Whether texts show each predicted label, even if none has most of the rows.
    origin : Origin, optional
        Where the log comes from.
    **options
        Those of `score`.
    """
    diagnostics = choose_diagnostics(diagnose)
    result, groups = _score_with_groups(log, pool, unexplained, options)
    if origin is not None:
        result = attrs.evolve(result, origin=origin).with_origin(columns=log.roles.explanation)
    return EvaluationReport.of(add_diagnoses(result, diagnostics), contradictions, groups, by_label)


def _log_discretizer(discretizer: Any) -> ResolvedComponent:
    """Return the discretizer of a log, by default the original: logged explanations name none."""
    return resolve_component("discretizer", "original" if discretizer is None else discretizer)


def _score_with_groups(
    log: Log | ParquetLog, pool: PoolRows | None, unexplained: str, options: Mapping[str, Any]
) -> tuple[Evaluation, Any]:
    """Measure a log, and return the result and the groups: their column's name if they stay on disk."""
    if isinstance(log, ParquetLog) and pool is None and unexplained == "count":
        result = score_in_pieces(log, **options)
        if result is not None:
            return result, log.roles.by
    in_memory = log.read() if isinstance(log, ParquetLog) else log
    in_memory, n_left_out = in_memory.leave_out_missing_labels()
    if unexplained == "pool":
        in_memory, pool = in_memory.split_pool()
    log_options = {
        "adapter": in_memory.adapter,
        "outcome": in_memory.roles.kind,
        "weights": in_memory.weights,
        "clusters": in_memory.clusters,
        "blocks": in_memory.blocks,
        "pool": pool,
        "ids": in_memory.ids,
        "diagnose": (),
    }
    result = score(in_memory.predictions, in_memory.explanations, X=in_memory.X, **{**log_options, **options})
    text_adapter = in_memory.text_adapter
    adapter_notes = () if text_adapter is None else text_adapter.notes(in_memory.explanations, in_memory.ids)
    notes = (
        *([describe_missing_labels(n_left_out)] if n_left_out else []),
        *in_memory.roles.notes,
        *adapter_notes,
        *result.notes,
    )
    return attrs.evolve(result, notes=notes), in_memory.groups


def score_in_pieces(
    log: ParquetLog,
    discretizer: Any = None,
    relation: Any = None,
    estimator: Any = "leave-one-out",
    agree: str | None = None,
    range: Any = None,
    uninformative: bool = False,
    control_draws: int | None = None,
    **settings: Any,
) -> Evaluation | None:
    """Measure a log piece by piece; None where all rows are needed at once.

    All rows are needed for a discretizer or a relation that learns, for a permutation test, for a control,
    for blocks, for an adapter of texts that reads all rows at once, and for a relation other than equality
    inside groups or over at most 10,000 rows. With weights or clusters, they are also needed for groups, and
    for any relation other than equality.
    """
    if log.roles.blocks is not None or log.needs_all_rows:
        return None
    resolved_discretizer = _log_discretizer(discretizer)
    setup = Setup(
        discretizer=resolved_discretizer,
        estimator=resolve_component("estimator", estimator),
        outcome=log.outcome(agree, range),
        notes=log.roles.notes,
        draws=control_draws,
        **settings,
    )
    reader = LogReader(log, resolved_discretizer, setup.outcome)
    setup = attrs.evolve(setup, pairs=read_pairs(reader.example))
    is_weighted = log.roles.weights is not None or log.roles.clusters is not None
    if not is_weighted:
        check_declared(uninformative)
    has_groups = log.roles.by is not None
    sufficiency_relation = reader.example.relation if relation is None else relation
    if setup.permutations or learns(resolved_discretizer) or (is_weighted and has_groups):
        return None
    if sufficiency_relation is not None and (is_weighted or has_groups or _must_learn(sufficiency_relation)):
        return None
    applicability = Applicability.of(relation, reader.example, RelationRows(None, len(log.table)))
    if applicability.relation is not None and (control_draws or len(log.table) <= MAX_ROWS):
        return None  # a control, and measures by label, need all rows
    try:
        population = open_weighted_log(reader, uninformative) if is_weighted else OnDisk(reader)
        if setup.outcome.is_a_guess:
            warn_about_numbers(population.labels)
        return measure_population(population, attrs.evolve(setup, applicability=applicability))
    except MissingPredictionError:
        return None  # rows without a label are left out, and the others keep their numbers


def _must_learn(relation: Any) -> bool:
    try:
        resolved = resolve_component("relation", relation)
        return learns_from_rows(resolved.instance)
    except FaithkitError:  # `Applicability` reports this error
        return False
