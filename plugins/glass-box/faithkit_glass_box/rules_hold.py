"""The relation `rules-hold`: whether a list of rules applies to an instance."""

from typing import Any

import numpy as np
from numpy.typing import NDArray

import faithkit
from faithkit_glass_box.rule_lists import KIND, NamedRules


class RulesHold(faithkit.plugin.Relation):
    """The instance satisfies every rule of the list, and none of those with a `~`.

    Examples
    --------
    >>> old = {"rules": {"age > 40": [{"op": "interval", "column": 0, "low": 40}]}}
    >>> texts = ["~(age > 40)", "age > 40", "~(age > 40)"]
    >>> explanations = faithkit.Explanations.of(texts, "rule-list", shared=old)
    >>> ages = np.array([[30.0], [50.0], [np.nan]])
    >>> result = faithkit.score(["no", "yes", "no"], explanations, ages, relation=RulesHold())
    >>> result.local(0).sufficiency.value
    1.0
    """

    name = "rules-hold"
    instance_only = True

    def key(self, explanations: faithkit.Explanations) -> Any:
        """Return the texts, which name rules that all explanations share."""
        if explanations.kind != KIND:
            raise faithkit.errors.InputError(
                f"rules-hold reads lists of rules, and these explanations are of kind {explanations.kind!r}: "
                "name another relation, or the explainer rule-model."
            )
        return explanations.values

    def packed(
        self, sample: faithkit.plugin.Sample, explanations: faithkit.Explanations
    ) -> NDArray[np.uint64]:
        """Return packed bits, combined from one bitset per rule of the model."""
        texts, named_rules = self.key(explanations), NamedRules.from_shared(explanations.shared)
        everything, *rules = faithkit.plugin.scope_bits(
            [faithkit.Rule(), *named_rules.rules.values()], sample
        )
        bits = np.zeros((len(explanations), len(everything)), dtype=np.uint64)
        for i in np.flatnonzero(~explanations.missing):
            holding, failing = named_rules.numbers(texts[i])
            bits[i] = everything
            for number in holding:
                bits[i] &= rules[number]
            for number in failing:
                bits[i] &= ~rules[number]
        return bits
