"""What the names of folders say of the files in them, as columns: month=2026-01/part-0.parquet."""

from collections.abc import Sequence
from typing import Any

import pyarrow as pa

from faithkit.errors import InputError
from faithkit.inputs.files.named import File
from faithkit.inputs.files.written import as_labels


def partition_values(files: Sequence[File], typed: bool = True) -> list[dict[str, Any]]:
    """Return what is said of each file: texts, or names typed as labels are, alike for all files.

    Examples
    --------
    >>> from pathlib import Path
    >>> files = [File(Path("log.csv"), "CSV", "", (("year", year),)) for year in ("2025", "2026")]
    >>> partition_values(files)
    [{'year': <pyarrow.Int64Scalar: 2025>}, {'year': <pyarrow.Int64Scalar: 2026>}]
    """
    names = [name for name, _ in files[0].partition]
    texts = {
        name: pa.chunked_array([[dict(file.partition)[name] for file in files]], pa.string())
        for name in names
    }
    columns = {name: as_labels(column) if typed else column for name, column in texts.items()}
    return [{name: column[i] for name, column in columns.items()} for i in range(len(files))]


def with_partition(file: File, cells: Any, said: dict[str, Any]) -> Any:
    """Return the cells of a file with what is said of it in columns beside them."""
    check_apart(file, cells.column_names)
    for name, value in said.items():
        cells = cells.append_column(name, pa.repeat(value, cells.num_rows))
    return cells


def check_apart(file: File, names: Sequence[str]) -> None:
    """Refuse a file with a column that its folder names, too: they may say different things."""
    twice = next((name for name, _ in file.partition if name in names), None)
    if twice is not None:
        raise InputError(
            f"{file.path} has a column {twice!r}, and lies in a folder {twice}=…: leave one of them out."
        )
