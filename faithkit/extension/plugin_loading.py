"""Loading of plugins: from installed entry points to registry entries, or to problems.

Each plugin is loaded in its own try block, and its problems are kept as values. pluggy's own
``load_setuptools_entrypoints`` is not used: one failing import would end it, and of two entry points with
the same name it drops the second.
"""

import inspect
import itertools
from collections.abc import Callable, Iterable, Iterator, Sequence
from importlib.metadata import EntryPoint
from typing import Any

import attrs
import pluggy

import faithkit
from faithkit.errors import PluginError
from faithkit.extension import builtins, hookspecs
from faithkit.extension.component import Component
from faithkit.extension.entries import Entry, PluginProblem
from faithkit.extension.hookspecs import API_VERSION, GROUP, HOOK_KINDS, hook_name
from faithkit.extension.plugin_sources import DISABLED, KERNEL, Source, as_sources, installed_sources
from faithkit.extension.verbs import COMMANDS, command_entry, plugin_verbs, verb_clashes
from faithkit.third_party import RowTimeout
from faithkit.wording import describe, did_you_mean, join_words

_HOOKS = tuple(map(hook_name, HOOK_KINDS))
_MANAGER = pluggy.PluginManager("faithkit")
_MAX_COMPONENTS = 10_000  # of one kind: a hook that yields more may never end


def discover(entry_points: Iterable[EntryPoint]) -> tuple[list[Entry], list[PluginProblem]]:
    """Load plugins and collect their components.

    Parameters
    ----------
    entry_points : iterable of EntryPoint

    Returns
    -------
    entries : list of Entry
    problems : list of PluginProblem

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
    """Load the installed plugins that are not disabled; add their verbs and the kernel's verbs.

    Returns
    -------
    entries : list of Entry
    problems : list of PluginProblem
    """
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
    # Two entry points of one distribution may lead to the same module, which is loaded once.
    modules = {(source.distribution, source.entry_point.value): source for source in reversed(plugins)}
    outcomes = [outcome for source in reversed(modules.values()) for outcome in _load_plugin(source)]
    outcomes += [_load_command(sources[0]) for sources in plugin_verbs(commands).values()]
    return _separate([*outcomes, *verb_clashes(commands)])


def _separate(outcomes: Iterable[Entry | PluginProblem]) -> tuple[list[Entry], list[PluginProblem]]:
    """Separate entries from problems."""
    entries, problems = list[Entry](), list[PluginProblem]()
    for outcome in outcomes:
        if isinstance(outcome, Entry):
            entries.append(outcome)
        else:
            problems.append(outcome)
    return entries, problems


def _load_plugin(source: Source) -> list[Entry | PluginProblem]:
    """Load one plugin and collect its components; any exception becomes a problem."""
    remedy = f"Reinstall it or what it needs, or remove it: pip uninstall {source.distribution}"
    return _attempt(lambda: _examine(source, source.entry_point.load()), source, "cannot be loaded", remedy)


def _load_command(source: Source) -> Entry | PluginProblem:
    try:
        return command_entry(source)
    except PluginError as error:
        return source.problem(describe(error), f"Correct its entry point in the group {COMMANDS}", error)


def _attempt(
    action: Callable[[], list[Entry | PluginProblem]], source: Source, complaint: str, hint: str
) -> list[Entry | PluginProblem]:
    try:
        return action()
    except (KeyboardInterrupt, RowTimeout):  # caused by a person or by a time limit, not by the plugin
        raise
    except BaseException as error:
        hint = "Warnings are errors here: see PYTHONWARNINGS" if isinstance(error, Warning) else hint
        return [source.problem(f"{complaint}: {describe(error)}", hint, error)]


def _examine(source: Source, plugin: Any) -> list[Entry | PluginProblem]:
    problem = _version_problem(source, plugin)
    return [problem] if problem else [*_hook_problems(source, plugin), *_collect(source, plugin)]


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


def _collect(source: Source, plugin: Any) -> list[Entry | PluginProblem]:
    # Each plugin has its own manager. So the origin of every component is known, a hook wrapper reaches no
    # other plugin, and a registration that fails halfway leaves nothing behind.
    manager = pluggy.PluginManager("faithkit")
    manager.add_hookspecs(hookspecs)

    def collect() -> list[Entry | PluginProblem]:
        manager.register(plugin)
        return [outcome for kind in HOOK_KINDS for outcome in _collect_kind(source, kind, manager)]

    return _attempt(collect, source, "does not fit the hooks", "Hooks take no arguments")


def _collect_kind(source: Source, kind: str, manager: pluggy.PluginManager) -> list[Entry | PluginProblem]:
    hook: pluggy.HookCaller = getattr(manager.hook, hook_name(kind))
    hint = f"Its {kind}s are left out. Update it, or tell its authors: {source.upgrade_command}"

    def collect() -> list[Entry | PluginProblem]:
        entries, problems = _separate(_to_entry(source, kind, hook.name, item) for item in _call_hook(hook))
        return [*entries, *dict.fromkeys(problems)]  # a repeated mistake is one problem

    return _attempt(collect, source, f"{hook.name}() failed", hint)


def _call_hook(hook: pluggy.HookCaller) -> list[Any]:
    results = hook()
    # pluggy leaves out None, but a forgotten `return` must not pass for an empty plugin.
    results += [None] * (len(hook.get_hookimpls()) - len(results))
    all_items = itertools.chain.from_iterable(map(_check_iterable, results))
    items = list(itertools.islice(all_items, _MAX_COMPONENTS + 1))
    if len(items) > _MAX_COMPONENTS:
        raise PluginError(f"it gave more than {_MAX_COMPONENTS:,} components, perhaps without end")
    return items


def _check_iterable(result: Any) -> Iterable[Any]:
    if isinstance(result, str) or not isinstance(result, Iterable):
        raise PluginError(f"it gave {type(result).__name__}, expected an iterable of Component: yield them")
    return result


def _to_entry(source: Source, kind: str, hook: str, item: Any) -> Entry | PluginProblem:
    if isinstance(item, Component):
        # a copy with plain fields, so that nothing that a subclass overrides is used
        component = Component(**attrs.asdict(item, recurse=False))
        return Entry(kind, component, source.distribution, source.version, source.entry_point.name)
    hint = "Yield faithkit.plugin.Component(name=…, factory='module:attribute', summary=…)"
    return source.problem(f"{hook}() gave {type(item).__name__}, expected Component", hint)
