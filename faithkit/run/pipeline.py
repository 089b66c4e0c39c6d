"""The pipeline, in order: explain → discretize → relate → tally → estimate.

Every measurement goes through it: of a model and its rows, of logged explanations, of a log on disk, of a
group, of a later sample, and under another discretizer.
"""

from typing import Any

import attrs

from faithkit.errors import InputError
from faithkit.explanations.relations import SameExplanation
from faithkit.inputs.data_warnings import warn_about_number_texts
from faithkit.inputs.predictions.labels import Labels
from faithkit.measure.counting.tally import Count
from faithkit.measure.estimators import mean_score
from faithkit.measure.heavy_tails import tail_share
from faithkit.run.components.discretization import choose_discretizer, learns, warn_about_background
from faithkit.run.components.resolution import ResolvedComponent
from faithkit.run.components.setup import (
    THE_SAMPLE,
    Applicability,
    Setup,
    check_outcome,
    declared_by_explainer,
)
from faithkit.run.components.system import System
from faithkit.run.evaluation import Evaluation
from faithkit.run.explaining.execution import Execution
from faithkit.run.explaining.job import Job
from faithkit.run.notes import leaked_label, result_notes
from faithkit.run.populations.evaluated_rows import EvaluatedRows
from faithkit.run.populations.in_memory import InMemory
from faithkit.run.populations.population import Population
from faithkit.run.populations.sample_design import encode_predictions, require_sufficiency, restrict_design
from faithkit.run.result import DesignSummary


def explain_and_measure(
    job: Job, rows: EvaluatedRows, discretizer: Any, relation: Any, execution: Execution, setup: Setup
) -> Evaluation:
    """Explain: let the model predict and the explainer explain the rows; then measure them."""
    X = rows.X
    predictions = job.predictor.answers(X, setup.outcome)
    system, explanations = System.from_first_sample(job, X, execution)
    setup = _with_discretizer(choose_discretizer(discretizer, explanations), setup)
    system.fit_discretizer(setup.discretizer, X, explanations)
    applicability = require_sufficiency(Applicability.of(relation, explanations, job.background), rows.pool)
    labels, pool = encode_predictions(predictions, rows.pool, applicability, setup.outcome, job)
    setup = attrs.evolve(
        setup,
        applicability=applicability,
        system=system,
        explained_by=declared_by_explainer(explanations),
        n_classes=_declared_classes(job, labels),
    )
    design = restrict_design(rows.design, len(explanations), pool)
    explanations = attrs.evolve(explanations, block=rows.block)
    population = InMemory.of(X, labels, explanations, design, pool, rows.metadata)
    return discretize_and_measure(population, setup)


def _with_discretizer(discretizer: ResolvedComponent, setup: Setup) -> Setup:
    """Set the discretizer; warn if explanations name one that learns and there is no background."""
    if not learns(discretizer) or setup.learnt_from is not None:
        return attrs.evolve(setup, discretizer=discretizer)
    warn_about_background(discretizer)
    return attrs.evolve(setup, discretizer=discretizer, learnt_from=THE_SAMPLE)


def _declared_classes(job: Job, labels: Labels) -> int | None:
    """Return how many labels the model declares; None if it declares none, or predicts others."""
    classes = job.predictor.classes
    if classes is None or not job.predictor.declared or not set(labels.classes) <= set(classes.tolist()):
        return None
    return len(classes)


def discretize_and_measure(population: Population, setup: Setup) -> Evaluation:
    """Discretize: set the identities of a population's explanations; then measure it."""
    discretized = population.with_discretizer(setup.discretizer)
    if setup.outcome.is_a_guess:
        warn_about_number_texts(discretized.labels)
    return measure_population(discretized, setup)


def measure_population(population: Population, setup: Setup) -> Evaluation:
    """Relate, tally and estimate: consistency by equality, sufficiency by where explanations apply."""
    check_outcome(setup)
    counted = population.count(SameExplanation())
    counts = {"consistency": counted}
    relation, why_no_sufficiency = setup.applicability.relation, setup.applicability.why_not
    if relation is not None:
        try:
            counts["sufficiency"] = population.count(relation)
        except InputError as error:  # such as a log without instances; consistency does not need them
            if setup.applicability.is_requested:
                raise
            relation, why_no_sufficiency = None, str(error).rstrip(".")
    unexplained, why_unexplained, remarks = population.remarks()
    leaked = leaked_label(counted, population, setup)
    measures = {measure: population.estimate(count, setup) for measure, count in counts.items()}
    return Evaluation(
        n=counted.owners.n,
        n_explanations=counted.n_explanations,
        unexplained=unexplained,
        why_unexplained=why_unexplained,
        remarks=remarks,
        singletons=_singleton_share(counted, measures["consistency"].verified),
        chance=counted.chance(),
        uniqueness=_uniqueness(counted),
        measures=measures,
        tails=tail_share(counted),
        notes=result_notes(population, setup, leaked),
        leaks_prediction=leaked is not None,
        design=DesignSummary(**population.design_fields(counts.get("sufficiency"))),
        why_no_sufficiency=why_no_sufficiency,
        relation=None if relation is None else setup.applicability.label,
        setup=setup,
        population=population,
        counts=counts,
        measure_population=measure_population,
    )


def _singleton_share(counted: Count, verified: float) -> float:
    """Return the share of instances with an explanation that no other case has.

    The rows of a cluster are one case.
    """
    owners = counted.owners
    return float((owners.sizes == 1).sum() / owners.n) if owners.steps is None else 1.0 - verified


def _uniqueness(counted: Count) -> float:
    """Return the number of distinct explanations per instance.

    With weights, it is the weighted mean of one over the number of instances that share an explanation.
    """
    owners = counted.owners
    if owners.steps is None:
        return counted.n_explanations / owners.n
    return mean_score(1.0 / owners.sizes[owners.explanation], owners.weight) or 0.0
