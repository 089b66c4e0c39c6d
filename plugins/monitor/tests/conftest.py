"""Settings for tests of the monitor: the command line looks for plugins once, and not at every run."""

from functools import cache

import pytest


@cache
def find_plugin_verbs():
    from faithkit.cli import _plugin_verbs

    return _plugin_verbs()


@pytest.fixture(autouse=True)
def plugin_verbs(monkeypatch):
    find_plugin_verbs()
    monkeypatch.setattr("faithkit.cli._plugin_verbs", find_plugin_verbs)
