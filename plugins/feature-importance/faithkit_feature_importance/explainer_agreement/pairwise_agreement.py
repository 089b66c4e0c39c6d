"""Compute the agreement of two explainers, or of every two explainers in a comparison."""

from collections.abc import Sequence
from itertools import combinations
from typing import Any

import attrs
import numpy as np
import pandas as pd
from numpy.typing import NDArray

import faithkit
from faithkit_feature_importance.explainer_agreement.agreement_measures import (
    LOWER_BOUNDS,
    ORDER_MEASURES,
    TOP_K_MEASURES,
    Scores,
    TopFeatures,
)
from faithkit_feature_importance.explainer_agreement.agreement_result import (
    Agreement,
    Agreements,
    MeanAgreement,
)
from faithkit_feature_importance.explainer_agreement.feature_matching import (
    NamedImportances,
    check_predictions,
    match_features,
)

DEFAULT_K = 5  # if there are ten features or more


def agreement(
    first: Any,
    second: Any,
    k: int | None = None,
    *,
    among: Sequence[str] | None = None,
    names: tuple[str, str] = ("the first", "the second"),
    confidence: float = 0.95,
) -> Agreement:
    """Measure how far two explainers agree on the same rows, by the measures of Krishna et al. (2022).

    Parameters
    ----------
    first, second : Evaluation, or importances
        Results of `faithkit.evaluate` or `faithkit.score`, or importances in any form that
        `faithkit.plugin.adapt` takes. They are compared before discretization. Features are matched by name
        if both sides have names, else by position.
    k : int, optional
        How many of the largest importances to compare. By default 5, or half of the features if there are
        fewer than ten.
    among : sequence of str, optional
        The features whose order the last two measures compare. By default all.
    names : tuple of str
        The names of the two explainers.
    confidence : float
        The confidence level of the intervals. A result of faithkit brings its own level.

    Returns
    -------
    Agreement

    Examples
    --------
    The two largest of three importances are the same features with the same signs, in another order:

    >>> result = agreement([[0.5, -0.3, 0.1]], [[0.2, -0.4, 0.0]], k=2)
    >>> {name: mean.value for name, mean in result.measures.items()}
    {'feature agreement': 1.0, 'sign agreement': 1.0, 'rank agreement': 0.0, 'signed rank agreement': 0.0,
    'rank correlation': 0.5, 'pairwise rank agreement': 0.6666666666666666}
    >>> round(result.measures["feature agreement"].by_chance, 3)
    0.667
    """
    differences, design = _faithfulness_differences(first, second, names), _first_result(first, second)
    left, right = match_features(NamedImportances.of(names[0], first), NamedImportances.of(names[1], second))
    n_features = left.values.shape[1]
    top_k, columns = _resolve_k(k, n_features), _resolve_columns(among, left)
    in_both = ~(left.missing | right.missing)
    scores = _row_scores(left.values[in_both], right.values[in_both], top_k, columns)
    means = {
        name: _mean_agreement(name, row_scores, in_both, design, confidence)
        for name, row_scores in scores.items()
    }
    return Agreement(
        names=names,
        k=top_k,
        features=n_features,
        among=None if among is None else tuple(among),
        n=int(in_both.sum()),
        unexplained={side.name: int(side.missing.sum()) for side in (left, right)},
        measures=means,
        differences=differences,
        confidence=confidence if design is None else design.confidence,
        rows=pd.DataFrame(
            {name: _expand_to_all_rows(observed, in_both) for name, (observed, _) in scores.items()}
        ),
    )


def agreements(
    comparison: faithkit.results.Comparison, k: int | None = None, *, among: Sequence[str] | None = None
) -> Agreements:
    """Measure how far every two explainers of a comparison agree, and how faithful each of them is.

    Only systems with the same discretizer are paired, since only their faithfulness can be compared.

    Parameters
    ----------
    comparison : Comparison
        The result of `faithkit.compare`, or ``faithkit.results.Comparison({name: result, …})``.
    k, among
        As in `agreement`.

    Returns
    -------
    Agreements

    Examples
    --------
    >>> labels, phi = ["yes", "no"] * 50, np.tile([[0.5, 0.1], [-0.4, 0.2]], (50, 1))
    >>> results = {name: faithkit.score(labels, sign * phi) for name, sign in (("plus", 1), ("minus", -1))}
    >>> (pair,) = agreements(faithkit.results.Comparison(results)).pairs
    >>> [pair.measures[name].value for name in ("feature agreement", "sign agreement")]
    [1.0, 0.0]
    """
    if not isinstance(comparison, faithkit.results.Comparison):
        raise faithkit.errors.InputError(
            f"agreements needs a faithkit.results.Comparison, got {type(comparison).__name__}: give the "
            "result of faithkit.compare, or give two results to agreement."
        )
    results = comparison.results
    discretizers = {name: result.setup.discretizer.text for name, result in results.items()}
    pairs = [pair for pair in combinations(results, 2) if discretizers[pair[0]] == discretizers[pair[1]]]
    if not pairs:
        raise faithkit.errors.InputError(
            f"agreement needs two explainers with the same discretizer, and there is {', '.join(results)}: "
            "give two explainers, and one discretizer for both."
        )
    return Agreements(
        tuple(agreement(results[a], results[b], k, among=among, names=(a, b)) for a, b in pairs), comparison
    )


def _faithfulness_differences(
    first: Any, second: Any, names: tuple[str, str]
) -> dict[str, faithkit.results.Difference]:
    """Return how much more faithful the first is, if both are results; this also checks their rows."""
    if not all(isinstance(side, faithkit.Evaluation) for side in (first, second)):
        return {}
    common_measures = [measure for measure in first.measures if measure in second.measures]
    differences = {measure: first.difference(second, measure) for measure in common_measures}
    check_predictions(first, second, names)
    return differences


def _first_result(*sides: Any) -> faithkit.Evaluation | None:
    """Return the first result, if there is one: it has the weights and clusters of the rows."""
    return next((side for side in sides if isinstance(side, faithkit.Evaluation)), None)


def _resolve_k(k: int | None, n_features: int) -> int:
    if n_features == 0:
        raise faithkit.errors.InputError("agreement: the explanations have no features: give importances.")
    if k is None:
        return min(DEFAULT_K, (n_features + 1) // 2)
    size = faithkit.plugin.check_integer(k, "agreement: k", minimum=1, error=faithkit.errors.ParameterError)
    if size > n_features:
        raise faithkit.errors.InputError(
            f"agreement: k is {size}, and the explanations have {n_features} features: choose a smaller k."
        )
    return size


def _resolve_columns(among: Sequence[str] | None, importances: NamedImportances) -> NDArray[np.int64]:
    """Return the positions of the features named in `among`; of all features if it is None."""
    features = (
        [str(j) for j in range(importances.values.shape[1])]
        if importances.features is None
        else importances.features
    )
    column_names = features if among is None else [among] if isinstance(among, str) else list(among)
    unknown = [feature for feature in column_names if feature not in features]
    if unknown or len(column_names) < 2 <= len(features) or len(set(column_names)) < len(column_names):
        problem = (
            f"{unknown[0]!r} is no feature" if unknown else f"{len(set(column_names))} of them have no order"
        )
        listed = ", ".join(features[:DEFAULT_K]) + (" …" if len(features) > DEFAULT_K else "")
        raise faithkit.errors.InputError(f"agreement: {problem}: choose two or more among {listed}.")
    return np.array([features.index(feature) for feature in column_names], dtype=np.int64)


def _row_scores(
    left: NDArray[np.float64], right: NDArray[np.float64], k: int, columns: NDArray[np.int64]
) -> dict[str, Scores]:
    tops = TopFeatures.of(left, k), TopFeatures.of(right, k)
    scores = {name: measure(*tops) for name, measure in TOP_K_MEASURES.items()}
    return scores | {
        name: measure(left[:, columns], right[:, columns]) for name, measure in ORDER_MEASURES.items()
    }


def _mean_agreement(
    name: str,
    scores: Scores,
    in_both: NDArray[np.bool_],
    design: faithkit.Evaluation | None,
    confidence: float,
) -> MeanAgreement:
    lower_bound = LOWER_BOUNDS.get(name, 0.0)
    observed, chance = (
        faithkit.plugin.Mean.of(
            _expand_to_all_rows(row_values, in_both), confidence=confidence, minimum=lower_bound
        )
        if design is None
        else design.mean(_expand_to_all_rows(row_values, in_both), minimum=lower_bound)
        for row_values in scores
    )
    return MeanAgreement(**attrs.asdict(observed), by_chance=chance.value)


def _expand_to_all_rows(scores: NDArray[np.float64], in_both: NDArray[np.bool_]) -> NDArray[np.float64]:
    """Return scores for all rows: NaN for rows that only one side explains."""
    expanded = np.full(len(in_both), np.nan)
    expanded[in_both] = scores
    return expanded
