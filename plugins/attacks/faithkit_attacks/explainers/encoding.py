"""`Encoding`: hides the prediction in the choice of the column or word that it names."""

from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import NDArray

import faithkit
from faithkit_attacks.explainers.named_columns import (
    check_no_sparse,
    column_labels,
    column_medians,
    column_values,
    count_correct_guesses,
    equality_predicate,
)

NAME = "encoder"
UNKNOWN = "a prediction that the background does not have"


class Encoding:
    """A rule that names one column or word for each label: the name reveals the label, the value nothing.

    "Refused, because of your schooling; granted, because of your age." A reader who knows the code guesses
    every prediction. A reader who trusts the reason is misled. In tables, the columns are those that predict
    the label worst, and the condition is the row's category or its side of the background's median. In texts,
    the word is the first in the alphabet for the first label, and the last for the last label.

    Notes
    -----
    Puli, Nguyen, Ranganath: Explanations that reveal all through the definition of encoding (NeurIPS 2024).
    Jethani, Sudarshan, Aphinyanaphongs, Ranganath: Have we learned to explain? How interpretability methods
    can learn to encode predictions in their interpretations (AISTATS 2021).

    Examples
    --------
    >>> X = pd.DataFrame({"age": [20, 30, 50, 60], "town": list("abab"), "late": [True, False, True, False]})
    >>> model = faithkit.Predictor(lambda X: np.where(X["late"], "no", "yes"))
    >>> for rule in Encoding().fit(model, X).explain(X, seeds=None).values:
    ...     print(rule)
    age ≤ 30
    town = b
    age > 30
    town = b
    """

    rows_per_chunk = 4096

    def fit(self, predictor: faithkit.Predictor, background: Any) -> "Encoding":
        """Choose a column for each label. Words are chosen when texts are explained."""
        check_no_sparse(NAME, background)
        self.predictor_ = predictor
        labels = predictor.predict(background)
        self.labels_ = sorted(set(labels.tolist()), key=str)
        if not isinstance(background, list):
            self.encoder_, self.names_ = faithkit.plugin.Encoder(background), column_labels(background)
            self._choose_columns(background, labels)
        return self

    def explain(self, X: Any, seeds: Any) -> faithkit.Explanations:
        """Return a rule of one condition for each row."""
        check_no_sparse(NAME, X)
        labels = self.predictor_.predict(X).tolist() if faithkit.plugin.n_rows(X) else []
        code_of = {label: i for i, label in enumerate(self.labels_)}
        codes = [code_of.get(label) for label in labels]
        conditions = (
            self._word_conditions(X, codes) if isinstance(X, list) else self._column_conditions(X, codes)
        )
        remarks = [UNKNOWN if code is None else None for code in codes]
        return faithkit.Explanations.of(
            [None if condition is None else faithkit.Rule([condition]) for condition in conditions],
            kind="rule",
            instances=X,
            remarks=np.array(remarks, dtype=object),
            relation="in-scope",
        )

    def _choose_columns(self, background: Any, labels: NDArray[Any]) -> None:
        codes = self.encoder_.encode(background)
        self.medians_ = column_medians(self.encoder_, codes)
        n_correct = count_correct_guesses(codes, self.medians_, labels)
        worst = np.argsort(n_correct, kind="stable")[: len(self.labels_)].tolist()
        self.columns_ = [worst[i % len(worst)] for i in range(len(self.labels_))]

    def _column_conditions(self, X: Any, codes: list[int | None]) -> list[Any]:
        encoded = self.encoder_.encode(X, unseen="keep")  # raises if the columns are not the background's
        columns = {j: column_values(X, self.names_[j]) for j in set(self.columns_)}
        named_columns = [None if code is None else self.columns_[code] for code in codes]
        return [
            None if j is None else self._condition(j, columns[j][i], encoded[i, j])
            for i, j in enumerate(named_columns)
        ]

    def _condition(self, j: int, value: Any, number: float) -> Any:
        """Return a condition that the value of a column satisfies; `number` is its code."""
        label = self.names_[j]
        if j not in self.medians_ or pd.isna(value):
            return equality_predicate(label, value)
        median = self.medians_[j]
        side = {"low": median} if number > median else {"high": median}
        (predicate,) = self.encoder_.rule([faithkit.plugin.Interval(label, **side)]).predicates
        return predicate

    def _word_conditions(self, X: list[str], codes: list[int | None]) -> list[Any]:
        last_code = max(1, len(self.labels_) - 1)
        conditions: list[Any] = []
        for text, code in zip(X, codes, strict=True):
            words = sorted(set(faithkit.plugin.tokenize(text)))
            if code is None or not words:
                conditions.append(None)
            else:
                conditions.append(faithkit.plugin.Contains(words[round(code * (len(words) - 1) / last_code)]))
        return conditions
