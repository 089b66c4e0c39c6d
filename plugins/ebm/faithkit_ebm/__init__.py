"""What each term of an explainable boosting machine adds to the score."""

from collections.abc import Iterable

import faithkit

FAITHKIT_API = 1
FAITHKIT_KIT = "faithkit_ebm.kit:kit"


@faithkit.hookimpl
def faithkit_explainers() -> Iterable[faithkit.Component]:
    """Provide the contributions of InterpretML's boosting machines."""
    yield faithkit.Component(
        name="ebm",
        factory="faithkit_ebm.contributions:Contributions",
        summary="What each term of InterpretML's explainable boosting machine adds to the score.",
        kinds=("vector",),
        inputs=("table",),
    )
