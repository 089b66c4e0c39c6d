"""Lists of rules as texts, such as `age > 40; ~(sex = Male and hours > 50)`; a rule after `~` does not hold.

A `Rule` is a conjunction, and the negation of a rule is no conjunction. So an explanation names rules of the
model, and `Explanations.shared` stores the rules themselves once.
"""

from collections.abc import Iterable
from functools import cached_property
from typing import Any

import attrs

import faithkit

KIND = "rule-list"
ALWAYS = "always"
_SEPARATOR = "; "


@attrs.frozen(eq=False)
class NamedRules:
    """The distinct rules of a model by name, in its order.

    Examples
    --------
    >>> rules = [faithkit.Rule([faithkit.Interval(name, low=9)]) for name in ("height", "age")]
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
        named: dict[str, faithkit.Rule] = {}
        used_names: set[str] = set()
        for number, rule in enumerate(dict.fromkeys(rules), start=1):
            name = str(rule).replace(_SEPARATOR, ", ")
            if {
                name,
                _negate(name),
            } & used_names:  # limits that differ in the seventh digit have the same text
                name += f" [rule {number}]"
            used_names |= {name, _negate(name)}
            named[name] = rule
        return cls(named)

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
