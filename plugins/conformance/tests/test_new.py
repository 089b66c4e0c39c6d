"""`faithkit new`: whatever it writes keeps the contract, is listed, and measures at once."""

import os
import subprocess
import sys
from importlib import import_module

import pytest
from consoles import run
from faithkit_conformance import run_checks
from faithkit_conformance.kinds import plugin_checks
from faithkit_conformance.new_command import FIELDS
from looping import one_test

import faithkit

USE = {"discretizer": "--discretize", "diagnostic": "--diagnose"}


@pytest.fixture
def write_package(tmp_path, monkeypatch):
    """Write a package, and make it importable."""
    monkeypatch.chdir(tmp_path)

    def write(kind, name):
        monkeypatch.syspath_prepend(tmp_path / f"faithkit-{name}")
        return run("new", kind, name)

    return write


@one_test
@pytest.mark.parametrize("kind", [*FIELDS, "plugin"])
def test_a_new_package_keeps_the_contract_and_its_explainer_is_measured(kind, write_package, monkeypatch):
    if kind != "relation":  # to start a process for each kind would show nothing else
        monkeypatch.setattr(plugin_checks, "_libraries_loaded_by_listing", lambda *_: [])
    done = write_package(kind, f"my-own-{kind}")
    assert done.exit_code == 0, done.output
    kinds = list(FIELDS) if kind == "plugin" else [kind]
    module = import_module(f"faithkit_my_own_{kind}")
    if "explainer" not in kinds:  # whose checks take long, and are run once it is installed
        assert run_checks(module).failed == {}
    with faithkit.plugin.registry().with_plugin(module.__name__):
        names = {field: faithkit.plugin.registry().names(field) for field in FIELDS}
        assert [field for field in FIELDS if f"my-own-{kind}" in names[field]] == kinds
        if "explainer" in kinds:
            options = [word for field in kinds for word in (USE.get(field, f"--{field}"), f"my-own-{kind}")]
            data = ["--data", "iris", "--model", "logistic", "--samples", "20", "--control-draws", "0"]
            evaluated = run("evaluate", *data, *options)
            assert evaluated.exit_code == 0, evaluated.output
    assert f"my-own-{kind}" not in faithkit.plugin.registry().names(kinds[0])


def test_what_is_there_is_left_as_it_is(write_package, tmp_path):
    write_package("estimator", "mean")
    before = (tmp_path / "faithkit-mean" / "README.md").read_bytes()
    done = write_package("relation", "mean")
    assert done.exit_code == 1
    assert "there is a faithkit-mean already: choose another name" in done.output
    assert (tmp_path / "faithkit-mean" / "README.md").read_bytes() == before


@one_test
@pytest.mark.parametrize(
    ("name", "proposal"), [("My Own", "my-own"), ("../up", "up"), ("a--b", "a-b"), ("9", "my-explainer")]
)
def test_a_name_that_cannot_be_one_is_refused_with_one_that_can(name, proposal, write_package, tmp_path):
    done = run("new", "explainer", name)
    assert done.exit_code == 1
    assert f"write for example {proposal!r}" in done.output
    assert list(tmp_path.iterdir()) == []


@pytest.mark.slow
def test_a_new_package_passes_the_check_once_it_is_installed(write_package, tmp_path):
    pytest.importorskip("hatchling")
    write_package("plugin", "brand-new")
    pip = [sys.executable, "-m", "pip", "install", "-q", "--no-deps", "--no-build-isolation", "--no-index"]
    subprocess.run([*pip, "--target", "site", "./faithkit-brand-new"], check=True)
    words = [sys.executable, "-m", "faithkit", "check", "faithkit-brand-new"]
    path = os.pathsep.join([str(tmp_path / "site"), os.environ.get("PYTHONPATH", "")])
    done = subprocess.run(words, env=os.environ | {"PYTHONPATH": path}, capture_output=True, text=True)
    assert done.returncode == 0, done.stdout + done.stderr
    assert "checks, all passed" in done.stdout
