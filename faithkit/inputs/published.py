"""The paper's seven datasets: found in a folder, or downloaded once from where they are published.

A download is turned into one CSV file, the class last, and kept in the user's cache. Its checksum is that of
the finished file, so a changed source, a damaged transfer and a wrong conversion are all noticed. It is asked
for whenever the file is read: another table of the same name would give another answer to the same question.

An archive is unpacked in memory, up to a limit, and nothing in it names a place on the disk.
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

from faithkit.cache import cache_folder
from faithkit.errors import InputError
from faithkit.files import write_whole
from faithkit.foreign import foreign
from faithkit.wording import describe

FOLDER = "FAITHKIT_DATA"
UCI = "https://archive.ics.uci.edu/static/public"
SECONDS = 60
UNPACKED = 2**28  # bytes; the largest of the tables has 75 million

Rows = Iterable[list[str]]


@attrs.frozen
class Published:
    """Where a dataset comes from, and how its files become one table."""

    name: str
    summary: str
    url: str
    header: tuple[str, ...]
    rows: Callable[[bytes], Rows]
    sha256: str  # of the CSV that comes out

    def load(self) -> tuple[Any, np.ndarray]:
        """Return the features (texts where the only column is one) and the labels, as strings."""
        content = io.BytesIO(self._checked(self.path()))
        # "?" is what the repository writes for a missing value; words such as NA stay words
        table = pd.read_csv(content, keep_default_na=False, na_values=["?"], low_memory=False)
        labels = table.pop("target").astype(str).to_numpy(dtype=object)
        if list(table) != ["text"]:
            return table, labels
        plain = table["text"].str.isascii().to_numpy(dtype=bool)  # as in the paper, which has 10,433 texts
        return table["text"][plain].tolist(), labels[plain]

    def path(self) -> Path:
        """Return the file, downloading it where neither the folder nor the cache has it."""
        return self.found() or self._download(cache_folder() / self._file)

    def found(self) -> Path | None:
        """Return the file where it is already here: in the given folder, or in the cache."""
        kept = (folder / self._file for folder in (_given_folder(), cache_folder()) if folder)
        return next((path for path in kept if os.path.exists(path)), None)

    def _checked(self, path: Path) -> bytes:
        """Return a file's table, if it is the one that was published."""
        remedy = "Remove it, so that it is downloaded again, or put the published table in its place."
        with foreign(f"reading {path}", remedy):
            if not stat.S_ISREG(path.stat().st_mode):  # a pipe would wait for a writer for ever
                raise ValueError("no regular file")
            with open(path, "rb") as file:
                table = _unpacked(file)
        found = hashlib.sha256(table).hexdigest()
        if found != self.sha256:
            raise InputError(
                f"{path} is not the dataset {self.name} that was published: its table has the checksum "
                f"{found[:12]}…; expected {self.sha256[:12]}…. {remedy}"
            )
        return table

    @property
    def _file(self) -> str:
        return f"{self.name}.csv.gz"

    def _download(self, path: Path) -> Path:
        print(f"downloading {self.name} from {self.url}", file=sys.stderr)
        try:
            table = _as_csv(self.header, self.rows(_fetched(self.url)))
        except InputError:
            raise
        except Exception as error:  # an archive of another shape: every library has its own words for it
            raise InputError(
                f"{self.url} does not hold what it used to ({describe(error)}): set {FOLDER} to a folder "
                f"that has {path.name}."
            ) from error
        found = hashlib.sha256(table).hexdigest()
        if found != self.sha256:
            raise InputError(
                f"{self.name}, downloaded from {self.url}, has the checksum {found[:12]}…; expected "
                f"{self.sha256[:12]}…. Its source has changed: set {FOLDER} to a folder that has "
                f"{path.name}."
            )
        with foreign(f"making the folder {path.parent}", "Set XDG_CACHE_HOME to one that you can write to."):
            path.parent.mkdir(parents=True, exist_ok=True)
        write_whole(path, gzip.compress(table, mtime=0))
        return path


def _given_folder() -> Path | None:
    return Path(os.environ[FOLDER]) if os.environ.get(FOLDER) else None


def _fetched(url: str) -> bytes:
    from urllib.request import urlopen

    try:
        with urlopen(url, timeout=SECONDS) as answer:
            return _limited(answer)
    except OSError as error:
        raise InputError(
            f"{url} cannot be downloaded ({describe(error)}). Check the network, or set {FOLDER} to a "
            "folder that has the file."
        ) from error


def _as_csv(header: tuple[str, ...], rows: Rows) -> bytes:
    text = io.StringIO(newline="")
    writer = csv.writer(text, lineterminator="\n")
    writer.writerow([*header, "target"])
    writer.writerows(rows)
    return text.getvalue().encode("utf-8")


def _limited(file: Any) -> bytes:
    """Read a file that may have been made to fill the memory."""
    content: bytes = file.read(UNPACKED + 1)
    if len(content) > UNPACKED:
        raise ValueError(f"more than {UNPACKED // 2**20} MiB")
    return content


def _unpacked(file: Any) -> bytes:
    with gzip.GzipFile(fileobj=file) as unpacked:
        return _limited(unpacked)


def _member(archive: bytes, name: str) -> bytes:
    """Return a member of a zip file; one that is a link or a device has no content of its own."""
    with zipfile.ZipFile(io.BytesIO(archive)) as members:
        mode = members.getinfo(name).external_attr >> 16
        if stat.S_IFMT(mode) not in (0, stat.S_IFREG):
            raise ValueError(f"{name} is no regular file")
        with members.open(name) as file:
            return _limited(file)


def _cells(content: bytes, delimiter: str = ",") -> Iterator[list[str]]:
    for row in csv.reader(io.StringIO(content.decode("utf-8"), newline=""), delimiter=delimiter):
        if row:
            yield [cell.strip() for cell in row]


def _heart(archive: bytes) -> Rows:
    for *cells, disease in _cells(_member(archive, "processed.cleveland.data")):
        yield [*cells, str(int(int(float(disease)) > 0))]


def _chess(archive: bytes) -> Rows:
    return _cells(_member(archive, "krkopt.data"))


def _avila(archive: bytes) -> Rows:
    inner = _member(archive, "avila.zip")
    for part in ("avila/avila-tr.txt", "avila/avila-ts.txt"):
        yield from _cells(_member(inner, part))


def _bank(archive: bytes) -> Rows:
    rows = _cells(_member(_member(archive, "bank.zip"), "bank-full.csv"), delimiter=";")
    next(iter(rows))  # its header
    return rows


def _adult(archive: bytes) -> Rows:
    for part in ("adult.data", "adult.test"):
        for *cells, label in _cells(_member(archive, part)):
            if cells and not cells[0].startswith("|"):  # the second file opens with a remark
                yield [*cells, label.rstrip(".")]


def _covtype(archive: bytes) -> Rows:
    return _cells(_unpacked(io.BytesIO(_member(archive, "covtype.data.gz"))))


def _rt_polarity(archive: bytes) -> Rows:
    # unpacked first: tarfile would go through a packed file of any length to find a member
    with tarfile.open(fileobj=io.BytesIO(_unpacked(io.BytesIO(archive))), mode="r:") as files:
        for label in ("neg", "pos"):
            member = files.getmember(f"rt-polaritydata/rt-polarity.{label}")
            file = files.extractfile(member) if member.isreg() else None
            if file is None:
                raise ValueError(f"{member.name} is no regular file")
            for line in _limited(file).decode("cp1252").split("\n"):
                if line.strip():
                    yield [line.strip(), label]


_HEART = "age sex cp trestbps chol fbs restecg thalach exang oldpeak slope ca thal"
_ADULT = (
    "age workclass fnlwgt education education-num marital-status occupation relationship race sex "
    "capital-gain capital-loss hours-per-week native-country"
)
_BANK = (
    "age job marital education default balance housing loan contact day month duration campaign pdays "
    "previous poutcome"
)
_AVILA = (
    "intercolumnar distance,upper margin,lower margin,exploitation,row number,modular ratio,"
    "interlinear spacing,weight,peak number,modular ratio/interlinear spacing"
)
_COVTYPE = (
    "Elevation Aspect Slope Horizontal_Distance_To_Hydrology Vertical_Distance_To_Hydrology "
    "Horizontal_Distance_To_Roadways Hillshade_9am Hillshade_Noon Hillshade_3pm "
    "Horizontal_Distance_To_Fire_Points"
)
_SQUARES = ("white-king", "white-rook", "black-king")

PUBLISHED = {
    source.name: source
    for source in (
        Published(
            "adult",
            "48,842 persons, 14 facts from a census; income above 50K or not",
            f"{UCI}/2/adult.zip",
            tuple(_ADULT.split()),
            _adult,
            "aaed765a93d19cda249f2ad8390860454449d7b1ecd5fc9c19de63d99c17adea",
        ),
        Published(
            "avila",
            "20,867 groups of rows in a manuscript, 10 measurements; twelve copyists",
            f"{UCI}/459/avila.zip",
            tuple(_AVILA.split(",")),
            _avila,
            "62264390c0a8a1f9c10e3f41770ee2d9a2afd37b3e3ed2fd5acab09ebcc04e53",
        ),
        Published(
            "bank-marketing",
            "45,211 telephone calls, 16 facts; whether a deposit was sold",
            f"{UCI}/222/bank+marketing.zip",
            tuple(_BANK.split()),
            _bank,
            "3d52d40c478cfe4b1509322d3c57b1a141166866d6dc79f348ae06dd7e90bbc7",
        ),
        Published(
            "chess",
            "28,056 end games of king and rook against king; moves to mate, or draw",
            f"{UCI}/23/chess+king+rook+vs+king.zip",
            tuple(f"{piece}-{part}" for piece in _SQUARES for part in ("file", "rank")),
            _chess,
            "99761ce6ab24a925085a6ce4c144df1f8ed3ba6e316c8ed9341f18a6824a6306",
        ),
        Published(
            "covtype",
            "581,012 patches of forest, 54 facts about the ground; seven types of cover",
            f"{UCI}/31/covertype.zip",
            (
                *_COVTYPE.split(),
                *(f"Wilderness_Area{i}" for i in range(1, 5)),
                *(f"Soil_Type{i}" for i in range(1, 41)),
            ),
            _covtype,
            "f0d34e40fafb38cdcbc48cc8c8bf7bdeb3c4a55503b0e430153cb41c94717429",
        ),
        Published(
            "heart",
            "303 patients, 13 findings; heart disease or not",
            f"{UCI}/45/heart+disease.zip",
            tuple(_HEART.split()),
            _heart,
            "0c2c796fda806af69d9768bbde7fd2db0ebde4849ccded594d9432920ea0d27b",
        ),
        Published(
            "rt-polarity",
            "10,433 snippets of film reviews; positive or negative",
            "https://www.cs.cornell.edu/people/pabo/movie-review-data/rt-polaritydata.tar.gz",
            ("text",),
            _rt_polarity,
            "cd46c025fe24d764154fb6a32b646a4a9fb7f8662da873c5dc39b41288f5ed49",
        ),
    )
}
