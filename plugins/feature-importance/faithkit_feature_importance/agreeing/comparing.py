"""From importances to agreement: of two explainers, and of every two in a comparison."""

from collections.abc import Sequence
from itertools import combinations
from typing import Any

import attrs
import numpy as np
import pandas as pd
from numpy.typing import NDArray

import faithkit
from faithkit_feature_importance.agreeing.matching import Side, check_predictions, matched
from faithkit_feature_importance.agreeing.measures import LEAST, OF_THE_LARGEST, OF_THE_ORDER, Scores, Top
from faithkit_feature_importance.agreeing.result import Agreement, Agreements, MeanAgreement

USUAL = 5  # of the largest importances, where there are many


def agreement(
    first: Any,
    second: Any,
    k: int | None = None,
    *,
    among: Sequence[str] | None = None,
    names: tuple[str, str] = ("the first", "the second"),
    confidence: float = 0.95,
) -> Agreement:
    """Say how far two explainers agree on the same rows: the measures of Krishna et al. (2022).

    Parameters
    ----------
    first, second : Evaluation, or importances
        Results of `faithkit.evaluate` or `faithkit.score`, or importances in any form that `faithkit.adapt`
        takes. They are compared as they were explained, whatever a discretizer made of them. Features are
        matched by their names, where both have some, else by their place.
    k : int, optional
        How many of the largest importances are compared; by default 5, or half of the features where these
        are fewer than ten.
    among : sequence of str, optional
        The features whose order is compared, in the last two measures; by default all.
    names : tuple of str
        What the two are called.
    confidence : float
        Of the intervals; results have their own.

    Returns
    -------
    Agreement

    Examples
    --------
    The two largest of three importances are the same ones, with the same signs, in another order:

    >>> found = agreement([[0.5, -0.3, 0.1]], [[0.2, -0.4, 0.0]], k=2)
    >>> {name: mean.value for name, mean in found.measures.items()}
    {'feature agreement': 1.0, 'sign agreement': 1.0, 'rank agreement': 0.0, 'signed rank agreement': 0.0,
    'rank correlation': 0.5, 'pairwise rank agreement': 0.6666666666666666}
    >>> round(found.measures["feature agreement"].by_chance, 3)
    0.667
    """
    differences, drawn = _faithfulness(first, second, names), _drawn(first, second)
    one, two = matched(Side.of(names[0], first), Side.of(names[1], second))
    d = one.values.shape[1]
    size, chosen = _size(k, d), _columns(among, one)
    both = ~(one.missing | two.missing)
    scores = _scored(one.values[both], two.values[both], size, chosen)
    means = {name: _mean(name, found, both, drawn, confidence) for name, found in scores.items()}
    return Agreement(
        names=names,
        k=size,
        features=d,
        among=None if among is None else tuple(among),
        n=int(both.sum()),
        unexplained={side.name: int(side.missing.sum()) for side in (one, two)},
        measures=means,
        differences=differences,
        confidence=confidence if drawn is None else drawn.confidence,
        rows=pd.DataFrame({name: _spread(found[0], both) for name, found in scores.items()}),
    )


def agreements(
    compared: faithkit.results.Comparison, k: int | None = None, *, among: Sequence[str] | None = None
) -> Agreements:
    """Say how far every two explainers of a comparison agree, beside how faithful each of them is.

    Systems of one discretizer are paired, whose faithfulness can be compared.

    Parameters
    ----------
    compared : Comparison
        What `faithkit.compare` returns, or ``faithkit.results.Comparison({name: result, …})``.
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
    if not isinstance(compared, faithkit.results.Comparison):
        raise faithkit.errors.InputError(
            f"agreements are those of a faithkit.results.Comparison, got {type(compared).__name__}: "
            "give what faithkit.compare returns, or two results to agreement."
        )
    results = compared.results
    ways = {name: found.setup.discretizer.text for name, found in results.items()}
    pairs = [pair for pair in combinations(results, 2) if ways[pair[0]] == ways[pair[1]]]
    if not pairs:
        raise faithkit.errors.InputError(
            f"agreement is that of two explainers under one discretizer, and there is {', '.join(results)}: "
            "give two explainers, and one discretizer for both."
        )
    return Agreements(
        tuple(agreement(results[a], results[b], k, among=among, names=(a, b)) for a, b in pairs), compared
    )


def _faithfulness(first: Any, second: Any, names: tuple[str, str]) -> dict[str, faithkit.results.Difference]:
    """Return how much more faithful the first is, where both are results; their rows are checked by that."""
    if not all(isinstance(one, faithkit.Evaluation) for one in (first, second)):
        return {}
    common = [measure for measure in first.measures if measure in second.measures]
    found = {measure: first.difference(second, measure) for measure in common}
    check_predictions(first, second, names)
    return found


def _drawn(*given: Any) -> faithkit.Evaluation | None:
    """Return the result that knows how rows were drawn, if there is one."""
    return next((one for one in given if isinstance(one, faithkit.Evaluation)), None)


def _size(k: int | None, d: int) -> int:
    if d == 0:
        raise faithkit.errors.InputError("agreement: the explanations have no features: give importances.")
    if k is None:
        return min(USUAL, (d + 1) // 2)
    size = faithkit.plugin.whole_number(k, "agreement: k", least=1, error=faithkit.errors.ParameterError)
    if size > d:
        raise faithkit.errors.InputError(
            f"agreement: k is {size}, and the explanations have {d} features: choose a smaller k."
        )
    return size


def _columns(among: Sequence[str] | None, side: Side) -> NDArray[np.int64]:
    """Return the columns of the chosen features."""
    known = [str(j) for j in range(side.values.shape[1])] if side.features is None else side.features
    chosen = known if among is None else [among] if isinstance(among, str) else list(among)
    unknown = [feature for feature in chosen if feature not in known]
    if unknown or len(chosen) < 2 <= len(known) or len(set(chosen)) < len(chosen):
        what = f"{unknown[0]!r} is no feature" if unknown else f"{len(set(chosen))} of them have no order"
        shown = ", ".join(known[:USUAL]) + (" …" if len(known) > USUAL else "")
        raise faithkit.errors.InputError(f"agreement: {what}: choose two or more among {shown}.")
    return np.array([known.index(feature) for feature in chosen], dtype=np.int64)


def _scored(
    one: NDArray[np.float64], two: NDArray[np.float64], k: int, chosen: NDArray[np.int64]
) -> dict[str, Scores]:
    tops = Top.of(one, k), Top.of(two, k)
    found = {name: measure(*tops) for name, measure in OF_THE_LARGEST.items()}
    return found | {name: measure(one[:, chosen], two[:, chosen]) for name, measure in OF_THE_ORDER.items()}


def _mean(
    name: str,
    scores: Scores,
    both: NDArray[np.bool_],
    drawn: faithkit.Evaluation | None,
    confidence: float,
) -> MeanAgreement:
    least = LEAST.get(name, 0.0)
    found, chance = (
        faithkit.plugin.Mean.of(_spread(one, both), confidence, least=least)
        if drawn is None
        else drawn.mean(_spread(one, both), least)
        for one in scores
    )
    return MeanAgreement(**attrs.asdict(found), by_chance=chance.value)


def _spread(scores: NDArray[np.float64], both: NDArray[np.bool_]) -> NDArray[np.float64]:
    """Put the scores of rows that both explain among all rows."""
    every = np.full(len(both), np.nan)
    every[both] = scores
    return every
