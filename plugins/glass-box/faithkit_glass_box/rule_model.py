"""The explainer `rule-model`: the rules of the model that decided the prediction of a row."""

from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

import faithkit
from faithkit_glass_box.model_rules import FIRST, SUM, reader_of
from faithkit_glass_box.rule_lists import KIND, NamedRules


class RuleModel:
    """The rules of the model that decided.

    Parameters
    ----------
    top : int, optional
        For models that add up rules: the number of firing rules to return, the strongest first. By default
        all. In other models one rule decides.

    Notes
    -----
    Of a rule list (imodels' greedy and Bayesian rule lists, OneR, fast-and-frugal trees) it is the rule that
    applies, and with `~` all those before it, which do not; what falls through to the end has a `~` before
    every rule. Of a rule set (wittgenstein's RIPPER and IREP) it is the first rule that holds, since one is
    enough for the positive class; of the negative class, that none does. Of a sum of rules (RuleFit,
    SkopeRulesClassifier and what derives from them) it is the rules that fire, from the largest weight on, or
    that none does. Other terms of the sum, such as RuleFit's linear terms, are left out.
    """

    learns = False
    rows_per_chunk = 1024
    outcomes = ("labels", "numbers")

    def __init__(self, top: int | None = None) -> None:
        self.top = faithkit.plugin.check_integer(
            top, "rule-model: top", minimum=1, optional=True, error=faithkit.errors.ParameterError
        )

    def fit(self, predictor: faithkit.Predictor, background: Any) -> "RuleModel":
        """Read the model's rules, in terms of the table's columns."""
        self.columns_ = _columns(background)
        read_rules = reader_of(predictor.model)
        predictor.predict(faithkit.plugin.take_rows(background, slice(0, 1)))  # the model checks the columns
        self.combination_, rules = read_rules(predictor.model, self.columns_)
        if self.top is not None and self.combination_ != SUM:
            raise faithkit.errors.ParameterError(
                f"rule-model: top={self.top} chooses among rules that add up, and of a "
                f"{type(predictor.model).__name__} one rule decides: leave it out."
            )
        self.named_rules_ = NamedRules.of(rules)
        return self

    def explain(self, X: Any, seeds: Any) -> faithkit.Explanations:
        """Return the rules of each row; seeds are not used."""
        if _columns(X) != self.columns_:
            raise faithkit.errors.InputError(
                f"rule-model: X has the columns {_abbreviate(_columns(X))}, and the background has "
                f"{_abbreviate(self.columns_)}: give both the columns of the model, in its order."
            )
        fires = np.array([rule.covers(X) for rule in self.named_rules_.rules.values()], dtype=bool)
        fires = fires.reshape(len(self.named_rules_.rules), faithkit.plugin.n_rows(X))
        texts = [self._text(np.flatnonzero(row)) for row in fires.T]
        return faithkit.Explanations.of(
            texts, kind=KIND, instances=X, shared=self.named_rules_.shared, relation="rules-hold"
        )

    def _text(self, firing: NDArray[np.intp]) -> str:
        all_rules = range(len(self.named_rules_.rules))
        if not len(firing):
            return self.named_rules_.text([], all_rules)
        if self.combination_ == SUM:
            return self.named_rules_.text(firing[: self.top], [])
        earlier_rules = all_rules[: firing[0]] if self.combination_ == FIRST else []
        return self.named_rules_.text(firing[:1], earlier_rules)


def _columns(X: Any) -> list[Any]:
    """Return the columns as rules name them: the names of a frame, or the numbers of an array."""
    if isinstance(X, list) or hasattr(X, "toarray"):
        kind = "a list of texts" if isinstance(X, list) else "a sparse matrix: give X.toarray()"
        raise faithkit.errors.InputError(f"rule-model explains the rows of a table, and was given {kind}.")
    return X.columns.tolist() if hasattr(X, "columns") else list(range(X.shape[1]))


def _abbreviate(columns: Sequence[Any]) -> str:
    names = ", ".join(map(str, columns[:5]))
    return f"{names}, …" if len(columns) > 5 else names
