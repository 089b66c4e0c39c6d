"""Explanations by example (section 3.3 of the paper)."""

from collections.abc import Iterable

import faithkit

FAITHKIT_API = 1


@faithkit.hookimpl
def faithkit_relations() -> Iterable[faithkit.Component]:
    """Provide the relation of prototypes."""
    yield faithkit.Component(
        name="within",
        factory="faithkit_example_based.within:Within",
        summary="The instance lies within a distance of the example.",
        kinds=("example",),
        inputs=("table",),
    )
