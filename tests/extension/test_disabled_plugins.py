"""Plugins that a person leaves out with FAITHKIT_DISABLE: they are not loaded, and it is said that they are not."""

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
@pytest.mark.parametrize("value", ["acme-quits", "ACME_quits", "main", "lime, acme-quits ,", "no-such,main"])
def test_a_plugin_is_left_out_by_its_distribution_or_its_entry_point(value, site, monkeypatch):
    install(site, "acme-quits", QUITS)
    monkeypatch.setenv("FAITHKIT_DISABLE", value)
    registry = Registry()
    assert [str(line) for line in registry.broken] == [LINE]
    assert "shap" in registry.names("explainer")


def test_its_verbs_are_not_listed(monkeypatch):
    assert "reproduce" in run("--help").stdout
    monkeypatch.setenv("FAITHKIT_DISABLE", "faithkit-paper")
    assert "reproduce" not in run("--help").stdout


def test_whoever_asks_for_it_is_told(monkeypatch):
    monkeypatch.setenv("FAITHKIT_DISABLE", "faithkit-feature-importance")
    with pytest.raises(UnknownComponentError) as caught:
        Registry().find("explainer", "shap")
    assert str(caught.value).endswith(
        "shap is provided by faithkit-feature-importance, which is installed but has a problem: it is disabled "
        "by the environment variable FAITHKIT_DISABLE. Remove it from there to use it"
    )


def test_it_is_no_problem_in_strict_mode(monkeypatch):
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


def test_the_command_line_shows_it(site, monkeypatch):
    install(site, "acme-quits", QUITS)
    monkeypatch.setenv("FAITHKIT_DISABLE", "acme-quits")
    done = run("plugins")
    assert (done.exit_code, done.stderr) == (0, "")
    assert done.stdout.endswith(f"problems\n  {LINE}\n")
