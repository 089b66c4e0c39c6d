"""`--junit`: a build server is told what the exit code says, however the run ends, and never more than that."""

import os
from datetime import datetime
from xml.etree import ElementTree

import pytest
from consoles import LOG, SCORE, console, environment, run
from looping import one_test

from faithkit.report.junit import Case, format_junit

LIMITS = "--fail-under"
RUN = "measured and written"

# what Jenkins' schema (junit-10.xsd) allows of what we write: element → (attributes needed, more, children)
SHAPE = {
    "testsuites": (set(), {"name", "time", "tests", "failures", "errors"}, {"testsuite"}),
    "testsuite": (
        {"name", "tests"},
        {"failures", "errors", "skipped", "time", "timestamp", "hostname"},
        {"testcase", "properties", "system-out", "system-err"},
    ),
    "testcase": (
        {"classname", "name"},
        {"time"},
        {"skipped", "error", "failure", "system-out", "system-err"},
    ),
    "failure": (set(), {"message", "type"}, set()),
    "error": (set(), {"message", "type"}, set()),
    "skipped": (set(), {"message", "type"}, set()),
    "system-out": (set(), set(), set()),
}


@pytest.fixture
def here(tmp_path, monkeypatch):
    (tmp_path / "log.csv").write_text(LOG)
    (tmp_path / "alone.csv").write_text("label,why\nyes,a\nno,b\nyes,c\n")
    monkeypatch.chdir(tmp_path)
    return tmp_path


def read_cases(text):
    """Return the outcome and the words of each test, and check the shape of all elements."""
    root = ElementTree.fromstring(text.encode())
    for element in root.iter():
        needed, more, children = SHAPE[element.tag]
        assert needed <= set(element.attrib) <= needed | more
        assert {child.tag for child in element} <= children
    (suite,) = root
    cases = {case.get("name"): read_outcome(case) for case in suite}
    assert len(cases) == len(suite) == int(suite.get("tests"))
    states = [state for state, _ in cases.values()]
    for attribute, state in {"failures": "failure", "errors": "error", "skipped": "skipped"}.items():
        assert int(suite.get(attribute)) == states.count(state)
    return cases


def read_outcome(case):
    problems = [(child.tag, child.get("message")) for child in case if child.tag != "system-out"]
    assert len(problems) <= 1
    return problems[0] if problems else ("passed", case.findtext("system-out"))


CASES = [
    (0, (), {RUN: "passed", f"{LIMITS} consistency": "skipped", f"{LIMITS} sufficiency": "skipped"}),
    (0, (LIMITS, "consistency=0"), {RUN: "passed", f"{LIMITS} consistency": "passed"}),
    (3, (LIMITS, "consistency=0.9"), {RUN: "passed", f"{LIMITS} consistency": "failure"}),
    (1, (LIMITS, "sufficiency=0.9"), {RUN: "passed", f"{LIMITS} sufficiency": "error"}),
    (
        1,
        (LIMITS, "consistency=0.9", LIMITS, "sufficiency=0.9"),
        {RUN: "passed", f"{LIMITS} consistency": "failure", f"{LIMITS} sufficiency": "error"},
    ),
    (
        0,
        ("--reference", "log.csv", "--fail-unless-as-good", "consistency=1"),
        {RUN: "passed", "--fail-unless-as-good consistency": "passed"},
    ),
    (
        3,
        ("--reference", "log.csv", "--fail-unless-as-good", "consistency=0.1"),
        {RUN: "passed", "--fail-unless-as-good consistency": "failure"},
    ),
    (
        0,
        ("--reference", "log.csv", "--fail-if-worse", "consistency=0"),
        {RUN: "passed", "--fail-if-worse consistency": "passed"},
    ),
    (
        3,
        ("--fail-unless", "above-chance"),
        {RUN: "passed", "--fail-unless above-chance consistency": "failure"},
    ),
    (
        1,
        ("--reference", "alone.csv", "--fail-unless-as-good", "consistency=1"),
        {RUN: "passed", "--fail-unless-as-good consistency": "error"},
    ),
    (1, ("--explanation", "none"), {RUN: "error"}),
    (1, ("--discretize", "nobody-has-this"), {RUN: "error"}),
    (2, ("--fail-unless-as-good", "consistency=0.1"), {RUN: "error"}),
]


@one_test
@pytest.mark.parametrize(
    ("code", "options", "expected"), CASES, ids=[f"{code} {' '.join(o)}" for code, o, _ in CASES]
)
def test_the_report_says_what_the_exit_code_says(here, code, options, expected):
    done = run(*SCORE, *options, "--junit", "r.xml")
    assert done.exit_code == code
    states = {name: state for name, (state, _) in read_cases((here / "r.xml").read_text()).items()}
    assert expected.items() <= states.items()
    assert ({"failure", "error"} & set(states.values()) == set()) == (code == 0)


def test_the_words_are_those_on_stderr(here):
    done = run(*SCORE, LIMITS, "consistency=0.9", LIMITS, "sufficiency=0.5", "--junit", "r.xml")
    result = read_cases((here / "r.xml").read_text())
    missed, unchecked = (result[f"{LIMITS} {measure}"][1] for measure in ("consistency", "sufficiency"))
    assert done.stderr == f"failed: {missed}\nerror: --fail-under {unchecked}\n"


def test_a_limit_that_is_kept_says_by_how_much(here):
    run(*SCORE, LIMITS, "consistency=0", "--junit", "r.xml")
    words = read_cases((here / "r.xml").read_text())[f"{LIMITS} consistency"][1]
    assert words == "consistency may be as low as 0.000, not below 0, but not above chance (0.500)."


def test_an_output_that_could_not_be_written_is_an_error_beside_a_limit_that_was_kept(here):
    os.mkfifo(here / "pipe")  # nobody reads it
    done = run(*SCORE, LIMITS, "consistency=0", "--out", "pipe", "--format", "json", "--junit", "r.xml")
    assert done.exit_code == 1
    result = read_cases((here / "r.xml").read_text())
    assert result[RUN][0] == "error"
    assert "no process reads it" in result[RUN][1]
    assert result[f"{LIMITS} consistency"][0] == "passed"


def test_on_stdout_it_replaces_the_table(here):
    done = run(*SCORE, LIMITS, "consistency=0.9", "--junit", "-")
    assert (done.exit_code, read_cases(done.stdout)[f"{LIMITS} consistency"][0]) == (3, "failure")


def test_on_stdout_an_error_is_told_too(here):
    done = run("score", "none.csv", "--prediction", "label", "--explanation", "why", "--junit", "-")
    assert (done.exit_code, read_cases(done.stdout)[RUN][0]) == (1, "error")


def test_stdout_takes_one_output(here):
    for second in ("--junit", "--out"):
        done = run(*SCORE, "--out", "-", "--format", "json", second, "-")
        assert (done.exit_code, done.stdout) == (2, "")
        assert "only one of" in done.stderr


def test_a_pipe_gets_one_report(here):
    os.mkfifo(here / "pipe")
    reader = os.open(here / "pipe", os.O_RDONLY | os.O_NONBLOCK)
    done = run(*SCORE, LIMITS, "consistency=0.9", "--junit", "pipe")
    assert done.exit_code == 3
    assert read_cases(os.read(reader, 100_000).decode())[f"{LIMITS} consistency"][0] == "failure"
    os.close(reader)


def test_a_run_that_is_interrupted_says_so(here, monkeypatch):
    def interrupt(*_, **__):
        raise KeyboardInterrupt

    monkeypatch.setattr("faithkit.run.populations.log_scoring.score_log", interrupt)
    assert run(*SCORE, "--junit", "r.xml").exit_code == 130
    assert read_cases((here / "r.xml").read_text()) == {RUN: ("error", "interrupted.")}


def test_an_explainer_without_a_name_is_an_error_like_others(here):
    done = run("evaluate", "--explainer", "", "--junit", "r.xml")
    assert done.exit_code == 1
    assert done.stderr == f"error: {read_cases((here / 'r.xml').read_text())[RUN][1]}\n"


@one_test
@pytest.mark.parametrize(
    ("path", "reason"), [("log.csv", "is read"), ("r.json", "another output"), ("none/r.xml", "no folder")]
)
def test_a_place_that_is_taken_is_refused_before_anything_is_written(here, path, reason):
    (here / "r.json").write_text("old")
    done = run(*SCORE, "--out", "r.json", "--junit", path)
    assert done.exit_code == 1
    assert reason in done.stderr
    assert ((here / "log.csv").read_text(), (here / "r.json").read_text()) == (LOG, "old")


def test_what_no_xml_can_hold_is_told_all_the_same():
    noon = datetime(2026, 11, 14, 12)
    text = format_junit(
        "a suite", [Case("a", "error", "\x00\x1b[2J\ufffe<&]]>\ud800\n"), Case("b", "passed", "")], noon, noon
    )
    assert read_cases(text) == {"a": ("error", "\\x00\\x1b[2J\ufffd<&]]>\\ud800\\n"), "b": ("passed", None)}


DEADLY = """
import os

def model(X):
    os._exit(0)
"""


@pytest.mark.slow
def test_a_report_of_yesterday_does_not_speak_for_a_run_that_was_killed(here):
    (here / "deadly.py").write_text(DEADLY)
    (here / "r.xml").write_text("<testsuites/>")
    options = ("--model", "deadly:model", "--explainer", "tree", "--samples", 20, "--junit", "r.xml")
    done = console("evaluate", *options, env=environment(here))
    assert done.returncode == 1
    state, words = read_cases((here / "r.xml").read_text())[RUN]
    assert state == "error"
    assert words.startswith("the run has not ended by itself")
