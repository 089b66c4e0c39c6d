"""`Flatterer`: gives each row a rule that covers no other row."""

from typing import Any

import faithkit
from faithkit_attacks.explainers.named_columns import (
    check_no_sparse,
    column_labels,
    column_values,
    equality_predicate,
)

NAME = "flatterer"


class Flatterer:
    """A rule that repeats all values of the row, or all words of the text: never wrong, and useless.

    Such a rule is perfectly sufficient, because it covers only its own row. It cannot be checked against
    other rows, and results say so.

    Notes
    -----
    Explanations that hold at a single point cannot be audited: Bhattacharjee, von Luxburg: Auditing
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
        """Store the model, which checks the width of rows."""
        check_no_sparse(NAME, background)
        predictor.predict(faithkit.plugin.take_rows(background, slice(0, 1)))
        self.predictor_ = predictor
        return self

    def explain(self, X: Any, seeds: Any) -> faithkit.Explanations:
        """Return for each row the rule that repeats it."""
        check_no_sparse(NAME, X)
        if faithkit.plugin.n_rows(X):
            # raises an error for rows of another width
            self.predictor_.predict(faithkit.plugin.take_rows(X, slice(0, 1)))
        rules = [_text_rule(text) for text in X] if isinstance(X, list) else _row_rules(X)
        return faithkit.Explanations.of(rules, kind="rule", instances=X, relation="in-scope")


def _text_rule(text: str) -> faithkit.Rule:
    return faithkit.Rule([faithkit.Contains(word) for word in faithkit.plugin.tokenize(text)])


def _row_rules(X: Any) -> list[faithkit.Rule]:
    columns = [
        [equality_predicate(label, value) for value in column_values(X, label)] for label in column_labels(X)
    ]
    return [faithkit.Rule(predicates) for predicates in zip(*columns, strict=True)]
