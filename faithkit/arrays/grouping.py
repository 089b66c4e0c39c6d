"""Which rows are equal: the heart of consistency, exact and fast.

Rows are hashed to 64 bits, column by column; every row is then compared with the first row of its
group, so a collision costs time and never an answer. −0.0 equals 0.0 and NaN equals NaN.
"""

import ctypes
from typing import Any, NoReturn

import attrs
import numpy as np
import pandas as pd
from numpy.typing import NDArray

from faithkit.arrays.blocks import each_block
from faithkit.arrays.containers import as_objects
from faithkit.errors import InputError
from faithkit.foreign import foreign
from faithkit.wording import one_line

BLOCK = 8_192  # rows: some fifteen columns of words then stay in the cache
SMALL = 2**20  # elements
_MULTIPLIER = np.uint64(0x9E3779B97F4A7C15)
_HALF = np.uint64(32)
_NAN = float("nan")


@attrs.frozen(eq=False)
class Groups:
    """Rows partitioned by equality: `codes[i]` is the group of row i, `first[g]` a row of group g."""

    codes: NDArray[np.int64]
    first: NDArray[np.int64]

    def __len__(self) -> int:
        return len(self.first)


def group(identity: Any, missing: NDArray[np.bool_] | None = None) -> Groups:
    """Group equal rows; a missing row is a group of its own.

    Parameters
    ----------
    identity : array, DataFrame, sequence of hashables, or tuple of such parts
        Row i is compared by its row in every part.
    missing : bool array, optional
        Rows that have no identity.

    Examples
    --------
    >>> group(np.array([[0.0, np.nan], [-0.0, np.nan], [1.0, 2.0]])).codes
    array([0, 0, 1])
    """
    groups = _groups(identity)
    if missing is None or not missing.any():
        return groups
    codes = groups.codes.copy()
    codes[missing] = len(groups) + np.arange(int(missing.sum()))
    return renumbered(codes)


def renumbered(codes: NDArray[Any]) -> Groups:
    """Renumber codes in order of first appearance, and find those first rows."""
    codes, values = pd.factorize(codes)
    first = np.empty(len(values), dtype=np.int64)
    first[codes[::-1]] = np.arange(len(codes) - 1, -1, -1)
    return Groups(codes.astype(np.int64, copy=False), first)


def ordered(
    numbers: NDArray[np.float64], in_parts: bool = False
) -> tuple[NDArray[np.float64], NDArray[np.int64]]:
    """Return the distinct ones of some numbers, or of rows of them, in order, and each one's place there.

    Numbers that are `in_parts`, each of them in order already, are merged, which takes a tenth of the time.

    Examples
    --------
    >>> ordered(np.array([0.5, 0.1, 0.5]))
    (array([0.1, 0.5]), array([1, 0, 1]))
    >>> ordered(np.array([[0.5, 0.5], [0.1, 0.9]]))[1]
    array([1, 0])
    """
    if numbers.ndim == 1:
        order = np.argsort(numbers, kind="stable" if in_parts else None)
        place, found = np.empty_like(order), numbers[order]
        is_new = np.concatenate([found[:1] == found[:1], found[1:] != found[:-1]])
        place[order] = np.cumsum(is_new) - 1
        return found[is_new], place
    groups = group(numbers)
    rows = numbers[groups.first]
    order = np.lexsort(rows.T[::-1])
    return rows[order], np.argsort(order)[groups.codes]


def _groups(identity: Any) -> Groups:
    if isinstance(identity, tuple):
        return _equal_rows(np.column_stack([_groups(part).codes for part in identity]))
    if isinstance(identity, pd.DataFrame):
        columns = [_column_words(identity.iloc[:, j]) for j in range(identity.shape[1])]
        return _equal_rows(np.column_stack(columns) if columns else np.zeros((len(identity), 0), np.uint64))
    if isinstance(identity, np.ndarray) and identity.dtype.kind in "biufM":
        return _equal_rows(identity[:, None] if identity.ndim == 1 else identity)
    if isinstance(identity, np.ndarray) and identity.ndim == 2:
        return _groups(pd.DataFrame(identity))
    return _equal_objects(identity)


def _column_words(column: pd.Series) -> NDArray[np.uint64]:
    """Give a column as 64-bit words that are equal exactly where its values are."""
    if isinstance(column.dtype, np.dtype) and column.dtype.kind in "biufM":
        return words(column.to_numpy())
    if isinstance(column.dtype, pd.StringDtype) or column.dtype.kind in "iu":  # with gaps: code −1
        return pd.factorize(column)[0].astype(np.int64).view(np.uint64)
    return _equal_objects(as_objects(column)).codes.view(np.uint64)


def words(values: NDArray[Any]) -> NDArray[np.uint64]:
    """Give numbers as 64-bit words that are equal exactly where the numbers are."""
    if values.dtype == np.uint64:
        return values
    if values.dtype.kind != "f":
        signed = values.view(np.int64) if values.dtype.kind == "M" else values
        return signed.astype(np.uint64 if signed.dtype.kind == "u" else np.int64).view(np.uint64)
    if values.dtype.itemsize > 8:
        raise InputError(f"values of {values.dtype} cannot be compared exactly: convert them to float64.")
    plain = np.add(values, 0.0, dtype=np.float64)  # a new array, without −0.0
    unordered = plain != plain
    if unordered.any():
        plain[unordered] = _NAN  # one bit pattern for all NaNs
    return plain.view(np.uint64)


def _equal_rows(array: NDArray[Any]) -> Groups:
    if array.size <= SMALL:
        array = words(array)  # once; larger arrays are read by block again, to spare the copy
    hashes = np.empty(len(array), dtype=np.uint64)

    def hash_block(start: int, stop: int) -> None:
        hashes[start:stop] = mix(words(array[start:stop]))

    each_block(hash_block, len(array), BLOCK)
    return _settle_collisions(array, renumbered(hashes))


def mix(rows: NDArray[np.uint64]) -> NDArray[np.uint64]:
    """Hash rows of words; rows that differ in one word never collide, since each step is a bijection."""
    hashes = np.zeros(len(rows), dtype=np.uint64)
    shifted = np.empty_like(hashes)
    for column in np.ascontiguousarray(rows.T):
        hashes ^= column
        hashes *= _MULTIPLIER
        np.right_shift(hashes, _HALF, out=shifted)
        hashes ^= shifted
    return hashes


def _settle_collisions(array: NDArray[Any], groups: Groups) -> Groups:
    """Compare every row with its group's first row; regroup the groups that were mixed, by their bytes."""
    mixed = np.zeros(len(groups), dtype=bool)
    few = 4 * len(groups) <= len(array)  # then the first rows fit together in the cache
    firsts = np.ascontiguousarray(array[groups.first]) if few else array

    def check(start: int, stop: int) -> None:
        codes = groups.codes[start:stop]
        mine = array[start:stop]
        theirs = firsts.take(codes, axis=0) if few else array[groups.first[codes]]
        unlike = mine != theirs
        if unlike.any():  # or NaN, which is unlike itself but has one word
            rows = np.flatnonzero(unlike.any(axis=1))
            differ = (words(mine[rows]) != words(theirs[rows])).any(axis=1)
            mixed[codes[rows[differ]]] = True

    each_block(check, len(array), BLOCK)
    if not mixed.any():
        return groups
    codes = groups.codes.copy()
    rows = np.flatnonzero(mixed[codes])
    codes[rows] = len(groups) + _equal_objects([row.tobytes() for row in words(array[rows])]).codes
    return renumbered(codes)


def _equal_objects(values: Any) -> Groups:
    """Group values by Python's own equality; an object that many rows share is hashed once."""
    objects = values if isinstance(values, np.ndarray) else np.fromiter(values, dtype=object)
    if set(map(type, objects)) == {str}:  # the usual log: pandas compares these as Python does, in C
        return renumbered(objects)
    same = renumbered(_addresses(objects))
    known: dict[Any, int] = {}
    codes = np.empty(len(same), dtype=np.int64)
    for i, row in enumerate(same.first.tolist()):
        value = objects[row]
        try:
            codes[i] = known.setdefault(_settle_nan(value), len(known))
        except BaseException as raised:
            _refuse(row, value, raised)
    distinct = renumbered(codes)
    return Groups(distinct.codes[same.codes], same.first[distinct.first])


def _refuse(row: int, value: Any, raised: BaseException) -> NoReturn:
    """Say which explanation cannot be compared, be it that it has no hash or that its own methods fail."""
    remedy = "Give a 2-D array, or a list of hashable values such as str, tuple or frozenset."
    who = f"explanation {row} is a {type(value).__name__} and"
    with foreign(f"{who} comparing it", remedy):
        if isinstance(raised, TypeError) and "unhashable" in str(raised):
            raise InputError(f"{who} has no hash: {one_line(repr(value))[:60]}. {remedy}") from None
        raise raised
    raise AssertionError("something was raised")


def _addresses(objects: NDArray[Any]) -> NDArray[np.intp]:
    """Return the id of every object: what an array of objects holds, read as numbers."""
    held = np.ascontiguousarray(objects)
    pointers = (ctypes.c_ssize_t * len(held)).from_address(held.ctypes.data)
    return np.array(pointers, dtype=np.intp)


def _settle_nan(value: Any) -> Any:
    """Replace every NaN, also inside tuples and frozensets, by one object: Python then finds them equal."""
    if isinstance(value, float):
        return _NAN if value != value else value
    if isinstance(value, tuple) and type(value) is tuple:
        return tuple(map(_settle_nan, value))
    if isinstance(value, frozenset):
        return frozenset(map(_settle_nan, value))
    return value
