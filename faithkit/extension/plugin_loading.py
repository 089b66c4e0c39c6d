"""From installed entry points to entries: each plugin is loaded in its own try, and what is wrong is kept.

pluggy's own ``load_setuptools_entrypoints`` is not used: one failing import would end it, and of two entry
points with the same name it drops the second.
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
from faithkit.extension.entries import Broken, Entry
from faithkit.extension.hookspecs import API_VERSION, GROUP, HOOK_KINDS, hook_name
from faithkit.extension.plugin_sources import DISABLED, KERNEL, Source, as_sources, installed_sources
from faithkit.extension.verbs import COMMANDS, clashes, command_entry, plugin_verbs
from faithkit.foreign import RowTimeout
from faithkit.wording import describe, did_you_mean, listing

_HOOKS = tuple(map(hook_name, HOOK_KINDS))
_MANAGER = pluggy.PluginManager("faithkit")
_MOST = 10_000  # components of a kind: whoever gives more gives them for ever


def discover(entry_points: Iterable[EntryPoint]) -> tuple[list[Entry], list[Broken]]:
    """Load plugins and ask each for its components.

    Parameters
    ----------
    entry_points : iterable of EntryPoint

    Returns
    -------
    entries : list of Entry
    broken : list of Broken

    Examples
    --------
    >>> from importlib.metadata import EntryPoint
    >>> kernel = EntryPoint("kernel", "faithkit.extension.builtins", "faithkit")
    >>> lost = EntryPoint("lost", "no_such_module", "faithkit")
    >>> entries, broken = discover([lost, kernel])
    >>> entries[0].qualified
    'faithkit/same-explanation'
    >>> print(broken[0])
    no-such-module (lost): cannot be loaded: ModuleNotFoundError: No module named 'no_such_module'. ...
    """
    points = list(entry_points)
    plugins = as_sources(point for point in points if point.group != COMMANDS)
    return _discover(plugins, as_sources(point for point in points if point.group == COMMANDS))


def discover_installed() -> tuple[list[Entry], list[Broken]]:
    """Load the installed plugins that are not disabled; add their verbs, and the kernel's.

    Returns
    -------
    entries : list of Entry
    broken : list of Broken
    """
    plugins, disabled_plugins = installed_sources(GROUP)
    commands, disabled_commands = installed_sources(COMMANDS)
    entries, broken = _discover(plugins, commands)
    disabled = [*disabled_plugins, *disabled_commands]
    lines = [source.broken(DISABLED, "Take it out of there to use it") for source in disabled]
    own = [Entry("command", verb, KERNEL, faithkit.__version__) for verb in builtins.commands()]
    return [*own, *entries], [*broken, *lines]


def _discover(plugins: Sequence[Source], commands: Sequence[Source]) -> tuple[list[Entry], list[Broken]]:
    # Two entry points of one distribution may lead to the same module; asking it once is enough.
    modules = {(source.distribution, source.entry_point.value): source for source in reversed(plugins)}
    findings = [finding for source in reversed(modules.values()) for finding in _read(source)]
    findings += [_command(providers[0]) for providers in plugin_verbs(commands).values()]
    return _separate([*findings, *clashes(commands)])


def _separate(findings: Iterable[Entry | Broken]) -> tuple[list[Entry], list[Broken]]:
    """Part what works from what does not."""
    found = list(findings)
    return [e for e in found if isinstance(e, Entry)], [b for b in found if isinstance(b, Broken)]


def _read(source: Source) -> list[Entry | Broken]:
    """Load one plugin and ask it for its components, whatever it raises meanwhile."""
    remedy = f"Reinstall it or what it needs, or remove it: pip uninstall {source.distribution}"
    return _tried(lambda: _examined(source, source.entry_point.load()), source, "cannot be loaded", remedy)


def _command(source: Source) -> Entry | Broken:
    try:
        return command_entry(source)
    except PluginError as error:
        return source.broken(describe(error), f"Correct its entry point in the group {COMMANDS}", error)


def _tried(
    act: Callable[[], list[Entry | Broken]], source: Source, complaint: str, hint: str
) -> list[Entry | Broken]:
    try:
        return act()
    except (KeyboardInterrupt, RowTimeout):  # a person's doing, or the clock's
        raise
    except BaseException as error:
        hint = "Here warnings are errors: see PYTHONWARNINGS" if isinstance(error, Warning) else hint
        return [source.broken(f"{complaint}: {describe(error)}", hint, error)]


def _examined(source: Source, plugin: Any) -> list[Entry | Broken]:
    problem = _version_problem(source, plugin)
    return [problem] if problem else [*_misspelt_hooks(source, plugin), *_offers(source, plugin)]


def _version_problem(source: Source, plugin: Any) -> Broken | None:
    given, where = getattr(plugin, "FAITHKIT_API", None), source.entry_point.value
    if given == API_VERSION:
        return None
    if given is None:
        hint = f"Add the line FAITHKIT_API = {API_VERSION} to it, or update: {source.upgrade}"
        return source.broken(f"{where} does not say which extension API it was written for", hint)
    newer = isinstance(given, int) and given > API_VERSION
    remedy = "git pull in the source tree of faithkit" if newer else source.upgrade
    hint = f"Update the older of the two: {remedy}"
    speaks = f"but faithkit {faithkit.__version__} speaks {API_VERSION}"
    return source.broken(f"{where} was written for extension API {given!r}, {speaks}", hint)


def _misspelt_hooks(source: Source, plugin: Any) -> Iterator[Broken]:
    for name in dir(plugin):
        marks = _MANAGER.parse_hookimpl_opts(plugin, name)
        if marks is None:
            if name.startswith("faithkit_") and callable(inspect.getattr_static(plugin, name, None)):
                yield _unmarked_hook(source, name)
            continue
        hook = marks.get("specname") or name
        if hook not in _HOOKS and not marks.get("optionalhook"):
            hint = did_you_mean(hook, _HOOKS) or f"The hooks are {listing(_HOOKS)}"
            yield source.broken(f"@hookimpl is on {hook}(), and there is no such hook", hint)


def _unmarked_hook(source: Source, name: str) -> Broken:
    hint = "Decorate it with @faithkit.plugin.hookimpl, or rename it if it is no hook"
    question = "" if name in _HOOKS else did_you_mean(name, _HOOKS)
    return source.broken(f"{name}() lacks @hookimpl and is never called", f"{hint}. {question}".rstrip(". "))


def _offers(source: Source, plugin: Any) -> list[Entry | Broken]:
    # A manager for each plugin: what it calls is this plugin's, so every component's provenance is known, a
    # hook wrapper reaches nobody else, and a registration that fails halfway leaves nothing behind.
    manager = pluggy.PluginManager("faithkit")
    manager.add_hookspecs(hookspecs)

    def offers() -> list[Entry | Broken]:
        manager.register(plugin)
        return [finding for kind in HOOK_KINDS for finding in _offer(source, kind, manager)]

    return _tried(offers, source, "does not fit the hooks", "Hooks take no arguments")


def _offer(source: Source, kind: str, manager: pluggy.PluginManager) -> list[Entry | Broken]:
    hook: pluggy.HookCaller = getattr(manager.hook, hook_name(kind))
    hint = f"Its {kind}s are left out. Update it, or tell its authors: {source.upgrade}"

    def offer() -> list[Entry | Broken]:
        entries, wrong = _separate(_finding(source, kind, hook.name, item) for item in _items(hook))
        return [*entries, *dict.fromkeys(wrong)]  # the same mistake a thousand times is one

    return _tried(offer, source, f"{hook.name}() failed", hint)


def _items(hook: pluggy.HookCaller) -> list[Any]:
    results = hook()
    # pluggy leaves out what is None, and a forgotten `return` should not pass for an empty plugin.
    results += [None] * (len(hook.get_hookimpls()) - len(results))
    items = list(itertools.islice(itertools.chain.from_iterable(map(_iterable, results)), _MOST + 1))
    if len(items) > _MOST:
        raise PluginError(f"it gave more than {_MOST:,} components, perhaps without end")
    return items


def _iterable(result: Any) -> Iterable[Any]:
    if isinstance(result, str) or not isinstance(result, Iterable):
        raise PluginError(f"it gave {type(result).__name__}, expected an iterable of Component: yield them")
    return result


def _finding(source: Source, kind: str, hook: str, item: Any) -> Entry | Broken:
    if isinstance(item, Component):
        # a copy of plain fields: whatever a subclass overrides stays outside
        component = Component(**attrs.asdict(item, recurse=False))
        return Entry(kind, component, source.distribution, source.version, source.entry_point.name)
    hint = "Yield faithkit.plugin.Component(name=…, factory='module:attribute', summary=…)"
    return source.broken(f"{hook}() gave {type(item).__name__}, expected Component", hint)
