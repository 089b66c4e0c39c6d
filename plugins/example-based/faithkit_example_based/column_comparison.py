"""Compare instances and examples column by column."""

from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import NDArray

import faithkit


def align_columns(name: str, x: pd.DataFrame, y: pd.DataFrame) -> pd.DataFrame:
    """Return the columns of x, by their names, in the order of y.

    Examples
    --------
    >>> x, y = pd.DataFrame({"b": [1], "a": [2]}), pd.DataFrame({"a": [5], "b": [6]})
    >>> align_columns("delta", x, y).iloc[0].tolist()
    [2, 1]
    """
    positions = {str(column): j for j, column in enumerate(x.columns)}
    absent = [str(column) for column in y.columns if str(column) not in positions]
    if absent or x.shape[1] != y.shape[1]:
        raise faithkit.errors.InputError(
            f"{name}: the examples have {y.shape[1]} columns and the instances {x.shape[1]}"
            f"{f', and {absent[0]!r} is not among them' if absent else ''}: give both the same columns."
        )
    return x.iloc[:, [positions[str(column)] for column in y.columns]]


def find_differences(x: Any, y: Any) -> NDArray[np.bool_]:
    """Return where two columns differ; two missing values are equal.

    Examples
    --------
    >>> find_differences(pd.Series(["a", None, "a"]), pd.Series(["a", None, None]))
    array([False, False,  True])
    """
    missing_x, missing_y = (np.asarray(column.isna()) for column in (x, y))
    present = ~(missing_x | missing_y)
    a, b = (column.to_numpy(dtype=object)[present] for column in (x, y))
    differs = missing_x != missing_y
    differs[present] = a != b
    return differs
