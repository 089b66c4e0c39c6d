"""The coalitions of Kernel SHAP, and the regression from their worth to SHAP values."""

import math
from itertools import combinations, islice

import attrs
import numpy as np
from numpy.typing import NDArray

Floats = NDArray[np.float64]
Flags = NDArray[np.bool_]
BASE_COALITIONS = 2048  # plus two for each player, as in shap


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
