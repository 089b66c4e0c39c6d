"""Published datasets: read from a folder, or downloaded once.

A download is converted to one CSV file, the class last, in the user's cache. pooch checks that it is complete
and has the right checksum. The checksum is that of the converted table, so it detects a changed source, a
damaged transfer and a wrong conversion. It is checked at every read, because another table of the same name
would give other results.
"""

import csv
import hashlib
import io
import os
import stat
import sys
from collections.abc import Callable, Iterable
from pathlib import Path
from typing import Any

import attrs
import numpy as np
import pandas as pd
import pooch

import faithkit
from faithkit_paper.archives import SizeLimitedBuffer, read_gzip, read_limited

FOLDER = "FAITHKIT_DATA"
SECONDS = 60

Rows = Iterable[list[str]]


@attrs.frozen
class Published:
    """The source of a dataset, and the conversion of its files to one table."""

    name: str
    url: str
    header: tuple[str, ...]
    rows: Callable[[bytes], Rows]
    sha256: str  # of the converted CSV file

    def load(self) -> tuple[Any, np.ndarray]:
        """Return the features (a list, if the only column is text) and the labels as strings."""
        content = io.BytesIO(self._read_checked(self.local_file() or self._download()))
        # the repository writes "?" for a missing value; words such as NA stay words
        table = pd.read_csv(content, keep_default_na=False, na_values=["?"], low_memory=False)
        labels = table.pop("target").astype(str).to_numpy(dtype=object)
        if list(table) != ["text"]:
            return table, labels
        is_ascii = table["text"].str.isascii().to_numpy(dtype=bool)  # as in the paper, which has 10,433 texts
        return table["text"][is_ascii].tolist(), labels[is_ascii]

    def place(self) -> str:
        """Return where the table is stored."""
        return "here" if self.local_file() else "to be downloaded"

    def local_file(self) -> Path | None:
        """Return the local file, in the user's folder or in the cache, or None."""
        folder = os.environ.get(FOLDER)
        return (folder and self._file_in(Path(folder))) or self._file_in(cache()) or None

    def _file_in(self, folder: Path) -> Path | None:
        paths = (folder / f"{self.name}{ending}" for ending in (".csv.gz", ".csv"))
        return next((path for path in paths if os.path.exists(path)), None)

    def _read_checked(self, path: Path) -> bytes:
        """Read a table, and check that it is the published one."""
        remedy = "Remove it, so that it is downloaded again, or put the published table in its place."
        try:
            table = _read(path)
        except Exception as error:  # removed meanwhile, unreadable, not gzip, truncated or damaged
            raise faithkit.errors.InputError(
                f"reading {path} failed with {_line(error)}. {remedy}"
            ) from error
        checksum = hashlib.sha256(table).hexdigest()
        if checksum != self.sha256:
            raise faithkit.errors.InputError(
                f"{path} is not the dataset {self.name} that was published: its table has the checksum "
                f"{checksum[:12]}…; expected {self.sha256[:12]}…. {remedy}"
            )
        return table

    def _download(self) -> Path:
        """Download the table to the cache, check it, and return its path."""
        print(f"downloading {self.name} from {self.url}", file=sys.stderr)
        pooch.get_logger().setLevel("WARNING")  # avoid a second message about the download
        file = f"{self.name}.csv"
        try:
            return Path(pooch.retrieve(self.url, self.sha256, file, cache(), downloader=self._convert))
        except Exception as error:  # no network, no space, a changed archive: libraries raise many types
            raise faithkit.errors.InputError(
                f"{self.name} cannot be downloaded from {self.url} ({_line(error)}). Check the network, and "
                f"that {cache()} can be written to; or set {FOLDER} to a folder that has {file}.gz."
            ) from error

    def _convert(self, url: str, path: Any, _pooch: Any) -> None:
        """Download an archive, and write its table as CSV."""
        archive = SizeLimitedBuffer()
        pooch.HTTPDownloader(timeout=SECONDS)(url, archive, None)
        with open(path, "w", encoding="utf-8", newline="") as file:
            writer = csv.writer(file, lineterminator="\n")
            writer.writerow([*self.header, "target"])
            writer.writerows(self.rows(archive.getvalue()))


def cache() -> Path:
    """Return the folder of faithkit in the user's cache. It may not exist yet."""
    return Path(pooch.os_cache("faithkit")).expanduser()  # without a home, do not create a folder "~"


def _read(path: Path) -> bytes:
    if not stat.S_ISREG(path.stat().st_mode):  # reading a pipe could block forever
        raise ValueError("no regular file")
    with open(path, "rb") as file:
        return read_gzip(file) if path.suffix == ".gz" else read_limited(file)


def _line(error: Exception) -> str:
    """Format an exception in one line."""
    return " ".join(f"{type(error).__name__}: {error}".split())[:300].rstrip(".")
