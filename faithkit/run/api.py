"""The functions that most users call: `evaluate`, `score` and `compare`."""

from functools import partial
from typing import Any

import attrs
import numpy as np
import pandas as pd
from scipy.sparse import issparse

from faithkit.arrays import Ints
from faithkit.arrays.containers import take_rows
from faithkit.explanations.explanations import Explanations
from faithkit.inputs.data_warnings import warn_about_base_values, warn_about_texts_among_numbers
from faithkit.inputs.models.predictor import Predictor
from faithkit.inputs.models.recognition import resolve_model
from faithkit.inputs.objects.adapters import find_adapter
from faithkit.inputs.objects.conversion import as_column, as_rows
from faithkit.inputs.objects.explanation_forms import adapt
from faithkit.inputs.objects.text_adapters import find_text_adapter
from faithkit.inputs.pairing import pair_columns, read_pairs
from faithkit.inputs.predictions.labels import describe_missing_labels, find_missing_labels
from faithkit.inputs.predictions.outcome import LABELS, NUMBERS, Outcome, materialise, parse_outcome
from faithkit.inputs.rows import check_row_order, check_X
from faithkit.measure.verdict import LEVEL
from faithkit.renamed import with_new_keywords
from faithkit.run.comparisons.comparison import Comparison, compare_systems
from faithkit.run.components.learning import find_source_of_learning
from faithkit.run.components.resolution import resolve_component
from faithkit.run.components.setup import Applicability, Setup
from faithkit.run.components.system import System, check_inputs, check_predictions, warn_about_randomness
from faithkit.run.diagnostics import add_diagnoses, choose_diagnostics
from faithkit.run.evaluation import Evaluation
from faithkit.run.explaining.executors import resolve_executor
from faithkit.run.explaining.job import Job, check_on_error
from faithkit.run.pipeline import measure_explanations
from faithkit.run.populations.sample_inputs import SampleInputs, as_optional_pool, check_pool
from faithkit.run.provenance import describe_model


@with_new_keywords
def evaluate(
    model: Any,
    X: Any,
    explainer: Any = "shap",
    *,
    discretizer: Any = None,
    relation: Any = None,
    estimator: Any = "leave-one-out",
    confidence: float = 0.95,
    permutations: int = 0,
    control_draws: int | None = None,
    faithful_at: float = LEVEL,
    seed: int = 0,
    outcome: str | None = None,
    agree: str | None = None,
    range: Any = None,
    weights: Any = None,
    clusters: Any = None,
    blocks: Any = None,
    uninformative: bool = False,
    ids: Any = None,
    pool: Any = None,
    background: Any = None,
    n_jobs: int = 1,
    executor: Any = None,
    on_error: str = "raise",
    diagnose: Any = None,
    progress: bool = True,
) -> Evaluation:
    """Explain a sample and measure how faithful the explanations are.

    Parameters
    ----------
    model : object with `predict`, or callable ``X -> labels``
    X : array, DataFrame, sparse matrix or list of str
        Instances of the kind that the system will meet; an array of images has more than two axes. If the
        model names the columns it was fitted with (`feature_names_in_`), it and the explainer see only
        these, in its order. The other columns can be named in `weights`, `clusters`, `blocks`,
        `ids` and `Evaluation.by`.
    explainer, discretizer, relation, estimator : str, object or callable
        A name, "name:param=value,…", an instance, or a function. `relation` is sufficiency's relation; by
        default it is the one that the explanations name. The default discretizer is also the one that they
        name, else "original".
    confidence : float
        The confidence of the intervals.
    permutations : int
        The number of permutations for the p-value; 0 for no p-value.
    control_draws : int, optional
        How often sufficiency's control is drawn: explanations of the same form, or scopes of the same size,
        chosen without the model. By default ten times; 0 for no control. It is drawn for at most 10,000 rows,
        chosen by their content.
    faithful_at : float
        The level that the lower end of the interval must reach for explanations to be called faithful.
    seed : int
        The seed of each row is derived from it and from the row's content.
    outcome : str, optional
        What predictions are: "labels", "numbers" or "scores". By default the predictions of regressors, and
        floats that are not whole, are numbers, and all others are labels. For numbers, the measure is the
        share of their variance that explanations account for.
    agree : str, optional
        "within:ε" counts numbers that differ by at most ε as the same label.
    range : pair of numbers, or str, optional
        The smallest and the largest number that the model can predict, such as (0, 500000) or "0:500000".
        Without it, intervals for numbers are approximate, because a sample may not contain the outliers.
    weights : sequence of n numbers, or the name of a column of X, optional
        How much each row counts, such as one over the probability that it was drawn.
    clusters : sequence of n values, or the name of a column of X, optional
        Which rows are the same case seen several times, such as a customer. Rows of one cluster are not
        checked against each other. With a pool, the weights and clusters of its rows come last.
    blocks : sequence of n values, or the name of a column of X, optional
        Which rows may be compared, such as answers to the same question. Rows are checked only against other
        rows of their block. With a pool, the blocks of its rows come last.
    uninformative : bool
        Whether you know that neither weights nor cluster sizes are related to predictions, such as weights
        that were drawn at random. Intervals are then narrower.
    ids : sequence of n values, or the name of a column of X, optional
        The name of each row, such as a customer number, for pair and local results. Several rows may
        have the same name. With a pool, the names of its rows come last.
    pool : like X, optional
        Rows that are predicted and not explained. Sufficiency is also checked against them, if its relation
        reads only the instance. The explainer must not have been fitted to them any more than to X.
    background : like X, optional
        What the explainer learns from. By default X itself, with a warning.
    n_jobs : int
        Workers that explain in parallel, -1 for one per core: 4 is short for the executor
        "processes:workers=4", and 1 for "here".
    executor : str, object or callable, optional
        What explains the rows, here or elsewhere: a name, "name:param=value,…", an instance, or a function.
        "stored:folder=runs" keeps what is finished, so that an interrupted run can continue. It changes no
        result.
    on_error : str
        "raise", or "record": rows that an explainer fails on count as unexplained.
    diagnose : str, object or callable, or several of these, optional
        Diagnostics to run on the result, beside those that always run; () for none at all.
    progress : bool
        Whether to show progress, in a terminal (on stderr) or a notebook.

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
    columns = {"weights": weights, "clusters": clusters, "blocks": blocks, "ids": ids}
    check_row_order({"X": X, **columns})
    kind, within, limits = parse_outcome(outcome, agree, range)
    model = model if isinstance(model, Predictor) else resolve_model(model, outcome=kind)
    explainer = resolve_component("explainer", explainer)
    discretizer = None if discretizer is None else resolve_component("discretizer", discretizer)
    estimator = resolve_component("estimator", estimator)
    executor = resolve_executor(executor, n_jobs)
    on_error = check_on_error(on_error)
    diagnostics = choose_diagnostics(diagnose)
    inputs = SampleInputs.of_model(model, X, background, pool, **columns, uninformative=uninformative)
    check_inputs(explainer, inputs.X)
    if relation is not None:  # refuse a pool that cannot be used before explaining, which may take long
        check_pool(inputs.pool, Applicability(resolve_component("relation", relation).instance))
    learnt_from = find_source_of_learning(
        [explainer, discretizer],
        None if background is None else inputs.background,
        inputs.X,
        inputs.pool,
    )
    predictor = Predictor(model, background=inputs.background, outcome=kind, within=within)
    check_predictions(explainer.text, explainer.instance, predictor)
    setup = Setup(
        outcome=Outcome(
            kind or (NUMBERS if predictor.is_regressor else LABELS),
            within,
            limits,
            unasked=kind is None and not predictor.is_regressor,
        ),
        explainer=explainer,
        estimator=estimator,
        confidence=confidence,
        permutations=permutations,
        draws=control_draws,
        faithful_at=faithful_at,
        seed=seed,
        model=describe_model(predictor.model),
        learnt_from=learnt_from,
        notes=inputs.notes,
    )
    predictions = predictor.answers(inputs.X, setup.outcome)
    warn_about_randomness(predictor, inputs.X, predictions, setup.outcome)
    job = Job(explainer, predictor, inputs.background, setup.seed, on_error)
    system, explanations = System.from_first_sample(job, inputs.X, executor, progress)
    setup = attrs.evolve(setup, system=system)
    result = measure_explanations(inputs, predictions, explanations, discretizer, relation, setup)
    return add_diagnoses(result, diagnostics)


def score(
    predictions: Any,
    explanations: Any,
    X: Any = None,
    *,
    adapter: str | None = None,
    discretizer: Any = None,
    relation: Any = None,
    estimator: Any = "leave-one-out",
    confidence: float = 0.95,
    permutations: int = 0,
    control_draws: int | None = None,
    faithful_at: float = LEVEL,
    seed: int = 0,
    outcome: str | None = None,
    agree: str | None = None,
    range: Any = None,
    weights: Any = None,
    clusters: Any = None,
    blocks: Any = None,
    uninformative: bool = False,
    ids: Any = None,
    pool: Any = None,
    diagnose: Any = None,
) -> Evaluation:
    """Measure logged explanations: no model and no explainer needed.

    Parameters
    ----------
    predictions : sequence of n labels
        Rows without a label are left out, and counted in a note. Rows are paired by position. Pandas objects
        whose indexes are in different orders are refused.
    explanations : 2-D array, DataFrame, list of hashables, or Explanations
    X : like in `evaluate`, optional
        The instances, for relations that read them. Columns of numbers in `explanations` are paired with the
        columns of X, by name or else in their order, and are then importances of these.
    adapter : str, optional
        What reads the explanations: a name, or "name:param=value,…", as in `faithkit.plugin.adapt`. By
        default texts are read by the one installed adapter that takes them, such as "rule-texts", which reads
        rules about the columns of X ("age ≤ 37 and sex = Male"); "none" compares them as texts.
    discretizer, relation, estimator, confidence, permutations, control_draws, faithful_at
        As in `evaluate`.
    seed : int
        The seed of the permutations, and of the control's draws.
    outcome, agree, range
        As in `evaluate`; rows of probabilities are "scores".
    weights, clusters, blocks, uninformative, ids
        As in `evaluate`.
    pool : tuple of rows like X and their predictions, optional
        Rows without explanations, against which sufficiency is also checked, as in `evaluate`.
    diagnose : str, object or callable, or several of these, optional
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
    diagnostics = choose_diagnostics(diagnose)
    columns = {"weights": weights, "clusters": clusters, "blocks": blocks, "ids": ids}
    index = check_row_order({"predictions": predictions, "explanations": explanations, "X": X, **columns})
    X, predictions = as_rows(X), materialise(as_column(predictions))
    is_array = isinstance(X, np.ndarray) and X.ndim > 1  # of any shape, since a relation may read it
    if X is not None and not is_array and not isinstance(X, list | pd.DataFrame) and not issparse(X):
        check_X(X)  # raises
    logged_explanations = _convert_explanations(explanations, predictions, X, adapter)
    kind = Outcome.of(outcome, agree, predictions, range=range)
    rows = _LoggedRows(predictions, logged_explanations, X, columns, index)
    n_left_out = 0
    if kind.has_labels:
        rows, n_left_out = rows.leave_out_missing_labels()
    setup = Setup(
        outcome=kind,
        estimator=resolve_component("estimator", estimator),
        confidence=confidence,
        permutations=permutations,
        draws=control_draws,
        faithful_at=faithful_at,
        seed=seed,
        pairs=read_pairs(logged_explanations),
        notes=(describe_missing_labels(n_left_out),) if n_left_out else (),
    )
    n = len(rows.predictions if hasattr(rows.predictions, "__len__") else rows.explanations)
    inputs = SampleInputs.of_log(rows.X, n, pool, rows.index, **rows.columns, uninformative=uninformative)
    result = measure_explanations(inputs, rows.predictions, rows.explanations, discretizer, relation, setup)
    return add_diagnoses(result, diagnostics)


@attrs.frozen(eq=False)
class _LoggedRows:
    """The rows of a log: what was predicted and explained, and the user's columns."""

    predictions: Any
    explanations: Explanations
    X: Any
    columns: dict[str, Any]
    index: pd.Index | None

    def leave_out_missing_labels(self) -> "tuple[_LoggedRows, int]":
        """Return the rows that have a label, and how many have none; rows without an id get their number."""
        is_missing = find_missing_labels(self.predictions)
        if not is_missing.any() or is_missing.all() or len(is_missing) != len(self.explanations):
            return self, 0
        rows, n = np.flatnonzero(~is_missing), len(is_missing)
        columns = {name: _take_column(column, rows, n) for name, column in self.columns.items()}
        if columns["ids"] is None:
            columns["ids"] = pd.Series(rows, name="row")
        kept_rows = _LoggedRows(
            take_rows(self.predictions, rows),
            self.explanations.take(rows),
            take_rows(self.X, rows),
            columns,
            None if self.index is None else self.index[rows],
        )
        return kept_rows, n - len(rows)


def _take_column(column: Any, rows: Ints, n: int) -> Any:
    """Return the values of selected rows, and those of all rows of a pool, which come after the n rows."""
    if not hasattr(column, "__len__") or isinstance(column, str):
        return column
    column = as_column(column)
    column = list(column) if isinstance(column, tuple) else column
    return take_rows(column, np.concatenate([rows, np.arange(n, len(column))]))


def _convert_explanations(explanations: Any, predictions: Any, X: Any, adapter: str | None) -> Explanations:
    """Convert explanations from any form that `score` accepts."""
    is_table = find_adapter(explanations) is None and not isinstance(explanations, Explanations)
    converted = adapt(explanations, predictions=predictions, X=X, adapter=adapter)
    if is_table:
        warn_about_base_values(converted)
        warn_about_texts_among_numbers(converted)
    text_adapter = find_text_adapter(converted, X) if adapter is None else None
    if text_adapter is not None:
        converted = text_adapter.read_texts(converted, X)
    return pair_columns(converted, X, is_table=is_table)


@with_new_keywords
def compare(
    model: Any,
    X: Any,
    explainers: Any = ("shap", "lime"),
    *,
    discretizers: Any = None,
    relation: Any = None,
    estimator: Any = "leave-one-out",
    confidence: float = 0.95,
    permutations: int = 0,
    control_draws: int | None = None,
    faithful_at: float = LEVEL,
    seed: int = 0,
    outcome: str | None = None,
    agree: str | None = None,
    range: Any = None,
    weights: Any = None,
    clusters: Any = None,
    blocks: Any = None,
    uninformative: bool = False,
    ids: Any = None,
    pool: Any = None,
    background: Any = None,
    n_jobs: int = 1,
    executor: Any = None,
    on_error: str = "raise",
    progress: bool = True,
) -> Comparison:
    """Evaluate several explainers, each with several discretizers, on the same rows.

    Parameters
    ----------
    model, X
        As in `evaluate`.
    explainers, discretizers : iterable
        Names, "name:param=value,…", instances or functions, or a single one of these. Every explainer
        explains once, whatever the number of discretizers. A discretizer that does not accept an explainer's
        kind of explanation is left out. Without discretizers, each explainer has the one that `evaluate`
        would use. If several have the same name, the second is called "name (2)". An explainer that fails is
        left out, and the result says why.
    relation : str, object, callable, or mapping
        As in `evaluate`; or a mapping of explainers to relations, such as
        ``{"shap": "same-top-features", "anchors": "in-scope"}``.
    estimator, confidence, permutations, control_draws, faithful_at, seed, outcome, agree, range
        As in `evaluate`.
    weights, clusters, blocks, uninformative, ids
        As in `evaluate`.
    pool : like X, optional
        As in `evaluate`, for those explainers whose explanations can be checked against it.
    background, n_jobs, executor, on_error, progress
        As in `evaluate`.

    Returns
    -------
    Comparison
        Order, best systems and differences come from leave-one-out, which estimates the measure itself,
        whatever the estimator. p-values are adjusted for the number of pairs by Holm's method.

    Examples
    --------
    >>> import numpy as np, faithkit
    >>> X = np.arange(200.0).reshape(-1, 1)
    >>> def halves(X):
    ...     return (X[:, 0] >= 100).tolist()
    >>> def parity(X):
    ...     return (X[:, 0] % 2).tolist()
    >>> comparison = faithkit.compare(lambda X: X[:, 0] >= 100, X, explainers=[halves, parity])
    >>> comparison.best()
    ['halves']
    """
    options = {
        "estimator": estimator,
        "confidence": confidence,
        "permutations": permutations,
        "control_draws": control_draws,
        "faithful_at": faithful_at,
        "seed": seed,
        "outcome": outcome,
        "agree": agree,
        "range": range,
        "weights": weights,
        "clusters": clusters,
        "blocks": blocks,
        "uninformative": uninformative,
        "ids": ids,
        "pool": as_optional_pool(pool),
        "background": background,
        "n_jobs": n_jobs,
        "executor": executor,
        "on_error": on_error,
        "diagnose": (),
        "progress": progress,
    }
    measure = partial(evaluate, model, X, **options)
    return compare_systems(explainers, discretizers, relation, measure, progress)
