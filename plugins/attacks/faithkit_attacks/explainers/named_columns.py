"""Helpers that the explainers share: columns of a table as rules name them, and checks of inputs."""

from typing import Any

import pandas as pd
from numpy.typing import NDArray

import faithkit


def column_labels(X: Any) -> list[Any]:
    """Return the columns as rules name them: by name in a frame, by position in an array.

    >>> import numpy as np
    >>> column_labels(np.zeros((1, 2)))
    [0, 1]
    """
    return list(X.columns) if isinstance(X, pd.DataFrame) else list(range(X.shape[1]))


def column_values(X: Any, label: Any) -> NDArray[Any]:
    """Return the values of a column as Python objects.

    >>> column_values(pd.DataFrame({"age": [31, 45]}), "age").tolist()
    [31, 45]
    """
    return X[label].to_numpy(object) if isinstance(X, pd.DataFrame) else X[:, label].astype(object)


def equality_predicate(label: Any, value: Any) -> faithkit.OneOf:
    """Return the predicate that a column has this value, or is missing if the value is.

    >>> print(equality_predicate("age", 31), "|", equality_predicate("age", None))
    age = 31 | age is missing
    """
    return faithkit.OneOf(label, [], missing=True) if pd.isna(value) else faithkit.OneOf(label, [value])


def check_no_sparse(explainer_name: str, X: Any) -> None:
    """Raise an error for a sparse matrix, because rules cannot name its columns."""
    if hasattr(X, "toarray"):
        raise faithkit.errors.InputError(
            f"{explainer_name} explains tables and texts, and was given a sparse matrix: give X.toarray(), "
            "and a model that takes it."
        )


def check_table(explainer_name: str, X: Any) -> None:
    """Raise an error for a sparse matrix or a list of texts."""
    check_no_sparse(explainer_name, X)
    if isinstance(X, list):
        raise faithkit.errors.InputError(
            f"{explainer_name} explains the rows of a table, and was given a list of texts."
        )
