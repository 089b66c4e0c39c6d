"""A gate never passes by accident, and never fails for the wrong reason: `faithkit gate` and what can get in its way."""

import math
import os
from decimal import Decimal
from types import SimpleNamespace

import click
import pandas as pd
import pytest
from consoles import LOG, SCORE, console, run
from faithkit_integrations import judge
from faithkit_integrations.gate.command import enforce
from faithkit_integrations.gate.gates import judge_limits
from faithkit_integrations.gate.judgement import Judgement
from faithkit_integrations.gate.numbers import format_below
from hypothesis import given
from hypothesis import strategies as st
from looping import one_test

import faithkit
from faithkit.errors import InputError

UNVERIFIABLE = "label,why\nyes,a\nno,b\nyes,c\n"  # everybody has an explanation of his own


@pytest.fixture
def here(tmp_path, monkeypatch):
    (tmp_path / "log.csv").write_text(LOG)
    (tmp_path / "unverifiable.csv").write_text(UNVERIFIABLE)
    monkeypatch.chdir(tmp_path)
    return tmp_path


def gate(*gates, command=SCORE):
    """Measure, and judge the result."""
    done = run(*command, "--out", "r.json")
    assert done.exit_code == 0, done.stderr
    return run("gate", "r.json", *gates)


# --- what can be said about a limit ----------------------------------------------------------------------


@one_test
@pytest.mark.parametrize(
    ("limit", "estimator"), [("0", "leave-one-out"), ("0.5", "plug-in"), ("1", "verified-only")]
)
def test_a_limit_on_what_could_not_be_checked_at_all_is_an_error(here, limit, estimator):
    options = ("--prediction", "label", "--explanation", "why", "--estimator", estimator)
    done = gate("--fail-under", f"consistency={limit}", command=("score", "unverifiable.csv", *options))
    assert done.exit_code == 1
    assert (
        f"--fail-under consistency={limit} cannot be checked: no explanation holds for any other"
        in done.stderr
    )
    assert "as low as" not in done.stderr
    assert f"fail-under consistency={limit}  cannot be checked" in done.stdout


@one_test
@pytest.mark.parametrize(
    "limit",
    [
        *("consistency", "honesty=0.5", "consistency=high", "consistency="),
        *(f"consistency={number}" for number in ("nan", "NaN", "inf", "-inf", "-0.1", "1.0001", "1e400")),
    ],
)
def test_a_limit_that_is_no_share_of_a_measure_is_a_usage_error(here, limit):
    done = run("gate", "r.json", "--fail-under", limit)
    assert done.exit_code == 2
    assert "is no limit" in done.stderr


def enforce_limit(low, verified=1.0, finding="above chance", limit=0.5):
    """Judge a result whose consistency is as given."""
    is_unknown = verified == 0 and finding != "above chance"
    outcome = SimpleNamespace(low=low, verified=verified, finding=finding, chance=None, is_unknown=is_unknown)
    result = SimpleNamespace(consistency=outcome, unexplained=0, n=9, leaks_prediction=False, warnings=())
    enforce(Judgement(tuple(judge_limits(result, {"consistency": limit}))), result, lambda judgement: None)


@one_test
@pytest.mark.parametrize(
    ("outcome", "reason"),
    [
        ({"low": float("nan")}, "its interval could not be computed"),
        ({"low": None}, "the estimator has no interval"),
        ({"low": 0.0, "verified": 0.0, "finding": "unknown"}, "nothing else shows that it is above chance"),
        ({"low": 0.5, "verified": 0.0, "finding": "unknown"}, "nothing else shows that it is above chance"),
        ({"low": 0.0, "verified": 0.0, "finding": "one label"}, "nothing else shows that it is above chance"),
        ({"low": None, "verified": 0.0, "finding": "unknown"}, "nothing else shows that it is above chance"),
        ({"low": 0.5, "verified": 0.0, "finding": None}, "nothing else shows that it is above chance"),
    ],
)
def test_what_is_no_number_keeps_no_limit(outcome, reason):
    with pytest.raises(InputError, match=reason):
        enforce_limit(**outcome, limit=0.0)


def test_a_bound_that_is_above_chance_keeps_a_limit_where_nothing_could_be_checked():
    enforce_limit(0.94, verified=0.0, limit=0.9)
    with pytest.raises(click.exceptions.Exit):
        enforce_limit(0.94, verified=0.0, limit=0.95)


def test_the_lower_end_itself_keeps_the_limit():
    enforce_limit(0.5, limit=0.5)
    with pytest.raises(click.exceptions.Exit) as ended:
        enforce_limit(0.49999999, limit=0.5)
    assert ended.value.exit_code == 3


@one_test
@pytest.mark.parametrize(
    ("low", "limit", "words"),
    [
        (0.7125, 0.8, "as low as 0.712, below 0.8."),
        (0.7996, 0.8, "as low as 0.7996, below 0.8."),
        (0.79999996, 0.8, "as low as 0.79999996, below 0.8."),
        (0.8, 0.80000001, "as low as 0.800, below 0.80000001."),
        (0.0, 1.0, "as low as 0.000, below 1."),
        (0.57, 0.6, "as low as 0.570, below 0.6."),
    ],
)
def test_the_words_do_not_contradict_each_other(low, limit, words, capsys):
    with pytest.raises(click.exceptions.Exit):
        enforce_limit(low, limit=limit)
    assert words in capsys.readouterr().err


@given(st.floats(0, 1), st.floats(0, 1))
def test_a_lower_end_is_never_told_higher_than_it_is_nor_as_high_as_its_limit(first, second):
    low, limit = sorted((first, second))
    if low < limit:
        printed = Decimal(format_below(low, limit))
        assert printed <= Decimal(repr(low))
        assert printed < Decimal(repr(limit))


# --- what was not tested ---------------------------------------------------------------------------------


LOGS = {
    "declined": {"label": ["no"] * 400, "why": ["debt", "age"] * 200},
    "names": {"label": ["no", "yes"] * 200, "why": ["refused", "granted"] * 200},
    "faithful": {"label": ["no", "no", "yes", "yes"] * 100, "why": ["debt", "age", "wealth", "job"] * 100},
    # 5 % yes, and reasons that have nothing to do with it: chance is 0.905
    "noise": {"label": ["no"] * 1900 + ["yes"] * 100, "why": ["debt", "age"] * 1000},
}
UNTESTED = [
    ("declined", "all explained predictions are the same, so nothing was tested"),
    ("names", "each prediction has one explanation, which may only repeat the prediction; sufficiency would test this"),
]  # fmt: skip


def score(name, *gates):
    pd.DataFrame(LOGS[name]).to_csv(f"{name}.csv", index=False)
    command = ("score", f"{name}.csv", "--prediction", "label", "--explanation", "why", "--diagnose", "none")
    return gate(*gates, "--junit", "r.xml", command=command)


@one_test
@pytest.mark.parametrize(("name", "reason"), UNTESTED)
@pytest.mark.parametrize("option", [("--fail-under", "consistency=0.8"), ("--fail-unless", "above-chance")])
def test_what_was_not_tested_passes_no_gate(here, name, reason, option):
    done = score(name, *option)
    assert done.exit_code == 1
    assert f"cannot be checked: {reason}" in done.stderr
    assert (
        f'<error message="consistency{"=0.8" if option[0] == "--fail-under" else ""} cannot be checked: {reason}'
        in (here / "r.xml").read_text()
    )
    (judgement,) = judge(faithkit.score(*LOGS[name].values()), consistency=0.8)
    assert (judgement.is_kept, judgement.words.startswith(reason)) == (None, True)


@one_test
@pytest.mark.parametrize(("measures", "code"), [(["sufficiency"], 0), (["consistency", "sufficiency"], 0), (["consistency"], 1)])  # fmt: skip
def test_names_pass_where_sufficiency_is_tested(here, measures, code):
    """Two rules, each of one label, that hold for nobody else: rows are checked against x, not against names."""
    x = [1, 2] * 200
    rules = ["x <= 1.5" if value == 1 else "x > 1.5" for value in x]
    pd.DataFrame({"x": x, "label": ["no", "yes"] * 200, "rule": rules}).to_csv("rules.csv", index=False)
    options = ("--prediction", "label", "--explanation", "rule", "--features", "x", "--diagnose", "none")
    gates = [part for measure in measures for part in ("--fail-under", f"{measure}=0.8")]
    assert gate(*gates, command=("score", "rules.csv", *options)).exit_code == code


# --- chance ----------------------------------------------------------------------------------------------


def test_a_limit_that_noise_keeps_is_a_warning_on_the_same_line(here):
    done = score("noise", "--fail-under", "consistency=0.8")
    low = faithkit.score(*LOGS["noise"].values()).consistency.low
    assert 0.8 <= low < 0.905
    assert (done.exit_code, done.stderr) == (
        0,
        f"warning: {faithkit.score(*LOGS['noise'].values()).warnings[0].sentence}\n"
        f"warning: consistency may be as low as {math.floor(1000 * low) / 1000}, not below 0.8, "
        "but not above chance (0.905).\n",
    )


@one_test
@pytest.mark.parametrize("limit", [(), ("--fail-under", "consistency=0.8")])
@pytest.mark.parametrize(("name", "code"), [("noise", 3), ("faithful", 0)])
def test_noise_is_not_above_chance(here, name, code, limit):
    done = score(name, "--fail-unless", "above-chance", *limit)
    assert done.exit_code == code
    assert ("not above chance (0.905).\n" in done.stderr) == (code == 3)


def test_above_chance_is_asked_of_the_measures_that_have_a_limit():
    labels, x = ["no", "yes"] * 100, [[1.0], [2.0]] * 100
    everywhere = faithkit.score(labels, ["a", "b", "c", "d"] * 50, X=x, relation=lambda x, explanation: True)
    assert [one.is_kept for one in judge(everywhere, above_chance=True)] == [True, False]
    assert [one.is_kept for one in judge(everywhere, consistency=0.5, above_chance=True)] == [True, True]


# --- what gets in its way --------------------------------------------------------------------------------


@one_test
@pytest.mark.parametrize(("limit", "missed"), [("0", False), ("1", True)])
def test_a_file_that_cannot_be_written_fails_the_build_whether_the_limit_is_kept_or_not(here, limit, missed):
    (here / "r.csv").unlink(missing_ok=True)
    (here / "pipe").unlink(missing_ok=True)
    os.mkfifo(here / "pipe")  # nobody reads it
    done = gate("--out", "pipe", "--out", "r.csv", "--format", "json", "--fail-under", f"consistency={limit}")
    assert done.exit_code == 1
    assert f"cannot write {here / 'pipe'}: no process reads it" in done.stderr
    assert ("failed: consistency may be as low as" in done.stderr) == missed
    assert "gates passed" in done.stdout
    assert (here / "r.csv").exists()


@pytest.mark.slow
@pytest.mark.skipif(not os.path.exists("/dev/full"), reason="this system has no /dev/full")
@pytest.mark.parametrize(("limit", "missed"), [("0", False), ("1", True)])
def test_a_stdout_that_cannot_be_written_fails_the_build_whether_the_limit_is_kept_or_not(
    here, limit, missed
):
    assert run(*SCORE, "--out", "r.json").exit_code == 0
    with open("/dev/full", "w") as full:
        done = console(
            "gate", "r.json", "--out", "r.csv", "--fail-under", f"consistency={limit}", capture_output=False,
            stdout=full, stderr=-1,
        )  # fmt: skip
    assert done.returncode == 1
    assert "error: cannot write to stdout: No space left on device" in done.stderr
    assert ("failed: consistency may be as low as" in done.stderr) == missed
    assert (here / "r.csv").exists()


def test_all_that_went_wrong_is_told_on_one_line(here):
    for name in ("pipe", "other-pipe"):
        os.mkfifo(here / name)
    done = gate("--out", "pipe", "--out", "other-pipe", "--format", "json", "--fail-under", "sufficiency=0.5")
    assert done.exit_code == 1
    (line,) = done.stderr.splitlines()
    assert all(
        words in line
        for words in ("/pipe: no process", "/other-pipe: no process", "sufficiency=0.5 cannot be checked")
    )


@one_test
@pytest.mark.parametrize(
    ("column", "options", "exit_code", "message"),
    [
        ("a", (), 0, ""),
        ("b", (), 3, "failed: sufficiency is below its control"),
        ("a", ("--control-draws", "0"), 1, "above-control sufficiency cannot be checked: it has no control"),
        ("a", ("--relation", "in-scope | in-scope"), 0, ""),
        ("a", ("--clusters", "cluster"), 0, ""),
    ],
)
def test_a_build_passes_only_if_sufficiency_is_above_a_control_that_was_drawn(
    tmp_path, column, options, exit_code, message
):
    table = pd.DataFrame({"a": [0, 1] * 40, "b": [0, 0, 1, 1] * 20, "c": range(80)})
    why = [f"{column} = {value}" for value in table[column]]
    table.assign(label=["no", "yes"] * 40, why=why, cluster=table["c"] // 2).to_csv(
        tmp_path / "log.csv", index=False
    )
    roles = ("--prediction", "label", "--explanation", "why", "--features", "a,b,c", "--diagnose", "none")
    result = str(tmp_path / "r.json")
    measured = run("score", str(tmp_path / "log.csv"), *roles, *options, "--out", result)
    assert measured.exit_code == 0, measured.stderr
    done = run("gate", result, "--fail-unless", "above-control")
    assert done.exit_code == exit_code, done.stderr
    assert message in done.stderr
