"""Plugins that FAITHKIT_DISABLE leaves out are not loaded, and messages say so."""

import pytest
from consoles import run
from looping import one_test
from on_path import install

from faithkit.errors import UnknownComponentError
from faithkit.extension.registry import Registry

QUITS = "import os; os._exit(0)"
LINE = (
    "acme-quits (main): it is disabled by the environment variable FAITHKIT_DISABLE. "
    "Remove it from there to use it"
)


@one_test
@pytest.mark.parametrize("value", ["ACME_quits", "main", "lime, acme-quits ,"])
def test_a_plugin_is_left_out_by_its_distribution_or_its_entry_point(value, site, monkeypatch):
    install(site, "acme-quits", QUITS)
    monkeypatch.setenv("FAITHKIT_DISABLE", value)
    registry = Registry()
    assert [str(line) for line in registry.broken] == [LINE]
    assert "shap" in registry.names("explainer")


def test_verbs_of_a_disabled_plugin_are_not_listed(monkeypatch):
    assert "reproduce" in run("--help").stdout
    monkeypatch.setenv("FAITHKIT_DISABLE", "faithkit-paper")
    assert "reproduce" not in run("--help").stdout


def test_an_error_about_its_component_says_that_it_is_disabled(monkeypatch):
    monkeypatch.setenv("FAITHKIT_DISABLE", "faithkit-feature-importance")
    with pytest.raises(UnknownComponentError) as caught:
        Registry().find("explainer", "shap")
    assert str(caught.value).endswith(
        "shap is provided by faithkit-feature-importance, which is installed but has a problem: it is disabled "
        "by the environment variable FAITHKIT_DISABLE. Remove it from there to use it"
    )


def test_a_disabled_plugin_is_no_problem_in_strict_mode(monkeypatch):
    monkeypatch.setenv("FAITHKIT_STRICT", "1")
    monkeypatch.setenv("FAITHKIT_DISABLE", "faithkit-paper")
    assert "reproduce" not in Registry().names("command")


@one_test
@pytest.mark.parametrize("value", ["faithkit", "kernel", ""])
def test_the_kernel_cannot_be_left_out(value, monkeypatch):
    monkeypatch.setenv("FAITHKIT_DISABLE", value)
    registry = Registry()
    assert registry.find("discretizer", "original")
    assert registry.broken == []


def test_the_command_line_lists_a_disabled_plugin(site, monkeypatch):
    install(site, "acme-quits", QUITS)
    monkeypatch.setenv("FAITHKIT_DISABLE", "acme-quits")
    listing = run("plugins")
    assert (listing.exit_code, listing.stderr) == (0, "")
    assert listing.stdout.endswith(f"problems\n  {LINE}\n")
