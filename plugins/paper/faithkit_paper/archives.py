"""Archives are unpacked in memory, up to a limit, and nothing in them names a place on the disk."""

import csv
import gzip
import io
import stat
import tarfile
import zipfile
from collections.abc import Iterator
from typing import Any

UNPACKED = 2**28  # bytes; the largest of the tables has 75 million


class Limited(io.BytesIO):
    """A file in memory that refuses to grow beyond the limit."""

    def write(self, data: Any) -> int:
        """Append, unless that is too much."""
        if self.tell() + len(data) > UNPACKED:
            raise ValueError(f"more than {UNPACKED // 2**20} MiB")
        return super().write(data)


def limited(file: Any) -> bytes:
    """Read a file that may have been made to fill the memory."""
    content: bytes = file.read(UNPACKED + 1)
    if len(content) > UNPACKED:
        raise ValueError(f"more than {UNPACKED // 2**20} MiB")
    return content


def unpacked(file: Any) -> bytes:
    """Read a file that is packed with gzip."""
    with gzip.GzipFile(fileobj=file) as content:
        return limited(content)


def zip_member(archive: bytes, name: str) -> bytes:
    """Return a member of a zip file; one that is a link or a device has no content of its own."""
    with zipfile.ZipFile(io.BytesIO(archive)) as members:
        mode = members.getinfo(name).external_attr >> 16
        if stat.S_IFMT(mode) not in (0, stat.S_IFREG):
            raise ValueError(f"{name} is no regular file")
        with members.open(name) as file:
            return limited(file)


def tar_member(archive: bytes, name: str) -> bytes:
    """Return a member of a tar file that is packed with gzip, or was, before the server unpacked it."""
    if archive.startswith(b"\x1f\x8b"):
        # unpacked first: tarfile would go through a packed file of any length to find a member
        archive = unpacked(io.BytesIO(archive))
    with tarfile.open(fileobj=io.BytesIO(archive), mode="r:") as members:
        member = members.getmember(name)
        file = members.extractfile(member) if member.isreg() else None
        if file is None:
            raise ValueError(f"{name} is no regular file")
        return limited(file)


def cells(content: bytes, delimiter: str = ",") -> Iterator[list[str]]:
    """Yield the rows of a CSV file, without those that are empty, and without spaces around the cells."""
    for row in csv.reader(io.StringIO(content.decode("utf-8"), newline=""), delimiter=delimiter):
        if row:
            yield [cell.strip() for cell in row]
