"""Loading of plugins: from installed entry points to registry entries, or to problems.

Each plugin is loaded in its own try block, and its problems are kept as values. pluggy's own
``load_setuptools_entrypoints`` is not used: one failing import would end it, and of two entry points with
the same name it drops the second.
"""

import inspect
from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager
from importlib.metadata import EntryPoint
from itertools import chain
from typing import Any

import pluggy

import faithkit
from faithkit.errors import PluginError
from faithkit.extension import KERNEL, builtins, hookspecs
from faithkit.extension.component import Component
from faithkit.extension.entries import Entry, PluginProblem
from faithkit.extension.entry_points import (
    COMMANDS,
    DISABLED,
    Source,
    as_sources,
    command_entry,
    installed_sources,
    plugin_verbs,
    verb_clashes,
)
from faithkit.extension.hookspecs import API_VERSION, GROUP, HOOK_KINDS, hook_name
from faithkit.wording import describe, did_you_mean, join_words

_HOOKS = tuple(map(hook_name, HOOK_KINDS))
_MANAGER = pluggy.PluginManager("faithkit")
_EXAMPLE = "Yield faithkit.plugin.Component(name=…, factory='module:attribute', summary=…)"


def discover(entry_points: Iterable[EntryPoint]) -> tuple[list[Entry], list[PluginProblem]]:
    """Load plugins and collect their components, and the problems of these plugins.

    Examples
    --------
    >>> from importlib.metadata import EntryPoint
    >>> kernel = EntryPoint("kernel", "faithkit.extension.builtins", "faithkit")
    >>> lost = EntryPoint("lost", "no_such_module", "faithkit")
    >>> entries, problems = discover([lost, kernel])
    >>> entries[0].qualified
    'faithkit/same-explanation'
    >>> print(problems[0])
    no-such-module (lost): cannot be loaded: ModuleNotFoundError: No module named 'no_such_module'. ...
    """
    entry_points = list(entry_points)
    plugins = as_sources(point for point in entry_points if point.group != COMMANDS)
    commands = as_sources(point for point in entry_points if point.group == COMMANDS)
    return _discover(plugins, commands)


def discover_installed() -> tuple[list[Entry], list[PluginProblem]]:
    """Load the installed plugins that are not disabled; add their verbs and the kernel's verbs."""
    plugins, disabled_plugins = installed_sources(GROUP)
    commands, disabled_commands = installed_sources(COMMANDS)
    entries, problems = _discover(plugins, commands)
    disabled = [*disabled_plugins, *disabled_commands]
    problems += [source.problem(DISABLED, "Remove it from there to use it") for source in disabled]
    kernel_verbs = [Entry("command", verb, KERNEL, faithkit.__version__) for verb in builtins.commands()]
    return [*kernel_verbs, *entries], problems


def _discover(
    plugins: Sequence[Source], commands: Sequence[Source]
) -> tuple[list[Entry], list[PluginProblem]]:
    entries, problems = list[Entry](), list[PluginProblem]()
    # two entry points of one distribution may lead to the same module, which is loaded once
    modules = {(source.distribution, source.entry_point.value): source for source in reversed(plugins)}
    for source in reversed(modules.values()):
        remedy = f"Reinstall it or what it needs, or remove it: pip uninstall {source.distribution}"
        with _record_failure(problems, source, "cannot be loaded", remedy):
            _collect(source, source.entry_point.load(), entries, problems)
    for source, *_ in plugin_verbs(commands).values():
        remedy = f"Correct its entry point in the group {COMMANDS}"
        with _record_failure(problems, source, "cannot be used", remedy):
            entries.append(command_entry(source))
    return entries, [*dict.fromkeys(problems), *verb_clashes(commands)]  # a repeated mistake is one problem


@contextmanager
def _record_failure(
    problems: list[PluginProblem], source: Source, complaint: str, hint: str
) -> Iterator[None]:
    """Turn an exception into a problem of the plugin."""
    try:
        yield
    except (Exception, SystemExit) as error:
        problems.append(source.problem(f"{complaint}: {describe(error)}", hint, error))


def _collect(source: Source, plugin: Any, entries: list[Entry], problems: list[PluginProblem]) -> None:
    """Add the components of a plugin to the entries, and what is wrong with it to the problems."""
    version_problem = _version_problem(source, plugin)
    if version_problem:
        problems.append(version_problem)
        return
    problems += _hook_problems(source, plugin)
    # Each plugin has its own manager. So the origin of every component is known, and a hook wrapper reaches
    # no other plugin.
    manager = pluggy.PluginManager("faithkit")
    manager.add_hookspecs(hookspecs)
    with _record_failure(problems, source, "does not fit the hooks", "Hooks take no arguments"):
        manager.register(plugin)
        for kind in HOOK_KINDS:
            hint = f"Its {kind}s are left out. Update it, or tell its authors: {source.upgrade_command}"
            with _record_failure(problems, source, f"{hook_name(kind)}() failed", hint):
                for item in _call_hook(getattr(manager.hook, hook_name(kind))):
                    if isinstance(item, Component):
                        entry_point = source.entry_point.name
                        entries.append(Entry(kind, item, source.distribution, source.version, entry_point))
                    else:
                        problem = f"{hook_name(kind)}() gave {type(item).__name__}, expected Component"
                        problems.append(source.problem(problem, _EXAMPLE))


def _version_problem(source: Source, plugin: Any) -> PluginProblem | None:
    version, module = getattr(plugin, "FAITHKIT_API", None), source.entry_point.value
    if version == API_VERSION:
        return None
    if version is None:
        hint = f"Add the line FAITHKIT_API = {API_VERSION} to it, or update: {source.upgrade_command}"
        return source.problem(f"{module} does not say which extension API it was written for", hint)
    is_newer = isinstance(version, int) and version > API_VERSION
    remedy = "git pull in the source tree of faithkit" if is_newer else source.upgrade_command
    hint = f"Update the older of the two: {remedy}"
    supported = f"but faithkit {faithkit.__version__} speaks {API_VERSION}"
    return source.problem(f"{module} was written for extension API {version!r}, {supported}", hint)


def _hook_problems(source: Source, plugin: Any) -> Iterator[PluginProblem]:
    """Yield a problem for each misspelt hook, and for each hook without the decorator."""
    for name in dir(plugin):
        options = _MANAGER.parse_hookimpl_opts(plugin, name)
        if options is None:
            if name.startswith("faithkit_") and callable(inspect.getattr_static(plugin, name, None)):
                yield _unmarked_hook(source, name)
            continue
        hook = options.get("specname") or name
        if hook not in _HOOKS and not options.get("optionalhook"):
            hint = did_you_mean(hook, _HOOKS) or f"The hooks are {join_words(_HOOKS)}"
            yield source.problem(f"@hookimpl is on {hook}(), and there is no such hook", hint)


def _unmarked_hook(source: Source, name: str) -> PluginProblem:
    hint = "Decorate it with @faithkit.plugin.hookimpl, or rename it if it is no hook"
    question = "" if name in _HOOKS else did_you_mean(name, _HOOKS)
    return source.problem(f"{name}() lacks @hookimpl and is never called", f"{hint}. {question}".rstrip(". "))


def _call_hook(hook: pluggy.HookCaller) -> list[Any]:
    results = hook()
    # pluggy leaves out None, but a forgotten `return` must not pass for an empty plugin.
    results += [None] * (len(hook.get_hookimpls()) - len(results))
    return list(chain.from_iterable(map(_check_iterable, results)))


def _check_iterable(result: Any) -> Iterable[Any]:
    if isinstance(result, str) or not isinstance(result, Iterable):
        raise PluginError(f"it gave {type(result).__name__}, expected an iterable of Component: yield them")
    return result
