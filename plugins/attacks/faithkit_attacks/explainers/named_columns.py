"""Helpers that the explainers share: columns of a table as rules name them, and checks of inputs."""

from typing import Any

import numpy as np
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


def equality_predicate(label: Any, value: Any) -> faithkit.plugin.OneOf:
    """Return the predicate that a column has this value, or is missing if the value is.

    >>> print(equality_predicate("age", 31), "|", equality_predicate("age", None))
    age = 31 | age is missing
    """
    return (
        faithkit.plugin.OneOf(label, [], missing=True)
        if pd.isna(value)
        else faithkit.plugin.OneOf(label, [value])
    )


def column_medians(encoder: faithkit.plugin.Encoder, codes: NDArray[np.float64]) -> dict[int, float]:
    """Return the median of each column of numbers, by position.

    >>> frame = pd.DataFrame({"town": ["a", "b", "b"], "age": [31, 45, 28]})
    >>> encoder = faithkit.plugin.Encoder(frame)
    >>> column_medians(encoder, encoder.encode(frame))
    {1: 31.0}
    """
    return {
        j: float(np.nanquantile(column, 0.5, method="lower"))
        for j, column in enumerate(codes.T)
        if j not in encoder.categories and not np.isnan(column).all()
    }


def count_correct_guesses(
    codes: NDArray[np.float64], medians: dict[int, float], labels: NDArray[Any]
) -> list[int]:
    """Return, for each column, how many labels are guessed by its category or its side of the median.

    >>> codes = np.array([[0.0, 9.0], [0.0, 2.0], [1.0, 2.0], [1.0, 2.0]])
    >>> count_correct_guesses(codes, {1: 2.0}, np.array(["a", "b", "b", "b"]))
    [3, 4]
    """
    counts = []
    for j, column in enumerate(codes.T):
        bins = np.where(np.isnan(column), -1, column > medians[j] if j in medians else column)
        counts.append(int(pd.crosstab(bins, labels).max(axis=1).sum()))
    return counts


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
