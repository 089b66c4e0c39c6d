"""The entry points of installed distributions, and which are disabled; none is loaded here."""

import importlib.metadata
import os
import re
from collections.abc import Iterable
from importlib.metadata import EntryPoint
from typing import TYPE_CHECKING, Any, NamedTuple

from faithkit.extension import KERNEL

if TYPE_CHECKING:
    from faithkit.extension.entries import PluginProblem

DISABLED = "it is disabled by the environment variable FAITHKIT_DISABLE"


class Source(NamedTuple):
    """An entry point and the distribution that declares it."""

    distribution: str
    version: str
    entry_point: EntryPoint

    def problem(self, problem: str, hint: str, cause: BaseException | None = None) -> "PluginProblem":
        """Return a problem with this plugin."""
        from faithkit.extension.entries import (
            PluginProblem,  # imported here, because listing names needs no attrs
        )

        return PluginProblem(self.distribution, self.entry_point.name, problem, hint, cause)

    @property
    def upgrade_command(self) -> str:
        """The command that may bring a corrected version."""
        return f"pip install --upgrade {self.distribution}"


def normalise_name(distribution: str) -> str:
    """Return a distribution's name in the spelling of pip (PEP 503).

    >>> normalise_name("Faithkit_Scoped.Rules")
    'faithkit-scoped-rules'
    """
    return re.sub(r"[-_.]+", "-", distribution).lower()


def as_sources(entry_points: Iterable[EntryPoint]) -> list[Source]:
    """Return entry points with their distributions, in an order that does not depend on installation."""
    sources = map(_to_source, entry_points)
    return sorted(
        sources,
        key=lambda source: (source.distribution, source.entry_point.name, source.entry_point.value),
    )


def installed_sources(group: str) -> tuple[list[Source], list[Source]]:
    """Return the installed entry points of a group, and those that ``FAITHKIT_DISABLE`` disables.

    The kernel's own entry points are always enabled.
    """
    disabled_names = {
        normalise_name(name.strip()) for name in os.environ.get("FAITHKIT_DISABLE", "").split(",")
    }
    enabled: list[Source] = []
    disabled: list[Source] = []
    for source in as_sources(importlib.metadata.entry_points(group=group)):
        is_named = not disabled_names.isdisjoint(
            {source.distribution, normalise_name(source.entry_point.name)}
        )
        (disabled if is_named and _package(source.entry_point) != KERNEL else enabled).append(source)
    return enabled, disabled


def _to_source(entry_point: EntryPoint) -> Source:
    distribution: Any = entry_point.dist
    try:
        metadata = distribution.metadata  # each access parses it again
        name, version = metadata["Name"], metadata["Version"]
    except Exception:  # damaged metadata, or an entry point without a distribution
        name, version = None, None
    return Source(normalise_name(name or _package(entry_point)), version or "unknown", entry_point)


def _package(entry_point: EntryPoint) -> str:
    return re.split("[.:]", entry_point.value)[0]
