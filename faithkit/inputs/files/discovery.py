"""Find the files that a path names: one file, the files of a folder, or the files that match a pattern.

Hive folders (month=2026-01/part-0.parquet) add a column to their files. Symbolic links are an error, because
they can lead outside the folder or form a cycle. Only regular files are opened, because a pipe would block.
"""

import glob
import os
import stat
from collections.abc import Iterable, Iterator
from itertools import takewhile
from os import PathLike
from pathlib import Path
from urllib.parse import unquote

import attrs

from faithkit.errors import InputError
from faithkit.third_party import guard
from faithkit.wording import describe, join_few, join_words, one_line

CSV, JSON, PARQUET = "CSV", "JSON Lines", "Parquet"
FORMATS = {".csv": CSV, ".jsonl": JSON, ".ndjson": JSON, ".parquet": PARQUET}
COMPRESSIONS = (".gz", ".bz2", ".xz", ".zst")
_NULL_PARTITION = "__HIVE_DEFAULT_PARTITION__"


@attrs.frozen
class File:
    """A file of rows: its format, its compression, and the columns that its Hive folders add."""

    path: Path
    format: str
    compression: str = ""
    partition: dict[str, str | None] = attrs.field(factory=dict)


def find_files(path: str | PathLike[str]) -> list[File]:
    """Return the files that a path names, all of one format, sorted by name.

    A path that exists is never a pattern, even if it has stars or brackets.

    Examples
    --------
    >>> import tempfile
    >>> folder = Path(tempfile.mkdtemp())
    >>> for month in ("2026-02", "2026-01"):
    ...     (folder / f"month={month}").mkdir()
    ...     _ = (folder / f"month={month}" / "log.csv").write_text("label,phi")
    >>> [file.partition for file in find_files(folder)]
    [{'month': '2026-01'}, {'month': '2026-02'}]
    """
    if is_pattern(path):
        root, starts = _root(os.fspath(path)), match_files(path)
        subject = f"the pattern {os.fspath(path)} finds"
    elif is_folder(path):
        root, starts = Path(path), [Path(path)]
        subject = f"the folder {os.fspath(path)} has"
    else:
        return [_file(Path(path))]
    paths = sorted((file for start in starts for file in _files_in(start)), key=lambda file: file.parts)
    if not paths:
        raise InputError(
            f"{subject} no file that ends in {join_words(FORMATS, 'or')}: name the folder of a log."
        )
    files = [attrs.evolve(_file(file), partition=_partition(file, root)) for file in paths]
    _check_consistent(files)
    return files


def is_folder(path: str | PathLike[str]) -> bool:
    """Return whether a path names a folder and not a regular file; anything else is an error.

    Examples
    --------
    >>> is_folder(os.curdir), is_folder(__file__)
    (True, False)
    >>> is_folder(os.devnull)
    Traceback (most recent call last):
    ...
    faithkit.errors.InputError: /dev/null is a pipe, a socket or a device; expected a regular file. Copy ...
    """
    text = os.fspath(path)
    name = one_line(text if text.isprintable() else repr(text))
    try:
        mode = os.stat(path).st_mode
    except FileNotFoundError:
        raise InputError(f"there is no file {name}. Check the path.") from None
    except (OSError, ValueError) as error:  # no permission, a name that is too long, or a NUL in it
        raise InputError(f"{name} cannot be read ({describe(error)}). Check the path.") from None
    if not stat.S_ISDIR(mode) and not stat.S_ISREG(mode):
        raise InputError(
            f"{name} is a pipe, a socket or a device; expected a regular file. Copy what it gives into one."
        )
    return stat.S_ISDIR(mode)


def is_pattern(path: str | PathLike[str]) -> bool:
    """Return whether a path is a pattern, such as logs/2026-*.csv, and not the name of a file.

    Examples
    --------
    >>> is_pattern("logs/2026-*.csv"), is_pattern("log.csv")
    (True, False)
    """
    return not os.path.lexists(path) and glob.has_magic(os.fspath(path))


def match_files(pattern: str | PathLike[str]) -> list[Path]:
    """Return the paths that a pattern matches, without hidden names; a symbolic link is an error."""
    with guard(f"looking for {os.fspath(pattern)}", "Check the pattern."):
        paths = [Path(path) for path in sorted(glob.glob(os.fspath(pattern)))]
    root = _root(os.fspath(pattern))
    visible = [path for path in paths if not any(map(_is_hidden, path.relative_to(root).parts))]
    if not visible:
        raise InputError(f"no file matches {os.fspath(pattern)}. Check the pattern, and put it in quotes.")
    for path in visible:
        relative = path.relative_to(root)
        _check_no_links(root / ancestor for ancestor in (relative, *relative.parents[:-1]))
    return visible


def table_format(name: str) -> tuple[str, str] | None:
    """Return the format and the compression by a file's name; None if it is not a table's name.

    Examples
    --------
    >>> table_format("log.csv.gz"), table_format("log.txt")
    (('CSV', '.gz'), None)
    """
    compression = next((suffix for suffix in COMPRESSIONS if name.lower().endswith(suffix)), "")
    suffix = os.path.splitext(name[: len(name) - len(compression)])[1].lower()
    file_format = FORMATS.get(suffix)
    if file_format is None or (compression and file_format == PARQUET):
        return None
    return file_format, compression


def _is_hidden(name: str) -> bool:
    """Return whether a name marks a file that is not part of the data, or not yet."""
    return name.startswith((".", "_"))


def _check_no_links(paths: Iterable[Path]) -> None:
    for path in paths:
        if path.is_symlink():
            raise InputError(
                f"{path} is a link; expected files and folders themselves. Name what it leads to, or copy it "
                "there."
            )


def _file(path: Path) -> File:
    file_format = table_format(path.name)
    if file_format is None:
        compressed = f"or .csv and JSON Lines packed ({', '.join(COMPRESSIONS)})"
        raise InputError(
            f"{path} has the suffix {path.suffix!r}; expected {join_words(FORMATS, 'or')}, {compressed}. "
            "Convert it."
        )
    return File(path, *file_format)


def _root(pattern: str) -> Path:
    """Return the deepest folder in a pattern before its first wildcard."""
    parts = Path(pattern).parts[:-1]
    return Path(*takewhile(lambda part: not glob.has_magic(part), parts))


def _files_in(start: Path) -> Iterator[Path]:
    """Yield the files of a folder and of the Hive folders in it; for a file, yield the file itself."""
    pending = [start]
    while pending:
        path = pending.pop()
        if not is_folder(path):
            yield path
            continue
        with guard(f"reading the folder {path}", "Check that you may look into it."):
            entries = [path / name for name in sorted(os.listdir(path)) if not _is_hidden(name)]
        parts = [entry for entry in entries if table_format(entry.name) is not None or entry.is_dir()]
        _check_no_links(parts)
        log = next((part for part in parts if not part.is_dir()), None)
        if log is not None and path != start and "=" not in path.name:  # perhaps another log
            raise InputError(
                f"{start} has files in a folder inside it ({log.relative_to(start)}): name a folder "
                "that has all of them side by side, or in folders such as month=2026-01."
            )
        pending += parts


def _partition(path: Path, root: Path) -> dict[str, str | None]:
    """Return the columns that the Hive folders between the root and a file add to it."""
    folders = [name.partition("=") for name in path.relative_to(root).parts[:-1] if "=" in name]
    with guard(f"the name of a folder of {str(path)!r}", "Rename it."):  # its bytes may be invalid UTF-8
        columns = [
            (_unquote(key), None if value == _NULL_PARTITION else _unquote(value))
            for key, _, value in folders
        ]
    names = [name for name, _ in columns]
    if len(set(names)) < len(names) or "" in names:
        raise InputError(
            f"{path} lies in folders that name a column twice, or none: {join_few(map(repr, names))}."
        )
    return dict(columns)


def _unquote(name: str) -> str:
    text = unquote(name, errors="strict")
    text.encode()  # raises an error for a lone surrogate
    return text


def _check_consistent(files: list[File]) -> None:
    """Check that files have one format, are distinct, and get the same columns from their folders."""
    first = files[0]
    path_by_name: dict[str, Path] = {}
    for file in files:
        name = str(file.path)
        twin = path_by_name.setdefault(name[: len(name) - len(file.compression)], file.path)
        if twin is not file.path:
            raise InputError(
                f"{twin} and {file.path} have the same name, packed and not, and may be the same rows: "
                "leave one of them out."
            )
        if file.format != first.format:
            raise InputError(
                f"{first.path} and {file.path} are of different kinds, {first.format} and {file.format}: "
                "expected one kind."
            )
        expected, names = list(first.partition), list(file.partition)
        if names != expected:
            raise InputError(
                f"{first.path} and {file.path} are in folders of different columns, {expected} and {names}: "
                "put all files into folders of the same ones."
            )
