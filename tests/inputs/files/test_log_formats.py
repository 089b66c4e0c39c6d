"""The same rows in every form that a log can have: CSV, JSON Lines, Parquet, packed, in folders, by pattern."""

import bz2
import gzip
import json
import lzma
import os
from itertools import cycle, product

import pandas as pd
import pyarrow as pa
import pytest
from consoles import run
from looping import one_test

from faithkit.errors import InputError
from faithkit.inputs.files import parquet
from faithkit.inputs.files.discovery import find_files
from faithkit.inputs.files.table_files import open_table
from faithkit.inputs.logs.log_files import ParquetLog, open_log
from faithkit.run.populations.log_scoring import score_log

N = 60
PACK = {
    "": lambda content: content,
    ".gz": gzip.compress,
    ".bz2": bz2.compress,
    ".xz": lzma.compress,
    ".zst": lambda content: pa.compress(content, "zstd", asbytes=True),
}


@pytest.fixture(scope="module")
def frame():
    """Rows of three months, sorted by them: texts, floats with gaps, integers, truth values, unicode."""
    i = pd.Series(range(N))
    return pd.DataFrame(
        {
            "month": [f"2026-{1 + k // 20:02}" for k in range(N)],
            "label": i.mod(3).map({0: "yes", 1: "no", 2: "né, so"}),
            "phi_a": (i.mod(4) / 10).where(i.mod(11) > 0),
            "phi_b": i.mod(3) - 1.5,
            "age": 20 + i.mod(5),
            "owner": i.mod(2) == 0,
        }
    )


def write_csv(part, path, pack=""):
    path.write_bytes(PACK[pack](part.to_csv(index=False).encode()))


def write_json(part, path, pack=""):
    rows = (row.dropna().to_dict() for _, row in part.astype(object).iterrows())
    path.write_bytes(PACK[pack]("".join(json.dumps(row) + "\n" for row in rows).encode()))


def write_parquet(part, path, pack=""):
    part.to_parquet(path, index=False)


WRITE = {".csv": write_csv, ".jsonl": write_json, ".ndjson": write_json, ".parquet": write_parquet}


def write(part, path):
    stem, suffix = os.path.splitext(path.name)
    pack = suffix if suffix in PACK else ""
    path.parent.mkdir(parents=True, exist_ok=True)
    WRITE[os.path.splitext(stem)[1] if pack else suffix](part, path, pack)


def write_file(frame, home, suffix):
    write(frame, home / f"log{suffix}")
    return home / f"log{suffix}"


def write_folder(frame, home, suffix):
    for k, start in reversed(list(enumerate(range(0, N, 25)))):
        write(frame[start : start + 25], home / "log" / f"{k}{suffix}")
    return home / "log"


def write_for_pattern(frame, home, suffix):
    write_folder(frame, home, suffix)
    write(frame, home / "log" / f"whole{suffix}")
    return home / "log" / f"[0-9]{suffix}"


def write_by_month(frame, home, suffix):
    for month, part in frame.groupby("month"):
        write(part.drop(columns="month"), home / "log" / f"month={month}" / f"part{suffix}")
    return home / "log"


def write_by_month_for_pattern(frame, home, suffix):
    return write_by_month(frame, home, suffix) / "month=2026-*" / f"*{suffix}"


FORMS = [write_file, write_folder, write_for_pattern, write_by_month, write_by_month_for_pattern]
QUESTION = ("label", ("phi_a,phi_b",), ("age", "owner"), "month")


@pytest.fixture
def expected(frame, tmp_path_factory):
    path = write_file(frame, tmp_path_factory.mktemp("expected"), ".csv")
    return json.dumps(score_log(open_log(str(path), *QUESTION)).to_dict(), sort_keys=True)


# every form as CSV or JSON, and some as Parquet, which is read in pieces
FORMS_OF_FILES = [*zip(FORMS, (".jsonl", ".csv", ".ndjson.gz", ".csv.zst", ".ndjson.gz"), strict=True)]
FORMS_OF_FILES += [(form, ".parquet") for form in (write_file, write_folder, write_by_month)]
PACKED = [".csv.gz", ".csv.bz2", ".csv.xz", ".csv.zst", ".ndjson.gz", ".jsonl.zst"]


@one_test
@pytest.mark.parametrize(("form", "suffix"), FORMS_OF_FILES)
def test_every_form_of_the_same_rows_gives_the_same_bytes(
    frame, expected, tmp_path, form, suffix, monkeypatch
):
    monkeypatch.setattr(parquet, "VALUES_PER_BATCH", 60)
    log = open_log(str(form(frame, tmp_path, suffix)), *QUESTION)
    assert isinstance(log, ParquetLog) == (suffix == ".parquet")
    assert json.dumps(score_log(log).to_dict(), sort_keys=True) == expected


@one_test
@pytest.mark.parametrize(
    ("form", "suffix"),
    [
        *zip(FORMS, cycle([".csv", ".parquet", ".jsonl"]), strict=False),
        *product([write_file], [".parquet", ".jsonl", *PACKED]),
    ],
)
def test_every_form_is_the_same_table_to_a_model(frame, tmp_path, form, suffix):
    result = open_table(form(frame, tmp_path, suffix)).frame(list(frame.columns))
    pd.testing.assert_frame_equal(result, frame, check_dtype=True)


@one_test
@pytest.mark.parametrize("suffix", [".csv", ".jsonl", ".parquet"])
@pytest.mark.parametrize(
    ("years", "values"),
    [
        (["2025", "2026"], [2025, 2026]),
        (["01", "1"], ["01", "1"]),
        (["a%2Fb", "__HIVE_DEFAULT_PARTITION__"], [None, "a/b"]),
    ],
)
def test_what_folders_say_is_read_as_labels_are_in_every_role(frame, tmp_path, suffix, years, values):
    for year in years:
        write(
            frame.head(1).assign(year=0).drop(columns="year"),
            tmp_path / "log" / f"year={year}" / f"a{suffix}",
        )
    table = open_table(tmp_path / "log")
    for column in (table.labels("year"), table.frame(["year"])["year"]):
        assert [None if pd.isna(value) else value for value in column] == values


def test_the_command_line_reads_patterns_in_quotes_and_groups_by_folders(frame, tmp_path, monkeypatch):
    write_by_month(frame, tmp_path, ".csv.gz")
    monkeypatch.chdir(tmp_path)
    roles = ("--prediction", "label", "--explanation", "phi_*", "--by", "month")
    done = run("score", "log/month=2026-0[12]", *roles, "--out", "-", "--format", "json")
    assert done.exit_code == 0, done.output
    assert json.loads(done.stdout)["n"] == 40
    assert "2026-02" in done.stdout
    assert "2026-03" not in done.stdout


def test_nothing_that_a_pattern_reads_is_written_onto(frame, tmp_path, monkeypatch):
    write_folder(frame, tmp_path, ".jsonl")
    monkeypatch.chdir(tmp_path)
    roles = ("--prediction", "label", "--explanation", "phi_*")
    done = run("score", "log/*.jsonl", *roles, "--out", "log/0.jsonl", "--format", "json")
    assert done.exit_code == 1
    assert "is read; give a file of its own" in done.output


# --- what does not fit together -----------------------------------------------------------------------


def write_files(home, **files):
    for name, content in files.items():
        path = home / name.replace("__", "/").replace("_", ".")
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(content)
    return home


ODD = {
    "other columns": (
        {"a_csv": b"label,phi\n1,2\n", "b_csv": b"label,psi\n1,2\n"},
        r"a\.csv and b\.csv have different columns: only a\.csv has phi",
    ),
    "other columns in JSON": (
        {"a_jsonl": b'{"label": 1}\n', "b_jsonl": b'{"label": 1, "phi": 2}\n'},
        r"a\.jsonl and b\.jsonl have different columns: only b\.jsonl has phi",
    ),
    "other types": (
        {"a_jsonl": b'{"phi": 1}\n', "b_jsonl": b'{"phi": null}\n{"phi": "x"}\n'},
        r"the column 'phi' has a number in row 0 and a text in row 2",
    ),
    "two kinds": ({"a_csv": b"a\n1\n", "b_jsonl": b'{"a": 1}\n'}, r"different kinds, CSV and JSON Lines"),
    "other folders": (
        {"m=1__a_csv": b"a\n1\n", "k=1__a_csv": b"a\n1\n"},
        r"in folders of different columns, \['k'\] and \['m'\]",
    ),
    "half in folders": ({"m=1__a_csv": b"a\n1\n", "z_csv": b"a\n1\n"}, r"folders of different columns, \['m'\] and \[\]"),
    "said twice": ({"m=1__a_csv": b"m\n1\n"}, r"has a column 'm', and lies in a folder m=…"),
    "named twice": ({"m=1__m=2__a_csv": b"a\n1\n"}, r"name a column twice"),
    "a folder of no name": ({"x__a_csv": b"a\n1\n"}, r"in a folder inside it \(x/a\.csv\)"),
    "no object": ({"a_jsonl": b'{"a": 1}\n\n[1]\n'}, r"line 3 of .*a\.jsonl has a list; expected an object"),
    "no JSON": ({"a_jsonl": b"{'a': 1}\n"}, r"line 1 of .*a\.jsonl is no JSON"),
    "a name twice": ({"a_jsonl": b'{"a": 1, "a": 2}\n'}, r"line 1 .* it has a name twice"),
    "no end of brackets": ({"a_jsonl": b'{"a": ' + b"[" * 100_000 + b"\n"}, r"line 1 .* is no JSON"),
    "digits without end": ({"a_jsonl": b'{"a": ' + b"9" * 9999 + b"}\n"}, r"line 1 .* is no JSON"),
    "half a character": ({"a_jsonl": b'{"a": "\\ud800"}\n'}, r"the column 'a' failed with UnicodeEncodeError"),
    "packed and not": ({"a_csv": b"a\n1\n", "a_csv_gz": gzip.compress(b"a\n1\n")}, "same name, packed and not"),
    "not UTF-8": ({"a_jsonl": b'{"a": "\xff"}\n'}, r"line 1 .* is not UTF-8 text"),
    "nothing": ({"a_jsonl": b"\n"}, "0 rows"),
    "cut gzip": ({"a_jsonl_gz": gzip.compress(b'{"a": 1}\n')[:-9]}, "not a whole gzip file"),
    "cut bzip2": ({"a_csv_bz2": bz2.compress(b"a\n1\n")[:-9]}, "not a whole bzip2 file"),
    "cut xz": ({"a_csv_xz": lzma.compress(b"a\n1\n")[:-9]}, "not a whole xz file"),
    "cut zstd": ({"a_csv_zst": PACK[".zst"](b"a\n1\n" * 99)[:-3]}, "not a whole zstd file"),
    "other bytes": ({"a_csv_zst": b"a\n1\n"}, "not a whole zstd file"),
}  # fmt: skip


@one_test
@pytest.mark.parametrize(("files", "words"), ODD.values(), ids=ODD)
def test_what_does_not_fit_together_is_refused_in_one_line(tmp_path, files, words):
    with pytest.raises(InputError, match=words) as error:
        open_table(write_files(tmp_path, **files))
    assert "\n" not in str(error.value)


@one_test
@pytest.mark.parametrize("target", ["elsewhere.csv", "elsewhere", "log"])
def test_links_in_folders_are_refused_and_nobody_runs_in_circles(tmp_path, target):
    (tmp_path / "elsewhere").mkdir()
    write_files(tmp_path, elsewhere_csv=b"a\n1\n", log__a_csv=b"a\n1\n")
    (tmp_path / "log" / ("b.csv" if target.endswith("csv") else "k=1")).symlink_to(tmp_path / target)
    for path in (tmp_path / "log", tmp_path / "log" / "*"):
        with pytest.raises(InputError, match="is a link; expected files and folders themselves"):
            find_files(path)


@one_test
@pytest.mark.parametrize("name", [".a.csv", "_a.csv", ".k=1/a.csv", "_k/a.csv"])
def test_what_programs_hide_is_found_by_no_pattern(tmp_path, name):
    write_files(tmp_path, a_csv=b"a\n1\n")
    (tmp_path / name).parent.mkdir(exist_ok=True)
    (tmp_path / name).write_bytes(b"a\n2\n")
    for path in (tmp_path, tmp_path / "*.csv", tmp_path / "*"):
        assert [file.path.name for file in find_files(path)] == ["a.csv"]


@one_test
@pytest.mark.parametrize("name", ["k=%FF", os.fsdecode(b"k=\xff")])
def test_a_folder_whose_name_is_no_text_is_refused(tmp_path, name):
    (tmp_path / name).mkdir()
    (tmp_path / name / "a.csv").write_text("a\n1\n")
    with pytest.raises(InputError, match=r"the name of a folder of .* failed with Unicode.*Rename it"):
        open_table(tmp_path)


def test_a_file_with_stars_and_brackets_in_its_name_is_itself(tmp_path):
    write_files(tmp_path, **{"[ab]*_csv": b"a\n1\n", "a_csv": b"a\n2\n"})
    assert len(open_table(tmp_path / "[ab]*.csv")) == 1


def test_a_pattern_that_finds_nothing_says_so(tmp_path):
    with pytest.raises(InputError, match=r"no file matches .*nothing-\*\.csv.*in quotes"):
        open_table(tmp_path / "nothing-*.csv")
