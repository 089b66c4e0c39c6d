"""List the files that a path names: one file, those of a folder, or those that a pattern matches.

Hive folders (month=2026-01/part-0.parquet) add a column to their files. Links are refused: they lead outside
of the folder that was named, or back into it without end. Only regular files are opened: a pipe would block.
"""

import glob
import os
import stat
from collections import Counter
from collections.abc import Iterator, Sequence
from itertools import takewhile
from os import PathLike
from pathlib import Path
from urllib.parse import unquote

import attrs

from faithkit.errors import InputError
from faithkit.foreign import foreign
from faithkit.wording import describe, few, listing, one_line

CSV, JSON, PARQUET = "CSV", "JSON Lines", "Parquet"
KINDS = {".csv": CSV, ".jsonl": JSON, ".ndjson": JSON, ".parquet": PARQUET}
PACKINGS = (".gz", ".bz2", ".xz", ".zst")
_LINK = "{} is a link; expected files and folders themselves. Name what it leads to, or copy it there."
_NULL_PARTITION = "__HIVE_DEFAULT_PARTITION__"
_SPECIAL_FILES = {
    stat.S_IFIFO: "a pipe",
    stat.S_IFSOCK: "a socket",
    stat.S_IFCHR: "a device",
    stat.S_IFBLK: "a device",
}


@attrs.frozen
class File:
    """A file of rows: its kind, its compression, and the columns that its folders add."""

    path: Path
    kind: str
    packing: str = ""
    partition: tuple[tuple[str, str | None], ...] = ()


def files_of(path: str | PathLike[str]) -> list[File]:
    """Return the files that a path names, all of one kind, in the order of their names.

    A path that exists is not a pattern, whatever stars or brackets are in it.

    Examples
    --------
    >>> import tempfile
    >>> folder = Path(tempfile.mkdtemp())
    >>> for month in ("2026-02", "2026-01"):
    ...     (folder / f"month={month}").mkdir()
    ...     _ = (folder / f"month={month}" / "log.csv").write_text("label,phi")
    >>> [file.partition for file in files_of(folder)]
    [(('month', '2026-01'),), (('month', '2026-02'),)]
    """
    if is_pattern(path):
        root, places = _root(os.fspath(path)), matches(path)
        where = f"the pattern {os.fspath(path)} finds"
    elif is_folder(path):
        root, places = Path(path), [Path(path)]
        where = f"the folder {os.fspath(path)} has"
    else:
        return [_file(Path(path))]
    paths = sorted((file for place in places for file in _files_in(place)), key=lambda file: file.parts)
    if not paths:
        raise InputError(f"{where} no file that ends in {listing(KINDS, 'or')}: name the folder of a log.")
    files = [attrs.evolve(_file(file), partition=_partition(file, root)) for file in paths]
    _check_together(files)
    return files


def is_folder(path: str | PathLike[str]) -> bool:
    """Return whether a path names a folder; False is a regular file, and anything else is refused.

    Examples
    --------
    >>> is_folder(os.curdir), is_folder(__file__)
    (True, False)
    >>> is_folder(os.devnull)
    Traceback (most recent call last):
    ...
    faithkit.errors.InputError: /dev/null is a device; expected a regular file. Copy what it gives into one.
    """
    text = os.fspath(path)
    shown = one_line(text if text.isprintable() else repr(text))
    try:
        mode = os.stat(path).st_mode
    except FileNotFoundError:
        raise InputError(f"there is no file {shown}. Check the path.") from None
    except (OSError, ValueError) as error:  # a folder that may not be searched, too long a name, a NUL in it
        raise InputError(f"{shown} cannot be read ({describe(error)}). Check the path.") from None
    if not stat.S_ISDIR(mode) and not stat.S_ISREG(mode):
        kind = _SPECIAL_FILES.get(stat.S_IFMT(mode), "no file")
        raise InputError(f"{shown} is {kind}; expected a regular file. Copy what it gives into one.")
    return stat.S_ISDIR(mode)


def is_pattern(path: str | PathLike[str]) -> bool:
    """Return whether a path is a pattern, such as logs/2026-*.csv, and not the name of something.

    Examples
    --------
    >>> is_pattern("logs/2026-*.csv"), is_pattern("log.csv")
    (True, False)
    """
    return not os.path.lexists(path) and glob.has_magic(os.fspath(path))


def matches(pattern: str | PathLike[str]) -> list[Path]:
    """Return what a pattern matches, without hidden names; links are refused."""
    with foreign(f"looking for {os.fspath(pattern)}", "Check the pattern."):
        places = [Path(place) for place in sorted(glob.glob(os.fspath(pattern)))]
    root = _root(os.fspath(pattern))
    shown = [place for place in places if not any(map(is_hidden, place.relative_to(root).parts))]
    if not shown:
        raise InputError(f"no file matches {os.fspath(pattern)}. Check the pattern, and put it in quotes.")
    for place in shown:
        inside = place.relative_to(root)
        for part in (inside, *inside.parents[:-1]):
            if (root / part).is_symlink():
                raise InputError(_LINK.format(root / part))
    return shown


def kind_of(name: str) -> tuple[str, str] | None:
    """Return the kind and the compression that a file's name ends in; None if it is not a table's name.

    Examples
    --------
    >>> kind_of("log.csv.gz"), kind_of("log.txt")
    (('CSV', '.gz'), None)
    """
    packing = next((packing for packing in PACKINGS if name.lower().endswith(packing)), "")
    suffix = os.path.splitext(name[: len(name) - len(packing)])[1].lower()
    kind = KINDS.get(suffix)
    return None if kind is None or (packing and kind == PARQUET) else (kind, packing)


def check_packed_once(paths: list[Path]) -> None:
    """Refuse files that differ in their compression only, a.csv and a.csv.gz: they may be the same rows."""
    seen: dict[str, Path] = {}
    for path in paths:
        _, packing = kind_of(path.name) or ("", "")
        twin = seen.setdefault(str(path)[: len(str(path)) - len(packing)], path)
        if twin is not path:
            raise InputError(
                f"{twin} and {path} have the same name, packed and not, and may be the same rows: "
                "leave one of them out."
            )


def check_names(file: File, names: Sequence[str]) -> None:
    """Refuse a file with several columns of one name, or with one that its folder adds."""
    twice = next((name for name, times in Counter(names).items() if times > 1), None)
    if twice is not None:
        raise InputError(f"{file.path} has several columns {twice!r}: give each column a name of its own.")
    added = next((name for name, _ in file.partition if name in names), None)
    if added is not None:
        raise InputError(
            f"{file.path} has a column {added!r}, and lies in a folder {added}=…: leave one of them out."
        )


def check_same_names(first: File, names: Sequence[str], second: File, others: Sequence[str]) -> None:
    """Refuse two files of one table if they have different columns."""
    for owner, only in ((first, set(names) - set(others)), (second, set(others) - set(names))):
        if only:
            shown = few([name for name in (*names, *others) if name in only])
            raise InputError(
                f"{first.path.name} and {second.path.name} have different columns: only {owner.path.name} "
                f"has {shown}. Give all files of a folder the same columns."
            )


def is_hidden(name: str) -> bool:
    """Return whether programs use such a name for files that are not, or not yet, part of the data."""
    return name.startswith((".", "_"))


def log_entries(folder: Path) -> list[Path]:
    """Return the folders and the files of rows in a folder, by name; links among them are refused.

    Examples
    --------
    >>> import tempfile
    >>> folder = Path(tempfile.mkdtemp())
    >>> for name in ("b.csv", "a.csv", "notes.txt", ".c.csv"):
    ...     (folder / name).touch()
    >>> [entry.name for entry in log_entries(folder)]
    ['a.csv', 'b.csv']
    """
    with foreign(f"reading the folder {folder}", "Check that you may look into it."):
        entries = [folder / name for name in sorted(os.listdir(folder)) if not is_hidden(name)]
    logs = [entry for entry in entries if kind_of(entry.name) is not None or entry.is_dir()]
    for entry in logs:
        kind = kind_of(entry.name)
        if entry.is_symlink():
            raise InputError(_LINK.format(entry))
        if kind is not None and is_folder(entry):
            raise InputError(f"{entry} is a folder; expected a {kind[0]} file. Name it by itself.")
    return logs


def _file(path: Path) -> File:
    kind = kind_of(path.name)
    if kind is None:
        packed = f"or .csv and JSON Lines packed ({', '.join(PACKINGS)})"
        raise InputError(
            f"{path} has the suffix {path.suffix!r}; expected {listing(KINDS, 'or')}, {packed}. Convert it."
        )
    return File(path, *kind)


def _root(pattern: str) -> Path:
    """Return the folder that a pattern names without wildcards."""
    parts = Path(pattern).parts[:-1]
    return Path(*takewhile(lambda part: not glob.has_magic(part), parts))


def _files_in(place: Path) -> Iterator[Path]:
    """Yield the files of a folder and of the Hive folders inside it; a file yields itself."""
    waiting = [place]
    while waiting:
        here = waiting.pop()
        if not is_folder(here):
            yield here
            continue
        entries = log_entries(here)
        log = next((entry for entry in entries if kind_of(entry.name) is not None), None)
        if log is not None and here != place and "=" not in here.name:  # perhaps another log
            raise InputError(
                f"{place} has files in a folder inside it ({log.relative_to(place)}): name a folder "
                "that has all of them side by side, or in folders such as month=2026-01."
            )
        waiting += entries


def _partition(path: Path, root: Path) -> tuple[tuple[str, str | None], ...]:
    """Return the columns that the folders between the root and a file add to it."""
    folders = [name.partition("=") for name in path.relative_to(root).parts[:-1] if "=" in name]
    with foreign(f"the name of a folder of {str(path)!r}", "Rename it."):  # its bytes need not be UTF-8
        columns = [
            (_text(key), None if value == _NULL_PARTITION else _text(value)) for key, _, value in folders
        ]
    names = [name for name, _ in columns]
    if len(set(names)) < len(names) or "" in names:
        raise InputError(
            f"{path} lies in folders that name a column twice, or none: {few(map(repr, names))}."
        )
    return tuple(columns)


def _text(name: str) -> str:
    text = unquote(name, errors="strict")
    text.encode()
    return text


def _check_together(files: list[File]) -> None:
    """Refuse files of several kinds, files twice, and folders that add different columns."""
    first = files[0]
    check_packed_once([file.path for file in files])
    for file in files:
        if file.kind != first.kind:
            raise InputError(
                f"{first.path} and {file.path} are of different kinds, {first.kind} and {file.kind}: "
                "expected one kind."
            )
        names, others = ([name for name, _ in one.partition] for one in (first, file))
        if names != others:
            raise InputError(
                f"{first.path} and {file.path} are in folders of different columns, {names} and {others}: "
                "put all files into folders of the same ones."
            )
