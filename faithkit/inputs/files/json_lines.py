"""JSON Lines: one object in a line, whose values have the types that they were written with.

Numbers, texts and truth values are cells. Lists and objects of numbers are vectors, which an explanation can
be; any other list or object is the text of its JSON, as rules are written.
"""

import io
import json
from collections.abc import Callable, Iterable, Sequence
from typing import Any

import attrs
import pyarrow as pa

from faithkit.errors import InputError
from faithkit.foreign import foreign
from faithkit.inputs.files import csv_texts
from faithkit.inputs.files.content import check_none_only
from faithkit.inputs.files.named import File
from faithkit.inputs.files.written import EXACT
from faithkit.wording import describe

_WORDS = {bool: "a truth value", str: "a text", list: "a list", dict: "an object"}
_LIMITS = ((pa.int64(), -(2**63), 2**63), (pa.uint64(), 0, 2**64))


@attrs.define
class Lines:
    """The columns of objects that come one after another; what an object lacks is missing there."""

    columns: dict[str, list[Any]] = attrs.field(factory=dict)
    starts: list[tuple[int, File]] = attrs.field(factory=list)
    n: int = 0

    def add(self, file: File, content: bytes | bytearray) -> None:
        """Read the lines of one file; it must have the columns of the others."""
        known, seen = list(self.columns), dict[str, None]()
        self.starts.append((self.n, file))
        for number, line in enumerate(io.BytesIO(content), 1):
            if not line.isspace():
                found = _object(file, number, line)
                seen.update(dict.fromkeys(found))
                self._append(found)
        if len(self.starts) > 1:
            self._check_alike(file, known, list(seen))

    def _append(self, found: dict[str, Any]) -> None:
        for name, value in found.items():
            self.columns.setdefault(name, [None] * self.n).append(value)
        self.n += 1
        if len(found) < len(self.columns):
            for values in self.columns.values():
                values.extend([None] * (self.n - len(values)))

    def _check_alike(self, file: File, known: list[str], seen: list[str]) -> None:
        first = self.starts[0][1]
        for owner, mine, theirs in ((first, known, seen), (file, seen, known)):
            check_none_only(first.path, file.path, owner.path, mine, theirs)

    def table(self) -> Any:
        """Return the columns as an Arrow table."""
        cells = {}
        for name, values in self.columns.items():
            with foreign(f"the column {name!r}", "Check its values."):  # half of a character is no text
                cells[name] = self._typed(name, values)
        return pa.table(cells)

    def _typed(self, name: str, values: list[Any]) -> Any:
        kinds = set(map(type, values)) - {type(None)}
        if kinds == {dict} and all(map(_are_numbers, (row.values() for row in values if row is not None))):
            return _maps(values)
        if kinds == {list} and all(map(_are_numbers, (row for row in values if row is not None))):
            return _lists(values)
        if kinds in ({dict}, {list}):
            return pa.array([None if row is None else json.dumps(row, sort_keys=True) for row in values])
        if not kinds <= {int, float} and len(kinds) > 1:
            raise InputError(self._mixture(name, values))
        if int in kinds:
            return _numbers(values)
        return pa.array(
            values, {float: pa.float64(), str: pa.string(), bool: pa.bool_()}.get(*kinds or [None])
        )

    def _mixture(self, name: str, values: list[Any]) -> str:
        """Say which two rows of a column have values of different types."""
        first = next(row for row, value in enumerate(values) if value is not None)
        mine = _word(values[first])
        other = next(row for row, value in enumerate(values) if value is not None and _word(value) != mine)
        return (
            f"the column {name!r} has {mine} in {self._place(first)} and {_word(values[other])} in "
            f"{self._place(other)}: write one type into a column."
        )

    def _place(self, row: int) -> str:
        start, file = next((start, file) for start, file in reversed(self.starts) if start <= row)
        return f"row {row - start + 1} of {file.path.name}"


def read_lines(contents: Iterable[tuple[File, bytearray]]) -> list[tuple[File, Any]]:
    r"""Return an Arrow table of each file; types are those of all of them together.

    Examples
    --------
    >>> from pathlib import Path
    >>> (_, table), = read_lines([(File(Path("log.jsonl"), "JSON Lines"), b'{"a": 1}\n{"a": 0.5}\n')])
    >>> table.column("a").to_pylist()
    [1.0, 0.5]
    """
    lines = Lines()
    for file, content in contents:
        with foreign(f"reading {file.path}", "Check the file."):
            lines.add(file, content)
    whole = lines.table()
    ends = [*(start for start, _ in lines.starts[1:]), lines.n]
    return [
        (file, whole.slice(start, end - start)) for (start, file), end in zip(lines.starts, ends, strict=True)
    ]


def _object(file: File, number: int, line: bytes) -> dict[str, Any]:
    place = f"line {number} of {file.path}"
    if len(line) > csv_texts.LONGEST_ROW:
        raise InputError(f"{place} has more than {csv_texts.LONGEST_ROW // 2**20} MiB. Shorten it.")
    try:
        text = line.decode("utf-8-sig" if number == 1 else "utf-8")
        found = json.loads(text, object_pairs_hook=_distinct, parse_float=_finite)
    except UnicodeDecodeError:
        raise InputError(f"{place} is not UTF-8 text. Save it as UTF-8.") from None
    except (ValueError, RecursionError) as error:
        raise InputError(f"{place} is no JSON ({describe(error)}). Expected one object in a line.") from None
    if not isinstance(found, dict):
        raise InputError(f'{place} has {_word(found)}; expected an object, such as {{"label": "yes"}}.')
    return found


def _distinct(pairs: Sequence[tuple[str, Any]]) -> dict[str, Any]:
    found = dict(pairs)
    if len(found) < len(pairs):
        raise ValueError("it has a name twice")
    return found


def _finite(text: str) -> float:
    number = float(text)
    if abs(number) == float("inf"):
        raise ValueError(f"{text:.20} is too large for a number")
    return number


def _word(value: Any) -> str:
    return _WORDS.get(type(value), "a number" if value is not None else "null")


def _are_numbers(values: Iterable[Any]) -> bool:
    return all(value is None or type(value) in (int, float) for value in values)


def _maps(values: list[dict[str, float] | None]) -> Any:
    kind, write = _floats_or_texts(weight for row in values for weight in (row or {}).values())
    cells = [
        None if row is None else [(name, write(weight)) for name, weight in row.items()] for row in values
    ]
    return pa.array(cells, pa.map_(pa.string(), kind))


def _lists(values: list[list[float] | None]) -> Any:
    kind, write = _floats_or_texts(weight for row in values for weight in row or ())
    return pa.array([None if row is None else [*map(write, row)] for row in values], pa.list_(kind))


def _floats_or_texts(numbers: Iterable[Any]) -> tuple[Any, Callable[[Any], Any]]:
    """Return a type that holds all numbers exactly, and how they are written in it."""
    if all(abs(value) <= EXACT for value in numbers if type(value) is int):
        return pa.float64(), lambda value: None if value is None else float(value)
    return pa.string(), lambda value: None if value is None else str(value)


def _numbers(values: list[Any]) -> Any:
    """Return integers, or floats, or texts where neither could hold every number."""
    whole = [value for value in values if type(value) is int]
    if not any(type(value) is float for value in values):
        for kind, low, high in _LIMITS:
            if all(low <= value < high for value in whole):
                return pa.array(values, kind)
    kind, write = _floats_or_texts(whole)
    return pa.array([*map(write, values)], kind)
