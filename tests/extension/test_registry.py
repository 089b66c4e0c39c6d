"""The registry: what it lists, whose name is whose, and that the order of installation never matters."""

import importlib.metadata
import itertools
import os
import subprocess
import sys
from importlib.metadata import EntryPoint
from pathlib import Path
from types import SimpleNamespace

import pytest
from looping import one_test

import faithkit
from faithkit.errors import UnknownComponentError
from faithkit.extension import builtins, hookspecs, known_plugins
from faithkit.extension.registry import KINDS, Entry, Registry

ROOT = Path(faithkit.__file__).parents[1]
DATASETS = ("breast-cancer", "diabetes", "digits", "houses", "iris", "loans", "reasons", "wine")


def list_problems(registry):
    return [str(line) for line in registry.broken]


def test_the_kernel_registers_its_components_through_the_hooks(kernel):
    registry = Registry(entry_points=[kernel])
    assert registry.broken == []
    assert [(entry.kind, entry.component.name) for entry in registry.entries()] == [
        ("relation", "in-scope"),
        ("relation", "near-explanation"),
        ("relation", "same-explanation"),
        ("discretizer", "original"),
        ("estimator", "leave-one-out"),
        ("estimator", "majority"),
        ("estimator", "plug-in"),
        ("estimator", "verified-only"),
        ("executor", "here"),
        ("executor", "threads"),
        ("reporter", "csv"),
        ("reporter", "json"),
        ("reporter", "text"),
        *(("dataset", name) for name in DATASETS),
    ]


@one_test
@pytest.mark.parametrize("kind", KINDS)
def test_the_known_names_are_those_that_the_projects_distributions_register(kind):
    ours = {"faithkit", *known_plugins.PROVIDED}
    entries = [entry for entry in faithkit.plugin.registry().entries(kind) if entry.distribution in ours]
    assert {entry.component.name: entry.distribution for entry in entries} == known_plugins.providers(kind)


def test_the_project_declares_the_kernels_entry_point():
    assert 'kernel = "faithkit.extension.builtins"' in (ROOT / "pyproject.toml").read_text()
    assert builtins.FAITHKIT_API == hookspecs.API_VERSION


def test_no_two_known_distributions_share_a_name():
    for kind in KINDS:
        names = [name for kinds in known_plugins.PROVIDED.values() for name in kinds.get(kind, ())]
        assert len(names) == len(set(names))


def test_every_kind_but_the_command_has_a_hook_and_every_hook_a_kind():
    specs = {name for name in vars(hookspecs) if name.startswith("faithkit_")}
    assert specs == {f"faithkit_{kind}s" for kind in KINDS if kind != "command"}


def test_an_entry_knows_where_it_comes_from(plugin):
    registry = Registry(entry_points=[plugin("healthy", "Healthy_Plug.In", "main", "1.2.3")])
    entry = registry.find("explainer", "scaled")
    assert (entry.distribution, entry.version, entry.entry_point) == ("healthy-plug-in", "1.2.3", "main")
    assert entry.qualified == "healthy-plug-in/scaled"
    assert entry == Entry("explainer", entry.component, "healthy-plug-in", "1.2.3")


def test_a_qualified_name_is_found_however_the_distribution_is_spelt(plugin):
    registry = Registry(entry_points=[plugin("healthy", "healthy-plugin")])
    assert registry.find("explainer", "Healthy_Plugin/scaled") is registry.find("explainer", "scaled")


def test_an_entry_point_without_a_distribution_is_named_after_its_package():
    registry = Registry(entry_points=[EntryPoint("main", "healthy", "faithkit")])
    entry = registry.find("explainer", "scaled")
    assert (entry.distribution, entry.version) == ("healthy", "unknown")


def test_damaged_metadata_does_not_stop_the_plugin():
    point = EntryPoint("main", "healthy", "faithkit")
    vars(point).update(dist=SimpleNamespace(metadata={"Name": None, "Version": None}))
    assert Registry(entry_points=[point]).find("explainer", "scaled").qualified == "healthy/scaled"


def test_a_distribution_on_the_path_is_found_with_its_version(tmp_path, monkeypatch):
    (tmp_path / "third_party-4.5.dist-info").mkdir()
    metadata = {
        "METADATA": "Name: Third.Party\nVersion: 4.5\n",
        "entry_points.txt": "[faithkit]\nmain = healthy\n",
    }
    for file, text in metadata.items():
        (tmp_path / "third_party-4.5.dist-info" / file).write_text(text)
    monkeypatch.syspath_prepend(tmp_path)
    entry = Registry().find("explainer", "third-party/scaled")
    assert (entry.distribution, entry.version, entry.entry_point) == ("third-party", "4.5", "main")


def test_two_entry_points_of_the_same_name_are_both_loaded(plugin):
    registry = Registry(entry_points=[plugin("clash_a", "one", "main"), plugin("healthy", "one", "main")])
    assert registry.broken == []
    assert registry.names("explainer") == ("anything", "only-a", "popular", "scaled", "twice")


def test_two_entry_points_to_the_same_module_count_once(plugin):
    registry = Registry(entry_points=[plugin("healthy", "one", "b"), plugin("healthy", "one", "a")])
    assert registry.broken == []
    assert registry.find("explainer", "scaled").entry_point == "a"


def test_the_default_registry_reads_the_installed_entry_points_once(monkeypatch, kernel):
    queries = []
    points = {"faithkit": [kernel], "faithkit.commands": []}
    monkeypatch.setattr(
        importlib.metadata, "entry_points", lambda **query: queries.append(query) or points[query["group"]]
    )
    faithkit.plugin.registry.cache_clear()
    try:
        assert faithkit.plugin.registry() is faithkit.plugin.registry()
        assert faithkit.plugin.registry().names("discretizer") == ("original",)
    finally:
        faithkit.plugin.registry.cache_clear()
    assert queries == [{"group": "faithkit"}, {"group": "faithkit.commands"}]


@pytest.fixture
def clashing(plugin, healthy):
    return [plugin("clash_a", "Demo_A"), plugin("clash_b", "demo-b"), healthy]


def test_a_clash_disables_only_the_short_name(clashing):
    registry = Registry(entry_points=clashing)
    assert type(registry.create("explainer", "demo-a/popular")).__name__ == "ExplainerA"
    assert type(registry.create("explainer", "demo-b/popular")).__name__ == "ExplainerB"
    assert type(registry.create("explainer", "only-a")).__name__ == "ExplainerA"
    assert registry.names("explainer") == (
        "anything",
        "only-a",
        "only-b",
        "demo-a/popular",
        "demo-b/popular",
        "scaled",
        "twice",
    )


def test_a_clash_names_both_providers_when_the_short_name_is_asked_for(clashing):
    with pytest.raises(UnknownComponentError) as caught:
        Registry(entry_points=clashing).find("explainer", "popular")
    assert str(caught.value) == (
        "the explainer 'popular' is provided by demo-a and demo-b, so the name alone is ambiguous. "
        "Write 'demo-a/popular' or 'demo-b/popular'."
    )


def test_a_clash_is_a_line_for_each_provider(clashing):
    assert list_problems(Registry(entry_points=clashing)) == [
        "demo-a (main): the explainer 'popular' is also registered by demo-b, "
        "so 'popular' alone is ambiguous. Write 'demo-a/popular' for this one",
        "demo-b (main): the explainer 'popular' is also registered by demo-a, "
        "so 'popular' alone is ambiguous. Write 'demo-b/popular' for this one",
    ]


def test_three_providers_are_all_named(plugin):
    points = [plugin("clash_a", "a"), plugin("clash_b", "b"), plugin("clash_a", "c")]
    with pytest.raises(
        UnknownComponentError, match=r"by a, b and c.* 'a/popular', 'b/popular' or 'c/popular'"
    ):
        Registry(entry_points=points).find("explainer", "popular")


def test_the_order_of_installation_changes_nothing(plugin, kernel, clashing):
    points = [*clashing, kernel, plugin("bad_name"), plugin("same_name_twice", "twins")]
    listings = {
        (registry.entries(), tuple(list_problems(registry)), *map(registry.names, KINDS))
        for order in itertools.islice(itertools.permutations(points), 0, None, 37)
        for registry in [Registry(entry_points=order)]
    }
    assert len(listings) == 1


def test_the_kernels_name_stays_the_kernels(kernel, plugin):
    for points in (
        [kernel, plugin("reserved_name", "a-rogue")],
        [plugin("reserved_name", "z-rogue"), kernel],
    ):
        registry = Registry(entry_points=points)
        assert registry.find("estimator", "majority").distribution == "faithkit"


def test_a_plugin_with_a_reserved_name_is_reachable_by_its_qualified_name(kernel, plugin):
    registry = Registry(entry_points=[kernel, plugin("reserved_name", "rogue")])
    assert type(registry.create("estimator", "rogue/majority")).__name__ == "Usurper"
    assert registry.find("relation", "majority").distribution == "rogue"
    assert list_problems(registry) == [
        "rogue (main): the estimator 'majority' has a reserved name: "
        "'majority' belongs to faithkit. Write 'rogue/majority' for this one"
    ]


LIST_EVERYTHING = """
import sys
from importlib.metadata import EntryPoint
from faithkit.extension.registry import Registry, registry
registry().entries()
kernel = Registry(entry_points=[EntryPoint("kernel", "faithkit.extension.builtins", "faithkit")])
assert kernel.entries() and not kernel.broken
heavy = {"numpy", "pandas", "scipy", "sklearn", "matplotlib", "shap", "lime", "anchor", "dice_ml", "click"}
print(sorted(heavy & set(sys.modules)), "faithkit.explanations.relations" in sys.modules)
"""


def test_importing_the_registry_and_listing_imports_neither_numpy_nor_sklearn():
    process = subprocess.run(
        [sys.executable, "-c", LIST_EVERYTHING],
        env={**os.environ, "PYTHONPATH": str(ROOT)},
        capture_output=True,
        text=True,
        check=False,
    )
    assert (process.stdout.strip(), process.stderr) == ("[] False", "")
