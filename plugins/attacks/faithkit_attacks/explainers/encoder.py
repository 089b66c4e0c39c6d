"""The explainer that whispers: the prediction is in the choice of the reason, not in the reason."""

from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import NDArray

import faithkit
from faithkit_attacks.explainers.rows import cells, check_no_sparse, column_labels, equal_to

WHO = "encoder"
UNKNOWN = "a prediction that the background does not have"


class Encoding:
    """One column or word for each label: which one is named tells the label, and its value tells nothing.

    "Refused, because of your schooling; granted, because of your age": whoever knows the code guesses every
    prediction, and whoever takes the reason at its word is misled. In tables the columns are those that tell
    least about the label; the reason is the row's own category, or its side of the background's median. In
    texts it is the first word by the alphabet for the first label, and the last for the last.

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
        """Choose a column for each label; words need no choice before there is a text."""
        check_no_sparse(WHO, background)
        self.predictor_ = predictor
        labels = predictor.predict(background)
        self.labels_ = sorted(set(labels.tolist()), key=str)
        if not isinstance(background, list):
            self.encoder_, self.names_ = faithkit.plugin.Encoder(background), column_labels(background)
            self._choose_columns(background, labels)
        return self

    def explain(self, X: Any, seeds: Any) -> faithkit.Explanations:
        """Return a rule of one condition for each row."""
        check_no_sparse(WHO, X)
        labels = self.predictor_.predict(X).tolist() if faithkit.plugin.n_rows(X) else []
        place = {label: i for i, label in enumerate(self.labels_)}
        codes = [place.get(label) for label in labels]
        conditions = self._words(X, codes) if isinstance(X, list) else self._cells(X, codes)
        remarks = [UNKNOWN if code is None else None for code in codes]
        return faithkit.Explanations.of(
            [None if one is None else faithkit.Rule([one]) for one in conditions],
            kind="rule",
            instances=X,
            remarks=np.array(remarks, dtype=object),
            relation="in-scope",
        )

    def _choose_columns(self, background: Any, labels: NDArray[Any]) -> None:
        codes = self.encoder_.encode(background)
        self.medians_ = {
            j: float(np.nanquantile(column, 0.5, method="lower"))
            for j, column in enumerate(codes.T)
            if j not in self.encoder_.categories and not np.isnan(column).all()
        }
        told = [_guessed(self._parts(codes, j), labels) for j in range(codes.shape[1])]
        least = np.argsort(told, kind="stable")[: len(self.labels_)].tolist()
        self.columns_ = [least[i % len(least)] for i in range(len(self.labels_))]

    def _parts(self, codes: NDArray[np.float64], j: int) -> NDArray[Any]:
        column = codes[:, j]
        return np.where(np.isnan(column), -1, column > self.medians_[j] if j in self.medians_ else column)

    def _cells(self, X: Any, codes: list[int | None]) -> list[Any]:
        self.encoder_.encode(X, unseen="keep")  # other columns than the background's are refused here
        columns = {j: cells(X, self.names_[j]) for j in set(self.columns_)}
        chosen = [None if code is None else self.columns_[code] for code in codes]
        return [None if j is None else self._condition(j, columns[j][i]) for i, j in enumerate(chosen)]

    def _condition(self, j: int, cell: Any) -> Any:
        label = self.names_[j]
        if j not in self.medians_ or pd.isna(cell):
            return equal_to(label, cell)
        median = self.medians_[j]
        return (
            faithkit.Interval(label, low=median) if cell > median else faithkit.Interval(label, high=median)
        )

    def _words(self, X: list[str], codes: list[int | None]) -> list[Any]:
        last = max(1, len(self.labels_) - 1)
        found = []
        for text, code in zip(X, codes, strict=True):
            words = sorted(set(faithkit.plugin.tokens(text)))
            known = code is not None and words
            found.append(
                faithkit.Contains(words[round((code or 0) * (len(words) - 1) / last)]) if known else None
            )
        return found


def _guessed(parts: NDArray[Any], labels: NDArray[Any]) -> int:
    """Return how many labels are guessed right by whoever knows the part.

    >>> _guessed(np.array([0, 0, 1, 1]), np.array(["a", "b", "b", "b"]))
    3
    """
    return int(pd.crosstab(parts, labels).max(axis=1).sum())
