"""`gate --junit`: a build server is told what the exit code says, and never more than that."""

import os
import shutil
from datetime import datetime
from xml.etree import ElementTree

import pytest
from consoles import LOG, run
from faithkit_integrations.gate.junit import Case, format_junit
from looping import one_test

import faithkit

LIMITS = "--fail-under"
RESULT, JUDGED = "the result is there", "all gates are judged"

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


@pytest.fixture(scope="module")
def results(tmp_path_factory):
    """Results of four rows, of three that share nothing, and a file that is none."""
    folder = tmp_path_factory.mktemp("results")
    faithkit.score(["yes", "no", "yes", "yes"], ["a", "a", "b", "b"]).write(folder / "r.json")
    faithkit.score(["yes", "no", "yes"], ["a", "b", "c"]).write(folder / "alone.json")
    (folder / "half.json").write_text((folder / "r.json").read_text()[:500])
    return folder


@pytest.fixture
def here(results, tmp_path, monkeypatch):
    (tmp_path / "log.csv").write_text(LOG)
    monkeypatch.chdir(tmp_path)
    shutil.copytree(results, tmp_path, dirs_exist_ok=True)
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
    for attribute, state in {"failures": "failure", "errors": "error"}.items():
        assert int(suite.get(attribute)) == states.count(state)
    return cases


def read_outcome(case):
    problems = [(child.tag, child.get("message")) for child in case if child.tag != "system-out"]
    assert len(problems) <= 1
    return problems[0] if problems else ("passed", case.findtext("system-out"))


CASES = [
    (0, (LIMITS, "consistency=0"), {RESULT: "passed", f"{LIMITS} consistency": "passed"}),
    (3, (LIMITS, "consistency=0.9"), {RESULT: "passed", f"{LIMITS} consistency": "failure"}),
    (1, (LIMITS, "sufficiency=0.9"), {RESULT: "passed", f"{LIMITS} sufficiency": "error"}),
    (
        1,
        (LIMITS, "consistency=0.9", LIMITS, "sufficiency=0.9"),
        {RESULT: "passed", f"{LIMITS} consistency": "failure", f"{LIMITS} sufficiency": "error"},
    ),
    (
        0,
        ("--reference", "r.json", "--fail-unless-as-good", "consistency=1"),
        {RESULT: "passed", "--fail-unless-as-good consistency": "passed"},
    ),
    (
        3,
        ("--reference", "r.json", "--fail-unless-as-good", "consistency=0.1"),
        {RESULT: "passed", "--fail-unless-as-good consistency": "failure"},
    ),
    (
        0,
        ("--reference", "r.json", "--fail-if-worse", "consistency=0"),
        {RESULT: "passed", "--fail-if-worse consistency": "passed"},
    ),
    (
        3,
        ("--fail-unless", "above-chance"),
        {RESULT: "passed", "--fail-unless above-chance consistency": "failure"},
    ),
    (
        1,
        ("--reference", "alone.json", "--fail-unless-as-good", "consistency=1"),
        {RESULT: "passed", "--fail-unless-as-good consistency": "error"},
    ),
    (1, ("--reference", "none.json", LIMITS, "consistency=0"), {RESULT: "passed", JUDGED: "error"}),
    (1, ("--reference", "half.json", LIMITS, "consistency=0"), {RESULT: "passed", JUDGED: "error"}),
    (2, ("--fail-unless-as-good", "consistency=0.1"), {RESULT: "error"}),
    (2, (), {RESULT: "error"}),
]


@one_test
@pytest.mark.parametrize(
    ("code", "options", "expected"), CASES, ids=[f"{code} {' '.join(o)}" for code, o, _ in CASES]
)
def test_the_report_says_what_the_exit_code_says(here, code, options, expected):
    done = run("gate", "r.json", *options, "--junit", "r.xml")
    assert done.exit_code == code
    states = {name: state for name, (state, _) in read_cases((here / "r.xml").read_text()).items()}
    assert states == expected
    assert ({"failure", "error"} & set(states.values()) == set()) == (code == 0)


@one_test
@pytest.mark.parametrize("name", ["none.json", "half.json", "log.csv"])
def test_where_there_is_no_result_the_report_says_so(here, name):
    done = run("gate", name, LIMITS, "consistency=0", "--junit", "r.xml")
    assert done.exit_code == 1
    [(case, (state, words))] = read_cases((here / "r.xml").read_text()).items()
    assert (case, state, done.stderr) == (RESULT, "error", f"error: {words}\n")


def test_the_words_are_those_on_stderr(here):
    done = run("gate", "r.json", LIMITS, "consistency=0.9", LIMITS, "sufficiency=0.5", "--junit", "r.xml")
    result = read_cases((here / "r.xml").read_text())
    missed, unchecked = (result[f"{LIMITS} {measure}"][1] for measure in ("consistency", "sufficiency"))
    assert done.stderr == f"failed: {missed}\nerror: --fail-under {unchecked}\n"


def test_a_limit_that_is_kept_says_by_how_much(here):
    run("gate", "r.json", LIMITS, "consistency=0", "--junit", "r.xml")
    words = read_cases((here / "r.xml").read_text())[f"{LIMITS} consistency"][1]
    assert words == "consistency may be as low as 0.000, not below 0, but not above chance (0.500)."


def test_an_output_that_could_not_be_written_is_an_error_beside_a_limit_that_was_kept(here):
    os.mkfifo(here / "pipe")  # nobody reads it
    done = run(
        "gate", "r.json", LIMITS, "consistency=0", "--out", "pipe", "--format", "json", "--junit", "r.xml"
    )
    assert done.exit_code == 1
    result = read_cases((here / "r.xml").read_text())
    assert result[JUDGED][0] == "error"
    assert "no process reads it" in result[JUDGED][1]
    assert result[f"{LIMITS} consistency"][0] == "passed"


@one_test
@pytest.mark.parametrize("name", ["r.json", "none.json"])
def test_on_stdout_it_replaces_the_table(here, name):
    done = run("gate", name, LIMITS, "consistency=0.9", "--junit", "-")
    expected = {"r.json": (3, "passed"), "none.json": (1, "error")}[name]
    assert (done.exit_code, read_cases(done.stdout)[RESULT][0]) == expected


def test_stdout_takes_one_output(here):
    done = run("gate", "r.json", LIMITS, "consistency=0", "--out", "-", "--format", "json", "--junit", "-")
    assert (done.exit_code, done.stdout) == (2, "")
    assert "--junit - takes stdout for itself" in done.stderr


def test_a_pipe_gets_one_report(here):
    os.mkfifo(here / "pipe")
    reader = os.open(here / "pipe", os.O_RDONLY | os.O_NONBLOCK)
    done = run("gate", "r.json", LIMITS, "consistency=0.9", "--junit", "pipe")
    assert done.exit_code == 3
    assert read_cases(os.read(reader, 100_000).decode())[f"{LIMITS} consistency"][0] == "failure"
    os.close(reader)


def test_a_run_that_is_interrupted_says_so(here, monkeypatch):
    def interrupt(*_, **__):
        raise KeyboardInterrupt

    monkeypatch.setattr("faithkit_integrations.gate.command.load_result", interrupt)
    assert run("gate", "r.json", LIMITS, "consistency=0", "--junit", "r.xml").exit_code == 130
    assert read_cases((here / "r.xml").read_text()) == {RESULT: ("error", "interrupted.")}


@one_test
@pytest.mark.parametrize(
    ("path", "reason"),
    [
        ("r.json", "r.json is read; give a file of its own"),
        ("alone.json", "alone.json is read"),
        ("none/r.xml", "No such file or directory"),
    ],
)
def test_a_place_that_is_taken_is_refused(here, path, reason):
    files = {name: (here / name).read_text() for name in ("r.json", "alone.json")}
    done = run("gate", "r.json", "--reference", "alone.json", LIMITS, "consistency=0", "--junit", path)
    assert done.exit_code == 1
    assert reason in done.stderr
    assert {name: (here / name).read_text() for name in files} == files


def test_no_other_output_goes_to_the_file_of_the_report(here):
    done = run(
        "gate",
        "r.json",
        LIMITS,
        "consistency=0",
        "--junit",
        "r.json5",
        "--out",
        "r.json5",
        "--format",
        "json",
    )
    assert (done.exit_code, (here / "r.json5").exists()) == (1, False)
    assert "cannot write r.json5" in done.stderr


def test_what_no_xml_can_hold_is_told_all_the_same():
    noon = datetime(2026, 11, 14, 12)
    text = format_junit(
        "a suite", [Case("a", "error", "\x00\x1b[2J\ufffe<&]]>\ud800\n"), Case("b", "passed", "")], noon, noon
    )
    assert read_cases(text) == {"a": ("error", "\\x00\\x1b[2J\ufffd<&]]>\\ud800\\n"), "b": ("passed", None)}
