"""A folder of finished chunks: what a killed run has done is not done again.

A chunk's name is a digest of everything that determines it. It is written beside its place, brought to the
disk and then renamed; it carries a checksum, and the question that it answers. A reader finds it whole and in
its own place, or not at all. Any number of runs and workers may share a store; equal names hold equal
content, so whoever is last changes nothing.
"""

import contextlib
import errno
import hashlib
import json
import os
import re
import stat
import time
import uuid
from pathlib import Path
from typing import Any

import attrs

from faithkit.errors import StoreError
from faithkit.run.explaining.serial import Chunk

MAGIC = b"faithkit chunk 2\n"
DIGEST = 16
ABANDONED = 3600  # seconds after which an unfinished file is nobody's any more


@attrs.frozen
class Question:
    """What a chunk answers: all that determines it (`key`), the content of its rows, and their number."""

    key: str
    rows: str
    n: int


@attrs.frozen
class Store:
    """Chunks of explanations under a folder.

    Examples
    --------
    >>> import tempfile
    >>> from faithkit import Explanations
    >>> store = Store(Path(tempfile.mkdtemp()))
    >>> question = Question(digest("a job", "some rows"), digest("some rows"), 1)
    >>> store.write(question, Chunk(Explanations.of(["a"]), [None]))
    >>> store.read(question).found.values
    array(['a'], dtype=object)
    >>> store.read(Question(digest("a job", "others"), digest("others"), 1)) is None
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

    def read(self, question: Question) -> Chunk | None:
        """Return the chunk that answers a question, None where there is none, or raise ValueError.

        ValueError means that the file is damaged, or that it answers another question.
        """
        place = self._path(question.key)
        try:
            if not stat.S_ISREG(place.stat().st_mode):  # a pipe would be waited for
                raise ValueError("this is no file")
            data = place.read_bytes()
        except FileNotFoundError:
            return None
        except OSError as error:
            raise self._trouble(error) from None
        answered, chunk = unsealed(data)
        if answered != question or len(chunk) != question.n:
            raise ValueError("this chunk answers another question")
        return chunk

    def write(self, question: Question, chunk: Chunk) -> None:
        """Keep a chunk."""
        data = sealed(question, chunk)
        place = self._path(question.key)
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


def sealed(question: Question, chunk: Chunk) -> bytes:
    """Return a chunk's file: what it is, a checksum, the question, and the answer."""
    body = f"{question.key} {question.rows} {question.n}\n".encode() + chunk.dump()
    return MAGIC + _checksum(body) + body


def unsealed(data: bytes) -> tuple[Question, Chunk]:
    """Read a chunk's file; anything else raises ValueError."""
    start = len(MAGIC) + DIGEST
    body = data[start:]
    if data[: len(MAGIC)] != MAGIC or data[len(MAGIC) : start] != _checksum(body):
        raise ValueError("this is no chunk, or a damaged one")
    asked = re.match(rb"([0-9a-f]{32}) ([0-9a-f]{32}) ([0-9]{1,12})\n", body)
    if asked is None:
        raise ValueError("this chunk does not say what it answers")
    key, rows, n = (part.decode() for part in asked.groups())
    return Question(key, rows, int(n)), Chunk.load(body[asked.end() :])


def digest(*facts: Any) -> str:
    """Return 32 hex digits that name some JSON values and bytes."""
    found = hashlib.blake2b(digest_size=16)
    for fact in facts:
        found.update(fact if isinstance(fact, bytes) else json.dumps(fact, sort_keys=True).encode())
        found.update(b"\0")
    return found.hexdigest()


def _checksum(body: bytes) -> bytes:
    return hashlib.blake2b(body, digest_size=DIGEST).digest()


def _bring_to_disk(folder: Path) -> None:
    """Let a renamed file outlive a power cut, too, where the system can promise that."""
    with contextlib.suppress(OSError):
        handle = os.open(folder, os.O_RDONLY)
        try:
            os.fsync(handle)
        finally:
            os.close(handle)
