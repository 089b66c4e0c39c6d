"""Unpack archives in memory, up to a size limit, without writing any of their paths to disk."""

import csv
import gzip
import io
import stat
import tarfile
import zipfile
from collections.abc import Iterator
from typing import Any

MAX_BYTES = 2**28  # the largest table has 75 million bytes


class SizeLimitedBuffer(io.BytesIO):
    """A file in memory that raises an error if it grows beyond the limit."""

    def write(self, data: Any) -> int:
        """Append data, or raise an error if the limit is exceeded."""
        if self.tell() + len(data) > MAX_BYTES:
            raise ValueError(f"more than {MAX_BYTES // 2**20} MiB")
        return super().write(data)


def read_limited(file: Any) -> bytes:
    """Read a file up to a limit, because a malicious file could fill the memory."""
    content: bytes = file.read(MAX_BYTES + 1)
    if len(content) > MAX_BYTES:
        raise ValueError(f"more than {MAX_BYTES // 2**20} MiB")
    return content


def read_gzip(file: Any) -> bytes:
    """Read a file that is compressed with gzip."""
    with gzip.GzipFile(fileobj=file) as content:
        return read_limited(content)


def zip_member(archive: bytes, name: str) -> bytes:
    """Return a member of a zip file. Links and devices raise an error."""
    with zipfile.ZipFile(io.BytesIO(archive)) as members:
        mode = members.getinfo(name).external_attr >> 16
        if stat.S_IFMT(mode) not in (0, stat.S_IFREG):
            raise ValueError(f"{name} is no regular file")
        with members.open(name) as file:
            return read_limited(file)


def tar_member(archive: bytes, name: str) -> bytes:
    """Return a member of a tar file, compressed with gzip or already decompressed by the server."""
    if archive.startswith(b"\x1f\x8b"):
        # decompress first: to find a member, tarfile would read a compressed file of any length
        archive = read_gzip(io.BytesIO(archive))
    with tarfile.open(fileobj=io.BytesIO(archive), mode="r:") as members:
        member = members.getmember(name)
        file = members.extractfile(member) if member.isreg() else None
        if file is None:
            raise ValueError(f"{name} is no regular file")
        return read_limited(file)


def csv_rows(content: bytes, delimiter: str = ",") -> Iterator[list[str]]:
    """Yield the rows of a CSV file. Skip empty rows, and strip spaces around values."""
    for row in csv.reader(io.StringIO(content.decode("utf-8"), newline=""), delimiter=delimiter):
        if row:
            yield [value.strip() for value in row]
