"""Move counterfactuals towards their instances, as long as they remain counterfactuals.

All rows take each step together, so a step is one call of the model. No row's result depends on another row.
"""

from typing import Any

import attrs
import numpy as np
import pandas as pd
from numpy.typing import NDArray

import faithkit
from faithkit_example_based.distances import Distance
from faithkit_example_based.examples import align_columns, find_differences
from faithkit_example_based.target import CounterfactualTarget

Bools = NDArray[np.bool_]
Columns = list[pd.Series]
HALVINGS = 10


class Refinement:
    """A refinement of counterfactuals from a background.

    Parameters
    ----------
    predictor : Predictor
    target : CounterfactualTarget
        The predictions that a counterfactual must have.
    distance : Distance
        A refined counterfactual is never farther from its instance by this distance.
    background : array or DataFrame
        It shows which columns hold numbers, and which of them only whole numbers.
    """

    def __init__(
        self,
        predictor: faithkit.Predictor,
        target: CounterfactualTarget,
        distance: Distance,
        background: Any,
    ) -> None:
        self.predictor = predictor
        self.target = target
        self.distance = distance
        encoder = faithkit.plugin.Encoder(background)
        codes = encoder.encode(background)
        is_whole = ((codes == np.floor(codes)) | np.isnan(codes)).all(axis=0)
        self.is_whole = {
            j: bool(is_whole[j]) for j in range(encoder.n_columns) if j not in encoder.categorical
        }

    def refine(self, X: Any, values: Any, labels: NDArray[Any]) -> Any:
        """Return counterfactuals that are at least as near to their instances as `values`."""
        pair = _Pair.of(X, values, labels)
        start = self._coordinates(pair, pair.y)
        refined = self._bisect(pair, self._undo_changes(pair, start))
        x, end = self._coordinates(pair, pair.x), self._coordinates(pair, refined)
        # a named distance only shrinks when columns come nearer; a user's function may grow
        is_farther = self.distance.between(x, end) > self.distance.between(x, start)
        return pair.table(_replace(refined, pair.y, np.repeat(is_farther[:, None], len(refined), axis=1)))

    def _undo_changes(self, pair: "_Pair", start: NDArray[Any]) -> Columns:
        """Undo changes one column at a time, the largest contribution to the distance first."""
        parts = self.distance.parts(self._coordinates(pair, pair.x), start)
        changed, y = _find_changes(pair.x, pair.y), pair.y
        for columns in np.argsort(-parts, axis=1, kind="stable").T:
            undo = (columns[:, None] == np.arange(len(y))) & changed
            undo &= self._is_counterfactual(pair, _replace(y, pair.x, undo), undo.any(axis=1))[:, None]
            y = _replace(y, pair.x, undo)
        return y

    def _bisect(self, pair: "_Pair", y: Columns) -> Columns:
        """Move the numbers that still differ along the segment to the instance, by bisection."""
        moving = _find_changes(pair.x, y)
        for j, (x_column, y_column) in enumerate(zip(pair.x, y, strict=True)):
            can_move = j in self.is_whole and x_column.dtype.kind in "iuf"
            moving[:, j] &= can_move & ~(x_column.isna() | y_column.isna()).to_numpy()
        rows = np.asarray(moving.any(axis=1))
        low, high, best = np.zeros(len(rows)), np.ones(len(rows)), y
        for _ in range(HALVINGS if rows.any() else 0):
            middle = (low + high) / 2
            points = self._between(pair.x, y, moving, middle)
            is_valid = self._is_counterfactual(pair, points, rows)
            low, high = np.where(is_valid, low, middle), np.where(is_valid, middle, high)
            best = _replace(best, points, moving & is_valid[:, None])
        return best

    def _between(self, x: Columns, y: Columns, moving: Bools, share: NDArray[np.float64]) -> Columns:
        """Return the points at a share of the way from x to y; integers are rounded towards y."""
        points = list(y)
        for j in np.flatnonzero(moving.any(axis=0)).tolist():
            start, end = (column.to_numpy(dtype=np.float64, na_value=0.0) for column in (x[j], y[j]))
            point = start + share * (end - start)
            if self.is_whole[j]:
                point = np.where(end > start, np.ceil(point), np.floor(point))
            point = np.where(moving[:, j], point, 0.0)
            points[j] = y[j].where(~moving[:, j], pd.Series(point).astype(y[j].dtype))
        return points

    def _is_counterfactual(self, pair: "_Pair", points: Columns, rows: Bools) -> Bools:
        """Return which of the selected rows the model predicts as counterfactuals."""
        is_counterfactual = np.zeros(len(rows), dtype=bool)
        if rows.any():
            predictions = self.predictor.predict(faithkit.plugin.take_rows(pair.table(points), rows))
            is_counterfactual[rows] = self.target.contains(predictions, pair.labels[rows])
        return is_counterfactual

    def _coordinates(self, pair: "_Pair", columns: Columns) -> NDArray[Any]:
        return self.distance.coordinates(pair.table(columns))


@attrs.frozen(eq=False)
class _Pair:
    """Instances x and counterfactuals y as columns with the same dtypes."""

    x: Columns
    y: Columns
    labels: NDArray[Any]
    names: Any
    dtype: Any  # of an array; None for a frame

    @classmethod
    def of(cls, X: Any, values: Any, labels: NDArray[Any]) -> "_Pair":
        dtype = None if isinstance(values, pd.DataFrame) else np.result_type(X, values)
        x, y = (pd.DataFrame(rows if dtype is None else rows.astype(dtype)) for rows in (X, values))
        x, n = align_columns("nearest-counterfactual", x, y), len(x)
        # the dtype of concatenated columns depends on the two dtypes only, and not on the rows of a chunk
        both = [_join(x.iloc[:, j], y.iloc[:, j]) for j in range(y.shape[1])]
        ends = [column.iloc[n:].reset_index(drop=True) for column in both]
        return cls([column.iloc[:n] for column in both], ends, labels, y.columns, dtype)

    def table(self, columns: Columns) -> Any:
        """Return columns as a table in the form of the model's input."""
        frame = pd.DataFrame(dict(enumerate(columns))).set_axis(self.names, axis="columns")
        return frame if self.dtype is None else frame.to_numpy(dtype=self.dtype)


def _join(x: pd.Series, y: pd.Series) -> pd.Series:
    """Return a column of X and one of counterfactuals as one; categories of both stay categories."""
    if all(isinstance(column.dtype, pd.CategoricalDtype) for column in (x, y)):
        categories = y.cat.categories.union(x.cat.categories, sort=False)
        x, y = x.cat.set_categories(categories), y.cat.set_categories(categories)
    return pd.concat([x, y], ignore_index=True)


def _replace(columns: Columns, replacements: Columns, mask: Bools) -> Columns:
    """Replace the values of columns where the mask is true."""
    replaced = list(columns)
    for j in np.flatnonzero(mask.any(axis=0)).tolist():
        replaced[j] = columns[j].where(~mask[:, j], replacements[j])
    return replaced


def _find_changes(x: Columns, y: Columns) -> Bools:
    """Return which values differ, (rows, columns)."""
    return np.column_stack([find_differences(*columns) for columns in zip(x, y, strict=True)])
