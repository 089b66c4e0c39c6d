"""The entry points of installed distributions: who declares them, and which are disabled. None is loaded."""

import importlib.metadata
import os
import re
from collections.abc import Iterable
from importlib.metadata import EntryPoint
from typing import TYPE_CHECKING, Any, NamedTuple

if TYPE_CHECKING:
    from faithkit.extension.entries import Broken

KERNEL = "faithkit"
"""The kernel's distribution, and its package."""

DISABLED = "it is disabled by the environment variable FAITHKIT_DISABLE"


class Source(NamedTuple):
    """An entry point and the distribution that declares it."""

    distribution: str
    version: str
    entry_point: EntryPoint

    def broken(self, problem: str, hint: str, cause: BaseException | None = None) -> "Broken":
        """Say what is wrong with this plugin."""
        from faithkit.extension.entries import Broken  # listing names needs no attrs

        return Broken(self.distribution, self.entry_point.name, problem, hint, cause)

    @property
    def upgrade(self) -> str:
        """What a user can do about somebody else's mistake."""
        return f"pip install --upgrade {self.distribution}"


def normalised(distribution: str) -> str:
    """Spell a distribution's name as pip does (PEP 503).

    >>> normalised("Faithkit_Scoped.Rules")
    'faithkit-scoped-rules'
    """
    return re.sub(r"[-_.]+", "-", distribution).lower()


def as_sources(entry_points: Iterable[EntryPoint]) -> list[Source]:
    """Find the distributions of entry points, and sort: the order of installation is irrelevant."""
    sources = map(_source, entry_points)
    return sorted(sources, key=lambda s: (s.distribution, s.entry_point.name, s.entry_point.value))


def installed_sources(group: str) -> tuple[list[Source], list[Source]]:
    """Return the installed entry points of a group, and those that ``FAITHKIT_DISABLE`` leaves out.

    Parameters
    ----------
    group : str

    Returns
    -------
    enabled, disabled : list of Source
        The kernel's own are always enabled.
    """
    names = {normalised(name.strip()) for name in os.environ.get("FAITHKIT_DISABLE", "").split(",")}
    enabled: list[Source] = []
    disabled: list[Source] = []
    for source in as_sources(importlib.metadata.entry_points(group=group)):
        is_named = not names.isdisjoint({source.distribution, normalised(source.entry_point.name)})
        (disabled if is_named and _package(source.entry_point) != KERNEL else enabled).append(source)
    return enabled, disabled


def _source(entry_point: EntryPoint) -> Source:
    distribution: Any = entry_point.dist
    try:
        metadata = distribution.metadata  # parsed anew at every access
        name, version = metadata["Name"], metadata["Version"]
    except Exception:  # damaged metadata, or an entry point made by hand
        name, version = None, None
    return Source(normalised(name or _package(entry_point)), version or "unknown", entry_point)


def _package(entry_point: EntryPoint) -> str:
    return re.split("[.:]", entry_point.value)[0]
