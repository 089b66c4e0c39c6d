"""Check and describe samples, which may be arrays, DataFrames, sparse matrices or lists of texts.

A row of an array may have several axes, such as an image; their meaning is up to the model and the explainer.
Other modules use these functions instead of testing the type of a sample.
"""

from collections.abc import Collection, Iterator, Sequence
from itertools import combinations
from typing import Any

import numpy as np
import pandas as pd
from scipy import sparse

from faithkit.arrays.containers import Rows as Rows
from faithkit.arrays.containers import n_rows
from faithkit.errors import InputError
from faithkit.extension.component import ARRAYS
from faithkit.wording import join_few

_STACK_CODE = "numpy.stack(X) for images of one size, or series of one length (pad shorter ones)"


def input_kind(X: Rows, sample_name: str = "X") -> str:
    """Return "table", "sparse", "text", or "array" for rows of several axes, such as images.

    Examples
    --------
    >>> input_kind(np.zeros((3, 2))), input_kind(["good", "bad"]), input_kind(np.zeros((3, 8, 8)))
    ('table', 'text', 'array')
    """
    if isinstance(X, np.ndarray | pd.DataFrame):
        return "table" if X.ndim <= 2 else "array"
    if sparse.issparse(X):
        return "sparse"
    if isinstance(X, list) and all(isinstance(text, str) for text in X):
        return "text"
    raise _unsupported_type(X, sample_name)


def has_input_kind(X: Rows, inputs: Collection[str]) -> bool:
    """Return whether rows are of a kind that a component lists in its `inputs`.

    An array does not say whether it holds images or series, so it counts as either.

    Examples
    --------
    >>> images = np.zeros((3, 8, 8))
    >>> has_input_kind(images, ("table", "image")), has_input_kind(images, ("table", "text"))
    (True, False)
    """
    kind = input_kind(X)
    return kind in inputs or (kind == "array" and any(word in inputs for word in ARRAYS))


def column_names(X: Rows) -> list[str]:
    """Return a DataFrame's column names as strings, else x0, x1, … as in scikit-learn.

    The values of an image are named by their indices, in the order of the flattened image.

    Examples
    --------
    >>> column_names(pd.DataFrame({"age": [31], 7: [0]})), column_names(np.zeros((1, 2)))
    (['age', '7'], ['x0', 'x1'])
    >>> column_names(np.zeros((5, 1, 2)))
    ['[0, 0]', '[0, 1]']
    """
    if isinstance(X, pd.DataFrame):
        return [str(name) for name in X.columns]
    if isinstance(X, list):
        return ["text"]
    if X.ndim > 2:
        return [str(list(index)) for index in np.ndindex(X.shape[1:])]
    return [f"x{j}" for j in range(X.shape[1])]


def feature_names_or_none(X: Rows | None) -> list[str] | None:
    """Return the feature names of a DataFrame, or of an image's values; None if rows have no names.

    Examples
    --------
    >>> feature_names_or_none(pd.DataFrame({"age": [31]})), feature_names_or_none(np.zeros((1, 2)))
    (['age'], None)
    """
    has_names = isinstance(X, pd.DataFrame) or (isinstance(X, np.ndarray) and X.ndim > 2)
    return column_names(X) if has_names else None


def iter_columns(X: Rows) -> Iterator[pd.Series]:
    """Yield the columns of a table as Series, without letting pandas infer another dtype."""
    if isinstance(X, pd.DataFrame):
        yield from (column for _, column in X.items())
        return
    dtype = object if X.dtype.kind in "OUS" else X.dtype
    yield from (pd.Series(X[:, j], dtype=dtype, copy=False) for j in range(X.shape[1]))


def check_X(X: Rows, sample_name: str = "X") -> Rows:  # noqa: N802 (X, as in scikit-learn)
    """Return X if it is a usable sample; otherwise raise an error that says what is wrong.

    Sparse matrices become CSR, because rows of CSR can be selected. A Series or a 1-D array of texts becomes
    a list. Nothing else is converted. `sample_name` is the name of X in messages: "X", or "the background".

    Raises
    ------
    InputError
        X has another type, no rows, no columns, or only one axis of numbers, or two of its columns have the
        same name.

    Examples
    --------
    >>> check_X(np.array([1.5, 2.5]))
    Traceback (most recent call last):
    ...
    faithkit.errors.InputError: X has shape (2,); expected one row per instance and one column per feature...
    """
    X = as_texts(X, sample_name)
    kind = input_kind(X, sample_name)
    if kind != "text":
        _check_shape(X, sample_name)
    if n_rows(X) == 0:
        raise InputError(
            f"{'the sample' if sample_name == 'X' else sample_name} is empty (0 rows); expected at least "
            "one. Check the file and any filter on it."
        )
    if isinstance(X, pd.DataFrame):
        check_distinct_names(X, sample_name)
    return X.tocsr() if kind == "sparse" else X


def as_texts(X: Any, sample_name: str = "X") -> Any:
    """Return texts in a Series or array as a list; refuse missing ones. Return anything else unchanged.

    Examples
    --------
    >>> as_texts(pd.Series(["good", "bad"]))
    ['good', 'bad']
    """
    is_column = isinstance(X, pd.Series | np.ndarray) and X.ndim == 1 and X.dtype.kind not in "biufcmM"
    if not is_column and not isinstance(X, list):
        return X
    values = X if isinstance(X, list) else X.tolist()
    is_missing = [not isinstance(value, str) and bool(np.all(pd.isna(value))) for value in values]
    present = [value for value, missing in zip(values, is_missing, strict=True) if not missing]
    are_texts = all(isinstance(value, str) for value in present)
    if not are_texts or (values and not present):
        return X
    if any(is_missing):
        raise InputError(
            f"{sample_name} has no text in row {is_missing.index(True)}: drop such rows, or fill them."
        )
    return values


def check_row(row: Any) -> Rows:
    """Return a sample of one row; anything else is an error."""
    row = as_texts(row, "the new row")
    if not isinstance(row, list) and getattr(row, "ndim", 0) < 2:
        raise InputError(
            f"the new row is a {type(row).__name__}; expected a sample of one row: give X.iloc[[0]] of a "
            "frame, X[[0]] of an array, a list of one text, or a row's number in the sample."
        )
    if n_rows(row) != 1:
        raise InputError(f"give one row at a time, got {n_rows(row)}: of an array, X[[0]] is one row.")
    return row


def check_columns(
    X: Rows, background: Rows, sample_name: str = "X", reference_name: str = "the background"
) -> None:
    """Check that rows have the columns of the background.

    Examples
    --------
    >>> check_columns(pd.DataFrame({"age": [31]}), pd.DataFrame({"age": [40], "job": ["clerk"]}))
    Traceback (most recent call last):
    ...
    faithkit.errors.InputError: X lacks 'job'; expected the columns of the background.
    """
    kinds = input_kind(X), input_kind(background, reference_name)
    if (kinds[0] == "text") != (kinds[1] == "text"):
        forms = ["texts" if kind == "text" else "the rows of a table" for kind in kinds]
        raise InputError(
            f"{sample_name} has {forms[0]}, and {reference_name} has {forms[1]}: give both in one form."
        )
    if isinstance(X, pd.DataFrame) and isinstance(background, pd.DataFrame):
        check_names(column_names(X), column_names(background), sample_name, reference_name)
    elif kinds[0] != "text" and X.shape[1:] != background.shape[1:]:
        hint = f": one row alone is {sample_name}[None]" if X.shape == background.shape[1:] else ""
        shape = "" if X.ndim == background.ndim else f" of shape {background.shape}"
        raise InputError(
            f"{sample_name} has shape {X.shape}; expected {_row_shape(background)}, as in "
            f"{reference_name}{shape}{hint}."
        )


def check_names(
    names: Sequence[str],
    expected: Sequence[str],
    sample_name: str = "X",
    reference_name: str = "the background",
) -> None:
    """Check that the columns are those of the background, in any order."""
    lacking = sorted(set(expected) - set(names))
    extra = sorted(set(names) - set(expected))
    if lacking or extra:
        problems = [f"lacks {join_few(map(repr, lacking))}"] if lacking else []
        problems += [f"has {join_few(map(repr, extra))} beside"] if extra else []
        raise InputError(f"{sample_name} {' and '.join(problems)}; expected the columns of {reference_name}.")


def check_row_order(inputs: dict[str, Any]) -> pd.Index | None:
    """Check that pandas objects do not have one index in different orders; return the first index.

    Rows are paired by position. An index that only counts rows says nothing about their order: a Series of a
    model's answers has such an index for any order of X.

    Examples
    --------
    >>> y = pd.Series(["yes", "no"], index=["a", "b"])
    >>> check_row_order({"predictions": y, "explanations": y.reset_index(drop=True)}).tolist()
    ['a', 'b']
    >>> check_row_order({"predictions": y, "explanations": y[::-1]})
    Traceback (most recent call last):
    ...
    faithkit.errors.InputError: predictions and explanations have one index in different orders, and rows ...
    """
    indexes = {name: index for name, rows in inputs.items() if (index := row_index(rows)) is not None}
    for (name, index), (other_name, other_index) in combinations(indexes.items(), 2):
        has_same_length = len(index) == len(other_index)
        if has_same_length and not index.equals(other_index) and index.isin(other_index).all():
            raise InputError(
                f"{name} and {other_name} have one index in different orders, and rows are paired by their "
                "place: bring both into one order, such as with .loc[X.index], or say that they are in the "
                "same one with .reset_index(drop=True)."
            )
    return next(iter(indexes.values()), None)


def row_index(rows: Any) -> pd.Index | None:
    """Return the index of a pandas object if it names each row; None if it only counts rows.

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


def _check_shape(X: Rows, sample_name: str) -> None:
    if isinstance(X, np.ma.MaskedArray):
        raise InputError(
            f"{sample_name} is a masked array, whose mask would be lost. Give X.filled(numpy.nan) instead."
        )
    if X.ndim == 1 and X.dtype == object and all(isinstance(row, np.ndarray) for row in X):
        raise InputError(f"{sample_name} is an array of arrays: use {_STACK_CODE}.")
    if X.ndim < 2:
        raise InputError(
            f"{sample_name} has shape {X.shape}; expected one row per instance and one column per feature. "
            "Use X.reshape(-1, 1) for a single feature, X.reshape(1, -1) for a single row."
        )
    if 0 in X.shape[1:]:
        raise InputError(f"{sample_name} has shape {X.shape}: no columns; expected at least one feature.")
    if X.ndim > 2 and X.dtype.kind not in "biuf":
        raise InputError(
            f"{sample_name} has shape {X.shape} and holds {X.dtype}; expected numbers in such an array."
        )


def _row_shape(X: Rows) -> str:
    return f"{X.shape[1]} columns" if X.ndim == 2 else f"rows of shape {X.shape[1:]}"


def check_distinct_names(X: pd.DataFrame, sample_name: str) -> None:
    """Check that column names are distinct as texts."""
    names = pd.Index(column_names(X))
    if not names.is_unique:
        duplicates = join_few(repr(name) for name in names[names.duplicated()].unique())
        raise InputError(
            f"{sample_name} has more than one column named {duplicates}; expected distinct names. "
            "Rename or drop them."
        )


def _unsupported_type(X: object, sample_name: str) -> InputError:
    return InputError(
        f"{sample_name} is of type {type(X).__name__}; expected a NumPy array, a pandas DataFrame, a SciPy "
        "sparse matrix or a list of strings. Use numpy.asarray(X) for rows of numbers, pandas.DataFrame(X) "
        f"for mixed columns or a single one. Use {_STACK_CODE}."
    )
