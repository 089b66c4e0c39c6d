"""Seeds of rows from their content, and seeds for the global generators of libraries.

Position, order, chunk, process and machine do not matter: equal rows get equal seeds, hence equal
explanations. Every value becomes a 64-bit word that depends on nothing else. The words of a row are mixed
column by column; an image has a hundred thousand of them, so images are hashed row by row.
"""

import contextlib
import datetime as dt
import hashlib
import math
import numbers
import operator
import random
import threading
from collections.abc import Iterable, Iterator
from decimal import Decimal
from typing import Any

import numpy as np
import pandas as pd
from scipy import sparse

from faithkit.arrays.containers import n_rows
from faithkit.arrays.row_random import GAMMA, mix
from faithkit.errors import InputError
from faithkit.inputs.rows import Rows, column_names, input_kind, iter_columns

_LOW_64 = 0xFFFFFFFFFFFFFFFF
_VALUES_PER_BATCH = 2**20  # of images, converted at once
_MISSING = np.uint64(0x7FF8000000000001)  # the bits of a NaN, so no number has them
_LOCK = threading.RLock()


def row_seeds(X: Rows, seed: int) -> np.ndarray:
    """Return one seed per row, computed from `seed` and the content of the row.

    Parameters
    ----------
    X : array, DataFrame, sparse matrix or list of str
        DataFrame columns are read by position. −0.0 equals 0.0, all missing values are equal, and a number
        is the same in every dtype that holds it.
    seed : int
        Different values give unrelated seeds.

    Returns
    -------
    numpy.ndarray
        uint32, of shape (n,).

    Examples
    --------
    >>> X = np.array([[1.0, 2.0], [3.0, 4.0], [1.0, 2.0]])
    >>> seeds = row_seeds(X, seed=0)
    >>> bool(seeds[0] == seeds[2]), bool(seeds[0] == seeds[1])
    (True, False)

    The seed of a row does not depend on the other rows:

    >>> bool(row_seeds(X[1:2], seed=0)[0] == seeds[1])
    True
    """
    return (row_words(X, seed) >> np.uint64(32)).astype(np.uint32)


def row_words(X: Rows, seed: int) -> np.ndarray:
    """Return 64 bits per row, computed like its seed; the words of two seeds identify the row's content.

    Examples
    --------
    >>> row_words(["good", "bad", "good"], seed=0).shape
    (3,)
    """
    start, kind = _seed_word(seed), input_kind(X)
    if kind == "sparse":
        return mix(_sparse_words(X) ^ start)
    if kind == "array":
        digests = [_digest(words.astype("<u8", copy=False)) for words in _array_words(X)]
        return mix(np.array(digests, dtype=np.uint64) ^ start)
    row_state = np.full(n_rows(X), start, dtype=np.uint64)
    for words in column_words(X):
        row_state ^= words
        row_state += GAMMA
        mix(row_state)
    return row_state


def fingerprint(X: Rows) -> str:
    """Return 32 hex digits that identify the content: values, order of rows, column names and dtypes.

    Examples
    --------
    >>> X = pd.DataFrame({"age": [31, 45], "job": ["clerk", None]})
    >>> fingerprint(X) == fingerprint(X.copy()), fingerprint(X) == fingerprint(X[::-1])
    (True, False)
    """
    if input_kind(X) == "array":
        return digest_words(header(X), _array_words(X))
    if input_kind(X) != "sparse":
        return digest_words(header(X), column_words(X))
    matrix = _canonical(X)
    positions = matrix.indptr.astype("<i8"), matrix.indices.astype("<i8")
    return digest_words(header(X), [*positions, value_words(pd.Series(matrix.data))])


def digest_words(table_header: tuple[Any, ...], columns: Iterable[np.ndarray]) -> str:
    """Return the fingerprint of a table from its header and the words of its values, column by column."""
    digest = hashlib.blake2b(digest_size=16)
    digest.update(repr(table_header).encode())
    for words in columns:
        digest.update(words.astype(f"<{words.dtype.kind}8", copy=False).tobytes())
    return digest.hexdigest()


def header(X: Rows) -> tuple[Any, ...]:
    """Return the part of a fingerprint besides the values: container, shape, names and dtypes."""
    if isinstance(X, pd.DataFrame):
        return "frame", X.shape, column_names(X), [_dtype_text(dtype) for dtype in X.dtypes]
    if isinstance(X, list):
        return "text", len(X)
    return input_kind(X), tuple(map(int, X.shape)), str(X.dtype)


def _dtype_text(dtype: Any) -> str:
    if not isinstance(dtype, pd.CategoricalDtype):
        return str(dtype)
    words = value_words(pd.Series(dtype.categories)).tolist()
    return f"category(ordered={dtype.ordered}, {words})"


def column_words(X: Rows) -> Iterator[np.ndarray]:
    """Yield the words of the values of each column; those of texts are one column."""
    if isinstance(X, list):
        yield value_words(pd.Series(X, dtype=object))
        return
    if X.ndim != 2:
        raise InputError(f"X has shape {X.shape}; expected one row per instance, and columns.")
    for name, column in zip(column_names(X), iter_columns(X), strict=True):
        try:
            yield value_words(column)
        except TypeError as error:
            raise InputError(
                f"column {name!r} has values that cannot be hashed ({error}); "
                "expected numbers, strings, booleans or dates. Convert or drop it."
            ) from error


def _array_words(X: np.ndarray) -> Iterator[np.ndarray]:
    """Yield the words of the values of each row, of any shape."""
    if X.dtype.kind not in "biuf":
        raise InputError(f"X has shape {X.shape} and holds {X.dtype}; expected numbers in such an array.")
    batch_size = max(1, _VALUES_PER_BATCH // math.prod(X.shape[1:]))
    for start in range(0, len(X), batch_size):
        rows = X[start : start + batch_size]
        yield from value_words(pd.Series(rows.ravel(), copy=False)).reshape(len(rows), -1)


def value_words(column: pd.Series) -> np.ndarray:
    """Return one uint64 per value; equal values have equal words in any column."""
    dtype = column.dtype
    if isinstance(dtype, pd.CategoricalDtype):
        return _words_of_codes(column.cat.codes.to_numpy(), dtype.categories)
    if dtype.kind in "bf":
        return _float_words(column.to_numpy(dtype=np.float64, na_value=np.nan))
    if dtype.kind in "iu":
        integers = column.fillna(0).to_numpy(dtype=np.uint64 if dtype.kind == "u" else np.int64)
    elif dtype.kind in "mM":
        integers = column.to_numpy(dtype=f"{dtype.kind}8[ns]").view(np.int64)
    else:
        return _words_of_codes(*pd.factorize(column.to_numpy(dtype=object)))
    words = _integer_words(integers)
    words[column.isna().to_numpy()] = _MISSING
    return words


def _words_of_codes(codes: np.ndarray, values: Any) -> np.ndarray:
    """Return the word of each code; each value is hashed once, and code −1 is a missing value."""
    used_codes, positions = np.unique(codes, return_inverse=True)
    words = np.full(len(used_codes), _MISSING, dtype=np.uint64)
    is_present = used_codes >= 0
    words[is_present] = _value_words(np.asarray(values, dtype=object)[used_codes[is_present]])
    return words[positions]


def _value_words(values: np.ndarray) -> np.ndarray:
    if pd.api.types.infer_dtype(values) == "floating":  # a shortcut to the same words
        return _float_words(values.astype(np.float64))
    return np.array([_word(value) for value in values], dtype=np.uint64)


def _word(value: Any) -> int:
    """Return the word of one value; its type must write equal values as equal texts."""
    if isinstance(value, str):
        return _hash_text("s", value)
    if isinstance(value, numbers.Real | Decimal | np.bool_):
        return _number_word(value)
    if isinstance(value, dt.datetime) and value.tzinfo is not None:
        return _hash_text("datetime", str(value.astimezone(dt.UTC)))
    for kind in (dt.datetime, dt.date, dt.time, dt.timedelta, pd.Period, pd.Interval, bytes):
        if isinstance(value, kind):
            return _hash_text(kind.__name__, str(value))
    raise TypeError(f"type {type(value).__name__}")


def _number_word(value: Any) -> int:
    """Return the word of a Python number, as `_integer_words` and `_float_words` do."""
    try:
        as_float = float(value)
    except OverflowError:
        return _hash_text("n", str(value))
    if as_float != value and isinstance(value, numbers.Integral):
        return int(mix(np.array([int(value) & _LOW_64], dtype=np.uint64))[0])
    return int(_float_words(np.array([as_float]))[0])


def _hash_text(kind: str, text: str) -> int:
    return _digest(f"{kind}:{text}".encode("utf-8", "surrogatepass"))


def _digest(content: Any) -> int:
    return int.from_bytes(hashlib.blake2b(content, digest_size=8).digest(), "little")


def _float_words(values: np.ndarray) -> np.ndarray:
    """Return the bits of float64 numbers; adding 0.0 turns −0.0 into 0.0."""
    words = (values + 0.0).view(np.uint64)
    words[np.isnan(values)] = _MISSING
    return words


def _integer_words(values: np.ndarray) -> np.ndarray:
    """Return the words of integers as of floats, so that 3 equals 3.0, unless a float would round them."""
    as_floats = values.astype(np.float64)
    words = _float_words(as_floats)
    # casting such a float back differs between platforms
    is_too_large = as_floats >= 2.0 ** (63 if values.dtype == np.int64 else 64)
    is_rounded = is_too_large | (np.where(is_too_large, 0.0, as_floats).astype(values.dtype) != values)
    words[is_rounded] = mix(values[is_rounded].view(np.uint64))
    return words


def _sparse_words(X: Rows) -> np.ndarray:
    """Return one word per row: a sum over its non-zeros, so storage order and stored zeros do not matter."""
    matrix = _canonical(X)
    column_words = mix(matrix.indices.astype(np.uint64) + GAMMA)
    words = mix(value_words(pd.Series(matrix.data)) ^ column_words)
    totals = np.concatenate([np.zeros(1, dtype=np.uint64), np.cumsum(words, dtype=np.uint64)])
    return np.asarray(totals[matrix.indptr[1:]] - totals[matrix.indptr[:-1]])


def _canonical(X: Rows) -> sparse.csr_array:
    matrix = sparse.csr_array(X, copy=True)
    matrix.sum_duplicates()
    matrix.eliminate_zeros()
    return matrix


def _seed_word(seed: int) -> np.uint64:
    try:
        return np.uint64(_hash_text("seed", str(operator.index(seed))))
    except TypeError as error:
        raise InputError(f"the seed is {seed!r}; expected an integer, such as 0.") from error


@contextlib.contextmanager
def seed_global_generators(seed: int) -> Iterator[None]:
    """Seed NumPy's and Python's global generators in a `with` block, and restore them after it.

    Examples
    --------
    >>> with seed_global_generators(7):
    ...     first = np.random.random()
    >>> with seed_global_generators(7):
    ...     bool(np.random.random() == first)
    True
    """
    with _LOCK:
        numpy_state, python_state = np.random.get_state(), random.getstate()
        np.random.seed(int(seed) % 2**32)
        random.seed(int(seed))
        try:
            yield
        finally:
            np.random.set_state(numpy_state)
            random.setstate(python_state)
