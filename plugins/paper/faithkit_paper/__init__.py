"""The paper's experiments, repeated: every table and figure, side by side with the printed numbers."""

from collections.abc import Iterable

import faithkit

FAITHKIT_API = 1


@faithkit.hookimpl
def faithkit_commands() -> Iterable[faithkit.Component]:
    """Provide the verb that runs the experiments."""
    yield faithkit.Component(
        name="reproduce",
        factory="faithkit_paper.cli:reproduce",
        summary="Repeat the paper's tables and figures, and compare with the printed numbers.",
    )
