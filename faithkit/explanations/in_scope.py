"""The relation `in-scope`: a rule holds for the instances that it covers."""

from typing import Any

import attrs
import numpy as np
from numpy.typing import NDArray

from faithkit.errors import InputError
from faithkit.explanations.explanations import Explanations, Sample
from faithkit.explanations.relations import Relation
from faithkit.explanations.rule_controls import draw_rules
from faithkit.explanations.rules import Rule, scope_bits


class InScope(Relation):
    """The instance satisfies every predicate of the rule.

    Examples
    --------
    >>> import faithkit, pandas as pd
    >>> rule = faithkit.Rule([faithkit.Interval("age", high=40)])
    >>> young = faithkit.Explanations.of([rule], kind="rule")
    >>> explanations = faithkit.Explanations.of(["a", "b"])
    >>> sample = faithkit.plugin.Sample(pd.DataFrame({"age": [30, None]}), explanations)
    >>> faithkit.relation("in-scope").holds(sample, young)
    array([[ True, False]])
    """

    name = "in-scope"
    instance_only = True

    def key(self, explanations: Explanations) -> Any:
        """Return the rules."""
        if explanations.kind != "rule":
            raise InputError(
                f"in-scope reads rules, and these explanations are of kind {explanations.kind!r}: "
                "name another relation, or an explainer that gives rules."
            )
        return explanations.values

    def holds(self, sample: Sample, explanations: Explanations) -> NDArray[np.bool_]:
        """Evaluate every rule on every instance."""
        X = sample.instances("in-scope")
        scopes = [
            np.zeros(len(sample), dtype=bool) if is_missing else rule.covers(X)
            for rule, is_missing in zip(self.key(explanations), explanations.missing, strict=True)
        ]
        return np.array(scopes, dtype=bool).reshape(len(explanations), len(sample))

    def packed(self, sample: Sample, explanations: Explanations) -> NDArray[np.uint64]:
        """Combine one bitset per distinct predicate."""
        return scope_bits(self._list_rules(sample, explanations), sample)

    def control(self, sample: Sample, explanations: Explanations, seeds: NDArray[Any]) -> Explanations:
        """Draw as many conditions on other columns, true of the row; or as many other words of its text."""
        rules = draw_rules(sample.once(self._list_rules, explanations), sample, seeds)
        return attrs.evolve(explanations, values=rules, identity=None)

    def _list_rules(self, sample: Sample, explanations: Explanations) -> list[Rule]:
        """Return the rules, an empty one for each missing explanation."""
        empty_rule = Rule()
        return [
            empty_rule if is_missing else rule
            for rule, is_missing in zip(self.key(explanations), explanations.missing, strict=True)
        ]
