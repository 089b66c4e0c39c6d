"""How rows were drawn: what each of them counts, and which of them are one case seen several times.

A row is checked against rows of *other* clusters only, each of which counts by its weight. Where nobody says
anything, every row counts 1 and is a cluster of its own, and the plain tally does all of this faster.
"""

from collections.abc import Mapping, Set
from typing import Any

import attrs
import numpy as np
import pandas as pd

from faithkit.arrays import Floats, sum_by
from faithkit.arrays.containers import as_series, unmasked
from faithkit.errors import InputError
from faithkit.foreign import foreign
from faithkit.measure.agreement.base import Always, Sums
from faithkit.measure.agreement.same_label import SAME_LABEL
from faithkit.measure.counting.owners import Counts

CAP = 0.75  # of the effective number of rows: with weights an interval must not assume more trials


@attrs.frozen(eq=False)
class Design:
    """The weight of every row, in whole steps so that a difference of nothing is 0, and its cluster.

    Attributes
    ----------
    steps : (n,) int
        Weights.
    unit : (n,) int
        The number of each row's cluster; the row's own where there are none.
    step : float
        What a step is worth, such that weights average to 1.
    weighted, clustered : bool
        Whether weights differ, and whether some cluster has several rows.
    uninformative : bool
        Whether people declare that neither weights nor the sizes of clusters go with predictions.

    Examples
    --------
    >>> design = Design.of([1, 1, 2], ["ann", "ann", "bob"], n=3)
    >>> design.weights.tolist(), design.unit.tolist(), design.effective
    ([0.75, 0.75, 1.5], [0, 0, 1], 2.0)
    >>> Design.of([2, 2, 2], None, n=3) is None
    True
    """

    steps: Counts
    unit: Counts
    step: float
    weighted: bool
    clustered: bool
    uninformative: bool = False

    @classmethod
    def of(cls, weights: Any, clusters: Any, n: int, uninformative: bool = False) -> "Design | None":
        """Take weights and clusters as people give them; None where they say nothing."""
        given = np.ones(n) if weights is None else read_weights(weights, n)
        if not given.any():
            raise InputError("all weights are 0: give the rows that count a weight above 0.")
        if given.max() > 1e100 or given.max() < 1e-100:  # their products would be no floats
            given = given / given.max()
        unit, names = (np.arange(n), None) if clusters is None else read_clusters(clusters, n)
        if names is not None and len(names) < 2:
            raise InputError(
                "all rows are of one cluster, so none can be checked against another: give a column that "
                "tells cases apart, or leave the clusters out."
            )
        return cls._of(given, unit, uninformative)

    @classmethod
    def _of(cls, given: Floats, unit: Counts, uninformative: bool) -> "Design | None":
        weighted, clustered = bool(np.ptp(given) > 0), int(unit.max(initial=-1)) + 1 < len(unit)
        if not weighted and not clustered:
            return None
        steps = _steps(given)
        return cls(steps, unit, len(given) / float(steps.sum()), weighted, clustered, uninformative)

    def __len__(self) -> int:
        return len(self.steps)

    @property
    def n_units(self) -> int:
        """The number of clusters; of rows, where there are none."""
        return int(self.unit.max()) + 1

    @property
    def weights(self) -> Floats:
        """The weights, which average to 1."""
        return self.steps.astype(np.float64) * self.step

    @property
    def whole(self) -> float:
        """The weight of all rows."""
        return float(self.steps.sum()) * self.step

    @property
    def by_unit(self) -> Counts:
        """The weight of every cluster, in steps."""
        return sum_by(self.unit, self.steps, self.n_units)

    @property
    def effective(self) -> float:
        """The number of independent rows of one weight that these are worth: W² / Σ W_c²."""
        return worth(self.by_unit)

    def told(self) -> dict[str, Any]:
        """Return what a result tells: what rows are worth, what was declared, and the number of clusters."""
        clusters = self.n_units if self.clustered else None
        return {"effective": self.effective, "uninformative": self.uninformative, "clusters": clusters}

    @property
    def cap(self) -> float:
        """The largest number of trials that an interval may assume, as a share of the effective number."""
        return CAP if self.weighted else 1.0

    def take(self, rows: Any) -> "Design | None":
        """Return the design of some of the rows."""
        unit, _ = pd.factorize(self.unit[rows])
        steps = self.steps[rows]
        if not steps.any():
            raise InputError("all weights of these rows are 0: nothing can be said of them.")
        return self._of(steps.astype(np.float64), unit.astype(np.int64), self.uninformative)

    def chance(self, labels: Counts, explained: int, agreement: Sums = SAME_LABEL) -> float | None:
        """Return how far rows of different clusters agree by chance, drawn by weight.

        One of them is among the first rows, so many of which are `explained`.
        """
        everybody = np.zeros(len(labels), dtype=np.int64)
        every, of_one, alike, of_both = (
            self._products(rows, labels, explained, how)
            for how in (Always(), agreement)
            for rows in (everybody, self.unit)
        )
        return (alike - of_both) / (every - of_one) if every - of_one > 1e-12 else None

    def _products(self, rows: Counts, labels: Counts, explained: int, agreement: Sums) -> float:
        """Add up what the explained ones of some rows weigh times what all that agree with them weigh."""
        k = int(labels.max(initial=0)) + 1
        codes, place = np.unique(rows * k + labels, return_inverse=True)
        mine = sum_by(place[:explained], self.steps[:explained], len(codes))
        every = sum_by(place, self.steps, len(codes))
        alike = agreement.over_slots(codes // k, codes % k, every)
        products = (mine / float(mine.sum())) * (alike / float(every.sum()))
        return float(products.sum())


def _steps(given: Floats) -> Counts:
    """Turn weights into whole numbers: themselves where they are, else fine steps."""
    if (given == np.rint(given)).all() and given.sum() < 2.0**53:
        return given.astype(np.int64)
    exponent = 61 - int(np.frexp(given.max() * len(given))[1])  # then all of them add up in 64 bits
    return np.rint(np.ldexp(given, exponent)).astype(np.int64)


def worth(weights: Counts) -> float:
    """Return how many independent rows of one weight some clusters are worth, by what each of them weighs."""
    shares = weights / float(weights.sum())
    return float(1.0 / (shares**2).sum())


def _column(given: Any, what: str, n: int, first: int) -> pd.Series:
    if isinstance(given, str | bytes | Mapping | Set) or not hasattr(given, "__len__"):
        raise InputError(f"the {what} are a {type(given).__name__}: give one value per row.")
    with foreign(f"going through the {what}", "Give one value per row."):
        column = as_series(unmasked(given, f"the {what}"))
    if len(column) != n:
        raise InputError(f"{len(column)} {what} for {n} rows: give one value per row.")
    if column.isna().any():
        row = first + int(column.isna().to_numpy().argmax())
        raise InputError(f"row {row} has no value among the {what}: fill it, or drop such rows.")
    return column


def read_weights(given: Any, n: int, first: int = 0) -> Floats:
    """Return the weights of n rows as floats; negative, missing and infinite ones are refused.

    The rows are numbered from `first` on.

    Examples
    --------
    >>> read_weights([1, -2], 2)
    Traceback (most recent call last):
    ...
    faithkit.errors.InputError: the weight of row 1 is -2: give finite numbers of at least 0.
    """
    column = _column(given, "weights", n, first)
    try:
        if column.dtype.kind not in "biufO":
            raise TypeError
        weights = column.to_numpy(dtype=np.float64)
    except (TypeError, ValueError, OverflowError):
        raise InputError(f"the weights are no numbers, but {column.iloc[0]!r:.40} and others.") from None
    wrong = ~(np.isfinite(weights) & (weights >= 0))
    if wrong.any():
        row = int(wrong.argmax())
        raise InputError(
            f"the weight of row {first + row} is {weights[row]:g}: give finite numbers of at least 0."
        )
    return weights


def read_clusters(given: Any, n: int, first: int = 0) -> tuple[Counts, Any]:
    """Return the number of each row's cluster, and what the clusters are called; missing ones are refused."""
    column = _column(given, "clusters", n, first)
    with foreign("comparing the clusters", "Give one name or number per row."):
        codes, names = pd.factorize(column)
    return codes.astype(np.int64), names
