"""A folder that keeps the results of chunks, so that a run that was killed does not repeat them.

The key of a result covers everything that determines it. A result is written to a temporary file, flushed to
disk, and then renamed. So a reader finds a complete file or none. Any number of runs and workers may share a
store: equal keys have equal content, so it does not matter which of them writes last.
"""

import contextlib
import errno
import os
import time
import uuid
from pathlib import Path

import attrs

from faithkit.errors import StoreError
from faithkit.run.explaining.chunk_result import ChunkResult

ABANDONED_AFTER = 3600  # seconds after which no run will finish an unfinished file


@attrs.frozen
class Store:
    """Results of chunks in a folder, each in a file named by its key.

    Examples
    --------
    >>> import tempfile
    >>> from faithkit import Explanations
    >>> store = Store(Path(tempfile.mkdtemp()))
    >>> store.write("a key", ChunkResult(Explanations.of(["a"]), [None]))
    >>> store.read("a key").explanations.values
    array(['a'], dtype=object)
    >>> store.read("another key") is None
    True
    """

    folder: Path = attrs.field(converter=Path)

    def open(self) -> "Store":
        """Create the folder, and delete unfinished files of killed runs."""
        try:
            self.folder.mkdir(parents=True, exist_ok=True)
        except OSError as error:
            raise self._store_error(error) from None
        for file in self.folder.glob("*/.unfinished-*"):
            try:
                if time.time() - file.stat().st_mtime > ABANDONED_AFTER:
                    file.unlink()
            except OSError:
                continue  # another run has deleted the file, or uses it
        return self

    def read(self, key: str) -> ChunkResult | None:
        """Return the result under a key, or None if there is none.

        Raises
        ------
        ValueError
            If the file is damaged, or belongs to another key.
        """
        try:
            data = self._path(key).read_bytes()
        except FileNotFoundError:
            return None
        except OSError as error:
            raise self._store_error(error) from None
        return ChunkResult.load(data, key)

    def write(self, key: str, result: ChunkResult) -> None:
        """Write a result under a key."""
        data = result.dump(key)
        path = self._path(key)
        unfinished = path.parent / f".unfinished-{uuid.uuid4().hex}"
        try:
            path.parent.mkdir(parents=True, exist_ok=True)
            try:
                with unfinished.open("wb") as file:
                    file.write(data)
                    file.flush()
                    os.fsync(file.fileno())
                os.replace(unfinished, path)
            except BaseException:
                unfinished.unlink(missing_ok=True)
                raise
        except OSError as error:
            raise self._store_error(error) from None
        _flush_folder(path.parent)

    def _path(self, key: str) -> Path:
        return self.folder / key[:2] / f"{key}.npz"

    def _store_error(self, error: OSError) -> StoreError:
        advice = {
            errno.ENOSPC: "free some space",
            errno.EDQUOT: "free some space",
            errno.EROFS: "make it writable",
            errno.EACCES: "make it writable",
            errno.ENOTDIR: "name a folder",
            errno.EEXIST: "name a folder",
        }.get(error.errno or 0, "repair it")
        return StoreError(
            f"the store {self.folder} cannot be used ({error.strerror}): {advice}, or name another. "
            "What it keeps is intact, and the same command goes on from there."
        )


def _flush_folder(folder: Path) -> None:
    """Flush a folder to disk, so that a renamed file survives a power cut, where the system allows it."""
    with contextlib.suppress(OSError):
        handle = os.open(folder, os.O_RDONLY)
        try:
            os.fsync(handle)
        finally:
            os.close(handle)
