"""What one batch is: a file, a folder of files, or each day of a folder that is partitioned by date."""

import datetime as dt
import glob
import os
from pathlib import Path
from typing import Any
from urllib.parse import unquote

import attrs

import faithkit

TABLES = {".csv", ".jsonl", ".ndjson", ".parquet"}


@attrs.frozen
class Columns:
    """Which columns of a log have the predictions and the explanations, by name or pattern."""

    prediction: str
    explanation: tuple[str, ...]

    def to_dict(self) -> dict[str, Any]:
        """Return JSON values."""
        return {"prediction": self.prediction, "explanation": list(self.explanation)}


@attrs.frozen
class Batch:
    """A file or a folder that is one look.

    `partition` is the name of the day, where it is one. `is_daily` says that the path named the folder of all
    days, so that the day may have been added before.
    """

    path: Path
    partition: str = ""
    is_daily: bool = False

    @property
    def name(self) -> str:
        """What the batch is called in tables."""
        return self.path.name

    def count(self, columns: Columns, **options: Any) -> faithkit.plugin.RowCounts:
        """Count the rows; an error names the batch."""
        try:
            return faithkit.plugin.count_log(
                str(self.path), prediction=columns.prediction, explanation=columns.explanation, **options
            )
        except faithkit.FaithkitError as error:
            raise error if self.name in str(error) else type(error)(f"{self.name}: {error}") from error


def batches(path: str | Path) -> list[Batch]:
    """Return the batches that a path names; those of a folder by date are sorted by their dates.

    Examples
    --------
    >>> import tempfile
    >>> folder = Path(tempfile.mkdtemp())
    >>> for day in ("2026-11-15", "2026-11-14"):
    ...     (folder / f"date={day}").mkdir()
    >>> [batch.name for batch in batches(folder)]
    ['date=2026-11-14', 'date=2026-11-15']
    """
    if not os.path.lexists(path) and glob.has_magic(str(path)):
        places = sorted(place for place in glob.glob(str(path)) if not _is_hidden(Path(place)))
        if not places:
            raise faithkit.errors.InputError(
                f"no file matches {path}. Check the pattern, and put it in quotes."
            )
        return [batch for place in places for batch in batches(place)]
    folder = Path(path).absolute()
    if not folder.is_dir():
        return [Batch(Path(path))]
    if _date(folder) is not None:
        return [Batch(folder, folder.name)]
    days, others = _days(folder)
    if not days:
        return [Batch(folder)]
    if others:
        raise faithkit.errors.InputError(
            f"{others[0]} lies beside folders of days: put it into one of them, or somewhere else."
        )
    return [Batch(day, day.name, is_daily=True) for day in days]


def _days(folder: Path) -> tuple[list[Path], list[Path]]:
    """Return the folders of days by date, and all other folders and tables; links are refused."""
    days, others = {}, []
    for entry in sorted(folder.iterdir()):
        if _is_hidden(entry):
            continue
        if "=" in entry.name and entry.is_dir():
            date = _date(entry)
            if entry.is_symlink():
                raise faithkit.errors.InputError(
                    f"{entry} is a link; expected files and folders themselves. Name what it leads to."
                )
            if date is None:
                raise faithkit.errors.InputError(
                    f"the folder {entry} has no date such as date=2026-11-14: name the files one by one, in "
                    "their order."
                )
            days[entry] = date
        elif entry.is_dir() or TABLES.intersection(entry.suffixes):
            others.append(entry)
    return sorted(days, key=lambda day: days[day]), others


def _is_hidden(path: Path) -> bool:
    return path.name.startswith((".", "_"))


def _date(folder: Path) -> dt.datetime | None:
    """Return the date that a folder's name ends in, as date=2026-11-14 does."""
    try:
        date = dt.datetime.fromisoformat(unquote(folder.name.partition("=")[2]))
    except ValueError:
        return None
    return date if date.tzinfo else date.replace(tzinfo=dt.UTC)
