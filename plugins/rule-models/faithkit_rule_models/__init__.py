"""Models that are made of rules: their own rules as explanations, and to whom else these apply."""

from collections.abc import Iterable

import faithkit

FAITHKIT_API = 1
FAITHKIT_KIT = "faithkit_rule_models.kit:kit"


@faithkit.hookimpl
def faithkit_explainers() -> Iterable[faithkit.Component]:
    """Provide the rules of rule lists, rule sets and sums of rules."""
    yield faithkit.Component(
        name="rule-model",
        factory="faithkit_rule_models.explainer:RuleModel",
        summary="Which rules of the model decided: of imodels' rule models, and of wittgenstein's.",
        kinds=("rule-list",),
        inputs=("table",),
    )


@faithkit.hookimpl
def faithkit_relations() -> Iterable[faithkit.Component]:
    """Provide the relation by which a list of rules applies to an instance."""
    yield faithkit.Component(
        name="rules-hold",
        factory="faithkit_rule_models.rules_hold:RulesHold",
        summary="The instance satisfies every rule of the list, and none of those with a ~.",
        kinds=("rule-list",),
    )
