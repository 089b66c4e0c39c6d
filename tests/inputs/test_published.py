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

from faithkit.errors import InputError
from faithkit.inputs.datasets import dataset_names, load_dataset
from faithkit.inputs.published import PUBLISHED


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


def as_csv(name, rows):
    cells = [
        [f'"{c}"' if "," in c else c for c in row] for row in [[*PUBLISHED[name].header, "target"], *rows]
    ]
    return lines(cells)


@pytest.fixture
def elsewhere(tmp_path, monkeypatch):
    """No folder of data, an empty cache, and a place for what the network would give."""
    monkeypatch.delenv("FAITHKIT_DATA", raising=False)
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    return tmp_path


def offered(name, folder, archive, csv):
    source = folder / "published"
    source.write_bytes(archive)
    return attrs.evolve(PUBLISHED[name], url=source.as_uri(), sha256=hashlib.sha256(csv).hexdigest())


@pytest.mark.parametrize("name", list(PUBLISHED))
def test_a_download_becomes_one_table_and_is_kept(name, elsewhere, capsys):
    rows = SMALL[name]
    source = offered(name, elsewhere, published_again(name, rows), as_csv(name, rows))
    X, y = source.load()
    assert y.tolist() == [row[-1] for row in rows]
    if name == "rt-polarity":
        assert [row[0] for row in rows] == X
    else:
        assert X.columns.tolist() == list(source.header)
    assert source.url in capsys.readouterr().err
    Path(source.url.removeprefix("file://")).unlink()
    assert source.load()[1].tolist() == y.tolist()  # from the cache


def test_a_question_mark_is_a_missing_value(elsewhere):
    X, _ = offered(
        "heart", elsewhere, published_again("heart", SMALL["heart"]), as_csv("heart", SMALL["heart"])
    ).load()
    assert X["ca"].isna().tolist() == [True, False]


def test_a_source_that_has_changed_is_refused_and_nothing_is_kept(elsewhere):
    changed = offered(
        "chess", elsewhere, published_again("chess", SMALL["chess"][:1]), as_csv("chess", SMALL["chess"])
    )
    with pytest.raises(InputError, match=r"has the checksum .* expected .* set FAITHKIT_DATA"):
        changed.load()
    assert not (elsewhere / "cache").exists()


def test_an_archive_of_another_shape_is_refused(elsewhere):
    with pytest.raises(InputError, match="does not hold what it used to"):
        offered("adult", elsewhere, b"<html>not found</html>", b"").load()


def test_without_network_the_way_out_is_named(elsewhere):
    gone = attrs.evolve(PUBLISHED["adult"], url=(elsewhere / "nothing").as_uri())
    with pytest.raises(InputError, match=r"cannot be downloaded .* set FAITHKIT_DATA to a folder"):
        gone.load()


def test_the_folder_comes_before_the_cache(elsewhere, monkeypatch):
    kept = as_csv("chess", SMALL["chess"])
    monkeypatch.setenv("FAITHKIT_DATA", str(elsewhere))
    monkeypatch.setitem(PUBLISHED, "chess", offered("chess", elsewhere, b"", kept))
    (elsewhere / "chess.csv.gz").write_bytes(gzip.compress(kept))
    (elsewhere / "cache" / "faithkit").mkdir(parents=True)
    (elsewhere / "cache" / "faithkit" / "chess.csv.gz").write_bytes(b"another")
    assert load_dataset("chess").y.tolist() == ["draw", "zero"]


REAL = pytest.mark.skipif(not os.environ.get("FAITHKIT_DATA"), reason="FAITHKIT_DATA is not set")


@REAL
@pytest.mark.parametrize("name", [name for name in PUBLISHED if name != "covtype"])
def test_the_checksums_are_those_of_the_published_tables(name, monkeypatch, tmp_path):
    """The real rows, wrapped up as their source has them, give the very bytes that the checksum wants."""
    import csv

    with gzip.open(PUBLISHED[name].path(), "rt", encoding="utf-8", newline="") as file:
        rows = list(csv.reader(file))[1:]
    source = tmp_path / "published"
    source.write_bytes(published_again(name, rows))
    monkeypatch.delenv("FAITHKIT_DATA")
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))
    attrs.evolve(PUBLISHED[name], url=source.as_uri()).path()


@REAL
def test_the_papers_datasets_have_the_papers_sizes():
    sizes = {name: len(load_dataset(name).y) for name in PUBLISHED if name != "covtype"}
    assert sizes == {
        "adult": 48_842, "avila": 20_867, "bank-marketing": 45_211, "chess": 28_056, "heart": 303,
        "rt-polarity": 10_433,
    }  # fmt: skip


def test_loans_are_granted_by_the_rule_that_is_written_down():
    found = load_dataset("loans")
    for row, label in zip(found.X.to_dict("records"), found.y, strict=True):
        wealthy = row["housing"] == "own" and row["income"] > 40_000
        assert label == ("yes" if not row["arrears"] and (row["debt"] <= 0.35 or wealthy) else "no")
    assert {"job", "income"} == {name for name in found.X if found.X[name].isna().any()}
    assert 0.3 < (found.y == "yes").mean() < 0.7


def test_every_dataset_is_known_by_name():
    assert set(PUBLISHED) < set(dataset_names())
