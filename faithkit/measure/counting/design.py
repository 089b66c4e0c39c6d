"""The sampling design: the weight, the cluster and the block of each row.

A cluster contains the rows of one case, such as one customer. A row is checked only against rows of *other*
clusters, and each of them counts by its weight; in blocks, only against those of its own block. By default
every row has the weight 1 and its own cluster, and there are no blocks; the plain tally then counts faster.
"""

from collections.abc import Mapping, Set
from typing import Any

import attrs
import numpy as np
import pandas as pd

from faithkit.arrays import Floats, sum_by
from faithkit.arrays.containers import as_series, strip_mask
from faithkit.errors import InputError
from faithkit.measure.counting.owners import Counts, broadcast_ones
from faithkit.third_party import guard

CAP = 0.75  # with weights, an interval assumes at most this share of the effective number of rows
MAX_WEIGHT = 1e100  # the sum of larger weights could overflow


@attrs.frozen(eq=False)
class Design:
    """The weight, the cluster and the block of every row.

    Weights are integer steps, so that sums and differences are exact.

    Attributes
    ----------
    steps : (n,) int
        The weight of each row, in steps.
    unit : (n,) int
        The number of each row's cluster, or of the row itself if there are no clusters.
    step : float
        The weight of one step, such that weights average to 1.
    weighted, clustered : bool
        Whether weights differ, and whether any cluster has several rows.
    uninformative : bool
        Whether the user declares that weights and cluster sizes are unrelated to predictions.
    block : (n,) int, optional
        The number of each row's block, where rows are in blocks.

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
    is_weighted: bool
    is_clustered: bool
    uninformative: bool = False
    block: Counts | None = None

    @classmethod
    def of(
        cls, weights: Any, clusters: Any, n: int, uninformative: bool = False, block: Counts | None = None
    ) -> "Design | None":
        """Build from the user's weights and clusters, and codes of blocks; None if all rows are equal."""
        values = np.ones(n) if weights is None else read_weights(weights, n)
        if not values.any():
            raise InputError("all weights are 0: give the rows that count a weight above 0.")
        unit, names = (np.arange(n), None) if clusters is None else read_clusters(clusters, n)
        if names is not None and len(names) < 2:
            raise InputError(
                "all rows are of one cluster, so none can be checked against another: give a column with "
                "several values, or leave the clusters out."
            )
        design = cls._from_arrays(values, unit, uninformative, block)
        if design is not None and block is not None and design.is_clustered:
            pieces = np.unique(np.column_stack([block, unit])[values > 0], axis=0)
            if len(np.unique(pieces[:, 0])) == len(pieces):
                raise InputError(
                    "in every block all rows are of one cluster, so no two rows can be compared: leave out "
                    "the blocks, or the clusters."
                )
        return design

    @classmethod
    def _from_arrays(
        cls, weights: Floats, unit: Counts, uninformative: bool, block: Counts | None = None
    ) -> "Design | None":
        is_weighted, is_clustered = bool(np.ptp(weights) > 0), int(unit.max(initial=-1)) + 1 < len(unit)
        if not is_weighted and not is_clustered and block is None:
            return None
        steps = _to_steps(weights)
        step = len(weights) / float(steps.sum())
        return cls(steps, unit, step, is_weighted, is_clustered, uninformative, block)

    @classmethod
    def equal(cls, n: int) -> "Design":
        """Return the design of n equal rows."""
        return cls(broadcast_ones(n), np.arange(n), 1.0, is_weighted=False, is_clustered=False)

    def with_clusters(self, unit: Counts) -> "Design":
        """Return the same rows with the numbers of their clusters."""
        return attrs.evolve(self, steps=np.array(self.steps), unit=unit, is_clustered=True)

    def __len__(self) -> int:
        return len(self.steps)

    @property
    def is_equal(self) -> bool:
        """Whether all rows are alike: they have no weights, no clusters and no blocks."""
        return not self.is_weighted and not self.is_clustered and self.block is None

    @property
    def n_units(self) -> int:
        """The number of clusters, or of rows if there are no clusters."""
        return int(self.unit.max()) + 1

    @property
    def independent_unit(self) -> Counts:
        """The number of each row's independent unit: its block, or without blocks its cluster."""
        return self.unit if self.block is None else self.block

    @property
    def of_independent_units(self) -> "Design | None":
        """The same rows with their independent units as clusters."""
        if self.block is None:
            return self
        unit = pd.factorize(self.block)[0].astype(np.int64)
        return self._from_arrays(self.steps.astype(np.float64), unit, self.uninformative)

    @property
    def weights(self) -> Floats:
        """The weights, scaled to an average of 1."""
        return self.steps.astype(np.float64) * self.step

    @property
    def effective(self) -> float:
        """The effective number of independent, equally weighted rows: W² / Σ W_c²."""
        return effective_number(sum_by(self.independent_unit, self.steps))

    def summary_fields(self) -> dict[str, Any]:
        """Return the fields of a result: blocks, effective number of rows, declaration, clusters."""
        fields: dict[str, Any] = {}
        if self.block is not None:
            fields["blocks"] = len(np.unique(self.block))
        if self.is_weighted or self.is_clustered:
            clusters = self.n_units if self.is_clustered else None
            fields |= {"effective": self.effective, "uninformative": self.uninformative, "clusters": clusters}
        return fields

    @property
    def cap(self) -> float:
        """The largest number of trials that an interval may assume, as a share of the effective number."""
        return CAP if self.is_weighted else 1.0

    def take(self, rows: Any) -> "Design | None":
        """Return the design of the selected rows."""
        unit, _ = pd.factorize(self.unit[rows])
        steps, block = self.steps[rows], None if self.block is None else self.block[rows]
        if not steps.any():
            raise InputError("all weights of these rows are 0: nothing can be said of them.")
        return self._from_arrays(steps.astype(np.float64), unit.astype(np.int64), self.uninformative, block)


def _to_steps(weights: Floats) -> Counts:
    """Convert weights to integers: unchanged if they are integers, otherwise in fine steps."""
    if (weights == np.rint(weights)).all() and weights.sum() < 2.0**53:
        return weights.astype(np.int64)
    exponent = 61 - int(np.frexp(weights.max() * len(weights))[1])  # their sum then fits in 64 bits
    return np.rint(np.ldexp(weights, exponent)).astype(np.int64)


def effective_number(weights: Counts) -> float:
    """Return the effective number of independent, equal rows of clusters with these weights."""
    shares = weights / float(weights.sum())
    return float(1.0 / (shares**2).sum())


def _check_column(values: Any, name: str, n: int, first: int) -> pd.Series:
    if isinstance(values, str | bytes | Mapping | Set) or not hasattr(values, "__len__"):
        raise InputError(f"the {name} are a {type(values).__name__}: give one value per row.")
    with guard(f"going through the {name}", "Give one value per row."):
        column = as_series(strip_mask(values, f"the {name}"))
    if len(column) != n:
        raise InputError(f"{len(column)} {name} for {n} rows: give one value per row.")
    if column.isna().any():
        row = first + int(column.isna().to_numpy().argmax())
        raise InputError(f"row {row} has no value among the {name}: fill it, or drop such rows.")
    return column


def read_weights(values: Any, n: int, first: int = 0) -> Floats:
    """Return the weights of n rows as floats; raise an error for negative, missing and huge ones.

    `first` is the number of the first row in error messages.

    Examples
    --------
    >>> read_weights([1, -2], 2)
    Traceback (most recent call last):
    ...
    faithkit.errors.InputError: the weight of row 1 is -2: give numbers from 0 to 1e+100.
    """
    column = _check_column(values, "weights", n, first)
    try:
        if column.dtype.kind not in "biufO":
            raise TypeError
        weights: Floats = column.to_numpy(dtype=np.float64)
    except (TypeError, ValueError, OverflowError):
        raise InputError(
            f"the weights are no numbers, but {column.iloc[0]!r:.40} and others: give a number for each row."
        ) from None
    is_invalid = ~((weights >= 0) & (weights <= MAX_WEIGHT))
    if is_invalid.any():
        row = int(is_invalid.argmax())
        raise InputError(
            f"the weight of row {first + row} is {weights[row]:g}: give numbers from 0 to {MAX_WEIGHT:g}."
        )
    return weights


def read_clusters(values: Any, n: int, first: int = 0, role: str = "clusters") -> tuple[Counts, Any]:
    """Return the cluster code of each row and the names of the clusters; raise an error for missing ones.

    `role` is what error messages call them: clusters or blocks.
    """
    column = _check_column(values, role, n, first)
    with guard(f"comparing the {role}", "Give one name or number per row."):
        codes, names = pd.factorize(column)
    return codes.astype(np.int64), names
