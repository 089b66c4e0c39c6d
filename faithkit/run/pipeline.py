"""The pipeline, whole and in order: explain → discretize → relate → tally → estimate.

Whatever is measured goes through it: a model and its rows, logged explanations, a log on disk, a group, a
later sample, another discretizer.
"""

from typing import Any

import attrs

from faithkit.errors import InputError
from faithkit.explanations.relations import SameExplanation
from faithkit.inputs.data_warnings import label_in_explanations, warn_about_number_texts
from faithkit.inputs.predictions.labels import Labels
from faithkit.inputs.predictions.outcome import LABELS
from faithkit.measure.counting.tally import Count
from faithkit.measure.estimators import mean_score
from faithkit.measure.heavy_tails import tail_share
from faithkit.run.components.discretization import discretizer_for, learns, warn_about_background
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
from faithkit.run.importance_notes import importance_notes
from faithkit.run.populations.evaluated_rows import EvaluatedRows
from faithkit.run.populations.in_memory import InMemory
from faithkit.run.populations.population import Population
from faithkit.run.populations.sample_design import labelled, needed, of_sample


def explained(
    job: Job, cases: EvaluatedRows, discretizer: Any, relation: Any, execution: Execution, setup: Setup
) -> Evaluation:
    """Explain: let the model predict and the explainer explain a sample; then measure it."""
    X, pool = cases.X, cases.pool
    predictions = job.predictor.answers(X, setup.outcome)
    system, explanations = System.begun(job, X, execution)
    setup = _discretized_by(discretizer_for(discretizer, explanations), setup)
    system.teach(setup.discretizer, X, explanations)
    applies = needed(Applicability.of(relation, explanations, job.background), pool)
    told = declared_by_explainer(explanations)
    labels, checked = labelled(predictions, pool, applies, setup.outcome, job)
    declared = _declared(job, labels)
    setup = attrs.evolve(setup, applies=applies, system=system, explained_by=told, n_classes=declared)
    drawn = of_sample(cases.design, len(explanations), checked)
    population = InMemory.of(X, labels, explanations, drawn, checked, cases.beside)
    return measured(population, setup)


def _discretized_by(way: ResolvedComponent, setup: Setup) -> Setup:
    """Take a discretizer, of which nobody may have known before explaining that it learns."""
    if not learns(way) or setup.learnt_from is not None:
        return attrs.evolve(setup, discretizer=way)
    warn_about_background(way)
    return attrs.evolve(setup, discretizer=way, learnt_from=THE_SAMPLE)


def _declared(job: Job, labels: Labels) -> int | None:
    """Return how many labels the model says it has; None where it does not say, or gives others."""
    classes = job.predictor.classes
    if classes is None or not job.predictor.declared or not set(labels.classes) <= set(classes.tolist()):
        return None
    return len(classes)


def measured(population: Population, setup: Setup) -> Evaluation:
    """Discretize: give the explanations of a population their identities, and measure it."""
    found = population.under(setup.discretizer)
    if setup.outcome.is_a_guess:
        warn_about_number_texts(found.labels)
    return related(found, setup)


def related(population: Population, setup: Setup) -> Evaluation:
    """Relate, tally and estimate: consistency by equality, sufficiency by where explanations apply."""
    check_outcome(setup)
    counts = {"consistency": population.count(SameExplanation())}
    applies, why_not = setup.applies.relation, setup.applies.why_not
    if applies is not None:
        try:
            counts["sufficiency"] = population.count(applies)
        except InputError as error:  # such as a log without instances: consistency can still be told
            if setup.applies.asked_for:
                raise
            applies, why_not = None, str(error).rstrip(".")
    unexplained, why_unexplained, remarks = population.remarks()
    counted = counts["consistency"]
    measures = {name: population.estimate(one, setup) for name, one in counts.items()}
    return Evaluation(
        n=counted.owners.n,
        n_explanations=len(counts["consistency"].explanations),
        unexplained=unexplained,
        why_unexplained=why_unexplained,
        remarks=remarks,
        singletons=_alone(counted, measures["consistency"].verified),
        chance=counted.chance(),
        uniqueness=_uniqueness(counted),
        measures=measures,
        tails=tail_share(counted),
        notes=(
            *setup.notes,
            *importance_notes(population.kind, setup.explained_by, setup.discretizer.text),
            *_leakage(counted, population, setup),
        ),
        **population.drawn(counts.get("sufficiency")),
        why_no_sufficiency=why_not,
        relation=None if applies is None else setup.applies.told,
        setup=setup,
        population=population,
        counts=counts,
        again=related,
    )


def _leakage(counted: Count, population: Population, setup: Setup) -> tuple[str, ...]:
    """Return a note if explanations name their predictions; numbers would have to be sorted for that."""
    label = label_in_explanations(counted, population.labels) if setup.outcome.kind == LABELS else None
    if label is None:
        return ()
    return (
        f"Nearly every explanation names the prediction of its own row, such as {str(label)!r}, and no "
        "other: with that in it, explanations agree with predictions whatever the model does. Leave it out.",
    )


def _alone(counted: Count, verified: float) -> float:
    """Return the share of instances whose explanation nobody else has; rows of a cluster are one case."""
    owners = counted.owners
    return float((owners.sizes == 1).sum() / owners.n) if owners.steps is None else 1.0 - verified


def _uniqueness(counted: Count) -> float:
    """Return distinct explanations per instance; by weight, the mean of one over who share an explanation."""
    owners = counted.owners
    if owners.steps is None:
        return len(counted.explanations) / owners.n
    return mean_score(1.0 / owners.sizes[owners.explanation], owners.weight) or 0.0
