"""Kernel SHAP's coalitions, all of them or a sample, and the regression that makes values of their worth."""

import math
from itertools import combinations, islice

import attrs
import numpy as np
from numpy.typing import NDArray

Floats = NDArray[np.float64]
Flags = NDArray[np.bool_]
TRIED = 2048  # coalitions, and two more for each player, as in shap


@attrs.frozen(eq=False)
class Regression:
    """Coalitions of a number of players, and the linear map from their worth to the players' values.

    Each coalition comes with its complement. Sizes are taken from the outside in, from single players and all
    but one on: all coalitions of a size as long as they are fewer than its share of those to be tried. Of the
    sizes that are left each has its share, drawn without repetition. That is shap's design, apart from the
    shares, which shap draws as well. Where at most two players interact the values are exact.

    What is drawn depends on the number of players alone. So the same coalitions are tried for all rows: the
    luck of a draw never tells two of them apart, and the regression is solved once.

    Examples
    --------
    >>> game = Regression.on(players=2)
    >>> game.coalitions.astype(int).tolist()
    [[0, 0], [1, 1], [1, 0], [0, 1]]
    >>> worth = np.array([[0.0], [10.0], [2.0], [4.0]])
    >>> game.values(worth).ravel().tolist()
    [4.0, 6.0]
    """

    coalitions: Flags  # nobody, all, and then those of the regression
    solution: Floats  # (players, coalitions of the regression)

    @classmethod
    def on(cls, players: int) -> "Regression":
        """Choose coalitions, and solve the regression whatever they are worth."""
        half, weights = _half(players)
        tried, ends = np.concatenate([half, ~half]), np.repeat([[False], [True]], players, axis=1)
        return cls(np.concatenate([ends, tried]), _solution(tried, np.concatenate([weights, weights])))

    def values(self, worth: Floats) -> Floats:
        """Return the players' values, (players, classes), by what coalitions are worth."""
        even = (worth[1] - worth[0]) / max(1, len(self.solution))  # what each would have, were all alike
        sizes = self.coalitions[2:].sum(axis=1)[:, None]
        return even + self.solution @ (worth[2:] - worth[0] - sizes * even)


def _solution(tried: Flags, weights: Floats) -> Floats:
    """Return the map of least squares from a worth beyond that of the size to values that sum to 0."""
    players = tried.shape[1]
    centred = tried - tried.sum(axis=1, keepdims=True) / max(1, players)
    weighted = centred.T * weights
    # a value that all have in common was taken out: the ones fill this direction
    return np.linalg.solve(weighted @ centred + np.ones((players, players)), weighted)


def _half(players: int) -> tuple[Flags, Floats]:
    """Return one of each two coalitions that complement each other, and their weights."""
    sizes = np.arange(1, players // 2 + 1)
    shares = np.where(2 * sizes == players, 1, 2) / (sizes * (players - sizes))  # of both, all coalitions
    left = min(2 * players + TRIED, 2**players - 2) // 2
    parts, weights = [np.empty((0, players), dtype=bool)], [np.empty(0)]
    for i, size in enumerate(sizes.tolist()):
        every, rest = _count(players, size), shares[i:].sum()
        if left * shares[i] / rest < every * (1 - 1e-8):
            parts.append(_drawn(players, sizes[i:], shares[i:] / rest, left))
            weights.append(np.full(left, rest / left))
            break
        parts.append(_all(players, size))
        weights.append(np.full(every, shares[i] / every))
        left -= every
    return np.concatenate(parts), np.concatenate(weights)


def _count(players: int, size: int) -> int:
    """Return how many coalitions of a size there are; of half the players, those with the first player."""
    return math.comb(players, size) // (2 if 2 * size == players else 1)


def _all(players: int, size: int) -> Flags:
    count = _count(players, size)
    found = np.zeros((count, players), dtype=bool)
    np.put_along_axis(found, np.array(list(islice(combinations(range(players), size), count))), True, axis=1)
    return found


def _drawn(players: int, sizes: NDArray[np.int64], shares: Floats, count: int) -> Flags:
    """Draw distinct coalitions, of each size its share."""
    ends = np.rint(np.cumsum(shares) * count).astype(int)
    random = np.random.default_rng(players)
    parts = zip(sizes.tolist(), np.diff(ends, prepend=0).tolist(), strict=True)
    return np.concatenate([_some(players, size, part, random) for size, part in parts])


def _some(players: int, size: int, count: int, random: np.random.Generator) -> Flags:
    found: dict[bytes, Flags] = {}
    while len(found) < count:
        drawn = random.random((count, players)).argsort(axis=1) < size
        if 2 * size == players:
            drawn ^= ~drawn[:, :1]  # of two that complement each other, the one with the first player
        found |= {coalition.tobytes(): coalition for coalition in drawn}
    return np.array(list(found.values())[:count], dtype=bool).reshape(count, players)
