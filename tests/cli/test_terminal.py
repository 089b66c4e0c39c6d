"""No control character of data reaches a terminal, and no spreadsheet runs a cell."""

import csv
import io
import json
import os
import pty
import sys

import pandas as pd
import pytest
from consoles import command, run
from looping import one_test

import faithkit
from faithkit.report.reporters import escape_formula
from faithkit.wording import to_printable

ESCAPES = [
    "\x1b[2J",
    "\x1b]0;title\x07",
    "\r",
    "\x08",
    "\x9b31m",
    "\u202e",
    "\u2066",
    "\u200f",
    "\u2028",
    "\x7f",
    "\x00",
]
ALL_ESCAPES = "".join(ESCAPES)


def has_escapes(text):
    """Whether a text has anything in it that a terminal would obey."""
    return to_printable(text, keep="\n") != text


@one_test
@pytest.mark.parametrize("escape", ESCAPES, ids=repr)
def test_control_characters_are_shown_as_escapes(escape):
    shown = to_printable(f"a{escape}b")
    assert shown.isprintable()
    assert shown.startswith("a\\")
    assert shown.encode().decode("unicode_escape") == f"a{escape}b"


@one_test
@pytest.mark.parametrize(
    "text", ["café", "naïve ≤ π", "日本　語", "\u0645\u06cc\u200c\u062e\u0648\u0627\u0647\u0645", "👩‍🔬", ""]
)
def test_text_of_any_language_stays_as_it_is(text):
    assert to_printable(text) == text


@pytest.fixture
def write_hostile_log(tmp_path, monkeypatch):
    """Write a log whose names, labels, explanations and groups hold a text."""

    def write(text):
        monkeypatch.chdir(tmp_path)
        cells = {"label": ["yes", f"no{text}!"] * 3, "why": [f"a{text}!"] * 6}
        groups = {f"who{text}!": [f"g{text}!"] * 3 + ["h"] * 3}
        pd.DataFrame({**cells, **groups, "x": range(6)}).to_parquet("log.parquet")
        return ("score", "log.parquet", "--prediction", "label", "--explanation", "why", "--features", "x")

    return write


def test_a_table_obeys_no_data(write_hostile_log):
    done = run(*write_hostile_log(ALL_ESCAPES), "--contradictions", 2, "--by", f"who{ALL_ESCAPES}!")
    assert done.exit_code == 0, done.output
    assert not has_escapes(done.stdout)
    assert to_printable(f"no{ALL_ESCAPES}!") in "".join(done.stdout.split("\n"))


@one_test
@pytest.mark.parametrize("markup", ["[/]", "[red]:smile:[link=x]y"])
def test_what_looks_like_markup_stays_text(write_hostile_log, markup):
    done = run(*write_hostile_log(markup), "--contradictions", 2, "--by", f"who{markup}!")
    assert done.exit_code == 0, done.output
    for text in (f"g{markup}", f"who{markup}", f"no{markup}", f"a{markup}"):
        assert text in done.stdout


def test_a_result_shown_in_python_obeys_no_data():
    labels, why = ["yes", f"no{ALL_ESCAPES}", "yes"] * 2, [f"a{ALL_ESCAPES}"] * 6
    result = faithkit.score(labels, why)
    assert not has_escapes(str(result))
    assert not has_escapes(str(result.by(pd.Series([f"g{ALL_ESCAPES}", "h"] * 3, name=f"who{ALL_ESCAPES}"))))


def test_errors_and_warnings_obey_no_data(write_hostile_log):
    escape = ALL_ESCAPES.replace("\x00", "")  # no path has it
    columns = write_hostile_log(escape)[:4]
    done = run(*columns, "--explanation", f"none{escape}")
    assert done.exit_code == 1
    assert not has_escapes(done.stderr)
    warned = run("score", f"nowhere{escape}.csv", *columns[2:], "--explanation", "why")
    assert warned.exit_code == 1
    assert not has_escapes(warned.stderr)


def test_a_warning_is_one_line(monkeypatch):
    def warn(**_):
        import warnings

        warnings.warn("one\n\x1b[2Jtwo", faithkit.errors.FaithkitWarning, stacklevel=1)
        warnings.warn("three\x1b[2J", UserWarning, stacklevel=1)
        raise faithkit.errors.InputError("enough.")

    monkeypatch.setattr("faithkit.inputs.evaluation_inputs.prepare", warn)
    done = run("evaluate", "--explainer", "tree")
    assert done.stderr.splitlines()[0] == r"warning: one \x1b[2Jtwo"
    assert r"UserWarning: three\x1b[2J" in done.stderr
    assert done.stderr.splitlines()[-1] == "error: enough."


def test_json_holds_what_the_data_held_without_a_control_character(write_hostile_log):
    done = run(*write_hostile_log(ALL_ESCAPES), "--contradictions", 1, "--out", "-", "--format", "json")
    assert not has_escapes(done.stdout)
    assert set(json.loads(done.stdout)["contradictions"][0]["predictions"]) == {"yes", f"no{ALL_ESCAPES}!"}


def run_on_a_terminal(arguments):
    """Run a command in a terminal, and return what that gets."""
    output = io.BytesIO()
    pid, terminal = pty.fork()
    if pid == 0:
        os.execv(sys.executable, command(*arguments))
    try:
        while data := os.read(terminal, 65536):
            output.write(data)
    except OSError:  # how Linux says that the other side is closed
        pass
    os.close(terminal)
    assert os.waitpid(pid, 0)[1] == 0, output.getvalue()
    return output.getvalue().decode().replace("\r\n", "\n")


@pytest.mark.slow
@pytest.mark.parametrize("name", ["csv", "html", "json"])
def test_a_terminal_that_is_given_a_file_obeys_no_data(write_hostile_log, name):
    escape = "\x1b[2J\x9b\u202e"
    output = run_on_a_terminal(
        [*write_hostile_log(escape), "--by", f"who{escape}!", "--out", "-", "--format", name]
    )
    assert "who" in output
    assert not has_escapes(output)


# --- spreadsheets ----------------------------------------------------------------------------------------

FORMULAS = ["=1+1", "+1", "-1", "@SUM(A1)"]


@one_test
@pytest.mark.parametrize("formula", [*FORMULAS, "\t=1", "\r=1", "\n=1", "=", "-"], ids=repr)
def test_a_text_that_a_spreadsheet_would_run_begins_with_an_apostrophe(formula):
    assert escape_formula(formula) == f"'{formula}"


@one_test
@pytest.mark.parametrize("cell", [-1, -0.5, float("-inf"), None, True, "yes", "a=1", "", "'=1"], ids=repr)
def test_any_other_cell_stays_as_it_is(cell):
    assert escape_formula(cell) is cell


@one_test
@pytest.mark.parametrize("formula", FORMULAS[:1], ids=repr)
def test_a_csv_file_has_no_cell_that_a_spreadsheet_would_run(formula, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    pd.DataFrame({"label": ["yes", "no"] * 3, "why": ["a"] * 6, formula: ["b"] * 6}).to_parquet("log.parquet")
    columns = ("--prediction", "label", "--explanation", "why", "--by", formula)
    assert run("score", "log.parquet", *columns, "--out", "r.csv").exit_code == 0
    with open("r.csv", newline="") as file:
        rows = list(csv.DictReader(file))
    assert [row["rows"] for row in rows] == ["all", f"'{formula} = b"]


def test_numbers_stay_numbers(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "log.csv").write_text("label,why\nyes,-1\nno,-1\nyes,-2\nyes,-2\n")
    columns = ("--prediction", "label", "--explanation", "why")
    assert run("score", "log.csv", *columns, "--out", "r.csv").exit_code == 0
    table = pd.read_csv("r.csv")
    assert table["value"].tolist() == [0.5]
    assert "'" not in (tmp_path / "r.csv").read_text()
