"""The relation `near-in-top-features`, the default relation of importances. It is not in the paper.

An importance says how much a feature mattered, but not for which instances. Together with the explained
instance it becomes a claim that can be checked: instances that are near it in the features that carry most of
the explanation get the same prediction.
"""

from numbers import Real
from typing import Any

import attrs
import numpy as np
from numpy.typing import NDArray

import faithkit
from faithkit_feature_importance.column_importances import (
    check_table,
    column_sizes,
    missing_instances_error,
    permuted_sizes,
)
from faithkit_feature_importance.importances import mark_top_share
from faithkit_feature_importance.objections import object_to_importances
from faithkit_feature_importance.row_distances import DistanceColumns, Floats, RowCoder

NAME = "near-in-top-features"
TIE = 1e-12  # distances that differ by less are equal
IGNORED = -1.0  # in keys: the code of a column that is not compared
BATCH_ROWS, BATCH_ELEMENTS = 64, 4_000_000  # of a batch of scopes, each on one thread


class NearInTopFeatures(faithkit.plugin.Relation):
    """The relation of rows that are near in the features that carry most of an explanation.

    Compared are the fewest features that carry `share` of the sum of absolute importances, at most `most`.
    Near are the rows that are as near as the `rows`-th nearest: each explanation has a radius, within which
    the share rows / n of the background lies, where n is the number of rows that can be held. Ties belong,
    and the row itself is not counted: if the background has a copy of it, one copy is left out.

    The distance of two rows is summed over the compared features. For numbers it is the difference of their
    ranks in the background, as a share of its rows; for categories it is 0 or 1. A missing value has distance
    0 from a missing value and 1 from any other.

    Importances of several classes or outputs are summed. Of equal importances the earlier column comes first.
    An explanation without any importance holds for nothing.

    Explainers of importances name it as the relation of their explanations. So sufficiency is measured by it
    unless another relation is named.

    Parameters
    ----------
    share : float
        The share of the sum of absolute importances that the compared features carry, above 0 and at most 1.
    rows : int
        How many rows of those that can be held are near.
    most : int
        The largest number of compared features.

    Examples
    --------
    >>> X = np.array([[1.0, 9.0], [2.0, 8.0], [3.0, 1.0], [4.0, 2.0]])
    >>> phi = faithkit.Explanations.vectors([[0.9, 0.1]] * 4, instances=X)
    >>> relation = NearInTopFeatures(rows=1).fit(X, 4)
    >>> relation.holds(faithkit.plugin.Sample(X, phi), phi).astype(int)
    array([[1, 1, 0, 0],
           [1, 1, 1, 0],
           [0, 1, 1, 1],
           [0, 0, 1, 1]])
    """

    name = NAME
    instance_only = True
    max_owners = 10_000

    def __init__(self, share: float = 0.8, rows: int = 10, most: int = 5) -> None:
        if not isinstance(share, Real) or isinstance(share, bool) or not 0 < float(share) <= 1:
            raise faithkit.errors.ParameterError(
                f"{NAME}: share must be a number above 0 and at most 1, got {share!r}."
            )
        for name, value in (("rows", rows), ("most", most)):
            faithkit.plugin.check_integer(
                value, f"{NAME}: {name}", minimum=1, error=faithkit.errors.ParameterError
            )
        self.share: float = float(share)
        self.rows: int = rows
        self.most: int = most
        self.phrase = (
            f"rows that are alike in the features that carry {100 * self.share:g} % of the explanation"
        )

    def fit(self, background: Any, n: int) -> "NearInTopFeatures":
        """Learn the ranks of the background, and how many of its rows are near when `rows` of n are."""
        check_table(NAME, background)
        self.coder_ = RowCoder(background)
        self.background_ = DistanceColumns.of(self.coder_.codes, self.coder_.is_number)
        self.rank_ = -(-self.rows * len(self.background_) // max(1, n))
        return self

    def key(self, explanations: faithkit.Explanations) -> Floats:
        """Return the codes of the compared features, and whether the background has a copy of the row."""
        owners = self._owners(explanations)
        is_in_background = owners.has_copy & owners.named.any(axis=1)
        return np.column_stack([np.where(owners.named, owners.codes, IGNORED), is_in_background])

    def holds(self, sample: faithkit.plugin.Sample, explanations: faithkit.Explanations) -> NDArray[np.bool_]:
        """Compare the distances of all rows with the radius of each explanation."""
        return self._scopes(sample, self._owners(explanations))

    def packed(
        self, sample: faithkit.plugin.Sample, explanations: faithkit.Explanations
    ) -> NDArray[np.uint64]:
        """Return the same as bits, on threads."""
        owners, n = self._owners(explanations), len(sample)
        bits = np.empty((len(explanations), -(-n // 64)), dtype=np.uint64)

        def fill(start: int, stop: int) -> None:
            scopes = self._scopes(sample, owners.take(slice(start, stop)))
            bits[start:stop] = faithkit.plugin.pack_bits(scopes)

        self._columns(sample)  # once, before threads share it
        faithkit.plugin.each_batch(
            fill, len(explanations), max(1, min(BATCH_ROWS, BATCH_ELEMENTS // max(1, n)))
        )
        return bits

    def control(
        self, sample: faithkit.plugin.Sample, explanations: faithkit.Explanations, seeds: NDArray[Any]
    ) -> faithkit.Explanations:
        """Permute the importances of each row among its columns."""
        names = self._fitted_coder().names
        sizes = column_sizes(NAME, explanations, names)
        named, narrower = mark_top_share(sizes, self.share, self.most), f"{NAME}:most=1"
        return permuted_sizes(explanations, sizes, named, names, seeds, narrower)

    def objections(self, context: faithkit.plugin.ObjectionContext) -> list[faithkit.plugin.Objection]:
        """Object to signs that are arbitrary, or say the opposite of what the model does."""
        return object_to_importances(NAME, context, self.holds)

    def __str__(self) -> str:
        return f"{NAME}:share={self.share},rows={self.rows},most={self.most}"

    def _fitted_coder(self) -> RowCoder:
        if not hasattr(self, "coder_"):
            raise faithkit.errors.InputError(
                f"{NAME} has not learnt any ranks: call fit(background, n) first."
            )
        return self.coder_

    def _owners(self, explanations: faithkit.Explanations) -> "_Owners":
        if explanations.instances is None:
            raise missing_instances_error(NAME)
        coder = self._fitted_coder()
        sizes = column_sizes(NAME, explanations, coder.names)
        codes = coder.encode(explanations.instances)
        return _Owners(codes, mark_top_share(sizes, self.share, self.most), coder.has_copy(codes))

    def _columns(self, sample: faithkit.plugin.Sample) -> DistanceColumns:
        sample.instances(NAME)
        return sample.once(_code_columns, self.coder_, self.background_)

    def _scopes(self, sample: faithkit.plugin.Sample, owners: "_Owners") -> NDArray[np.bool_]:
        columns = self._columns(sample)
        scopes = np.zeros((len(owners.codes), len(sample)), dtype=bool)
        for i, (row, named, has_copy) in enumerate(
            zip(owners.codes, owners.named, owners.has_copy, strict=True)
        ):
            features = np.flatnonzero(named)
            if len(features):
                distances = self.background_.distances(row, features)
                radius = self._radius(distances, bool(has_copy))
                if columns is not self.background_:
                    distances = columns.distances(row, features)
                np.less_equal(distances, radius + TIE, out=scopes[i])
        return scopes

    def _radius(self, distances: Floats, has_copy: bool) -> float:
        """Return the distance of the last near row; a copy of the row has distance 0 and is left out."""
        n_others = len(distances) - has_copy
        place = max(1, min(self.rank_, n_others)) - 1 + has_copy
        return float(np.partition(distances, place)[place]) if n_others else 0.0


@attrs.frozen(eq=False)
class _Owners:
    """What scopes are made of: the codes of the explained rows, the compared features, and who has a copy."""

    codes: Floats
    named: NDArray[np.bool_]
    has_copy: NDArray[np.bool_]

    def take(self, rows: slice) -> "_Owners":
        return _Owners(self.codes[rows], self.named[rows], self.has_copy[rows])


def _code_columns(
    sample: faithkit.plugin.Sample, coder: RowCoder, background: DistanceColumns
) -> DistanceColumns:
    """Return the codes of a sample: those of the background itself if its rows stand in for one."""
    codes = coder.encode(sample.X)
    if np.array_equal(codes, coder.codes):
        return background  # its distances serve for the radius and for the scope
    return DistanceColumns.of(codes, coder.is_number)
