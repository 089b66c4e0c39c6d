"""Explanations that are explicit regions of the instance space (section 3.1 of the paper)."""

from collections.abc import Iterable

import faithkit

FAITHKIT_API = 1


@faithkit.hookimpl
def faithkit_relations() -> Iterable[faithkit.Component]:
    """Provide in-scope, the default relation of rules."""
    yield faithkit.Component(
        name="in-scope",
        factory="faithkit_scoped_rules.in_scope:InScope",
        summary="The instance satisfies every predicate of the rule.",
        kinds=("rule",),
    )
