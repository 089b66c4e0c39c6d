"""The cells of a CSV as the texts they are: nothing is a number yet, and every row has all of its cells.

Arrow's reader is strict about the number of cells, and forgives a quote that nobody closed: it then takes the
rest of the file for one cell. A last row of our own shows it, for it would be in that cell, too.
"""

import csv
import io
import re
from pathlib import Path
from typing import Any

import pyarrow as pa
from pyarrow import csv as arrow_csv

from faithkit.errors import InputError
from faithkit.wording import describe

LONGEST_ROW = 2**24  # bytes
_END = "end of the file"


def read_texts(path: Path, content: bytearray) -> Any:
    """Return an Arrow table of texts, null where a cell is empty; the first row gives the names.

    A column without a name is called as pandas calls it, "Unnamed: 0".
    """
    width = len(_header(path, content))
    content += b"\n" + ",".join([_END] * width).encode() + b"\n"
    table = _parsed(path, content, width)
    *_, last = table.slice(table.num_rows - 1).to_pylist()
    if set(last.values()) != {_END}:
        raise InputError(f"{path} has a quote that is not closed. Close it, or double a quote that is meant.")
    names = table.slice(0, 1).to_pylist()[0].values()
    named = [name or f"Unnamed: {j}" for j, name in enumerate(names)]
    return table.slice(1, table.num_rows - 2).rename_columns(named)


def _header(path: Path, content: bytearray) -> list[str]:
    """Return the cells of the first row, and refuse other marks than commas between them."""
    head = content[:LONGEST_ROW].decode("utf-8-sig", "replace")
    try:
        row = next(filter(None, csv.reader(io.StringIO(head, newline=""))), None)
    except csv.Error as error:
        raise InputError(f"{path} is not a well-formed CSV ({describe(error)}). Check its header.") from None
    if row is None:
        raise InputError(f"{path} is empty; expected a line with column names and rows.")
    for mark, word in ((";", "';'"), ("\t", "tabs")):
        if len(row) == 1 and mark in row[0]:
            raise InputError(
                f"{path} has the single column {row[0]!r}: its cells are separated by {word}; "
                "expected commas. Save it with commas."
            )
    return row


def _parsed(path: Path, content: bytearray, width: int) -> Any:
    names = [str(j) for j in range(width)]
    texts = arrow_csv.ConvertOptions(
        column_types=dict.fromkeys(names, pa.string()),
        null_values=[""],
        strings_can_be_null=True,
        quoted_strings_can_be_null=True,
    )
    try:
        return arrow_csv.read_csv(
            pa.BufferReader(content),
            # with threads no error knows its row
            arrow_csv.ReadOptions(column_names=names, block_size=LONGEST_ROW, use_threads=False),
            arrow_csv.ParseOptions(newlines_in_values=True),
            texts,
        )
    except pa.ArrowInvalid as error:
        raise InputError(_said(path, str(error))) from None


def _said(path: Path, error: str) -> str:
    """Say what Arrow found in the words of a table."""
    row = re.search(r"Row #(\d+)", error)
    place = f" in row {row[1]} (its header is row 1)" if row else ""
    if "invalid UTF8" in error:
        return f"{path} is not UTF-8 text{place}. Save it as UTF-8."
    if "straddl" in error:
        return (
            f"{path} has a row of more than {LONGEST_ROW // 2**20} MiB. Close its quotes, or shorten the row."
        )
    if counts := re.search(r"Expected (\d+) columns, got (\d+)", error):
        return (
            f"{path} has {counts[2]} cells{place}; expected {counts[1]}, one for each name in its header. "
            "Check that row."
        )
    return f"{path} is not a well-formed CSV ({' '.join(error.split())}). Check that row."
