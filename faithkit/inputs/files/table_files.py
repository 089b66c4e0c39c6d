"""Read a table from CSV, JSON Lines or Parquet files, or an array from a NumPy file.

Every error message is one line, because its reader is at a terminal.
"""

from collections.abc import Sequence
from os import PathLike
from pathlib import Path

import numpy as np
import pyarrow as pa

from faithkit.errors import InputError
from faithkit.inputs.files.csv_files import read_csv
from faithkit.inputs.files.discovery import CSV, PARQUET, File, find_files
from faithkit.inputs.files.json_lines import read_json_lines
from faithkit.inputs.files.parquet import ParquetTable
from faithkit.inputs.files.table import Table, check_file_columns, check_same_names, partition_values
from faithkit.inputs.rows import check_X
from faithkit.third_party import guard


def open_table(path: str | PathLike[str]) -> Table:
    r"""Read CSV, JSON Lines or Parquet files; the types of CSV columns depend on their later role.

    The path names a file (`.csv`, `.jsonl`, `.ndjson`, also compressed: `.csv.gz`; or `.parquet`), a folder
    of such files, or a pattern that matches some. Hive folders (`month=2026-01/`) add a column.

    In a CSV only an empty text is a missing value. Words like NA, None, null or nan stay texts, so a column
    of numbers with such a word is a column of texts. Commas separate values, every row has as many values as
    the header, the encoding is UTF-8, and the first line has the column names.

    As features, columns are numbers wherever possible. Integers with missing values become floats, which
    models accept. If a float would round one of them (beyond 2**53), they stay integers, as pandas' Int64.
    Labels and groups stay as they were written, so `01` and `1`, or `true` and `TRUE`, are different.

    Raises
    ------
    InputError
        The file does not exist, its suffix is unknown, it is damaged, it has no rows, or two of its columns
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
    files = find_files(path)
    if files[0].format == PARQUET:
        return ParquetTable.open(Path(path)).read()
    is_csv = files[0].format == CSV
    tables = list(map(read_csv, files)) if is_csv else read_json_lines(files)
    values = _concatenate(files, tables)
    if not values.num_rows or not values.num_columns:
        raise InputError(
            f"{path} has {values.num_rows} rows and {values.num_columns} columns; "
            "expected at least one of each."
        )
    return Table(values, frozenset(tables[0].column_names) if is_csv else frozenset())


def _concatenate(files: Sequence[File], tables: Sequence[pa.Table]) -> pa.Table:
    """Concatenate tables with the same columns, and add the columns of their Hive folders."""
    names, extended_tables = tables[0].column_names, []
    for file, table, partition in zip(files, tables, partition_values(files), strict=True):
        check_file_columns(file, table.column_names)
        check_same_names(files[0], names, file, table.column_names)
        values = table.select(names)
        for name, value in partition.items():
            values = values.append_column(name, pa.repeat(value, values.num_rows))
        extended_tables.append(values)
    return pa.concat_tables(extended_tables)


def is_array(path: str | PathLike[str]) -> bool:
    """Return whether a path has the suffix of a NumPy array file.

    Examples
    --------
    >>> is_array("images.npy"), is_array("people.csv")
    (True, False)
    """
    return Path(path).suffix.lower() == ".npy"


def read_array(path: str | PathLike[str]) -> np.ndarray:
    """Read an array of numbers, one row per instance, without running code from the file.

    Examples
    --------
    >>> import tempfile
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     path = Path(folder, "images.npy")
    ...     np.save(path, np.zeros((3, 8, 8)))
    ...     read_array(path).shape
    (3, 8, 8)
    """
    path = Path(path)
    if not path.is_file():
        raise InputError(
            f"there is no file {str(path)!r}; expected one .npy file, not a folder or a pattern."
        )
    with guard(f"reading {path}", "Save one array of numbers of one shape with numpy.save."):
        # a memory map: it refuses Python objects, and a header that claims more than the file holds
        array = np.lib.format.open_memmap(path, mode="r")
    if array.offset + array.nbytes < path.stat().st_size:
        raise InputError(f"{path} holds more than one array: save each in a file of its own with numpy.save.")
    if array.dtype.kind not in "biuf":
        raise InputError(f"{path} holds {array.dtype}: save numbers with numpy.save.")
    rows: np.ndarray = check_X(np.array(array), str(path))
    return rows
