"""Files and archives of datasets: everything but the published tables is refused, and nothing unpacks without end."""

import gzip
import hashlib
import io
import os
import stat
import tarfile
import zipfile

import attrs
import pytest
from faithkit_paper import datasets
from inputs.deadline import promptly
from looping import one_test
from paper.web import served

from faithkit.errors import InputError

CSV = (
    b"white-king-file,white-king-rank,white-rook-file,white-rook-rank,black-king-file,black-king-rank,target\n"
    b"a,1,b,3,c,2,draw\na,1,c,1,c,2,zero\n"
)
CHESS = attrs.evolve(datasets.chess(), sha256=hashlib.sha256(CSV).hexdigest())


BOTH = pytest.mark.parametrize("folder", ["data", "cache/faithkit"])


def make_place(folder, tmp_path, monkeypatch):
    """Return where a dataset's file is looked for: in the user's folder, or in the cache."""
    for name in ("data", "cache/faithkit"):
        (tmp_path / name).mkdir(parents=True)
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    monkeypatch.setenv("FAITHKIT_DATA", str(tmp_path / "data"))
    return tmp_path / folder / "chess.csv.gz"


@one_test
@BOTH
def test_the_published_table_is_read_however_it_is_packed(folder, tmp_path, monkeypatch):
    place = make_place(folder, tmp_path, monkeypatch)
    for level in (1, 9):
        place.write_bytes(gzip.compress(CSV, level, mtime=level))
        assert CHESS.load()[1].tolist() == ["draw", "zero"]
    place.unlink()
    place.with_suffix("").write_bytes(CSV)
    assert CHESS.load()[1].tolist() == ["draw", "zero"]


def build_writer(content):
    return lambda path: path.write_bytes(content)


NOT_IT = "is not the dataset chess that was published: its table has the checksum .*; expected"
WRONG = {
    "an empty file": (build_writer(b""), NOT_IT),
    "an empty table": (build_writer(gzip.compress(b"")), NOT_IT),
    "no gzip": (build_writer(CSV), "reading .* failed with BadGzipFile"),
    "cut off": (build_writer(gzip.compress(CSV)[:-20]), "reading .* failed with EOFError"),
    "damaged": (build_writer(gzip.compress(CSV)[:-9] + bytes(9)), "reading .* failed with"),
    "other bytes after it": (
        build_writer(gzip.compress(CSV) + b"more"),
        "reading .* failed with BadGzipFile",
    ),
    "a row less": (build_writer(gzip.compress(CSV[: CSV.index(b"a,1,c")])), NOT_IT),
    "a ragged row": (build_writer(gzip.compress(CSV + b"a,1\n")), NOT_IT),
    "a cell changed": (build_writer(gzip.compress(CSV.replace(b"zero", b"nine"))), NOT_IT),
    "another table": (build_writer(gzip.compress(b"a,b\n1,2\n")), NOT_IT),
    "a folder": (lambda path: path.mkdir(), "reading .* failed with ValueError: no regular file"),
    "a pipe": (os.mkfifo, "reading .* failed with ValueError: no regular file"),
    "a device": (lambda path: path.symlink_to("/dev/zero"), "no regular file"),
}


@one_test
@BOTH
@pytest.mark.parametrize(("write", "message"), WRONG.values(), ids=WRONG)
def test_a_file_that_is_not_the_published_one_is_refused_in_one_line(
    folder, write, message, tmp_path, monkeypatch
):
    place = make_place(folder, tmp_path, monkeypatch)
    write(place)
    with pytest.raises(InputError, match=message) as error:
        promptly(CHESS.load)
    assert str(place) in str(error.value)
    assert "Remove it, so that it is downloaded again" in str(error.value)
    assert len(str(error.value).splitlines()) == 1


@one_test
@BOTH
def test_a_file_that_unpacks_without_end_is_refused(folder, tmp_path, monkeypatch):
    place = make_place(folder, tmp_path, monkeypatch)
    place.write_bytes(gzip.compress(CSV))
    monkeypatch.setattr(datasets, "MAX_BYTES", len(CSV))
    assert len(CHESS.load()[1]) == 2
    monkeypatch.setattr(datasets, "MAX_BYTES", len(CSV) - 1)
    with pytest.raises(InputError, match=r"failed with ValueError: more than .* MiB"):
        CHESS.load()


# --- archives -----------------------------------------------------------------------------------------


def zip_file(name, content, mode=0):
    archive = io.BytesIO()
    with zipfile.ZipFile(archive, "w", zipfile.ZIP_DEFLATED) as members:
        info = zipfile.ZipInfo(name)
        info.external_attr = mode << 16
        members.writestr(info, content, zipfile.ZIP_DEFLATED)
    return archive.getvalue()


def tar_reviews(kind=tarfile.REGTYPE, content=b"silly\n", target=""):
    archive = io.BytesIO()
    with tarfile.open(fileobj=archive, mode="w:gz") as members:
        for label in ("neg", "pos"):
            info = tarfile.TarInfo(f"rt-polaritydata/rt-polarity.{label}")
            info.type, info.linkname = kind, target
            info.size = len(content) if kind == tarfile.REGTYPE else 0
            members.addfile(info, io.BytesIO(content) if kind == tarfile.REGTYPE else None)
    return archive.getvalue()


LARGE = bytes(30_000)
ROWS = b"a,1,b,3,c,2,draw\n"
ARCHIVES = {
    "a member too large": ("chess", zip_file("krkopt.data", LARGE), "more than .* MiB"),
    "a member of a member too large": (
        "avila",
        zip_file("avila.zip", zip_file("avila/avila-tr.txt", LARGE)),
        "more than .* MiB",
    ),
    "a packed member too large": (
        "covtype",
        zip_file("covtype.data.gz", gzip.compress(LARGE)),
        "more than .* MiB",
    ),
    "a packed archive too large": ("rt-polarity", tar_reviews(content=LARGE), "more than .* MiB"),
    "a download too large": ("chess", os.urandom(30_000), "more than .* MiB"),
    "a link in a zip file": (
        "chess",
        zip_file("krkopt.data", b"/etc/passwd", stat.S_IFLNK | 0o777),
        "no regular file",
    ),
    "a pipe in a zip file": ("chess", zip_file("krkopt.data", b"", stat.S_IFIFO), "no regular file"),
    "a symbolic link in a tar file": (
        "rt-polarity",
        tar_reviews(tarfile.SYMTYPE, target="/etc/passwd"),
        "no regular file",
    ),
    "a hard link in a tar file": (
        "rt-polarity",
        tar_reviews(tarfile.LNKTYPE, target="../../etc/passwd"),
        "no regular file",
    ),
    "a device in a tar file": ("rt-polarity", tar_reviews(tarfile.CHRTYPE), "no regular file"),
    "a folder in a tar file": ("rt-polarity", tar_reviews(tarfile.DIRTYPE), "no regular file"),
    "no member of that name": ("chess", zip_file("../krkopt.data", ROWS), "KeyError"),
    "no archive": ("chess", b"<html>", "BadZipFile"),
    "half an archive": ("chess", zip_file("krkopt.data", ROWS)[:-10], "BadZipFile"),
    "no packed archive": ("rt-polarity", b"<html>", "ReadError"),
    "half a packed archive": ("rt-polarity", tar_reviews()[:-20], "EOFError"),
}


@one_test
@pytest.mark.parametrize(("name", "archive", "message"), ARCHIVES.values(), ids=ARCHIVES)
def test_an_archive_that_is_not_what_it_was_is_refused_and_nothing_is_kept(
    tmp_path, monkeypatch, name, archive, message
):
    monkeypatch.delenv("FAITHKIT_DATA", raising=False)
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    monkeypatch.setenv("NO_PROXY", "127.0.0.1")
    monkeypatch.setattr(datasets, "MAX_BYTES", 20_000)
    source = getattr(datasets, name.replace("-", "_"))()
    with (
        served(archive) as url,
        pytest.raises(InputError, match=f"cannot be downloaded .*{message}.*set FAITHKIT_DATA") as error,
    ):
        attrs.evolve(source, url=url).load()
    assert len(str(error.value).splitlines()) == 1
    assert [path for path in tmp_path.rglob("*") if path.is_file()] == []


def test_a_cache_that_cannot_be_made_is_refused_in_one_line(tmp_path, monkeypatch):
    monkeypatch.delenv("FAITHKIT_DATA", raising=False)
    (tmp_path / "cache").write_text("a file where the folder should be")
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    monkeypatch.setenv("NO_PROXY", "127.0.0.1")
    folder = tmp_path / "cache" / "faithkit"
    with (
        served(zip_file("krkopt.data", b"".join(CSV.splitlines(True)[1:]))) as url,
        pytest.raises(InputError, match=f"cannot be downloaded .*that {folder} can be written to"),
    ):
        attrs.evolve(CHESS, url=url).load()
