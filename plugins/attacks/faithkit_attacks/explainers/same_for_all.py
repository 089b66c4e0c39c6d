"""The explainer that has one answer."""

from typing import Any

import faithkit


class SameForAll:
    """The same explanation for everybody: the rule that always applies.

    It is shared by all, so that everything can be checked; and what is found is chance.

    Notes
    -----
    The constant explainer is the one by which the paper's measures are told from chance: Dasgupta, Frost,
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
        """Remember the model, which knows what rows it takes."""
        predictor.predict(faithkit.plugin.take_rows(background, slice(0, 1)))
        self.predictor_ = predictor
        return self

    def explain(self, X: Any, seeds: Any) -> faithkit.Explanations:
        """Return the empty rule for each row."""
        n = faithkit.plugin.n_rows(X)
        if n:
            self.predictor_.predict(faithkit.plugin.take_rows(X, slice(0, 1)))  # another width is said here
        return faithkit.Explanations.of([faithkit.Rule()] * n, kind="rule", instances=X, relation="in-scope")
