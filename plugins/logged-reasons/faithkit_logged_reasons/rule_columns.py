"""The adapter `rule-texts`: explanations that are texts of rules, if all of them are rules.

Rules and other texts could not be related to each other. So if one text is not a rule, all stay texts, and
the result has a remark about it.
"""

import json
from collections.abc import Sequence
from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from faithkit import Explanations, Rule
from faithkit.errors import InputError
from faithkit.plugin import RowContext, take_rows
from faithkit_logged_reasons.rule_texts import looks_like_rule, parse_rule
from faithkit_logged_reasons.vocabulary import Vocabulary

DOES_NOT_HOLD = "a rule that does not hold for its own row (perhaps its numbers were rounded)"


class RuleTexts:
    """Read texts as rules about the columns of X: "age ≤ 37 and sex = Male", or a list of conditions.

    If one text is not a rule, all stay texts, and a remark says which.

    Examples
    --------
    >>> X = pd.DataFrame({"age": [31, 45]})
    >>> RuleTexts().explanations(["age ≤ 40", "age > 40"], RowContext(X=X)).values[0].predicates[0].high
    40.0
    >>> RuleTexts().explanations(["age ≤ 40", "job = clerk"], RowContext(X=X)).remarks[1]
    "no rule about the columns of X, so that all are compared as texts ('job = clerk' names no column)"
    """

    def __init__(self) -> None:
        self._vocabulary: Vocabulary | None = None

    def example(self) -> tuple[list[str], RowContext]:
        """Return two rules, and their rows."""
        X = pd.DataFrame({"age": [31, 45], "sex": ["Male", "Female"]})
        return ["age ≤ 40 and sex = Male", "age > 40"], RowContext(n=2, X=X)

    def takes(self, texts: Sequence[str | tuple[str, ...]]) -> bool:
        """Return whether a text contains a comparison."""
        return any(looks_like_rule(_join_conditions(text)) for text in texts)

    def partial_fit(self, X: Any) -> None:
        """Learn the columns of some rows, and their values."""
        vocabulary = Vocabulary.of(X)
        self._vocabulary = vocabulary if self._vocabulary is None else self._vocabulary.union(vocabulary)

    def explanations(self, values: Sequence[str | tuple[str, ...]], context: RowContext) -> Explanations:
        """Parse texts as rules about the columns that it has seen, or about those of the context."""
        vocabulary = self._vocabulary
        if vocabulary is None and context.X is not None:
            vocabulary = Vocabulary.of(context.X)
        if vocabulary is None:
            raise InputError(
                "rules in words are about the columns of the instances, which are missing: give them as X "
                "(CLI: --features)."
            )
        rules: list[Rule | None] = []
        errors: list[str | None] = []
        for value in values:
            rule, error = _parse(_join_conditions(value), vocabulary)
            rules.append(rule)
            errors.append(error)
        first_error = next(filter(None, errors), None)
        if first_error is None:
            return Explanations.of(rules, kind="rule", relation="in-scope")
        remark = _describe(first_error)
        return Explanations.of(values, remarks=[None if error is None else remark for error in errors])

    def remarks(self, explanations: Explanations, X: Any) -> NDArray[Any] | None:
        """Return a remark for each row whose own rule does not hold for it; None if there is no such row."""
        if explanations.kind != "rule":
            return None
        codes, rules = pd.factorize(np.where(explanations.missing, None, explanations.values))
        order = np.argsort(codes, kind="stable")
        starts = np.searchsorted(codes[order], np.arange(len(rules) + 1))
        remarks = np.full(len(codes), None, dtype=object)
        for rule, start, stop in zip(rules, starts, starts[1:], strict=False):
            rows = order[start:stop]
            remarks[rows[~rule.covers(take_rows(X, rows))]] = DOES_NOT_HOLD
        return remarks if pd.notna(remarks).any() else None


def _parse(text: str, vocabulary: Vocabulary) -> tuple[Rule | None, str | None]:
    """Return the rule of a text, or the error of a text that is not a rule."""
    try:
        return parse_rule(text, vocabulary), None
    except InputError as error:
        return None, str(error).rstrip(".")


def _describe(error: str) -> str:
    """Return the remark about texts that are not rules; it has no colon, because a colon would end it."""
    first_error = error.replace(": ", "; ")
    return f"no rule about the columns of X, so that all are compared as texts ({first_error})"


def _join_conditions(value: str | tuple[str, ...]) -> str:
    """Return a text unchanged, and a list of conditions as a JSON list."""
    return value if isinstance(value, str) else json.dumps(value, ensure_ascii=False)
