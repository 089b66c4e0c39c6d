"""What is one batch: a file, a folder of files, or each day of a folder that is partitioned by date."""

import datetime as dt
import os
from collections.abc import Iterator
from pathlib import Path
from typing import Any
from urllib.parse import unquote

import attrs

from faithkit.errors import InputError
from faithkit.foreign import foreign
from faithkit.inputs.files.named import KINDS, is_hidden, is_pattern, kind_of, matches
from faithkit.inputs.files.paths import is_folder
from faithkit.inputs.logs.opening import open_log
from faithkit.inputs.predictions.outcome import Outcome
from faithkit.run.components import Given
from faithkit.run.monitoring.tallies import Tallies
from faithkit.wording import listing


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
        files = _files(self.path) if is_folder(self.path) else [self.path]
        kind = None if outcome is None or outcome.is_a_guess else outcome.kind
        logs = (open_log(str(file), columns.prediction, columns.explanation, outcome=kind) for file in files)
        return Tallies.united(Tallies.of_log(log, discretizer, outcome) for log in logs)


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
        return [batch for place in matches(path) for batch in batches(place)]
    if not is_folder(path):
        return [Batch(Path(path))]
    given = Path(path).absolute()
    if "=" in given.name and _written_date(given) is not None:
        return [Batch(given, given.name)]
    entries = _entries(given)
    days = [entry for entry in entries if "=" in entry.name and entry.is_dir()]
    if not days:
        return [Batch(given)]
    beside = [entry for entry in entries if entry not in days and (entry.is_dir() or _is_log(entry))]
    if beside:
        raise InputError(f"{beside[0]} lies beside folders of days: put it into one, or somewhere else.")
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


def _files(folder: Path) -> Iterator[Path]:
    """Yield all logs of a folder and of those inside it, by name; what programs hide is none."""
    found = False
    for entry in _entries(folder):
        found = True
        if entry.is_dir():
            yield from _files(entry)
        elif _is_log(entry):
            yield entry
        else:
            raise InputError(f"{entry} is no log; expected a file that ends in {listing(KINDS, 'or')}.")
    if not found:
        raise InputError(f"the folder {folder} has no files: expected logs. Remove it, or wait until it has.")


def _is_log(file: Path) -> bool:
    return kind_of(file.name) is not None


def _entries(folder: Path) -> list[Path]:
    with foreign(f"reading the folder {folder}", "Check that you may look into it."):
        return [folder / name for name in sorted(os.listdir(folder)) if not is_hidden(name)]
