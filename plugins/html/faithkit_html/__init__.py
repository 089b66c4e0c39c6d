"""Results of faithkit as one HTML page that loads nothing, and as plots."""

from collections.abc import Iterator

from faithkit.plugin import Component, hookimpl

FAITHKIT_API = 1


@hookimpl
def faithkit_reporters() -> Iterator[Component]:
    """Offer the page, which notebooks also show parts of."""
    yield Component(
        name="html",
        factory="faithkit_html.reporter:Html",
        summary="One page for a browser with plots, which loads nothing.",
        types=(".html", ".htm", "text/html"),
    )
