"""A sample comes as an array, a DataFrame, a sparse matrix or a list of texts: here they are one thing, rows.

A row of an array may itself have several axes, such as an image: what they mean is between the model and the
explainer.

Everything else asks these few functions instead of asking for the type once more.
"""

from collections.abc import Collection, Iterator, Sequence
from typing import Any, TypeAlias

import numpy as np
import pandas as pd
from scipy import sparse

from faithkit.arrays.containers import n_rows
from faithkit.errors import InputError
from faithkit.extension.component import ARRAYS
from faithkit.wording import few

Rows: TypeAlias = Any  # numpy.ndarray | pandas.DataFrame | SciPy sparse matrix | list[str]

_STACK = "numpy.stack(X) for images of one size, or series of one length (pad shorter ones)"
_EXPECTED = "a NumPy array, a pandas DataFrame, a SciPy sparse matrix or a list of strings"


def input_kind(X: Rows, who: str = "X") -> str:
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
    raise _unlike_rows(X, who)


def is_one_of(X: Rows, inputs: Collection[str]) -> bool:
    """Whether rows are of a kind that a component lists in its `inputs`.

    Only who made an array knows whether it holds images or series: it is taken for what is asked for.

    Examples
    --------
    >>> images = np.zeros((3, 8, 8))
    >>> is_one_of(images, ("table", "image")), is_one_of(images, ("table", "text"))
    (True, False)
    """
    kind = input_kind(X)
    return kind in inputs or (kind == "array" and any(word in inputs for word in ARRAYS))


def column_names(X: Rows) -> list[str]:
    """Return a DataFrame's column names as strings, else x0, x1, … as scikit-learn has them.

    The cells of an image are called by their places, in the order in which it is laid out flat.

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
        return [str(list(place)) for place in np.ndindex(X.shape[1:])]
    return [f"x{j}" for j in range(X.shape[1])]


def known_names(X: Rows | None) -> list[str] | None:
    """Return the names of features where rows have any: of columns, or of an image's cells by their places.

    Examples
    --------
    >>> known_names(pd.DataFrame({"age": [31]})), known_names(np.zeros((1, 2)))
    (['age'], None)
    """
    has_some = isinstance(X, pd.DataFrame) or (isinstance(X, np.ndarray) and X.ndim > 2)
    return column_names(X) if has_some else None


def iter_columns(X: Rows) -> Iterator[Any]:
    """Yield the columns of a table as Series, never letting pandas guess another dtype from the values."""
    if isinstance(X, pd.DataFrame):
        yield from (column for _, column in X.items())
        return
    dtype = object if X.dtype.kind in "OUS" else X.dtype
    yield from (pd.Series(X[:, j], dtype=dtype, copy=False) for j in range(X.shape[1]))


def check_X(X: Rows, who: str = "X") -> Rows:  # noqa: N802 (X, as in scikit-learn)
    """Return X if it is a usable sample, and say what is wrong with it otherwise.

    Nothing is converted but sparse matrices, which become CSR, the format whose rows can be taken, and a
    Series or a 1-D array of texts, which becomes a list. `who` is what to call it: "X", or "the background".

    Raises
    ------
    InputError
        X is of another type, has no rows or no columns, is a mere sequence of numbers,
        or two of its columns have the same name.

    Examples
    --------
    >>> check_X(np.array([1.5, 2.5]))
    Traceback (most recent call last):
    ...
    faithkit.errors.InputError: X has shape (2,); expected one row per instance and one column per feature...
    """
    X = as_texts(X, who)
    kind = input_kind(X, who)
    if kind != "text":
        _check_shape(X, who)
    if n_rows(X) == 0:
        raise InputError(
            f"{'the sample' if who == 'X' else who} is empty (0 rows); expected at least one. "
            "Check the file and any filter on it."
        )
    if isinstance(X, pd.DataFrame):
        _check_distinct(X, who)
    return X.tocsr() if kind == "sparse" else X


def as_texts(X: Any, who: str = "X") -> Any:
    """Return texts as a list, whatever they come in; anything else as it is.

    Examples
    --------
    >>> as_texts(pd.Series(["good", "bad"]))
    ['good', 'bad']
    """
    if not isinstance(X, pd.Series | np.ndarray) or X.ndim != 1 or X.dtype.kind in "biufcmM":
        return X
    cells = X.tolist()
    gone = [not isinstance(cell, str) and bool(np.all(pd.isna(cell))) for cell in cells]
    texts = all(isinstance(cell, str) for cell, missing in zip(cells, gone, strict=True) if not missing)
    if not texts or (cells and all(gone)):
        return X
    if any(gone):
        raise InputError(f"{who} has no text in row {gone.index(True)}: drop such rows, or fill them.")
    return cells


def check_row(row: Any) -> Rows:
    """Return a sample of one row, and refuse anything else."""
    row = as_texts(row, "the new row")
    if not isinstance(row, list) and getattr(row, "ndim", 0) < 2:
        raise InputError(
            f"the new row is a {type(row).__name__}; expected a sample of one row: give X.iloc[[0]] of a "
            "frame, X[[0]] of an array, a list of one text, or a row's number in the sample."
        )
    if n_rows(row) != 1:
        raise InputError(f"give one row at a time, got {n_rows(row)}: of an array, X[[0]] is one row.")
    return row


def check_columns(X: Rows, background: Rows, who: str = "X", whose: str = "the background") -> None:
    """Refuse rows that have other columns than the background, before anything is explained.

    Examples
    --------
    >>> check_columns(pd.DataFrame({"age": [31]}), pd.DataFrame({"age": [40], "job": ["clerk"]}))
    Traceback (most recent call last):
    ...
    faithkit.errors.InputError: X lacks 'job'; expected the columns of the background.
    """
    kinds = input_kind(X), input_kind(background, whose)
    if (kinds[0] == "text") != (kinds[1] == "text"):
        said = ["texts" if kind == "text" else "the rows of a table" for kind in kinds]
        raise InputError(f"{who} has {said[0]}, and {whose} has {said[1]}: give both in one form.")
    if isinstance(X, pd.DataFrame) and isinstance(background, pd.DataFrame):
        check_names(column_names(X), column_names(background), who, whose)
    elif kinds[0] != "text" and X.shape[1:] != background.shape[1:]:
        alone = f": one row alone is {who}[None]" if X.shape == background.shape[1:] else ""
        of = "" if X.ndim == background.ndim else f" of shape {background.shape}"
        raise InputError(
            f"{who} has shape {X.shape}; expected {_row_shape(background)}, as in {whose}{of}{alone}."
        )


def check_names(
    names: Sequence[str], expected: Sequence[str], who: str = "X", whose: str = "the background"
) -> None:
    """Say which of the background's columns are lacking, and which are new; their order is free."""
    lacking = sorted(set(expected) - set(names))
    extra = sorted(set(names) - set(expected))
    if lacking or extra:
        says = [f"lacks {few(map(repr, lacking))}"] if lacking else []
        says += [f"has {few(map(repr, extra))} beside"] if extra else []
        raise InputError(f"{who} {' and '.join(says)}; expected the columns of {whose}.")


def _check_shape(X: Rows, who: str) -> None:
    if isinstance(X, np.ma.MaskedArray):
        raise InputError(
            f"{who} is a masked array, whose mask would be lost. Give X.filled(numpy.nan) instead."
        )
    if X.ndim == 1 and X.dtype == object and all(isinstance(row, np.ndarray) for row in X):
        raise InputError(f"{who} is an array of arrays: use {_STACK}.")
    if X.ndim < 2:
        raise InputError(
            f"{who} has shape {X.shape}; expected one row per instance and one column per feature. "
            "Use X.reshape(-1, 1) for a single feature, X.reshape(1, -1) for a single row."
        )
    if 0 in X.shape[1:]:
        raise InputError(f"{who} has shape {X.shape}: no columns; expected at least one feature.")
    if X.ndim > 2 and X.dtype.kind not in "biuf":
        raise InputError(f"{who} has shape {X.shape} and holds {X.dtype}; expected numbers in such an array.")


def _row_shape(X: Rows) -> str:
    return f"{X.shape[1]} columns" if X.ndim == 2 else f"rows of shape {X.shape[1:]}"


def _check_distinct(X: Any, who: str) -> None:
    names = pd.Index(column_names(X))
    if not names.is_unique:
        twice = few(repr(name) for name in names[names.duplicated()].unique())
        raise InputError(
            f"{who} has more than one column named {twice}; expected distinct names. Rename or drop them."
        )


def _unlike_rows(X: object, who: str) -> InputError:
    what, remedy = f"of type {type(X).__name__}", ""
    if isinstance(X, list):
        strange = next(type(item).__name__ for item in X if not isinstance(item, str))
        what = f"a list of {strange}"
    if isinstance(X, list | tuple):
        remedy = " Use numpy.asarray(X) for numbers, or pandas.DataFrame(X) for mixed columns."
    if isinstance(X, list | tuple) and any(isinstance(row, np.ndarray) for row in X):
        remedy = f" Use {_STACK}."
    if isinstance(X, pd.Series):
        remedy = " Use X.to_frame() for a single feature."
    return InputError(f"{who} is {what}; expected {_EXPECTED}.{remedy}")
