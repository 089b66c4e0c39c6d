"""Read the values of a CSV as texts, and check that every row has as many values as the header.

Arrow's reader accepts a quote that is never closed, and reads the rest of the file as one value. We append a
sentinel row to detect this: it would be inside that value.
"""

import csv
import io
import re
from pathlib import Path

import pyarrow as pa
from pyarrow import csv as arrow_csv

from faithkit.errors import InputError
from faithkit.inputs.files import text_streams
from faithkit.inputs.files.discovery import File
from faithkit.inputs.files.text_streams import TextStream
from faithkit.third_party import guard
from faithkit.wording import describe

_SENTINEL = "end of the file"


def read_csv(file: File) -> pa.Table:
    r"""Return an Arrow table of texts, null where a value is empty; the first row has the column names.

    A column without a name gets the name that pandas gives it, such as "Unnamed: 0".

    Examples
    --------
    >>> import tempfile
    >>> path = Path(tempfile.mkdtemp(), "log.csv")
    >>> _ = path.write_text("label,phi\n01,\n")
    >>> read_csv(File(path, "CSV")).to_pylist()
    [{'label': '01', 'phi': None}]
    """
    with guard(f"reading {file.path}", "Check the file."):
        table = _read_values(file, len(_read_header(file)))
    *_, last_row = table.slice(table.num_rows - 1).to_pylist()
    if set(last_row.values()) != {_SENTINEL}:
        raise InputError(
            f"{file.path} has a quote that is not closed. Close it, or double a quote that is meant."
        )
    header = table.slice(0, 1).to_pylist()[0].values()
    names = [name or f"Unnamed: {j}" for j, name in enumerate(header)]
    return table.slice(1, table.num_rows - 2).rename_columns(names)


def _read_header(file: File) -> list[str]:
    """Return the values of the first row, and check that commas separate them."""
    stream = io.BufferedReader(TextStream(file))
    with io.TextIOWrapper(stream, "utf-8-sig", "replace", newline="") as text:
        lines = iter(lambda: text.readline(text_streams.LONGEST_ROW), "")
        try:
            row = next(filter(None, csv.reader(lines)), None)
        except csv.Error as error:
            raise InputError(
                f"{file.path} is not a well-formed CSV ({describe(error)}). Check its header."
            ) from None
    if row is None:
        raise InputError(f"{file.path} is empty; expected a line with column names and rows.")
    for separator, word in ((";", "';'"), ("\t", "tabs")):
        if len(row) == 1 and separator in row[0]:
            raise InputError(
                f"{file.path} has the single column {row[0]!r}: its values are separated by {word}; "
                "expected commas. Save it with commas."
            )
    return row


def _read_values(file: File, width: int) -> pa.Table:
    """Return all rows as texts, including the header and the sentinel row."""
    names = [str(j) for j in range(width)]
    convert_options = arrow_csv.ConvertOptions(
        column_types=dict.fromkeys(names, pa.string()),
        null_values=[""],
        strings_can_be_null=True,
        quoted_strings_can_be_null=True,
    )
    # without threads, errors have row numbers
    read_options = arrow_csv.ReadOptions(
        column_names=names, block_size=text_streams.LONGEST_ROW, use_threads=False
    )
    parse_options = arrow_csv.ParseOptions(newlines_in_values=True)
    ending = "\n" + ",".join([_SENTINEL] * width) + "\n"
    with TextStream(file, ending.encode()) as stream:
        try:
            reader = arrow_csv.open_csv(
                pa.PythonFile(stream, "r"), read_options, parse_options, convert_options
            )
            return reader.read_all()
        except pa.ArrowInvalid as error:
            raise InputError(_explain_error(file.path, str(error))) from None


def _explain_error(path: Path, error: str) -> str:
    """Explain an Arrow error in terms of rows and values."""
    row = re.search(r"Row #(\d+)", error)
    place = f" in row {row[1]} (its header is row 1)" if row else ""
    if "invalid UTF8" in error:
        return f"{path} is not UTF-8 text{place}. Save it as UTF-8."
    if "straddl" in error:
        limit = text_streams.LONGEST_ROW // 2**20
        return f"{path} has a row of more than {limit} MiB. Close its quotes, or shorten the row."
    if counts := re.search(r"Expected (\d+) columns, got (\d+)", error):
        return (
            f"{path} has {counts[2]} values{place}; expected {counts[1]}, one for each name in its header. "
            "Check that row."
        )
    return f"{path} is not a well-formed CSV ({' '.join(error.split())}). Check that row."
