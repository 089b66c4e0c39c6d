"""Estimators: from a tally to the score of every owner, and from the scores to one number.

The paper's estimator is `leave-one-out`. All share one form: a score for an owner of explanation u
with label y, depending on whether u holds for the owner itself; NaN leaves the owner out of the mean.
"""

import contextlib
from collections.abc import Callable, Iterable
from typing import Any

import attrs
import numpy as np
from numpy.typing import NDArray

from faithkit.arrays import ratio
from faithkit.errors import ContractError
from faithkit.foreign import foreign
from faithkit.measure.agreement.same_label import SAME_LABEL
from faithkit.measure.counting.tally import SELF, Tally
from faithkit.measure.protocols import said

Scores = NDArray[np.float64]


class LeaveOneOut:
    """The paper's: the share of *other* instances that agree; 0 where there are none.

    Examples
    --------
    >>> tally = Tally(np.array([[2, 1]]), np.array([[[0, 0]], [[2, 1]]]))
    >>> LeaveOneOut().scores(tally)[1]
    array([[0.5, 0. ]])
    """

    name = "leave-one-out"
    interval = True
    outcomes = ("labels", "numbers", "scores")

    def scores(self, tally: Tally) -> Scores:
        """Score every owner."""
        return ratio(tally.agreeing, tally.others)

    def by_chance(self, verified: float, chance: float) -> float:
        """Return the mean over all shuffles of the labels: 0 for who cannot be checked."""
        return verified * chance


class PlugIn:
    """The Gibbs decoder's accuracy on the sample: the instance itself counts too.

    Examples
    --------
    >>> tally = Tally(np.array([[3, 1]]), np.array([[[0, 0]], [[3, 1]]]))
    >>> PlugIn().scores(tally)[1]
    array([[0.75, 0.25]])
    """

    name = "plug-in"
    interval = True
    outcomes = ("labels", "numbers", "scores")

    def scores(self, tally: Tally) -> Scores:
        """Score every owner."""
        share = ratio(tally.alike, tally.counts.sum(axis=1, keepdims=True))
        return np.broadcast_to(share, tally.owners.shape)


class Majority:
    """The optimal decoder's accuracy on the sample; labels that tie share evenly.

    Examples
    --------
    >>> tally = Tally(np.array([[2, 2, 1]]), np.array([[[0, 0, 0]], [[2, 2, 1]]]))
    >>> Majority().scores(tally)[1]
    array([[0.5, 0.5, 0. ]])
    """

    name = "majority"
    interval = False  # it estimates 1 − E_O, another quantity than the interval is for

    def scores(self, tally: Tally) -> Scores:
        """Score every owner."""
        top = (tally.counts == tally.counts.max(axis=1, keepdims=True)) & (tally.counts > 0)
        return np.broadcast_to(ratio(top, top.sum(axis=1, keepdims=True)), tally.owners.shape)


class VerifiedOnly:
    """Leave-one-out over those instances that can be checked; the others are left out of the mean.

    Examples
    --------
    >>> tally = Tally(np.array([[1]]), np.array([[[0]], [[1]]]))
    >>> VerifiedOnly().scores(tally)[1]
    array([[nan]])
    """

    name = "verified-only"
    interval = True
    outcomes = ("labels", "numbers", "scores")

    def scores(self, tally: Tally) -> Scores:
        """Score every owner."""
        return ratio(tally.agreeing, tally.others, empty=np.nan)

    def by_chance(self, verified: float, chance: float) -> float | None:
        """Return the mean over all shuffles of the labels, which leave out the same instances."""
        return chance if verified > 0 else None


class FunctionEstimator:
    """A plain function ``tally -> scores``."""

    interval = False

    def __init__(self, function: Callable[[Tally], Scores]) -> None:
        self.function = function
        self.name = getattr(function, "__name__", "a function")

    def scores(self, tally: Tally) -> Scores:
        """Score every owner."""
        return self.function(tally)


def by_chance(estimator: Any, verified: float, chance: float | None) -> float | None:
    """Return what explanations unrelated to the predictions would get; None where the estimator does not say.

    Parameters
    ----------
    estimator : Estimator
        Its method ``by_chance(verified, chance)`` is asked, if it has one: the mean of its values over all
        shuffles of the labels depends on no more than these for few estimators.
    verified : float
        Share of instances that could be checked.
    chance : float or None
        What a constant explainer gets; None for a single instance.

    Examples
    --------
    >>> by_chance(LeaveOneOut(), 0.5, 0.6), by_chance(VerifiedOnly(), 0.5, 0.6), by_chance(PlugIn(), 0.5, 0.6)
    (0.3, 0.6, None)
    """
    asked = said(estimator, "by_chance")
    if chance is None or asked is None:
        return None
    with _asking(estimator):
        told = asked(verified, chance)
        return None if told is None else float(told)


def _asking(estimator: Any) -> contextlib.AbstractContextManager[None]:
    """Name the estimator in what goes wrong inside it."""
    advice = "Use another one, such as leave-one-out."
    return foreign(f"the estimator {_name(estimator)}", advice, ContractError)


def _name(estimator: Any) -> str:
    return str(said(estimator, "name") or type(estimator).__name__)


def checked_scores(estimator: Any, tally: Tally) -> Scores:
    """Ask an estimator for its scores, and refuse what cannot be a score."""
    with _asking(estimator):
        given = estimator.scores(tally)
    try:
        scores = np.asarray(given)
    except ValueError:
        scores = np.empty(0, dtype=object)
    who = _name(estimator)
    if scores.dtype.kind not in "biuf":
        raise ContractError(f"the estimator {who} returned {given!r:.60}; expected numbers.")
    scores = scores.astype(np.float64, copy=False)
    if scores.shape != tally.owners.shape:
        raise ContractError(
            f"the estimator {who} returned scores of shape {scores.shape}; expected {tally.owners.shape}: "
            "(2, explanations, labels)."
        )
    used, least = scores[tally.owners > 0], 0.0 if tally.agreement.is_whole else -np.inf
    if ((used < least) | (used > 1)).any():
        raise ContractError(
            f"the estimator {who} returned scores from {np.nanmin(used):.6g} to {np.nanmax(used):.6g}; "
            "expected values from 0 to 1, or NaN to leave an owner out."
        )
    return scores


def checked_weights(estimator: Any, tally: Tally) -> NDArray[Any]:
    """Return how much all owners of each kind count together: as many as they are, if it does not weigh."""
    weigh = said(estimator, "weigh")
    if weigh is None:
        return tally.owners
    with _asking(estimator):
        given = np.broadcast_to(np.asarray(weigh(tally), dtype=np.float64), tally.owners.shape)
    used = given[tally.owners > 0]
    if not (np.isfinite(used) & (used >= 0)).all():
        raise ContractError(
            f"the estimator {_name(estimator)} weighs owners by {used.min():.6g} to {used.max():.6g}; "
            "expected finite weights of at least 0."
        )
    return np.where(tally.owners > 0, given, 0.0) * tally.owners


def mean_over(estimator: Any, tallies: Iterable[Tally]) -> float | None:
    """Average an estimator's scores over all owners of a tally that comes in parts.

    Examples
    --------
    >>> one = Tally(np.array([[2, 1]]), np.array([[[0, 0]], [[2, 1]]]))
    >>> other = Tally(np.array([[1]]), np.array([[[0]], [[1]]]))
    >>> mean_over(LeaveOneOut(), [one, other])
    0.25
    """
    total, weight = 0.0, 0.0
    for place, tally in enumerate(map(_read_only, tallies)):
        scores, weights = checked_scores(estimator, tally), checked_weights(estimator, tally)
        if place == 1:  # a tally that comes as a whole needs no such check
            _check_part(estimator, tally, scores, weights)
        part = _summed(scores, weights)
        total, weight = total + part[0], weight + part[1]
    return total / weight if weight else None


def _read_only(tally: Tally) -> Tally:
    """Return a tally that an estimator cannot change: the mean is over its owners."""
    counts, owners = tally.counts.view(), tally.owners.view()
    counts.flags.writeable = owners.flags.writeable = False
    return attrs.evolve(tally, counts=counts, owners=owners)


def _check_part(estimator: Any, tally: Tally, scores: Scores, weights: NDArray[Any]) -> None:
    """Refuse an estimator that needs the whole tally: one more explanation must not change its scores."""
    new = int(tally.agreement is SAME_LABEL)  # its label is nobody else's; no number is unlike all others
    counts = np.pad(tally.counts, ((0, 1), (0, new)))
    owners = np.pad(tally.owners, ((0, 0), (0, 1), (0, new)))
    for label in (0, -1):  # of two more instances
        counts[-1, label] += 1
        owners[1, -1, label] += 1
    one_more = attrs.evolve(tally, counts=counts, owners=owners, **_own_padded(tally))
    used = tally.owners > 0
    for asked, before in ((checked_scores, scores), (checked_weights, weights)):
        again = asked(estimator, one_more)[:, :-1, : tally.owners.shape[2]]
        if np.allclose(again[used], before[used], rtol=1e-12, atol=1e-12, equal_nan=True):
            continue
        raise ContractError(
            f"the estimator {_name(estimator)} scores an explanation by more than its own counts, and this "
            "tally is too large to be given as a whole: use another one, or a coarser discretizer."
        )


def _own_padded(tally: Tally) -> dict[str, Any]:
    """Return what is no other to an owner, with one explanation more: of that one, the owner itself."""
    own = {"own": tally.own, "own_agreeing": tally.own_agreeing}
    return {
        name: np.append(np.broadcast_to(one, (2, len(tally.counts))), SELF, axis=1)
        for name, one in own.items()
    }


def mean_score(scores: Scores, weights: NDArray[Any]) -> float | None:
    """Average the scores of owners by their weights; None where every owner is left out.

    Examples
    --------
    >>> tally = Tally(np.array([[2, 1]]), np.array([[[0, 0]], [[2, 1]]]))
    >>> round(mean_score(LeaveOneOut().scores(tally), tally.owners), 4)
    0.3333
    """
    total, weight = _summed(scores, weights)
    return total / weight if weight else None


def _summed(scores: Scores, owners: NDArray[Any]) -> tuple[float, float]:
    """Return the sums of the scores of all owners that are not left out, and of what these weigh."""
    if owners.min(initial=1) > 0 and not np.isnan(scores.min(initial=0.0)):
        scores, owners = scores.reshape(-1), owners.reshape(-1)
    else:
        counted = (owners > 0) & ~np.isnan(scores)
        scores, owners = scores[counted], owners[counted]
    return float((scores * owners).sum()), float(owners.sum())
