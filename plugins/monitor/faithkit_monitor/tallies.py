"""The tallies of a batch: how many rows have each pair of an explanation and a prediction.

Explanations are represented by digests: 128 bits of their identity. Equal explanations have equal digests in
every process, on every machine and in every numeric type: 1 is 1.0. So the tallies of two files can be added,
whatever the order of rows and files.
"""

import datetime as dt
import hashlib
import json
import math
import numbers
from collections import Counter
from collections.abc import Iterable
from decimal import Decimal
from typing import Any

import attrs
import numpy as np
import pandas as pd
from numpy.typing import NDArray
from scipy.special import gammaln

import faithkit

Cell = tuple[bytes, str]
"""The digest of an explanation, or `UNEXPLAINED`, and a prediction: its name, or its JSON."""

UNEXPLAINED = b""
SHOWN = 6  # names in a message
COINCIDENCE = 1e-6  # counts that are less probable are not met twice by chance
_TIMES = (bytes, dt.datetime, dt.date, dt.time, dt.timedelta, pd.Period, pd.Interval)
_STEP = np.uint64(0x9E3779B97F4A7C15)  # of SplitMix64


@attrs.frozen(eq=False)
class Tallies:
    """The number of rows of each cell, and the form of their explanations; None where nothing is explained.

    Examples
    --------
    >>> first = Tallies.of(faithkit.plugin.count_rows(["yes", "no", "yes"], ["a", "a", "b"]))
    >>> second = Tallies.of(faithkit.plugin.count_rows(["yes", "yes", "no"], ["b", "a", "a"]))
    >>> first.n, first.fingerprint() == second.fingerprint(), first.cells == second.cells
    (3, True, True)
    """

    cells: Counter[Cell]
    form: dict[str, Any] | None

    @classmethod
    def of(cls, counts: faithkit.plugin.RowCounts) -> "Tallies":
        """Replace explanations by digests, and predictions by texts."""
        explanations, missing = counts.explanations, counts.explanations.missing
        names = np.full(len(explanations), UNEXPLAINED, dtype=object)
        names[~missing] = digests(explanations.take(~missing).identities) if not missing.all() else []
        as_text = label_name if counts.outcome["kind"] == "labels" else json.dumps
        texts = [as_text(prediction) for prediction in counts.predictions]
        cells: Counter[Cell] = Counter()
        columns = counts.explanation, counts.prediction, counts.count.tolist()
        for explanation, prediction, count in zip(*columns, strict=True):
            cells[names[explanation], texts[prediction]] += count
        return cls(cells, None if missing.all() else describe_form(explanations))

    def combine(self, other: "Tallies", name: str) -> "Tallies":
        """Add up the tallies of two files; `name` is the name of the other file."""
        check_form(name, other.form, self.form)
        return Tallies(self.cells + other.cells, self.form or other.form)

    @property
    def n(self) -> int:
        """The number of rows."""
        return self.cells.total()

    @property
    def may_coincide(self) -> bool:
        """Whether other rows, drawn alike, would have the same counts more often than once in a million.

        Examples
        --------
        >>> few = Counter({(b"a", "yes"): 9, (b"b", "no"): 3})
        >>> many = Counter({(bytes([kind]), "yes"): 50 for kind in range(9)})
        >>> Tallies(few, None).may_coincide, Tallies(many, None).may_coincide
        (True, False)
        """
        counts = np.array(list(self.cells.values()), dtype=np.float64)
        log_shares = np.log(counts / counts.sum())
        log_probability = gammaln(counts.sum() + 1) + (counts * log_shares - gammaln(counts + 1)).sum()
        return bool(log_probability > math.log(COINCIDENCE))

    def fingerprint(self, name: str = "") -> str:
        """Return 32 hex digits that identify the rows, and the name of their batch if it is given."""
        digest = hashlib.blake2b(_with_length(name), digest_size=16)
        for cell in sorted(self.cells):
            digest.update(b"%b%d;" % (_content(cell), self.cells[cell]))
        return digest.hexdigest()

    def rows(self, seed: int) -> tuple[list[Cell], NDArray[np.int64], NDArray[np.uint64]]:
        """Return the cells, the position of every row's cell, and a random number for every row.

        The words of a cell are the stream of SplitMix64, seeded by the cell's content and the seed. So the
        order of rows changes nothing, and words of equal rows are unrelated.
        """
        cells, key = sorted(self.cells), str(seed).encode()
        counts = np.array([self.cells[cell] for cell in cells], dtype=np.int64)
        seeds = b"".join(hashlib.blake2b(_content(cell), digest_size=8, key=key).digest() for cell in cells)
        position = np.repeat(np.arange(len(cells)), counts)
        number = 1 + np.arange(len(position)) - np.repeat(np.cumsum(counts) - counts, counts)
        start = np.frombuffer(seeds, dtype="<u8").astype(np.uint64)[position]
        return cells, position, _mix(start + number.astype(np.uint64) * _STEP)


def _mix(words: NDArray[np.uint64]) -> NDArray[np.uint64]:
    """Scramble the bits of words, as SplitMix64 does."""
    words = (words ^ (words >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
    words = (words ^ (words >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)
    return words ^ (words >> np.uint64(31))


def label_name(label: Any) -> str:
    """Return the name of a label, which is the same in every type that a file may have: 1.0 and 1 are one.

    Examples
    --------
    >>> label_name("yes"), label_name(1.0), label_name(0.5), label_name(True)
    ('yes', '1', '0.5', 'True')
    """
    return str(int(label)) if isinstance(label, float) and label.is_integer() else str(label)


def check_form(name: str, batch: dict[str, Any] | None, expected: dict[str, Any] | None) -> None:
    """Check that explanations can equal those that they are compared with."""
    if batch is None or expected is None:
        return
    for key, phrase in (("kind", "of kind"), ("columns", "in the columns"), ("identity", "made of")):
        here, before = batch[key], expected[key]
        if here != before and (key != "columns" or None not in (here, before)):  # arrays have no names
            raise faithkit.errors.InputError(
                f"the explanations of {name} are {phrase} {_listing(here)}, and those before it {phrase} "
                f"{_listing(before)}: write both in the same way."
            )


def _listing(value: Any) -> str:
    if not isinstance(value, list):
        return str(value)
    return ", ".join(value[:SHOWN]) + (f" and {len(value) - SHOWN} more" if len(value) > SHOWN else "")


def describe_form(explanations: faithkit.Explanations) -> dict[str, Any]:
    """Return the properties that two logs must share, so that their explanations are comparable.

    These are the names of columns; the width of floats, because 0.1 in single precision is another number
    than in double; and the type of dates and times, because neither equals its text.

    Examples
    --------
    >>> describe_form(faithkit.Explanations.vectors(np.zeros((2, 2), dtype=np.float32)))
    {'kind': 'vector', 'columns': None, 'identity': ['float32', 'float32']}
    """
    types = [_type(column) for column in _columns(explanations.identities)]
    return {"kind": explanations.kind, "columns": explanations.shared.get("names"), "identity": types}


def digests(identities: Any) -> list[bytes]:
    """Return a digest for every row of the identities.

    Parameters
    ----------
    identities : array, DataFrame, sequence of hashables, or tuple of such parts
        As `faithkit.Explanations.identities` has them.

    Examples
    --------
    >>> whole, floats = digests(np.array([[1, 2], [3, 4]])), digests(np.array([[3.0, 4.0], [-0.0, np.nan]]))
    >>> whole[1] == floats[0], len(set(whole + floats)), len(whole[0])
    (True, 3, 16)
    """
    return [_digest(b"".join(values)) for values in zip(*map(_as_bytes, _columns(identities)), strict=True)]


def _columns(identities: Any) -> list[pd.Series | NDArray[Any]]:
    """Return the columns: numbers and columns of tables as Series, other values as arrays of objects."""
    if isinstance(identities, tuple):
        return [column for part in identities for column in _columns(part)]
    if isinstance(identities, np.ndarray) and identities.ndim == 2:
        return [pd.Series(identities[:, j]) for j in range(identities.shape[1])]
    if isinstance(identities, pd.DataFrame):
        return [identities.iloc[:, j] for j in range(identities.shape[1])]
    if isinstance(identities, np.ndarray) and identities.dtype != object:
        return [pd.Series(identities)]
    return [np.fromiter(identities, dtype=object, count=len(identities))]


def _type(column: Any) -> str:
    if _is_numeric(column):
        is_narrow = column.dtype.kind == "f" and column.dtype.itemsize < 8
        return str(column.dtype) if is_narrow else "number"
    types = {_time_type(value) for value in _objects(column) if value is not None and value is not pd.NaT}
    return types.pop() if len(types) == 1 else "value"


def _time_type(value: Any) -> str:
    """Return the type of a date or a time; anything else is a "value"."""
    if isinstance(value, dt.datetime):
        return "datetime" if value.tzinfo is None else "datetime with time zone"
    types = (dt.date, dt.time, dt.timedelta)
    return next((kind.__name__ for kind in types if isinstance(value, kind)), "value")


def _is_numeric(column: Any) -> bool:
    return column.dtype.kind in "biuf" and not isinstance(column.dtype, pd.CategoricalDtype)


def _objects(column: Any) -> NDArray[Any]:
    if isinstance(column, np.ndarray):
        return column
    if isinstance(column.dtype, pd.CategoricalDtype):  # pandas makes floats of integers with a gap
        return np.array([*column.cat.categories.astype(object), None], dtype=object)[column.cat.codes]
    objects: NDArray[Any] = column.astype(object).where(column.notna(), None).to_numpy(dtype=object)
    return objects


def _as_bytes(column: Any) -> list[bytes]:
    """Return every value as bytes: a float as itself, anything else as a digest of its text."""
    if not _is_numeric(column):
        return [_digest(_text(value)) for value in _objects(column)]
    floats = column.to_numpy(dtype=np.float64, na_value=np.nan) + 0.0  # -0.0 is 0.0
    floats[np.isnan(floats)] = np.nan  # NaN has many bit patterns
    content = floats.astype("<f8").tobytes()
    values = [content[start : start + 8] for start in range(0, len(content), 8)]
    if column.dtype.kind in "iu":
        for position in np.flatnonzero(np.abs(floats) >= 2.0**53):
            exact = int(column.iloc[position])
            if exact != int(floats[position]):
                values[position] = _digest(_text(exact))
    return values


def _digest(content: bytes) -> bytes:
    return hashlib.blake2b(content, digest_size=16).digest()


def _text(value: Any) -> bytes:
    """Serialise a value; only equal values have the same bytes."""
    if isinstance(value, str):
        return b"s" + value.encode("utf-8", "surrogatepass")
    if isinstance(value, np.generic):
        return _text(value.item())
    if isinstance(value, numbers.Real | Decimal):
        return b"n" + _number(value).encode()
    if isinstance(value, tuple):
        return _join(b"t", map(_text, value))
    if isinstance(value, frozenset):
        return _join(b"f", sorted(map(_text, value)))
    if attrs.has(type(value)):
        fields = (getattr(value, field.name) for field in attrs.fields(type(value)) if field.eq)
        return _join(b"a" + type(value).__qualname__.encode() + b":", map(_text, fields))
    if value is None:
        return b"-"
    if isinstance(value, dt.datetime) and value.tzinfo is not None:
        value = value.astimezone(dt.UTC)
    for kind in _TIMES:  # equal values have the same text
        if isinstance(value, kind):
            return b"w" + f"{kind.__name__} {value!s}".encode()
    raise faithkit.errors.InputError(
        f"an explanation is or has a {type(value).__name__}, which cannot be compared between batches: give "
        "numbers, texts, tuples or rules."
    )


def _number(value: Any) -> str:
    if value != value:
        return "nan"
    return str(float(value)) if math.isinf(value) else "{}/{}".format(*value.as_integer_ratio())


def _join(kind: bytes, parts: Iterable[bytes]) -> bytes:
    """Join parts, each with its length in front, so that different parts never give the same bytes."""
    return kind + b"".join(b"%d:%b" % (len(part), part) for part in parts)


def _content(cell: Cell) -> bytes:
    return b"%d:%b%b" % (len(cell[0]), cell[0], _with_length(cell[1]))


def _with_length(text: str) -> bytes:
    content = text.encode("utf-8", "surrogatepass")
    return b"%d:%b" % (len(content), content)
