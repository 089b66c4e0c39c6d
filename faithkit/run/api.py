"""The three functions most people need: `evaluate`, `score` and `plan`."""

from typing import Any

import attrs

from faithkit.errors import InputError
from faithkit.inputs.predictor import Predictor
from faithkit.inputs.rows import check_columns, check_X
from faithkit.measure.arguments import python, share, whole_number
from faithkit.measure.explanations import Sample, as_explanations
from faithkit.measure.planning import Plan, plan_samples
from faithkit.measure.rows import n_rows
from faithkit.run.components import component
from faithkit.run.evaluation import Evaluation
from faithkit.run.execution import Execution
from faithkit.run.job import Faults, Job
from faithkit.run.pipeline import (
    applicability,
    check_inputs,
    discretize,
    encode_labels,
    explain_and_identify,
    learns,
    teach,
    warn_about_background,
)
from faithkit.run.provenance import Provenance, describe_model


def evaluate(
    model: Any,
    X: Any,
    explainer: Any = "shap",
    discretizer: Any = "original",
    relation: Any = None,
    estimator: Any = "leave-one-out",
    background: Any = None,
    seed: int = 0,
    n_jobs: int = 1,
    confidence: float = 0.95,
    permutations: int = 0,
    store: Any = None,
    on_error: str = "raise",
    row_timeout: float | None = None,
    progress: bool = False,
) -> Evaluation:
    """Explain a sample and measure how faithful the explanations are.

    Parameters
    ----------
    model : object with `predict`, or callable ``X -> labels``
    X : array, DataFrame, sparse matrix or list of str
        Instances of the kind that the system will meet.
    explainer, discretizer, relation, estimator : str, object or callable
        A name, "name:param=value,…", an instance, or a function. `relation` replaces the explanations'
        own as sufficiency's relation.
    background : like X, optional
        What the explainer learns from. By default X itself, with a warning.
    seed : int
        Every row's own seed is derived from it and from the row's content.
    n_jobs : int
        Workers that explain in parallel, -1 for one per core; `joblib.parallel_config` chooses their kind.
    confidence : float
        Of the intervals.
    permutations : int
        For the p-value; 0 for none.
    store : path, optional
        A folder that keeps finished chunks, so that a run that was killed goes on where it was.
    on_error : str
        "raise", or "record": rows that an explainer fails on count as unexplained.
    row_timeout : float, optional
        Seconds that one row may take.
    progress : bool
        Whether to show a bar on stderr.

    Returns
    -------
    Evaluation

    Examples
    --------
    >>> import numpy as np, faithkit
    >>> X = np.array([[1.0], [2.0], [3.0], [4.0]])
    >>> result = faithkit.evaluate(lambda X: X[:, 0] > 2, X, explainer=lambda X: (X > 3.5).tolist())
    >>> result.consistency.value, result.consistency.verified
    (0.25, 0.75)
    """
    check_X(X)
    confidence, permutations = checked_options(confidence, permutations)
    seed = whole_number(seed, "the seed")
    execution = Execution(python(n_jobs), Faults(on_error, python(row_timeout)), store, progress)
    chosen = component("explainer", explainer), component("discretizer", discretizer)
    check_inputs(chosen[0], X)
    scorer = component("estimator", estimator)
    learners = [given for given in chosen if learns(given)]
    if background is None and learners:
        warn_about_background(learners[0])
    known = X if background is None else check_X(background, "The background")
    check_columns(X, known)
    predictor = Predictor.of(model, background=known)
    labels = encode_labels(predictor.predict(X))
    job = Job(chosen[0], predictor, known, seed)
    system, explanations = explain_and_identify(job, chosen[1], X, execution)
    applies, why_not = applicability(relation, explanations, known)
    return Evaluation(
        sample=Sample(X, explanations),
        labels=labels,
        estimator=scorer,
        confidence=confidence,
        permutations=permutations,
        seed=seed,
        applies=applies,
        relation_given=relation is not None,
        why_no_sufficiency=why_not,
        system=system,
        provenance=Provenance(
            *chosen,
            background="given" if background is not None else ("the sample itself" if learners else None),
            model=describe_model(predictor.model),
        ),
    )


def score(
    predictions: Any,
    explanations: Any,
    X: Any = None,
    discretizer: Any = "original",
    relation: Any = None,
    estimator: Any = "leave-one-out",
    confidence: float = 0.95,
    permutations: int = 0,
) -> Evaluation:
    """Measure logged explanations: no model and no explainer needed.

    Parameters
    ----------
    predictions : sequence of n labels
    explanations : 2-D array, DataFrame, list of hashables, or Explanations
    X : like in `evaluate`, optional
        The instances, for relations that read them.
    discretizer, relation, estimator, confidence, permutations
        As in `evaluate`.

    Returns
    -------
    Evaluation

    Examples
    --------
    >>> import faithkit
    >>> result = faithkit.score(["yes", "yes", "no"], [[0.31], [0.31], [0.12]])
    >>> result.consistency.value, result.consistency.bracket
    (0.6666666666666666, (0.6666666666666666, 1.0))
    """
    confidence, permutations = checked_options(confidence, permutations)
    labels = encode_labels(predictions)
    given = as_explanations(explanations)
    for name, part in (("explanations", given), ("rows of X", X)):
        if part is not None and (rows := n_rows(part) if name == "rows of X" else len(part)) != len(
            labels.codes
        ):
            raise InputError(f"{rows} {name} for {len(labels.codes)} predictions: give one of each per row.")
    chosen, scorer = component("discretizer", discretizer), component("estimator", estimator)
    if given.instances is None:
        given = attrs.evolve(given, instances=X)
    if learns(chosen):
        warn_about_background(chosen, "a log has none, `evaluate` can be given one")
        teach(chosen, given)
    identified = discretize(chosen, given)
    applies, why_not = applicability(relation, identified, X)
    return Evaluation(
        sample=Sample(X, identified),
        labels=labels,
        estimator=scorer,
        confidence=confidence,
        permutations=permutations,
        seed=0,
        applies=applies,
        relation_given=relation is not None,
        why_no_sufficiency=why_not,
        provenance=Provenance(
            None, chosen, background="the sample itself" if learns(chosen) else None, model=None
        ),
    )


def plan(epsilon: float, n_explanations: int | None = None, pilot: Any = None) -> Plan:
    """Say how many instances are needed for an unverified share of at most ε.

    Parameters
    ----------
    epsilon : float
    n_explanations : int, optional
        The size of the explainer's range.
    pilot : Evaluation, optional
        A first, small evaluation to extrapolate from.

    Returns
    -------
    Plan

    Examples
    --------
    >>> import faithkit
    >>> faithkit.plan(0.1, n_explanations=2048).from_range
    7535
    """
    checked = None
    if pilot is not None:
        if not isinstance(pilot, Evaluation):
            raise InputError(f"the pilot is a {type(pilot).__name__}: give what evaluate or score returned.")
        checked = pilot.consistency.others
    return plan_samples(epsilon, n_explanations, checked)


MOST_PERMUTATIONS = 10_000_000


def checked_options(confidence: Any, permutations: Any) -> tuple[float, int]:
    """Return the confidence and the number of permutations as plain numbers; refuse what is none."""
    times = whole_number(permutations, "permutations", least=0)
    if times > MOST_PERMUTATIONS:
        raise InputError(
            f"{times:,} permutations are too many: {MOST_PERMUTATIONS:,} already tell p-values down to "
            f"{1 / MOST_PERMUTATIONS:g}, and each takes another tally. Give fewer; 9999 are usual."
        )
    return share(confidence, "confidence", usual=0.95), times
