"""What a verdict needs besides the measures: warnings about the rows, and objections to the explanations."""

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from faithkit.errors import ContractError
from faithkit.explanations.explanations import Sample, object_array
from faithkit.explanations.relations import Relation
from faithkit.inputs.copies import Repeats
from faithkit.inputs.predictions.outcome import LABELS as LABEL_KIND
from faithkit.inputs.seeds import row_seeds
from faithkit.measure.counting.count import Count
from faithkit.measure.heavy_tails import is_heavy
from faithkit.measure.objections import Objection, ObjectionContext
from faithkit.measure.order import agreements_of_rows, label_statistic, lag_one_statistic
from faithkit.measure.result_warnings import LABELS, LEARNT, ORDER, REPEATS, SCOPES, TAILS, ResultWarning
from faithkit.measure.stated_scopes import FEW_ROWS, StatedScopes
from faithkit.measure.verdict import DETERMINES, FAITHFUL, NAMES, VERDICTS
from faithkit.report.formats import format_percent
from faithkit.run.components.learning import THE_SAMPLE
from faithkit.run.components.setup import Setup
from faithkit.run.instances.readable_rows import format_explanation
from faithkit.run.populations.in_memory import InMemory
from faithkit.run.populations.population import Population
from faithkit.third_party import guard

ORDERED_AGREEMENT, ORDERED_PREDICTIONS = 3.0, 4.0  # z from which rows depend on their order
LEAKAGE = (
    "Nearly every explanation names the prediction of its own row, such as {!r}, and no other: with that in "
    "it, explanations agree with predictions whatever the model does. Leave it out."
)
REPEATED = (
    "{} of the rows repeat another one. Rows that repeat each other are taken for entries of one case, and "
    "are not checked against each other: name the cases if these are others (clusters=, CLI: --clusters)."
)
ORDERED = (
    "Neighbouring rows {} more often than others, as entries of one case or of one period do, and intervals "
    "are then too short: name the case or the period (clusters=, CLI: --clusters). Rows that were only "
    "sorted may stay as they are."
)
FLATTERED = "The explainer was fitted on the evaluated rows, so results are optimistic."
FEW_IN_SCOPE = "Explanations apply to {} in the median, so little of them is checked: give more rows."
HEAVY = (
    "A few instances decide: 1 % of them cause {} of the variance that explanations do not account for. "
    "Intervals may be too short: declare the largest and the smallest prediction with range= (CLI: --range)."
)


# -- warnings --


def find_warnings(
    population: Population, counts: Mapping[str, Count], setup: Setup, leaked: Any, tails: float | None
) -> tuple[ResultWarning, ...]:
    """Return the warnings of a result, in the order in which they are shown."""
    warnings = [
        _warn_of_repeats(population.cases),
        _warn_of_order(population, counts),
        None if leaked is None else ResultWarning(LABELS, LEAKAGE.format(str(leaked))),
        ResultWarning(LEARNT, FLATTERED) if setup.learnt_from == THE_SAMPLE else None,
        _warn_of_scopes(counts.get("sufficiency")),
        ResultWarning(TAILS, HEAVY.format(format_percent(tails)), {"share": tails})
        if tails is not None and is_heavy(tails) and setup.outcome.range is None
        else None,
    ]
    return tuple(warning for warning in warnings if warning is not None)


def _warn_of_repeats(cases: Repeats | None) -> ResultWarning | None:
    if cases is None:
        return None
    figures = {"share": cases.share, "share_by_chance": cases.share_by_chance}
    return ResultWarning(REPEATS, REPEATED.format(format_percent(cases.share)), figures)


def _warn_of_order(population: Population, counts: Mapping[str, Count]) -> ResultWarning | None:
    if not isinstance(population, InMemory) or population.names_cases:
        return None
    count, labels = counts.get("sufficiency", counts["consistency"]), population.encoded_labels
    agreement = lag_one_statistic(agreements_of_rows(count))
    if labels.outcome.kind == LABEL_KIND:
        prediction = label_statistic(labels.codes)
    else:
        prediction = lag_one_statistic(np.asarray(labels.values, dtype=np.float64)[labels.codes])
    if agreement <= ORDERED_AGREEMENT and prediction <= ORDERED_PREDICTIONS:
        return None
    what = "get the same prediction" if prediction > ORDERED_PREDICTIONS else "agree with their scopes alike"
    figures = {"agreement": agreement, "predictions": prediction}
    return ResultWarning(ORDER, ORDERED.format(what), figures)


def _warn_of_scopes(count: Count | None) -> ResultWarning | None:
    if count is None or not count.relation.reads_instances:
        return None
    scopes = StatedScopes.of(count)
    if not scopes.n or scopes.median >= FEW_ROWS:
        return None
    rows = f"{scopes.median:g} other row{'' if scopes.median == 1 else 's'}"
    return ResultWarning(SCOPES, FEW_IN_SCOPE.format(rows), {"median": scopes.median})


# -- objections --


def find_objections(population: Population, count: Count | None, setup: Setup) -> tuple[Objection, ...]:
    """Return what speaks against the explanations: the kernel's objections, then those of the relation."""
    relation = setup.applicability.relation
    if count is None or relation is None:
        return ()
    objections: list[Objection] = []
    if relation.states_scope:
        objections += StatedScopes.of(count).objections(
            lambda explanation: format_explanation(count.explanations, explanation)
        )
    if relation.objections is not None and isinstance(population, InMemory):
        objections += _ask_relation(relation, population, count, setup)
    return tuple(objections)


def _ask_relation(
    relation: Relation, population: InMemory, count: Count, setup: Setup
) -> Sequence[Objection]:
    """Ask a relation for its objections, and check their form."""
    assert relation.objections is not None
    with guard(f"the objections of {relation}", error=ContractError):
        objections = relation.objections(_objection_context(population, count, setup))
    allowed = {None, *VERDICTS} - {FAITHFUL, DETERMINES, NAMES}
    for objection in objections:
        if not isinstance(objection, Objection) or objection.verdict not in allowed:
            raise ContractError(
                f"{relation}.objections returned {objection!r:.80}; expected faithkit.plugin.Objection(name, "
                "sentence, verdict), whose verdict is None or one of faithkit.results.VERDICTS that approves "
                "nothing."
            )
    return objections


def _objection_context(population: InMemory, count: Count, setup: Setup) -> ObjectionContext:
    """Return the rows whose explanations were checked, with what is known of the model."""
    sample, labels = count.sample, population.encoded_labels
    job = None if setup.system is None else setup.system.job
    is_label = labels.outcome.kind == LABEL_KIND
    distinct = object_array(labels.classes) if is_label else np.asarray(labels.values, dtype=np.float64)
    rows = slice(None) if count.row_numbers is None else count.row_numbers[: len(sample)]
    return ObjectionContext(
        sample=sample,
        predictions=distinct[labels.codes[rows]],
        outcome=setup.outcome.kind,
        background=None if job is None else job.background,
        predictor=None if job is None else job.predictor,
        outputs=None if job is None else _explained_outputs(sample, job.predictor),
        seeds=row_seeds(sample.instances("an objection"), setup.seed),
    )


def _explained_outputs(sample: Sample, predictor: Any) -> Any:
    """Return the column of the model's scores that each explanation speaks for; None if that is unknown.

    Explainers say it in `Explanations.shared`: the target is "positive", "predicted" or "prediction".
    """
    target, n = sample.explanations.shared.get("target"), len(sample)
    if not predictor.has_scores:
        return None
    if target == "positive":
        return np.ones(n, dtype=np.int64)
    if target == "prediction" and predictor.is_regressor:
        return np.zeros(n, dtype=np.int64)
    if target == "predicted" and predictor.classes is not None:
        return predictor.columns_of(predictor.predict(sample.X))
    return None
