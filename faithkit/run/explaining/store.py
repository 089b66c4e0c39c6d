"""A folder of answers to chunks: what a killed run has done is not done again.

The key under which an answer is kept tells of everything that determines it. It is written beside its place,
brought to the disk and then renamed. A reader finds it whole and in its own place, or not at all. Any number
of runs and workers may share a store; equal keys hold equal content, so whoever is last changes nothing.
"""

import contextlib
import errno
import os
import time
import uuid
from pathlib import Path

import attrs

from faithkit.errors import StoreError
from faithkit.run.explaining.answer import Answer

ABANDONED = 3600  # seconds after which an unfinished file is nobody's any more


@attrs.frozen
class Store:
    """Answers under a folder, each by its key.

    Examples
    --------
    >>> import tempfile
    >>> from faithkit import Explanations
    >>> store = Store(Path(tempfile.mkdtemp()))
    >>> store.write("a key", Answer(Explanations.of(["a"]), [None]))
    >>> store.read("a key").explanations.values
    array(['a'], dtype=object)
    >>> store.read("another") is None
    True
    """

    folder: Path = attrs.field(converter=Path)

    def open(self) -> "Store":
        """Make the folder, and clear away what killed runs left unfinished."""
        try:
            self.folder.mkdir(parents=True, exist_ok=True)
        except OSError as error:
            raise self._trouble(error) from None
        for file in self.folder.glob("*/.unfinished-*"):
            try:
                if time.time() - file.stat().st_mtime > ABANDONED:
                    file.unlink()
            except OSError:
                continue  # another run was faster, or may not be disturbed
        return self

    def read(self, key: str) -> Answer | None:
        """Return the answer under a key, None where there is none, or raise ValueError.

        ValueError means that the file is damaged, or that it answers another key.
        """
        try:
            data = self._path(key).read_bytes()
        except FileNotFoundError:
            return None
        except OSError as error:
            raise self._trouble(error) from None
        return Answer.load(data, key)

    def write(self, key: str, answer: Answer) -> None:
        """Keep an answer."""
        data = answer.dump(key)
        place = self._path(key)
        unfinished = place.parent / f".unfinished-{uuid.uuid4().hex}"
        try:
            place.parent.mkdir(parents=True, exist_ok=True)
            try:
                with unfinished.open("wb") as file:
                    file.write(data)
                    file.flush()
                    os.fsync(file.fileno())
                os.replace(unfinished, place)
            except BaseException:
                unfinished.unlink(missing_ok=True)
                raise
        except OSError as error:
            raise self._trouble(error) from None
        _bring_to_disk(place.parent)

    def _path(self, key: str) -> Path:
        return self.folder / key[:2] / f"{key}.npz"

    def _trouble(self, error: OSError) -> StoreError:
        advice = {
            errno.ENOSPC: "free some space",
            errno.EDQUOT: "free some space",
            errno.EROFS: "make it writable",
            errno.EACCES: "make it writable",
            errno.ENOTDIR: "name a folder",
            errno.EEXIST: "name a folder",
        }.get(error.errno or 0, "mend it")
        return StoreError(
            f"the store {self.folder} cannot be used ({error.strerror}): {advice}, or name another. "
            "What it keeps is intact, and the same command goes on from there."
        )


def _bring_to_disk(folder: Path) -> None:
    """Let a renamed file outlive a power cut, too, where the system can promise that."""
    with contextlib.suppress(OSError):
        handle = os.open(folder, os.O_RDONLY)
        try:
            os.fsync(handle)
        finally:
            os.close(handle)
