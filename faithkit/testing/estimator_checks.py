"""What an estimator promises: that its scores are shares, and a function of the tally alone."""

import numpy as np
from numpy.typing import NDArray

from faithkit.errors import FaithkitError
from faithkit.extension.entries import Entry
from faithkit.measure.estimators import checked_scores
from faithkit.measure.tally import Tally
from faithkit.testing.checks import demand, needs
from faithkit.testing.component_checks import make
from faithkit.testing.fixtures import fresh


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


def tallies() -> dict[str, Tally]:
    """Make tallies as the kernel counts them, the odd ones too.

    Examples
    --------
    >>> {name: tally.counts.shape for name, tally in tallies().items()}
    {'three labels': (8, 3), 'one label': (5, 1), 'one explanation': (1, 2), 'nothing that holds': (4, 2)}
    """
    return {
        "three labels": _tally(0, 40, (8, 3)),
        "one label": _tally(1, 12, (5, 1)),
        "one explanation": _tally(2, 9, (1, 2)),
        "nothing that holds": _tally(3, 9, (4, 2), density=0.0),
    }


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
