"""Read text files as streams, and decompress them on the way, in bounded memory."""

import bz2
import gzip
import io
import lzma
import zlib
from collections.abc import Callable
from typing import Any, BinaryIO

import pyarrow as pa

from faithkit.errors import InputError
from faithkit.inputs.files.discovery import File
from faithkit.third_party import guard
from faithkit.wording import describe

LONGEST_ROW = 2**24  # bytes; also the size of a batch that is read at once


def _zstandard(file: BinaryIO) -> pa.CompressedInputStream:
    return pa.CompressedInputStream(pa.PythonFile(file), "zstd")


_DECOMPRESS: dict[str, tuple[str, Callable[[BinaryIO], Any]]] = {
    ".gz": ("gzip", gzip.open),
    ".bz2": ("bzip2", bz2.open),
    ".xz": ("xz", lzma.open),
    ".zst": ("zstd", _zstandard),
}
_DAMAGED = (OSError, EOFError, zlib.error, lzma.LZMAError)


class TextStream(io.RawIOBase):
    """The decompressed bytes of a file, followed by `ending`.

    Examples
    --------
    >>> import tempfile
    >>> from pathlib import Path
    >>> path = Path(tempfile.mkdtemp(), "log.csv.gz")
    >>> _ = path.write_bytes(gzip.compress(b"label,phi"))
    >>> with TextStream(File(path, "CSV", ".gz")) as stream:
    ...     stream.read(5), stream.read(5)
    (b'label', b',phi')
    """

    def __init__(self, file: File, ending: bytes = b"") -> None:
        self._file, self._ending = file, ending
        with guard(f"reading {file.path}", "Check the file."):
            self._raw = open(file.path, "rb")  # noqa: SIM115 (closed with the stream)
        self._compression, decompress = _DECOMPRESS.get(file.compression, ("", None))
        self._content: Any = self._raw if decompress is None else self._decompress(decompress, self._raw)

    def readable(self) -> bool:
        """Return True."""
        return True

    def read(self, size: int = -1) -> bytes:
        """Return at most `size` bytes, or all bytes by default; return none at the end."""
        if size < 0:
            return self.readall()
        content: bytes = self._decompress(self._content.read, size)
        if b"\0" in content:  # stop at once: such a file may be endless
            raise InputError(
                f"{self._file.path} has NUL bytes: it is damaged, or not in UTF-8. Save it as UTF-8."
            )
        if not content:
            content, self._ending = self._ending[:size], self._ending[size:]
        return content

    def readinto(self, buffer: Any) -> int:
        """Read bytes into a buffer, and return their number."""
        content = self.read(len(buffer))
        buffer[: len(content)] = content
        return len(content)

    def close(self) -> None:
        """Close the file."""
        self._raw.close()
        super().close()

    def _decompress(self, function: Callable[[Any], Any], argument: Any) -> Any:
        """Call a function that decompresses, and explain the error if the file is damaged."""
        try:
            return function(argument)
        except _DAMAGED as error:
            if not self._compression:
                raise
            raise InputError(
                f"{self._file.path} is not a whole {self._compression} file ({describe(error)}). "
                "Fetch it again."
            ) from error
