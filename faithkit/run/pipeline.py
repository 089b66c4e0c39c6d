"""The pipeline, in order: explain → discretize → relate → tally → estimate.

Every measurement goes through `measure_population`: of a model and its rows, of logged explanations, of a log
on disk, of a group, of a later sample, and under another discretizer.
"""

from typing import Any

import attrs
import numpy as np

from faithkit.errors import InputError
from faithkit.explanations.explanations import Explanations
from faithkit.explanations.relations import SameExplanation
from faithkit.inputs.data_warnings import warn_about_numbers
from faithkit.inputs.labels_in_explanations import find_label_in_explanations
from faithkit.inputs.models.predictor import Predictor
from faithkit.inputs.predictions.labels import Labels
from faithkit.inputs.predictions.outcome import LABELS
from faithkit.measure.counting.count import Count
from faithkit.measure.heavy_tails import tail_share
from faithkit.run.components.discretization import choose_discretizer
from faithkit.run.components.learning import learns
from faithkit.run.components.setup import Applicability, Setup, check_outcome
from faithkit.run.evaluation import Evaluation
from faithkit.run.instances.readable_rows import meaning_of_signs
from faithkit.run.judgement import find_objections, find_warnings
from faithkit.run.measurements import DesignSummary, Evidence
from faithkit.run.populations.population import Population
from faithkit.run.populations.sample_inputs import SampleInputs

ADDITIVE = (
    "The values add up to the {}, so high consistency is no evidence that they name the right features. "
    "Sufficiency is."
)


def measure_explanations(
    inputs: SampleInputs,
    predictions: Any,
    explanations: Explanations,
    discretizer: Any,
    relation: Any,
    setup: Setup,
) -> Evaluation:
    """Discretize: choose a discretizer and a relation, which explanations may name; then measure the rows."""
    resolved_discretizer = choose_discretizer(discretizer, explanations)
    relation_rows = inputs.relation_rows(len(explanations))
    applicability = Applicability.of(relation, explanations, relation_rows)
    if inputs.pool is not None and not inputs.pool.is_optional:  # a pool has no other use than sufficiency
        applicability = attrs.evolve(applicability, is_requested=True)
    predictor = None if setup.system is None else setup.system.job.predictor
    population = inputs.build_population(predictions, explanations, applicability, setup.outcome, predictor)
    setup = attrs.evolve(
        setup.with_discretizer(resolved_discretizer),
        applicability=applicability,
        relation_rows=relation_rows,
        explained_by={key: value for key, value in explanations.shared.items() if isinstance(value, str)},
        n_classes=None if predictor is None else _declared_classes(predictor, population.encoded_labels),
    )
    if learns(resolved_discretizer):
        population.fit_discretizer(resolved_discretizer, setup.system)
    if setup.outcome.is_a_guess and setup.system is None:
        warn_about_numbers(population.labels)
    return measure_population(population.with_discretizer(resolved_discretizer), setup)


def _declared_classes(predictor: Predictor, labels: Labels) -> int | None:
    """Return the number of classes that the model declares; None if it declares none or predicts others."""
    classes = predictor.classes
    if classes is None or not predictor.declared or not set(labels.classes) <= set(classes.tolist()):
        return None
    return len(classes)


def measure_population(population: Population, setup: Setup) -> Evaluation:
    """Relate, tally and estimate: consistency by equality, sufficiency by where explanations apply."""
    check_outcome(setup)
    population = population.with_cases()
    consistency_count = population.count(SameExplanation())
    counts = {"consistency": consistency_count}
    relation, why_no_sufficiency = setup.applicability.relation, setup.applicability.why_not
    if relation is not None:
        try:
            counts["sufficiency"] = population.count(relation)
        except InputError as error:  # such as a log without instances; consistency does not need them
            if setup.applicability.is_requested:
                raise
            relation, why_no_sufficiency = None, str(error).rstrip(".")
    unexplained, why_unexplained, remarks = population.remarks()
    is_labels = setup.outcome.kind == LABELS
    leaked = find_label_in_explanations(consistency_count, population.labels) if is_labels else None
    measures = {measure: population.estimate(count, setup) for measure, count in counts.items()}
    tails = tail_share(consistency_count)
    return Evaluation(
        n=consistency_count.owners.n,
        n_explanations=consistency_count.n_explanations,
        unexplained=unexplained,
        unexplained_share=_unexplained_share(consistency_count),
        why_unexplained=why_unexplained,
        remarks=remarks,
        singletons=_singleton_share(consistency_count, measures["consistency"].verified),
        chance=consistency_count.chance(),
        uniqueness=_uniqueness(consistency_count),
        measures=measures,
        tails=tails,
        notes=_notes(population, setup),
        objections=find_objections(population, counts.get("sufficiency"), setup),
        warnings=find_warnings(population, counts, setup, leaked, tails),
        design=DesignSummary(**population.design_fields(counts.get("sufficiency"))),
        why_no_sufficiency=why_no_sufficiency,
        relation=None if relation is None else setup.applicability.label,
        relation_phrase=None if relation is None else relation.phrase,
        relation_learnt_from=None if relation is None else setup.applicability.learnt_from,
        kind=population.kind,
        discretizer_learnt_from=_discretizer_learnt_from(setup),
        setup=setup,
        evidence=Evidence(population, counts),
        measure_population=measure_population,
    )


def _notes(population: Population, setup: Setup) -> tuple[str, ...]:
    """Return what readers should know of the input and of the importances.

    Explainers of importances declare facts in `Explanations.shared`. "adds_up_to" names what values and base
    value add up to, such as "raw score"; discretized values add up to nothing. "target" is "predicted" if
    values speak for the class that the model predicts for the row.
    """
    total = setup.explained_by.get("adds_up_to")
    additive = ADDITIVE.format(total) if total and setup.discretizer.text == "original" else None
    signs = meaning_of_signs(population.kind, setup.explained_by)
    return *setup.notes, *(note for note in (additive, signs) if note is not None)


def _unexplained_share(count: Count) -> float:
    """Return the share of the instances, by their weight, that have no explanation."""
    owners = count.owners
    is_unexplained = count.explanations.missing[owners.explanation]
    return float(owners.times(is_unexplained.astype(np.float64)).sum() / owners.total_weight)


def _discretizer_learnt_from(setup: Setup) -> str | None:
    """Return "the background" or "the rows themselves"; None for a discretizer that learns nothing."""
    if not learns(setup.discretizer):
        return None
    return "the background" if setup.learnt_from == "given" else "the rows themselves"


def _singleton_share(count: Count, verified: float) -> float:
    """Return the share of instances with an explanation that no other case has.

    The rows of a cluster are one case.
    """
    owners = count.owners
    return float((owners.sizes == 1).sum() / owners.n) if owners.steps is None else 1.0 - verified


def _uniqueness(count: Count) -> float:
    """Return the number of distinct explanations per instance.

    With weights, it is the weighted mean of one over the number of instances that share an explanation.
    """
    owners = count.owners
    if owners.steps is None:
        return count.n_explanations / owners.n
    mean = float((owners.weight / owners.sizes[owners.explanation]).sum()) / owners.total_weight
    return min(1.0, mean)  # rounding must not lift it above 1, which no file of a result may hold
