"""Plugins as they come from an installed distribution, without installing any."""

from importlib.metadata import EntryPoint
from pathlib import Path
from types import SimpleNamespace

import pytest

from faithkit.extension.registry import Registry, registry

BROKEN = Path(__file__).with_name("broken")

collect_ignore = ["broken"]  # --doctest-modules would import them, and most cannot be


@pytest.fixture(autouse=True)
def _broken_plugins_can_be_imported(monkeypatch):
    monkeypatch.syspath_prepend(BROKEN)
    monkeypatch.delenv("FAITHKIT_STRICT", raising=False)


@pytest.fixture
def site(tmp_path, monkeypatch):
    """A folder on the path, to install plugins in."""
    folder = tmp_path / "site"
    folder.mkdir()
    monkeypatch.syspath_prepend(folder)
    registry.cache_clear()
    yield folder
    registry.cache_clear()


@pytest.fixture
def plugin():
    """An entry point as installed: ``plugin("module", distribution="my-plugin", name="main")``."""

    def make(module, distribution="demo", name="main", version="1.2.3"):
        point = EntryPoint(name, module, "faithkit")
        vars(point).update(dist=SimpleNamespace(metadata={"Name": distribution, "Version": version}))
        return point

    return make


@pytest.fixture
def kernel(plugin):
    return plugin("faithkit.extension.builtins", "faithkit", "kernel")


@pytest.fixture
def healthy(plugin):
    return plugin("healthy", "healthy-plugin")


@pytest.fixture
def broken_by(kernel, healthy, plugin):
    """The lines about one bad plugin, once it is sure that kernel and healthy plugin work beside it."""

    def load(module, distribution="demo"):
        registry = Registry(entry_points=[kernel, plugin(module, distribution), healthy])
        assert registry.find("estimator", "majority").qualified == "faithkit/majority"
        assert registry.create("explainer", "scaled", {"factor": 3}).factor == 3
        return [str(line) for line in registry.broken]

    return load
