"""What the liars share: the columns of a table as rules name them, and what they refuse."""

from typing import Any

import pandas as pd
from numpy.typing import NDArray

import faithkit


def column_labels(X: Any) -> list[Any]:
    """Return what a rule calls the columns: a frame's own names, or an array's numbers.

    >>> import numpy as np
    >>> column_labels(np.zeros((1, 2)))
    [0, 1]
    """
    return list(X.columns) if isinstance(X, pd.DataFrame) else list(range(X.shape[1]))


def cells(X: Any, label: Any) -> NDArray[Any]:
    """Return one column's cells as Python objects.

    >>> cells(pd.DataFrame({"age": [31, 45]}), "age").tolist()
    [31, 45]
    """
    return X[label].to_numpy(object) if isinstance(X, pd.DataFrame) else X[:, label].astype(object)


def equal_to(label: Any, cell: Any) -> faithkit.OneOf:
    """Return the predicate that a column has this cell's value, or is missing as it is.

    >>> print(equal_to("age", 31), "|", equal_to("age", None))
    age = 31 | age is missing
    """
    return faithkit.OneOf(label, [], missing=True) if pd.isna(cell) else faithkit.OneOf(label, [cell])


def check_no_sparse(who: str, X: Any) -> None:
    """Refuse a sparse matrix, about whose columns there are no rules."""
    if hasattr(X, "toarray"):
        raise faithkit.errors.InputError(
            f"{who} explains tables and texts, and was given a sparse matrix: give X.toarray(), and a model "
            "that takes it."
        )


def check_table(who: str, X: Any) -> None:
    """Refuse what has no columns of its own."""
    check_no_sparse(who, X)
    if isinstance(X, list):
        raise faithkit.errors.InputError(
            f"{who} explains the rows of a table, and was given a list of texts."
        )
