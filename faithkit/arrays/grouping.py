"""Group equal rows, exactly and fast, and hash rows by content.

Rows are hashed to 64 bits, column by column. Every row is then compared with the first row of its group, so a
collision costs time and never changes a result. −0.0 equals 0.0 and NaN equals NaN.
"""

import hashlib
import numbers
from typing import Any

import attrs
import numpy as np
import pandas as pd
from numpy.typing import NDArray

from faithkit.arrays.batches import each_batch
from faithkit.arrays.containers import as_objects, n_rows
from faithkit.errors import InputError
from faithkit.wording import one_line

BATCH_ROWS = 8_192  # rows: about fifteen columns of words then fit in the cache
COUNTED = 2**14  # rows from which the number of distinct rows is estimated
_MULTIPLIER = np.uint64(0x9E3779B97F4A7C15)
_HALF = np.uint64(32)
_NAN = float("nan")
_INHERITED_REPR: Any = object.__repr__  # which shows an address

Words = NDArray[np.uint64]


@attrs.frozen(eq=False)
class Groups:
    """Rows partitioned by equality: `codes[i]` is the group of row i, `first[g]` a row of group g."""

    codes: NDArray[np.int64]
    first: NDArray[np.int64]

    def __len__(self) -> int:
        return len(self.first)


def group(identity: Any, missing: NDArray[np.bool_] | None = None, missing_apart: bool = True) -> Groups:
    """Group equal rows; missing rows equal no other row.

    Parameters
    ----------
    identity : array, DataFrame, sequence of hashables, or tuple of such parts
        Two rows are equal if they are equal in every part.
    missing : bool array, optional
        The rows without an identity.
    missing_apart : bool
        Whether each missing row forms a group of its own, or all of them form one.

    Examples
    --------
    >>> group(np.array([[0.0, np.nan], [-0.0, np.nan], [1.0, 2.0]])).codes
    array([0, 0, 1])
    """
    groups = _group_rows(identity)
    if missing is None or not missing.any():
        return groups
    codes = groups.codes.copy()
    codes[missing] = len(groups) + (np.arange(int(missing.sum())) if missing_apart else 0)
    return renumber(codes)


def renumber(codes: NDArray[Any]) -> Groups:
    """Renumber codes in order of first appearance, and note the row of each first appearance."""
    codes, values = pd.factorize(codes, size_hint=_estimate_distinct(codes))
    first = np.empty(len(values), dtype=np.int64)
    first[codes[::-1]] = np.arange(len(codes) - 1, -1, -1)
    return Groups(codes.astype(np.int64, copy=False), first)


def _estimate_distinct(codes: NDArray[Any]) -> int:
    """Estimate the number of distinct codes: a hash table of that size fits in the cache, if they are few.

    Of r codes drawn from K, about r²/2K repeat an earlier one.
    """
    first_codes = codes[:COUNTED]
    if len(codes) <= 2 * len(first_codes):
        return len(codes)
    n_repeats = len(first_codes) - len(pd.unique(first_codes))
    return min(len(codes), len(first_codes) ** 2 // (2 * max(1, n_repeats)))


def sort_distinct(
    numbers: NDArray[np.float64], in_parts: bool = False
) -> tuple[NDArray[np.float64], NDArray[np.int64]]:
    """Return the sorted distinct numbers (or rows of numbers), and the position of each input among them.

    With `in_parts`, the numbers consist of parts that are sorted already. Merging these takes a tenth of the
    time.

    Examples
    --------
    >>> sort_distinct(np.array([0.5, 0.1, 0.5]))
    (array([0.1, 0.5]), array([1, 0, 1]))
    >>> sort_distinct(np.array([[0.5, 0.5], [0.1, 0.9]]))[1]
    array([1, 0])
    """
    if numbers.ndim == 1:
        order = np.argsort(numbers, kind="stable" if in_parts else None)
        position, in_order = np.empty_like(order), numbers[order]
        is_first = np.concatenate([in_order[:1] == in_order[:1], in_order[1:] != in_order[:-1]])
        position[order] = np.cumsum(is_first) - 1
        return in_order[is_first], position
    groups = group(numbers)
    rows = numbers[groups.first]
    order = np.lexsort(rows.T[::-1])
    return rows[order], np.argsort(order)[groups.codes]


def _group_rows(identity: Any) -> Groups:
    if isinstance(identity, tuple):
        return _group_equal_rows(np.column_stack([_group_rows(part).codes for part in identity]))
    if isinstance(identity, pd.DataFrame):
        columns = [_column_words(identity.iloc[:, j]) for j in range(identity.shape[1])]
        return _group_equal_rows(
            np.column_stack(columns) if columns else np.zeros((len(identity), 0), np.uint64)
        )
    if isinstance(identity, np.ndarray) and identity.dtype.kind in "biufM":
        return _group_equal_rows(identity[:, None] if identity.ndim == 1 else identity)
    if isinstance(identity, np.ndarray) and identity.ndim == 2:
        return _group_rows(pd.DataFrame(identity))
    return _group_equal_objects(identity)


def _column_words(column: pd.Series) -> Words:
    """Convert a column to 64-bit words; two words are equal exactly where the two values are."""
    if isinstance(column.dtype, np.dtype) and column.dtype.kind in "biufM":
        return equality_words(column.to_numpy())
    if isinstance(column.dtype, pd.StringDtype) or column.dtype.kind in "iu":  # a missing value gets −1
        return np.asarray(pd.factorize(column)[0].astype(np.int64).view(np.uint64))
    return _group_equal_objects(as_objects(column)).codes.view(np.uint64)


def equality_words(values: NDArray[Any]) -> Words:
    """Convert numbers to 64-bit words; two words are equal exactly where the two numbers are."""
    if values.dtype == np.uint64:
        return values
    if values.dtype.kind != "f":
        signed = values.view(np.int64) if values.dtype.kind == "M" else values
        return signed.astype(np.uint64 if signed.dtype.kind == "u" else np.int64).view(np.uint64)
    if values.dtype.itemsize > 8:
        raise InputError(f"values of {values.dtype} cannot be compared exactly: convert them to float64.")
    floats = np.add(values, 0.0, dtype=np.float64)  # a new array, without −0.0
    is_nan = floats != floats
    if is_nan.any():
        floats[is_nan] = _NAN  # one bit pattern for all NaNs
    return np.asarray(floats.view(np.uint64))


def _group_equal_rows(array: NDArray[Any]) -> Groups:
    hashes = np.empty(len(array), dtype=np.uint64)

    def hash_batch(start: int, stop: int) -> None:
        hashes[start:stop] = hash_rows(equality_words(array[start:stop]))

    each_batch(hash_batch, len(array), BATCH_ROWS)
    return _split_collisions(array, renumber(hashes))


def hash_rows(rows: Words) -> Words:
    """Hash rows of words; rows that differ in one word never collide, because each step is a bijection."""
    hashes = np.zeros(len(rows), dtype=np.uint64)
    shifted = np.empty_like(hashes)
    for column in np.ascontiguousarray(rows.T):
        hashes ^= column
        hashes *= _MULTIPLIER
        np.right_shift(hashes, _HALF, out=shifted)
        hashes ^= shifted
    return hashes


def _split_collisions(array: NDArray[Any], groups: Groups) -> Groups:
    """Compare every row with the first row of its group, and regroup mixed groups by their bytes."""
    has_collision = np.zeros(len(groups), dtype=bool)
    is_cacheable = 4 * len(groups) <= len(array)  # the first rows then fit in the cache
    first_rows = np.ascontiguousarray(array[groups.first]) if is_cacheable else array

    def check(start: int, stop: int) -> None:
        codes = groups.codes[start:stop]
        batch_rows = array[start:stop]
        reference_rows = first_rows.take(codes, axis=0) if is_cacheable else array[groups.first[codes]]
        differs = batch_rows != reference_rows
        if differs.any():  # NaN differs from itself, so the words decide
            rows = np.flatnonzero(differs.any(axis=1))
            collides = (equality_words(batch_rows[rows]) != equality_words(reference_rows[rows])).any(axis=1)
            has_collision[codes[rows[collides]]] = True

    each_batch(check, len(array), BATCH_ROWS)
    if not has_collision.any():
        return groups
    codes = groups.codes.copy()
    rows = np.flatnonzero(has_collision[codes])
    codes[rows] = (
        len(groups) + _group_equal_objects([row.tobytes() for row in equality_words(array[rows])]).codes
    )
    return renumber(codes)


def _group_equal_objects(values: Any) -> Groups:
    """Group values by Python equality; an object that several rows share is hashed once."""
    objects = values if isinstance(values, np.ndarray) else np.fromiter(values, dtype=object)
    if set(map(type, objects)) == {str}:  # the usual log: pandas compares strings as Python does, and faster
        return renumber(objects)
    by_id = renumber(np.fromiter(map(id, objects), dtype=np.intp, count=len(objects)))
    code_by_value: dict[Any, int] = {}
    codes = np.empty(len(by_id), dtype=np.int64)
    for i, row in enumerate(by_id.first.tolist()):
        value = objects[row]
        try:
            codes[i] = code_by_value.setdefault(_unify_nan(value), len(code_by_value))
        except TypeError as error:
            raise InputError(
                f"explanation {row} is a {type(value).__name__} and has no hash: "
                f"{one_line(repr(value))[:60]}. Give a 2-D array, or a list of hashable values such as str, "
                "tuple or frozenset."
            ) from error
    distinct = renumber(codes)
    return Groups(distinct.codes[by_id.codes], by_id.first[distinct.first])


def _unify_nan(value: Any) -> Any:
    """Replace every NaN, also inside tuples and frozensets, by one object: Python then finds them equal."""
    if isinstance(value, float):
        return _NAN if value != value else value
    if isinstance(value, tuple) and type(value) is tuple:
        return tuple(map(_unify_nan, value))
    if isinstance(value, frozenset):
        return frozenset(map(_unify_nan, value))
    return value


def hash_content(rows: Any) -> Words:
    """Return a 64-bit content hash for every row, to put rows in an order that depends on nothing else.

    Equal rows have equal words in every process and in any order of the rows. Different rows almost always
    have different words; a collision only affects the order of the two rows.

    Parameters
    ----------
    rows : array, DataFrame, sequence of hashables, or tuple of such parts
        Rows as `group` accepts them.

    Examples
    --------
    >>> hashes = hash_content([("age", 1), frozenset("ab")])
    >>> reordered = hash_content([frozenset("ba"), ("age", 1.0)])
    >>> hashes.tolist() == reordered[::-1].tolist(), bool(hashes[0] == hashes[1])
    (True, False)
    """
    if isinstance(rows, tuple):
        return _hash_columns([hash_content(part) for part in rows], n_rows(rows))
    if isinstance(rows, pd.DataFrame):
        return _hash_columns([_column_content(rows.iloc[:, j]) for j in range(rows.shape[1])], len(rows))
    if isinstance(rows, np.ndarray) and rows.dtype.kind in "biufM":
        return hash_rows(equality_words(rows[:, None] if rows.ndim == 1 else rows))
    if isinstance(rows, np.ndarray) and rows.ndim == 2:
        return hash_content(pd.DataFrame(rows))
    return _value_content(rows)


def _hash_columns(columns: list[Words], n: int) -> Words:
    return hash_rows(np.column_stack(columns)) if columns else np.zeros(n, dtype=np.uint64)


def _column_content(column: "pd.Series[Any]") -> Words:
    if isinstance(column.dtype, np.dtype) and column.dtype.kind in "biufM":
        return equality_words(column.to_numpy())
    return _value_content(as_objects(column))


def _value_content(values: Any) -> Words:
    texts = [_canonical_text(value).encode("utf-8", "surrogatepass") for value in values]
    digests = b"".join(hashlib.blake2b(text, digest_size=8).digest() for text in texts)
    return np.frombuffer(digests, dtype="<u8").astype(np.uint64)


def _canonical_text(value: Any) -> str:
    """Return a text that equal values share; an object with the default `repr` has an empty text."""
    if isinstance(value, str):
        return f"'{value}'"
    if isinstance(value, numbers.Number | np.generic):
        return "nan" if value != value else str(hash(value))  # 1, 1.0 and True share it
    if isinstance(value, tuple):
        return f"({','.join(map(_canonical_text, value))})"
    if isinstance(value, frozenset):
        return f"{{{','.join(sorted(map(_canonical_text, value)))}}}"
    if attrs.has(type(value)):
        fields = (getattr(value, field.name) for field in attrs.fields(type(value)) if field.eq)
        return type(value).__qualname__ + _canonical_text(tuple(fields))
    return "" if type(value).__repr__ is _INHERITED_REPR else repr(value)
