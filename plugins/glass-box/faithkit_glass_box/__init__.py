"""Explainers for glass-box models, which return the model's own rules and terms, and their relation."""

from collections.abc import Iterable

import faithkit

FAITHKIT_API = 1
FAITHKIT_KIT = "faithkit_glass_box.kit:kit"


@faithkit.plugin.hookimpl
def faithkit_explainers() -> Iterable[faithkit.plugin.Component]:
    """Provide the rules of rule models, and the contributions of InterpretML's boosting machines."""
    yield faithkit.plugin.Component(
        name="rule-model",
        factory="faithkit_glass_box.rule_model:RuleModel",
        summary="Which rules of the model decided: of imodels' rule models, and of wittgenstein's.",
        kinds=("rule-list",),
        inputs=("table",),
    )
    yield faithkit.plugin.Component(
        name="ebm",
        factory="faithkit_glass_box.boosting_terms:Contributions",
        summary="What each term of InterpretML's explainable boosting machine adds to the score.",
        kinds=("vector",),
        inputs=("table",),
    )


@faithkit.plugin.hookimpl
def faithkit_relations() -> Iterable[faithkit.plugin.Component]:
    """Provide the relation by which a list of rules applies to an instance."""
    yield faithkit.plugin.Component(
        name="rules-hold",
        factory="faithkit_glass_box.rule_lists:RulesHold",
        summary="The instance satisfies every rule of the list, and none of those with a ~.",
        kinds=("rule-list",),
    )
