"""What a plugin's module promises: that it loads, says which API it is for, and costs nothing to list."""

import json
import subprocess
import sys
from importlib.metadata import EntryPoint
from typing import Any
from unittest import SkipTest

from attrs import frozen

from faithkit.extension.component import Component
from faithkit.extension.component_names import without_duplicates
from faithkit.extension.entries import Broken, Entry
from faithkit.extension.hookspecs import API_VERSION
from faithkit.extension.plugin_loading import discover
from faithkit.testing.checks import demand, needs
from faithkit.wording import describe, listing

HEAVY = (
    *("numpy", "pandas", "scipy", "sklearn", "matplotlib", "pyarrow", "polars", "numba"),
    *("torch", "tensorflow", "jax", "xgboost", "lightgbm", "catboost", "spacy"),
    *("shap", "lime", "anchor", "dice_ml", "captum", "alibi"),
)
"""Libraries that nobody should wait for who only lists plugins."""

_PROBE = """
import json, sys
path, module, heavy = map(json.loads, sys.argv[1:])
sys.path[:] = path
from importlib.metadata import EntryPoint
from faithkit.extension.plugin_loading import discover
_, broken = discover([EntryPoint("probe", module, "faithkit")])
loaded = [name for name in heavy if name in sys.modules]
print(json.dumps({"loaded": loaded, "broken": list(map(str, broken))}))
"""


@frozen
class Plugin:
    """A plugin as its distribution declares it: an entry point, which leads to a module."""

    point: EntryPoint
    distribution: str

    @property
    def name(self) -> str:
        """The module."""
        return self.point.value

    def load(self) -> Any:
        """Import the module."""
        return self.point.load()

    def offers(self) -> tuple[list[Entry], list[Broken]]:
        """Return the plugin's components, and what is wrong with its hooks."""
        found, failures = discover([self.point])
        entries, duplicates = without_duplicates(found)
        return [
            Entry(entry.kind, entry.component, self.distribution, entry.version, entry.entry_point)
            for entry in entries
        ], [*failures, *duplicates]


def check_module_can_be_imported(plugin: Plugin) -> None:
    """Check that importing the plugin's module raises nothing.

    A plugin that cannot be imported is left out, with all that it offers.
    """
    try:
        plugin.load()
    except (Exception, SystemExit) as error:
        mend = "Import optional libraries where they are used, and name them in requires="
        demand(False, plugin.name, f"the module cannot be imported: {describe(error)}", mend)


def check_declares_the_api_version(plugin: Plugin) -> None:
    """Check that the module states the version of the extension API that it was written for.

    A later faithkit can then say "update the plugin" instead of failing somewhere inside it.
    """
    needs(check_module_can_be_imported, plugin)
    given = getattr(plugin.load(), "FAITHKIT_API", None)
    found, mend = (
        f"FAITHKIT_API is {given!r}; expected {API_VERSION}",
        f"Add the line FAITHKIT_API = {API_VERSION}",
    )
    if given is not None:
        mend = "Update the older of faithkit and the plugin; what changed is in faithkit's changelog"
    demand(given == API_VERSION, plugin.name, found, mend)


def check_hooks_yield_components(plugin: Plugin) -> None:
    """Check that every hook is known, marked and yields components, each with a name of its own.

    What the registry cannot read it leaves out, and a user sees only that a name is missing.
    """
    needs(check_declares_the_api_version, plugin)
    entries, broken = plugin.offers()
    problems = [f"{line.problem.rstrip('.')}. {line.hint}" for line in broken]
    demand(not problems, plugin.name, "; ".join(problems), "Mend the hooks")
    mend = "Write a function such as faithkit_explainers, decorated with @faithkit.plugin.hookimpl"
    demand(bool(entries), plugin.name, "the module registers no component", mend)


def check_listing_imports_nothing_heavy(plugin: Plugin) -> None:
    """Check, in a fresh process, that listing the plugin's components imports no numerical library.

    `faithkit plugins` and every measurement load all installed plugins: one heavy import slows down all.
    """
    needs(check_hooks_yield_components, plugin)
    entries, _ = plugin.offers()
    loaded = _loaded_by_listing(plugin, (*HEAVY, *_required(entry.component for entry in entries)))
    demand(
        not loaded,
        plugin.name,
        f"listing its components imports {listing(loaded) if loaded else ''}",
        "Import them in the factory's module, and name the factory by its import string",
    )


def _required(components: Any) -> tuple[str, ...]:
    return tuple(name for component in components for name in _tops(component))


def _tops(component: Component) -> set[str]:
    return {name.partition(".")[0] for name in component.requires}


def _loaded_by_listing(plugin: Plugin, heavy: tuple[str, ...]) -> list[str]:
    arguments = [json.dumps(sys.path), json.dumps(plugin.name), json.dumps(sorted(set(heavy)))]
    done = subprocess.run(
        [sys.executable, "-c", _PROBE, *arguments], capture_output=True, text=True, timeout=120, check=True
    )
    answer = json.loads(done.stdout.splitlines()[-1])  # the module may print, too
    if answer["broken"]:
        raise SkipTest(f"A fresh process cannot load it: {answer['broken'][0]}")
    loaded: list[str] = answer["loaded"]
    return loaded
