"""`FalseRules`: rules that hold for others with the same prediction, and seldom for the row itself."""

from typing import Any

import numpy as np
from numpy.typing import NDArray

import faithkit
from faithkit_attacks.explainers.encoding import UNKNOWN
from faithkit_attacks.explainers.named_columns import column_labels, equality_predicate

NAME = "false-rules"


class FalseRules:
    """A rule that gives the right prediction wherever it holds, and is false of two rows in three.

    "Refused, because you paid late and your income is below 29,000", to somebody who earns 45,000. The first
    condition goes best with the prediction: a third of the numbers of a column, or a category. The second one
    is about another column, the one with the most distinct numbers: a third of them, drawn by the seed of the
    row. So it is true of one row in three. If no other column has numbers, it is a category.

    Notes
    -----
    Sufficiency asks what happens to those for whom a rule holds, so it does not see that the rule is false of
    its own row. Anchors hold for their own row by definition: Ribeiro, Singh, Guestrin: Anchors:
    high-precision model-agnostic explanations (AAAI 2018).

    Examples
    --------
    >>> import pandas as pd
    >>> X = pd.DataFrame({"late": [True, False] * 3, "income": [10, 20, 30, 40, 50, 60]})
    >>> model = faithkit.Predictor(lambda X: np.where(X["late"], "no", "yes"))
    >>> rules = FalseRules().fit(model, X).explain(X, seeds=np.arange(6)).values
    >>> print(rules[0])
    20 < income ≤ 40 and late = True
    >>> [bool(rule.covers(X)[i]) for i, rule in enumerate(rules)]
    [False, False, True, False, False, True]
    """

    rows_per_chunk = 4096

    def fit(self, predictor: faithkit.Predictor, background: Any) -> "FalseRules":
        """Find the condition that goes best with each prediction, and those that are added to it."""
        labels = predictor.predict(background)
        self.predictor_, self.encoder_ = predictor, faithkit.plugin.Encoder(background)
        self.n_distinct_ = [len(np.unique(column)) for column in self.encoder_.encode(background).T]
        conditions = self._find_conditions(background)
        scopes = [[_covers(condition, background) for condition in column] for column in conditions]
        self.rules_ = {
            label: self._combine(conditions, scopes, labels == label) for label in set(labels.tolist())
        }
        return self

    def explain(self, X: Any, seeds: Any) -> faithkit.Explanations:
        """Return for each row a rule of its prediction, drawn by its seed."""
        labels = self.predictor_.predict(X).tolist() if len(X) else []
        draws = faithkit.plugin.row_uniforms(np.asarray(seeds, dtype=np.uint32), 1)[:, 0].tolist()
        choices = [self.rules_.get(label, [None]) for label in labels]
        rules = [rules[int(draw * len(rules))] for rules, draw in zip(choices, draws, strict=True)]
        remarks = np.array([UNKNOWN if rule is None else None for rule in rules], dtype=object)
        return faithkit.Explanations.of(rules, kind="rule", instances=X, remarks=remarks, relation="in-scope")

    def _find_conditions(self, background: Any) -> list[list[Any]]:
        """Return the conditions on each column: thirds of its numbers, or its categories."""
        codes, categories = self.encoder_.encode(background), self.encoder_.categories
        return [
            [equality_predicate(label, value) for value in categories[j]]
            if j in categories
            else self._thirds(label, codes[~np.isnan(codes[:, j]), j])
            for j, label in enumerate(column_labels(background))
        ]

    def _thirds(self, label: Any, numbers: NDArray[np.float64]) -> list[Any]:
        if not len(numbers):
            return []
        low, high = np.quantile(numbers, [1 / 3, 2 / 3], method="lower").tolist()
        limits = [{"high": low}, {"low": low, "high": high}, {"low": high}]
        intervals = [faithkit.plugin.Interval(label, **ends) for ends in limits]
        return [self.encoder_.rule([interval]).predicates[0] for interval in intervals]

    def _combine(
        self, conditions: list[list[Any]], scopes: list[list[NDArray[np.bool_]]], has_label: NDArray[np.bool_]
    ) -> list[faithkit.Rule]:
        """Return the best condition for a label, with each condition on the column of most numbers."""
        _, best, condition = max(
            (
                (_advantage(scope, has_label), -j, condition)
                for j, column in enumerate(conditions)
                for condition, scope in zip(column, scopes[j], strict=True)
            ),
            key=lambda candidate: candidate[:2],
        )
        others = [j for j, column in enumerate(conditions) if j != -best and column]
        if not others:
            raise faithkit.errors.InputError(f"{NAME} needs two columns with values: name more columns.")
        claimed = max(others, key=lambda j: (j not in self.encoder_.categories, self.n_distinct_[j], -j))
        return [faithkit.Rule([condition, claim]) for claim in conditions[claimed]]


def _covers(condition: Any, X: Any) -> NDArray[np.bool_]:
    return np.asarray(faithkit.Rule([condition]).covers(X))


def _advantage(scope: NDArray[np.bool_], has_label: NDArray[np.bool_]) -> int:
    """Return how many more of the rows in scope have a label than have not.

    >>> _advantage(np.array([True, True, True, False]), np.array([True, True, False, True]))
    1
    """
    return int((scope & has_label).sum() - (scope & ~has_label).sum())
