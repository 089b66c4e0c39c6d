"""`TrueReason`: the honest twin of rules that lie. It asks the model itself."""

from typing import Any

import faithkit


class TrueReason:
    """The rule by which a model decides, from a model that can say it. It is no component: few models can.

    Parameters
    ----------
    model : object
        A model with a method `reasons(X)`, such as `DecidesBy` and `DecidesByWord`: for each row the
        condition that decides about it.

    Examples
    --------
    >>> import pandas as pd
    >>> from faithkit_attacks import DecidesBy
    >>> X = pd.DataFrame({"sex": ["man", "woman"], "age": [30, 40]})
    >>> for rule in TrueReason(DecidesBy("sex", ["man"])).fit(None, X).explain(X, seeds=None).values:
    ...     print(rule)
    sex = man
    sex = woman
    """

    learns = False
    rows_per_chunk = 4096

    def __init__(self, model: Any) -> None:
        self.model = model

    def fit(self, predictor: Any, background: Any) -> "TrueReason":
        """Return self; there is nothing to learn."""
        return self

    def explain(self, X: Any, seeds: Any) -> faithkit.Explanations:
        """Return the rule of the condition that decides about each row."""
        rules = [faithkit.Rule([reason]) for reason in self.model.reasons(X)]
        return faithkit.Explanations.of(rules, kind="rule", instances=X, relation="in-scope")
