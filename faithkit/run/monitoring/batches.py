"""What is one batch: a file, a folder of files, or each day of a folder that is partitioned by date."""

import datetime as dt
from pathlib import Path
from typing import Any
from urllib.parse import unquote

import attrs

from faithkit.errors import InputError
from faithkit.inputs.files.discovery import check_packed_once, is_folder, is_pattern, log_entries, matches
from faithkit.inputs.logs.opening import open_log
from faithkit.inputs.predictions.outcome import Outcome
from faithkit.run.components import Given
from faithkit.run.monitoring.tallies import Tallies


@attrs.frozen
class Columns:
    """Which columns of a log are what, by name or pattern."""

    prediction: str
    explanation: tuple[str, ...]

    def to_dict(self) -> dict[str, Any]:
        """Return JSON values."""
        return {"prediction": self.prediction, "explanation": list(self.explanation)}


@attrs.frozen
class Batch:
    """A file or a folder that is one look.

    `partition` is the day that it is of, where it is one of a folder by date, and `daily` says that nobody
    named it but the folder that it is in.
    """

    path: Path
    partition: str = ""
    daily: bool = False

    @property
    def name(self) -> str:
        """What it is called."""
        return self.path.name

    def read(self, columns: Columns, discretizer: Given, outcome: Outcome | None = None) -> Tallies:
        """Count all rows of all files; None: what predictions are is for them to say."""
        kind = None if outcome is None or outcome.is_a_guess else outcome.kind
        log = open_log(str(self.path), columns.prediction, columns.explanation, outcome=kind)
        return Tallies.of_log(log, discretizer, outcome)


def batches(path: str | Path) -> list[Batch]:
    """Return the batches that a path names, those of a folder by date in the order of their dates.

    Examples
    --------
    >>> import tempfile
    >>> folder = Path(tempfile.mkdtemp())
    >>> for day in ("2026-11-15", "2026-11-14"):
    ...     (folder / f"date={day}").mkdir()
    >>> [batch.name for batch in batches(folder)]
    ['date=2026-11-14', 'date=2026-11-15']
    """
    if is_pattern(path):
        places = matches(path)
        check_packed_once(places)
        return [batch for place in places for batch in batches(place)]
    if not is_folder(path):
        return [Batch(Path(path))]
    given = Path(path).absolute()
    if "=" in given.name and _written_date(given) is not None:
        return [Batch(given, given.name)]
    entries = log_entries(given)
    days = [entry for entry in entries if "=" in entry.name and entry.is_dir()]
    if not days:
        return [Batch(given)]
    others = [entry for entry in entries if entry not in days]
    if others:
        raise InputError(f"{others[0]} lies beside folders of days: put it into one, or somewhere else.")
    return [Batch(day, day.name, daily=True) for day in sorted(days, key=_date)]


def _date(folder: Path) -> dt.datetime:
    """Return the date that a folder is of, or say that it is of none."""
    found = _written_date(folder)
    if found is None:
        raise InputError(
            f"the folder {folder} is of no date, as date=2026-11-14 is: name the files one by one, in their "
            "order."
        )
    return found if found.tzinfo else found.replace(tzinfo=dt.UTC)


def _written_date(folder: Path) -> dt.datetime | None:
    """Return the date in which a folder's name ends: date=2026-11-14."""
    try:
        return dt.datetime.fromisoformat(unquote(folder.name.partition("=")[2]))
    except ValueError:
        return None
