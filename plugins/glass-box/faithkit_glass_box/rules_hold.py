"""When a list of rules applies to an instance."""

from typing import Any

import numpy as np
from numpy.typing import NDArray

import faithkit
from faithkit_glass_box.rule_lists import KIND, Named


class RulesHold(faithkit.plugin.Relation):
    """The instance satisfies every rule of the list, and none of those with a `~`.

    Examples
    --------
    >>> old = {"rules": {"age > 40": [{"op": "interval", "column": 0, "low": 40}]}}
    >>> told = faithkit.Explanations.of(["~(age > 40)", "age > 40", "~(age > 40)"], "rule-list", shared=old)
    >>> ages = np.array([[30.0], [50.0], [np.nan]])
    >>> faithkit.score(["no", "yes", "no"], told, ages, relation=RulesHold()).local(0).sufficiency.value
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
        """Combine one bitset for each rule of the model."""
        texts, known = self.key(explanations), Named.read(explanations.shared)
        everything, *rules = faithkit.plugin.scope_bits([faithkit.Rule(), *known.rules.values()], sample)
        bits = np.zeros((len(explanations), len(everything)), dtype=np.uint64)
        for i in np.flatnonzero(~explanations.missing):
            holding, failing = known.numbers(texts[i])
            bits[i] = everything
            for number in holding:
                bits[i] &= rules[number]
            for number in failing:
                bits[i] &= ~rules[number]
        return bits
