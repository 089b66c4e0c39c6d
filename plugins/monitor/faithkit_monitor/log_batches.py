"""The batches of a log: a file, a folder of files, or each day of a folder that is partitioned by date."""

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
    """The columns of a log with the predictions and the explanations, by name or pattern."""

    prediction: str
    explanation: tuple[str, ...]

    def to_dict(self) -> dict[str, Any]:
        """Return JSON values."""
        return {"prediction": self.prediction, "explanation": list(self.explanation)}


@attrs.frozen
class Batch:
    """A file or a folder that is added at once.

    `is_daily` is true if the path names the folder of all days; then the day may have been added before.
    """

    path: Path
    is_daily: bool = False

    @property
    def name(self) -> str:
        """The name of the batch, under which it counts once."""
        return self.path.name

    def count(self, columns: Columns, **options: Any) -> faithkit.plugin.RowCounts:
        """Count the rows; an error names the batch."""
        try:
            return faithkit.plugin.count_log(
                str(self.path), prediction=columns.prediction, explanation=columns.explanation, **options
            )
        except faithkit.errors.FaithkitError as error:
            raise error if self.name in str(error) else type(error)(f"{self.name}: {error}") from error


def list_batches(path: str | Path) -> list[Batch]:
    """Return the batches at a path; the days of a partitioned folder are sorted by date.

    Examples
    --------
    >>> import tempfile
    >>> folder = Path(tempfile.mkdtemp())
    >>> for day in ("2026-11-15", "2026-11-14"):
    ...     (folder / f"date={day}").mkdir()
    >>> [batch.name for batch in list_batches(folder)]
    ['date=2026-11-14', 'date=2026-11-15']
    """
    if not os.path.lexists(path) and glob.has_magic(str(path)):
        matches = sorted(match for match in glob.glob(str(path)) if not _is_hidden(Path(match)))
        if not matches:
            raise faithkit.errors.InputError(
                f"no file matches {path}. Check the pattern, and put it in quotes."
            )
        return [batch for match in matches for batch in list_batches(match)]
    folder = Path(path).absolute()
    if not folder.is_dir():
        return [Batch(Path(path))]
    if _parse_date(folder) is not None:
        return [Batch(folder)]
    days, other_entries = _list_days(folder)
    if not days:
        return [Batch(folder)]
    if other_entries:
        raise faithkit.errors.InputError(
            f"{other_entries[0]} lies beside folders of days: put it into one of them, or somewhere else."
        )
    return [Batch(day, is_daily=True) for day in days]


def _list_days(folder: Path) -> tuple[list[Path], list[Path]]:
    """Return the folders of days in order of date, and all other folders and tables; refuse links."""
    days, other_entries = {}, []
    for entry in sorted(folder.iterdir()):
        if _is_hidden(entry):
            continue
        if "=" in entry.name and entry.is_dir():
            date = _parse_date(entry)
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
            other_entries.append(entry)
    return sorted(days, key=lambda day: days[day]), other_entries


def _is_hidden(path: Path) -> bool:
    return path.name.startswith((".", "_"))


def _parse_date(folder: Path) -> dt.datetime | None:
    """Return the date at the end of a folder's name, such as date=2026-11-14; None without a date."""
    try:
        date = dt.datetime.fromisoformat(unquote(folder.name.partition("=")[2]))
    except ValueError:
        return None
    return date if date.tzinfo else date.replace(tzinfo=dt.UTC)
