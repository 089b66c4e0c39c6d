"""Explainers that say nothing about the model: `parrot`, `same-for-all` and `flatterer`."""

from typing import Any, Self

import numpy as np

import faithkit
from faithkit_attacks.explainers.named_columns import (
    check_no_sparse,
    column_labels,
    column_values,
    equality_predicate,
)

FLATTERER = "flatterer"


class _TrivialExplainer:
    """An explainer that needs the model only for its predictions, and to check the width of rows."""

    learns = False
    outcomes = ("labels", "numbers")
    rows_per_chunk = 4096

    def fit(self, predictor: faithkit.Predictor, background: Any) -> Self:
        """Store the model, which checks the width of rows."""
        self.predictor_ = predictor
        self._check_width(background)
        return self

    def _check_width(self, X: Any) -> None:
        """Raise the model's error for rows of another width."""
        if faithkit.plugin.n_rows(X):
            self.predictor_.predict(faithkit.plugin.take_rows(X, slice(0, 1)))


class Parrot(_TrivialExplainer):
    """The prediction as its own explanation: "refused, because the answer is no".

    It always agrees with the model, so consistency is 1 and no reader is ever wrong. There are as many
    explanations as labels. This exposes it, and results say so in a sentence.

    Notes
    -----
    An explanation that only repeats the prediction is the trivial case of label leakage: Hase,
    Zhang, Xie, Bansal: Leakage-adjusted simulatability (Findings of EMNLP 2020).

    Examples
    --------
    >>> model = faithkit.Predictor(lambda X: np.where(X[:, 0] > 0, "yes", "no"))
    >>> X = np.array([[1.0], [-1.0]])
    >>> Parrot().fit(model, X).explain(X, seeds=None).values.tolist()
    ['because the answer is yes', 'because the answer is no']
    """

    def explain(self, X: Any, seeds: Any) -> faithkit.Explanations:
        """Return the predictions in words."""
        predictions = np.asarray(self.predictor_.predict(X)).tolist() if faithkit.plugin.n_rows(X) else []
        return faithkit.Explanations.of([f"because the answer is {prediction}" for prediction in predictions])


class SameForAll(_TrivialExplainer):
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

    def explain(self, X: Any, seeds: Any) -> faithkit.Explanations:
        """Return the empty rule for each row."""
        self._check_width(X)
        rules = [faithkit.Rule()] * faithkit.plugin.n_rows(X)
        return faithkit.Explanations.of(rules, kind="rule", instances=X, relation="in-scope")


class Flatterer(_TrivialExplainer):
    """A rule that repeats all values of the row, or all words of the text: always true and useless.

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

    def fit(self, predictor: faithkit.Predictor, background: Any) -> Self:
        """Store the model, which checks the width of rows."""
        check_no_sparse(FLATTERER, background)
        return super().fit(predictor, background)

    def explain(self, X: Any, seeds: Any) -> faithkit.Explanations:
        """Return for each row the rule that repeats it."""
        check_no_sparse(FLATTERER, X)
        self._check_width(X)
        rules = [_text_rule(text) for text in X] if isinstance(X, list) else _row_rules(X)
        return faithkit.Explanations.of(rules, kind="rule", instances=X, relation="in-scope")


def _text_rule(text: str) -> faithkit.Rule:
    return faithkit.Rule([faithkit.Contains(word) for word in faithkit.plugin.tokenize(text)])


def _row_rules(X: Any) -> list[faithkit.Rule]:
    columns = [
        [equality_predicate(label, value) for value in column_values(X, label)] for label in column_labels(X)
    ]
    return [faithkit.Rule(predicates) for predicates in zip(*columns, strict=True)]
