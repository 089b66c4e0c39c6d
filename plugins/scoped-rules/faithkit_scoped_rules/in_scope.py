"""When a rule applies to an instance."""

from typing import Any

import numpy as np
from numpy.typing import NDArray

import faithkit


class InScope(faithkit.Relation):
    """The instance satisfies every predicate of the rule.

    Examples
    --------
    >>> import pandas as pd
    >>> rule = faithkit.Rule([faithkit.Interval("age", high=40)])
    >>> young = faithkit.Explanations.of([rule], kind="rule")
    >>> sample = faithkit.Sample(pd.DataFrame({"age": [30, None]}), faithkit.Explanations.of(["a", "b"]))
    >>> InScope().holds(sample, young)
    array([[ True, False]])
    """

    name = "in-scope"
    instance_only = True

    def key(self, explanations: faithkit.Explanations) -> Any:
        """Return the rules."""
        if explanations.kind != "rule":
            raise faithkit.InputError(
                f"in-scope reads rules, and these explanations are of kind {explanations.kind!r}: "
                "name another relation, or an explainer that gives rules."
            )
        return explanations.values

    def holds(self, sample: faithkit.Sample, explanations: faithkit.Explanations) -> NDArray[np.bool_]:
        """Ask every rule about every instance."""
        X = sample.instances("in-scope")
        covered = [
            np.zeros(len(sample), dtype=bool) if gone else rule.covers(X)
            for rule, gone in zip(self.key(explanations), explanations.missing, strict=True)
        ]
        return np.array(covered, dtype=bool).reshape(len(explanations), len(sample))

    def packed(self, sample: faithkit.Sample, explanations: faithkit.Explanations) -> NDArray[np.uint64]:
        """Combine one bitset per distinct predicate."""
        empty = faithkit.Rule()
        rules = [
            empty if gone else rule
            for rule, gone in zip(self.key(explanations), explanations.missing, strict=True)
        ]
        return faithkit.scope_bits(rules, sample)
