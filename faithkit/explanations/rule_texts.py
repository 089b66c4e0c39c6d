"""Rules as people and libraries write them: "age ≤ 37 and sex = Male", "3.0 < x <= 4.2", "IF … THEN …".

A text is a rule where all of it is conditions on known columns. It is divided at every "and" that leaves a
condition on both sides; a word that has an "and" in it, or the name of another column, is recognised by
being one of the column's values. What can be read in two ways is refused: nobody guesses.
"""

import ast
import json
import math
import re
from collections.abc import Iterable, Iterator
from contextlib import suppress
from fractions import Fraction
from functools import partial
from itertools import product
from typing import Any

import attrs

from faithkit.arrays.containers import WHOLE
from faithkit.errors import InputError
from faithkit.explanations.dates import read_date
from faithkit.explanations.predicates import CONTAINS, Contains, Interval, NoneOf, OneOf, Predicate
from faithkit.explanations.vocabulary import Column, Vocabulary

LONGEST = 10_000  # characters
MOST = 100  # conditions
_LONGEST_NUMBER = 400  # characters: no longer one is read digit by digit
_AND = re.compile(r"(?<=\s)(?:and|&&?)(?=\s)|&&|∧", re.IGNORECASE)
_IF = re.compile(r"\s*if\s+", re.IGNORECASE)
_THEN = re.compile(r"(?<=\s)then\b", re.IGNORECASE)
_NUMBER = r"[+-]?(?:[0-9]+\.?[0-9]*|\.[0-9]+)(?:[eE][+-]?[0-9]+)?|[+-]?inf"
_TIME = r"[0-9]{2}:[0-9]{2}(?::[0-9]{2}(?:\.[0-9]{1,6})?)?(?:[+-][0-9]{2}:[0-9]{2})?"
_DATE = rf"[0-9]{{4}}-[0-9]{{2}}-[0-9]{{2}}(?:[ T]{_TIME})?"
_BEFORE = re.compile(rf"({_DATE}|{_NUMBER})\s*(<=|=<|≤|<|>=|=>|≥|>)\s*")
_OPERATORS = {
    "==": "=", "=": "=", "!=": "≠", "<>": "≠", "≠": "≠", "<=": "≤", "=<": "≤", "≤": "≤", "<": "<",
    ">=": "≥", "=>": "≥", "≥": "≥", ">": ">",
}  # fmt: skip
_SIGNS = sorted(_OPERATORS, key=len, reverse=True)  # the longest first
_TURNED = {"≤": "≥", "<": ">", "≥": "≤", ">": "<"}
_AMONG = re.compile(r"\s+(not\s+)?in\s*(?:\{(.*)\}|\[(.*)\]|\((.*)\))", re.IGNORECASE | re.DOTALL)
_OR_MISSING = re.compile(r"(.*)\(or missing\)\s*", re.DOTALL)
_MORE = re.compile(rf"^['\"]|[<>=≤≥≠]|(?<=\s)or(?=\s)|{_AND.pattern}", re.IGNORECASE)  # than one word
_LIKE = re.compile(r"[<>=≤≥≠]|\sin\s*[{\[(]|^contains (?:the word )?['\"]|^always$| is missing$")

LogReading = tuple[Predicate, bool]
"""A condition, and whether all words in it are known."""


def is_like_a_rule(text: str) -> bool:
    """Return whether a text compares anything: a word or a sentence does not.

    Examples
    --------
    >>> is_like_a_rule("age > 37"), is_like_a_rule("too young")
    (True, False)
    """
    return _LIKE.search(text) is not None


def predicates_of(text: str, vocabulary: Vocabulary) -> tuple[Predicate, ...]:
    """Return the conditions of a text, or say which of them is none.

    Examples
    --------
    >>> import pandas as pd
    >>> known = Vocabulary.of(pd.DataFrame({"age": [31], "sex": ["Male"]}))
    >>> print(*predicates_of("IF age > 37 AND sex = Male THEN approve", known), sep=" | ")
    age > 37 | sex = Male
    >>> predicates_of("age > 37 and job = clerk", known)
    Traceback (most recent call last):
    ...
    faithkit.errors.InputError: 'job = clerk' names no column in 'age > 37 and job = clerk'.
    """
    if text.strip() == "always":
        return ()
    if len(text) > LONGEST:
        raise InputError(f"a text of {len(text):,} characters is no rule: {text!r:.60}.")
    if text.startswith('["'):
        return tuple(one for part in _list(text) for one in predicates_of(part, vocabulary))
    found = [parsed for body in _bodies(text) for parsed in _parses(body, vocabulary)]
    best = [one for one in found if one.known] or found
    if not best:
        raise InputError(_not_understood(text, vocabulary))
    ways = {frozenset(one.predicates): one for one in best}
    if len(ways) > 1:
        raise InputError(f"{text!r:.200} can be read in more than one way: quote its words.")
    return best[0].predicates


def _list(text: str) -> list[str]:
    """Return the conditions of a list in JSON, as which some libraries keep them."""
    try:
        parts = json.loads(text)
    except (ValueError, RecursionError):
        parts = [None]
    if not isinstance(parts, list) or not all(isinstance(part, str) and part[:2] != '["' for part in parts):
        raise InputError(f"{text!r:.120} is no list of conditions.")
    return parts


def _bodies(text: str) -> Iterator[str]:
    """Yield what may be the conditions of a text: all of it, or what is between IF and THEN."""
    yield text
    head = _IF.match(text)
    if head is not None:
        body = text[head.end() :]
        yield from (body[: end.start()] for end in _THEN.finditer(body))
        if _THEN.search(body) is None:
            yield body


@attrs.frozen
class _Parse:
    """A way to read a text: its conditions, and whether all words in them are known."""

    predicates: tuple[Predicate, ...] = ()
    known: bool = True

    def after(self, reading: LogReading) -> "_Parse":
        return _Parse((reading[0], *self.predicates), self.known and reading[1])


def _parses(text: str, vocabulary: Vocabulary) -> list[_Parse]:
    """Return the ways to read a text with known words, or else those with the most conditions."""
    ends = [match.span() for match in _AND.finditer(text)]
    starts, stops = [0, *(end for _, end in ends)], [*(start for start, _ in ends), len(text)]
    n = len(starts)
    if n > MOST:
        return []
    ways: list[list[_Parse]] = [[] for _ in range(n)] + [[_Parse()]]
    for i in reversed(range(n)):
        found = []
        for j in range(i, n):
            if ways[j + 1]:
                readings = _readings(text[starts[i] : stops[j]].strip(), vocabulary)
                found += [rest.after(one) for one, rest in product(readings, ways[j + 1])]
        ways[i] = _few(found)
    return [] if ways[0] == [_Parse()] else ways[0]


def _few(found: list[_Parse]) -> list[_Parse]:
    """Keep enough ways to tell whether there is one: two of known words, and two of the most conditions."""
    distinct = {frozenset(one.predicates): one for one in sorted(found, key=lambda one: one.known)}
    known = [one for one in distinct.values() if one.known]
    most = max((len(one.predicates) for one in distinct.values()), default=0)
    others = [one for one in distinct.values() if not one.known and len(one.predicates) == most]
    return [*known[:2], *others[:2]]


def _not_understood(text: str, vocabulary: Vocabulary) -> str:
    head = _IF.match(text)
    body = text[head.end() :] if head else text
    parts = [part.strip() for part in _AND.split(_THEN.split(body)[0] if head else body)]
    part = next((part for part in parts if not _readings(part, vocabulary)), text)
    before = _BEFORE.match(part)
    named = any(True for _ in vocabulary.leading(part[before.end() :] if before else part))
    why = "is no condition that its column could fulfil" if named else "names no column"
    return f"{part!r:.80} {why} in {text!r:.120}."


def _readings(text: str, vocabulary: Vocabulary) -> list[LogReading]:
    """Return the ways to read one condition; of unknown words only the first."""
    if vocabulary.texts:
        return _contained(text)
    found = [*_conditions(text, False, vocabulary)]
    if missing := _OR_MISSING.fullmatch(text):
        found += _conditions(missing[1].strip(), True, vocabulary)
    known = [one for one in found if one[1]]
    return known or _last_word(found)


def _last_word(found: list[LogReading]) -> list[LogReading]:
    """Return the readings of unknown words: a shorter word with "(or missing)" behind it, if there is one."""
    marked = [one for one in found if one[0].missing]
    return marked or found


def _contained(text: str) -> list[LogReading]:
    for tokenizer, words in CONTAINS.items():
        if not text.startswith(words):
            continue
        with suppress(ValueError, SyntaxError, MemoryError, RecursionError):
            token = ast.literal_eval(text.removeprefix(words).strip())
            if isinstance(token, str):
                return [(Contains(token, tokenizer), True)]
    return []


def _conditions(text: str, missing: bool, vocabulary: Vocabulary) -> Iterator[LogReading]:
    for column, rest in vocabulary.leading(text):
        if rest.strip() == "is missing" and rest[:1].isspace() and not missing:
            yield _nothing(column, True), True
        if among := _AMONG.fullmatch(rest):
            yield from _membership(
                column, next(filter(None, among.groups()[1:]), ""), bool(among[1]), missing
            )
        yield from _comparison(column, rest.lstrip(), missing)
    if before := _BEFORE.match(text):
        yield from _between(before[1], before[2], text[before.end() :], missing, vocabulary)
    for words, make in (("no value of ", _nothing), ("any value of ", _anything)):
        for column, rest in vocabulary.leading(text.removeprefix(words)) if text.startswith(words) else ():
            if not rest:
                yield make(column, missing), True


def _nothing(column: Column, missing: bool) -> Predicate:
    ends = (math.inf, -math.inf)
    is_number = column.numbers
    return (
        Interval(column.name, *ends, missing, column.dates, column.zone)
        if is_number
        else OneOf(column.name, (), missing)
    )


def _anything(column: Column, missing: bool) -> Predicate:
    if column.numbers:
        return Interval(column.name, missing=missing, dates=column.dates, zone=column.zone)
    return NoneOf(column.name, (), missing)


def _between(limit: str, sign: str, text: str, missing: bool, vocabulary: Vocabulary) -> Iterator[LogReading]:
    """Read what follows on a number and a sign: a column, and possibly the other limit."""
    turned = _TURNED[_OPERATORS[sign]]
    for column, rest in vocabulary.leading(text):
        number = _number(limit, column)
        if number is None:
            continue
        first = _interval(column, turned, number, missing)
        if not rest.strip():
            yield first, True
        for second, _ in _comparison(column, rest.lstrip(), missing):
            same_way = _sign(rest) in (("≤", "<") if turned in ("≥", ">") else ("≥", ">"))
            if isinstance(second, Interval) and same_way:
                yield first.meet(second), True


def _sign(text: str) -> str:
    return next((_OPERATORS[sign] for sign in _SIGNS if text.lstrip().startswith(sign)), "")


def _comparison(column: Column, text: str, missing: bool) -> list[LogReading]:
    """Read an operator and a value; of several operators that a text begins with, the longest that can be."""
    found: list[LogReading] = []
    for sign in _SIGNS:
        if not text.startswith(sign):
            continue
        op, value = _OPERATORS[sign], text[len(sign) :].strip()
        made = [*_compared_number(column, op, value, missing), *_compared_word(column, op, value, missing)]
        found += [one for one in made if one[1] or not found]
    return [one for one in found if one[1]] or found


def _compared_number(column: Column, op: str, value: str, missing: bool) -> Iterator[LogReading]:
    number = _number(value, column)
    if number is None:
        return
    if op in "=≠" and column.dates:
        return
    if op in "=≠":
        yield (OneOf if op == "=" else NoneOf)(column.name, [number], missing), True
    else:
        yield _interval(column, op, number, missing), True


def _compared_word(column: Column, op: str, value: str, missing: bool) -> Iterator[LogReading]:
    if op in "=≠":
        kind = OneOf if op == "=" else NoneOf
        yield from ((kind(column.name, [word], missing), known) for word, known in _words(column, value))


def _interval(column: Column, op: str, number: float, missing: bool) -> Interval:
    """Return the interval of a comparison: what is below a number is at most the float before it."""
    if op in "<≥":
        is_whole = WHOLE < abs(number) < 2.0**64  # then so is every number near it, in whatever dtype
        number = int(number) - 1 if is_whole else math.nextafter(number, -math.inf)
    make = partial(Interval, column.name, missing=missing, dates=column.dates, zone=column.zone)
    return make(high=number) if op in "≤<" else make(low=number)


def _number(text: str, column: Column) -> float | None:
    """Return the number that a column is compared with: of dates, days."""
    if not column.numbers:
        return None
    if column.dates:
        return read_date(text) if re.fullmatch(_DATE, text) else None
    found = re.fullmatch(_NUMBER, text.replace("−", "-"))
    if found is None:
        return None
    number = float(found[0])
    if not WHOLE <= abs(number) < math.inf or len(text) > _LONGEST_NUMBER:
        return number
    exact = Fraction(found[0])
    return int(exact) if exact.denominator == 1 and exact != number else number


def _words(column: Column, text: str) -> list[tuple[Any, bool]]:
    """Return the values of a column that a text may mean: those that occur, or a word that does not.

    Of such a word nobody knows where it ends: one that could be a condition, too, has to stand in quotes.
    """
    quoted = text[1:-1] if len(text) > 1 and text[0] == text[-1] and text[0] in "'\"" else None
    known = [(value, True) for value in column.words.get(text, ())]
    if quoted is not None:
        known += [(value, True) for value in column.words.get(quoted.strip(), ()) if str(value) == quoted]
    if known or column.numbers or not text:
        return known
    if quoted is not None and text[0] not in quoted:
        return [(quoted, False)]
    return [] if _MORE.search(text) else [(text, False)]


def _membership(column: Column, text: str, excluded: bool, missing: bool) -> Iterator[LogReading]:
    kind = NoneOf if excluded else OneOf
    parts = text.split(",")
    numbers = [_number(part.strip(), column) for part in parts]
    if not column.dates and None not in numbers:
        yield kind(column.name, numbers, missing), True
        return
    for words, known in _listed(column, parts):
        yield kind(column.name, words, missing), known


def _listed(column: Column, parts: list[str]) -> Iterable[tuple[list[Any], bool]]:
    """Return the ways to read words with commas between them, of which some may have commas in them."""
    longest = 1 + max((word.count(",") for word in column.words), default=0)
    ways: list[list[list[Any]]] = [[] for _ in parts] + [[[]]]
    for i in reversed(range(len(parts))):
        for j in range(i + 1, min(i + longest, len(parts)) + 1):
            values = [value for value, known in _words(column, ",".join(parts[i:j]).strip()) if known]
            ways[i] += [[value, *rest] for value, rest in product(values, ways[j])]
        ways[i] = ways[i][:2]
    if ways[0]:
        return [(values, True) for values in ways[0]]
    each = [_words(column, part.strip()) for part in parts]
    return [([found[0][0] for found in each], False)] if all(each) else []
