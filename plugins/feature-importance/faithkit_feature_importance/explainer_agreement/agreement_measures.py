"""Six measures of how far two vectors of importances agree, row by row (Krishna et al. 2022).

Importances are ranked by absolute value. Four measures compare the k largest, two compare the order of all
features or of those that the user chose. Each measure comes with its value expected by chance: the mean over
all ways to shuffle the second vector among the features.

A feature of importance 0 is never among the largest. If an explanation therefore has fewer than k top
features, the paper's denominator k is replaced by the larger number of top features of the two. So an
explanation always agrees with itself. Two explanations without top features agree.
"""

from collections.abc import Callable

import attrs
import numpy as np
from numpy.typing import NDArray

from faithkit_feature_importance.importances import argsort_rows

Floats = NDArray[np.float64]
Scores = tuple[Floats, Floats]  # the value of every row, and the value expected by chance


@attrs.frozen(eq=False)
class TopFeatures:
    """The k features of largest absolute importance in every row.

    Parameters
    ----------
    signs : (n, d) int
        The signs of the largest importances, 0 elsewhere.
    columns, ranked_signs : (n, k) int
        Their columns, the largest first, −1 if there are fewer than k; and their signs in that order.
    positive : (n, k) float
        The share of positive importances among all that are as large as each of them.
    ties : (n, k) int
        The row of `odds` for each of them.
    odds : (kinds of ties, d) float
        How probable each column is if importances are shuffled, relative to 1/d. Ties change it, since of
        equal importances the later column comes first.

    Examples
    --------
    >>> top = TopFeatures.of(np.array([[0.1, -0.5, 0.0, 0.3]]), 2)
    >>> top.columns.tolist(), top.ranked_signs.tolist(), top.signs.tolist()
    ([[1, 3]], [[-1, 1]], [[0, -1, 0, 1]])
    """

    signs: NDArray[np.int8]
    columns: NDArray[np.int64]
    ranked_signs: NDArray[np.int8]
    positive: Floats
    ties: NDArray[np.int64]
    odds: Floats

    @classmethod
    def of(cls, values: Floats, k: int) -> "TopFeatures":
        """Rank importances as `sign-of-top` does: of equal ones the later columns first, NaN counts as 0."""
        importances = np.nan_to_num(values, nan=0.0)
        sizes = np.abs(importances)
        order = argsort_rows(sizes)[:, ::-1][:, :k].astype(np.int64)
        ranked = np.take_along_axis(importances, order, axis=1)
        ranked_signs = np.sign(ranked).astype(np.int8)
        signs = np.zeros(values.shape, dtype=np.int8)
        np.put_along_axis(signs, order, ranked_signs, axis=1)
        n_equal, n_positive, n_larger = np.empty((3, *ranked.shape), dtype=np.int64)
        for rank, size in enumerate(np.abs(ranked).T[:, :, None]):
            n_equal[:, rank] = (sizes == size).sum(axis=1)
            n_positive[:, rank] = (importances == size).sum(axis=1)
            n_larger[:, rank] = (sizes > size).sum(axis=1)
        kinds = np.stack([n_equal, np.arange(order.shape[1]) - n_larger]).reshape(2, -1)
        (equal, later), ties = np.unique(kinds, axis=1, return_inverse=True)
        return cls(
            signs,
            np.where(ranked_signs == 0, -1, order),
            ranked_signs,
            n_positive / n_equal,
            ties.reshape(order.shape),
            _shuffled_odds(equal[:, None], later[:, None], values.shape[1]),
        )

    @property
    def counts(self) -> Floats:
        """The number of top features in every row."""
        return np.count_nonzero(self.ranked_signs, axis=1).astype(np.float64)

    def shuffled(self, shares: Floats) -> Floats:
        """Return the odds that a column has a top feature if importances are shuffled, (n, d).

        The feature of a rank only counts with a probability, its share, (n, k).
        """
        odds = np.zeros(self.signs.shape)
        for ties, share in zip(self.ties.T, np.where(self.ranked_signs == 0, 0.0, shares).T, strict=True):
            odds += self.odds[ties] * share[:, None]
        return odds

    def shuffled_to(self, other: "TopFeatures") -> Floats:
        """Return the odds of each top feature for the column that has its rank in `other`, (n, k)."""
        is_named = (self.ranked_signs != 0) & (other.ranked_signs != 0)
        return np.where(is_named, self.odds[self.ties, other.columns], 0.0)


def _shuffled_odds(n_equal: NDArray[np.int64], n_later: NDArray[np.int64], d: int) -> Floats:
    """Return the odds of d columns for one of `n_equal` equal importances, of which `n_later` are later."""
    from scipy.stats import hypergeom

    probabilities = hypergeom.pmf(n_later, d - 1, d - 1 - np.arange(d), n_equal - 1)
    return np.where(n_equal == 1, 1.0, n_equal * probabilities)


def feature_agreement(first: TopFeatures, second: TopFeatures) -> Scores:
    """Return the share of top features that both have."""
    common = np.count_nonzero((first.signs != 0) & (second.signs != 0), axis=1)
    odds = np.where(first.signs == 0, 0.0, second.shuffled(np.ones_like(second.positive)))
    return _divide_by_top_size(first, second, common, odds)


def sign_agreement(first: TopFeatures, second: TopFeatures) -> Scores:
    """Return the share of top features that both have with the same sign."""
    common = np.count_nonzero(first.signs * second.signs > 0, axis=1)
    positive, negative = second.shuffled(second.positive), second.shuffled(1.0 - second.positive)
    odds = np.select([first.signs > 0, first.signs < 0], [positive, negative])
    return _divide_by_top_size(first, second, common, odds)


def rank_agreement(first: TopFeatures, second: TopFeatures) -> Scores:
    """Return the share of top features that both have at the same rank."""
    common = np.count_nonzero(_same_rank(first, second), axis=1)
    return _divide_by_top_size(first, second, common, second.shuffled_to(first))


def signed_rank_agreement(first: TopFeatures, second: TopFeatures) -> Scores:
    """Return the share of top features that both have at the same rank and with the same sign."""
    same_sign = first.ranked_signs * second.ranked_signs > 0
    common = np.count_nonzero(_same_rank(first, second) & same_sign, axis=1)
    share = np.where(first.ranked_signs > 0, second.positive, 1.0 - second.positive)
    return _divide_by_top_size(first, second, common, second.shuffled_to(first) * share)


def _same_rank(first: TopFeatures, second: TopFeatures) -> NDArray[np.bool_]:
    return (first.columns == second.columns) & (first.columns >= 0)


def _divide_by_top_size(
    first: TopFeatures, second: TopFeatures, common: NDArray[np.int64], odds: Floats
) -> Scores:
    """Divide by the number of top features; by chance, the number of common ones is the sum of odds / d."""
    top_size, n_features = np.maximum(first.counts, second.counts), first.signs.shape[1]
    is_empty = top_size == 0
    denominator = np.where(is_empty, 1.0, top_size)
    by_chance = np.minimum(odds.sum(axis=1) / (n_features * denominator), 1.0)  # rounding may exceed 1
    return np.where(is_empty, 1.0, common / denominator), np.where(is_empty, 1.0, by_chance)


def rank_correlation(first: Floats, second: Floats) -> Scores:
    """Return Spearman's correlation of absolute importances; NaN if all importances of a side are equal.

    Examples
    --------
    >>> scores, by_chance = rank_correlation(np.array([[3.0, 2.0, -1.0]]), np.array([[1.0, 2.0, -3.0]]))
    >>> scores.tolist(), by_chance.tolist()
    ([-1.0], [0.0])
    """
    a, b = (_centred_ranks(values) for values in (first, second))
    variances = (a * a).sum(axis=1) * (b * b).sum(axis=1)
    is_defined = variances > 0
    scores = np.full(len(a), np.nan)
    scores[is_defined] = (a * b).sum(axis=1)[is_defined] / np.sqrt(variances[is_defined])
    return np.clip(scores, -1.0, 1.0), np.where(is_defined, 0.0, np.nan)


def _centred_ranks(values: Floats) -> Floats:
    return _ranks(values, "average") - (values.shape[1] + 1) / 2


def _ranks(values: Floats, ties: str) -> Floats:
    from scipy.stats import rankdata

    ranks: Floats = rankdata(np.abs(np.nan_to_num(values, nan=0.0)), ties, axis=1)
    return ranks


def pairwise_rank_agreement(first: Floats, second: Floats) -> Scores:
    """Return the share of pairs of features that both put into the same order; NaN for a single feature.

    A pair with equal absolute importances is a tie. A tie agrees with a tie only.

    Examples
    --------
    >>> scores, by_chance = pairwise_rank_agreement(np.array([[3.0, 2.0, -1.0]]), np.array([[2.0, 3.0, 1.0]]))
    >>> scores.round(3).tolist(), by_chance.tolist()
    ([0.667], [0.5])
    """
    n, d = first.shape
    if d < 2:
        return np.full(n, np.nan), np.full(n, np.nan)
    a, b = (_ranks(values, "dense").astype(np.int32) for values in (first, second))
    n_agreeing = np.zeros(n)
    for j in range(d - 1):  # column by column: all pairs at once would need d times the memory of the table
        order_a, order_b = (np.sign(ranks[:, j + 1 :] - ranks[:, j, None]) for ranks in (a, b))
        n_agreeing += (order_a == order_b).sum(axis=1, dtype=np.int32)
    pairs = d * (d - 1) / 2
    tied_a, tied_b = (_tied_pairs(ranks) / pairs for ranks in (a, b))
    return n_agreeing / pairs, tied_a * tied_b + (1.0 - tied_a) * (1.0 - tied_b) / 2


def _tied_pairs(ranks: NDArray[np.int32]) -> NDArray[np.int64]:
    """Return for every row how many pairs of columns have the same rank."""
    n, d = ranks.shape
    bins = ranks + np.arange(n)[:, None] * (d + 1)
    counts = np.bincount(bins.ravel(), minlength=n * (d + 1)).reshape(n, d + 1)
    pairs: NDArray[np.int64] = (counts * (counts - 1) // 2).sum(axis=1)
    return pairs


TOP_K_MEASURES: dict[str, Callable[[TopFeatures, TopFeatures], Scores]] = {
    "feature agreement": feature_agreement,
    "sign agreement": sign_agreement,
    "rank agreement": rank_agreement,
    "signed rank agreement": signed_rank_agreement,
}
ORDER_MEASURES: dict[str, Callable[[Floats, Floats], Scores]] = {
    "rank correlation": rank_correlation,
    "pairwise rank agreement": pairwise_rank_agreement,
}
LOWER_BOUNDS = {"rank correlation": -1.0}  # 0 for all other measures
