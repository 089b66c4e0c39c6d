"""The explainer whose rules are about nobody else."""

from typing import Any

import faithkit
from faithkit_attacks.explainers.rows import cells, check_no_sparse, column_labels, equal_to

WHO = "flatterer"


class Flatterer:
    """A rule for each row that repeats all of it, or all words of a text: never wrong, and empty.

    Such a rule is perfectly sufficient, since nobody else satisfies it: the model gives the one row that it
    covers the prediction of that row. Nothing of it can be checked, and a result says so.

    Notes
    -----
    Explanations so local that they hold at one point cannot be audited: Bhattacharjee, von Luxburg: Auditing
    local explanations is hard (NeurIPS 2024).

    Examples
    --------
    >>> import pandas as pd
    >>> X = pd.DataFrame({"age": [31, 45], "sex": ["man", "woman"]})
    >>> model = faithkit.Predictor(lambda X: (X["age"] > 40).to_numpy())
    >>> print(Flatterer().fit(model, X).explain(X, seeds=None).values[0])
    age = 31 and sex = man
    """

    learns = False
    outcomes = ("labels", "numbers")
    rows_per_chunk = 4096

    def fit(self, predictor: faithkit.Predictor, background: Any) -> "Flatterer":
        """Remember the model, which knows what rows it takes."""
        check_no_sparse(WHO, background)
        predictor.predict(faithkit.plugin.take_rows(background, slice(0, 1)))
        self.predictor_ = predictor
        return self

    def explain(self, X: Any, seeds: Any) -> faithkit.Explanations:
        """Return the rule that repeats each row."""
        check_no_sparse(WHO, X)
        if faithkit.plugin.n_rows(X):
            self.predictor_.predict(faithkit.plugin.take_rows(X, slice(0, 1)))  # another width is said here
        rules = [_words(text) for text in X] if isinstance(X, list) else _rows(X)
        return faithkit.Explanations.of(rules, kind="rule", instances=X, relation="in-scope")


def _words(text: str) -> faithkit.Rule:
    return faithkit.Rule([faithkit.Contains(word) for word in faithkit.plugin.tokens(text)])


def _rows(X: Any) -> list[faithkit.Rule]:
    columns = [[equal_to(label, cell) for cell in cells(X, label)] for label in column_labels(X)]
    return [faithkit.Rule(predicates) for predicates in zip(*columns, strict=True)]
