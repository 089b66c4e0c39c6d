"""The pipeline, whole and in order: explain → discretize → relate → tally → estimate.

Whatever is measured goes through it: a model and its rows, logged explanations, a log on disk, a group, a
later sample, another discretizer.
"""

from typing import Any

import attrs

from faithkit.errors import InputError
from faithkit.inputs.labels import encode_labels
from faithkit.measure.inference import chance
from faithkit.measure.relations import SameExplanation
from faithkit.run.evaluation import Evaluation
from faithkit.run.explaining.execution import Execution
from faithkit.run.explaining.job import Job
from faithkit.run.in_memory import InMemory
from faithkit.run.population import Population
from faithkit.run.setup import Applicability, Setup
from faithkit.run.system import System


def explained(job: Job, X: Any, relation: Any, execution: Execution, setup: Setup) -> Evaluation:
    """Explain: let the model predict and the explainer explain a sample; then measure it."""
    labels = encode_labels(job.predictor.predict(X))
    system, explanations = System.begun(job, X, execution)
    system.teach(setup.discretizer, X, explanations)
    applies = Applicability.of(relation, explanations, job.background)
    told = {key: value for key, value in explanations.shared.items() if isinstance(value, str)}
    setup = attrs.evolve(setup, applies=applies, system=system, explained_by=told)
    return measured(InMemory.of(X, labels, explanations), setup)


def measured(population: Population, setup: Setup) -> Evaluation:
    """Discretize: give the explanations of a population their identities, and measure it."""
    return related(population.under(setup.discretizer), setup)


def related(population: Population, setup: Setup) -> Evaluation:
    """Relate, tally and estimate: consistency by equality, sufficiency by where explanations apply."""
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
    slots = counts["consistency"].slots
    return Evaluation(
        n=slots.n,
        n_explanations=len(counts["consistency"].explanations),
        unexplained=unexplained,
        why_unexplained=why_unexplained,
        remarks=remarks,
        singletons=float((slots.sizes == 1).sum() / slots.n),
        chance=chance(slots.by_label()),
        measures={name: population.estimate(counted, setup) for name, counted in counts.items()},
        why_no_sufficiency=why_not,
        relation=None if applies is None else setup.applies.told,
        setup=setup,
        population=population,
        counts=counts,
        again=related,
    )
