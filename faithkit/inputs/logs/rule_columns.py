"""Explanations that are the texts of rules: rules again, where each can be read as one.

Some that are rules among others that are none could not be related to each other: then all stay texts, and
the result says so.
"""

import json
import re
from collections.abc import Iterable, Mapping
from typing import Any

import attrs
import numpy as np
import pandas as pd

from faithkit.arrays.containers import take_rows
from faithkit.errors import InputError
from faithkit.explanations.explanations import Explanations, object_array
from faithkit.explanations.rule_texts import is_like_a_rule
from faithkit.explanations.rules import Rule
from faithkit.explanations.vocabulary import Vocabulary

_JSON = re.compile(r"\[\s*[\]{]")  # how the JSON form of a rule begins
NOT_HELD = "a rule that does not hold for its own row (perhaps its numbers were rounded)"


def read_rules(explanations: Explanations, X: Any) -> Explanations:
    """Return explanations that are texts of rules about the columns of X as rules; any others as they are.

    Examples
    --------
    >>> X = pd.DataFrame({"age": [31, 45]})
    >>> read_rules(Explanations.of(["age ≤ 40", "age > 40"]), X).values[0].predicates[0].high
    40.0
    >>> read_rules(Explanations.of(["age ≤ 40", "job = clerk"]), X).remarked[1]
    "no rule about the columns of X, so that all are compared as texts ('job = clerk' names no column ...)"
    """
    if X is None or not _are_texts(explanations):
        return explanations
    codes, texts = pd.factorize(object_array(map(_text, explanations.values)))
    if not any(map(is_like_a_rule, texts)):
        return explanations
    rules, why_not = rules_of(texts, Vocabulary.of(X))
    if why_not:
        remark = not_understood(why_not)
        told = object_array([*(remark if text in why_not else None for text in texts), None])
        return _remarking(explanations, told[codes])
    found = as_rules(explanations, rules)
    return _remarking(found, not_held(found, X))


def read_alike(explanations: Explanations, X: Any, vocabulary: Vocabulary | None) -> Explanations:
    """Return texts about further rows as rules, where those about the first rows were; else as they are.

    Examples
    --------
    >>> known = Vocabulary.of(pd.DataFrame({"job": ["clerk", "cook"]}))
    >>> print(read_alike(Explanations.of(["job = cook"]), pd.DataFrame({"job": [None]}), known).values[0])
    job = cook
    """
    if vocabulary is None or not _are_texts(explanations):
        return explanations
    read = map(_text, explanations.values[~explanations.missing])
    texts = dict.fromkeys(text for text in read if text is not None)
    rules, why_not = rules_of(texts, vocabulary.united(Vocabulary.of(X)))
    if why_not:
        raise InputError(
            f"the first rows were explained by rules, and {next(iter(why_not.values()))}: explain all alike."
        )
    return as_rules(explanations, rules)


def _remarking(explanations: Explanations, told: Any) -> Explanations:
    """Add remarks about rows that have an explanation to those about rows that have none."""
    if told is None or explanations.remarks is None:
        return attrs.evolve(explanations, remarks=explanations.remarks if told is None else told)
    return attrs.evolve(explanations, remarks=np.where(explanations.missing, explanations.remarks, told))


def as_rules(explanations: Explanations, rules: Mapping[str, Rule]) -> Explanations:
    """Return texts as the rules that they are known to be."""
    codes, texts = pd.factorize(object_array(map(_text, explanations.values)))
    column = object_array([*(rules[text] for text in texts), None])[codes]
    return attrs.evolve(explanations, kind="rule", values=column, relation="in-scope")


def rules_of(texts: Iterable[str], vocabulary: Vocabulary) -> tuple[dict[str, Rule], dict[str, str]]:
    """Return the rules of texts, and of those that are none, in their order, why."""
    rules, why_not = {}, {}
    for text in texts:
        try:
            rules[text] = Rule.from_text(text, vocabulary)
        except InputError as error:
            why_not[text] = str(error).rstrip(".")
    return rules, why_not


def not_understood(why_not: dict[str, str]) -> str:
    """Say what is remarked of texts that are no rules; a colon would end it."""
    first = next(iter(why_not.values())).replace(": ", "; ")
    return f"no rule about the columns of X, so that all are compared as texts ({first})"


def _are_texts(explanations: Explanations) -> bool:
    """Whether equality compares texts, or tuples of them, and nobody has remarked anything of them."""
    given, gone = explanations.values, explanations.missing
    if explanations.kind != "value" or not isinstance(given, np.ndarray) or given.ndim != 1:
        return False
    if explanations.remarks is not None and any(told is not None for told in explanations.remarks[~gone]):
        return False
    there = given[~gone]
    return len(there) > 0 and all(_text(value) is not None for value in there)


def _text(value: Any) -> str | None:
    """Return a text as it is, and a tuple of conditions as the text of a list."""
    if isinstance(value, tuple) and value and all(isinstance(part, str) for part in value):
        return json.dumps(value, ensure_ascii=False)
    return value if isinstance(value, str) else None


def not_held(explanations: Explanations, X: Any) -> Any:
    """Remark on the rows for which their own rule does not hold; None where there are no such rows."""
    codes, rules = pd.factorize(explanations.values)
    order = np.argsort(codes, kind="stable")
    starts = np.searchsorted(codes[order], np.arange(len(rules) + 1))
    told = np.full(len(codes), None, dtype=object)
    for rule, start, stop in zip(rules, starts, starts[1:], strict=False):
        rows = order[start:stop]
        told[rows[~rule.covers(take_rows(X, rows))]] = NOT_HELD
    return told if any(one is not None for one in told) else None


def all_json(columns: Any) -> bool:
    """Whether there are values, and all of them look like the JSON form of a rule."""
    some = False
    for column in columns:
        cells = column.dropna()
        if not all(isinstance(cell, str) and _JSON.match(cell) for cell in cells):
            return False
        some = some or len(cells) > 0
    return some
