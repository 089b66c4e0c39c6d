"""What worker processes are at, in files that outlive them: when one died, its parent reads where and why.

No Python code runs in a process whose code in C neither returns nor lets go of the interpreter. But a timer
of `faulthandler` does: it ends the process when a deadline has passed, and first says so in its note.
"""

import contextlib
import faulthandler
import os
import shutil
import signal
import threading
import time
from collections.abc import Iterator
from pathlib import Path
from typing import IO, ClassVar

import attrs

from faithkit.run.explaining.timeout import LONGEST

STARTING = -1  # in place of a chunk's number
WHOLE = -1  # in place of a row's


@attrs.frozen
class Note:
    """A worker's note, in the folder of the run that it works for: the chunk and the row that it is at."""

    folder: Path
    file: IO[str]
    mine: ClassVar["Note | None"] = None  # of this process

    @classmethod
    def begun(cls, folder: Path) -> "Note":
        """Begin the note of this process."""
        return cls(folder, (folder / f"{os.getpid()}.note").open("w"))

    @classmethod
    def of_worker(cls, folder: Path, parent: int) -> "Note":
        """Return the note of this worker, which serves a parent, and one run after the other."""
        assert os.getpid() != parent
        if cls.mine is None:
            # Ctrl-C reaches the workers too; it is the parent's to end them, and to say so once
            signal.signal(signal.SIGINT, signal.SIG_IGN)
            threading.Thread(target=cls._watch, args=(parent,), daemon=True).start()
        if cls.mine is None or cls.mine.folder != folder:
            cls.mine = cls.begun(folder)
        return cls.mine

    @classmethod
    def _watch(cls, parent: int) -> None:
        """End with the parent, however that ends, and leave nothing of it behind."""
        while os.getppid() == parent:
            time.sleep(0.5)
        if cls.mine is not None:
            shutil.rmtree(cls.mine.folder, ignore_errors=True)
        os._exit(1)

    def at(self, chunk: int, row: int = WHOLE) -> None:
        """Note what comes next."""
        self.done()
        self.file.write(f"{chunk} {row}\n")
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

    chunk: int
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
    ([LastWords(chunk=3, row=2, overdue=False)], [])
    """
    found = []
    for file in sorted(folder.glob("*.note")):
        what, _, more = file.read_text(errors="replace").partition("\n")
        file.unlink()
        if what:
            chunk, row = map(int, what.split())
            found.append(LastWords(chunk, row, overdue=bool(more)))
    return found
