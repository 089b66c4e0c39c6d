"""The paper's datasets: read from the user's folder, or downloaded, converted and checked."""

import gzip
import hashlib
import io
import os
import tarfile
import zipfile
from pathlib import Path

import attrs
import pytest
from faithkit_paper import DATASETS, datasets
from looping import one_test
from paper.web import served

from faithkit import load_dataset
from faithkit.errors import InputError
from faithkit.inputs.datasets import dataset_place
from faithkit.plugin import dataset_names, registry

PUBLISHED = {name: registry().create("dataset", name) for name in DATASETS}


def zip_files(**files):
    content = io.BytesIO()
    with zipfile.ZipFile(content, "w") as archive:
        for name, text in files.items():
            archive.writestr(name.replace("__", "/").replace("_dot_", "."), text)
    return content.getvalue()


def tar_files(files):
    content = io.BytesIO()
    with tarfile.open(fileobj=content, mode="w:gz") as archive:
        for name, text in files.items():
            info = tarfile.TarInfo(name)
            info.size = len(text)
            archive.addfile(info, io.BytesIO(text))
    return content.getvalue()


def join_rows(rows, separator=","):
    return "\n".join(separator.join(row) for row in rows).encode() + b"\n"


def wrap_as_published(name, rows):
    """Wrap a dataset's rows up as their source publishes them."""
    half = len(rows) // 2
    if name == "heart":
        return zip_files(
            processed_dot_cleveland_dot_data=join_rows([*r[:-1], "2" if r[-1] == "1" else "0"] for r in rows)
        )
    if name == "chess":
        return zip_files(krkopt_dot_data=join_rows(rows))
    if name == "avila":
        parts = {
            "avila__avila-tr_dot_txt": join_rows(rows[:half]),
            "avila__avila-ts_dot_txt": join_rows(rows[half:]),
        }
        return zip_files(avila_dot_zip=zip_files(**parts))
    if name == "bank-marketing":
        quoted = [[f'"{cell}"' if cell.isalpha() else cell for cell in row] for row in [["y"] * 17, *rows]]
        return zip_files(bank_dot_zip=zip_files(**{"bank-full_dot_csv": join_rows(quoted, ";")}))
    if name == "adult":
        test = [[*row[:-1], row[-1] + "."] for row in rows[half:]]
        remark = b"|1x3 Cross validator\n"
        return zip_files(
            adult_dot_data=join_rows(rows[:half], ", ") + b"\n", adult_dot_test=remark + join_rows(test, ", ")
        )
    if name == "covtype":
        return zip_files(covtype_dot_data_dot_gz=gzip.compress(join_rows(rows)))
    texts = {label: [f"{row[0]} " for row in rows if row[1] == label] for label in ("neg", "pos")}
    return tar_files(
        {f"rt-polaritydata/rt-polarity.{k}": "\n".join(v).encode("cp1252") for k, v in texts.items()}
    )


SMALL = {
    "heart": [["63.0"] * 11 + ["?", "6.0", "0"], ["67.0"] * 13 + ["1"]],
    "chess": [["a", "1", "b", "3", "c", "2", "draw"], ["a", "1", "c", "1", "c", "2", "zero"]],
    "avila": [["0.1"] * 10 + ["A"], ["0.2"] * 10 + ["B"]],
    "bank-marketing": [["58", "management"] + ["1"] * 14 + ["no"], ["44", "clerk"] + ["-1"] * 14 + ["yes"]],
    "adult": [["39", "State-gov"] + ["x"] * 12 + ["<=50K"], ["50", "?"] + ["y"] * 12 + [">50K"]],
    "covtype": [["2596"] * 54 + ["5"], ["2590"] * 54 + ["2"]],
    "rt-polarity": [["simplistic , silly", "neg"], ["the rock", "pos"]],
}


def format_csv(name, rows):
    cells = [
        [f'"{c}"' if "," in c else c for c in row] for row in [[*PUBLISHED[name].header, "target"], *rows]
    ]
    return join_rows(cells)


def use_empty_cache(folder, monkeypatch):
    """Use no folder of data, an empty cache, and no proxy before this machine's own servers."""
    monkeypatch.delenv("FAITHKIT_DATA", raising=False)
    monkeypatch.setenv("XDG_CACHE_HOME", str(folder / "cache"))
    monkeypatch.setenv("NO_PROXY", "127.0.0.1")


@pytest.fixture
def empty_cache(tmp_path, monkeypatch):
    use_empty_cache(tmp_path, monkeypatch)
    return tmp_path


def publish_at(name, url, rows):
    """Return a dataset that is published at another address, and whose table has these rows."""
    csv = format_csv(name, rows)
    return attrs.evolve(PUBLISHED[name], url=url, sha256=hashlib.sha256(csv).hexdigest())


def list_files(folder):
    return [path.name for path in folder.rglob("*") if path.is_file()]


@one_test
@pytest.mark.parametrize("name", list(PUBLISHED))
def test_a_download_becomes_one_table_and_is_kept(name, tmp_path, monkeypatch, capsys):
    use_empty_cache(tmp_path, monkeypatch)
    rows = SMALL[name]
    with served(wrap_as_published(name, rows)) as url:
        source = publish_at(name, url, rows)
        assert source.place() == "to be downloaded"
        X, y = source.load()
    assert y.tolist() == [row[-1] for row in rows]
    if name == "rt-polarity":
        assert [row[0] for row in rows] == X
    else:
        assert X.columns.tolist() == list(source.header)
    assert capsys.readouterr() == ("", f"downloading {name} from {url}\n")
    assert source.load()[1].tolist() == y.tolist()  # from the cache: nobody serves it any more
    assert (source.place(), list_files(tmp_path)) == ("here", [f"{name}.csv"])


def test_a_server_may_unpack_what_it_sends(empty_cache):
    rows = SMALL["rt-polarity"]
    with served(wrap_as_published("rt-polarity", rows), content_encoding="x-gzip") as url:
        assert publish_at("rt-polarity", url, rows).load()[0] == [row[0] for row in rows]


def test_a_question_mark_is_a_missing_value(empty_cache):
    with served(wrap_as_published("heart", SMALL["heart"])) as url:
        X, _ = publish_at("heart", url, SMALL["heart"]).load()
    assert X["ca"].isna().tolist() == [True, False]


def test_a_source_that_has_changed_is_refused_and_nothing_is_kept(empty_cache):
    with (
        served(wrap_as_published("chess", SMALL["chess"][:1])) as url,
        pytest.raises(InputError, match=r"hash .* does not match .* set FAITHKIT_DATA") as error,
    ):
        publish_at("chess", url, SMALL["chess"]).load()
    assert len(str(error.value).splitlines()) == 1
    assert list_files(empty_cache) == []


@one_test
@pytest.mark.parametrize("status", [404, 500])
def test_a_page_that_is_gone_is_refused_and_the_way_out_is_named(empty_cache, status):
    with (
        served(b"<html>not found</html>", status) as url,
        pytest.raises(InputError, match=rf"cannot be downloaded from {url} .*{status}.* set FAITHKIT_DATA"),
    ):
        publish_at("adult", url, SMALL["adult"]).load()
    assert list_files(empty_cache) == []


def test_without_network_the_way_out_is_named(empty_cache):
    with served(b"") as url:
        pass
    with pytest.raises(InputError, match=r"cannot be downloaded .* set FAITHKIT_DATA to a folder") as error:
        publish_at("adult", url, SMALL["adult"]).load()
    assert len(str(error.value).splitlines()) == 1


def test_the_folder_comes_before_the_cache(empty_cache, monkeypatch):
    monkeypatch.setenv("FAITHKIT_DATA", str(empty_cache))
    monkeypatch.setattr(datasets, "chess", lambda: publish_at("chess", "http://no.where", SMALL["chess"]))
    (empty_cache / "chess.csv.gz").write_bytes(gzip.compress(format_csv("chess", SMALL["chess"])))
    (empty_cache / "cache" / "faithkit").mkdir(parents=True)
    (empty_cache / "cache" / "faithkit" / "chess.csv").write_bytes(b"another")
    assert load_dataset("chess").y.tolist() == ["draw", "zero"]


def test_a_published_dataset_is_here_once_there_is_a_file(empty_cache):
    assert dataset_place("heart") == "to be downloaded"
    (empty_cache / "cache" / "faithkit").mkdir(parents=True)
    (empty_cache / "cache" / "faithkit" / "heart.csv.gz").touch()
    assert dataset_place("heart") == "here"


REAL = pytest.mark.skipif(not os.environ.get("FAITHKIT_DATA"), reason="FAITHKIT_DATA is not set")


@pytest.mark.slow
@REAL
@pytest.mark.parametrize("name", [name for name in PUBLISHED if name != "covtype"])
def test_the_checksums_are_those_of_the_published_tables(name, monkeypatch, tmp_path):
    """The real rows, wrapped up as their source has them, give the very bytes that the checksum wants."""
    import csv

    folder = os.environ["FAITHKIT_DATA"]
    with gzip.open(Path(folder, f"{name}.csv.gz"), "rt", encoding="utf-8", newline="") as file:
        rows = list(csv.reader(file))[1:]
    monkeypatch.delenv("FAITHKIT_DATA")
    monkeypatch.setenv("NO_PROXY", "127.0.0.1")
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))
    with served(wrap_as_published(name, rows)) as url:
        attrs.evolve(PUBLISHED[name], url=url).load()
    assert list_files(tmp_path) == [f"{name}.csv"]


@pytest.mark.slow
@REAL
def test_the_papers_datasets_have_the_papers_sizes():
    sizes = {name: len(load_dataset(name).y) for name in PUBLISHED if name != "covtype"}
    assert sizes == {
        "adult": 48_842, "avila": 20_867, "bank-marketing": 45_211, "chess": 28_056, "heart": 303,
        "rt-polarity": 10_433,
    }  # fmt: skip


def test_every_dataset_is_known_by_name():
    assert set(PUBLISHED) < set(dataset_names())
