"""Lists of rules as texts: `age > 40; ~(sex = Male and hours > 50)`, where the rule behind `~` does not hold.

A rule of the kernel is a conjunction, and "not that rule" is none. So an explanation names rules of the
model, and the rules themselves stand once, in what all explanations share.
"""

from collections.abc import Iterable
from functools import cached_property
from typing import Any

import attrs

import faithkit

KIND = "rule-list"
ALWAYS = "always"
_BETWEEN = "; "


@attrs.frozen(eq=False)
class Named:
    """Distinct rules by name, in the order of the model.

    Examples
    --------
    >>> known = Named.of(faithkit.Rule([faithkit.Interval(name, low=9)]) for name in ("height", "age"))
    >>> text = known.text([1], [0])
    >>> text
    'age > 9; ~(height > 9)'
    >>> Named.read(known.shared).numbers(text)
    ([1], [0])
    """

    rules: dict[str, faithkit.Rule]

    @classmethod
    def of(cls, rules: Iterable[faithkit.Rule]) -> "Named":
        """Name rules by what they say, and number those whose name would be taken for another."""
        named: dict[str, faithkit.Rule] = {}
        taken: set[str] = set()
        for number, rule in enumerate(dict.fromkeys(rules), start=1):
            name = str(rule).replace(_BETWEEN, ", ")
            if {name, _negated(name)} & taken:  # limits that differ in the seventh digit are written alike
                name += f" [rule {number}]"
            taken |= {name, _negated(name)}
            named[name] = rule
        return cls(named)

    @classmethod
    def read(cls, shared: dict[str, Any]) -> "Named":
        """Take the rules from what explanations share."""
        return cls({name: faithkit.Rule.from_json(rule) for name, rule in shared.get("rules", {}).items()})

    @property
    def shared(self) -> dict[str, Any]:
        """The rules as JSON values, for explanations to share."""
        return {"rules": {name: rule.to_json() for name, rule in self.rules.items()}}

    def text(self, holding: Iterable[int], failing: Iterable[int]) -> str:
        """Write which rules hold and which do not, by their numbers."""
        parts = [self._names[i] for i in holding] + [_negated(self._names[i]) for i in failing]
        return _BETWEEN.join(parts) or ALWAYS

    def numbers(self, text: str) -> tuple[list[int], list[int]]:
        """Read which rules hold and which do not."""
        parts = text.split(_BETWEEN) if text != ALWAYS else []
        strange = next((part for part in parts if part not in self._meanings), None)
        if strange is not None:
            raise faithkit.errors.InputError(
                f"rules-hold: no rule is called {strange!r:.80}: give the explanations as rule-model made "
                'them, with their shared["rules"].'
            )
        meant = [self._meanings[part] for part in parts]
        return [i for i, holds in meant if holds], [i for i, holds in meant if not holds]

    @cached_property
    def _names(self) -> list[str]:
        return list(self.rules)

    @cached_property
    def _meanings(self) -> dict[str, tuple[int, bool]]:
        """What a part of a text says: the number of a rule, and whether it holds."""
        held = {name: (i, True) for i, name in enumerate(self.rules)}
        return held | {_negated(name): (i, False) for i, name in enumerate(self.rules)}


def _negated(name: str) -> str:
    return f"~({name})"
