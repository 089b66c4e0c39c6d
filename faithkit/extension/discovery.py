"""From installed entry points to entries: each plugin is loaded in its own try, and what is wrong is kept.

pluggy's own ``load_setuptools_entrypoints`` is not used: one failing import would end it, and of two entry
points with the same name it drops the second. They are sorted, so the order of installation is irrelevant.
"""

import inspect
import re
from collections.abc import Iterable, Iterator, Mapping
from importlib.metadata import EntryPoint
from typing import Any, NamedTuple

import pluggy

import faithkit
from faithkit.errors import PluginError
from faithkit.extension import hookspecs
from faithkit.extension.component import Component
from faithkit.extension.entries import Broken, Entry
from faithkit.extension.hookspecs import API_VERSION, KINDS, hook_name
from faithkit.wording import describe, did_you_mean, listing

_HOOKS = tuple(map(hook_name, KINDS))
_MANAGER = pluggy.PluginManager("faithkit")
# A plugin that calls sys.exit() when imported or asked is broken, too; Ctrl-C is not the plugin's doing.
_FAILURES = (Exception, SystemExit)


class Source(NamedTuple):
    """An entry point and the distribution that declares it."""

    distribution: str
    version: str
    entry_point: EntryPoint

    def broken(self, problem: str, hint: str, cause: BaseException | None = None) -> Broken:
        """Say what is wrong with this plugin."""
        return Broken(self.distribution, self.entry_point.name, problem, hint, cause)

    @property
    def upgrade(self) -> str:
        """What a user can do about somebody else's mistake."""
        return f"pip install --upgrade {self.distribution}"


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
    findings = [finding for source in _sources(entry_points) for finding in _read(source)]
    entries = [finding for finding in findings if isinstance(finding, Entry)]
    return entries, [finding for finding in findings if isinstance(finding, Broken)]


def normalised(distribution: str) -> str:
    """Spell a distribution's name as pip does (PEP 503).

    >>> normalised("Faithkit_Scoped.Rules")
    'faithkit-scoped-rules'
    """
    return re.sub(r"[-_.]+", "-", distribution).lower()


def _sources(entry_points: Iterable[EntryPoint]) -> list[Source]:
    sources = sorted(
        map(_source, entry_points), key=lambda s: (s.distribution, s.entry_point.name, s.entry_point.value)
    )
    # Two entry points of one distribution may lead to the same module; asking it once is enough.
    first = {(source.distribution, source.entry_point.value): source for source in reversed(sources)}
    return list(reversed(first.values()))


def _source(entry_point: EntryPoint) -> Source:
    distribution: Any = entry_point.dist
    try:
        metadata = distribution.metadata  # parsed anew at every access
        name, version = metadata["Name"], metadata["Version"]
    except Exception:  # damaged metadata, or an entry point made by hand
        name, version = None, None
    package = re.split("[.:]", entry_point.value)[0]
    return Source(normalised(name or package), version or "unknown", entry_point)


def _read(source: Source) -> list[Entry | Broken]:
    try:
        return list(_examined(source, source.entry_point.load()))
    except _FAILURES as error:
        remedy = f"Reinstall it or what it needs, or remove it: pip uninstall {source.distribution}"
        return [source.broken(f"cannot be loaded: {describe(error)}", remedy, error)]


def _examined(source: Source, plugin: Any) -> Iterator[Entry | Broken]:
    problem = _version_problem(source, plugin)
    if problem:
        yield problem
    else:
        yield from _misspelt_hooks(source, plugin)
        yield from _offers(source, plugin)


def _version_problem(source: Source, plugin: Any) -> Broken | None:
    given, where = getattr(plugin, "FAITHKIT_API", None), source.entry_point.value
    if given == API_VERSION:
        return None
    if given is None:
        hint = f"Add the line FAITHKIT_API = {API_VERSION} to it, or update: {source.upgrade}"
        return source.broken(f"{where} does not say which extension API it was written for", hint)
    newer = isinstance(given, int) and given > API_VERSION
    hint = f"Update the older of the two: {'pip install --upgrade faithkit' if newer else source.upgrade}"
    speaks = f"but faithkit {faithkit.__version__} speaks {API_VERSION}"
    return source.broken(f"{where} was written for extension API {given!r}, {speaks}", hint)


def _misspelt_hooks(source: Source, plugin: Any) -> Iterator[Broken]:
    parse = _MANAGER.parse_hookimpl_opts
    for name in dir(plugin):
        marks = parse(plugin, name)
        if marks is not None:
            yield from _unknown_hook(source, marks, name)
        elif name.startswith("faithkit_") and callable(inspect.getattr_static(plugin, name, None)):
            yield _unmarked_hook(source, name)


def _unknown_hook(source: Source, marks: Mapping[str, Any], name: str) -> Iterator[Broken]:
    hook = marks.get("specname") or name
    if hook not in _HOOKS and not marks.get("optionalhook"):
        hint = did_you_mean(hook, _HOOKS) or f"The hooks are {listing(_HOOKS)}"
        yield source.broken(f"@hookimpl is on {hook}(), and there is no such hook", hint)


def _unmarked_hook(source: Source, name: str) -> Broken:
    hint = "Decorate it with @faithkit.hookimpl, or rename it if it is no hook"
    question = "" if name in _HOOKS else did_you_mean(name, _HOOKS)
    return source.broken(f"{name}() lacks @hookimpl and is never called", f"{hint}. {question}".rstrip(". "))


def _offers(source: Source, plugin: Any) -> Iterator[Entry | Broken]:
    # A manager for each plugin: what it calls is this plugin's, so every component's provenance is known, a
    # hook wrapper reaches nobody else, and a registration that fails halfway leaves nothing behind.
    manager = pluggy.PluginManager("faithkit")
    manager.add_hookspecs(hookspecs)
    try:
        manager.register(plugin)
    except _FAILURES as error:
        yield source.broken(f"does not fit the hooks: {describe(error)}", "Hooks take no arguments", error)
        return
    for kind in KINDS:
        yield from _offer(source, kind, getattr(manager.hook, hook_name(kind)))


def _offer(source: Source, kind: str, hook: pluggy.HookCaller) -> Iterator[Entry | Broken]:
    try:
        results = hook()
        # pluggy leaves out what is None, and a forgotten `return` should not pass for an empty plugin.
        results += [None] * (len(hook.get_hookimpls()) - len(results))
        items = [item for result in results for item in _iterated(result)]
    except _FAILURES as error:
        hint = f"Its {kind}s are left out. Update it, or tell its authors: {source.upgrade}"
        yield source.broken(f"{hook.name}() failed: {describe(error)}", hint, error)
        return
    for item in items:
        if isinstance(item, Component):
            yield Entry(kind, item, source.distribution, source.version, source.entry_point.name)
        else:
            hint = "Yield faithkit.Component(name=…, factory='module:attribute', summary=…)"
            yield source.broken(f"{hook.name}() gave {type(item).__name__}, expected Component", hint)


def _iterated(result: Any) -> list[Any]:
    if isinstance(result, str) or not isinstance(result, Iterable):
        raise PluginError(f"it gave {type(result).__name__}, expected an iterable of Component: yield them")
    return list(result)
