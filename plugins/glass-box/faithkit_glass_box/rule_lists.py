"""Lists of rules as texts, such as `age > 40; ~(sex = Male and hours > 50)`; a rule after `~` does not hold.

A `Rule` is a conjunction, and the negation of a rule is no conjunction. So an explanation names rules of the
model, and `Explanations.shared` stores the rules themselves once. The relation
`rules-hold` says to which instances such a list applies.
"""

from collections.abc import Iterable
from functools import cached_property
from typing import Any

import attrs
import numpy as np
from numpy.typing import NDArray

import faithkit

KIND = "rule-list"
ALWAYS = "always"
_SEPARATOR = "; "


@attrs.frozen(eq=False)
class NamedRules:
    """The distinct rules of a model by name, in its order.

    Examples
    --------
    >>> rules = [faithkit.Rule([faithkit.plugin.Interval(name, low=9)]) for name in ("height", "age")]
    >>> named_rules = NamedRules.of(rules)
    >>> text = named_rules.text([1], [0])
    >>> text
    'age > 9; ~(height > 9)'
    >>> NamedRules.from_shared(named_rules.shared).numbers(text)
    ([1], [0])
    """

    rules: dict[str, faithkit.Rule]

    @classmethod
    def of(cls, rules: Iterable[faithkit.Rule]) -> "NamedRules":
        """Name rules by their text, and add a number to ambiguous names."""
        rule_by_name: dict[str, faithkit.Rule] = {}
        used_names: set[str] = set()
        for number, rule in enumerate(dict.fromkeys(rules), start=1):
            name = str(rule).replace(_SEPARATOR, ", ")
            # limits that differ in the seventh digit have the same text
            if {name, _negate(name)} & used_names:
                name += f" [rule {number}]"
            used_names |= {name, _negate(name)}
            rule_by_name[name] = rule
        return cls(rule_by_name)

    @classmethod
    def from_shared(cls, shared: dict[str, Any]) -> "NamedRules":
        """Rebuild the rules from `Explanations.shared`."""
        return cls({name: faithkit.Rule.from_json(rule) for name, rule in shared.get("rules", {}).items()})

    @property
    def shared(self) -> dict[str, Any]:
        """The rules as JSON values, for explanations to share."""
        return {"rules": {name: rule.to_json() for name, rule in self.rules.items()}}

    def text(self, holding: Iterable[int], failing: Iterable[int]) -> str:
        """Return the text of the rules that hold and that do not, by their numbers."""
        parts = [self._names[i] for i in holding] + [_negate(self._names[i]) for i in failing]
        return _SEPARATOR.join(parts) or ALWAYS

    def numbers(self, text: str) -> tuple[list[int], list[int]]:
        """Return the numbers of the rules that hold and that do not, from a text."""
        parts = text.split(_SEPARATOR) if text != ALWAYS else []
        unknown = next((part for part in parts if part not in self._meanings), None)
        if unknown is not None:
            raise faithkit.errors.InputError(
                f"rules-hold: no rule is called {unknown!r:.80}: give the explanations as rule-model made "
                'them, with their shared["rules"].'
            )
        meanings = [self._meanings[part] for part in parts]
        return [i for i, holds in meanings if holds], [i for i, holds in meanings if not holds]

    @cached_property
    def _names(self) -> list[str]:
        return list(self.rules)

    @cached_property
    def _meanings(self) -> dict[str, tuple[int, bool]]:
        """The number of a rule and whether it holds, for each possible part of a text."""
        positive = {name: (i, True) for i, name in enumerate(self.rules)}
        return positive | {_negate(name): (i, False) for i, name in enumerate(self.rules)}


def _negate(name: str) -> str:
    return f"~({name})"


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
    states_scope = True
    phrase = "rows for which the same rules hold"

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
