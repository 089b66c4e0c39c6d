"""Read JSON Lines: one object per line, whose values keep their JSON types.

Numbers, texts and booleans become cells. Lists and objects of numbers become vectors, such as explanations.
Any other list or object becomes its JSON text, such as a rule.
"""

import io
import json
from collections.abc import Callable, Iterable, Iterator, Sequence
from typing import Any

import pyarrow as pa

from faithkit.errors import InputError
from faithkit.inputs.files.csv_types import EXACT
from faithkit.inputs.files.discovery import File
from faithkit.inputs.files.text_streams import LONGEST_ROW, TextStream
from faithkit.third_party import guard
from faithkit.wording import describe

_TYPE_NAMES = {bool: "a truth value", str: "a text", list: "a list", dict: "an object"}
_INTEGER_RANGES = ((pa.int64(), -(2**63), 2**63), (pa.uint64(), 0, 2**64))


def read_json_lines(files: Sequence[File]) -> list[Any]:
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
    cells = {}
    for name, values in columns.items():
        with guard(f"the column {name!r}", "Check its values."):  # a lone surrogate is not valid text
            cells[name] = _to_arrow(name, values, list(zip(ends, files, strict=False)))
    table = pa.table(cells)
    spans = zip(ends, ends[1:], names_by_file, strict=False)
    return [table.slice(start, stop - start).select(list(names)) for start, stop, names in spans]


def _read_objects(file: File) -> Iterator[dict[str, Any]]:
    number = 0
    with guard(f"reading {file.path}", "Check the file."), io.BufferedReader(TextStream(file)) as stream:
        while line := stream.readline(LONGEST_ROW + 1):
            number += 1
            if not line.isspace():
                yield _parse_object(file, number, line)


def _to_arrow(name: str, values: list[Any], starts: list[tuple[int, File]]) -> Any:
    """Return a column as an Arrow array; `starts` has the first row of each file."""
    kinds = set(map(type, values)) - {type(None)}
    if kinds == {dict} and all(map(_are_numbers, (row.values() for row in values if row is not None))):
        return _to_map_array(values)
    if kinds == {list} and all(map(_are_numbers, (row for row in values if row is not None))):
        return _to_list_array(values)
    if kinds in ({dict}, {list}):
        return pa.array([None if row is None else json.dumps(row, sort_keys=True) for row in values])
    if not kinds <= {int, float} and len(kinds) > 1:
        raise InputError(_describe_mixture(name, values, starts))
    if int in kinds:
        return _to_number_array(values)
    return pa.array(values, {float: pa.float64(), str: pa.string(), bool: pa.bool_()}.get(*kinds or [None]))


def _describe_mixture(name: str, values: list[Any], starts: list[tuple[int, File]]) -> str:
    """Describe two rows of a column whose values have different types."""
    rows = [row for row, value in enumerate(values) if value is not None]
    first_type = _type_name(values[rows[0]])
    other_row = next(row for row in rows if _type_name(values[row]) != first_type)

    def describe_row(row: int) -> str:
        start, file = next((start, file) for start, file in reversed(starts) if start <= row)
        return f"row {row - start + 1} of {file.path.name}"

    return (
        f"the column {name!r} has {first_type} in {describe_row(rows[0])} and "
        f"{_type_name(values[other_row])} in {describe_row(other_row)}: write one type into a column."
    )


def _parse_object(file: File, number: int, line: bytes) -> dict[str, Any]:
    place = f"line {number} of {file.path}"
    if len(line) > LONGEST_ROW:
        raise InputError(f"{place} has more than {LONGEST_ROW // 2**20} MiB. Shorten it.")
    try:
        text = line.decode("utf-8-sig" if number == 1 else "utf-8")
        row = json.loads(text, object_pairs_hook=_parse_pairs, parse_float=_parse_float)
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
    if abs(number) == float("inf"):
        raise ValueError(f"{text:.20} is too large for a number")
    return number


def _type_name(value: Any) -> str:
    return _TYPE_NAMES.get(type(value), "a number" if value is not None else "null")


def _are_numbers(values: Iterable[Any]) -> bool:
    return all(value is None or type(value) in (int, float) for value in values)


def _to_map_array(values: list[dict[str, float] | None]) -> Any:
    arrow_type, convert = _exact_type(weight for row in values for weight in (row or {}).values())
    cells = [
        None if row is None else [(name, convert(weight)) for name, weight in row.items()] for row in values
    ]
    return pa.array(cells, pa.map_(pa.string(), arrow_type))


def _to_list_array(values: list[list[float] | None]) -> Any:
    arrow_type, convert = _exact_type(weight for row in values for weight in row or ())
    return pa.array([None if row is None else [*map(convert, row)] for row in values], pa.list_(arrow_type))


def _exact_type(numbers: Iterable[Any]) -> tuple[Any, Callable[[Any], Any]]:
    """Return an Arrow type that holds all numbers exactly, and the function that converts a number to it."""
    if all(abs(value) <= EXACT for value in numbers if type(value) is int):
        return pa.float64(), lambda value: None if value is None else float(value)
    return pa.string(), lambda value: None if value is None else str(value)


def _to_number_array(values: list[Any]) -> Any:
    """Return integers or floats, or texts if neither type holds every number exactly."""
    integers = [value for value in values if type(value) is int]
    if not any(type(value) is float for value in values):
        for arrow_type, low, high in _INTEGER_RANGES:
            if all(low <= value < high for value in integers):
                return pa.array(values, arrow_type)
    arrow_type, convert = _exact_type(integers)
    return pa.array([*map(convert, values)], arrow_type)
