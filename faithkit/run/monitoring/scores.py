"""The score of a row: how far its prediction agrees with those of the pool's rows with its explanation.

Whose explanation the pool lacks scores 0, and is unverified. Given the pool, the scores of independent rows
are independent, which is what a sequence asks for; scores within one sample are not.
"""

import math
from collections import Counter

import attrs
import numpy as np
from numpy.typing import NDArray

from faithkit.inputs.predictions.outcome import Outcome
from faithkit.run.monitoring.agreeing import Agreeing, Pool
from faithkit.run.monitoring.tallies import UNEXPLAINED, Cell, Tallies

OF_LABELS = Agreeing(Outcome())
_LAST_BIT = np.uint64(63)


@attrs.frozen(eq=False)
class Scores:
    """The scores of some rows, in a random order that nothing but the rows decides."""

    values: NDArray[np.float64]
    unverified: int
    agreement: float

    @classmethod
    def of(cls, tallies: Tallies, pool: Pool, seed: int, agreeing: Agreeing = OF_LABELS) -> "Scores":
        """Score every row against a pool."""
        cells, place, words = tallies.rows(seed)
        return cls._of(cells, place[np.argsort(words, kind="stable")], pool, agreeing)

    @classmethod
    def _of(cls, cells: list[Cell], place: NDArray[np.int64], pool: Pool, agreeing: Agreeing) -> "Scores":
        known = np.array([cell[0] in pool for cell in cells], dtype=bool)
        scores = agreeing.shares(cells, pool)
        mean = math.fsum(scores[place]) / max(1, len(place))
        return cls(scores[place], int((~known[place]).sum()), mean)


def divided(reference: Tallies, seed: int) -> tuple[dict[bytes, Counter[str]], Agreeing, Scores]:
    """Throw a coin for every row of a reference: a pool, how to agree with it, and the scores of all others.

    Examples
    --------
    >>> from faithkit.run.components import component
    >>> way = component("discretizer", "original")
    >>> reference = Tallies.of_arrays(["yes"] * 90 + ["no"] * 10, ["a"] * 100, way)
    >>> pool, _, calibration = divided(reference, seed=0)
    >>> sizes = sum(sum(pool[name].values()) for name in pool), len(calibration.values)
    >>> sum(sizes), min(sizes) > 30, calibration.unverified
    (100, True, 0)
    """
    cells, place, words = reference.rows(seed)
    is_pool = (words >> _LAST_BIT).astype(bool)
    pool: dict[bytes, Counter[str]] = {}
    for cell, count in zip(cells, np.bincount(place[is_pool], minlength=len(cells)).tolist(), strict=True):
        if count and cell[0] != UNEXPLAINED:
            pool.setdefault(cell[0], Counter())[cell[1]] = count
    rest = np.flatnonzero(~is_pool)
    order = rest[np.argsort(words[rest], kind="stable")]  # by all bits but the one that was the coin
    agreeing = Agreeing.by(pool, reference.outcome)
    return pool, agreeing, Scores._of(cells, place[order], pool, agreeing)
