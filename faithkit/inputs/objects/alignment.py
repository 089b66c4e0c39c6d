"""Rows are paired by their place: where pandas' indexes say that the places differ, that is an error."""

from itertools import combinations
from typing import Any

import pandas as pd

from faithkit.errors import InputError


def check_order(given: dict[str, Any]) -> pd.Index | None:
    """Refuse columns and tables of pandas that have one index in different orders; return the first index.

    An index that only counts rows says nothing: who makes a Series of a model's answers gets one, whatever
    the order of X.

    Examples
    --------
    >>> y = pd.Series(["yes", "no"], index=["a", "b"])
    >>> check_order({"predictions": y, "explanations": y.reset_index(drop=True)}).tolist()
    ['a', 'b']
    >>> check_order({"predictions": y, "explanations": y[::-1]})
    Traceback (most recent call last):
    ...
    faithkit.errors.InputError: predictions and explanations have one index in different orders, and rows ...
    """
    indexes = {name: row_index(one) for name, one in given.items()}
    told = {name: index for name, index in indexes.items() if index is not None}
    for (one, mine), (other, theirs) in combinations(told.items(), 2):
        if len(mine) == len(theirs) and not mine.equals(theirs) and mine.isin(theirs).all():
            raise InputError(
                f"{one} and {other} have one index in different orders, and rows are paired by their place: "
                "bring both into one order, such as with .loc[X.index], or say that they are in the same one "
                "with .reset_index(drop=True)."
            )
    return next(iter(told.values()), None)


def row_index(rows: Any) -> pd.Index | None:
    """Return the index of something of pandas, if it names each row and does not merely count them.

    Examples
    --------
    >>> row_index(pd.Series(["yes", "no"], index=["a", "b"])).tolist()
    ['a', 'b']
    >>> row_index(pd.Series(["yes", "no"])) is row_index([1, 2]) is None
    True
    """
    index = rows.index if isinstance(rows, pd.Series | pd.DataFrame) else rows
    if not isinstance(index, pd.Index) or not index.is_unique:
        return None
    return None if index.equals(pd.RangeIndex(len(index))) else index
