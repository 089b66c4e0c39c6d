"""What an estimator promises: that its scores are shares, and a function of the tally alone."""

from itertools import product
from numbers import Real

import numpy as np
from numpy.typing import NDArray

from faithkit.errors import FaithkitError
from faithkit.extension.entries import Entry
from faithkit.measure.counting.tally import Tally
from faithkit.measure.estimators import LeaveOneOut, checked_scores, mean_score
from faithkit.measure.protocols import said
from faithkit.testing.checks import demand, needs
from faithkit.testing.fixtures import fresh
from faithkit.testing.kinds.component_checks import make

_NEAR = 1e-6  # of two estimates of one quantity, from ten thousand million instances


def check_scores_are_shares(entry: Entry) -> None:
    """Check that scores have the shape (2, explanations, labels) and lie between 0 and 1, or are NaN.

    They are averaged over all owners; where an explanation has none, anything may stand.
    """
    estimator = make(entry)
    for name, tally in tallies().items():
        try:
            checked_scores(estimator, tally)
        except FaithkitError as error:
            mend = "Return one score for each entry of tally.owners, and NaN to leave an owner out"
            demand(False, _who(entry, name), str(error), mend)


def check_tally_is_left_alone(entry: Entry) -> None:
    """Check that scoring does not change the tally.

    One tally serves the estimate, its interval and the report.
    """
    estimator = make(entry)
    for name, tally in tallies().items():
        given = fresh(tally)
        estimator.scores(given)
        for table in ("counts", "owners"):
            is_same = np.array_equal(getattr(given, table), getattr(tally, table))
            demand(is_same, _who(entry, name), f"scores changed tally.{table} in place", "Work on a copy")


def check_scoring_again_gives_the_same_scores(entry: Entry) -> None:
    """Check that the same tally gets the same scores when asked twice.

    Otherwise the same question has two answers.
    """
    needs(check_scores_are_shares, entry)
    estimator = make(entry)
    for name, tally in tallies().items():
        is_same = _same(_scores(estimator, tally), _scores(estimator, tally))
        found = "two calls with one tally gave different scores"
        demand(is_same, _who(entry, name), found, "Use no randomness, and keep nothing between calls")


def check_order_of_the_tally_is_irrelevant(entry: Entry) -> None:
    """Check that a tally with its explanations in the opposite order gets the same scores.

    The order is that of first appearance in the sample, which means nothing.
    """
    needs(check_scoring_again_gives_the_same_scores, entry)
    estimator = make(entry)
    for name, tally in tallies().items():
        turned = Tally(tally.counts[::-1].copy(), tally.owners[:, ::-1].copy())
        is_same = _same(_scores(estimator, turned)[:, ::-1], _scores(estimator, tally))
        found = "explanations in the opposite order got other scores"
        mend = "Score u from counts[u] and owners[:, u] alone: a large tally comes in parts, without totals"
        demand(is_same, _who(entry, name), found, mend)


def check_order_of_labels_is_irrelevant(entry: Entry) -> None:
    """Check that a tally with its labels in the opposite order gets the same scores.

    Labels are numbered as they come, and have no order.
    """
    needs(check_order_of_the_tally_is_irrelevant, entry)
    estimator = make(entry)
    for name, tally in tallies().items():
        turned = Tally(tally.counts[:, ::-1].copy(), tally.owners[:, :, ::-1].copy())
        is_same = _same(_scores(estimator, turned)[:, :, ::-1], _scores(estimator, tally))
        found = "labels in the opposite order got other scores"
        demand(is_same, _who(entry, name), found, "Treat all labels alike, whatever their numbers")


def check_interval_is_of_the_same_quantity(entry: Entry) -> None:
    """Check that one which says `interval` comes to what leave-one-out gives, where there is much to count.

    The standard error and the interval that are shown beside it are those of leave-one-out.
    """
    needs(check_order_of_labels_is_irrelevant, entry)
    estimator = make(entry)
    if not said(estimator, "interval"):
        return
    name = "many instances"
    tally = tallies()[name]
    given, expected = (mean_score(_scores(one, tally), tally.owners) for one in (estimator, LeaveOneOut()))
    assert expected is not None
    is_near = given is not None and abs(given - expected) < _NEAR
    found = f"it says `interval`, and gives {given} where leave-one-out gives {expected:.6f}"
    demand(is_near, _who(entry, name), found, "Leave `interval` out: it estimates another quantity")


def check_by_chance_is_a_share(entry: Entry) -> None:
    """Check that `by_chance`, where it has one, gives a number from 0 to 1, or None.

    It is the mean of the estimate over all shuffles of the labels, and so what an estimate can be.
    """
    asked = said(make(entry), "by_chance")
    if asked is None:
        return
    for verified, chance in product((0.0, 0.5, 1.0), (0.0, 0.25, 1.0)):
        told = asked(verified, chance)
        is_share = told is None or (isinstance(told, Real) and 0 <= float(told) <= 1)
        found = f"by_chance({verified}, {chance}) gave {told!r}; expected a number from 0 to 1, or None"
        mend = "Give the mean of the estimate over all shuffles of the labels, such as verified * chance"
        demand(is_share, entry.component.name, found, mend)


def tallies() -> dict[str, Tally]:
    """Make tallies as the kernel counts them, the odd ones too.

    Examples
    --------
    >>> {name: tally.n for name, tally in tallies().items()}
    {'three labels': 40, 'one label': 12, 'one explanation': 9, 'nothing that holds': 9, 'a rare label': ...}
    """
    return {
        "three labels": _tally(0, 40, (8, 3)),
        "one label": _tally(1, 12, (5, 1)),
        "one explanation": _tally(2, 9, (1, 2)),
        "nothing that holds": _tally(3, 9, (4, 2), density=0.0),
        "a rare label": _grouped([[997, 3], [1, 0], [2, 499]]),
        "many instances": _grouped([[7 * 10**9, 3 * 10**9, 10**6], [10**6, 5 * 10**9, 2 * 10**9]]),
    }


def _grouped(counts: list[list[int]]) -> Tally:
    """Return the tally of equality: an explanation holds for its owners, and for nobody else."""
    found = np.array(counts, dtype=np.int64)
    return Tally(found, np.stack([np.zeros_like(found), found]))


def _tally(seed: int, n: int, shape: tuple[int, int], density: float = 0.4) -> Tally:
    """Count a random relation; of several explanations the first has no owner, and the last never holds."""
    rng, (m, k) = np.random.default_rng(seed), shape
    holds = rng.random((m, n)) < density
    holds[-1] &= m == 1
    labels, owned = rng.integers(k, size=n), rng.integers(min(1, m - 1), m, size=n)
    counts = np.stack([holds[:, labels == y].sum(axis=1) for y in range(k)], axis=1)
    owners = np.zeros((2, m, k), dtype=np.int64)
    np.add.at(owners, (holds[owned, np.arange(n)].astype(int), owned, labels), 1)
    return Tally(counts.astype(np.int64), owners)


def _scores(estimator: object, tally: Tally) -> NDArray[np.float64]:
    """Return the scores that count: those of owners that exist."""
    scores = checked_scores(estimator, fresh(tally))
    return np.where(tally.owners > 0, scores, 0.0)


def _same(a: NDArray[np.float64], b: NDArray[np.float64]) -> bool:
    return bool(np.allclose(a, b, rtol=0, atol=1e-12, equal_nan=True))


def _who(entry: Entry, name: str) -> str:
    return f"{entry.component.name} on a tally with {name}"
