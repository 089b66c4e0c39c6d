"""Diagnostics: further questions about a result."""

from collections.abc import Iterable

import faithkit

FAITHKIT_API = 1


@faithkit.hookimpl
def faithkit_diagnostics() -> Iterable[faithkit.Component]:
    """Provide the reader."""
    yield faithkit.Component(
        name="reader",
        factory="faithkit_diagnostics.reader.diagnostic:Reader",
        summary="How well a classifier guesses predictions that sees only the explanations.",
    )
