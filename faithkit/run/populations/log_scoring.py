"""Score a log on disk: in pieces if that gives the same numbers, else in memory."""

from collections.abc import Mapping, Sequence
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
from faithkit.run.comparisons.reference import check_columns, check_comparable, check_saved_columns
from faithkit.run.components.discretization import fit_and_freeze_discretizer
from faithkit.run.components.learning import THE_SAMPLE, learns
from faithkit.run.components.relation_rows import RelationRows, learns_from_rows
from faithkit.run.components.resolution import ResolvedComponent, resolve_component
from faithkit.run.components.setup import (
    Applicability,
    Setup,
    fit_and_freeze_relation,
)
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
    violations: int | None = None,
    pool: PoolRows | None = None,
    unexplained: str = "count",
    reference: Log | ParquetLog | Evaluation | None = None,
    allowed: Mapping[str, float] | None = None,
    diagnostics: Sequence[ResolvedComponent] | None = (),
    by_label: bool = False,
    origin: Origin | None = None,
    **options: Any,
) -> EvaluationReport:
    """Measure a log, and the groups that it names.

    Parameters
    ----------
    log : Log or ParquetLog
    violations : int, optional
        How many violations the report shows.
    pool : PoolRows, optional
        Rows without explanations, against which sufficiency is checked.
    unexplained : str
        "count" counts rows without an explanation as such; "pool" uses them as the pool.
    reference : Log, ParquetLog or Evaluation, optional
        An earlier log or result to compare with. Components that learn are fitted to an earlier log, and
        then used for both logs.
    allowed : mapping of str to float, optional
        The largest allowed drop of each measure since the reference.
    diagnostics : sequence of ResolvedComponent, optional
    by_label : bool
        Whether texts show each predicted label, even if none has most of the rows.
    origin : Origin, optional
        Where the log comes from.
    **options
        Those of `score`.
    """
    is_fitted_to_reference, roles = False, log.roles
    if isinstance(reference, Evaluation):
        check_saved_columns(reference, roles.explanation, is_log=True)
    if isinstance(reference, Log | ParquetLog):
        check_columns(roles, reference.roles)
        is_fitted_to_reference = learns(_log_discretizer(options.get("discretizer")))
        reference, options = _fit_components(reference, options)
        earlier, _ = _score_with_groups(reference, None, unexplained, options)
        reference = _with_learnt_from(THE_SAMPLE if is_fitted_to_reference else None, earlier)
    result, groups = _score_with_groups(log, pool, unexplained, options)
    result = _with_learnt_from("given" if is_fitted_to_reference else result.setup.learnt_from, result)
    if origin is not None:
        result = attrs.evolve(result, origin=origin).with_origin(columns=roles.explanation)
    if reference is not None:
        check_comparable(result, reference)
    return EvaluationReport.of(result, violations, groups, reference, allowed, diagnostics, by_label)


def _fit_components(
    reference: Log | ParquetLog, options: dict[str, Any]
) -> tuple[Log | ParquetLog, dict[str, Any]]:
    """Fit discretizer and relation to the reference, if they learn, and put them into the options.

    Return the reference, which is then in memory, and the options.
    """
    discretizer, relation = _log_discretizer(options.get("discretizer")), options.get("relation")
    relation_learns = relation is not None and _must_learn(relation)
    if not relation_learns and not learns(discretizer):
        return reference, options
    in_memory = reference.read() if isinstance(reference, ParquetLog) else reference
    options = options | {"discretizer": fit_and_freeze_discretizer(discretizer, in_memory.explanations)}
    if relation_learns:
        options["relation"] = fit_and_freeze_relation(
            relation, RelationRows(in_memory.X, len(in_memory.explanations))
        )
    return in_memory, options


def _log_discretizer(discretizer: Any) -> ResolvedComponent:
    """Return the discretizer of a log, by default the original: logged explanations name none."""
    return resolve_component("discretizer", "original" if discretizer is None else discretizer)


def _with_learnt_from(learnt_from: str | None, result: Evaluation) -> Evaluation:
    return attrs.evolve(result, setup=attrs.evolve(result.setup, learnt_from=learnt_from))


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
        return not resolved.is_fitted and learns_from_rows(resolved.instance)
    except FaithkitError:  # `Applicability` reports this error
        return False
