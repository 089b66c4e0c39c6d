"""The score of a row: how far its prediction agrees with those of the pool's rows with its explanation.

A score is a number between 0 and 1, as a confidence sequence needs. Labels agree or do not, and so do numbers
with a tolerance. Scores agree by 1 less half their squared distance. Without a tolerance, the squared
distance of numbers is divided by the variance of the pool's, and what falls below 0 counts as 0.

A row whose explanation the pool lacks scores 0 and is unverified. Given the pool, the scores of independent
rows are independent; scores within one sample are not.
"""

import json
import math
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

import attrs
import numpy as np
from numpy.typing import NDArray

import faithkit
from faithkit_monitor.tallies import UNEXPLAINED, Cell, Tallies

Floats = NDArray[np.float64]
Pool = Mapping[bytes, Mapping[str, int]]
"""How many rows have each prediction, by the digest of their explanation."""

_LAST_BIT = np.uint64(63)


@attrs.frozen
class Agreement:
    """How far a prediction agrees with those of the pool.

    Parameters
    ----------
    kind : {"labels", "numbers", "scores"}
    within : float, optional
        How far two numbers may be apart and still agree.
    unit : float
        What the distance of two numbers is divided by.

    Examples
    --------
    >>> pool = {b"a": {"0.5": 2, "1.5": 1}, b"b": {"3.5": 1}}
    >>> Agreement("numbers", within=0.25).shares([(b"a", "0.75"), (b"a", "1.0"), (b"c", "0.5")], pool)
    array([0.66666667, 0.        , 0.        ])
    >>> round(Agreement.with_pool("numbers", None, pool).unit, 3)  # of 0.5, 0.5, 1.5 and 3.5
    1.414
    """

    kind: str = "labels"
    within: float | None = None
    unit: float = attrs.field(default=1.0, converter=float, validator=attrs.validators.gt(0))

    @classmethod
    def with_pool(cls, kind: str, within: float | None, pool: Pool) -> "Agreement":
        """Use the standard deviation of the pool's numbers, of several outputs together, as their unit."""
        if kind != "numbers" or within is not None or not pool:
            return cls(kind, within)
        times: Counter[str] = Counter()
        for counts in pool.values():
            times.update(counts)
        points, weights = _points(times), np.array(list(times.values()))
        width = float(np.ptp(points, axis=0).max())
        if not width:
            raise faithkit.errors.InputError(
                f"there is nothing to watch: the pool has no prediction but {next(iter(times))}. Give a "
                "reference whose predictions differ."
            )
        centred = (points - np.average(points, axis=0, weights=weights)) / width
        variance = float((weights[:, np.newaxis] * centred**2).sum()) / (int(weights.sum()) - 1)
        return cls(kind, within, width * math.sqrt(variance))

    def shares(self, cells: Sequence[Cell], pool: Pool) -> Floats:
        """Return how far each cell agrees with the pool's rows of its explanation; 0 where there are none."""
        by_explanation: dict[bytes, list[int]] = {}
        for place, (explanation, _) in enumerate(cells):
            if explanation in pool:
                by_explanation.setdefault(explanation, []).append(place)
        shares = np.zeros(len(cells))
        for explanation, places in by_explanation.items():
            shares[places] = self._shares([cells[place][1] for place in places], pool[explanation])
        return shares

    def _shares(self, predictions: list[str], counts: Mapping[str, int]) -> Floats:
        """Return how far predictions agree with those of one explanation."""
        weights = np.array(list(counts.values()), dtype=np.int64)
        if self.kind == "labels":
            return np.array([counts.get(prediction, 0) for prediction in predictions]) / weights.sum()
        points, known = _points(predictions), _points(counts)
        if self.within is not None:
            order = np.argsort(known[:, 0])
            sums = np.append(0, np.cumsum(weights[order]))
            first = np.searchsorted(known[order, 0], points[:, 0] - self.within, side="left")
            last = np.searchsorted(known[order, 0], points[:, 0] + self.within, side="right")
            return (sums[last] - sums[first]) / weights.sum()
        with np.errstate(over="ignore"):  # what is infinitely far agrees by 0
            centre = np.average(known, axis=0, weights=weights)
            spread = np.average((((known - centre) / self.unit) ** 2).sum(axis=1), weights=weights)
            distances = (((points - centre) / self.unit) ** 2).sum(axis=1) + spread
        return np.clip(1 - distances / 2, 0.0, 1.0)


@attrs.frozen(eq=False)
class Scores:
    """The scores of some rows, in a random order that depends on the rows alone."""

    values: Floats
    unverified: int
    agreement: float

    @classmethod
    def of(cls, tallies: Tallies, pool: Pool, seed: int, agreement: Agreement) -> "Scores":
        """Score every row against a pool."""
        cells, place, words = tallies.rows(seed)
        return cls._of(cells, place[np.argsort(words, kind="stable")], pool, agreement)

    @classmethod
    def _of(cls, cells: list[Cell], place: NDArray[np.int64], pool: Pool, agreement: Agreement) -> "Scores":
        is_known = np.array([explanation in pool for explanation, _ in cells], dtype=bool)
        values = agreement.shares(cells, pool)[place]
        mean = math.fsum(values) / max(1, len(values))
        return cls(values, int((~is_known[place]).sum()), mean)


def split_reference(
    reference: Tallies, seed: int, outcome: Mapping[str, Any]
) -> tuple[dict[bytes, Counter[str]], Agreement, Scores]:
    """Throw a coin for every row: return a pool, how to agree with it, and the scores of all other rows.

    Examples
    --------
    >>> counts = faithkit.plugin.count_rows(["yes"] * 90 + ["no"] * 10, ["a"] * 100)
    >>> pool, _, calibration = split_reference(Tallies.of(counts), seed=0, outcome=counts.outcome)
    >>> sizes = sum(sum(pool[name].values()) for name in pool), len(calibration.values)
    >>> sum(sizes), min(sizes) > 30, calibration.unverified
    (100, True, 0)
    """
    cells, place, words = reference.rows(seed)
    is_pool = (words >> _LAST_BIT).astype(bool)
    pool: dict[bytes, Counter[str]] = {}
    counts = np.bincount(place[is_pool], minlength=len(cells)).tolist()
    for (explanation, prediction), count in zip(cells, counts, strict=True):
        if count and explanation != UNEXPLAINED:
            pool.setdefault(explanation, Counter())[prediction] = count
    rest = np.flatnonzero(~is_pool)
    order = rest[np.argsort(words[rest], kind="stable")]  # by all bits but the coin's
    agreement = Agreement.with_pool(outcome["kind"], outcome["within"], pool)
    return pool, agreement, Scores._of(cells, place[order], pool, agreement)


def _points(texts: Iterable[str]) -> Floats:
    """Read numbers, or rows of numbers, from their JSON."""
    values = np.array([json.loads(text) for text in texts], dtype=np.float64)
    return values.reshape(len(values), -1)
