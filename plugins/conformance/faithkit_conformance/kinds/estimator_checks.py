"""Checks of estimators: scores are shares, and depend on the tally only."""

import math
from collections.abc import Iterator
from copy import deepcopy
from itertools import product
from numbers import Real
from typing import Any
from unittest import SkipTest

import numpy as np
from attrs import evolve, frozen
from numpy.typing import NDArray

from faithkit.plugin import Tally, registry
from faithkit_conformance.checks import for_each, forbid, require, skip_unless_passes
from faithkit_conformance.equality import are_equal
from faithkit_conformance.kinds.component_checks import create
from faithkit_conformance.kit import Candidate

_ROUNDING = 1e-12  # of scores
_TOLERANCE = 1e-6  # between two estimates of one quantity, from ten thousand million instances


@frozen(eq=False)
class EstimatorTrial:
    """An estimator and a tally to score."""

    estimator: Any
    tally_name: str
    tally: Tally

    @property
    def name(self) -> str:
        """The name of the tally."""
        return f"a tally with {self.tally_name}"

    def score_owners(self, tally: Tally | None = None) -> NDArray[np.float64]:
        """Return the scores of existing owners, and 0 elsewhere."""
        scored_tally = self.tally if tally is None else tally
        scores = np.asarray(self.estimator.scores(deepcopy(scored_tally)), dtype=np.float64)
        return np.where(scored_tally.owners > 0, scores, 0.0)

    def weigh_owners(self, tally: Tally | None = None) -> NDArray[np.float64]:
        """Return the weight of one owner of each kind in the mean, and 0 where there are none."""
        weighed_tally = self.tally if tally is None else tally
        weigh = getattr(self.estimator, "weigh", lambda tally: 1.0)
        weights = np.asarray(weigh(deepcopy(weighed_tally)), dtype=np.float64)
        return np.where(weighed_tally.owners > 0, np.broadcast_to(weights, weighed_tally.owners.shape), 0.0)


def _estimator_trials(candidate: Candidate) -> Iterator[EstimatorTrial]:
    estimator = create(candidate)
    for name, tally in example_tallies().items():
        yield EstimatorTrial(estimator, name, tally)


@for_each(_estimator_trials)
def check_scores_are_shares(trial: EstimatorTrial) -> None:
    """Check that scores have the shape (2, explanations, labels) and lie between 0 and 1, or are NaN.

    They are averaged over all owners. The scores of explanations without owners do not matter.
    """
    remedy = "Return one score for each entry of tally.owners, and NaN to leave an owner out"
    answer, shape = trial.estimator.scores(deepcopy(trial.tally)), trial.tally.owners.shape
    with forbid(ValueError, f"scores returned {answer!r:.60}", remedy):
        scores = np.asarray(answer)
    require(scores.dtype.kind in "biuf", f"scores returned {answer!r:.60}; expected numbers", remedy)
    problem = f"scores have the shape {scores.shape}; expected {shape}: (2, explanations, labels)"
    require(scores.shape == shape, problem, remedy)
    used = scores[trial.tally.owners > 0]
    if ((used < 0) | (used > 1)).any():
        problem = f"scores are from {np.nanmin(used):.6g} to {np.nanmax(used):.6g}; expected 0 to 1"
        require(False, problem, remedy)


def check_some_owners_are_scored(candidate: Candidate) -> None:
    """Check that some owner of some tally gets a number, and not NaN.

    NaN leaves an owner out of the mean. Where all are left out, there is no estimate.
    """
    skip_unless_passes(check_scores_are_shares, candidate)
    trials = list(_estimator_trials(candidate))
    scores = [trial.score_owners()[trial.tally.owners > 0] for trial in trials]
    is_scored = not np.isnan(np.concatenate(scores)).all()
    require(is_scored, "every score is NaN, on every tally", "Give NaN only where nothing can be checked")


@for_each(_estimator_trials)
def check_weights_can_be_used(trial: EstimatorTrial) -> None:
    """Check that `weigh`, if there is one, returns finite weights of at least 0 for all owners.

    The estimate is the mean of the scores with these weights.
    """
    remedy = "Return weights of the shape of tally.owners, or of one that broadcasts to it"
    with forbid((TypeError, ValueError), "its weights cannot be used", remedy):
        weights = trial.weigh_owners()
    is_usable = bool((np.isfinite(weights) & (weights >= 0)).all())
    problem = f"it weighs owners by {weights.min():.6g} to {weights.max():.6g}"
    require(is_usable, f"{problem}; expected finite weights of at least 0", remedy)


@for_each(_estimator_trials)
def check_tally_is_left_alone(trial: EstimatorTrial) -> None:
    """Check that scoring does not change the tally.

    One tally serves the estimate, its interval and the report.
    """
    for method in ("scores", "weigh"):
        passed_tally = deepcopy(trial.tally)
        getattr(trial.estimator, method, lambda _: None)(passed_tally)
        for table in ("counts", "owners"):
            is_same = np.array_equal(getattr(passed_tally, table), getattr(trial.tally, table))
            require(is_same, f"{method} changed tally.{table} in place", "Work on a copy")


@for_each(_estimator_trials, check_scores_are_shares, check_weights_can_be_used)
def check_scoring_again_gives_the_same_scores(trial: EstimatorTrial) -> None:
    """Check that the same tally gets the same scores and weights twice.

    Otherwise the same question has two answers.
    """
    for numbers, compute in (("scores", trial.score_owners), ("weights", trial.weigh_owners)):
        problem = f"two calls with one tally gave different {numbers}"
        is_same = are_equal(compute(), compute(), _ROUNDING)
        require(is_same, problem, "Use no randomness, and keep nothing between calls")


@for_each(_estimator_trials, check_scoring_again_gives_the_same_scores)
def check_order_of_the_tally_is_irrelevant(trial: EstimatorTrial) -> None:
    """Check that a tally with its explanations, or its labels, in the opposite order gets the same scores.

    Both are ordered by first appearance in the sample, which has no meaning.
    """
    remedies = {
        "explanations": "Score u from counts[u] and owners[:, u] alone: a large tally has no totals",
        "labels": "Treat all labels alike, whatever their numbers",
    }
    counts, owners = trial.tally.counts, trial.tally.owners
    for axis, (items, remedy) in enumerate(remedies.items()):
        reversed_tally = Tally(np.flip(counts, axis).copy(), np.flip(owners, axis + 1).copy())
        for numbers, compute in (("scores", trial.score_owners), ("weights", trial.weigh_owners)):
            is_same = are_equal(np.flip(compute(reversed_tally), axis + 1), compute(), _ROUNDING)
            require(is_same, f"{items} in the opposite order got other {numbers}", remedy)


@for_each(_estimator_trials, check_order_of_the_tally_is_irrelevant)
def check_parts_of_the_tally_suffice(trial: EstimatorTrial) -> None:
    """Check that an estimator with `whole = False` scores an explanation alike if the tally has one more.

    A large tally comes in parts, and such an estimator is given one after the other.
    """
    whole = getattr(trial.estimator, "whole", True)
    problem = f"whole is {whole!r:.60}; expected True or False"
    require(
        isinstance(whole, bool | np.bool_), problem, "Say False if every part of a tally can be scored alone"
    )
    if whole:
        raise SkipTest("It asks for the whole tally.")
    larger = _with_one_more_explanation(trial.tally)
    remedy = "Score u from counts[u] and owners[:, u] alone, or say whole = True"
    for numbers, compute in (("scores", trial.score_owners), ("weights", trial.weigh_owners)):
        before, after = compute(), compute(larger)[:, :-1, :-1]
        problem = f"one more explanation in the tally gave the others other {numbers}"
        require(are_equal(before, after, _ROUNDING), problem, remedy)


def _with_one_more_explanation(tally: Tally) -> Tally:
    """Add an explanation with two owners: one has the first label, and one a label that nobody else has."""
    counts = np.pad(tally.counts, ((0, 1), (0, 1)))
    owners = np.pad(tally.owners, ((0, 0), (0, 1), (0, 1)))
    for label in (0, -1):
        counts[-1, label] += 1
        owners[1, -1, label] += 1
    return Tally(counts, owners)


def _large_trial(candidate: Candidate) -> list[EstimatorTrial]:
    return [trial for trial in _estimator_trials(candidate) if trial.tally_name == "many instances"]


@for_each(_large_trial, check_order_of_the_tally_is_irrelevant)
def check_interval_is_of_the_same_quantity(trial: EstimatorTrial) -> None:
    """Check that an estimator with `interval` agrees with leave-one-out on a large tally.

    The standard error and the interval that are shown with it are those of leave-one-out.
    """
    if not getattr(trial.estimator, "interval", False):
        return
    leave_one_out = evolve(trial, estimator=registry().create("estimator", "leave-one-out"))
    estimate, expected = (_mean_score(scored) for scored in (trial, leave_one_out))
    is_near = abs(estimate - expected) < _TOLERANCE
    problem = f"it sets `interval`, but gives {estimate} where leave-one-out gives {expected:.6f}"
    require(is_near, problem, "Leave `interval` out: it estimates another quantity")


def _mean_score(trial: EstimatorTrial) -> float:
    """Return the mean of the owners' scores; NaN where every owner is left out."""
    scores = trial.score_owners()
    weights = np.where(np.isnan(scores), 0, trial.tally.owners)
    return float((np.nan_to_num(scores) * weights).sum() / weights.sum()) if weights.any() else math.nan


def check_by_chance_is_a_share(candidate: Candidate) -> None:
    """Check that `by_chance`, if there is one, returns a number from 0 to 1, or None.

    It is the mean of the estimate over all shuffles of the labels, so it has the range of an estimate.
    """
    by_chance = getattr(create(candidate), "by_chance", None)
    if by_chance is None:
        return
    for verified, chance in product((0.0, 0.5, 1.0), (0.0, 0.25, 1.0)):
        baseline = by_chance(verified, chance)
        is_share = baseline is None or (isinstance(baseline, Real) and 0 <= float(baseline) <= 1)
        problem = f"by_chance({verified}, {chance}) gave {baseline!r}; expected a number from 0 to 1, or None"
        remedy = "Give the mean of the estimate over all shuffles of the labels, such as verified * chance"
        require(is_share, problem, remedy)


def example_tallies() -> dict[str, Tally]:
    """Return tallies as the kernel counts them, unusual ones included.

    Examples
    --------
    >>> {name: tally.n for name, tally in example_tallies().items()}
    {'three labels': 40, 'one label': 12, 'one explanation': 9, 'nothing that holds': 9, 'a rare label': ...}
    """
    return {
        "three labels": _random_tally(0, 40, (8, 3)),
        "one label": _random_tally(1, 12, (5, 1)),
        "one explanation": _random_tally(2, 9, (1, 2)),
        "nothing that holds": _random_tally(3, 9, (4, 2), density=0.0),
        "a rare label": _equality_tally([[997, 3], [1, 0], [2, 499]]),
        "many instances": _equality_tally([[7 * 10**9, 3 * 10**9, 10**6], [10**6, 5 * 10**9, 2 * 10**9]]),
    }


def _equality_tally(counts: list[list[int]]) -> Tally:
    """Return a tally in which every explanation holds for its owners only."""
    table = np.array(counts, dtype=np.int64)
    return Tally(table, np.stack([np.zeros_like(table), table]))


def _random_tally(seed: int, n: int, shape: tuple[int, int], density: float = 0.4) -> Tally:
    """Count a random relation. Of several explanations, the first has no owner and the last never holds."""
    rng, (m, k) = np.random.default_rng(seed), shape
    holds = rng.random((m, n)) < density
    holds[-1] &= m == 1
    labels, owned_explanation = rng.integers(k, size=n), rng.integers(min(1, m - 1), m, size=n)
    counts = np.stack([holds[:, labels == y].sum(axis=1) for y in range(k)], axis=1)
    owners = np.zeros((2, m, k), dtype=np.int64)
    np.add.at(owners, (holds[owned_explanation, np.arange(n)].astype(int), owned_explanation, labels), 1)
    return Tally(counts.astype(np.int64), owners)
