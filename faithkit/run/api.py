"""What most people need: `evaluate`, `score`, `compare` and `plan`."""

from functools import partial
from typing import Any

import attrs
import numpy as np
import pandas as pd
from scipy.sparse import issparse

from faithkit.arrays.containers import n_rows
from faithkit.errors import InputError
from faithkit.explanations.explanations import Explanations
from faithkit.inputs.data_warnings import warn_about_base_values, warn_about_repeated_rows
from faithkit.inputs.logs.rule_columns import read_rules
from faithkit.inputs.models.predictor import Predictor
from faithkit.inputs.models.recognition import model_of
from faithkit.inputs.objects.adapters import adapter_for
from faithkit.inputs.objects.alignment import check_order
from faithkit.inputs.objects.conversion import as_column, as_rows
from faithkit.inputs.objects.explanation_forms import adapt
from faithkit.inputs.predictions.outcome import LABELS, NUMBERS, Outcome, checked, gone_through
from faithkit.inputs.rows import check_X
from faithkit.measure.planning.plans import Plan, plan_samples
from faithkit.run.comparisons.comparison import Comparison
from faithkit.run.comparisons.systems import compared
from faithkit.run.components.discretization import discretizer_for, learns, warn_about_background
from faithkit.run.components.resolution import component
from faithkit.run.components.setup import THE_SAMPLE, Applicability, Setup, declared_by_explainer
from faithkit.run.components.system import check_inputs, check_predictions
from faithkit.run.evaluation import Evaluation
from faithkit.run.explaining.execution import Execution
from faithkit.run.explaining.job import Job
from faithkit.run.pilot import pilot_of
from faithkit.run.pipeline import explained, measured
from faithkit.run.populations.evaluated_rows import EvaluatedRows
from faithkit.run.populations.in_memory import InMemory
from faithkit.run.populations.row_metadata import RowIds, RowMetadata
from faithkit.run.populations.sample_design import (
    design_of,
    labelled,
    logged,
    needed,
    of_sample,
    offered,
    usable,
)
from faithkit.run.provenance import describe_model


def evaluate(
    model: Any,
    X: Any,
    explainer: Any = "shap",
    discretizer: Any = None,
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
    progress: bool = True,
    weights: Any = None,
    clusters: Any = None,
    uninformative: bool = False,
    pool: Any = None,
    outcome: str | None = None,
    agree: str | None = None,
    range: Any = None,
    ids: Any = None,
) -> Evaluation:
    """Explain a sample and measure how faithful the explanations are.

    Parameters
    ----------
    model : object with `predict`, or callable ``X -> labels``
    X : array, DataFrame, sparse matrix or list of str
        Instances of the kind that the system will meet; an array of images has more than two axes. Where the
        model says which columns it was fitted with (`feature_names_in_`), it and the explainer see these
        only, in its order; the others can be named in `weights`, `clusters`, `ids` and `Evaluation.by`.
    explainer, discretizer, relation, estimator : str, object or callable
        A name, "name:param=value,…", an instance, or a function. `relation` replaces the explanations'
        own as sufficiency's relation; without a `discretizer` it is the one that they name, else "original".
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
        Whether to show how far it is, in a terminal (on stderr) or a notebook.
    weights : sequence of n numbers, or the name of a column of X, optional
        How much each row counts, such as one over the probability that it was drawn.
    clusters : sequence of n values, or the name of a column of X, optional
        Which rows are one case seen several times, such as a customer: these are not checked against each
        other. With a pool, the weights and clusters of its rows come last.
    uninformative : bool
        Whether you know that neither the weights nor the sizes of clusters go with predictions, such as
        weights that were drawn at random: intervals are narrower then. By default they may.
    pool : like X, optional
        Rows that are predicted and not explained: sufficiency is checked against them, too, where its
        relation reads the instance only. They must be as little known to the explainer as X.
    outcome : str, optional
        What predictions are: "labels", "numbers" or "scores". By default those of regressors and floats that
        are not whole are numbers, and all others labels. The measure of numbers is the share of their
        variance that explanations account for.
    agree : str, optional
        "within:ε" counts numbers that differ by at most ε as one label.
    range : pair of numbers, or str, optional
        The smallest and the largest number that the model can predict, such as (0, 500000) or "0:500000".
        Without it, intervals of numbers are approximate: a sample may not show the outliers.
    ids : sequence of n values, or the name of a column of X, optional
        What people call each row, such as a customer's number: witnesses and local results tell it beside the
        row's place. Several rows may have one name. With a pool, the names of its rows come last.

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
    check_order({"X": X, "weights": weights, "clusters": clusters, "ids": ids})
    kind, within, ends = checked(outcome, agree, range)
    model = model if isinstance(model, Predictor) else model_of(model, outcome=kind)
    given = component("explainer", explainer)
    way = None if discretizer is None else component("discretizer", discretizer)
    scorer = component("estimator", estimator)
    execution = Execution(n_jobs, on_error, row_timeout, store, progress)
    cases = EvaluatedRows.of(model, X, background, pool, weights, clusters, ids, uninformative)
    check_inputs(given, cases.X)
    if relation is not None:  # before anybody has explained in vain
        usable(cases.pool, Applicability(component("relation", relation).instance))
    learners = [one for one in (given, way) if one is not None and learns(one)]
    if background is None and learners:
        warn_about_background(learners[0])
    predictor = Predictor.of(model, background=cases.known, outcome=kind, within=within)
    check_predictions(given.text, given.instance, predictor)
    setup = Setup(
        outcome=Outcome(
            kind or (NUMBERS if predictor.is_regressor else LABELS), within, ends, unasked=kind is None
        ),
        explainer=given,
        estimator=scorer,
        confidence=confidence,
        permutations=permutations,
        seed=seed,
        model=describe_model(predictor.model),
        background=cases.known,
        learnt_from="given" if background is not None else (THE_SAMPLE if learners else None),
        notes=cases.notes,
    )
    job = Job(given, predictor, cases.known, setup.seed)
    result = explained(job, cases, way, relation, execution, setup)
    if clusters is None:
        _check_repeats(result)
    return result


def score(
    predictions: Any,
    explanations: Any,
    X: Any = None,
    discretizer: Any = None,
    relation: Any = None,
    estimator: Any = "leave-one-out",
    confidence: float = 0.95,
    permutations: int = 0,
    seed: int = 0,
    weights: Any = None,
    clusters: Any = None,
    uninformative: bool = False,
    pool: Any = None,
    outcome: str | None = None,
    agree: str | None = None,
    range: Any = None,
    ids: Any = None,
) -> Evaluation:
    """Measure logged explanations: no model and no explainer needed.

    Parameters
    ----------
    predictions : sequence of n labels
        Everything is paired by the place of rows; indexes of pandas that say another order are refused.
    explanations : 2-D array, DataFrame, list of hashables, or Explanations
        Texts that are all rules about the columns of X ("age ≤ 37 and sex = Male") are read as rules.
    X : like in `evaluate`, optional
        The instances, for relations that read them.
    discretizer, relation, estimator, confidence, permutations
        As in `evaluate`.
    seed : int
        Of the permutations.
    weights, clusters, uninformative
        As in `evaluate`.
    pool : tuple of rows like X and their predictions, optional
        Rows without explanations, against which sufficiency is checked, too, as in `evaluate`.
    outcome, agree, range
        As in `evaluate`; rows of probabilities are "scores".
    ids
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
    beside_them = {"X": X, "weights": weights, "clusters": clusters, "ids": ids}
    index = check_order({"predictions": predictions, "explanations": explanations, **beside_them})
    X, predictions = as_rows(X), gone_through(as_column(predictions))
    weights, clusters, ids = as_column(weights), as_column(clusters), as_column(ids)
    if X is not None and not isinstance(X, list | np.ndarray | pd.DataFrame) and not issparse(X):
        check_X(X)  # which says what to give instead; a relation of one's own may read arrays of any shape
    given = _taken(explanations, predictions, X)
    way = discretizer_for(discretizer, given)
    setup = Setup(
        outcome=Outcome.of(outcome, agree, predictions, range=range),
        discretizer=way,
        estimator=component("estimator", estimator),
        confidence=confidence,
        permutations=permutations,
        seed=seed,
        background=X,
        explained_by=declared_by_explainer(given),
    )
    more = None if pool is None else logged(pool, X)
    applies = needed(Applicability.of(relation, given, X), more)
    labels, against = labelled(predictions, more, applies, setup.outcome)
    for name, rows in (("explanations", len(given)), ("rows of X", None if X is None else n_rows(X))):
        if rows is not None and rows != len(labels.codes):
            raise InputError(f"{rows} {name} for {len(labels.codes)} predictions: give one of each per row.")
    if given.instances is None:
        given = attrs.evolve(given, instances=X)
    design = design_of(weights, clusters, X, len(given), more, uninformative)
    drawn = of_sample(design, len(given), against)
    beside = RowMetadata(ids=None if ids is None else RowIds.of(ids, X, len(given), more), index=index)
    population = InMemory.of(X, labels, given, drawn, against, beside)
    if learns(way):
        warn_about_background(way, "a log has none, `evaluate` can be given one")
        population.teach(way)
        setup = attrs.evolve(setup, learnt_from=THE_SAMPLE)
    result = measured(population, attrs.evolve(setup, applies=applies))
    if clusters is None:
        _check_repeats(result)
    return result


def _taken(given: Any, predictions: Any, X: Any) -> Explanations:
    """Take explanations as people have them."""
    has_adapter = adapter_for(given) is not None
    explanations = adapt(given if has_adapter else as_rows(given, texts=False), predictions=predictions, X=X)
    if not has_adapter and not isinstance(given, Explanations):
        warn_about_base_values(explanations)
    return read_rules(explanations, X)


def _check_repeats(result: Evaluation) -> None:
    """Warn if rows that repeat others change what was measured."""
    rows = result.population
    assert isinstance(rows, InMemory)
    words = None if rows.sample.X is None else lambda: rows.row_names.words
    warn_about_repeated_rows(result.counts["consistency"], len(rows.sample), words)


def compare(
    model: Any,
    X: Any,
    explainers: Any = ("shap", "lime"),
    discretizers: Any = None,
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
    progress: bool = True,
    weights: Any = None,
    clusters: Any = None,
    uninformative: bool = False,
    pool: Any = None,
    outcome: str | None = None,
    agree: str | None = None,
    range: Any = None,
    ids: Any = None,
) -> Comparison:
    """Evaluate several explainers, each with several discretizers, on the same rows.

    Parameters
    ----------
    model, X
        As in `evaluate`.
    explainers, discretizers : iterable
        Names, "name:param=value,…", instances or functions; one may be given alone. Every explainer explains
        once, whatever the number of discretizers; a discretizer that does not take an explainer's kind is
        left out. Without discretizers each has the one that `evaluate` would use. Where several have one
        name, the second is called "name (2)".
    relation, estimator, background, seed, n_jobs, confidence, permutations
        As in `evaluate`, and so are `store`, `on_error`, `row_timeout`, `progress`, `weights`,
        `clusters` and `uninformative`.
    pool : like X, optional
        As in `evaluate`, for those explainers whose explanations can be checked against it.
    outcome, agree, range
        As in `evaluate`.
    ids
        As in `evaluate`, for the results of each explainer.

    Returns
    -------
    Comparison
        Its order, its best and its differences are those of leave-one-out, the estimate of the measure
        itself, whatever the estimator. p-values are adjusted for the number of pairs by Holm's method.

    Examples
    --------
    >>> import numpy as np, faithkit
    >>> X = np.arange(200.0).reshape(-1, 1)
    >>> def halves(X):
    ...     return (X[:, 0] >= 100).tolist()
    >>> def parity(X):
    ...     return (X[:, 0] % 2).tolist()
    >>> found = faithkit.compare(lambda X: X[:, 0] >= 100, X, explainers=[halves, parity])
    >>> found.best()
    ['halves']
    """
    options = {
        "relation": relation,
        "estimator": estimator,
        "background": background,
        "seed": seed,
        "n_jobs": n_jobs,
        "confidence": confidence,
        "permutations": permutations,
        "store": store,
        "on_error": on_error,
        "row_timeout": row_timeout,
        "progress": progress,
        "weights": weights,
        "clusters": clusters,
        "uninformative": uninformative,
        "pool": offered(pool),
        "outcome": outcome,
        "agree": agree,
        "range": range,
        "ids": ids,
    }
    return compared(explainers, discretizers, partial(evaluate, model, X, **options))


def plan(
    epsilon: float,
    n_explanations: int | None = None,
    pilot: Any = None,
    measure: str = "consistency",
    pool: int = 0,
) -> Plan:
    """Say how many rows to explain, so that little is left unchecked and the interval is narrow.

    Parameters
    ----------
    epsilon : float
        The largest bias or unverified share, and half of the interval's largest width.
    n_explanations : int, optional
        The size of the explainer's range; for consistency only.
    pilot : Evaluation, optional
        A first, small evaluation to extrapolate from.
    measure : str
        "consistency" or "sufficiency".
    pool : int
        Rows that sufficiency can be checked against besides, without being explained.

    Returns
    -------
    Plan

    Examples
    --------
    >>> import faithkit
    >>> faithkit.plan(0.1, n_explanations=2048).n
    7535
    """
    if isinstance(epsilon, Evaluation):
        raise InputError("epsilon is a result: give that as the pilot, as in plan(0.1, pilot=result).")
    first = None if pilot is None else pilot_of(pilot, measure)
    return plan_samples(epsilon, n_explanations, first, measure, pool)
