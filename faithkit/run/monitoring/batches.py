"""What is one batch: a file, a folder of files, or each day of a folder that is partitioned by date."""

import datetime as dt
import os
from collections.abc import Iterator
from pathlib import Path
from urllib.parse import unquote

import attrs

from faithkit.errors import InputError
from faithkit.foreign import foreign
from faithkit.inputs.logs import open_log
from faithkit.inputs.parquet import is_hidden
from faithkit.inputs.paths import is_folder
from faithkit.run.components import Given
from faithkit.run.monitoring.tallies import Tallies
from faithkit.wording import listing

SUFFIXES = (".parquet", ".csv", ".csv.gz")


@attrs.frozen
class Columns:
    """Which columns of a log are what, by name or pattern."""

    prediction: str
    explanation: tuple[str, ...]


@attrs.frozen
class Batch:
    """Files that are one look; of a folder by date, `partition` says which day they are."""

    name: str
    files: tuple[Path, ...]
    partition: str = ""

    def read(self, columns: Columns, discretizer: Given) -> Tallies:
        """Count all rows of all files."""
        logs = (open_log(str(file), columns.prediction, columns.explanation) for file in self.files)
        return Tallies.united(Tallies.of_log(log, discretizer) for log in logs)


def batches(path: str | Path) -> list[Batch]:
    """Return the batches that a path names, those of a folder by date in the order of their dates.

    Examples
    --------
    >>> import tempfile
    >>> folder = Path(tempfile.mkdtemp())
    >>> for day in ("2026-11-15", "2026-11-14"):
    ...     (folder / f"date={day}").mkdir()
    ...     _ = (folder / f"date={day}" / "log.csv").write_text("label,why\\nyes,a\\n")
    >>> [batch.name for batch in batches(folder)]
    ['date=2026-11-14', 'date=2026-11-15']
    """
    given = Path(path)
    if not is_folder(given):
        return [Batch(given.name, (given,))]
    if "=" in given.resolve().name:
        return [_partition(given.resolve())]
    inside = [folder for folder in _entries(given) if folder.is_dir() and "=" in folder.name]
    if not inside:
        return [Batch(given.resolve().name, tuple(_files(given)))]
    return [_partition(folder) for folder in sorted(inside, key=_date)]


def is_dated(path: str | Path) -> bool:
    """Whether a path names a folder of days, and not one of them: it is named again every day."""
    given = Path(path)
    days = is_folder(given) and "=" not in given.resolve().name
    return days and any("=" in entry.name and entry.is_dir() for entry in _entries(given))


def _partition(folder: Path) -> Batch:
    _date(folder)
    return Batch(folder.name, tuple(_files(folder)), folder.name)


def _date(folder: Path) -> dt.datetime:
    """Return the date that a folder is of, which is the end of its name: date=2026-11-14."""
    text = unquote(folder.name.partition("=")[2])
    try:
        found = dt.datetime.fromisoformat(text)
    except ValueError:
        raise InputError(
            f"the folder {folder} is of {text!r}, which is no date as in date=2026-11-14: name the files "
            "one by one, in their order."
        ) from None
    return found if found.tzinfo else found.replace(tzinfo=dt.UTC)


def _files(folder: Path) -> Iterator[Path]:
    """Yield all logs of a folder and of those inside it, by name; what programs hide is none."""
    found = False
    for entry in _entries(folder):
        found = True
        if entry.is_dir():
            yield from _files(entry)
        elif entry.name.lower().endswith(SUFFIXES):
            yield entry
        else:
            raise InputError(f"{entry} is no log; expected a file that ends in {listing(SUFFIXES, 'or')}.")
    if not found:
        raise InputError(f"the folder {folder} has no files: expected logs. Remove it, or wait until it has.")


def _entries(folder: Path) -> list[Path]:
    with foreign(f"reading the folder {folder}", "Check that you may look into it."):
        return [folder / name for name in sorted(os.listdir(folder)) if not is_hidden(name)]
