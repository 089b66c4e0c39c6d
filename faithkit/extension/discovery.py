"""From installed entry points to entries: each plugin is loaded in its own try, and what is wrong is kept.

pluggy's own ``load_setuptools_entrypoints`` is not used: one failing import would end it, and of two entry
points with the same name it drops the second. They are sorted, so the order of installation is irrelevant.
"""

import inspect
import itertools
import re
from collections.abc import Callable, Iterable, Iterator
from importlib.metadata import EntryPoint
from typing import Any, NamedTuple

import attrs
import pluggy

import faithkit
from faithkit.errors import PluginError
from faithkit.extension import hookspecs
from faithkit.extension.component import Component
from faithkit.extension.entries import Broken, Entry
from faithkit.extension.guests import same_folder, silent_stdout
from faithkit.extension.hookspecs import API_VERSION, KINDS, hook_name
from faithkit.foreign import RowTimeout
from faithkit.wording import describe, did_you_mean, listing

_HOOKS = tuple(map(hook_name, KINDS))
_MANAGER = pluggy.PluginManager("faithkit")
_MOST = 10_000  # components of a kind: whoever gives more gives them for ever


class Source(NamedTuple):
    """An entry point and the distribution that declares it."""

    distribution: str
    version: str
    entry_point: EntryPoint

    def broken(self, problem: str, hint: str, cause: BaseException | None = None) -> Broken:
        """Say what is wrong with this plugin."""
        return Broken(self.distribution, self.entry_point.name, problem, hint, cause)

    @property
    def module(self) -> str:
        """The module that the entry point leads to."""
        return re.split(r"[^\w.]", self.entry_point.value)[0]

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
    return separated(finding for source in as_sources(entry_points) for finding in read(source))


def separated(findings: Iterable[Entry | Broken]) -> tuple[list[Entry], list[Broken]]:
    """Part what works from what does not."""
    found = list(findings)
    return [e for e in found if isinstance(e, Entry)], [b for b in found if isinstance(b, Broken)]


def normalised(distribution: str) -> str:
    """Spell a distribution's name as pip does (PEP 503).

    >>> normalised("Faithkit_Scoped.Rules")
    'faithkit-scoped-rules'
    """
    return re.sub(r"[-_.]+", "-", distribution).lower()


def as_sources(entry_points: Iterable[EntryPoint]) -> list[Source]:
    """Find out whose the entry points are, and sort them."""
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


def read(source: Source) -> list[Entry | Broken]:
    """Load one plugin and ask it for its components, whatever it does meanwhile."""
    remedy = f"Reinstall it or what it needs, or remove it: pip uninstall {source.distribution}"
    with same_folder(), silent_stdout():
        return _tried(
            lambda: _examined(source, source.entry_point.load()), source, "cannot be loaded", remedy
        )


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
    hint = "Decorate it with @faithkit.hookimpl, or rename it if it is no hook"
    question = "" if name in _HOOKS else did_you_mean(name, _HOOKS)
    return source.broken(f"{name}() lacks @hookimpl and is never called", f"{hint}. {question}".rstrip(". "))


def _offers(source: Source, plugin: Any) -> list[Entry | Broken]:
    # A manager for each plugin: what it calls is this plugin's, so every component's provenance is known, a
    # hook wrapper reaches nobody else, and a registration that fails halfway leaves nothing behind.
    manager = pluggy.PluginManager("faithkit")
    manager.add_hookspecs(hookspecs)

    def offers() -> list[Entry | Broken]:
        manager.register(plugin)
        return [finding for kind in KINDS for finding in _offer(source, kind, manager)]

    return _tried(offers, source, "does not fit the hooks", "Hooks take no arguments")


def _offer(source: Source, kind: str, manager: pluggy.PluginManager) -> list[Entry | Broken]:
    hook: pluggy.HookCaller = getattr(manager.hook, hook_name(kind))
    hint = f"Its {kind}s are left out. Update it, or tell its authors: {source.upgrade}"

    def offer() -> list[Entry | Broken]:
        entries, wrong = separated(_finding(source, kind, hook.name, item) for item in _items(hook))
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
    hint = "Yield faithkit.Component(name=…, factory='module:attribute', summary=…)"
    return source.broken(f"{hook}() gave {type(item).__name__}, expected Component", hint)
