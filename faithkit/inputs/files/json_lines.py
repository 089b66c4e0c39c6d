"""Read JSON Lines: one object in a line, whose values keep the types that they were written with.

Numbers, texts and truth values are cells. Lists and objects of numbers are vectors, which an explanation can
be; any other list or object becomes the text of its JSON, as rules are written.
"""

import io
import json
from collections.abc import Callable, Iterable, Iterator, Sequence
from typing import Any

import pyarrow as pa

from faithkit.errors import InputError
from faithkit.foreign import foreign
from faithkit.inputs.files.csv_types import EXACT
from faithkit.inputs.files.discovery import File
from faithkit.inputs.files.text_streams import LONGEST_ROW, TextStream
from faithkit.wording import describe

_WORDS = {bool: "a truth value", str: "a text", list: "a list", dict: "an object"}
_LIMITS = ((pa.int64(), -(2**63), 2**63), (pa.uint64(), 0, 2**64))


def read_json_lines(files: Sequence[File]) -> list[Any]:
    r"""Return an Arrow table of each file; types are those of all of them together.

    Examples
    --------
    >>> import tempfile
    >>> from pathlib import Path
    >>> path = Path(tempfile.mkdtemp(), "log.jsonl")
    >>> _ = path.write_text('{"a": 1}\n{"a": 0.5}\n')
    >>> read_json_lines([File(path, "JSON Lines")])[0].column("a").to_pylist()
    [1.0, 0.5]
    """
    columns: dict[str, list[Any]] = {}
    names_of_files: list[dict[str, None]] = []
    ends = [0]
    for file in files:
        n, names = ends[-1], dict[str, None]()
        for row in _objects(file):
            names.update(dict.fromkeys(row))
            for name, value in row.items():
                columns.setdefault(name, [None] * n).append(value)
            n += 1
            if len(row) < len(columns):  # what an object lacks is missing
                for values in columns.values():
                    values.extend([None] * (n - len(values)))
        names_of_files.append(names)
        ends.append(n)
    cells = {}
    for name, values in columns.items():
        with foreign(f"the column {name!r}", "Check its values."):  # half of a character is no text
            cells[name] = _typed(name, values, list(zip(ends, files, strict=False)))
    whole = pa.table(cells)
    spans = zip(ends, ends[1:], names_of_files, strict=False)
    return [whole.slice(start, stop - start).select(list(names)) for start, stop, names in spans]


def _objects(file: File) -> Iterator[dict[str, Any]]:
    number = 0
    with foreign(f"reading {file.path}", "Check the file."), io.BufferedReader(TextStream(file)) as stream:
        while line := stream.readline(LONGEST_ROW + 1):
            number += 1
            if not line.isspace():
                yield _object(file, number, line)


def _typed(name: str, values: list[Any], starts: list[tuple[int, File]]) -> Any:
    """Return a column as Arrow's; `starts` has the first row of each file."""
    kinds = set(map(type, values)) - {type(None)}
    if kinds == {dict} and all(map(_are_numbers, (row.values() for row in values if row is not None))):
        return _maps(values)
    if kinds == {list} and all(map(_are_numbers, (row for row in values if row is not None))):
        return _lists(values)
    if kinds in ({dict}, {list}):
        return pa.array([None if row is None else json.dumps(row, sort_keys=True) for row in values])
    if not kinds <= {int, float} and len(kinds) > 1:
        raise InputError(_describe_mixture(name, values, starts))
    if int in kinds:
        return _numbers(values)
    return pa.array(values, {float: pa.float64(), str: pa.string(), bool: pa.bool_()}.get(*kinds or [None]))


def _describe_mixture(name: str, values: list[Any], starts: list[tuple[int, File]]) -> str:
    """Say which two rows of a column have values of different types."""
    rows = [row for row, value in enumerate(values) if value is not None]
    word = _word(values[rows[0]])
    other = next(row for row in rows if _word(values[row]) != word)

    def place(row: int) -> str:
        start, file = next((start, file) for start, file in reversed(starts) if start <= row)
        return f"row {row - start + 1} of {file.path.name}"

    return (
        f"the column {name!r} has {word} in {place(rows[0])} and {_word(values[other])} in {place(other)}: "
        "write one type into a column."
    )


def _object(file: File, number: int, line: bytes) -> dict[str, Any]:
    place = f"line {number} of {file.path}"
    if len(line) > LONGEST_ROW:
        raise InputError(f"{place} has more than {LONGEST_ROW // 2**20} MiB. Shorten it.")
    try:
        text = line.decode("utf-8-sig" if number == 1 else "utf-8")
        row = json.loads(text, object_pairs_hook=_distinct, parse_float=_finite)
    except UnicodeDecodeError:
        raise InputError(f"{place} is not UTF-8 text. Save it as UTF-8.") from None
    except (ValueError, RecursionError) as error:
        raise InputError(f"{place} is no JSON ({describe(error)}). Expected one object in a line.") from None
    if not isinstance(row, dict):
        raise InputError(f'{place} has {_word(row)}; expected an object, such as {{"label": "yes"}}.')
    return row


def _distinct(pairs: Sequence[tuple[str, Any]]) -> dict[str, Any]:
    row = dict(pairs)
    if len(row) < len(pairs):
        raise ValueError("it has a name twice")
    return row


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
