"""Parse explanations that are texts of rules, if all of them are rules.

Rules and other texts could not be related to each other. So if one text is not a rule, all stay texts, and
the result has a remark about it.
"""

import json
import re
from collections.abc import Iterable, Mapping
from typing import Any

import attrs
import numpy as np
import pandas as pd
from numpy.typing import NDArray

from faithkit.arrays.containers import take_rows
from faithkit.errors import InputError
from faithkit.explanations.explanations import Explanations, object_array
from faithkit.explanations.rule_texts import looks_like_rule
from faithkit.explanations.rules import Rule
from faithkit.explanations.vocabulary import Vocabulary
from faithkit.inputs.rows import Rows

_JSON = re.compile(r"\[\s*[\]{]")  # the start of a rule in JSON
DOES_NOT_HOLD = "a rule that does not hold for its own row (perhaps its numbers were rounded)"


def parse_rule_texts(explanations: Explanations, X: Rows) -> Explanations:
    """Parse texts of rules about the columns of X; return any other explanations unchanged.

    Examples
    --------
    >>> X = pd.DataFrame({"age": [31, 45]})
    >>> parse_rule_texts(Explanations.of(["age ≤ 40", "age > 40"]), X).values[0].predicates[0].high
    40.0
    >>> parse_rule_texts(Explanations.of(["age ≤ 40", "job = clerk"]), X).remarked[1]
    "no rule about the columns of X, so that all are compared as texts ('job = clerk' names no column)"
    """
    if X is None or not _are_texts(explanations):
        return explanations
    codes, texts = pd.factorize(object_array(map(_as_text, explanations.values)))
    if not any(map(looks_like_rule, texts)):
        return explanations
    rules, parse_errors = parse_rules(texts, Vocabulary.of(X))
    if parse_errors:
        remark = describe_parse_errors(parse_errors)
        remark_by_code = object_array([*(remark if text in parse_errors else None for text in texts), None])
        return _add_remarks(explanations, remark_by_code[codes])
    explanations = as_rules(explanations, rules)
    return _add_remarks(explanations, remark_violations(explanations, X))


def parse_new_rule_texts(explanations: Explanations, X: Rows, vocabulary: Vocabulary | None) -> Explanations:
    """Parse the texts of new rows as rules if those of the first rows were; else return them unchanged.

    Examples
    --------
    >>> vocabulary = Vocabulary.of(pd.DataFrame({"job": ["clerk", "cook"]}))
    >>> explanations = Explanations.of(["job = cook"])
    >>> print(parse_new_rule_texts(explanations, pd.DataFrame({"job": [None]}), vocabulary).values[0])
    job = cook
    """
    if vocabulary is None or not _are_texts(explanations):
        return explanations
    present = map(_as_text, explanations.values[~explanations.missing])
    texts = dict.fromkeys(text for text in present if text is not None)
    rules, parse_errors = parse_rules(texts, vocabulary.union(Vocabulary.of(X)))
    if parse_errors:
        first_error = next(iter(parse_errors.values()))
        raise InputError(f"the first rows were explained by rules, and {first_error}: explain all alike.")
    return as_rules(explanations, rules)


def _add_remarks(explanations: Explanations, remarks: NDArray[Any] | None) -> Explanations:
    """Add remarks about rows with an explanation to the remarks about rows without one."""
    if remarks is None:
        return explanations
    if explanations.remarks is not None:
        remarks = np.where(explanations.missing, explanations.remarks, remarks)
    return attrs.evolve(explanations, remarks=remarks)


def as_rules(explanations: Explanations, rules: Mapping[str, Rule]) -> Explanations:
    """Replace texts by their rules."""
    codes, texts = pd.factorize(object_array(map(_as_text, explanations.values)))
    column = object_array([*(rules[text] for text in texts), None])[codes]
    return attrs.evolve(explanations, kind="rule", values=column, relation="in-scope")


def parse_rules(texts: Iterable[str], vocabulary: Vocabulary) -> tuple[dict[str, Rule], dict[str, str]]:
    """Return the rule of each text, and the error of each text that is not a rule, in order."""
    rules, parse_errors = {}, {}
    for text in texts:
        try:
            rules[text] = Rule.from_text(text, vocabulary)
        except InputError as error:
            parse_errors[text] = str(error).rstrip(".")
    return rules, parse_errors


def describe_parse_errors(parse_errors: dict[str, str]) -> str:
    """Return the remark about texts that are not rules; it has no colon, because a colon would end it."""
    first_error = next(iter(parse_errors.values())).replace(": ", "; ")
    return f"no rule about the columns of X, so that all are compared as texts ({first_error})"


def _are_texts(explanations: Explanations) -> bool:
    """Return whether all explanations are texts, or tuples of texts, and none has a remark."""
    values, is_missing = explanations.values, explanations.missing
    if explanations.kind != "value" or not isinstance(values, np.ndarray) or values.ndim != 1:
        return False
    if explanations.remarks is not None and pd.notna(explanations.remarks[~is_missing]).any():
        return False
    present = values[~is_missing]
    return len(present) > 0 and all(_as_text(value) is not None for value in present)


def _as_text(value: Any) -> str | None:
    """Return a text unchanged, and a tuple of conditions as a JSON list."""
    if isinstance(value, tuple) and value and all(isinstance(condition, str) for condition in value):
        return json.dumps(value, ensure_ascii=False)
    return value if isinstance(value, str) else None


def remark_violations(explanations: Explanations, X: Rows) -> NDArray[Any] | None:
    """Return a remark for each row whose own rule does not hold for it; None if there is no such row."""
    codes, rules = pd.factorize(explanations.values)
    order = np.argsort(codes, kind="stable")
    starts = np.searchsorted(codes[order], np.arange(len(rules) + 1))
    remarks = np.full(len(codes), None, dtype=object)
    for rule, start, stop in zip(rules, starts, starts[1:], strict=False):
        rows = order[start:stop]
        remarks[rows[~rule.covers(take_rows(X, rows))]] = DOES_NOT_HOLD
    return remarks if pd.notna(remarks).any() else None


def are_json_rules(columns: Iterable["pd.Series[Any]"]) -> bool:
    """Return whether columns have values, and all of them look like rules in JSON."""
    has_values = False
    for column in columns:
        values = column.dropna()
        if not all(isinstance(value, str) and _JSON.match(value) for value in values):
            return False
        has_values = has_values or len(values) > 0
    return has_values
