"""Diagnostics that answer additional questions about a result: the reader and deletion."""

from collections.abc import Iterable

import faithkit

FAITHKIT_API = 1


@faithkit.plugin.hookimpl
def faithkit_diagnostics() -> Iterable[faithkit.plugin.Component]:
    """Yield the diagnostics of this plugin."""
    yield faithkit.plugin.Component(
        name="reader",
        factory="faithkit_diagnostics.reader.diagnostic:Reader",
        summary="How well a classifier guesses predictions that sees only the explanations.",
    )
    yield faithkit.plugin.Component(
        name="deletion",
        factory="faithkit_diagnostics.deletion:Deletion",
        summary="How far the score falls without the features that explanations name, or random ones.",
    )
