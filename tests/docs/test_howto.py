"""The plugin of the how-to pages, house, keeps the contract, does what the pages say, and is found by its names."""

import doctest
import importlib
import sys

import numpy as np
import pandas as pd
import pytest
from click.testing import CliRunner
from consoles import run
from documented import DOCS
from faithkit_conformance import run_checks
from looping import one_test
from on_path import install_house

import faithkit
from faithkit.extension import hookspecs
from faithkit.extension.entry_points import COMMANDS

MODULES = ("house.datasets", "house.discretizers", "house.estimators", "house.reporters", "house.verbs")


@pytest.fixture(scope="module", autouse=True)
def house():
    """The package, importable as it lies there, and forgotten afterwards."""
    with pytest.MonkeyPatch.context() as patch:
        patch.syspath_prepend(str(DOCS / "howto"))
        yield importlib.import_module("house")
    for name in ("house", *MODULES):
        sys.modules.pop(name, None)


def test_the_plugin_of_the_pages_passes_the_conformance_checks(house):
    report = run_checks(house)
    assert not report.failed
    assert not report.skipped


@one_test
@pytest.mark.parametrize("name", MODULES)
def test_the_examples_of_its_modules_work(name):
    module = importlib.import_module(name)
    result = doctest.testmod(module, optionflags=doctest.NORMALIZE_WHITESPACE)
    assert result.failed == 0


def test_the_top_set_forgets_order_and_sign_and_keeps_the_earlier_of_equals():
    top = importlib.import_module("house.discretizers").TopSet(k=2)
    phi = faithkit.Explanations.vectors([[0.5, -0.9, 0.1], [-0.9, 0.5, 0.1], [0.2, 0.2, 0.2]])
    assert top.discretize(phi).tolist() == [[0, 1], [0, 1], [0, 1]]
    assert top.describe(np.array([0, 2]), ["age", "sex", "job"]) == "age and job"
    result = faithkit.score(["yes", "no", "no"], phi, discretizer=top)
    assert result.contradictions()[0].explanation == "0 and 1"


@one_test
@pytest.mark.parametrize("k", [0, 1.5, "two"])
def test_a_top_set_of_nonsense_is_refused(k):
    with pytest.raises(faithkit.errors.ParameterError, match="k must be a whole number of at least 1"):
        importlib.import_module("house.discretizers").TopSet(k=k)


def test_a_top_set_larger_than_the_explanations_is_refused():
    top = importlib.import_module("house.discretizers").TopSet()
    with pytest.raises(faithkit.errors.InputError, match="k is 3, and the explanations have 1 importances"):
        faithkit.score([0, 1], [[0.1], [0.2]], discretizer=top)


@one_test
@pytest.mark.parametrize("weight", [0, -1, float("nan")])
def test_a_weight_of_nothing_is_refused(weight):
    with pytest.raises(faithkit.errors.ParameterError, match="weight must be a number above 0"):
        importlib.import_module("house.estimators").Smoothed(weight=weight)


def test_smoothing_by_hand():
    smoothed = importlib.import_module("house.estimators").Smoothed(weight=2.0)
    consistency = faithkit.score(["a", "a", "b", "a"], ["x", "x", "x", "y"], estimator=smoothed).consistency
    # D is 2 three times and 0 once; A is 1, 1, 0 and 0
    assert consistency.value == pytest.approx((3 / 6 + 3 / 6 + 2 / 6 + 2 / 4) / 4)
    assert (consistency.low, consistency.high, consistency.verified) == (None, None, 0.75)


def test_the_verb_prints_a_line_for_each_log_and_says_where_there_is_none(tmp_path):
    audit = importlib.import_module("house.verbs").audit
    arguments = [str(tmp_path), "--prediction", "label", "--explanation", "reason"]
    nothing = CliRunner().invoke(audit, arguments)
    assert isinstance(nothing.exception, faithkit.errors.InputError)
    for name, reasons in (("b", ["x", "x"]), ("a", ["x", "y"])):
        pd.DataFrame({"label": [1, 1], "reason": reasons}).to_csv(tmp_path / f"{name}.csv", index=False)
    printed = CliRunner().invoke(audit, arguments).output
    assert printed == "a.csv: estimate 1.000, one label\nb.csv: estimate 1.000, one label\n"


def test_an_installed_plugin_is_listed_beside_all_others(tmp_path, monkeypatch):
    install_house(tmp_path)
    monkeypatch.syspath_prepend(tmp_path)
    monkeypatch.setenv("FAITHKIT_STRICT", "1")
    listing = run("plugins")
    assert listing.exit_code == 0, listing.stderr
    for name in ("top-set", "top-1", "smoothed", "polite", "memos", "cards", "claims", "audit"):
        assert name in listing.stdout


def test_each_kind_of_component_has_a_page_that_says_how_to_write_one():
    pages = {
        "explainer": "tutorials/plugin.rst",
        "relation": "tutorials/relation.rst",
        "discretizer": "howto/discretizer.rst",
        "estimator": "howto/estimator.rst",
        "diagnostic": "howto/diagnostics.rst",
        "executor": "howto/executor.rst",
        "reporter": "howto/reporter.rst",
        "adapter": "howto/objects_and_files.rst",
        "loader": "howto/objects_and_files.rst",
        "dataset": "howto/objects_and_files.rst",
    }
    assert set(pages) == set(hookspecs.HOOK_KINDS)
    for kind, page in pages.items():
        assert hookspecs.hook_name(kind) in (DOCS / page).read_text()
    assert COMMANDS in (DOCS / "howto/verb.rst").read_text()
