"""A table as DiCE can take it: complete rows, numbers first, categories by their codes, columns renamed.

dice-ml takes no missing values, confuses the precision of columns unless numbers come first, and stumbles
over columns that are named like its own, such as "distance".
"""

from typing import Any

import attrs
import numpy as np
import pandas as pd
from numpy.typing import NDArray

import faithkit

Floats = NDArray[np.float64]

MOST_DECIMALS = 15
CLOSE = 0.1  # two numbers are close that differ by less than this quantile of deviations: dice-ml's default
NOT_A_NUMBER = "a number is missing or infinite"
NOT_A_CATEGORY = "a category that the background does not have"


@attrs.frozen(eq=False)
class DiceTable:
    """The rows that DiCE learns from, and how they are written for it.

    Parameters
    ----------
    codes : array
        The rows as the Encoder has them.
    categories : dict
        For the position of each categorical column the codes that the rows have there; missing is one of
        them where the background has missing values.
    decimals : dict
        For the position of each other column how many decimals its numbers have.

    Examples
    --------
    >>> table = DiceTable.learn(np.array([[0.0, 1.5], [1.0, 2.0], [1.0, np.nan]]), categorical=[0])
    >>> table.frame(table.codes)
        x1   x0
    0  1.5  0.0
    1  2.0  1.0
    >>> table.refusal(np.array([2.0, 1.0]))
    'a category that the background does not have'
    """

    codes: Floats
    categories: dict[int, list[float]]
    decimals: dict[int, int]

    @classmethod
    def learn(cls, codes: Floats, categorical: Any) -> "DiceTable":
        """Keep the complete rows, sorted: their order must not change what is drawn or found."""
        numbers = [j for j in range(codes.shape[1]) if j not in categorical]
        complete = codes[np.isfinite(codes[:, numbers]).all(axis=1)]
        if not len(complete):
            raise faithkit.errors.InputError(
                "dice learns from rows in which no number is missing or infinite, and none of the "
                f"{len(codes)} rows of the background is one. Impute such numbers, or drop their columns."
            )
        complete = complete[np.lexsort(complete.T)]
        categories = {j: np.unique(complete[:, j]).tolist() for j in categorical}
        return cls(complete, categories, {j: _decimals(complete[:, j]) for j in numbers})

    @property
    def columns(self) -> list[int]:
        """The positions of the columns in DiCE's order."""
        return [*self.decimals, *self.categories]

    @property
    def dtypes(self) -> dict[str, Any]:
        """The dtypes of DiCE's columns; every frame knows all categories, so all have the same dummies."""
        numbers = {name(j): np.dtype(np.float64) for j in self.decimals}
        return numbers | {name(j): pd.CategoricalDtype(codes) for j, codes in self.categories.items()}

    def frame(self, codes: Floats) -> pd.DataFrame:
        """Write rows for DiCE."""
        return pd.DataFrame({name(j): codes[:, j] for j in self.columns}).astype(self.dtypes)

    def read(self, frame: pd.DataFrame) -> Floats:
        """Return the codes of rows that DiCE wrote, in any dtypes."""
        codes = np.empty((len(frame), len(self.columns)))
        for j in self.columns:
            codes[:, j] = frame[name(j)].to_numpy(dtype=np.float64)
        return codes

    def restored(self, found: Floats, row: Floats) -> Floats:
        """Return a row that was found with its unchanged cells as they were: DiCE rounds them, too."""
        kept = found.copy()
        for j, decimals in self.decimals.items():
            if found[j] == np.round(row[j], decimals):
                kept[j] = row[j]
        return kept

    def refusal(self, row: Floats) -> str | None:
        """Say why DiCE cannot take a row, or None where it can."""
        if not np.isfinite(row[list(self.decimals)]).all():
            return NOT_A_NUMBER
        known = all(row[j] in codes for j, codes in self.categories.items())
        return None if known else NOT_A_CATEGORY


def name(j: int) -> str:
    """Return DiCE's name of the column at a position."""
    return f"x{j}"


def _decimals(numbers: Floats) -> int:
    """Count the decimals of a column; DiCE counts those of the most frequent numbers alone.

    >>> _decimals(np.array([1.0, 2.25])), _decimals(np.array([3.0])), _decimals(np.array([1e-7]))
    (2, 0, 7)
    """
    # whole numbers are drawn as int64
    first = 0 if np.abs(numbers).max() < 2.0**53 else 1
    exact = (d for d in range(first, MOST_DECIMALS) if np.array_equal(np.round(numbers, d), numbers))
    return next(exact, MOST_DECIMALS)
