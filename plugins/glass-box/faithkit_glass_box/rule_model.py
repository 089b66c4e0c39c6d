"""The rules of the model that decided about a row."""

from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

import faithkit
from faithkit_glass_box.model_rules import FIRST, SUM, reader_of
from faithkit_glass_box.rule_lists import KIND, Named


class RuleModel:
    """Which of the model's own rules decided.

    Parameters
    ----------
    top : int, optional
        Of a model that adds up rules, how many of those that fire are told, the strongest first; all of them
        where nobody says. Of others one rule decides.

    Notes
    -----
    Of a rule list (imodels' greedy and Bayesian rule lists, OneR, fast-and-frugal trees) it is the rule that
    applies, and with `~` all those before it, which do not; what falls through to the end has a `~` before
    every rule. Of a rule set (wittgenstein's RIPPER and IREP) it is the first rule that holds, since one is
    enough for the positive class; of the negative class, that none does. Of a sum of rules (RuleFit,
    SkopeRulesClassifier and what derives from them) it is the rules that fire, from the largest weight on, or
    that none does. What else the model adds up, such as RuleFit's linear terms, is not told.
    """

    learns = False
    rows_per_chunk = 1024
    outcomes = ("labels", "numbers")

    def __init__(self, top: int | None = None) -> None:
        self.top = faithkit.plugin.whole_number(
            top, "rule-model: top", 1, optional=True, error=faithkit.errors.ParameterError
        )

    def fit(self, predictor: faithkit.Predictor, background: Any) -> "RuleModel":
        """Read the model's rules, in terms of the table's columns."""
        self.columns_ = _columns(background)
        read = reader_of(predictor.model)
        predictor.predict(faithkit.plugin.take_rows(background, slice(0, 1)))  # it knows its columns best
        self.combined_, rules = read(predictor.model, self.columns_)
        if self.top is not None and self.combined_ != SUM:
            raise faithkit.errors.ParameterError(
                f"rule-model: top={self.top} chooses among rules that add up, and of a "
                f"{type(predictor.model).__name__} one rule decides: leave it out."
            )
        self.known_ = Named.of(rules)
        return self

    def explain(self, X: Any, seeds: Any) -> faithkit.Explanations:
        """Look up the rules of every row; there is nothing to draw."""
        if _columns(X) != self.columns_:
            raise faithkit.errors.InputError(
                f"rule-model: X has the columns {_few(_columns(X))}, and the background has "
                f"{_few(self.columns_)}: give both the columns of the model, in its order."
            )
        fires = np.array([rule.covers(X) for rule in self.known_.rules.values()], dtype=bool)
        fires = fires.reshape(len(self.known_.rules), faithkit.plugin.n_rows(X))
        texts = [self._text(np.flatnonzero(row)) for row in fires.T]
        return faithkit.Explanations.of(
            texts, kind=KIND, instances=X, shared=self.known_.shared, relation="rules-hold"
        )

    def _text(self, firing: NDArray[np.intp]) -> str:
        every = range(len(self.known_.rules))
        if not len(firing):
            return self.known_.text([], every)
        if self.combined_ == SUM:
            return self.known_.text(firing[: self.top], [])
        before = every[: firing[0]] if self.combined_ == FIRST else []
        return self.known_.text(firing[:1], before)


def _columns(X: Any) -> list[Any]:
    """Return the columns as rules name them: of a frame their names, of an array their numbers."""
    if isinstance(X, list) or hasattr(X, "toarray"):
        given = "a list of texts" if isinstance(X, list) else "a sparse matrix: give X.toarray()"
        raise faithkit.errors.InputError(f"rule-model explains the rows of a table, and was given {given}.")
    return X.columns.tolist() if hasattr(X, "columns") else list(range(X.shape[1]))


def _few(columns: Sequence[Any]) -> str:
    told = ", ".join(map(str, columns[:5]))
    return f"{told}, …" if len(columns) > 5 else told
