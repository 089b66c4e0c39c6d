"""Read JSON Lines: one object per line, whose values keep their JSON types.

Numbers, texts and booleans stay as they are. Lists and objects of numbers become vectors, such as
explanations. Any other list or object becomes its JSON text, such as a rule.
"""

import io
import json
import math
from collections.abc import Iterable, Iterator, Sequence
from typing import Any

import pyarrow as pa

from faithkit.errors import InputError
from faithkit.inputs.files.discovery import File
from faithkit.inputs.files.text_streams import LONGEST_ROW, TextStream
from faithkit.third_party import guard
from faithkit.wording import describe

_TYPE_NAMES = {bool: "a truth value", str: "a text", list: "a list", dict: "an object"}


def read_json_lines(files: Sequence[File]) -> list[pa.Table]:
    r"""Return an Arrow table for each file; a column has the same type in all tables.

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
    names_by_file: list[dict[str, None]] = []
    ends = [0]
    for file in files:
        n, names = ends[-1], dict[str, None]()
        for row in _read_objects(file):
            names.update(dict.fromkeys(row))
            for name, value in row.items():
                columns.setdefault(name, [None] * n).append(value)
            n += 1
            if len(row) < len(columns):  # a key that an object lacks is a missing value
                for values in columns.values():
                    values.extend([None] * (n - len(values)))
        names_by_file.append(names)
        ends.append(n)
    arrays = {}
    for name, values in columns.items():
        with guard(f"the column {name!r}", "Write large integers as texts."):
            arrays[name] = _to_arrow(name, values)
    table = pa.table(arrays)
    spans = zip(ends, ends[1:], names_by_file, strict=False)
    return [table.slice(start, stop - start).select(list(names)) for start, stop, names in spans]


def _read_objects(file: File) -> Iterator[dict[str, Any]]:
    number = 0
    with guard(f"reading {file.path}", "Check the file."), io.BufferedReader(TextStream(file)) as stream:
        while line := stream.readline(LONGEST_ROW + 1):
            number += 1
            if not line.isspace():
                yield _parse_object(file, number, line)


def _to_arrow(name: str, values: list[Any]) -> pa.Array:
    """Return a column as an Arrow array; an integer that its type would round is an error."""
    kinds = set(map(type, values)) - {type(None)}
    if len(kinds) > 1 and not kinds <= {int, float}:
        raise InputError(_describe_mixture(name, values))
    present = [value for value in values if value is not None]
    if kinds == {dict} and all(_are_numbers(row.values()) for row in present):
        return pa.array(values, pa.map_(pa.string(), pa.float64()))
    if kinds == {list} and all(map(_are_numbers, present)):
        return pa.array(values, pa.list_(pa.float64()))
    if kinds in ({dict}, {list}):
        return pa.array([None if row is None else json.dumps(row, sort_keys=True) for row in values])
    return pa.array(values)


def _describe_mixture(name: str, values: list[Any]) -> str:
    """Describe two rows of a column whose values have different types."""
    type_names = {
        _type_name(value): row for row, value in reversed(list(enumerate(values))) if value is not None
    }
    (first, first_row), (second, second_row), *_ = sorted(type_names.items(), key=lambda item: item[1])
    return (
        f"the column {name!r} has {first} in row {first_row} and {second} in row {second_row}: "
        "write one type into a column."
    )


def _parse_object(file: File, number: int, line: bytes) -> dict[str, Any]:
    place = f"line {number} of {file.path}"
    if len(line) > LONGEST_ROW:
        raise InputError(f"{place} has more than {LONGEST_ROW // 2**20} MiB. Shorten it.")
    try:
        text = line.decode("utf-8-sig" if number == 1 else "utf-8")
        row = _DECODER.decode(text)
    except UnicodeDecodeError:
        raise InputError(f"{place} is not UTF-8 text. Save it as UTF-8.") from None
    except (ValueError, RecursionError) as error:
        raise InputError(f"{place} is no JSON ({describe(error)}). Expected one object in a line.") from None
    if not isinstance(row, dict):
        raise InputError(f'{place} has {_type_name(row)}; expected an object, such as {{"label": "yes"}}.')
    return row


def _parse_pairs(pairs: Sequence[tuple[str, Any]]) -> dict[str, Any]:
    row = dict(pairs)
    if len(row) < len(pairs):
        raise ValueError("it has a name twice")
    return row


def _parse_float(text: str) -> float:
    number = float(text)
    if math.isinf(number):
        raise ValueError(f"the number {text:.40} is too large and would be read as infinite")
    return number


_DECODER = json.JSONDecoder(object_pairs_hook=_parse_pairs, parse_float=_parse_float)


def _type_name(value: Any) -> str:
    return _TYPE_NAMES.get(type(value), "a number" if value is not None else "null")


def _are_numbers(values: Iterable[Any]) -> bool:
    return all(value is None or type(value) in (int, float) for value in values)
