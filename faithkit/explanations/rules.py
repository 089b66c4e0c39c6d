"""Rules: conjunctions of predicates that say exactly which instances they cover.

A rule is canonical (equal regions written in one way), hashable, readable, and has a JSON form. Its
predicates become packed bitsets, one per distinct predicate and sample, so that thousands of rules
cost a few bit operations each.
"""

import json
import math
from collections.abc import Hashable, Iterable, Sequence
from functools import reduce
from itertools import chain, filterfalse
from typing import Any

import attrs
import numpy as np
from numpy.typing import NDArray

from faithkit.arrays.bitsets import BLOCK_WORDS, Bits, n_words, ones, pack_bits
from faithkit.arrays.blocks import each_block
from faithkit.arrays.containers import n_rows
from faithkit.errors import InputError
from faithkit.explanations.explanations import Sample
from faithkit.explanations.predicates import (
    Contains,
    Interval,
    NoneOf,
    OneOf,
    Predicate,
    predicate_from_json,
    texts,
    tokens,
)
from faithkit.explanations.rule_texts import predicates_of
from faithkit.explanations.vocabulary import Vocabulary
from faithkit.wording import describe

PREDICATE_BYTES = 256 * 2**20  # bitsets kept per sample; beyond that the oldest are dropped


def _canonical(predicates: Iterable[Predicate]) -> tuple[Predicate, ...]:
    """Unite predicates on one column and put all in one order, so that equal rules are equal."""
    united: dict[Hashable, Any] = {}
    for predicate in predicates:
        if isinstance(predicate, Contains):
            united[predicate] = predicate
            continue
        place = (predicate.op, predicate.column)
        united[place] = united[place].meet(predicate) if place in united else predicate
    for none in [one for one in united.values() if isinstance(one, NoneOf)]:
        some = united.get((OneOf.op, none.column))
        if some is not None:  # of the values that are left out, those that are not taken say nothing
            del united[none.op, none.column]
            left = [value for value in some.values if value not in none.values]
            united[some.op, some.column] = OneOf(some.column, left, some.missing and none.missing)
    return tuple(sorted(filterfalse(_takes_all, united.values()), key=_sort_key))


def _takes_all(predicate: Predicate) -> bool:
    ends = (-math.inf, math.inf)
    if isinstance(predicate, NoneOf):
        return predicate.missing and not predicate.values
    return isinstance(predicate, Interval) and predicate.missing and (predicate.low, predicate.high) == ends


def _sort_key(predicate: Predicate) -> tuple[Any, ...]:
    if isinstance(predicate, Contains):
        return (1, "", predicate.token, predicate.tokenizer)
    return (0, type(predicate.column).__name__, predicate.column, predicate.op)


@attrs.frozen(order=False, cache_hash=True)
class Rule:
    """A conjunction of predicates; the empty rule covers everything.

    Examples
    --------
    >>> import pandas as pd
    >>> from faithkit import OneOf
    >>> rule = Rule([Interval("age", high=40), OneOf("sex", ["Male"]), Interval("age", low=20)])
    >>> print(rule)
    20 < age ≤ 40 and sex = Male
    >>> Rule.from_json(rule.to_json()) == rule
    True
    >>> rule.covers(pd.DataFrame({"age": [30, 50], "sex": ["Male", "Male"]}))
    array([ True, False])
    """

    predicates: tuple[Predicate, ...] = attrs.field(default=(), converter=_canonical)

    def covers(self, X: Any) -> NDArray[np.bool_]:
        """Return which rows of X satisfy every predicate."""
        everything = np.ones(n_rows(X), dtype=bool)
        return reduce(np.logical_and, (predicate.mask(X) for predicate in self.predicates), everything)

    def to_json(self) -> list[dict[str, Any]]:
        """Return the rule as a JSON value: a list of predicates."""
        return [predicate.to_json() for predicate in self.predicates]

    @classmethod
    def from_json(cls, value: Any) -> "Rule":
        """Read the rule back from its JSON value, or from that value as text."""
        is_text = isinstance(value, str | bytes)
        try:
            parsed = json.loads(value) if is_text else value
            if not isinstance(parsed, list):
                raise InputError(f"a rule in JSON form is a list of predicates, got {parsed!r:.60}.")
            return cls([predicate_from_json(item) for item in parsed])
        except InputError:
            raise
        except (ValueError, RecursionError) as error:  # a text that is no JSON, or brackets without an end
            shown = f"{value!r:.60} " if is_text else ""
            raise InputError(f"no rule in JSON form: {shown}({describe(error)}).") from None

    @classmethod
    def from_text(cls, text: str, X: Any) -> "Rule":
        """Read a rule as people and libraries write it, in terms of the columns of X.

        Parameters
        ----------
        text : str
            Conditions with "and" between them: `≤`, `<=`, `<`, `>`, `>=`, `=`, `==`, `≠`, `!=`, `in {a, b}`,
            `3 < x <= 4`; "IF … THEN …", of which the conditions are the rule.
        X : array, DataFrame or list of str
            The instances, whose columns and words are known by that.

        Raises
        ------
        InputError
            A condition names no column, or the text can be read in more than one way.

        Examples
        --------
        >>> import pandas as pd
        >>> X = pd.DataFrame({"age": [31, 45], "sex": ["Male", "Female"]})
        >>> print(Rule.from_text("IF 30 < age <= 40 AND sex = Male THEN approve", X))
        30 < age ≤ 40 and sex = Male
        """
        return cls(predicates_of(text, X if isinstance(X, Vocabulary) else Vocabulary.of(X)))

    def __str__(self) -> str:
        return format(self)

    def __format__(self, spec: str) -> str:
        """Write the rule, with limits as the format says: by default with all digits, to be read back."""
        return " and ".join(format(predicate, spec) for predicate in self.predicates) or "always"


def scope_bits(rules: Sequence[Rule], sample: Sample) -> Bits:
    """Return which instances each rule covers, as packed bits: what `in-scope` is built on.

    Examples
    --------
    >>> from faithkit.explanations.explanations import Explanations
    >>> X = np.array([[1.0], [2.0], [3.0]])
    >>> sample = Sample(X, Explanations.of(["a", "b", "c"]))
    >>> from faithkit.arrays.bitsets import unpack_bits
    >>> unpack_bits(scope_bits([Rule([Interval(0, low=1.5)])], sample), 3)
    array([[False,  True,  True]])
    """
    table = sample.once(_PredicateTable)
    bits = np.empty((len(rules), n_words(len(sample))), dtype=np.uint64)
    start = 0
    while start < len(rules):
        index = table.place(rules[start:])
        _conjoin(table.bits, index, bits[start : start + len(index)])
        start += len(index)
    return bits


def _conjoin(table: Bits, index: NDArray[np.intp], out: Bits) -> None:
    """Intersect the table's rows that each line of the index names; 0 names the row of ones."""

    def conjoin(start: int, stop: int) -> None:
        block, other = out[start:stop], np.empty_like(out[start:stop])
        first, *more = index[start:stop].T
        np.take(table, first, axis=0, out=block, mode="clip")  # clip spares NumPy a buffered copy
        for column in more:
            lines = np.flatnonzero(column)
            if len(lines) == len(column):
                block &= np.take(table, column, axis=0, out=other, mode="clip")
            else:
                block[lines] &= table[column[lines]]

    each_block(conjoin, len(out), max(1, BLOCK_WORDS // max(1, table.shape[1])))


def _lines(rows: list[list[int]]) -> NDArray[np.intp]:
    """Give lists of row numbers as one matrix, padded with zeros."""
    lengths = np.fromiter(map(len, rows), dtype=np.intp, count=len(rows))
    index = np.zeros((len(rows), max(1, lengths.max(initial=1))), dtype=np.intp)
    index[np.arange(index.shape[1]) < lengths[:, None]] = np.fromiter(
        chain.from_iterable(rows), dtype=np.intp
    )
    return index


def _source(predicate: Predicate) -> Hashable:
    """Say what a predicate reads."""
    read = predicate.tokenizer if isinstance(predicate, Contains) else predicate.column
    return predicate.op, read


class _PredicateTable:
    """The packed bitset of every predicate met on one sample, within a bound of memory.

    Row 0 has all bits set: it stands for the empty rule.
    """

    def __init__(self, sample: Sample) -> None:
        self._X = sample.instances("a rule's scope")
        self._n = len(sample)
        self._room = max(64, PREDICATE_BYTES // (8 * max(1, n_words(self._n))))
        self._row: dict[Predicate, int] = {}
        self._index: dict[str, dict[str, list[int]]] = {}
        self.bits = ones(self._n)[None, :]

    def place(self, rules: Sequence[Rule]) -> NDArray[np.intp]:
        """Return the rows of each rule's predicates, for as many rules as there is room for."""
        placed: list[list[Any]] = []
        for rule in rules:
            rows = list(map(self._row.get, rule.predicates))
            if None in rows:
                full = len(self._row) + rows.count(None) > self._room
                if full and placed:
                    break
                if full:
                    self._row.clear()
                    self.bits = self.bits[:1]
                rows = [self._row.setdefault(predicate, len(self._row) + 1) for predicate in rule.predicates]
            placed.append(rows)
        self._fill()
        return _lines(placed)

    def _fill(self) -> None:
        """Compute the bitsets of predicates that have a row and no bits yet."""
        new = list(self._row)[len(self.bits) - 1 :]
        if not new:
            return
        fresh = np.empty((len(new), self.bits.shape[1]), dtype=np.uint64)
        sources: dict[Hashable, list[int]] = {}
        for i, predicate in enumerate(new):
            sources.setdefault(_source(predicate), []).append(i)
        columns = list(sources.values())

        def make(start: int, stop: int) -> None:
            for places in columns[start:stop]:
                fresh[places] = self._make([new[i] for i in places])

        try:
            each_block(make, len(columns), 1)
        except BaseException:
            for predicate in new:  # a rule that cannot be asked must not spoil the sample for others
                del self._row[predicate]
            raise
        self.bits = np.concatenate([self.bits, fresh])

    def _make(self, predicates: list[Any]) -> list[Bits]:
        """Return the bitsets of predicates that read the same: a column is read once for all of them."""
        first = predicates[0]
        if isinstance(first, Contains):
            rows = self._rows_with(first.tokenizer)
            masks = (self._mask(rows.get(p.token, [])) for p in predicates)
        else:
            values = first.read(self._X)
            masks = (p.takes(values) for p in predicates)
        return [pack_bits(mask[None, :])[0] for mask in masks]

    def _mask(self, rows: list[int]) -> NDArray[np.bool_]:
        mask = np.zeros(self._n, dtype=bool)
        mask[rows] = True
        return mask

    def _rows_with(self, tokenizer: str) -> dict[str, list[int]]:
        """Return the rows of every token: texts are split once, whatever the number of rules."""
        if tokenizer not in self._index:
            index: dict[str, list[int]] = {}
            for row, text in enumerate(texts(self._X)):
                for token in set(tokens(text, tokenizer)) if isinstance(text, str) else ():
                    index.setdefault(token, []).append(row)
            self._index[tokenizer] = index
        return self._index[tokenizer]
