"""Estimators: they turn a tally into the score of every owner, and the scores into one number.

The paper's estimator is `leave-one-out`. All have the same form: a score for an owner of explanation u with
label y, which depends on whether u holds for the owner itself. NaN leaves the owner out of the mean.
"""

import contextlib
from collections.abc import Callable, Iterable
from typing import Any

import attrs
import numpy as np
from numpy.typing import NDArray

from faithkit.arrays import divide_safely
from faithkit.errors import ContractError, InputError
from faithkit.measure.counting.count import Count
from faithkit.measure.counting.tally import Tally
from faithkit.measure.protocols import Estimator, get_optional_attribute
from faithkit.third_party import guard

Scores = NDArray[np.float64]
Weights = NDArray[Any]  # whole numbers, or floats


class LeaveOneOut:
    """The paper's estimator: the share of *other* instances that agree; 0 where there are none.

    Examples
    --------
    >>> tally = Tally(np.array([[2, 1]]), np.array([[[0, 0]], [[2, 1]]]))
    >>> LeaveOneOut().scores(tally)[1]
    array([[0.5, 0. ]])
    """

    name = "leave-one-out"
    interval = True
    whole = False
    outcomes = ("labels", "numbers", "scores")

    def scores(self, tally: Tally) -> Scores:
        """Return the score of every owner."""
        return divide_safely(tally.agreeing, tally.others)

    def by_chance(self, verified: float, chance: float) -> float:
        """Return the mean over all permutations of the labels; an owner without others gets 0."""
        return verified * chance


class PlugIn:
    """The Gibbs decoder's accuracy on the sample; the instance itself is counted.

    Examples
    --------
    >>> tally = Tally(np.array([[3, 1]]), np.array([[[0, 0]], [[3, 1]]]))
    >>> PlugIn().scores(tally)[1]
    array([[0.75, 0.25]])
    """

    name = "plug-in"
    interval = True
    whole = False
    outcomes = ("labels", "numbers", "scores")

    def scores(self, tally: Tally) -> Scores:
        """Return the score of every owner."""
        share = divide_safely(tally.alike, tally.counts.sum(axis=1, keepdims=True))
        return np.broadcast_to(share, tally.owners.shape)


class Majority:
    """The optimal decoder's accuracy on the sample; tied labels share it evenly.

    Examples
    --------
    >>> tally = Tally(np.array([[2, 2, 1]]), np.array([[[0, 0, 0]], [[2, 2, 1]]]))
    >>> Majority().scores(tally)[1]
    array([[0.5, 0.5, 0. ]])
    """

    name = "majority"
    interval = False  # it estimates 1 − E_O, and the interval is for another quantity
    whole = False

    def scores(self, tally: Tally) -> Scores:
        """Return the score of every owner."""
        top = (tally.counts == tally.counts.max(axis=1, keepdims=True)) & (tally.counts > 0)
        return np.broadcast_to(divide_safely(top, top.sum(axis=1, keepdims=True)), tally.owners.shape)


class VerifiedOnly:
    """Leave-one-out over the instances that can be checked.

    Examples
    --------
    >>> tally = Tally(np.array([[1]]), np.array([[[0]], [[1]]]))
    >>> VerifiedOnly().scores(tally)[1]
    array([[nan]])
    """

    name = "verified-only"
    interval = True
    whole = False
    outcomes = ("labels", "numbers", "scores")

    def scores(self, tally: Tally) -> Scores:
        """Return the score of every owner."""
        return divide_safely(tally.agreeing, tally.others, empty=np.nan)

    def by_chance(self, verified: float, chance: float) -> float | None:
        """Return the mean over all permutations of the labels, which leave out the same instances."""
        return chance if verified > 0 else None


class FunctionEstimator:
    """An estimator from a plain function ``tally -> scores``."""

    interval = False

    def __init__(self, function: Callable[[Tally], Scores]) -> None:
        self.function = function
        self.name = getattr(function, "__name__", "a function")

    def scores(self, tally: Tally) -> Scores:
        """Return the score of every owner."""
        return self.function(tally)


def by_chance(estimator: Estimator, verified: float, chance: float | None) -> float | None:
    """Return the value that explanations unrelated to the predictions would get, if the estimator defines it.

    Parameters
    ----------
    estimator : Estimator
        Its optional method ``by_chance(verified, chance)`` returns the mean of its values over all
        permutations of the labels. For most estimators, that mean does not depend on these two numbers alone.
    verified : float
        The share of instances that could be checked.
    chance : float or None
        The value of a constant explainer; None for a single instance.

    Examples
    --------
    >>> by_chance(LeaveOneOut(), 0.5, 0.6), by_chance(VerifiedOnly(), 0.5, 0.6), by_chance(PlugIn(), 0.5, 0.6)
    (0.3, 0.6, None)
    """
    method = get_optional_attribute(estimator, "by_chance")
    if chance is None or method is None:
        return None
    with _calling(estimator):
        value = method(verified, chance)
        return None if value is None else float(value)


def _calling(estimator: Estimator) -> contextlib.AbstractContextManager[None]:
    """Add the estimator's name to the errors that it raises."""
    advice = "Use another one, such as leave-one-out."
    return guard(f"the estimator {_name(estimator)}", advice, ContractError)


def _name(estimator: Estimator) -> str:
    return str(get_optional_attribute(estimator, "name") or type(estimator).__name__)


def check_scores(estimator: Any, tally: Tally) -> Scores:
    """Return an estimator's scores; raise a `ContractError` if they are invalid."""
    with _calling(estimator):
        result: Any = estimator.scores(tally)
    try:
        scores = np.asarray(result)
    except ValueError:
        scores = np.empty(0, dtype=object)
    name = _name(estimator)
    if scores.dtype.kind not in "biuf":
        raise ContractError(f"the estimator {name} returned {result!r:.60}; expected numbers.")
    scores = scores.astype(np.float64, copy=False)
    if scores.shape != tally.owners.shape:
        raise ContractError(
            f"the estimator {name} returned scores of shape {scores.shape}; expected {tally.owners.shape}: "
            "(2, explanations, labels)."
        )
    used, lowest = scores[tally.owners > 0], 0.0 if tally.agreement.is_binary else -np.inf
    if ((used < lowest) | (used > 1)).any():
        raise ContractError(
            f"the estimator {name} returned scores from {np.nanmin(used):.6g} to {np.nanmax(used):.6g}; "
            "expected values from 0 to 1, or NaN to leave an owner out."
        )
    return scores


def check_weights(estimator: Estimator, tally: Tally) -> Weights:
    """Return the total weight of each kind of owner; raise a `ContractError` if the weights are invalid.

    Without the optional method `weigh`, every owner has weight 1.
    """
    weigh = get_optional_attribute(estimator, "weigh")
    if weigh is None:
        return tally.owners
    with _calling(estimator):
        weights = np.broadcast_to(np.asarray(weigh(tally), dtype=np.float64), tally.owners.shape)
    used = weights[tally.owners > 0]
    if not (np.isfinite(used) & (used >= 0)).all():
        raise ContractError(
            f"the estimator {_name(estimator)} weighs owners by {used.min():.6g} to {used.max():.6g}; "
            "expected finite weights of at least 0."
        )
    total: Weights = np.where(tally.owners > 0, weights, 0.0) * tally.owners
    return total


def mean_score_of_count(estimator: Estimator, count: Count) -> float | None:
    """Return the mean of an estimator's scores over all owners.

    An estimator gets the tally whole, or an error if it is too large; one that says `whole = False`, because
    it scores an explanation by its own counts alone, gets a large tally in parts.

    Examples
    --------
    >>> import faithkit
    >>> result = faithkit.score(["yes", "no", "yes", "yes"], ["a", "a", "a", "b"])
    >>> count = result.evidence.counts["consistency"]
    >>> mean_score_of_count(LeaveOneOut(), count), mean_score_of_count(VerifiedOnly(), count)
    (0.25, 0.3333333333333333)
    """
    if not get_optional_attribute(estimator, "whole"):
        return mean_score_of_tallies(estimator, count.tallies())
    try:
        tally = count.with_sorted_labels.tally
    except InputError as error:
        raise InputError(f"the estimator {_name(estimator)} needs the whole tally, and {error}") from None
    return mean_score_of_tallies(estimator, [tally])


def mean_score_of_tallies(estimator: Estimator, tallies: Iterable[Tally]) -> float | None:
    """Return the mean of an estimator's scores over all owners of a tally that comes in parts.

    Examples
    --------
    >>> first = Tally(np.array([[2, 1]]), np.array([[[0, 0]], [[2, 1]]]))
    >>> second = Tally(np.array([[1]]), np.array([[[0]], [[1]]]))
    >>> mean_score_of_tallies(LeaveOneOut(), [first, second])
    0.25
    """
    total_score, total_weight = 0.0, 0.0
    for tally in map(_read_only, tallies):
        score, weight = _weighted_sum(check_scores(estimator, tally), check_weights(estimator, tally))
        total_score, total_weight = total_score + score, total_weight + weight
    return total_score / total_weight if total_weight else None


def _read_only(tally: Tally) -> Tally:
    """Return a tally that an estimator cannot change, because the mean is over its owners."""
    counts, owners = tally.counts.view(), tally.owners.view()
    counts.flags.writeable = owners.flags.writeable = False
    return attrs.evolve(tally, counts=counts, owners=owners)


def mean_score(scores: Scores, weights: Weights) -> float | None:
    """Return the weighted mean of the owners' scores; None where every owner is left out.

    Examples
    --------
    >>> tally = Tally(np.array([[2, 1]]), np.array([[[0, 0]], [[2, 1]]]))
    >>> round(mean_score(LeaveOneOut().scores(tally), tally.owners), 4)
    0.3333
    """
    total_score, total_weight = _weighted_sum(scores, weights)
    return total_score / total_weight if total_weight else None


def _weighted_sum(scores: Scores, weights: Weights) -> tuple[float, float]:
    """Return the weighted sum of all scores that are not NaN, and the sum of their weights."""
    if weights.min(initial=1) > 0 and not np.isnan(scores.min(initial=0.0)):
        scores, weights = scores.reshape(-1), weights.reshape(-1)
    else:
        is_used = (weights > 0) & ~np.isnan(scores)
        scores, weights = scores[is_used], weights[is_used]
    return float((scores * weights).sum()), float(weights.sum())
