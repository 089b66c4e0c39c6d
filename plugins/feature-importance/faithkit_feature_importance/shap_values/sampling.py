"""Kernel SHAP and Permutation SHAP: values of any model, from scores of mixed rows.

Kernel SHAP chooses coalitions of columns, and solves a regression from their worth to SHAP values.
Permutation SHAP lets columns join in random orders.
"""

import math
from collections.abc import Callable, Mapping, Sequence
from functools import cache
from itertools import combinations, islice
from typing import Any

import attrs
import numpy as np
from numpy.typing import NDArray

from faithkit_feature_importance.shap_values.explained_output import CodedModel
from faithkit_feature_importance.shap_values.mixtures import CoalitionPlan, Mixtures

Floats = NDArray[np.float64]
Flags = NDArray[np.bool_]
BASE_COALITIONS = 2048  # plus two for each player, as in shap
MAX_ENUMERATED_COLUMNS = 9  # their 510 coalitions cost about twice as much as permutations
PERMUTATIONS = 20  # each is used forwards and backwards


@attrs.frozen(eq=False)
class CoalitionRegression:
    """The coalitions to evaluate, and the linear map from their worth to the values of the players.

    Each coalition comes with its complement. Sizes are taken from the outside in, starting with single
    players and all but one: all coalitions of a size, as long as there are fewer than its share of the total.
    Each remaining size gets its share, drawn without repetition. This is the design of shap, except that shap
    also draws the shares. If at most two players interact, the values are exact.

    The draw depends on the number of players only. So all rows use the same coalitions: chance never makes a
    difference between rows, and the regression is solved once.

    Examples
    --------
    >>> regression = CoalitionRegression.for_players(n_players=2)
    >>> regression.coalitions.astype(int).tolist()
    [[0, 0], [1, 1], [1, 0], [0, 1]]
    >>> worth = np.array([[0.0], [10.0], [2.0], [4.0]])
    >>> regression.values(worth).ravel().tolist()
    [4.0, 6.0]
    """

    coalitions: Flags  # the empty one, the full one, then those of the regression
    solution: Floats  # (players, coalitions of the regression)

    @classmethod
    def for_players(cls, n_players: int) -> "CoalitionRegression":
        """Choose coalitions and solve the regression; the solution does not depend on their worth."""
        half, weights = _choose_half(n_players)
        coalitions, extremes = np.concatenate([half, ~half]), np.repeat([[False], [True]], n_players, axis=1)
        return cls(
            np.concatenate([extremes, coalitions]),
            _solve_least_squares(coalitions, np.concatenate([weights, weights])),
        )

    def values(self, worth: Floats) -> Floats:
        """Return the values (players, classes) from the worth (coalitions, classes)."""
        # the value of each player if all were alike
        equal_share = (worth[1] - worth[0]) / max(1, len(self.solution))
        sizes = self.coalitions[2:].sum(axis=1)[:, None]
        return equal_share + self.solution @ (worth[2:] - worth[0] - sizes * equal_share)


def _solve_least_squares(coalitions: Flags, weights: Floats) -> Floats:
    """Return the least-squares map from worth, minus the equal shares, to values that sum to 0."""
    n_players = coalitions.shape[1]
    centred = coalitions - coalitions.sum(axis=1, keepdims=True) / max(1, n_players)
    weighted = centred.T * weights
    # the matrix of ones makes it invertible: equal values were subtracted before
    return np.linalg.solve(weighted @ centred + np.ones((n_players, n_players)), weighted)


def _choose_half(n_players: int) -> tuple[Flags, Floats]:
    """Return one coalition of each complementary pair, and the weights."""
    sizes = np.arange(1, n_players // 2 + 1)
    # the kernel weight of each size, together with its complement
    shares = np.where(2 * sizes == n_players, 1, 2) / (sizes * (n_players - sizes))
    n_remaining = min(2 * n_players + BASE_COALITIONS, 2**n_players - 2) // 2
    coalitions, weights = [np.empty((0, n_players), dtype=bool)], [np.empty(0)]
    for i, size in enumerate(sizes.tolist()):
        n_all, remaining_share = _count_coalitions(n_players, size), shares[i:].sum()
        if n_remaining * shares[i] / remaining_share < n_all * (1 - 1e-8):
            coalitions.append(
                _draw_coalitions(n_players, sizes[i:], shares[i:] / remaining_share, n_remaining)
            )
            weights.append(np.full(n_remaining, remaining_share / n_remaining))
            break
        coalitions.append(_all_coalitions(n_players, size))
        weights.append(np.full(n_all, shares[i] / n_all))
        n_remaining -= n_all
    return np.concatenate(coalitions), np.concatenate(weights)


def _count_coalitions(n_players: int, size: int) -> int:
    """Return the number of coalitions of a size; with half the players, only those with the first player."""
    return math.comb(n_players, size) // (2 if 2 * size == n_players else 1)


def _all_coalitions(n_players: int, size: int) -> Flags:
    count = _count_coalitions(n_players, size)
    coalitions = np.zeros((count, n_players), dtype=bool)
    np.put_along_axis(
        coalitions, np.array(list(islice(combinations(range(n_players), size), count))), True, axis=1
    )
    return coalitions


def _draw_coalitions(n_players: int, sizes: NDArray[np.int64], shares: Floats, count: int) -> Flags:
    """Draw distinct coalitions, for each size its share of the count."""
    ends = np.rint(np.cumsum(shares) * count).astype(int)
    rng = np.random.default_rng(n_players)
    counts_by_size = zip(sizes.tolist(), np.diff(ends, prepend=0).tolist(), strict=True)
    return np.concatenate(
        [_draw_of_size(n_players, size, n_of_size, rng) for size, n_of_size in counts_by_size]
    )


def _draw_of_size(n_players: int, size: int, count: int, rng: np.random.Generator) -> Flags:
    distinct: dict[bytes, Flags] = {}
    while len(distinct) < count:
        coalitions = rng.random((count, n_players)).argsort(axis=1) < size
        if 2 * size == n_players:
            coalitions ^= ~coalitions[:, :1]  # of complementary coalitions, the one with the first player
        distinct |= {coalition.tobytes(): coalition for coalition in coalitions}
    return np.array(list(distinct.values())[:count], dtype=bool).reshape(count, n_players)


@attrs.frozen
class SampledShap:
    """SHAP values from the worth of coalitions of columns; subclasses plan the coalitions of each row."""

    model: CodedModel
    reference: Floats

    def values(
        self, codes: Floats, seeds: Sequence[int], unseen_values: Sequence[Mapping[int, Any]]
    ) -> Floats:
        """Return SHAP values (rows, columns, classes)."""
        return Mixtures(self.model, self.reference).values(codes, unseen_values, self._plans(seeds))

    def _plans(self, seeds: Sequence[int]) -> Callable[[int, int], CoalitionPlan]:
        """Return a function of a row and its number of players, which plans their coalitions."""
        raise NotImplementedError


class KernelShap(SampledShap):
    """Shapley values by weighted least squares over coalitions of columns (Lundberg and Lee 2017).

    If up to 11 columns differ from the reference rows, all coalitions are evaluated, and the values are
    exact. Otherwise about 2,048 coalitions are evaluated, the same for all rows. The seeds are not used.
    There is no regularisation, since it would drop all but ten columns.

    Examples
    --------
    >>> import faithkit
    >>> from sklearn.naive_bayes import GaussianNB
    >>> from faithkit_feature_importance.shap_values.explained_output import Output
    >>> X = np.array([[1.0, 5.0], [2.0, 7.0], [4.0, 6.0]])
    >>> predictor = faithkit.Predictor(GaussianNB().fit(X, [0, 1, 1]))
    >>> model = CodedModel(Output.choose("probability", predictor, X), faithkit.plugin.Encoder(X))
    >>> values = KernelShap(model, X).values(X, seeds=[1, 2, 3], unseen_values=[{}, {}, {}])
    >>> values.shape, bool(np.allclose(values.sum(axis=1) + model.scores(X).mean(axis=0), model.scores(X)))
    ((3, 2, 2), True)
    """

    name = "kernel"
    title = "Kernel SHAP"

    def _plans(self, seeds: Sequence[int]) -> Callable[[int, int], CoalitionPlan]:
        build_regression = cache(CoalitionRegression.for_players)
        return lambda row, n_players: build_regression(n_players)


class PermutationShap(SampledShap):
    """Shapley values as the mean gain of a column over random orders of the columns.

    The values are exact if no more than two columns interact. With the same seed, they equal those of shap's
    PermutationExplainer. Unlike shap, one call of the model scores the mixtures of many rows, nothing is
    compiled, and the global random generator is not used.

    Examples
    --------
    >>> import faithkit
    >>> from sklearn.naive_bayes import GaussianNB
    >>> from faithkit_feature_importance.shap_values.explained_output import Output
    >>> X = np.array([[1.0, 5.0], [2.0, 7.0], [4.0, 6.0]])
    >>> predictor = faithkit.Predictor(GaussianNB().fit(X, [0, 1, 1]))
    >>> model = CodedModel(Output.choose("probability", predictor, X), faithkit.plugin.Encoder(X))
    >>> rows = {"codes": X, "seeds": [1, 2, 3], "unseen_values": [{}, {}, {}]}
    >>> bool(np.allclose(PermutationShap(model, X).values(**rows), KernelShap(model, X).values(**rows)))
    True
    """

    name = "permutation"
    title = "Permutation SHAP"

    def _plans(self, seeds: Sequence[int]) -> Callable[[int, int], CoalitionPlan]:
        return lambda row, n_players: PermutationWalks.draw(n_players, int(seeds[row]))


@attrs.frozen(eq=False)
class PermutationWalks:
    """Orders in which players join, each from the empty coalition to the full one.

    Examples
    --------
    >>> walks = PermutationWalks(np.array([[1, 0]]))
    >>> walks.coalitions.astype(int).tolist()
    [[0, 0], [0, 1], [1, 1]]
    >>> walks.values(np.array([[0.0], [4.0], [10.0]])).ravel().tolist()
    [6.0, 4.0]
    """

    orders: NDArray[np.int64]

    @classmethod
    def draw(cls, n_players: int, seed: int) -> "PermutationWalks":
        """Draw random orders of the players, each followed by its reverse."""
        rng, shuffled = np.random.RandomState(seed % 2**32), np.arange(n_players)
        orders = []
        for _ in range(PERMUTATIONS):
            rng.shuffle(shuffled)
            orders += [shuffled.copy(), shuffled[::-1].copy()]
        return cls(np.array(orders))

    @property
    def coalitions(self) -> NDArray[np.bool_]:
        """The players that have joined after each step of each walk: (walks · (steps + 1), players)."""
        n, n_players = self.orders.shape
        positions = np.argsort(self.orders, axis=1)
        joined = positions[:, None, :] < np.arange(n_players + 1)[:, None]
        return joined.reshape(n * (n_players + 1), n_players)

    def values(self, worth: Floats) -> Floats:
        """Return the mean gain of each player, (players, classes), from the worth of each coalition."""
        n, n_players = self.orders.shape
        gains = np.diff(worth.reshape(n, n_players + 1, -1), axis=1)
        total_gains = np.zeros((n_players, worth.shape[1]))
        np.add.at(total_gains, self.orders, gains)
        return total_gains / n
