"""A counterfactual moved towards its instance for as long as the model gives it another label.

All rows take each step together, so a step is one call of the model; no row's result depends on another's.
"""

from typing import Any

import attrs
import numpy as np
import pandas as pd
from numpy.typing import NDArray

import faithkit
from faithkit_example_based.cells import aligned, unlike
from faithkit_example_based.distances import Distance
from faithkit_example_based.wanted import Wanted

Bools = NDArray[np.bool_]
Columns = list[pd.Series]
HALVINGS = 10


class Refinement:
    """How to refine counterfactuals that were found in a background.

    Parameters
    ----------
    predictor : Predictor
    wanted : Wanted
        Which predictions a counterfactual may have.
    distance : Distance
        By which a result is never farther than where it started.
    background : array or DataFrame
        Says which columns hold numbers, and which of them whole ones only.
    """

    def __init__(
        self, predictor: faithkit.Predictor, wanted: Wanted, distance: Distance, background: Any
    ) -> None:
        self.predictor = predictor
        self.wanted = wanted
        self.distance = distance
        encoder = faithkit.plugin.Encoder(background)
        codes = encoder.encode(background)
        is_whole = ((codes == np.floor(codes)) | np.isnan(codes)).all(axis=0)
        self.is_whole = {
            j: bool(is_whole[j]) for j in range(encoder.n_columns) if j not in encoder.categorical
        }

    def refined(self, X: Any, values: Any, labels: NDArray[Any]) -> Any:
        """Return counterfactuals at least as near, each with another label than its instance's."""
        pair = _Pair.of(X, values, labels)
        start = self._coordinates(pair, pair.y)
        found = self._halved(pair, self._undone(pair, start))
        here, end = self._coordinates(pair, pair.x), self._coordinates(pair, found)
        # a named distance only shrinks when columns come nearer; a user's function may not
        farther = self.distance.between(here, end) > self.distance.between(here, start)
        return pair.table(_mixed(found, pair.y, np.repeat(farther[:, None], len(found), axis=1)))

    def _undone(self, pair: "_Pair", start: NDArray[Any]) -> Columns:
        """Undo changes one column at a time, in every row the one first that adds most to the distance."""
        parts = self.distance.parts(self._coordinates(pair, pair.x), start)
        changed, y = _unlike(pair.x, pair.y), pair.y
        for columns in np.argsort(-parts, axis=1, kind="stable").T:
            undo = (columns[:, None] == np.arange(len(y))) & changed
            undo &= self._flipped(pair, _mixed(y, pair.x, undo), undo.any(axis=1))[:, None]
            y = _mixed(y, pair.x, undo)
        return y

    def _halved(self, pair: "_Pair", y: Columns) -> Columns:
        """Move the numbers that still differ along the segment, by bisection of its length."""
        moving = _unlike(pair.x, y)
        for j, (mine, other) in enumerate(zip(pair.x, y, strict=True)):
            can_move = j in self.is_whole and mine.dtype.kind in "iuf"
            moving[:, j] &= can_move & ~(mine.isna() | other.isna()).to_numpy()
        rows = np.asarray(moving.any(axis=1))
        low, high, best = np.zeros(len(rows)), np.ones(len(rows)), y
        for _ in range(HALVINGS if rows.any() else 0):
            middle = (low + high) / 2
            asked = self._between(pair.x, y, moving, middle)
            flipped = self._flipped(pair, asked, rows)
            low, high = np.where(flipped, low, middle), np.where(flipped, middle, high)
            best = _mixed(best, asked, moving & flipped[:, None])
        return best

    def _between(self, x: Columns, y: Columns, moving: Bools, share: NDArray[np.float64]) -> Columns:
        """Return the points at a share of the way from x to y; whole numbers are rounded towards y."""
        points = list(y)
        for j in np.flatnonzero(moving.any(axis=0)).tolist():
            start, end = (column.to_numpy(dtype=np.float64, na_value=0.0) for column in (x[j], y[j]))
            point = start + share * (end - start)
            if self.is_whole[j]:
                point = np.where(end > start, np.ceil(point), np.floor(point))
            point = np.where(moving[:, j], point, 0.0)
            points[j] = y[j].where(~moving[:, j], pd.Series(point).astype(y[j].dtype))
        return points

    def _flipped(self, pair: "_Pair", asked: Columns, rows: Bools) -> Bools:
        """Ask the model about some rows, whether their label is another than the instance's."""
        flipped = np.zeros(len(rows), dtype=bool)
        if rows.any():
            some = faithkit.plugin.take_rows(pair.table(asked), rows)
            flipped[rows] = self.wanted.is_other(self.predictor.predict(some), pair.labels[rows])
        return flipped

    def _coordinates(self, pair: "_Pair", columns: Columns) -> NDArray[Any]:
        return self.distance.coordinates(pair.table(columns))


@attrs.frozen(eq=False)
class _Pair:
    """Instances and counterfactuals as columns of the same dtypes, and how to make a table of such again."""

    x: Columns
    y: Columns
    labels: NDArray[Any]
    names: Any
    dtype: Any  # of an array; None for a frame

    @classmethod
    def of(cls, X: Any, values: Any, labels: NDArray[Any]) -> "_Pair":
        dtype = None if isinstance(values, pd.DataFrame) else np.result_type(X, values)
        x, y = (pd.DataFrame(rows if dtype is None else rows.astype(dtype)) for rows in (X, values))
        x, n = aligned("nearest-counterfactual", x, y), len(x)
        # by one concatenation the dtype depends on the two dtypes only, never on the rows of a chunk
        both = [pd.concat([x.iloc[:, j], y.iloc[:, j]], ignore_index=True) for j in range(y.shape[1])]
        ends = [column.iloc[n:].reset_index(drop=True) for column in both]
        return cls([column.iloc[:n] for column in both], ends, labels, y.columns, dtype)

    def table(self, columns: Columns) -> Any:
        """Return columns as the model takes them."""
        frame = pd.DataFrame(dict(enumerate(columns))).set_axis(self.names, axis="columns")
        return frame if self.dtype is None else frame.to_numpy(dtype=self.dtype)


def _mixed(columns: Columns, others: Columns, where: Bools) -> Columns:
    """Take cells from the other columns where the mask says so."""
    mixed = list(columns)
    for j in np.flatnonzero(where.any(axis=0)).tolist():
        mixed[j] = columns[j].where(~where[:, j], others[j])
    return mixed


def _unlike(x: Columns, y: Columns) -> Bools:
    """Return which cells differ."""
    return np.column_stack([unlike(mine, other) for mine, other in zip(x, y, strict=True)])
