"""Checks of a plugin's module: it can be imported, declares its API version, and is cheap to list."""

import json
import subprocess
import sys
from importlib.metadata import EntryPoint
from typing import Any
from unittest import SkipTest

from attrs import evolve, frozen

from faithkit.plugin import Entry, Registry
from faithkit_conformance.checks import forbid, require, skip_unless_passes

API_VERSION = 1  # of hooks and protocols

HEAVY_LIBRARIES = (
    *("numpy", "pandas", "scipy", "sklearn", "matplotlib", "pyarrow", "polars", "numba"),
    *("torch", "tensorflow", "jax", "xgboost", "lightgbm", "catboost", "spacy"),
    *("shap", "lime", "anchor", "dice_ml", "captum", "alibi"),
)
"""Libraries that listing plugins must not import, since it would take long."""

_LISTING_SCRIPT = """
import json, sys
path, module, heavy = map(json.loads, sys.argv[1:])
sys.path[:] = path
from importlib.metadata import EntryPoint
from faithkit.plugin import Registry
broken = Registry(entry_points=[EntryPoint("probe", module, "faithkit")]).broken
loaded = [name for name in heavy if name in sys.modules]
print(json.dumps({"loaded": loaded, "broken": list(map(str, broken))}))
"""


@frozen(eq=False)
class Plugin:
    """A plugin as declared by its distribution: an entry point that names a module."""

    entry_point: EntryPoint
    distribution: str

    @property
    def name(self) -> str:
        """The name of the module."""
        return self.entry_point.value

    def load(self) -> Any:
        """Import the module."""
        return self.entry_point.load()

    def load_components(self) -> tuple[list[Entry], list[Any]]:
        """Return the components of the plugin, and the problems of its hooks."""
        plugin = Registry(entry_points=[self.entry_point])
        return [evolve(entry, distribution=self.distribution) for entry in plugin.entries()], plugin.broken


def check_module_can_be_imported(plugin: Plugin) -> None:
    """Check that importing the plugin's module raises no exception.

    A plugin that cannot be imported is ignored, with all of its components.
    """
    remedy = "Import optional libraries where they are used, and name them in requires="
    with forbid((Exception, SystemExit), "the module cannot be imported", remedy):
        plugin.load()


def check_declares_the_api_version(plugin: Plugin) -> None:
    """Check that the module states the version of the extension API that it was written for.

    A later faithkit can then say "update the plugin" instead of failing somewhere inside it.
    """
    skip_unless_passes(check_module_can_be_imported, plugin)
    declared = getattr(plugin.load(), "FAITHKIT_API", None)
    remedy = f"Add the line FAITHKIT_API = {API_VERSION}"
    if declared is not None:
        remedy = "Update the older of faithkit and the plugin; what changed is in faithkit's changelog"
    problem = f"FAITHKIT_API is {declared!r}; expected {API_VERSION}"
    require(declared == API_VERSION, problem, remedy)


def check_hooks_yield_components(plugin: Plugin) -> None:
    """Check that every hook is known, is marked, and yields components with distinct names.

    The registry ignores what it cannot read, and users see only that a name is missing.
    """
    skip_unless_passes(check_declares_the_api_version, plugin)
    entries, broken = plugin.load_components()
    problems = [f"{line.problem.rstrip('.')}. {line.hint}" for line in broken]
    require(not problems, "; ".join(problems), "Fix the hooks")
    remedy = "Write a function such as faithkit_explainers, decorated with @faithkit.plugin.hookimpl"
    require(bool(entries), "the module registers no component", remedy)


def check_listing_imports_nothing_heavy(plugin: Plugin) -> None:
    """Check, in a fresh process, that listing the plugin's components imports no numerical library.

    `faithkit plugins` and every measurement load all installed plugins: one heavy import slows down all.
    """
    skip_unless_passes(check_hooks_yield_components, plugin)
    entries, _ = plugin.load_components()
    requirements = {name.partition(".")[0] for entry in entries for name in entry.component.requires}
    loaded = _libraries_loaded_by_listing(plugin, sorted({*HEAVY_LIBRARIES, *requirements}))
    problem = f"listing its components imports {', '.join(loaded)}"
    remedy = "Import them in the factory's module, and name the factory by its import string"
    require(not loaded, problem, remedy)


def _libraries_loaded_by_listing(plugin: Plugin, heavy: list[str]) -> list[str]:
    arguments = map(json.dumps, (sys.path, plugin.name, heavy))
    process = subprocess.run(
        [sys.executable, "-c", _LISTING_SCRIPT, *arguments],
        capture_output=True,
        text=True,
        timeout=120,
        check=True,
    )
    outcome = json.loads(process.stdout.splitlines()[-1])  # the module may have printed other lines
    if outcome["broken"]:
        raise SkipTest(f"A fresh process cannot load it: {outcome['broken'][0]}")
    loaded: list[str] = outcome["loaded"]
    return loaded
