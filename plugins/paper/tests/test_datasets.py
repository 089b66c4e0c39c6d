"""The paper's datasets: found where a person keeps them, or downloaded, converted and checked."""

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


def zipped(**files):
    content = io.BytesIO()
    with zipfile.ZipFile(content, "w") as archive:
        for name, text in files.items():
            archive.writestr(name.replace("__", "/").replace("_dot_", "."), text)
    return content.getvalue()


def tarred(files):
    content = io.BytesIO()
    with tarfile.open(fileobj=content, mode="w:gz") as archive:
        for name, text in files.items():
            info = tarfile.TarInfo(name)
            info.size = len(text)
            archive.addfile(info, io.BytesIO(text))
    return content.getvalue()


def lines(rows, separator=","):
    return "\n".join(separator.join(row) for row in rows).encode() + b"\n"


def published_again(name, rows):
    """Wrap a dataset's rows up as their source publishes them."""
    half = len(rows) // 2
    if name == "heart":
        return zipped(
            processed_dot_cleveland_dot_data=lines([*r[:-1], "2" if r[-1] == "1" else "0"] for r in rows)
        )
    if name == "chess":
        return zipped(krkopt_dot_data=lines(rows))
    if name == "avila":
        parts = {"avila__avila-tr_dot_txt": lines(rows[:half]), "avila__avila-ts_dot_txt": lines(rows[half:])}
        return zipped(avila_dot_zip=zipped(**parts))
    if name == "bank-marketing":
        quoted = [[f'"{cell}"' if cell.isalpha() else cell for cell in row] for row in [["y"] * 17, *rows]]
        return zipped(bank_dot_zip=zipped(**{"bank-full_dot_csv": lines(quoted, ";")}))
    if name == "adult":
        test = [[*row[:-1], row[-1] + "."] for row in rows[half:]]
        remark = b"|1x3 Cross validator\n"
        return zipped(
            adult_dot_data=lines(rows[:half], ", ") + b"\n", adult_dot_test=remark + lines(test, ", ")
        )
    if name == "covtype":
        return zipped(covtype_dot_data_dot_gz=gzip.compress(lines(rows)))
    texts = {label: [f"{row[0]} " for row in rows if row[1] == label] for label in ("neg", "pos")}
    return tarred(
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
    return lines(cells)


def go_elsewhere(folder, monkeypatch):
    """Have no folder of data, an empty cache, and no proxy before this machine's own servers."""
    monkeypatch.delenv("FAITHKIT_DATA", raising=False)
    monkeypatch.setenv("XDG_CACHE_HOME", str(folder / "cache"))
    monkeypatch.setenv("NO_PROXY", "127.0.0.1")


@pytest.fixture
def elsewhere(tmp_path, monkeypatch):
    go_elsewhere(tmp_path, monkeypatch)
    return tmp_path


def offered(name, url, rows):
    """Return a dataset that is published elsewhere, and whose table has these rows."""
    csv = format_csv(name, rows)
    return attrs.evolve(PUBLISHED[name], url=url, sha256=hashlib.sha256(csv).hexdigest())


def kept(folder):
    return [path.name for path in folder.rglob("*") if path.is_file()]


@one_test
@pytest.mark.parametrize("name", list(PUBLISHED))
def test_a_download_becomes_one_table_and_is_kept(name, tmp_path, monkeypatch, capsys):
    go_elsewhere(tmp_path, monkeypatch)
    rows = SMALL[name]
    with served(published_again(name, rows)) as url:
        source = offered(name, url, rows)
        assert source.place() == "to be downloaded"
        X, y = source.load()
    assert y.tolist() == [row[-1] for row in rows]
    if name == "rt-polarity":
        assert [row[0] for row in rows] == X
    else:
        assert X.columns.tolist() == list(source.header)
    assert capsys.readouterr() == ("", f"downloading {name} from {url}\n")
    assert source.load()[1].tolist() == y.tolist()  # from the cache: nobody serves it any more
    assert (source.place(), kept(tmp_path)) == ("here", [f"{name}.csv"])


def test_a_server_may_unpack_what_it_sends(elsewhere):
    rows = SMALL["rt-polarity"]
    with served(published_again("rt-polarity", rows), content_encoding="x-gzip") as url:
        assert offered("rt-polarity", url, rows).load()[0] == [row[0] for row in rows]


def test_a_question_mark_is_a_missing_value(elsewhere):
    with served(published_again("heart", SMALL["heart"])) as url:
        X, _ = offered("heart", url, SMALL["heart"]).load()
    assert X["ca"].isna().tolist() == [True, False]


def test_a_source_that_has_changed_is_refused_and_nothing_is_kept(elsewhere):
    with (
        served(published_again("chess", SMALL["chess"][:1])) as url,
        pytest.raises(InputError, match=r"hash .* does not match .* set FAITHKIT_DATA") as error,
    ):
        offered("chess", url, SMALL["chess"]).load()
    assert len(str(error.value).splitlines()) == 1
    assert kept(elsewhere) == []


@one_test
@pytest.mark.parametrize("status", [404, 500])
def test_a_page_that_is_gone_is_refused_and_the_way_out_is_named(elsewhere, status):
    with (
        served(b"<html>not found</html>", status) as url,
        pytest.raises(InputError, match=rf"cannot be downloaded from {url} .*{status}.* set FAITHKIT_DATA"),
    ):
        offered("adult", url, SMALL["adult"]).load()
    assert kept(elsewhere) == []


def test_without_network_the_way_out_is_named(elsewhere):
    with served(b"") as url:
        pass
    with pytest.raises(InputError, match=r"cannot be downloaded .* set FAITHKIT_DATA to a folder") as error:
        offered("adult", url, SMALL["adult"]).load()
    assert len(str(error.value).splitlines()) == 1


def test_the_folder_comes_before_the_cache(elsewhere, monkeypatch):
    monkeypatch.setenv("FAITHKIT_DATA", str(elsewhere))
    monkeypatch.setattr(datasets, "chess", lambda: offered("chess", "http://no.where", SMALL["chess"]))
    (elsewhere / "chess.csv.gz").write_bytes(gzip.compress(format_csv("chess", SMALL["chess"])))
    (elsewhere / "cache" / "faithkit").mkdir(parents=True)
    (elsewhere / "cache" / "faithkit" / "chess.csv").write_bytes(b"another")
    assert load_dataset("chess").y.tolist() == ["draw", "zero"]


def test_a_published_dataset_is_here_once_there_is_a_file(elsewhere):
    assert dataset_place("heart") == "to be downloaded"
    (elsewhere / "cache" / "faithkit").mkdir(parents=True)
    (elsewhere / "cache" / "faithkit" / "heart.csv.gz").touch()
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
    with served(published_again(name, rows)) as url:
        attrs.evolve(PUBLISHED[name], url=url).load()
    assert kept(tmp_path) == [f"{name}.csv"]


@REAL
def test_the_papers_datasets_have_the_papers_sizes():
    sizes = {name: len(load_dataset(name).y) for name in PUBLISHED if name != "covtype"}
    assert sizes == {
        "adult": 48_842, "avila": 20_867, "bank-marketing": 45_211, "chess": 28_056, "heart": 303,
        "rt-polarity": 10_433,
    }  # fmt: skip


def test_every_dataset_is_known_by_name():
    assert set(PUBLISHED) < set(dataset_names())
