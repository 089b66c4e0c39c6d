"""A dataset that is found in a folder, or downloaded once from where it is published.

A download is turned into one CSV file, the class last, and kept in the user's cache; pooch sees to it that it
is whole and has the right checksum. The checksum is that of the finished table, so a changed source, a
damaged transfer and a wrong conversion are all noticed. It is asked for whenever the file is read: another
table of the same name would give another answer to the same question.
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
from faithkit_paper.archives import Limited, limited, unpacked

FOLDER = "FAITHKIT_DATA"
SECONDS = 60

Rows = Iterable[list[str]]


@attrs.frozen
class Published:
    """Where a dataset comes from, and how its files become one table."""

    name: str
    url: str
    header: tuple[str, ...]
    rows: Callable[[bytes], Rows]
    sha256: str  # of the CSV that comes out

    def load(self) -> tuple[Any, np.ndarray]:
        """Return the features (texts where the only column is one) and the labels, as strings."""
        content = io.BytesIO(self._checked(self.found() or self._downloaded()))
        # "?" is what the repository writes for a missing value; words such as NA stay words
        table = pd.read_csv(content, keep_default_na=False, na_values=["?"], low_memory=False)
        labels = table.pop("target").astype(str).to_numpy(dtype=object)
        if list(table) != ["text"]:
            return table, labels
        plain = table["text"].str.isascii().to_numpy(dtype=bool)  # as in the paper, which has 10,433 texts
        return table["text"][plain].tolist(), labels[plain]

    def place(self) -> str:
        """Return where the table is."""
        return "here" if self.found() else "to be downloaded"

    def found(self) -> Path | None:
        """Return the file where it is already here: in the given folder, or in the cache."""
        given = os.environ.get(FOLDER)
        return (given and self._in(Path(given))) or self._in(cache()) or None

    def _in(self, folder: Path) -> Path | None:
        places = (folder / f"{self.name}{ending}" for ending in (".csv.gz", ".csv"))
        return next((path for path in places if os.path.exists(path)), None)

    def _checked(self, path: Path) -> bytes:
        """Return a file's table, if it is the one that was published."""
        remedy = "Remove it, so that it is downloaded again, or put the published table in its place."
        try:
            table = _read(path)
        except Exception as error:  # not there any more, not ours to read, no gzip, cut off, damaged
            raise faithkit.errors.InputError(
                f"reading {path} failed with {_line(error)}. {remedy}"
            ) from error
        found = hashlib.sha256(table).hexdigest()
        if found != self.sha256:
            raise faithkit.errors.InputError(
                f"{path} is not the dataset {self.name} that was published: its table has the checksum "
                f"{found[:12]}…; expected {self.sha256[:12]}…. {remedy}"
            )
        return table

    def _downloaded(self) -> Path:
        """Return the file in the cache, once it was downloaded and has proved to be the published table."""
        print(f"downloading {self.name} from {self.url}", file=sys.stderr)
        pooch.get_logger().setLevel("WARNING")  # it would say the same in two lines
        file = f"{self.name}.csv"
        try:
            return Path(pooch.retrieve(self.url, self.sha256, file, cache(), downloader=self._convert))
        except Exception as error:  # no network, no room, another archive: every library has its own words
            raise faithkit.errors.InputError(
                f"{self.name} cannot be downloaded from {self.url} ({_line(error)}). Check the network, and "
                f"that {cache()} can be written to; or set {FOLDER} to a folder that has {file}.gz."
            ) from error

    def _convert(self, url: str, path: Any, _pooch: Any) -> None:
        """Download an archive, and write its table."""
        archive = Limited()
        pooch.HTTPDownloader(timeout=SECONDS)(url, archive, None)
        with open(path, "w", encoding="utf-8", newline="") as file:
            writer = csv.writer(file, lineterminator="\n")
            writer.writerow([*self.header, "target"])
            writer.writerows(self.rows(archive.getvalue()))


def cache() -> Path:
    """Return faithkit's folder in the user's cache; it need not exist."""
    return Path(pooch.os_cache("faithkit")).expanduser()  # who has no home gets no folder "~"


def _read(path: Path) -> bytes:
    if not stat.S_ISREG(path.stat().st_mode):  # a pipe would wait for a writer for ever
        raise ValueError("no regular file")
    with open(path, "rb") as file:
        return unpacked(file) if path.suffix == ".gz" else limited(file)


def _line(error: Exception) -> str:
    """Say an exception of others in one line."""
    return " ".join(f"{type(error).__name__}: {error}".split())[:300].rstrip(".")
