"""The bytes of files of text, unpacked where they are packed, but no further than could be meant."""

import bz2
import gzip
import lzma
import math
import zlib
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import Any

import pyarrow as pa

from faithkit.errors import InputError
from faithkit.foreign import foreign
from faithkit.inputs.files.named import File
from faithkit.wording import describe

UNPACKED = (
    2**30
)  # bytes that any packed files may unpack to, all together; larger ones to RATIO times their size
RATIO = 100
_CHUNK = 2**24


def _zstandard(file: Any) -> Any:
    return pa.CompressedInputStream(pa.PythonFile(file), "zstd")


_OPEN: dict[str, tuple[str, Callable[[Any], Any]]] = {
    "": ("", lambda file: file),
    ".gz": ("gzip", gzip.open),
    ".bz2": ("bzip2", bz2.open),
    ".xz": ("xz", lzma.open),
    ".zst": ("zstd", _zstandard),
}
_BROKEN = (OSError, EOFError, zlib.error, lzma.LZMAError)


def contents(files: Sequence[File]) -> Iterator[tuple[File, bytearray]]:
    """Yield the bytes of each file; what is packed has room for all of them together.

    Examples
    --------
    >>> import tempfile
    >>> path = Path(tempfile.mkdtemp(), "log.csv.gz")
    >>> _ = path.write_bytes(gzip.compress(b"label,phi"))
    >>> [content for _, content in contents([File(path, "CSV", ".gz")])]
    [bytearray(b'label,phi')]
    """
    packed = sum(file.path.stat().st_size for file in files if file.packing)
    limit, used = max(UNPACKED, RATIO * packed), 0
    for file in files:
        content = _content(file, limit - used if file.packing else math.inf, limit)
        used += len(content) if file.packing else 0
        yield file, content


def _content(file: File, room: float, limit: int) -> bytearray:
    content, path = bytearray(), file.path
    name, unpack = _OPEN[file.packing]
    with foreign(f"reading {path}", "Check the file."), open(path, "rb") as packed:
        chunks = _chunks(unpack(packed)) if not name else _unpacked(path, name, unpack, packed)
        for chunk in chunks:
            if b"\0" in chunk:  # told at once: such a file may be endless
                raise InputError(f"{path} has NUL bytes, so it is not UTF-8 text. Save it as UTF-8.")
            content += chunk
            if len(content) > room:
                raise InputError(
                    f"{path} unpacks to more than {limit // 2**20:,} MiB, {RATIO} times the size of what is "
                    "packed. If that is meant, unpack it first."
                )
    return content


def _unpacked(path: Path, name: str, unpack: Callable[[Any], Any], packed: Any) -> Iterator[bytes]:
    try:
        yield from _chunks(unpack(packed))
    except _BROKEN as error:
        raise InputError(f"{path} is not a whole {name} file ({describe(error)}). Fetch it again.") from error


def _chunks(file: Any) -> Iterator[bytes]:
    while chunk := file.read(_CHUNK):
        yield chunk
