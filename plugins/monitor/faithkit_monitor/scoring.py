"""The score of a row: the agreement of its prediction with those of the pool's rows with its explanation.

A score is a number between 0 and 1, because a confidence sequence needs that. Labels either agree or
disagree, and so do numbers with a tolerance. The agreement of score vectors is 1 − half their squared
distance. Without a tolerance, the squared distance of numbers is divided by the variance of the pool's
numbers, and negative agreement counts as 0.

A row whose explanation is not in the pool scores 0 and is unverified. Given the pool, the scores of
independent rows are independent; scores within one sample are not.
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
"""The number of rows with each prediction, by the digest of their explanation."""

_LAST_BIT = np.uint64(63)


@attrs.frozen
class Agreement:
    """The agreement of a prediction with those of the pool.

    Parameters
    ----------
    kind : {"labels", "numbers", "scores"}
    within : float, optional
        The largest distance of two numbers that agree.
    unit : float
        The divisor of the distance of two numbers.

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
        """Return an agreement in units of the standard deviation of the pool's numbers, over all outputs."""
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
        """Return the agreement of each cell with the pool's rows of its explanation; 0 without such rows."""
        by_explanation: dict[bytes, list[int]] = {}
        for position, (explanation, _) in enumerate(cells):
            if explanation in pool:
                by_explanation.setdefault(explanation, []).append(position)
        shares = np.zeros(len(cells))
        for explanation, positions in by_explanation.items():
            shares[positions] = self._agreement_with(
                [cells[position][1] for position in positions], pool[explanation]
            )
        return shares

    def _agreement_with(self, predictions: list[str], counts: Mapping[str, int]) -> Floats:
        """Return the agreement of predictions with those of one explanation."""
        weights = np.array(list(counts.values()), dtype=np.int64)
        if self.kind == "labels":
            return np.array([counts.get(prediction, 0) for prediction in predictions]) / weights.sum()
        points, pool_points = _points(predictions), _points(counts)
        if self.within is not None:
            order = np.argsort(pool_points[:, 0])
            sums = np.append(0, np.cumsum(weights[order]))
            ascending = pool_points[order, 0]
            reach = faithkit.plugin.Tolerance(self.within).reach(points[:, 0], points[:, 0])
            first = np.searchsorted(ascending, points[:, 0] - reach, side="left")
            last = np.searchsorted(ascending, points[:, 0] + reach, side="right")
            return (sums[last] - sums[first]) / weights.sum()
        with np.errstate(over="ignore"):  # an infinite distance is an agreement of 0
            centre = np.average(pool_points, axis=0, weights=weights)
            spread = np.average((((pool_points - centre) / self.unit) ** 2).sum(axis=1), weights=weights)
            distances = (((points - centre) / self.unit) ** 2).sum(axis=1) + spread
        return np.clip(1 - distances / 2, 0.0, 1.0)


@attrs.frozen(eq=False)
class Scores:
    """The scores of rows, in a random order that depends on the rows and a seed alone."""

    values: Floats
    unverified: int
    agreement: float

    @classmethod
    def of(cls, tallies: Tallies, pool: Pool, seed: int, agreement: Agreement) -> "Scores":
        """Score every row against a pool."""
        cells, position, words = tallies.rows(seed)
        return cls._of(cells, position[np.argsort(words, kind="stable")], pool, agreement)

    @classmethod
    def _of(
        cls, cells: list[Cell], position: NDArray[np.int64], pool: Pool, agreement: Agreement
    ) -> "Scores":
        is_known = np.array([explanation in pool for explanation, _ in cells], dtype=bool)
        values = agreement.shares(cells, pool)[position]
        mean = math.fsum(values) / max(1, len(values))
        return cls(values, int((~is_known[position]).sum()), mean)


def split_reference(
    reference: Tallies, seed: int, outcome: Mapping[str, Any]
) -> tuple[dict[bytes, Counter[str]], Agreement, Scores]:
    """Split rows at random: return a pool, the agreement with it, and the scores of all other rows.

    Examples
    --------
    >>> counts = faithkit.plugin.count_rows(["yes"] * 90 + ["no"] * 10, ["a"] * 100)
    >>> pool, _, calibration = split_reference(Tallies.of(counts), seed=0, outcome=counts.outcome)
    >>> sizes = sum(sum(pool[name].values()) for name in pool), len(calibration.values)
    >>> sum(sizes), min(sizes) > 30, calibration.unverified
    (100, True, 0)
    """
    cells, position, words = reference.rows(seed)
    is_pool = (words >> _LAST_BIT).astype(bool)
    pool: dict[bytes, Counter[str]] = {}
    counts = np.bincount(position[is_pool], minlength=len(cells)).tolist()
    for (explanation, prediction), count in zip(cells, counts, strict=True):
        if count and explanation != UNEXPLAINED:
            pool.setdefault(explanation, Counter())[prediction] = count
    calibration_rows = np.flatnonzero(~is_pool)
    order = calibration_rows[np.argsort(words[calibration_rows], kind="stable")]  # the first bit is 0 for all
    agreement = Agreement.with_pool(outcome["kind"], outcome["within"], pool)
    return pool, agreement, Scores._of(cells, position[order], pool, agreement)


def _points(texts: Iterable[str]) -> Floats:
    """Parse numbers, or rows of numbers, from JSON."""
    values = np.array([json.loads(text) for text in texts], dtype=np.float64)
    return values.reshape(len(values), -1)
