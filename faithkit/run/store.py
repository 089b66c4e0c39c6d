"""A folder of finished chunks: what a killed run has done is not done again.

A chunk's name is a digest of everything that determines it. It is written beside its place and then
renamed, and carries a checksum: a reader finds it whole or not at all. Any number of runs and workers
may share a store; equal names hold equal content, so whoever is last changes nothing.
"""

import errno
import hashlib
import json
import os
import time
import uuid
from pathlib import Path
from typing import Any

import attrs

from faithkit.errors import StoreError
from faithkit.run.serial import Chunk

MAGIC = b"faithkit chunk 1\n"
DIGEST = 16
ABANDONED = 3600  # seconds after which an unfinished file is nobody's any more


@attrs.frozen
class Store:
    """Chunks of explanations under a folder.

    Examples
    --------
    >>> import tempfile, numpy as np
    >>> from faithkit import Explanations
    >>> store = Store(Path(tempfile.mkdtemp()))
    >>> chunk = Chunk(Explanations.of(["a"]), np.array([0]), [None])
    >>> store.write(digest("a question"), chunk)
    >>> store.read(digest("a question")).found.values
    array(['a'], dtype=object)
    >>> store.read(digest("another")) is None
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

    def read(self, key: str) -> Chunk | None:
        """Return a chunk, or None where there is none or it is damaged."""
        try:
            data = self._path(key).read_bytes()
        except FileNotFoundError:
            return None
        except OSError as error:
            raise self._trouble(error) from None
        body = data[len(MAGIC) + DIGEST :]
        if data[: len(MAGIC)] != MAGIC or data[len(MAGIC) : len(MAGIC) + DIGEST] != _checksum(body):
            return None
        try:
            return Chunk.load(body)
        except (ValueError, KeyError, TypeError):  # another version's format
            return None

    def write(self, key: str, chunk: Chunk) -> None:
        """Keep a chunk."""
        body = chunk.dump()
        place = self._path(key)
        unfinished = place.parent / f".unfinished-{uuid.uuid4().hex}"
        try:
            place.parent.mkdir(parents=True, exist_ok=True)
            try:
                unfinished.write_bytes(MAGIC + _checksum(body) + body)
                os.replace(unfinished, place)
            except BaseException:
                unfinished.unlink(missing_ok=True)
                raise
        except OSError as error:
            raise self._trouble(error) from None

    def _path(self, key: str) -> Path:
        return self.folder / key[:2] / f"{key}.chunk"

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


def digest(*facts: Any) -> str:
    """Return 32 hex digits that name some JSON values and bytes."""
    found = hashlib.blake2b(digest_size=16)
    for fact in facts:
        found.update(fact if isinstance(fact, bytes) else json.dumps(fact, sort_keys=True).encode())
        found.update(b"\0")
    return found.hexdigest()


def _checksum(body: bytes) -> bytes:
    return hashlib.blake2b(body, digest_size=DIGEST).digest()
