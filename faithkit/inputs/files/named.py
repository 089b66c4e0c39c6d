"""The files that a path names: one, those of a folder, or those that a pattern finds, in their own order.

What the folders between say of their files, as Hive writes it (month=2026-01/part-0.parquet), is a column.
Links are refused: they lead to other places than the one that somebody named, or back to it without end.
"""

import glob
import os
from collections.abc import Iterator
from itertools import takewhile
from os import PathLike
from pathlib import Path
from urllib.parse import unquote

import attrs

from faithkit.errors import InputError
from faithkit.foreign import foreign
from faithkit.inputs.files.paths import is_folder
from faithkit.wording import few, listing

CSV, JSON, PARQUET = "CSV", "JSON Lines", "Parquet"
KINDS = {".csv": CSV, ".jsonl": JSON, ".ndjson": JSON, ".parquet": PARQUET}
PACKINGS = (".gz", ".bz2", ".xz", ".zst")
DEEPEST = 50  # folders in folders
_LINK = "{} is a link; expected files and folders themselves. Name what it leads to, or copy it there."
_NOTHING = "__HIVE_DEFAULT_PARTITION__"  # what Hive writes for a missing value


@attrs.frozen
class File:
    """A file of rows: of which kind, how it is packed, and what its folders say of all of its rows."""

    path: Path
    kind: str
    packing: str = ""
    partition: tuple[tuple[str, str | None], ...] = ()


def files_of(path: str | PathLike[str]) -> list[File]:
    """Return the files that a path names, all of one kind, in the order of their names.

    A path that is there as it stands is no pattern, whatever stars or brackets are in it.

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
        root, found = _root(os.fspath(path)), [file for place in matches(path) for file in _inside(place)]
        where = f"the pattern {os.fspath(path)} finds"
    elif is_folder(path):
        root, found = Path(path), list(_inside(Path(path)))
        where = f"the folder {os.fspath(path)} has"
    else:
        return [_one(Path(path))]
    files = [_file(file, root) for file in sorted(found, key=lambda file: file.parts)]
    if not files:
        raise InputError(f"{where} no file that ends in {listing(KINDS, 'or')}: name the folder of a log.")
    _check_together(files)
    return files


def is_pattern(path: str | PathLike[str]) -> bool:
    """Return whether a path is a pattern, such as logs/2026-*.csv, and not the name of something.

    Examples
    --------
    >>> is_pattern("logs/2026-*.csv"), is_pattern("log.csv")
    (True, False)
    """
    return not os.path.lexists(path) and glob.has_magic(os.fspath(path))


def matches(pattern: str | PathLike[str]) -> list[Path]:
    """Return what a pattern finds; what programs hide is not found, and links are refused."""
    with foreign(f"looking for {os.fspath(pattern)}", "Check the pattern."):
        found = [Path(place) for place in sorted(glob.glob(os.fspath(pattern)))]
    root = _root(os.fspath(pattern))
    shown = [place for place in found if not any(map(is_hidden, place.relative_to(root).parts))]
    if not shown:
        raise InputError(f"no file matches {os.fspath(pattern)}. Check the pattern, and put it in quotes.")
    for place in shown:
        inside = place.relative_to(root)
        for part in (inside, *inside.parents[:-1]):
            if (root / part).is_symlink():
                raise InputError(_LINK.format(root / part))
    return shown


def kind_of(name: str) -> tuple[str, str] | None:
    """Return the kind and the packing that a file's name ends in; None where it is no table's.

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
    """Refuse two files that differ in their packing only, a.csv and a.csv.gz: they may be the same rows."""
    seen: dict[str, Path] = {}
    for path in paths:
        _, packing = kind_of(path.name) or ("", "")
        twin = seen.setdefault(str(path)[: len(str(path)) - len(packing)], path)
        if twin is not path:
            raise InputError(
                f"{twin} and {path} have the same name, packed and not, and may be the same rows: "
                "leave one of them out."
            )


def is_hidden(name: str) -> bool:
    """Whether a name is one that programs give to what is not yet, or not, a part of the data."""
    return name.startswith((".", "_"))


def _one(path: Path) -> File:
    found = kind_of(path.name)
    if found is None:
        packed = f"or .csv and JSON Lines packed ({', '.join(PACKINGS)})"
        raise InputError(
            f"{path} has the suffix {path.suffix!r}; expected {listing(KINDS, 'or')}, {packed}. Convert it."
        )
    return File(path, *found)


def _root(pattern: str) -> Path:
    """Return the folder that a pattern names without wildcards."""
    parts = Path(pattern).parts[:-1]
    return Path(*takewhile(lambda part: not glob.has_magic(part), parts))


def _inside(place: Path) -> Iterator[Path]:
    """Yield the files of a folder and of those inside it that say something of them; a file is itself."""
    waiting = [place]
    while waiting:
        here = waiting.pop()
        if not is_folder(here):
            yield here
            continue
        if len(here.parts) - len(place.parts) > DEEPEST:
            raise InputError(f"{place} has folders more than {DEEPEST} deep; expected those of a log.")
        entries = log_entries(here)
        if here != place and "=" not in here.name:
            _check_no_logs(place, entries)
        waiting += entries


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


def _check_no_logs(folder: Path, entries: list[Path]) -> None:
    """Refuse files in a folder whose name says nothing of them: they may be of another log."""
    log = next((entry for entry in entries if kind_of(entry.name) is not None), None)
    if log is not None:
        raise InputError(
            f"{folder} has files in a folder inside it ({log.relative_to(folder)}): name a folder "
            "that has all of them side by side, or in folders such as month=2026-01."
        )


def _file(path: Path, root: Path) -> File:
    folders = [name.partition("=") for name in path.relative_to(root).parts[:-1] if "=" in name]
    with foreign(f"the name of a folder of {str(path)!r}", "Rename it."):  # its bytes need not be UTF-8
        said = [(_text(key), None if value == _NOTHING else _text(value)) for key, _, value in folders]
    names = [name for name, _ in said]
    if len(set(names)) < len(names) or "" in names:
        raise InputError(
            f"{path} lies in folders that name a column twice, or none: {few(map(repr, names))}."
        )
    return attrs.evolve(_one(path), partition=tuple(said))


def _text(name: str) -> str:
    found = unquote(name, errors="strict")
    found.encode()
    return found


def _check_together(files: list[File]) -> None:
    """Refuse files of several kinds, files twice, and those of which folders say different things."""
    first = files[0]
    check_packed_once([file.path for file in files])
    for file in files:
        if file.kind != first.kind:
            raise InputError(
                f"{first.path} and {file.path} are of different kinds, {first.kind} and {file.kind}: "
                "expected one kind."
            )
        mine, theirs = ([name for name, _ in one.partition] for one in (first, file))
        if mine != theirs:
            raise InputError(
                f"{first.path} and {file.path} are in folders of different columns, {mine} and {theirs}: "
                "put all files into folders of the same ones."
            )
