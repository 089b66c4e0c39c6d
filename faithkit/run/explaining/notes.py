"""What worker processes are at, in files that outlive them: when one died, its parent reads where and why.

No Python code runs in a process whose code in C neither returns nor lets go of the interpreter. But a timer
of `faulthandler` does: it ends the process when a deadline has passed, and first says so in its note.
"""

import contextlib
import faulthandler
import os
from collections.abc import Iterator
from pathlib import Path
from typing import IO

import attrs

from faithkit.run.explaining.timeout import LONGEST

STARTING = -1  # in place of a task's number
WHOLE = -1  # in place of a row's


@attrs.frozen
class Note:
    """A worker's note: the task and the row that it is at."""

    file: IO[str]

    @classmethod
    def begun(cls, folder: Path) -> "Note":
        """Begin the note of this process."""
        return cls((folder / f"{os.getpid()}.note").open("w"))

    def at(self, task: int, row: int = WHOLE) -> None:
        """Note what comes next."""
        self.done()
        self.file.write(f"{task} {row}\n")
        self.file.flush()

    def done(self) -> None:
        """Note that there is nothing more to do."""
        self.file.seek(0)
        self.file.truncate()

    @contextlib.contextmanager
    def deadline(self, seconds: float) -> Iterator[None]:
        """End this process if the body takes longer."""
        faulthandler.dump_traceback_later(min(seconds, LONGEST), exit=True, file=self.file)
        try:
            yield
        finally:
            faulthandler.cancel_dump_traceback_later()


@attrs.frozen
class LastWords:
    """What the note of a dead worker says: what it was at, and whether a deadline ended it."""

    task: int
    row: int
    overdue: bool


def last_words(folder: Path) -> list[LastWords]:
    """Read the notes of dead workers, and throw them away.

    Examples
    --------
    >>> import tempfile
    >>> folder = Path(tempfile.mkdtemp())
    >>> Note.begun(folder).at(3, row=2)
    >>> last_words(folder), last_words(folder)
    ([LastWords(task=3, row=2, overdue=False)], [])
    """
    found = []
    for file in sorted(folder.glob("*.note")):
        what, _, more = file.read_text(errors="replace").partition("\n")
        file.unlink()
        if what:
            task, row = map(int, what.split())
            found.append(LastWords(task, row, overdue=bool(more)))
    return found
