"""`assert_faithful` in a user's tests: it passes, fails and errs as the gates of the command line do."""

import json
import os
import subprocess
import sys
import tomllib
from importlib import import_module
from pathlib import Path
from types import SimpleNamespace
from xml.etree import ElementTree

import numpy as np
import pytest
from consoles import run
from faithkit_integrations.pytest_plugin import AssertFaithful, file_name, pytest_configure
from looping import one_test

import faithkit

ROOT = Path(__file__).parents[3]
PLUGIN = "faithkit_integrations.pytest_plugin"
X = np.arange(200.0).reshape(-1, 1)


def model(X):
    return X[:, 0] >= 100


def quarters(X):
    return (X[:, 0] // 50).tolist()


def sixties(X):
    return (X[:, 0] // 60).tolist()  # the second of them is on both sides


def words(X):
    return [f"word {x}" for x in X[:, 0]]


def broken(X):
    raise RuntimeError("no licence")


# --- what it says ----------------------------------------------------------------------------------------


def assert_about_tree(**options):
    return AssertFaithful("test_loans.py::test_tree", None)(model, X, **options)


def test_a_limit_that_is_kept_gives_the_result():
    result = assert_about_tree(explainer=quarters, consistency=0.8)
    assert result.to_dict() == faithkit.evaluate(model, X, explainer=quarters).to_dict()


BELOW = r"consistency may be as low as 0\.\d+, below "
NOTHING = "consistency=0 cannot be checked: no explanation holds for any other instance"
FAILING = [
    ({"explainer": sixties, "consistency": 0.99}, AssertionError, f"^{BELOW}0.99.\n\nsixties of model "),
    ({"explainer": words, "consistency": 0}, faithkit.errors.InputError, f"^{NOTHING}"),
    (
        {"explainer": quarters, "sufficiency": 0},
        faithkit.errors.InputError,
        "^sufficiency=0 cannot be checked: ",
    ),
    (
        {"explainer": sixties, "consistency": 1, "sufficiency": 0},
        faithkit.errors.InputError,
        f"^{BELOW}1. sufficiency=0 cannot be checked: ",
    ),
    ({"explainer": broken, "consistency": 0}, faithkit.errors.ExplainerError, "no licence"),
    (
        {"explainer": quarters},
        faithkit.errors.InputError,
        "^nothing is asserted: give a limit, such as consistency=0.8",
    ),
    (
        {"explainer": quarters, "consistency": 80},
        faithkit.errors.InputError,
        "a number from 0 to 1, as a limit, got 80.",
    ),
    ({"explainer": quarters, "consistency": 0.8, "explaner": 1}, TypeError, "explaner"),
]


@one_test
@pytest.mark.parametrize(("options", "error", "message"), FAILING, ids=[str(list(o)) for o, *_ in FAILING])
def test_what_is_not_kept_fails_and_says_why(options, error, message):
    with pytest.raises(error, match=message):
        assert_about_tree(**options)


def test_the_words_are_those_of_the_command_line(tmp_path):
    rows = "".join(f"{x >= 100},{x // 60}\n" for x in range(200))
    (tmp_path / "log.csv").write_text(f"label,why\n{rows}")
    options = ("--prediction", "label", "--explanation", "why", "--out", tmp_path / "r.json")
    assert run("score", tmp_path / "log.csv", *options).exit_code == 0
    done = run("gate", tmp_path / "r.json", "--fail-under", "consistency=0.99")
    with pytest.raises(AssertionError) as missed:
        assert_about_tree(explainer=sixties, consistency=0.99)
    assert done.stderr.splitlines()[-1] == f"failed: {str(missed.value).splitlines()[0]}"


def parrot(X):
    return model(X).tolist()


def parity(X):
    return (X[:, 0] % 2).tolist()


@one_test
@pytest.mark.parametrize(
    ("explainer", "error", "message"),
    [
        (parrot, faithkit.errors.InputError, "sufficiency would test this"),
        (parity, AssertionError, r"not above chance \(0.497\)"),
    ],
)
def test_what_names_the_prediction_or_is_noise_is_not_faithful(explainer, error, message):
    with pytest.raises(error, match=message):
        assert_about_tree(explainer=explainer, consistency=0.1, above_chance=True)


def test_a_limit_that_noise_keeps_is_a_warning():
    with pytest.warns(faithkit.errors.FaithkitWarning, match="not below 0.1, but not above chance"):
        assert_about_tree(explainer=parity, consistency=0.1)


@pytest.mark.usefixtures("no_pictures", "no_next_steps", "first_pairs")
def test_several_assertions_of_a_test_leave_a_report_each(tmp_path):
    assertion = AssertFaithful("test_loans.py::test_tree", str(tmp_path / "new" / "folder"))
    assertion(model, X, explainer=quarters, consistency=0.8)
    with pytest.raises(AssertionError, match=r"\n\nreport: .*new/folder/test_loans.py-test_tree-2.html$"):
        assertion(model, X, explainer=sixties, consistency=1)
    files = {path.name: path.read_text() for path in (tmp_path / "new" / "folder").iterdir()}
    assert sorted(files) == [
        f"test_loans.py-test_tree{again}.{kind}" for again in ("-2", "") for kind in ("html", "json")
    ]
    assert json.loads(files["test_loans.py-test_tree-2.json"])["explainer"] == "sixties"
    assert files["test_loans.py-test_tree-2.html"].startswith("<!DOCTYPE html>")


ODD = [
    *("a.py::t", "a.py::t[1-2]", "a.py::t[1/2]", "a.py::t[1:2]", "a.py::t[é]", "a.py::t[ü]", "a-b.py::t"),
    *("a/b.py::t", "a.py::t[\ud800]", "a.py::T::t", "../a.py::t"),
    *(f"a.py::t[{'x' * length}]" for length in (300, 301)),
]


def test_no_two_tests_share_a_file_and_every_system_takes_its_name():
    names = [file_name(test) for test in ODD]
    assert len(set(names)) == len(ODD)
    for name in names:
        assert name.isascii()
        assert len(name) < 200
        assert not set(name) & set('/\\:*?"<>|[]')


# --- in a run of pytest ----------------------------------------------------------------------------------

TESTS = """
import sys

def test_what_asserts_nothing_imports_nothing():
    assert not {"numpy", "pandas", "sklearn", "faithkit", "mlflow"} & set(sys.modules)

def test_missed(assert_faithful, tmp_path, monkeypatch):
    import numpy

    monkeypatch.chdir(tmp_path)
    X = numpy.arange(100.0).reshape(-1, 1)
    assert_faithful(lambda X: X[:, 0] >= 50, X, explainer=lambda X: (X[:, 0] // 30).tolist(), consistency=0.99)
"""


def run_pytest(folder, *options):
    """Run pytest in a folder with the plugin, whether it is installed or not."""
    environment = {**os.environ, "PYTEST_DISABLE_PLUGIN_AUTOLOAD": "1"}
    environment.pop("PYTEST_ADDOPTS", None)
    command = [sys.executable, "-m", "pytest", "-p", PLUGIN, "-p", "no:cacheprovider", "-c", os.devnull]
    command += ["--rootdir", ".", "--faithkit-reports", "reports", "--junitxml", "junit.xml", *options]
    return subprocess.run(command, cwd=folder, env=environment, capture_output=True, text=True)


@pytest.mark.slow
@pytest.mark.parametrize("workers", [(), ("-p", "xdist.plugin", "-n", "2")], ids=["alone", "workers"])
def test_a_run_tells_what_failed_and_leaves_its_report_where_it_was_started(tmp_path, workers):
    (tmp_path / "test_loans.py").write_text(TESTS)
    done = run_pytest(tmp_path, *workers)
    assert done.returncode == pytest.ExitCode.TESTS_FAILED, done.stdout + done.stderr
    cases = {case.get("name"): case for case in ElementTree.parse(tmp_path / "junit.xml").iter("testcase")}
    message = cases["test_missed"].find("failure").get("message")
    assert message.startswith("AssertionError: consistency may be as low as 0.")
    assert message.endswith(f"report: {tmp_path / 'reports' / 'test_loans.py-test_missed.html'}")
    assert cases["test_what_asserts_nothing_imports_nothing"].find("failure") is None or workers
    assert len(list((tmp_path / "reports").iterdir())) == 2
    assert "pytest_plugin.py" not in done.stdout  # nobody has to read our code to see what failed


def test_the_plugin_imports_nothing_slow():
    slow = {"numpy", "pandas", "sklearn", "faithkit", "mlflow"}
    code = f"import sys, {PLUGIN}; print({slow} & set(sys.modules))"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True)
    assert (done.stdout, done.stderr) == ("set()\n", "")


def build_config(folder, option):
    """Return what the plugin reads of pytest's configuration."""
    return SimpleNamespace(
        getoption=lambda name: option,
        invocation_params=SimpleNamespace(dir=folder),
        option=SimpleNamespace(faithkit_reports=option),
    )


def test_a_file_in_the_place_of_the_folder_is_told_before_any_test(tmp_path):
    (tmp_path / "file").write_text("")
    with pytest.raises(pytest.UsageError, match="--faithkit-reports file: this is a file, give a folder"):
        pytest_configure(build_config(tmp_path, "file"))


@one_test
@pytest.mark.parametrize("option", [None, "reports"])
def test_the_folder_of_reports_lies_where_pytest_was_started(tmp_path, option):
    config = build_config(tmp_path, option)
    pytest_configure(config)
    assert config.option.faithkit_reports == (option and str(tmp_path / "reports"))


def test_pytest_finds_the_plugin_by_its_entry_point():
    project = tomllib.loads((ROOT / "plugins" / "integrations" / "pyproject.toml").read_text())["project"]
    (module,) = project["entry-points"]["pytest11"].values()
    assert hasattr(import_module(module), "assert_faithful")
