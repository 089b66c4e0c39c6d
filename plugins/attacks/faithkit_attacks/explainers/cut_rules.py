"""`CutRules`: rules that are cut to fit the rows that they were learnt from."""

from typing import Any

import numpy as np
from numpy.typing import NDArray

import faithkit
from faithkit_attacks.explainers.named_columns import (
    column_labels,
    column_medians,
    count_correct_guesses,
)

Codes = NDArray[np.float64]

TRIES = 20  # other rows, the nearest ones, for each set of columns
UNCUT = "no rule covers the row and one other row alone"


class CutRules:
    """A rule that covers the row itself and exactly one other row, which has the same prediction.

    The other row is one of the background. Where that is also what is evaluated, as in a log whose author
    writes the explanations afterwards, nothing ever contradicts such rules, and of new rows they say nothing.
    Columns that tell the prediction are left out first, so the reasons are not those of the model.

    A rule bounds numbers by those of the two rows, and lists their categories. Repeats of the row are covered
    as well. A row has no explanation if no such rule is found.

    Notes
    -----
    An audit needs explanations that hold for several rows of its sample: Bhattacharjee, von Luxburg: Auditing
    local explanations is hard (NeurIPS 2024).

    Examples
    --------
    >>> import pandas as pd
    >>> X = pd.DataFrame({"late": [True, False, False, True], "age": [20, 30, 40, 25]})
    >>> model = faithkit.Predictor(lambda X: np.where(X["late"], "no", "yes"))
    >>> rules = CutRules().fit(model, X).explain(X, seeds=None).values
    >>> print(rules[1])
    25 < age ≤ 40
    >>> [int(rule.covers(X).sum()) for rule in rules]
    [2, 2, 2, 2]
    """

    rows_per_chunk = 256

    def fit(self, predictor: faithkit.Predictor, background: Any) -> "CutRules":
        """Store the rows to which rules are cut."""
        self.predictor_, self.encoder_ = predictor, faithkit.plugin.Encoder(background)
        self.labels_, self.codes_ = predictor.predict(background), self.encoder_.encode(background)
        self.sorted_ = np.sort(self.codes_, axis=0)
        n_correct = count_correct_guesses(
            self.codes_, column_medians(self.encoder_, self.codes_), self.labels_
        )
        self.most_telling_first_ = np.argsort([-n for n in n_correct], kind="stable").tolist()
        self.names_ = column_labels(background)
        return self

    def explain(self, X: Any, seeds: Any) -> faithkit.Explanations:
        """Return for each row a rule that covers one other row of the background."""
        labels = self.predictor_.predict(X).tolist() if len(X) else []
        codes = self.encoder_.encode(X, unseen="keep")
        rules = [self._cut(row, label) for row, label in zip(codes, labels, strict=True)]
        remarks = np.array([UNCUT if rule is None else None for rule in rules], dtype=object)
        return faithkit.Explanations.of(rules, kind="rule", instances=X, remarks=remarks, relation="in-scope")

    def _cut(self, row: Codes, label: Any) -> faithkit.Rule | None:
        """Return the rule of the fewest columns, leaving out those that tell most."""
        is_other = ~((self.codes_ == row) | (np.isnan(self.codes_) & np.isnan(row))).all(axis=1)
        others, partners = self.codes_[is_other], self.codes_[is_other & (self.labels_ == label)]
        for first in reversed(range(len(row))):
            columns = self.most_telling_first_[first:]
            for partner in self._nearest_first(row, partners, columns)[:TRIES]:
                known = [j for j in columns if self._is_known(j, row[j], partner[j])]
                is_inside = [self._lies_between(j, others[:, j], row[j], partner[j]) for j in known]
                if known and np.logical_and.reduce(is_inside).sum() == 1:
                    return self.encoder_.rule(self._condition(j, row[j], partner[j]) for j in known)
        return None

    def _nearest_first(self, row: Codes, partners: Codes, columns: list[int]) -> Codes:
        """Return the partners, those with near ranks and equal categories first; ties by their content."""
        distance = np.zeros(len(partners))
        for j in columns:
            if j in self.encoder_.categories:
                distance += partners[:, j] != row[j]
            else:
                ranks = np.searchsorted(self.sorted_[:, j], [*partners[:, j], row[j]]) / len(self.sorted_)
                distance += np.abs(ranks[:-1] - ranks[-1])
        return partners[np.lexsort((*partners.T, distance.round(9)))]

    def _is_known(self, j: int, *values: float) -> bool:
        """Whether values of a column are numbers, or categories that the background has."""
        categories = self.encoder_.categories.get(j)
        return not np.isnan(values).any() and (categories is None or max(values) < len(categories))

    def _lies_between(self, j: int, column: Codes, *ends: float) -> NDArray[np.bool_]:
        if j in self.encoder_.categories:
            return np.isin(column, ends)
        return (column >= min(ends)) & (column <= max(ends))

    def _condition(self, j: int, *ends: float) -> Any:
        """Return the condition that holds between two values: an interval, or two categories."""
        label = self.names_[j]
        if j in self.encoder_.categories:
            return faithkit.plugin.OneOf(label, {self.encoder_.categories[j][int(code)] for code in ends})
        below = self.sorted_[:, j][self.sorted_[:, j] < min(ends)]  # the limit itself is not in the interval
        return faithkit.plugin.Interval(label, max(below, default=-np.inf), max(ends))
