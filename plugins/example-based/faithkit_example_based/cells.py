"""Two tables side by side, cell by cell: an instance and what an example makes of it."""

from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import NDArray

import faithkit


def aligned(who: str, x: pd.DataFrame, y: pd.DataFrame) -> pd.DataFrame:
    """Return the columns of x in the order of y's, by name.

    Examples
    --------
    >>> x, y = pd.DataFrame({"b": [1], "a": [2]}), pd.DataFrame({"a": [5], "b": [6]})
    >>> aligned("delta", x, y).iloc[0].tolist()
    [2, 1]
    """
    place = {str(name): j for j, name in enumerate(x.columns)}
    lacking = [str(name) for name in y.columns if str(name) not in place]
    if lacking or x.shape[1] != y.shape[1]:
        raise faithkit.errors.InputError(
            f"{who}: the examples have {y.shape[1]} columns and the instances {x.shape[1]}"
            f"{f', and {lacking[0]!r} is not among them' if lacking else ''}: give both the same columns."
        )
    return x.iloc[:, [place[str(name)] for name in y.columns]]


def unlike(x: Any, y: Any) -> NDArray[np.bool_]:
    """Return where two columns differ; two missing values do not.

    Examples
    --------
    >>> unlike(pd.Series(["a", None, "a"]), pd.Series(["a", None, None]))
    array([False, False,  True])
    """
    gone_x, gone_y = (np.asarray(column.isna()) for column in (x, y))
    known = ~(gone_x | gone_y)
    a, b = (column.to_numpy(dtype=object)[known] for column in (x, y))
    differs = gone_x != gone_y
    differs[known] = a != b
    return differs
