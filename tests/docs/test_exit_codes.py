"""Every exit code that is documented happens, when the page says so, and no other does."""

import re
from pathlib import Path

import pytest
from click.testing import CliRunner
from looping import one_test

import faithkit
from faithkit.cli import main

pytestmark = pytest.mark.usefixtures("few_control_draws", "no_next_steps")

PAGE = (Path(__file__).parents[2] / "docs" / "reference" / "exit_codes.rst").read_text()
LOG = "label,why\nyes,a\nno,a\nyes,b\nyes,b\n"
SCORE = "score log.csv --prediction label --explanation why"
STREAM = "long.csv --prediction label --explanation why"


@pytest.fixture
def run(tmp_path, monkeypatch):
    (tmp_path / "log.csv").write_text(LOG)
    for name, options in {"r": {}, "majority": {"estimator": "majority"}}.items():
        result = faithkit.score(["yes", "yes", "no", "no"], ["a", "a", "b", "a"], **options)
        result.write(tmp_path / f"{name}.json")
    faithkit.score(["yes", "no", "no"], ["a", "a", "a"]).write(tmp_path / "b.json")
    faithkit.score(["yes", "no"], ["a", "b"]).write(tmp_path / "alone.json")
    (tmp_path / "long.csv").write_text("label,why\n" + "yes,a\nno,b\n" * 100)
    (tmp_path / "changed.csv").write_text("label,why\n" + "yes,b\nno,a\n" * 100)
    monkeypatch.chdir(tmp_path)

    def invoke(command):
        result = CliRunner().invoke(main, command.split())
        return result.exit_code, result.stdout, result.stderr

    return invoke


CASES = [
    (0, SCORE),
    (0, "gate r.json --fail-under consistency=0"),
    (0, "plugins"),
    (1, "score none.csv --prediction label --explanation why"),
    (1, "score log.csv --prediction lable --explanation why"),
    (1, "show explainer shpa"),
    (1, "gate r.json --fail-under sufficiency=0.5"),
    (1, "gate majority.json --fail-under consistency=0.5"),
    (1, "gate alone.json --fail-under consistency=0"),
    (1, "gate none.json --fail-under consistency=0"),
    (1, "gate log.csv --fail-under consistency=0"),
    (1, f"{SCORE} --out log.csv"),
    (1, "check a-plugin-that-nobody-has"),
    (2, "evalute"),
    (2, "score log.csv"),
    (2, "gate r.json"),
    (2, "gate r.json --fail-under consistency=high"),
    (2, f"{SCORE} --fail-under consistency=0.5"),
    (2, "score --no-such-option"),
    (3, "gate r.json --fail-under consistency=0.9"),
    (0, "gate r.json --reference b.json --fail-unless-as-good consistency=1"),
    (0, "gate r.json --reference b.json --fail-if-worse consistency=0"),
    (1, "gate r.json --reference b.json --fail-if-worse sufficiency=0.5"),
    (1, "gate r.json --reference alone.json --fail-if-worse consistency=1"),
    (1, "gate r.json --reference none.json --fail-under consistency=0"),
    (2, "gate r.json --fail-if-worse consistency=0.1"),
    (2, "gate r.json --fail-unless-as-good consistency=0.1"),
    (2, "gate r.json --fail-unless above-average"),
    (2, "gate r.json --reference b.json --fail-if-worse 0.1"),
    (3, "gate r.json --reference b.json --fail-unless-as-good consistency=0.1"),
    (3, "gate r.json --fail-unless above-chance"),
    (0, f"monitor begun.state --reference {STREAM}"),
    (1, "monitor state"),
    (2, "monitor"),
    (3, f"monitor changed.state changed.csv --reference {STREAM}"),
]


@one_test
@pytest.mark.parametrize(("code", "command"), CASES, ids=[f"{code} {command}" for code, command in CASES])
def test_the_command_ends_with_the_code(run, code, command):
    ended, out, err = run(command)
    assert ended == code, err
    is_unchecked = (
        code == 1 and command.startswith("gate") and "none.json" not in command and "csv" not in command
    )
    assert bool(out) == (code in (0, 3) or is_unchecked)
    if code == 1:
        assert err.startswith("error: ")
        assert len(err.splitlines()) == 1
    if code == 2:
        assert err.startswith("Usage: ")


def test_an_interrupted_run_ends_with_130(run, monkeypatch):
    def interrupt(*_):
        raise KeyboardInterrupt

    monkeypatch.setattr("faithkit.measure.planning.plans.plan_samples", interrupt)
    assert run("plan --range 30") == (130, "", "interrupted\n")


def test_debug_shows_the_traceback():
    result = CliRunner().invoke(main, ["show", "explainer", "shpa", "--debug"])
    assert result.exit_code == 1
    assert "Traceback" in result.stderr
    assert "UnknownComponentError" in result.stderr


def test_these_codes_and_no_others_are_documented():
    documented = {int(code) for code in re.findall(r"^   \* - (\d+)$", PAGE, flags=re.M)}
    assert documented == {code for code, _ in CASES} | {130}
