"""Results of faithkit as one HTML page that loads nothing, and as plots."""

import importlib
from collections.abc import Iterator
from typing import Any

from faithkit.plugin import Component, hookimpl

FAITHKIT_API = 1


def __getattr__(name: str) -> Any:
    if name == "plots":
        return importlib.import_module("faithkit_html.plots")
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")


@hookimpl
def faithkit_reporters() -> Iterator[Component]:
    """Offer the page, which notebooks also show parts of."""
    yield Component(
        name="html",
        factory="faithkit_html.reporter:Html",
        summary="One page for a browser with plots, which loads nothing.",
        types=(".html", ".htm", "text/html"),
    )
