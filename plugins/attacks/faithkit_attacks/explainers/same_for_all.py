"""`SameForAll`: gives all rows the same explanation."""

from typing import Any

import faithkit


class SameForAll:
    """The same explanation for all rows: the rule that always applies.

    All rows share it, so everything can be checked, and the estimates equal the baseline (chance).

    Notes
    -----
    The constant explainer defines the baseline of the paper's measures: Dasgupta, Frost,
    Moshkovitz: Framework for evaluating faithfulness of local explanations (ICML 2022).

    Examples
    --------
    >>> model = faithkit.Predictor(lambda X: [row[0] > 0 for row in X])
    >>> print(SameForAll().fit(model, [[1.0]]).explain([[1.0]], seeds=None).values[0])
    always
    """

    learns = False
    outcomes = ("labels", "numbers")
    rows_per_chunk = 4096

    def fit(self, predictor: faithkit.Predictor, background: Any) -> "SameForAll":
        """Store the model, which checks the width of rows."""
        predictor.predict(faithkit.plugin.take_rows(background, slice(0, 1)))
        self.predictor_ = predictor
        return self

    def explain(self, X: Any, seeds: Any) -> faithkit.Explanations:
        """Return the empty rule for each row."""
        n = faithkit.plugin.n_rows(X)
        if n:
            # raises an error for rows of another width
            self.predictor_.predict(faithkit.plugin.take_rows(X, slice(0, 1)))
        return faithkit.Explanations.of([faithkit.Rule()] * n, kind="rule", instances=X, relation="in-scope")
