"""`faithkit monitor`: a job that runs every day with the same words, and whose exit code says what it saw."""

import io
import json
import shutil
import sqlite3
from pathlib import Path

import pandas as pd
import pytest
from click.testing import CliRunner
from faithkit_monitor import Monitor
from looping import one_test
from monitor.streams import log

import faithkit
from faithkit.cli import main

RECORDED = Path(__file__).parent / "recorded"
ROLES = ["--prediction", "prediction", "--explanation", "phi_*"]
DAYS = [f"date=2026-11-{day}" for day in ("09", "10", "14")]
SAME = "--reference loans.csv --prediction label --explanation why"
NEW = ["--reference", "reference.parquet", *ROLES]


@pytest.fixture(scope="module")
def logs(tmp_path_factory):
    """Return a folder with three days of the recorded log, of which the last is bad, and three more batches."""
    folder = tmp_path_factory.mktemp("logs")
    left_out = shutil.ignore_patterns("date=2026-11-1[1235]", "record.py", ".*")
    shutil.copytree(RECORDED, folder, dirs_exist_ok=True, ignore=left_out)
    for name, rows, seed in (("loans", 600, 0), ("1", 100, 1), ("2", 100, 2), ("3", 100, 3)):
        log(rows, seed).to_csv(folder / f"{name}.csv", index=False)
    return folder


@pytest.fixture(autouse=True)
def folder(logs, tmp_path, monkeypatch):
    """Work in a copy of the logs."""
    shutil.copytree(logs, tmp_path, dirs_exist_ok=True)
    monkeypatch.chdir(tmp_path)


def run(*words):
    done = CliRunner().invoke(main, ["monitor", "m.state", *words])
    assert not done.exception or isinstance(done.exception, SystemExit), done.exception
    return done


def list_looks():
    return [look.name for look in Monitor.open("m.state").looks]


def run_on_loans(*words):
    return run(*words, "--reference", "loans.csv", "--prediction", "label", "--explanation", "why")


def test_the_same_words_every_day_add_what_is_new():
    shutil.move(f"log/{DAYS[2]}", ".")
    first = run("log", *NEW)
    assert (first.exit_code, len(list_looks())) == (0, 2)
    again = run("log", *NEW)
    assert (again.exit_code, again.stdout) == (0, first.stdout)
    assert again.stderr == "2 of 2 days were added before.\n"
    shutil.move(DAYS[2], "log")
    last = run("log", *NEW)
    assert last.exit_code == 3
    assert last.stderr == "2 of 3 days were added before.\nalarm: raised at date=2026-11-14.\n"
    assert list_looks() == DAYS
    assert "Alarm at date=2026-11-14: rows since date=2026-11-14 agree less" in last.stdout
    assert [run(*words).exit_code for words in (["log"], [])] == [3, 3]  # every later run says so


def test_what_was_settled_need_not_be_said_again():
    run_on_loans("1.csv")
    assert run("2.csv").exit_code == 0
    assert run().exit_code == 0
    assert list_looks() == ["1.csv", "2.csv"]


def test_a_file_that_is_in_already_is_refused_and_nothing_changes():
    run_on_loans("1.csv", "2.csv")
    before = Path("m.state").read_bytes()
    done = run("1.csv")
    assert done.exit_code == 1
    assert done.stderr == (
        "error: 1.csv was added before, and a batch counts once. Give another batch another name. This run added "
        "nothing.\n"
    )
    assert Path("m.state").read_bytes() == before


def test_one_bad_log_takes_no_other_with_it():
    pd.DataFrame({"label": ["granted"], "reason": ["debt"]}).to_csv("bad.csv", index=False)
    done = run_on_loans("1.csv", "2.csv", "bad.csv", "3.csv")
    assert done.exit_code == 1
    assert done.stderr == (
        "error: bad.csv: no column matches 'why'. Available: 'label', 'reason'. This run added 1.csv, 2.csv, "
        "3.csv.\n"
    )
    assert list_looks() == ["1.csv", "2.csv", "3.csv"]
    assert "3.csv" in done.stdout


def test_a_day_whose_rows_are_others_is_refused_and_the_next_is_added():
    moved = shutil.move(f"log/{DAYS[1]}", ".")
    run("log", *NEW)
    assert len(list_looks()) == 2
    shutil.copy(next(Path(moved).glob("part*")), f"log/{DAYS[0]}/late.parquet")
    shutil.move(moved, "log")
    done = run("log")
    assert done.exit_code == 1
    assert "alarm: raised at" in done.stderr
    assert "error: date=2026-11-09 has other rows than when it was added" in done.stderr
    assert done.stderr.endswith("This run added date=2026-11-10.\n")
    assert list_looks()[-1] == DAYS[1]
    assert run("log").stderr.endswith("This run added nothing.\n")
    assert len(list_looks()) == 3


@one_test
@pytest.mark.parametrize("other", ["part.parquet", "date=2026-12-01", "day=2026-11-09", "copy"])
def test_equal_rows_under_another_name_count_with_a_warning(other):
    """The first day has one file."""
    Path("m.state").unlink(missing_ok=True)
    (part,) = Path("log", DAYS[0]).glob("part*.parquet")
    if not other.endswith(".parquet"):
        Path(other).mkdir()
    shutil.copy(part, other)
    run(f"log/{DAYS[0]}", *NEW)
    done = run(other)
    assert done.exit_code == 0
    assert f"{other} and date=2026-11-09 have equal rows, and both count" in " ".join(done.stderr.split())
    assert list_looks() == [DAYS[0], other]


def test_another_file_of_the_same_name_is_another_batch():
    Path("m.state").unlink(missing_ok=True)
    run_on_loans("1.csv")
    Path("other").mkdir(exist_ok=True)
    shutil.copy("2.csv", "other/1.csv")
    assert run("other/1.csv").exit_code == 0
    assert len(list_looks()) == 2


def test_late_rows_in_another_order_and_other_files_are_the_same_day():
    run("log", *NEW)
    day = Path("log", DAYS[1])
    parts = [pd.read_parquet(file) for file in sorted(day.glob("part*"))]
    shutil.rmtree(day)
    day.mkdir()
    columns = ["phi_debt", "phi_income", "prediction"]
    pd.concat(parts[::-1])[columns].to_csv(day / "compacted.csv", index=False)
    done = run("log")
    assert "3 of 3 days were added before." in done.stderr
    assert len(list_looks()) == 3


@one_test
@pytest.mark.parametrize(
    ("words", "code", "message"),
    [
        (f"{SAME} --confidence 0.9", 1, "with the confidence 0.95, and not with 0.9: make a new state"),
        (f"{SAME} --seed 1", 1, "was made with the seed 0, and not with 1"),
        ("--prediction label --explanation label", 1, "was made with the columns"),
        ("--reference 1.csv --prediction label --explanation why", 1, "was made with the reference"),
        (f"{SAME} --confidence 0.95 --seed 0 --discretize original", 0, ""),
        ("--seed 0 --discretize sign", 2, "--seed and --discretize cannot change once the state exists"),
        ("--prediction label", 2, "--prediction and --explanation go together"),
        ("--reference loans.csv", 2, "--reference needs them"),
        (f"{SAME} --discretize sgn", 1, "Did you mean 'sign'?"),
        ("--confidence much", 2, "'much' is not a valid float"),
        ("none.csv", 1, "there is no file none.csv"),
        ("m.state", 1, "has the suffix '.state'"),
        ("loans.csv", 1, "loans.csv has the rows of the reference, which would agree with themselves"),
        ("--out m.state --format json", 1, "m.state is read; give a file of its own"),
        ("1.csv --out 1.csv", 1, "1.csv is read; give a file of its own"),
        (
            "--out loans.csv --reference loans.csv --prediction label --explanation why",
            1,
            "loans.csv is read",
        ),
    ],
)
def test_what_does_not_fit_is_told_in_one_line(words, code, message):
    if not Path("m.state").exists():
        run_on_loans()
    before = Path("m.state").read_bytes()
    done = run(*words.split())
    assert done.exit_code == code, done.stderr
    assert message in done.stderr
    if code == 1:
        assert len(done.stderr.splitlines()) == 1
    assert Path("m.state").read_bytes() == before


@one_test
@pytest.mark.parametrize(
    ("words", "message"),
    [
        ("", "there is no state"),
        ("1.csv", "there is no state"),
        ("--reference 1.csv --prediction label --explanation why --out m.state --format json", "is read; give a file"),
        ("--reference none.csv --prediction label --explanation why", "there is no file none.csv"),
        ("--reference reference.parquet --prediction prediction --explanation phi_* --discretize quantile", "learns from"),
    ],
)  # fmt: skip
def test_where_no_state_can_be_made_none_is(words, message):
    done = run(*words.split())
    assert done.exit_code == 1
    assert message in done.stderr
    assert len(done.stderr.splitlines()) == 1
    assert not Path("m.state").exists()


def test_a_state_of_python_is_told_the_columns():
    frame = pd.read_csv("loans.csv")
    Monitor.create("m.state", frame["label"], frame["why"])
    done = run("1.csv")
    assert done.exit_code == 1
    assert "was created in Python and stores no columns" in done.stderr
    assert run("1.csv", "--prediction", "label", "--explanation", "why").exit_code == 0


def test_a_reference_may_be_a_folder_of_days():
    assert run("--reference", "log", *ROLES).exit_code == 0
    assert Monitor.open("m.state").to_dict()["reference"]["n"] == 360


def test_a_day_that_is_the_reference_is_passed_over():
    done = run("log", "--reference", f"log/{DAYS[0]}", *ROLES)
    assert done.exit_code in (0, 3)
    assert list_looks() == DAYS[1:]
    named = run(f"log/{DAYS[0]}")
    assert (named.exit_code, "has the rows of the reference" in named.stderr) == (1, True)


@pytest.mark.usefixtures("no_pictures")
def test_files_get_all_looks():
    run_on_loans("1.csv", "2.csv", "--out", "m.json", "--out", "m.csv", "--out", "m.html")
    payload = json.loads(Path("m.json").read_text())
    assert [look["name"] for look in payload["looks"]] == ["1.csv", "2.csv"]
    assert pd.read_csv("m.csv")["n"].tolist() == [100, 100]
    assert Path("m.html").read_text().startswith("<!DOCTYPE html>")


def test_a_result_for_programs_replaces_the_table():
    done = run_on_loans("1.csv", "--out", "-", "--format", "csv")
    assert pd.read_csv(io.StringIO(done.stdout))["name"].tolist() == ["1.csv"]


@one_test
@pytest.mark.parametrize("kind", ["datetime", "date"])
def test_dates_that_become_timestamps_are_refused_and_raise_no_alarm(kind):
    dates = {"income": "2026-11-10", "debt": "2026-11-11", "age": "2026-11-12", "savings": "2026-11-13"}
    frame = log(300, seed=0).replace({"why": dates})
    frame.to_csv("loans.csv", index=False)
    days = pd.to_datetime(frame["why"])
    frame.assign(why=days.dt.date if kind == "date" else days).to_parquet("later.parquet")
    done = run_on_loans("later.parquet")
    assert done.exit_code == 1
    assert f"the explanations of later.parquet are made of {kind}, " in done.stderr
    assert "write both in the same way" in done.stderr
    assert list_looks() == []


def test_a_state_of_an_older_version_is_one_error_with_the_command_that_makes_it_again():
    run("log", *NEW, "--confidence", "0.9")
    with sqlite3.connect("m.state") as connection:  # as 0.2.0 wrote it
        connection.execute("PRAGMA user_version = 0")
        connection.execute("DROP TABLE looks")
        connection.execute("CREATE TABLE looks (number INTEGER PRIMARY KEY, fingerprint TEXT, value TEXT)")
        versions = json.dumps({"faithkit": "0.2.0", "numpy": "2.4.6"})
        connection.execute("UPDATE settings SET value = ? WHERE name = 'versions'", (versions,))
    connection.close()
    command = "faithkit monitor m.state --reference LOG --prediction prediction --explanation 'phi_*'"
    for words in ([], ["log"], ["log", *NEW, "--confidence", "0.9"]):
        done = run(*words)
        assert done.exit_code == 1
        assert done.stdout == ""
        assert done.stderr == (
            f"error: the state m.state was written by faithkit 0.2.0, and faithkit {faithkit.__version__} cannot "
            f"continue it. Move it away, make it again, and add its batches: {command} --confidence 0.9\n"
        )


def test_a_state_that_does_not_say_its_version_is_called_old():
    run_on_loans()
    with sqlite3.connect("m.state") as connection:
        connection.execute("PRAGMA user_version = 0")
        connection.execute("DELETE FROM settings WHERE name = 'versions'")
    connection.close()
    assert "the state m.state was written by faithkit 0.2.0 or earlier, and" in run().stderr
