"""Rows are paired by their place: where pandas' indexes say that the places differ, that is an error."""

from itertools import combinations
from typing import Any

import pandas as pd

from faithkit.errors import InputError


def check_order(given: dict[str, Any]) -> None:
    """Refuse columns and tables of pandas that have one index in different orders.

    An index that only counts rows says nothing: who makes a Series of a model's answers gets one, whatever
    the order of X.

    Examples
    --------
    >>> y = pd.Series(["yes", "no"], index=["a", "b"])
    >>> check_order({"predictions": y, "explanations": y.reset_index(drop=True)})
    >>> check_order({"predictions": y, "explanations": y[::-1]})
    Traceback (most recent call last):
    ...
    faithkit.errors.InputError: predictions and explanations have one index in different orders, and rows ...
    """
    told = {name: one.index for name, one in given.items() if _says_order(one)}
    for (one, mine), (other, theirs) in combinations(told.items(), 2):
        if len(mine) == len(theirs) and not mine.equals(theirs) and mine.isin(theirs).all():
            raise InputError(
                f"{one} and {other} have one index in different orders, and rows are paired by their place: "
                "bring both into one order, such as with .loc[X.index], or say that they are in the same one "
                "with .reset_index(drop=True)."
            )


def _says_order(one: Any) -> bool:
    """Whether something of pandas has an index that names each row, and does not merely count them."""
    if not isinstance(one, pd.Series | pd.DataFrame) or not one.index.is_unique:
        return False
    return not one.index.equals(pd.RangeIndex(len(one)))
