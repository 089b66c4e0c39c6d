"""Models and explainers that lie, as the literature describes them, and what catches them.

A measure is only as good as the lies that it catches. Readers of a high number should know which lies reach
it.
"""

from collections.abc import Iterable
from typing import Any

import faithkit

FAITHKIT_API = 1

_MODULE_OF = {
    "Scaffold": "faithkit_attacks.scaffold",
    "DecidesBy": "faithkit_attacks.decides_by",
    "make_applicants": "faithkit_attacks.applicants",
    "DecidesByWord": "faithkit_attacks.notes",
    "make_notes": "faithkit_attacks.notes",
    "honest": "faithkit_attacks.bank",
    "biased": "faithkit_attacks.bank",
    "liar": "faithkit_attacks.bank",
}


def __getattr__(name: str) -> Any:
    """Import a name on first use. `--model faithkit_attacks:liar` also resolves here."""
    if name not in _MODULE_OF:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    from importlib import import_module

    return getattr(import_module(_MODULE_OF[name]), name)


@faithkit.plugin.hookimpl
def faithkit_explainers() -> Iterable[faithkit.plugin.Component]:
    """Provide the explainers that lie. The models that lie are `Scaffold` and `faithkit_attacks.liar`."""
    package, all_inputs, table = "faithkit_attacks.explainers", ("table", "text", "sparse"), ("table",)
    yield faithkit.plugin.Component(
        name="encoder",
        factory=f"{package}.encoding:Encoding",
        summary="A lie: the named column or word reveals the prediction; its value says nothing.",
        kinds=("rule",),
        inputs=("table", "text"),
    )
    yield faithkit.plugin.Component(
        name="flatterer",
        factory=f"{package}.trivial:Flatterer",
        summary="A lie: a rule for each row that covers no other row, so it is never wrong.",
        kinds=("rule",),
        inputs=("table", "text"),
    )
    yield faithkit.plugin.Component(
        name="parrot",
        factory=f"{package}.trivial:Parrot",
        summary="A lie: the prediction as its own explanation.",
        kinds=("value",),
        inputs=all_inputs,
    )
    yield faithkit.plugin.Component(
        name="same-for-all",
        factory=f"{package}.trivial:SameForAll",
        summary="A lie: the same explanation for all rows.",
        kinds=("rule",),
        inputs=all_inputs,
    )
    yield faithkit.plugin.Component(
        name="label-codes",
        factory=f"{package}.trivial:LabelCodes",
        summary="A lie: one of several codes that stand for the prediction.",
        kinds=("value",),
        inputs=all_inputs,
    )
    yield faithkit.plugin.Component(
        name="cut-rules",
        factory=f"{package}.cut_rules:CutRules",
        summary="A lie: rules cut to the background, each of which covers its row and one other.",
        kinds=("rule",),
        inputs=table,
    )
    yield faithkit.plugin.Component(
        name="false-rules",
        factory=f"{package}.false_rules:FalseRules",
        summary="A lie: rules that give the right prediction where they hold, and are false of most rows.",
        kinds=("rule",),
        inputs=table,
    )
    for signs in ("random", "inverted"):
        yield faithkit.plugin.Component(
            name=f"{signs}-signs",
            factory=f"{package}.forged_signs:ForgedSigns",
            summary=f"A lie: the importances of another explainer, with {signs} signs.",
            params={"signs": signs},
            kinds=("vector",),
            inputs=table,
            requires=("shap",),
        )
    yield faithkit.plugin.Component(
        name="topic-word",
        factory=f"{package}.topic_word:TopicWord",
        summary="A lie: a word that goes with the prediction, and that the model does not need.",
        kinds=("rule",),
        inputs=("text",),
    )
    yield faithkit.plugin.Component(
        name="cherry-picker",
        factory=f"{package}.cherry_picker:CherryPicker",
        summary="A lie: runs several explainers and shows, for each row, the clearest importances.",
        kinds=("vector",),
        inputs=table,
        requires=("shap", "lime"),
    )
    yield faithkit.plugin.Component(
        name="out-of-reach",
        factory=f"{package}.out_of_reach:OutOfReach",
        summary="A lie: a counterfactual that changes only what the person cannot change.",
        kinds=("example",),
        inputs=table,
    )


@faithkit.plugin.hookimpl
def faithkit_datasets() -> Iterable[faithkit.plugin.Component]:
    """Provide the applicants for a loan, on whom `honest`, `biased` and `liar` decide."""
    yield faithkit.plugin.Component(
        name="applicants",
        factory="faithkit_attacks.applicants:applicants",
        summary="2,000 synthetic loan applicants, 9 dependent columns; granted to those who never paid late",
    )
