"""How far two vectors of importances agree, row by row: the six measures of Krishna et al. (2022).

Importances are ranked by absolute value. Four measures look at the k largest of each, two at all features or
at some that a person chose. Beside each stands what chance would give: the mean over all ways to shuffle the
second vector among the features. It has the same importances, and says them of features that it knows nothing
about.

A feature of importance 0 is not among the largest: it was not named. Where an explanation names fewer than k
features for that reason, the paper's k in the denominator is the larger number that either names, so that an
explanation always agrees with itself; two that name nothing agree.
"""

from collections.abc import Callable

import attrs
import numpy as np
from numpy.typing import NDArray

from faithkit_feature_importance.importances import ascending

Floats = NDArray[np.float64]
Scores = tuple[Floats, Floats]  # of every row, and what chance would give there


@attrs.frozen(eq=False)
class Top:
    """The k features of largest absolute importance in every row, as columns and in their order.

    Parameters
    ----------
    signs : (n, d) int
        The signs of the largest importances, 0 elsewhere.
    columns, ranked : (n, k) int
        Their columns, the largest first, −1 where there are fewer; and their signs in that order.

    Examples
    --------
    >>> top = Top.of(np.array([[0.1, -0.5, 0.0, 0.3]]), 2)
    >>> top.columns.tolist(), top.ranked.tolist(), top.signs.tolist()
    ([[1, 3]], [[-1, 1]], [[0, -1, 0, 1]])
    """

    signs: NDArray[np.int8]
    columns: NDArray[np.int64]
    ranked: NDArray[np.int8]

    @classmethod
    def of(cls, values: Floats, k: int) -> "Top":
        """Rank importances as `sign-of-top` does: of equal ones the later columns first, NaN as 0."""
        known = np.nan_to_num(values, nan=0.0)
        order = ascending(np.abs(known))[:, ::-1][:, :k].astype(np.int64)
        ranked = np.sign(np.take_along_axis(known, order, axis=1)).astype(np.int8)
        signs = np.zeros(values.shape, dtype=np.int8)
        np.put_along_axis(signs, order, ranked, axis=1)
        return cls(signs, np.where(ranked == 0, -1, order), ranked)

    @property
    def size(self) -> Floats:
        """How many features are named."""
        return np.count_nonzero(self.ranked, axis=1).astype(np.float64)

    def with_sign(self, sign: int) -> Floats:
        """How many of them have this sign."""
        return np.count_nonzero(self.ranked == sign, axis=1).astype(np.float64)


def feature_agreement(one: Top, two: Top) -> Scores:
    """Return the share of features that both name."""
    common = np.count_nonzero((one.signs != 0) & (two.signs != 0), axis=1)
    return _shares(one, two, common, one.size * two.size)


def sign_agreement(one: Top, two: Top) -> Scores:
    """Return the share of features that both name with the same sign."""
    common = np.count_nonzero(one.signs * two.signs > 0, axis=1)
    pairs = one.with_sign(1) * two.with_sign(1) + one.with_sign(-1) * two.with_sign(-1)
    return _shares(one, two, common, pairs)


def rank_agreement(one: Top, two: Top) -> Scores:
    """Return the share of features that both name in the same place."""
    common = np.count_nonzero(_same_place(one, two), axis=1)
    return _shares(one, two, common, np.minimum(one.size, two.size))


def signed_rank_agreement(one: Top, two: Top) -> Scores:
    """Return the share of features that both name in the same place and with the same sign."""
    alike = one.ranked * two.ranked > 0
    common = np.count_nonzero(_same_place(one, two) & alike, axis=1)
    return _shares(one, two, common, np.count_nonzero(alike, axis=1))


def _same_place(one: Top, two: Top) -> NDArray[np.bool_]:
    return (one.columns == two.columns) & (one.columns >= 0)


def _shares(one: Top, two: Top, common: NDArray[np.int64], pairs: NDArray[np.float64]) -> Scores:
    """Divide by how many are named; a pair of named features falls together with a chance of one in d."""
    named, d = np.maximum(one.size, two.size), one.signs.shape[1]
    silent = named == 0
    whole = np.where(silent, 1.0, named)
    return np.where(silent, 1.0, common / whole), np.where(silent, 1.0, pairs / (d * whole))


def rank_correlation(one: Floats, two: Floats) -> Scores:
    """Return Spearman's correlation of absolute importances; NaN where all of one are equal.

    Examples
    --------
    >>> scores, by_chance = rank_correlation(np.array([[3.0, 2.0, -1.0]]), np.array([[1.0, 2.0, -3.0]]))
    >>> scores.tolist(), by_chance.tolist()
    ([-1.0], [0.0])
    """
    a, b = (_centred_ranks(values) for values in (one, two))
    squares = (a * a).sum(axis=1) * (b * b).sum(axis=1)
    defined = squares > 0
    scores = np.full(len(a), np.nan)
    scores[defined] = (a * b).sum(axis=1)[defined] / np.sqrt(squares[defined])
    return np.clip(scores, -1.0, 1.0), np.where(defined, 0.0, np.nan)


def _centred_ranks(values: Floats) -> Floats:
    return _ranks(values, "average") - (values.shape[1] + 1) / 2


def _ranks(values: Floats, ties: str) -> Floats:
    from scipy.stats import rankdata

    ranks: Floats = rankdata(np.abs(np.nan_to_num(values, nan=0.0)), ties, axis=1)
    return ranks


def pairwise_rank_agreement(one: Floats, two: Floats) -> Scores:
    """Return the share of pairs of features that both put into the same order; NaN where there is one only.

    Two of equal absolute importance are in no order, which agrees with no order.

    Examples
    --------
    >>> scores, by_chance = pairwise_rank_agreement(np.array([[3.0, 2.0, -1.0]]), np.array([[2.0, 3.0, 1.0]]))
    >>> scores.round(3).tolist(), by_chance.tolist()
    ([0.667], [0.5])
    """
    n, d = one.shape
    if d < 2:
        return np.full(n, np.nan), np.full(n, np.nan)
    a, b = (_ranks(values, "dense").astype(np.int32) for values in (one, two))
    same = np.zeros(n)
    for j in range(d - 1):  # a column at a time: all pairs at once would be d times the table
        order_a, order_b = (np.sign(ranks[:, j + 1 :] - ranks[:, j, None]) for ranks in (a, b))
        same += (order_a == order_b).sum(axis=1, dtype=np.int32)
    pairs = d * (d - 1) / 2
    tied_a, tied_b = (_tied_pairs(ranks) / pairs for ranks in (a, b))
    return same / pairs, tied_a * tied_b + (1.0 - tied_a) * (1.0 - tied_b) / 2


def _tied_pairs(ranks: NDArray[np.int32]) -> NDArray[np.int64]:
    """Return how many pairs of columns have the same rank, in every row."""
    n, d = ranks.shape
    slots = ranks + np.arange(n)[:, None] * (d + 1)
    times = np.bincount(slots.ravel(), minlength=n * (d + 1)).reshape(n, d + 1)
    pairs: NDArray[np.int64] = (times * (times - 1) // 2).sum(axis=1)
    return pairs


OF_THE_LARGEST: dict[str, Callable[[Top, Top], Scores]] = {
    "feature agreement": feature_agreement,
    "sign agreement": sign_agreement,
    "rank agreement": rank_agreement,
    "signed rank agreement": signed_rank_agreement,
}
OF_THE_ORDER: dict[str, Callable[[Floats, Floats], Scores]] = {
    "rank correlation": rank_correlation,
    "pairwise rank agreement": pairwise_rank_agreement,
}
LEAST = {"rank correlation": -1.0}  # of all others, 0
