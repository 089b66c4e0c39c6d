"""Every hook is documented with its exact signature, has an example that runs, and is exercised here."""

import doctest
import inspect
import re
from importlib.metadata import EntryPoint
from pathlib import Path

import pluggy
import pytest
from looping import one_test

import faithkit
from faithkit.extension import hookspecs
from faithkit.extension.hookspecs import HOOK_KINDS
from faithkit.extension.registry import Registry

REFERENCE = Path(__file__).parents[2] / "docs" / "reference"
PAGE = (REFERENCE / "hooks.rst").read_text()

HOOK = """
@faithkit.plugin.hookimpl
def {hook}():
    yield faithkit.plugin.Component(name="{kind}", factory=f"{{__name__}}:Thing", summary="…", params={{"kind": "{kind}"}})
"""
PLUGIN = """
import faithkit

FAITHKIT_API = 1

class Thing:
    def __init__(self, kind):
        self.kind = kind
""" + "".join(HOOK.format(hook=f"faithkit_{kind}s", kind=kind) for kind in HOOK_KINDS)


def list_hooks():
    """Return the hooks that pluggy itself finds in the module of specs, by name."""
    manager = pluggy.PluginManager("faithkit")
    manager.add_hookspecs(hookspecs)
    return {name: getattr(hookspecs, name) for name in vars(manager.hook) if name.startswith("faithkit_")}


def test_there_is_one_hook_for_each_kind():
    assert sorted(list_hooks()) == sorted(f"faithkit_{kind}s" for kind in HOOK_KINDS)


@one_test
@pytest.mark.parametrize("name", sorted(list_hooks()))
def test_the_hook_is_documented_with_its_exact_signature(name):
    signature = str(inspect.signature(list_hooks()[name]))
    public = signature.replace("faithkit.extension.component.Component", "faithkit.plugin.Component")
    assert f".. autofunction:: faithkit.extension.hookspecs.{name}{public}\n" in PAGE


def test_no_hook_is_documented_that_does_not_exist():
    assert sorted(re.findall(r"hookspecs\.(faithkit_\w+)\(", PAGE)) == sorted(list_hooks())


@one_test
@pytest.mark.parametrize("name", sorted(list_hooks()))
def test_the_hooks_example_runs(name):
    examples = doctest.DocTestFinder().find(list_hooks()[name], name, globs={})
    results = [
        doctest.DocTestRunner(optionflags=doctest.NORMALIZE_WHITESPACE).run(example) for example in examples
    ]
    assert sum(result.attempted for result in results) > 2
    assert sum(result.failed for result in results) == 0


@one_test
@pytest.mark.parametrize("kind", HOOK_KINDS)
def test_components_of_each_hook_are_listed_and_created(kind, tmp_path, monkeypatch):
    (tmp_path / "one_of_each.py").write_text(PLUGIN)
    monkeypatch.syspath_prepend(tmp_path)
    registry = Registry([EntryPoint("main", "one_of_each", "faithkit")])
    assert registry.broken == []
    (name,) = registry.names(kind)
    assert registry.create(kind, name).kind == kind


def test_a_plugin_for_another_version_gets_the_line_on_the_page_on_versions(tmp_path, monkeypatch):
    (tmp_path / "acme.py").write_text("FAITHKIT_API = 2\n")
    monkeypatch.syspath_prepend(tmp_path)
    (line,) = Registry([EntryPoint("rules", "acme", "faithkit")]).broken
    page = " ".join((REFERENCE / "versions.rst").read_text().split())
    assert f"problems {line}" in page.replace("faithkit 0.3.0.dev0", f"faithkit {faithkit.__version__}")
