"""The paper's seven datasets: where each is published, and how its archive is read (class last).

A dataset is read from a folder, or downloaded once. A download is converted to one CSV file, the class last,
in the user's cache. pooch checks that it is complete and has the right checksum. The checksum is that of the
converted table, so it detects a changed source, a damaged transfer and a wrong conversion. It is checked at
every read, because another table of the same name would give other results. Archives are unpacked in memory,
up to a size limit, and none of their paths is written to disk.
"""

import csv
import gzip
import hashlib
import io
import os
import stat
import sys
import tarfile
import zipfile
from collections.abc import Callable, Iterable, Iterator
from pathlib import Path
from typing import Any

import attrs
import numpy as np
import pandas as pd
import pooch

import faithkit

MAX_BYTES = 2**28  # the largest table has 75 million bytes
FOLDER = "FAITHKIT_DATA"
SECONDS = 60
Rows = Iterable[list[str]]
UCI = "https://archive.ics.uci.edu/static/public"


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


def adult() -> Published:
    """Return persons of the US census of 1994 (UCI's Adult), and whether they earn over 50,000 dollars."""
    header = (
        "age workclass fnlwgt education education-num marital-status occupation relationship race sex "
        "capital-gain capital-loss hours-per-week native-country"
    )
    checksum = "aaed765a93d19cda249f2ad8390860454449d7b1ecd5fc9c19de63d99c17adea"
    return Published("adult", f"{UCI}/2/adult.zip", tuple(header.split()), _adult, checksum)


def _adult(archive: bytes) -> Rows:
    for member in ("adult.data", "adult.test"):
        for *features, label in csv_rows(zip_member(archive, member)):
            if features and not features[0].startswith("|"):  # the second file starts with a comment
                yield [*features, label.rstrip(".")]


def avila() -> Published:
    """Return rows of the Avila Bible as measurements of the writing (UCI's Avila), and their copyists."""
    header = (
        "intercolumnar distance,upper margin,lower margin,exploitation,row number,modular ratio,"
        "interlinear spacing,weight,peak number,modular ratio/interlinear spacing"
    )
    checksum = "62264390c0a8a1f9c10e3f41770ee2d9a2afd37b3e3ed2fd5acab09ebcc04e53"
    return Published("avila", f"{UCI}/459/avila.zip", tuple(header.split(",")), _avila, checksum)


def _avila(archive: bytes) -> Rows:
    inner = zip_member(archive, "avila.zip")
    for member in ("avila/avila-tr.txt", "avila/avila-ts.txt"):
        yield from csv_rows(zip_member(inner, member))


def bank_marketing() -> Published:
    """Return calls of a Portuguese bank (UCI's Bank Marketing), and whether they sold a deposit."""
    header = (
        "age job marital education default balance housing loan contact day month duration campaign pdays "
        "previous poutcome"
    )
    url = f"{UCI}/222/bank+marketing.zip"
    checksum = "3d52d40c478cfe4b1509322d3c57b1a141166866d6dc79f348ae06dd7e90bbc7"
    return Published("bank-marketing", url, tuple(header.split()), _bank, checksum)


def _bank(archive: bytes) -> Rows:
    rows = csv_rows(zip_member(zip_member(archive, "bank.zip"), "bank-full.csv"), delimiter=";")
    next(rows)  # its header
    return rows


def chess() -> Published:
    """Return end games of king and rook against king (UCI's krkopt), and the number of moves to mate."""
    pieces = ("white-king", "white-rook", "black-king")
    header = tuple(f"{piece}-{coordinate}" for piece in pieces for coordinate in ("file", "rank"))
    checksum = "99761ce6ab24a925085a6ce4c144df1f8ed3ba6e316c8ed9341f18a6824a6306"
    return Published("chess", f"{UCI}/23/chess+king+rook+vs+king.zip", header, _chess, checksum)


def _chess(archive: bytes) -> Rows:
    return csv_rows(zip_member(archive, "krkopt.data"))


def covtype() -> Published:
    """Return patches of forest in Colorado (UCI's Covertype), and their type of cover, one of seven."""
    measurements = (
        "Elevation Aspect Slope Horizontal_Distance_To_Hydrology Vertical_Distance_To_Hydrology "
        "Horizontal_Distance_To_Roadways Hillshade_9am Hillshade_Noon Hillshade_3pm "
        "Horizontal_Distance_To_Fire_Points"
    )
    areas = (f"Wilderness_Area{i}" for i in range(1, 5))
    soils = (f"Soil_Type{i}" for i in range(1, 41))
    checksum = "f0d34e40fafb38cdcbc48cc8c8bf7bdeb3c4a55503b0e430153cb41c94717429"
    return Published(
        "covtype", f"{UCI}/31/covertype.zip", (*measurements.split(), *areas, *soils), _covtype, checksum
    )


def _covtype(archive: bytes) -> Rows:
    return csv_rows(read_gzip(io.BytesIO(zip_member(archive, "covtype.data.gz"))))


def heart() -> Published:
    """Return patients of Cleveland (UCI's Heart Disease, processed), and whether they have the disease."""
    header = "age sex cp trestbps chol fbs restecg thalach exang oldpeak slope ca thal"
    checksum = "0c2c796fda806af69d9768bbde7fd2db0ebde4849ccded594d9432920ea0d27b"
    return Published("heart", f"{UCI}/45/heart+disease.zip", tuple(header.split()), _heart, checksum)


def _heart(archive: bytes) -> Rows:
    for *features, disease in csv_rows(zip_member(archive, "processed.cleveland.data")):
        yield [*features, str(int(int(float(disease)) > 0))]


def rt_polarity() -> Published:
    """Return sentences of film reviews (Pang and Lee's sentence polarity 1.0) in ASCII."""
    url = "https://www.cs.cornell.edu/people/pabo/movie-review-data/rt-polaritydata.tar.gz"
    checksum = "cd46c025fe24d764154fb6a32b646a4a9fb7f8662da873c5dc39b41288f5ed49"
    return Published("rt-polarity", url, ("text",), _rt_polarity, checksum)


def _rt_polarity(archive: bytes) -> Rows:
    for label in ("neg", "pos"):
        lines = tar_member(archive, f"rt-polaritydata/rt-polarity.{label}").decode("cp1252").split("\n")
        yield from ([line.strip(), label] for line in lines if line.strip())
