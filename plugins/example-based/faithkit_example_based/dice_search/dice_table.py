"""A table in the form that dice-ml accepts: complete rows, numbers first, coded categories, renamed columns.

dice-ml accepts no missing values. It confuses the precision of columns unless numbers come first. It fails
on columns that have the name of one of its own columns, such as "distance".

The search space has the columns that may change, and the ranges of their values.
"""

from typing import Any

import attrs
import numpy as np
import pandas as pd
from numpy.typing import NDArray

import faithkit

Floats = NDArray[np.float64]

MAX_DECIMALS = 15
CLOSE_QUANTILE = 0.1  # of deviations: numbers that differ by less are close; dice-ml's default
NOT_A_NUMBER = "a number is missing or infinite"
NOT_A_CATEGORY = "a category that the background does not have"


@attrs.frozen(eq=False)
class DiceTable:
    """The rows that DiCE learns from, and their conversion to and from DiCE's frames.

    Parameters
    ----------
    codes : array
        The rows, encoded by `Encoder`.
    categories : dict
        The position of each categorical column, and its codes. A missing value has a code if the background
        has missing values.
    decimals : dict
        The position of each other column, and the number of decimals of its values.

    Examples
    --------
    >>> table = DiceTable.learn(np.array([[0.0, 1.5], [1.0, 2.0], [1.0, np.nan]]), categorical=[0])
    >>> table.frame(table.codes)
        x1   x0
    0  1.5  0.0
    1  2.0  1.0
    >>> table.rejection_reason(np.array([2.0, 1.0]))
    'a category that the background does not have'
    """

    codes: Floats
    categories: dict[int, list[float]]
    decimals: dict[int, int]

    @classmethod
    def learn(cls, codes: Floats, categorical: Any) -> "DiceTable":
        """Select the complete rows and sort them, so that their order does not change the search."""
        numbers = [j for j in range(codes.shape[1]) if j not in categorical]
        complete = codes[np.isfinite(codes[:, numbers]).all(axis=1)]
        if not len(complete):
            raise faithkit.errors.InputError(
                "dice learns from rows in which no number is missing or infinite, and none of the "
                f"{len(codes)} rows of the background is one. Impute such numbers, or drop their columns."
            )
        complete = complete[np.lexsort(complete.T)]
        categories = {j: np.unique(complete[:, j]).tolist() for j in categorical}
        return cls(complete, categories, {j: _count_decimals(complete[:, j]) for j in numbers})

    @property
    def columns(self) -> list[int]:
        """The positions of the columns in DiCE's order."""
        return [*self.decimals, *self.categories]

    @property
    def dtypes(self) -> dict[str, Any]:
        """The dtypes of DiCE's columns; each frame has all categories, and so the same dummies."""
        numbers = {column_name(j): np.dtype(np.float64) for j in self.decimals}
        return numbers | {column_name(j): pd.CategoricalDtype(codes) for j, codes in self.categories.items()}

    def frame(self, codes: Floats) -> pd.DataFrame:
        """Return rows as a frame for DiCE."""
        return pd.DataFrame({column_name(j): codes[:, j] for j in self.columns}).astype(self.dtypes)

    def decode_frame(self, frame: pd.DataFrame) -> Floats:
        """Return the codes of the rows of a DiCE frame, whatever its dtypes."""
        codes = np.empty((len(frame), len(self.columns)))
        for j in self.columns:
            codes[:, j] = frame[column_name(j)].to_numpy(dtype=np.float64)
        return codes

    def with_restored(self, counterfactuals: list[Floats], row: Floats) -> Floats:
        """Return each counterfactual twice: with the instance's exact unchanged values, and as it is."""
        return np.stack(
            [
                variant
                for counterfactual in counterfactuals
                for variant in (self.restore_unchanged(counterfactual, row), counterfactual)
            ]
        )

    def restore_unchanged(self, counterfactual: Floats, row: Floats) -> Floats:
        """Return a counterfactual with the instance's exact unchanged values, which DiCE rounds."""
        restored = counterfactual.copy()
        for j, decimals in self.decimals.items():
            if counterfactual[j] == np.round(row[j], decimals):
                restored[j] = row[j]
        return restored

    def rejection_reason(self, row: Floats) -> str | None:
        """Return the reason why DiCE cannot explain a row, or None if it can."""
        if not np.isfinite(row[list(self.decimals)]).all():
            return NOT_A_NUMBER
        is_known = all(row[j] in codes for j, codes in self.categories.items())
        return None if is_known else NOT_A_CATEGORY


def column_name(j: int) -> str:
    """Return DiCE's name for the column at position j."""
    return f"x{j}"


def _count_decimals(numbers: Floats) -> int:
    """Count the decimals of a column; dice-ml looks only at the most frequent numbers.

    >>> [_count_decimals(np.array(column)) for column in ([1.0, 2.25], [3.0], [1e-7])]
    [2, 0, 7]
    """
    # numbers without decimals are drawn as int64, so large numbers get a decimal
    min_decimals = 0 if np.abs(numbers).max() < 2.0**53 else 1
    exact_decimals = (
        d for d in range(min_decimals, MAX_DECIMALS) if np.array_equal(np.round(numbers, d), numbers)
    )
    return next(exact_decimals, MAX_DECIMALS)


@attrs.frozen(eq=False)
class Space:
    """The columns of a table, by position, with their ranges and deviations.

    Parameters
    ----------
    table : DiceTable
    columns : list of int
        The columns that may change, in DiCE's order.
    ranges : dict
        The smallest and the largest value of each numeric column, and the codes of each categorical column.
    deviations : dict
        The median absolute deviation of each numeric column; 1 where it is 0.
    close : dict
        The largest difference of two close values of each numeric column, in descending order.
    """

    table: DiceTable
    columns: list[int]
    ranges: dict[int, list[float]]
    deviations: dict[int, float]
    close: dict[int, float]
