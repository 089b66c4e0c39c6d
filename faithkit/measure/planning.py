"""How many instances are needed: from the number of explanations, or from a pilot sample."""

import math
from bisect import bisect_left
from collections.abc import Callable
from typing import Any

import attrs
import numpy as np
from numpy.typing import NDArray

from faithkit.errors import InputError
from faithkit.measure.arguments import share, whole_number
from faithkit.measure.others import Others
from faithkit.measure.theory import bias_sample_size, corollary_sample_size

POINT_UP_TO, RANGE_UP_TO = 2, 8  # times the pilot's size; beyond that no honest answer exists


@attrs.frozen
class Plan:
    """The sample sizes that make the unverified share at most ε.

    Attributes
    ----------
    epsilon : float
    from_range : int or None
        n ≥ K/(e·ε): the bias is then at most ε, whatever the explanations' frequencies.
    corollary : int or None
        The paper's corollary, for a mean-squared error of at most ε.
    from_pilot : tuple of int or None
        (at best, at worst) as extrapolated from the pilot; an end that lies beyond eight times the
        pilot's size is None.
    point : int or None
        The middle of that forecast, where it lies within twice the pilot's size.
    pilot_size : int or None
    """

    epsilon: float
    from_range: int | None = None
    corollary: int | None = None
    from_pilot: tuple[int | None, int | None] | None = None
    point: int | None = None
    pilot_size: int | None = None

    def to_dict(self) -> dict[str, Any]:
        """Return JSON values."""
        ends = None if self.from_pilot is None else list(self.from_pilot)
        return attrs.asdict(self) | {"from_pilot": ends}


def plan_samples(epsilon: float, n_explanations: int | None = None, pilot: Others | None = None) -> Plan:
    """Plan a sample from the number of explanations, from whom a pilot could check, or from both.

    Examples
    --------
    >>> found = plan_samples(0.1, n_explanations=2048)
    >>> found.from_range, found.corollary
    (7535, 835879)
    """
    epsilon = share(epsilon, "epsilon", usual=0.1)
    if n_explanations is None and pilot is None:
        raise InputError("nothing to plan from: give the number of explanations (CLI: --range) or a pilot.")
    found = Plan(epsilon)
    if n_explanations is not None:
        K = whole_number(n_explanations, "the number of explanations", least=1)
        sizes = bias_sample_size(K, epsilon), corollary_sample_size(K, epsilon)
        found = attrs.evolve(found, from_range=sizes[0], corollary=sizes[1])
    if pilot is not None:
        best, worst, point = (_needed(pilot, epsilon, forecast) for forecast in (min, max, np.mean))
        if point is not None and point > POINT_UP_TO * pilot.n:
            point = None
        found = attrs.evolve(found, from_pilot=(best, worst), point=point, pilot_size=pilot.n)
    return found


def _needed(pilot: Others, epsilon: float, forecast: Callable[[tuple[float, float]], float]) -> int | None:
    """Return the smallest size at which a forecast reaches ε; it never grows with the size."""
    sizes = range(2, RANGE_UP_TO * pilot.n + 1)
    found = bisect_left(sizes, True, key=lambda size: forecast(unverified_share(pilot, size)) <= epsilon)
    return sizes[found] if found < len(sizes) else None


def curve(sample: Others, sizes: NDArray[np.int64]) -> NDArray[np.float64]:
    """Return the expected estimate M(n′) for every n′ ≤ n, exactly: the sample-size curve.

    Examples
    --------
    >>> curve(Others(number=(0, 1), rows=(1, 2), score=(0.0, 1.0)), np.array([1, 2, 3])).round(3)
    array([0.   , 0.333, 0.667])
    """
    D, h, weight = np.array(sample.number), np.array(sample.score), np.array(sample.rows)
    for size in sizes:
        if not 1 <= size <= sample.n:
            raise InputError(f"the curve is known from 1 to {sample.n}, the sample's size; got {size}.")
    drawn = (_some_drawn(D, sample.n, int(size)) for size in sizes)
    return np.array([np.dot(weight, h * some) / sample.n for some in drawn])


def _some_drawn(D: NDArray[np.int64], n: int, size: int) -> NDArray[np.float64]:
    """Return the probability that a subsample has at least one of D others, also where it is tiny.

    It has none of them with probability C(n−1−D, n′−1)/C(n−1, n′−1): the others are missed one after the
    other, which leaves one less to miss, so this is 1 − Π (1 − (n′−1)/(n−1−i)).
    """
    left = n - 1 - np.arange(int(D.max(initial=0)))
    with np.errstate(divide="ignore"):  # the logarithm of 0: somebody is surely drawn
        missed = np.cumsum(np.log1p(-np.minimum(1.0, (size - 1) / left)))
    some: NDArray[np.float64] = -np.expm1(np.concatenate([[0.0], missed]))[D]
    return some


def unverified_share(sample: Others, size: int) -> tuple[float, float]:
    """Forecast the share that a sample of `size` could not check: (at best, at worst).

    Exact up to the sample's own size; a range up to eight times that.

    Examples
    --------
    >>> pilot = Others(number=(0, 1), rows=(1, 2), score=(0.0, 1.0))
    >>> [round(share, 3) for share in unverified_share(pilot, 3)]
    [0.333, 0.333]
    """
    D, weight, n = np.array(sample.number), np.array(sample.rows), sample.n
    if size < 1:
        raise InputError(f"a sample has at least one instance, got {size}.")
    if size <= n:
        exact = float(np.dot(weight, 1.0 - _some_drawn(D, n, size)) / n)
        return exact, exact
    if size > RANGE_UP_TO * n:
        raise InputError(
            f"a pilot of {n} says nothing about {size} instances: forecasts end at {RANGE_UP_TO * n}. "
            "Take a larger pilot."
        )
    t = size / n - 1
    p0, p1, p2 = (float(weight[np.equal(D, r)].sum()) / n for r in (0, 1, 2))
    best = p0 * math.exp(-t * p1 / p0) if p0 else 0.0
    return best, max(best, _worst_share(t, p0, p1, p2))


def _worst_share(t: float, p0: float, p1: float, p2: float) -> float:
    if p0 == 0 or p1 == 0 or p2 == 0:
        return p0
    w = p1 * p1 / (2 * p0 * p2)
    if w >= 1:
        return p0 * math.exp(-t * p1 / p0)
    return p0 * (1 - w + w * math.exp(-2 * t * p2 / p1))
