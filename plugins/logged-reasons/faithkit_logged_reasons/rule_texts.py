"""Parsing of rules in text form: "age ≤ 37 and sex = Male", "3.0 < x <= 4.2", "IF … THEN …".

A text is a rule if it consists of conditions on known columns. It is split at every "and" that leaves a
condition on both sides. A value that contains an "and", or the name of another column, is recognised because
it occurs in its column. A text with two possible meanings raises an error: the parser never guesses.
"""

import ast
import json
import math
import re
from collections.abc import Iterable, Iterator
from contextlib import suppress
from fractions import Fraction
from itertools import chain, product
from typing import Any, NamedTuple

import attrs

from faithkit import Rule
from faithkit.errors import InputError
from faithkit.plugin import Contains, Interval, NoneOf, OneOf
from faithkit_logged_reasons.dates import parse_date
from faithkit_logged_reasons.vocabulary import Column, Vocabulary

Predicate = Interval | OneOf | NoneOf | Contains

MAX_CHARACTERS = 10_000
MAX_CONDITIONS = 100
_EXACT_LIMIT = 2.0**53  # floats represent all smaller integers exactly; all larger floats are integers
_MAX_EXACT_CHARACTERS = 400  # a longer number is not parsed digit by digit
_AND = re.compile(r"(?<=\s)(?:and|&&?)(?=\s)|&&|∧", re.IGNORECASE)
_IF = re.compile(r"\s*if\s+", re.IGNORECASE)
_THEN = re.compile(r"(?<=\s)then\b", re.IGNORECASE)
_NUMBER = r"[+-]?(?:[0-9]+\.?[0-9]*|\.[0-9]+)(?:[eE][+-]?[0-9]+)?|[+-]?inf"
_TIME = r"[0-9]{2}:[0-9]{2}(?::[0-9]{2}(?:\.[0-9]{1,6})?)?(?:[+-][0-9]{2}:[0-9]{2})?"
_DATE = rf"[0-9]{{4}}-[0-9]{{2}}-[0-9]{{2}}(?:[ T]{_TIME})?"
_LIMIT_FIRST = re.compile(rf"({_DATE}|{_NUMBER})\s*(<=|=<|≤|<|>=|=>|≥|>)\s*")
_OPERATORS = {
    "==": "=", "=": "=", "!=": "≠", "<>": "≠", "≠": "≠", "<=": "≤", "=<": "≤", "≤": "≤", "<": "<",
    ">=": "≥", "=>": "≥", "≥": "≥", ">": ">",
}  # fmt: skip
_SIGNS = sorted(_OPERATORS, key=len, reverse=True)  # the longest first
_MIRRORED = {"≤": "≥", "<": ">", "≥": "≤", ">": "<"}
_MEMBERSHIP = re.compile(r"\s+(not\s+)?in\s*(?:\{(.*)\}|\[(.*)\]|\((.*)\))", re.IGNORECASE | re.DOTALL)
_OR_MISSING = re.compile(r"(.*)\(or missing\)\s*", re.DOTALL)
# words that must be quoted
_AMBIGUOUS_WORD = re.compile(rf"^['\"]|[<>=≤≥≠]|(?<=\s)or(?=\s)|{_AND.pattern}", re.IGNORECASE)
_CONTAINS = {"whitespace": "contains ", "word": "contains the word "}  # how a rule writes it, by tokenizer
_COMPARISON = re.compile(r"[<>=≤≥≠]|\sin\s*[{\[(]|^contains (?:the word )?['\"]|^always$| is missing$")


class _Reading(NamedTuple):
    """One way to read a condition; `is_known` if all its words occur in the vocabulary."""

    predicate: Predicate
    is_known: bool


@attrs.frozen
class _Parsing:
    """One way to read a text as conditions; `is_known` if all their words occur in the vocabulary."""

    predicates: tuple[Predicate, ...] = ()
    is_known: bool = True

    def prepend(self, reading: _Reading) -> "_Parsing":
        return _Parsing((reading.predicate, *self.predicates), self.is_known and reading.is_known)


def parse_rule(text: str, X: Any) -> Rule:
    """Parse a rule in the form that people and libraries write, on the columns of X.

    Parameters
    ----------
    text : str
        Conditions with "and" between them: `≤`, `<=`, `<`, `>`, `>=`, `=`, `==`, `≠`, `!=`, `in {a, b}`,
        `3 < x <= 4`; or "IF … THEN …", whose conditions become the rule.
    X : array, DataFrame or list of str
        The instances, which define the known columns and values.

    Returns
    -------
    faithkit.Rule

    Raises
    ------
    InputError
        If a condition names no column, or the text can be read in more than one way.

    Examples
    --------
    >>> import pandas as pd
    >>> X = pd.DataFrame({"age": [31, 45], "sex": ["Male", "Female"]})
    >>> print(parse_rule("IF 30 < age <= 40 AND sex = Male THEN approve", X))
    30 < age ≤ 40 and sex = Male
    """
    return Rule(parse_predicates(text, X if isinstance(X, Vocabulary) else Vocabulary.of(X)))


def looks_like_rule(text: str) -> bool:
    """Return whether a text contains a comparison; plain words and sentences do not.

    Examples
    --------
    >>> looks_like_rule("age > 37"), looks_like_rule("too young")
    (True, False)
    """
    return _COMPARISON.search(text) is not None


def parse_predicates(text: str, vocabulary: Vocabulary) -> tuple[Predicate, ...]:
    """Parse the conditions of a text, or raise an error that names the first one that cannot be parsed.

    Examples
    --------
    >>> import pandas as pd
    >>> vocabulary = Vocabulary.of(pd.DataFrame({"age": [31], "sex": ["Male"]}))
    >>> print(*parse_predicates("IF age > 37 AND sex = Male THEN approve", vocabulary), sep=" | ")
    age > 37 | sex = Male
    >>> parse_predicates("age > 37 and job = clerk", vocabulary)
    Traceback (most recent call last):
    ...
    faithkit.errors.InputError: 'job = clerk' names no column in 'age > 37 and job = clerk'.
    """
    if text.strip() == "always":
        return ()
    if len(text) > MAX_CHARACTERS:
        raise InputError(f"a text of {len(text):,} characters is no rule: {text!r:.60}.")
    if text.startswith('["'):
        conditions = _parse_list(text)
        return tuple(chain.from_iterable(parse_predicates(item, vocabulary) for item in conditions))
    parsings = [parsing for body in _condition_texts(text) for parsing in _parse_conditions(body, vocabulary)]
    best = [parsing for parsing in parsings if parsing.is_known] or parsings
    if not best:
        raise InputError(_explain_failure(text, vocabulary))
    if len({frozenset(parsing.predicates) for parsing in best}) > 1:
        raise InputError(f"{text!r:.200} can be read in more than one way: quote its words.")
    return best[0].predicates


def _parse_list(text: str) -> list[str]:
    """Parse a JSON list of conditions, the form that some libraries store."""
    try:
        items = json.loads(text)
    except (ValueError, RecursionError):
        items = [None]
    if not isinstance(items, list) or not all(isinstance(item, str) and item[:2] != '["' for item in items):
        raise InputError(f"{text!r:.120} is no list of conditions.")
    return items


def _condition_texts(text: str) -> Iterator[str]:
    """Yield the parts of a text that may be its conditions: all of it, or the part between IF and THEN."""
    yield text
    head = _IF.match(text)
    if head is not None:
        body = text[head.end() :]
        yield from (body[: end.start()] for end in _THEN.finditer(body))
        if _THEN.search(body) is None:
            yield body


def _parse_conditions(text: str, vocabulary: Vocabulary) -> list[_Parsing]:
    """Return the parsings of a text with known words, or else those with the most conditions."""
    separators = [match.span() for match in _AND.finditer(text)]
    starts = [0, *(stop for _, stop in separators)]
    stops = [*(start for start, _ in separators), len(text)]
    n = len(starts)
    if n > MAX_CONDITIONS:
        return []
    parsings_from: list[list[_Parsing]] = [[] for _ in range(n)] + [[_Parsing()]]
    for i in reversed(range(n)):
        parsings = []
        for j in range(i, n):
            if parsings_from[j + 1]:
                readings = _read_condition(text[starts[i] : stops[j]].strip(), vocabulary)
                parsings += [
                    rest.prepend(reading) for reading, rest in product(readings, parsings_from[j + 1])
                ]
        parsings_from[i] = _keep_best(parsings)
    return [] if parsings_from[0] == [_Parsing()] else parsings_from[0]


def _keep_best(parsings: list[_Parsing]) -> list[_Parsing]:
    """Keep two parsings with known words and two with the most conditions: enough to detect ambiguity."""
    ordered = sorted(parsings, key=lambda parsing: parsing.is_known)
    distinct = {frozenset(parsing.predicates): parsing for parsing in ordered}.values()
    known = [parsing for parsing in distinct if parsing.is_known]
    longest = max((len(parsing.predicates) for parsing in distinct), default=0)
    unknown = [parsing for parsing in distinct if not parsing.is_known and len(parsing.predicates) == longest]
    return [*known[:2], *unknown[:2]]


def _explain_failure(text: str, vocabulary: Vocabulary) -> str:
    """Return the message about the first condition of a text that cannot be parsed."""
    head = _IF.match(text)
    body = text[head.end() :] if head else text
    conditions = [item.strip() for item in _AND.split(_THEN.split(body)[0] if head else body)]
    condition = next((item for item in conditions if not _read_condition(item, vocabulary)), text)
    limit = _LIMIT_FIRST.match(condition)
    has_column = any(True for _ in vocabulary.match_columns(condition[limit.end() :] if limit else condition))
    problem = "is no condition that its column could fulfil" if has_column else "names no column"
    place = "" if condition == text else f" in {text!r:.120}"
    return f"{condition!r:.80} {problem}{place}."


def _read_condition(text: str, vocabulary: Vocabulary) -> list[_Reading]:
    """Return the ways to read one condition: those with known words, or else the others."""
    if vocabulary.is_text:
        return _read_contains(text)
    readings = [*_candidate_readings(text, False, vocabulary)]
    if missing := _OR_MISSING.fullmatch(text):
        readings += _candidate_readings(missing[1].strip(), True, vocabulary)
    known = [reading for reading in readings if reading.is_known]
    # an unknown word may end in "(or missing)": the shorter word with that mark comes first
    return known or [reading for reading in readings if reading.predicate.missing] or readings


def _read_contains(text: str) -> list[_Reading]:
    for tokenizer, prefix in _CONTAINS.items():
        if not text.startswith(prefix):
            continue
        with suppress(ValueError, SyntaxError, MemoryError, RecursionError):
            token = ast.literal_eval(text.removeprefix(prefix).strip())
            if isinstance(token, str):
                return [_Reading(Contains(token, tokenizer), True)]
    return []


def _candidate_readings(text: str, missing: bool, vocabulary: Vocabulary) -> Iterator[_Reading]:
    for column, rest in vocabulary.match_columns(text):
        if rest.strip() == "is missing" and rest[:1].isspace() and not missing:
            yield _Reading(_empty_predicate(column, True), True)
        if membership := _MEMBERSHIP.fullmatch(rest):
            values = next(filter(None, membership.groups()[1:]), "")
            yield from _read_membership(column, values, bool(membership[1]), missing)
        yield from _read_comparison(column, rest.lstrip(), missing)
    if limit := _LIMIT_FIRST.match(text):
        yield from _read_limit_first(limit[1], limit[2], text[limit.end() :], missing, vocabulary)
    for prefix, build in (("no value of ", _empty_predicate), ("any value of ", _any_value_predicate)):
        if not text.startswith(prefix):
            continue
        for column, rest in vocabulary.match_columns(text.removeprefix(prefix)):
            if not rest:
                yield _Reading(build(column, missing), True)


def _empty_predicate(column: Column, missing: bool) -> Predicate:
    """Return the predicate that no value of a column satisfies."""
    if column.is_numeric:
        return column.interval(math.inf, -math.inf, missing)
    return OneOf(column.name, (), missing=missing)


def _any_value_predicate(column: Column, missing: bool) -> Predicate:
    """Return the predicate that every value of a column satisfies."""
    if column.is_numeric:
        return column.interval(missing=missing)
    return NoneOf(column.name, (), missing=missing)


def _read_limit_first(
    limit: str, sign: str, text: str, missing: bool, vocabulary: Vocabulary
) -> Iterator[_Reading]:
    """Read the text after a number and a sign: a column, and possibly a second limit."""
    operator = _MIRRORED[_OPERATORS[sign]]
    for column, rest in vocabulary.match_columns(text):
        number = _parse_number(limit, column)
        if number is None:
            continue
        first = _build_interval(column, operator, number, missing)
        if not rest.strip():
            yield _Reading(first, True)
        for second, _ in _read_comparison(column, rest.lstrip(), missing):
            same_direction = ("≤", "<") if operator in ("≥", ">") else ("≥", ">")
            if isinstance(second, Interval) and _leading_operator(rest) in same_direction:
                yield _Reading(first.meet(second), True)


def _leading_operator(text: str) -> str:
    return next((_OPERATORS[sign] for sign in _SIGNS if text.lstrip().startswith(sign)), "")


def _read_comparison(column: Column, text: str, missing: bool) -> list[_Reading]:
    """Read an operator and a value; if several operators fit, the longest one that works."""
    readings: list[_Reading] = []
    for sign in _SIGNS:
        if not text.startswith(sign):
            continue
        operator, value = _OPERATORS[sign], text[len(sign) :].strip()
        candidates = [
            *_compare_with_number(column, operator, value, missing),
            *_compare_with_word(column, operator, value, missing),
        ]
        readings += [reading for reading in candidates if reading.is_known or not readings]
    return [reading for reading in readings if reading.is_known] or readings


def _compare_with_number(column: Column, operator: str, value: str, missing: bool) -> Iterator[_Reading]:
    number = _parse_number(value, column)
    if number is None or (operator in "=≠" and column.has_dates):
        return
    if operator in "=≠":
        yield _Reading((OneOf if operator == "=" else NoneOf)(column.name, [number], missing=missing), True)
    else:
        yield _Reading(_build_interval(column, operator, number, missing), True)


def _compare_with_word(column: Column, operator: str, value: str, missing: bool) -> Iterator[_Reading]:
    if operator in "=≠":
        predicate = OneOf if operator == "=" else NoneOf
        for word, is_known in _match_values(column, value):
            yield _Reading(predicate(column.name, [word], missing=missing), is_known)


def _build_interval(column: Column, operator: str, number: float, missing: bool) -> Interval:
    """Return the interval of a comparison; "< number" means at most the float before that number."""
    if operator in "<≥":
        # all neighbours of a large integer are integers, in every dtype
        is_large_integer = _EXACT_LIMIT < abs(number) < 2.0**64
        number = int(number) - 1 if is_large_integer else math.nextafter(number, -math.inf)
    if operator in "≤<":
        return column.interval(high=number, missing=missing)
    return column.interval(low=number, missing=missing)


def _parse_number(text: str, column: Column) -> float | None:
    """Parse a number, or a date as days, that a column can be compared with."""
    if not column.is_numeric:
        return None
    if column.has_dates:
        return parse_date(text) if re.fullmatch(_DATE, text) else None
    match = re.fullmatch(_NUMBER, text.replace("−", "-"))
    if match is None:
        return None
    number = float(match[0])
    if not _EXACT_LIMIT <= abs(number) < math.inf or len(text) > _MAX_EXACT_CHARACTERS:
        return number
    exact = Fraction(match[0])
    return int(exact) if exact.denominator == 1 and exact != number else number


def _match_values(column: Column, text: str) -> list[tuple[Any, bool]]:
    """Return the values of a column that a text may mean, each with whether it occurs in the column.

    A word that does not occur may end anywhere. It must be quoted if it could be a condition.
    """
    quoted = text[1:-1] if len(text) > 1 and text[0] == text[-1] and text[0] in "'\"" else None
    values = list(column.values_by_text.get(text, ()))
    if quoted is not None:
        values += [value for value in column.values_by_text.get(quoted.strip(), ()) if str(value) == quoted]
    if values or column.is_numeric or not text:
        return [(value, True) for value in values]
    if quoted is not None and text[0] not in quoted:
        return [(quoted, False)]
    return [] if _AMBIGUOUS_WORD.search(text) else [(text, False)]


def _read_membership(column: Column, text: str, is_excluded: bool, missing: bool) -> Iterator[_Reading]:
    predicate = NoneOf if is_excluded else OneOf
    items = text.split(",")
    numbers = [_parse_number(item.strip(), column) for item in items]
    if not column.has_dates and None not in numbers:
        yield _Reading(predicate(column.name, numbers, missing=missing), True)
        return
    for values, is_known in _match_lists(column, items):
        yield _Reading(predicate(column.name, values, missing=missing), is_known)


def _match_lists(column: Column, items: list[str]) -> Iterable[tuple[list[Any], bool]]:
    """Return the ways to read a list split at commas, whose values may contain commas."""
    longest = 1 + max((text.count(",") for text in column.values_by_text), default=0)
    lists_from: list[list[list[Any]]] = [[] for _ in items] + [[[]]]
    for i in reversed(range(len(items))):
        for j in range(i + 1, min(i + longest, len(items)) + 1):
            matches = _match_values(column, ",".join(items[i:j]).strip())
            values = [value for value, is_known in matches if is_known]
            lists_from[i] += [[value, *rest] for value, rest in product(values, lists_from[j])]
        lists_from[i] = lists_from[i][:2]  # two are enough to detect ambiguity
    if lists_from[0]:
        return [(values, True) for values in lists_from[0]]
    matches_by_item = [_match_values(column, item.strip()) for item in items]
    return [([matches[0][0] for matches in matches_by_item], False)] if all(matches_by_item) else []
