"""Read a table from files: CSV, JSON Lines or Parquet, one file or several.

Whatever is wrong with a file is said in one line, because the reader of that line is at a terminal.
"""

from collections.abc import Sequence
from os import PathLike
from pathlib import Path
from typing import Any

import pyarrow as pa

from faithkit.errors import InputError
from faithkit.inputs.files.column_roles import Table, partition_values
from faithkit.inputs.files.csv_files import read_csv
from faithkit.inputs.files.discovery import CSV, PARQUET, File, check_names, check_same_names, files_of
from faithkit.inputs.files.json_lines import read_json_lines
from faithkit.inputs.files.parquet import ParquetTable


def open_table(path: str | PathLike[str]) -> Table:
    r"""Read CSV, JSON Lines or Parquet, and leave open what columns mean.

    The path names a file (`.csv`, `.jsonl`, `.ndjson`, packed or not: `.csv.gz`; `.parquet`), a folder of
    such files, or a pattern that finds some. Hive folders (`month=2026-01/`) add a column.

    In a CSV an empty cell is a missing value and nothing else is: words like NA, None, null or nan stay
    the text they are, so a column of numbers with such a word in it is a column of text. Cells are
    separated by commas, every row has as many as the header, the encoding is UTF-8, and the first line has
    the column names.

    As features, columns are numbers wherever they can be. Integers with missing values among them are floats,
    which models take; where a float would round one of them (beyond 2**53), they stay integers, as pandas'
    Int64. Columns that are names stay as they were written, so that `01` and `1`, or `true` and `TRUE`, are
    two labels or two groups.

    Raises
    ------
    InputError
        There is no such file, its suffix is unknown, it is damaged, it has no rows, or two of its columns
        have the same name.

    Examples
    --------
    >>> import tempfile
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     path = Path(folder, "people.csv")
    ...     _ = path.write_text("age,job\n31,NA\n,clerk\n")
    ...     open_table(path).frame()
        age    job
    0  31.0     NA
    1   NaN  clerk
    """
    files = files_of(path)
    if files[0].kind == PARQUET:
        return ParquetTable.open(Path(path)).read()
    is_csv = files[0].kind == CSV
    parts = list(map(read_csv, files)) if is_csv else read_json_lines(files)
    cells = _concatenate(files, parts)
    if not cells.num_rows or not cells.num_columns:
        raise InputError(
            f"{path} has {cells.num_rows} rows and {cells.num_columns} columns; "
            "expected at least one of each."
        )
    return Table(cells, frozenset(parts[0].column_names) if is_csv else frozenset())


def _concatenate(files: Sequence[File], parts: Sequence[Any]) -> Any:
    """Put tables of the same columns below each other, with the columns that their folders add."""
    names, whole = parts[0].column_names, []
    for file, part, values in zip(files, parts, partition_values(files), strict=True):
        check_names(file, part.column_names)
        check_same_names(files[0], names, file, part.column_names)
        cells = part.select(names)
        for name, value in values.items():
            cells = cells.append_column(name, pa.repeat(value, cells.num_rows))
        whole.append(cells)
    return pa.concat_tables(whole)
