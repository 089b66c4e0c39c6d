"""Tables from files: what a person has on disk, read so that no value turns into another on the way.

Whatever can be wrong with a file is said in one line, because the reader of that line is at a terminal.
"""

import gzip
import warnings
import zlib
from collections import Counter
from collections.abc import Callable, Iterable, Sequence
from fnmatch import fnmatchcase
from os import PathLike
from pathlib import Path
from typing import Any

import pandas as pd

from faithkit.errors import InputError
from faithkit.wording import describe, did_you_mean, few

_SUFFIXES = (".csv", ".csv.gz", ".parquet")


def read_table(path: str | PathLike[str]) -> Any:
    r"""Read a CSV (`.csv`, `.csv.gz`) or Parquet (`.parquet`) file as a DataFrame.

    In a CSV an empty cell is a missing value and nothing else is: words like NA, None, null or nan stay
    the text they are, so a column of numbers with such a word in it is a column of text. A column of
    numbers with empty cells is read as floats. Cells are separated by commas, the encoding is UTF-8,
    and the first line has the column names.

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
    ...     read_table(path)
        age    job
    0  31.0     NA
    1   NaN  clerk
    """
    path = Path(path)
    suffix = _checked_suffix(path)
    try:
        frame = _read_parquet(path) if suffix == ".parquet" else _read_csv(path, suffix)
    except OSError as error:
        raise InputError(f"{path} cannot be read ({describe(error)}). Check the file.") from error
    if frame.empty:
        raise InputError(
            f"{path} has {len(frame)} rows and {frame.shape[1]} columns; expected at least one of each."
        )
    return frame


def split_target(frame: Any, target: str) -> tuple[Any, Any]:
    """Return the table without the target column, and that column.

    Examples
    --------
    >>> X, y = split_target(pd.DataFrame({"age": [31, 45], "income": ["low", "high"]}), "income")
    >>> list(X), y.tolist()
    (['age'], ['low', 'high'])
    """
    if target not in frame.columns:
        raise InputError(f"The table has no column {target!r}. {suggest_column(target, frame.columns)}")
    if frame.shape[1] == 1:
        raise InputError(
            f"The table has no column beside the target {target!r}; expected at least one feature."
        )
    return frame.drop(columns=target), frame[target]


def select_columns(frame: Any, patterns: str | Sequence[str]) -> Any:
    """Return the columns that any of the patterns matches, in the table's order.

    Parameters
    ----------
    frame : DataFrame
        The table.
    patterns : str or sequence of str
        Names or shell patterns such as `phi_*`, several of them in one string separated by commas.

    Examples
    --------
    >>> frame = pd.DataFrame([[1, 0.5, 2, 0.25]], columns=["age", "phi_age", "sex", "phi_sex"])
    >>> list(select_columns(frame, "phi_*,age"))
    ['age', 'phi_age', 'phi_sex']
    """
    return frame[match_names(list(frame.columns), patterns)]


def match_names(names: Sequence[str], patterns: str | Sequence[str]) -> list[str]:
    """Return those of the names that any of the patterns matches, in the order of the names.

    Examples
    --------
    >>> match_names(["age", "phi_age", "phi_sex"], ("phi_*",))
    ['phi_age', 'phi_sex']
    """
    given = [patterns] if isinstance(patterns, str) else patterns
    # a name that is there as it stands may have commas in it
    parts = [[text] if text in names else text.split(",") for text in given]
    wanted = [part.strip() for split in parts for part in split if part.strip()]
    if not wanted:
        raise InputError("No columns were asked for; expected names or patterns, such as 'age,phi_*'.")
    found: set[str] = set()
    for pattern in wanted:
        found.update(_matches(names, pattern))
    return [name for name in names if name in found]


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
        raise InputError(f"No column matches {pattern!r}. {suggest_column(pattern, names)}")
    return found


def _checked_suffix(path: Path) -> str:
    if path.is_dir():
        raise InputError(f"{path} is a directory; expected a file that ends in {_either(_SUFFIXES)}.")
    if not path.exists():
        raise InputError(f"There is no file {path}. Check the path.")
    suffix = next((suffix for suffix in _SUFFIXES if path.name.lower().endswith(suffix)), None)
    if suffix is None:
        raise InputError(f"{path} has the suffix {path.suffix!r}; expected {_either(_SUFFIXES)}. Convert it.")
    return suffix


def _read_csv(path: Path, suffix: str) -> Any:
    # low_memory would guess a column's type piece by piece, and mix ints and strings in one column
    options = {
        "compression": "gzip" if suffix == ".csv.gz" else None,
        "keep_default_na": False,
        "na_values": [""],
        "low_memory": False,
    }
    try:
        # read as a row, because pandas renames columns of the same name
        header = pd.read_csv(path, header=None, nrows=1, dtype=str, na_filter=False, **options)
        _check_header(path, header.iloc[0].tolist())
        with warnings.catch_warnings():
            warnings.simplefilter("error", pd.errors.ParserWarning)
            # without index_col the first column becomes an index where rows are longer than the header
            return pd.read_csv(path, index_col=False, **options)
    except pd.errors.ParserWarning as error:
        raise InputError(f"{path} has more cells in its rows than names in its header. Name all.") from error
    except UnicodeDecodeError as error:
        raise InputError(f"{path} is not UTF-8 text ({error.reason}). Save it as UTF-8.") from error
    except pd.errors.EmptyDataError as error:
        raise InputError(f"{path} is empty; expected a line with column names and rows.") from error
    except pd.errors.ParserError as error:
        raise InputError(f"{path} is not a well-formed CSV ({describe(error)}). Check that line.") from error
    except (gzip.BadGzipFile, EOFError, zlib.error) as error:
        raise InputError(f"{path} is not a whole gzip file ({describe(error)}). Fetch it again.") from error


def _check_header(path: Path, names: list[str]) -> None:
    for mark, word in ((";", "';'"), ("\t", "tabs")):
        if len(names) == 1 and mark in names[0]:
            raise InputError(
                f"{path} has the single column {names[0]!r}: its cells are separated by {word}; "
                "expected commas. Save it with commas."
            )
    check_distinct(path, [name for name in names if name])


def check_distinct(path: Path, names: Sequence[str]) -> None:
    """Refuse a file with several columns of one name: nobody could tell which of them is meant."""
    twice = next((name for name, times in Counter(names).items() if times > 1), None)
    if twice is not None:
        raise InputError(f"{path} has several columns {twice!r}: give each column a name of its own.")


def _read_parquet(path: Path) -> Any:
    from pyarrow.parquet import read_schema

    check_distinct(path, _whole(path, read_schema).names)
    return _whole(path, lambda file: pd.read_parquet(file, engine="pyarrow"))


def _whole(path: Path, read: Callable[[Path], Any]) -> Any:
    from pyarrow import ArrowException

    try:
        return read(path)
    except (ArrowException, ValueError, EOFError) as error:
        raise InputError(
            f"{path} is not a whole Parquet file ({describe(error)}). It may be truncated: write it again."
        ) from error


def _either(words: Sequence[str]) -> str:
    return f"{', '.join(words[:-1])} or {words[-1]}"
