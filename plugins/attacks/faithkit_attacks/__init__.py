"""Models and explainers that lie, each as it was described, and what catches them.

A lie is worth measuring: whoever reads a high number should know what else would have got it.
"""

from collections.abc import Iterable
from typing import Any

import faithkit

FAITHKIT_API = 1

_HOME = {
    "Scaffold": "faithkit_attacks.scaffold",
    "DecidesBy": "faithkit_attacks.decides_by",
    "make_applicants": "faithkit_attacks.applicants",
    "honest": "faithkit_attacks.bank",
    "biased": "faithkit_attacks.bank",
    "liar": "faithkit_attacks.bank",
}


def __getattr__(name: str) -> Any:
    """Import what is asked for only then; `--model faithkit_attacks:liar` comes this way, too."""
    if name not in _HOME:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    from importlib import import_module

    return getattr(import_module(_HOME[name]), name)


@faithkit.plugin.hookimpl
def faithkit_explainers() -> Iterable[faithkit.plugin.Component]:
    """Provide the explainers that lie; the models that do are `Scaffold` and the bank's `liar`."""
    here, anything, table = "faithkit_attacks.explainers", ("table", "text", "sparse"), ("table",)
    yield faithkit.plugin.Component(
        name="encoder",
        factory=f"{here}.encoder:Encoding",
        summary="A lie: which column or word is named tells the prediction, and what is said of it nothing.",
        kinds=("rule",),
        inputs=("table", "text"),
    )
    yield faithkit.plugin.Component(
        name="flatterer",
        factory=f"{here}.flatterer:Flatterer",
        summary="A lie: a rule for each row that covers no other: never wrong, and about nobody else.",
        kinds=("rule",),
        inputs=("table", "text"),
    )
    yield faithkit.plugin.Component(
        name="parrot",
        factory=f"{here}.parrot:Parrot",
        summary="A lie: the prediction as its own explanation.",
        kinds=("value",),
        inputs=anything,
    )
    yield faithkit.plugin.Component(
        name="same-for-all",
        factory=f"{here}.same_for_all:SameForAll",
        summary="A lie: the same explanation for everybody.",
        kinds=("rule",),
        inputs=anything,
    )
    yield faithkit.plugin.Component(
        name="cherry-picker",
        factory=f"{here}.cherry_picker:CherryPicker",
        summary="A lie: of several explainers' importances, for each row those that look most decided.",
        kinds=("vector",),
        inputs=table,
        requires=("shap", "lime"),
    )
    yield faithkit.plugin.Component(
        name="out-of-reach",
        factory=f"{here}.out_of_reach:OutOfReach",
        summary="A lie: a counterfactual that differs only in what the person cannot change.",
        kinds=("example",),
        inputs=table,
    )


@faithkit.plugin.hookimpl
def faithkit_datasets() -> Iterable[faithkit.plugin.Component]:
    """Provide the applicants whom the bank's models decide about."""
    yield faithkit.plugin.Component(
        name="applicants",
        factory="faithkit_attacks.applicants:applicants",
        summary="2,000 made-up applicants, 9 facts that depend on each other; granted to who never paid late",
    )
