"""Tables from files: what a person has on disk, read so that no value turns into another on the way.

Whatever can be wrong with a file is said in one line, because the reader of that line is at a terminal.
"""

from collections.abc import Iterable, Sequence
from fnmatch import fnmatchcase
from os import PathLike
from typing import Any

import pyarrow as pa

from faithkit.errors import InputError
from faithkit.foreign import foreign
from faithkit.inputs.files.content import Content, check_distinct, check_none_only
from faithkit.inputs.files.csv_texts import read_texts
from faithkit.inputs.files.json_lines import read_lines
from faithkit.inputs.files.named import CSV, PARQUET, File, files_of
from faithkit.inputs.files.packed import contents
from faithkit.inputs.files.partitions import partition_values, with_partition
from faithkit.wording import did_you_mean, few


def open_table(path: str | PathLike[str]) -> Content:
    r"""Read CSV, JSON Lines or Parquet, and leave open what columns mean.

    The path names a file (`.csv`, `.jsonl`, `.ndjson`, packed or not: `.csv.gz`; `.parquet`), a folder of
    such files, or a pattern that finds some. What folders say of files (`month=2026-01/`) is a column.

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
    >>> from pathlib import Path
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
        from faithkit.inputs.files.parquet import read_cells

        found = Content(read_cells(path), written=False)
    else:
        found = Content(_united(_read(files)), written=files[0].kind == CSV)
    if not len(found) or not found.names:
        raise InputError(
            f"{path} has {len(found)} rows and {len(found.names)} columns; expected at least one of each."
        )
    return found


def split_target(frame: Any, target: str) -> tuple[Any, Any]:
    """Return the table without the target column, and that column.

    Examples
    --------
    >>> import pandas as pd
    >>> X, y = split_target(pd.DataFrame({"age": [31, 45], "income": ["low", "high"]}), "income")
    >>> list(X), y.tolist()
    (['age'], ['low', 'high'])
    """
    if target not in frame.columns:
        raise InputError(f"the table has no column {target!r}. {suggest_column(target, frame.columns)}")
    if frame.shape[1] == 1:
        raise InputError(
            f"the table has no column beside the target {target!r}; expected at least one feature."
        )
    return frame.drop(columns=target), frame[target]


def match_names(names: Sequence[str], patterns: str | Sequence[str]) -> list[str]:
    """Return those of the names that any of the patterns matches, in the order of the names.

    Parameters
    ----------
    names : sequence of str
    patterns : str or sequence of str
        Names or shell patterns such as `phi_*`, several of them in one string separated by commas. What
        follows an exclamation mark is left out, wherever it stands.

    Examples
    --------
    >>> match_names(["age", "phi_age", "sex", "phi_sex"], "phi_*,age")
    ['age', 'phi_age', 'phi_sex']
    >>> match_names(["phi_age", "phi_sex", "phi_bias"], "phi_*,!phi_bias")
    ['phi_age', 'phi_sex']
    """
    wanted, unwanted = split_patterns(names, patterns)
    if not wanted and unwanted:
        raise InputError(
            f"{few(map(repr, unwanted))} only says which columns to leave out; expected which to take, too: "
            f"'*,!{unwanted[0]}' takes all others."
        )
    if not wanted:
        raise InputError("no columns were asked for; expected names or patterns, such as 'age,phi_*'.")
    found, without = (
        {name for pattern in some for name in _matches(names, pattern)} for some in (wanted, unwanted)
    )
    if found <= without:
        raise InputError(
            f"no column is left: {few(map(repr, wanted))} without {few(map(repr, unwanted))} is none. "
            f"There is: {few(map(repr, names))}."
        )
    kept = found - without
    return [name for name in names if name in kept]


def split_patterns(names: Sequence[str], patterns: str | Sequence[str]) -> tuple[list[str], list[str]]:
    """Return which names and patterns are asked for, and which are to be left out.

    A name that is there as it stands may have commas in it, or begin with an exclamation mark.

    Examples
    --------
    >>> split_patterns(["a,b", "c"], ["a,b", "x_*,!x_1"])
    (['a,b', 'x_*'], ['x_1'])
    """
    given = [patterns] if isinstance(patterns, str) else patterns
    parts = [[text] if text in names else [part.strip() for part in text.split(",")] for text in given]
    every = [part for split in parts for part in split if part]
    unwanted = [part for part in every if part.startswith("!") and part not in names]
    return [part for part in every if part not in unwanted], [part[1:].strip() for part in unwanted]


def match_name(names: Sequence[str], pattern: str, option: str) -> str:
    """Return the one name that a pattern matches; `option` is who asked.

    Examples
    --------
    >>> match_name(["age", "phi_age", "phi_sex"], "*_sex", "--by")
    'phi_sex'
    """
    found = match_names(names, (pattern,))
    if len(found) > 1:
        raise InputError(
            f"{option} {pattern!r} matches {len(found)} columns; expected one: give its full name."
        )
    return found[0]


def suggest_column(word: str, names: Iterable[Any]) -> str:
    """Ask back where a word is nearly a column's name, else list the names, with the spaces in them.

    Examples
    --------
    >>> suggest_column("sex", ["label", " age"])
    "There is: 'label', ' age'."
    """
    known = [str(name) for name in names]
    return did_you_mean(word, known) or f"There is: {few(map(repr, known))}."


def _matches(names: Sequence[str], pattern: str) -> Iterable[str]:
    """Match a name that is there as it stands, whatever brackets or stars are in it."""
    found = [pattern] if pattern in names else [name for name in names if fnmatchcase(str(name), pattern)]
    if not found:
        raise InputError(f"no column matches {pattern!r}. {suggest_column(pattern, names)}")
    return found


def _read(files: list[File]) -> list[tuple[File, Any]]:
    """Return the cells of each file, as the texts that they are or as JSON types them."""
    if files[0].kind != CSV:
        return read_lines(contents(files))
    return [(file, _texts(file, content)) for file, content in contents(files)]


def _texts(file: File, content: bytearray) -> Any:
    with foreign(f"reading {file.path}", "Check the file."):
        return read_texts(file.path, content)


def _united(tables: list[tuple[File, Any]]) -> Any:
    """Put tables of the same columns below each other, with what their folders say of them."""
    first, wanted = tables[0]
    parts, said = [], partition_values([file for file, _ in tables], typed=first.kind != CSV)
    for (file, table), values in zip(tables, said, strict=True):
        check_distinct(file.path, table.column_names)
        for owner, mine, theirs in ((first, wanted, table), (file, table, wanted)):
            check_none_only(first.path, file.path, owner.path, mine.column_names, theirs.column_names)
        parts.append(with_partition(file, table.select(wanted.column_names), values))
    return pa.concat_tables(parts)
