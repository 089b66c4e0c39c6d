"""--out: the ending of each file says its format, --format that of stdout, and old options say the new ones."""

import json

import pytest
from consoles import LOG, SCORE, run
from looping import one_test

import faithkit
from faithkit.extension import known_plugins
from faithkit.extension.registry import registry


@pytest.fixture(autouse=True)
def here(tmp_path, monkeypatch):
    (tmp_path / "log.csv").write_text(LOG)
    monkeypatch.chdir(tmp_path)
    return tmp_path


def test_several_files_are_written_each_in_the_format_of_its_ending(here):
    done = run(*SCORE, "--out", "r.json", "--out", "r.csv", "--out", "r.txt", "--out", "r.html")
    assert done.exit_code == 0, done.output
    assert json.loads((here / "r.json").read_text())["n"] == 4
    assert (here / "r.csv").read_text().startswith("rows,measure,n,")
    assert (here / "r.txt").read_text() == done.stdout
    assert (here / "r.html").read_text().startswith("<!DOCTYPE html>")


@one_test
@pytest.mark.parametrize("path", ["-", "/dev/stdout"])
def test_stdout_takes_the_format_that_is_named(path):
    done = run(*SCORE, "--out", path, "--format", "json")
    assert json.loads(done.stdout)["n"] == 4


def test_a_format_is_for_names_without_an_ending_and_endings_say_theirs(here):
    done = run(
        *SCORE, "--out", "-", "--out", "r.csv", "--out", "bare", "--out", "odd.dat", "--format", "json"
    )
    assert done.exit_code == 0, done.output
    assert (here / "bare").read_text() == (here / "odd.dat").read_text() == done.stdout
    assert (here / "r.csv").read_text().startswith("rows,")


@one_test
@pytest.mark.parametrize(
    ("words", "code", "message"),
    [
        (("--out", "-"), 2, "--out - does not say its format: add --format csv, html, json or text."),
        (("--out", "bare"), 2, "--out bare does not say its format"),
        (("--format", "json"), 2, "--format json is for an output without an ending: add --out - (stdout)."),
        (("--out", "r.csv", "--format", "json"), 2, "--format json is for an output without an ending"),
        (("--out", "-", "--format", "jsn"), 1, "no reporter 'jsn' is installed. Did you mean 'json'?"),
        (("--out", "r.docx"), 1, "no installed reporter writes .docx files; installed are .csv (csv)"),
        (("--out", "-", "--out", "/dev/stdout", "--format", "json"), 2, "only one of the outputs can be -"),
        (("--out", "r.json", "--out", "r.json"), 1, "another output goes to r.json already"),
        (("--json", "r.json"), 2, "--json is now --out FILE.json, or --out - --format json for stdout."),
        (("--csv", "r.csv"), 2, "--csv is now --out FILE.csv"),
        (("--html", "r.html"), 2, "--html is now --out FILE.html"),
        (("--title", "May"), 2, "--title is now faithkit report result.json page.html --title TEXT."),
    ],
)
def test_what_cannot_be_written_is_said_before_the_run(words, code, message, here):
    done = run(*SCORE, *words)
    assert (done.exit_code, done.stdout) == (code, "")
    assert message in done.stderr
    assert [file.name for file in here.iterdir()] == ["log.csv"]


def test_a_reporter_that_is_not_installed_is_named_with_the_command_that_installs_it(monkeypatch):
    monkeypatch.setenv("FAITHKIT_DISABLE", "")
    entries = [entry for entry in registry().entries() if entry.distribution != "faithkit-html"]
    monkeypatch.setattr(registry(), "_entries", tuple(entries))
    done = run(*SCORE, "--out", "page.html")
    assert done.exit_code == 1
    command = known_plugins.pip_command("faithkit-html")
    assert done.stderr == f"error: no installed reporter writes .html files: {command}\n"
    assert "pip install" in run(*SCORE, "--out", "-", "--format", "html").stderr


def test_a_plan_and_one_row_are_written_too(here):
    plan = run("plan", "--range", "30", "--out", "plan.json", "--out", "plan.html")
    assert plan.exit_code == 0, plan.output
    assert json.loads((here / "plan.json").read_text()) == faithkit.plan(0.1, n_explanations=30).to_dict()
    assert "730 rows" in (here / "plan.html").read_text()
    row = ("local", "--row", "3", "--data", "iris", "--model", "tree", "--explainer", "tree")
    done = run(*row, "--out", "row.json", "--out", "row.html", "--out", "row.txt")
    assert done.exit_code == 0, done.output
    assert json.loads((here / "row.json").read_text())["explanation"] in done.stdout
    assert "<h1>Row 3</h1>" in (here / "row.html").read_text()
    assert (here / "row.txt").read_text() == done.stdout
