"""Rules: conjunctions of predicates, and the instances that they cover.

A rule is canonical (one region has one form), hashable, readable, and has a JSON form. Every distinct
predicate becomes one packed bitset per sample, so each of thousands of rules costs a few bit operations.
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

from faithkit.arrays.batches import each_batch
from faithkit.arrays.bitsets import BATCH_WORDS, Bits, n_words, ones, pack_bits
from faithkit.arrays.containers import Rows, n_rows
from faithkit.errors import InputError
from faithkit.explanations.explanations import Sample
from faithkit.explanations.predicates import (
    Contains,
    Interval,
    NoneOf,
    OneOf,
    Predicate,
    check_texts,
    predicate_from_json,
    tokenize,
)
from faithkit.renamed import SaysNewNames
from faithkit.wording import describe

PREDICATE_BYTES = 256 * 2**20  # bitsets kept per sample; when they are full, all are dropped


def _canonical(predicates: Iterable[Predicate]) -> tuple[Predicate, ...]:
    """Merge predicates on the same column and sort all, so that equal rules compare equal."""
    merged: dict[Hashable, Any] = {}
    for predicate in predicates:
        if isinstance(predicate, Contains):
            merged[predicate] = predicate
            continue
        key = (predicate.op, predicate.column)
        merged[key] = merged[key].meet(predicate) if key in merged else predicate
    for excluded in [predicate for predicate in merged.values() if isinstance(predicate, NoneOf)]:
        included = merged.get((OneOf.op, excluded.column))
        if included is not None:  # excluded values that are not included change nothing
            del merged[excluded.op, excluded.column]
            values = [value for value in included.values if value not in excluded.values]
            missing = included.missing and excluded.missing
            merged[included.op, included.column] = OneOf(included.column, values, missing=missing)
    return tuple(sorted(filterfalse(_is_always_true, merged.values()), key=_sort_key))


def _is_always_true(predicate: Predicate) -> bool:
    if isinstance(predicate, NoneOf):
        return predicate.missing and not predicate.values
    if isinstance(predicate, Interval):
        return predicate.missing and (predicate.low, predicate.high) == (-math.inf, math.inf)
    return False


def _sort_key(predicate: Predicate) -> tuple[Any, ...]:
    if isinstance(predicate, Contains):
        return (1, "", predicate.token, predicate.tokenizer)
    return (0, type(predicate.column).__name__, predicate.column, predicate.op)


@attrs.frozen(order=False, cache_hash=True)
class Rule(metaclass=SaysNewNames):
    """A conjunction of predicates; the empty rule covers all instances.

    Examples
    --------
    >>> import pandas as pd
    >>> from faithkit.plugin import OneOf
    >>> rule = Rule([Interval("age", high=40), OneOf("sex", ["Male"]), Interval("age", low=20)])
    >>> print(rule)
    20 < age ≤ 40 and sex = Male
    >>> Rule.from_json(rule.to_json()) == rule
    True
    >>> rule.covers(pd.DataFrame({"age": [30, 50], "sex": ["Male", "Male"]}))
    array([ True, False])
    """

    predicates: tuple[Predicate, ...] = attrs.field(default=(), converter=_canonical)

    def covers(self, X: Rows) -> NDArray[np.bool_]:
        """Return which rows of X satisfy every predicate."""
        everything = np.ones(n_rows(X), dtype=bool)
        return reduce(np.logical_and, (predicate.mask(X) for predicate in self.predicates), everything)

    def to_json(self) -> list[dict[str, Any]]:
        """Return the rule as a JSON value: a list of predicates."""
        return [predicate.to_json() for predicate in self.predicates]

    @classmethod
    def from_json(cls, value: Any) -> "Rule":
        """Rebuild a rule from its JSON value, or from that value as text."""
        is_text = isinstance(value, str | bytes)
        try:
            parsed = json.loads(value) if is_text else value
            if not isinstance(parsed, list):
                raise InputError(f"a rule in JSON form is a list of predicates, got {parsed!r:.60}.")
            return cls([predicate_from_json(item) for item in parsed])
        except InputError:
            raise
        except (ValueError, RecursionError) as error:  # not JSON, or nested too deeply
            excerpt = f"{value!r:.60} " if is_text else ""
            raise InputError(f"no rule in JSON form: {excerpt}({describe(error)}).") from None

    def __str__(self) -> str:
        return format(self)

    def __format__(self, spec: str) -> str:
        """Format the rule and its limits; by default with all digits, so that nothing is lost."""
        return " and ".join(format(predicate, spec) for predicate in self.predicates) or "always"


def scope_bits(rules: Sequence[Rule], sample: Sample) -> Bits:
    """Return which instances each rule covers, as packed bits; the relation `in-scope` uses it.

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
        index = table.find_rows(rules[start:])
        _conjoin(table.bits, index, bits[start : start + len(index)])
        start += len(index)
    return bits


def _conjoin(table: Bits, index: NDArray[np.intp], out: Bits) -> None:
    """Intersect the rows of the table that each row of the index lists; row 0 has all bits set."""

    def conjoin(start: int, stop: int) -> None:
        batch, buffer = out[start:stop], np.empty_like(out[start:stop])
        first, *rest = index[start:stop].T
        np.take(table, first, axis=0, out=batch, mode="clip")  # no buffered copy
        for column in rest:
            rows = np.flatnonzero(column)
            if len(rows) == len(column):
                batch &= np.take(table, column, axis=0, out=buffer, mode="clip")
            else:
                batch[rows] &= table[column[rows]]

    each_batch(conjoin, len(out), BATCH_WORDS // max(1, table.shape[1]))


def _pad_rows(rows: list[list[int]]) -> NDArray[np.intp]:
    """Return lists of row numbers as one matrix, padded with zeros."""
    lengths = np.fromiter(map(len, rows), dtype=np.intp, count=len(rows))
    index = np.zeros((len(rows), max(1, lengths.max(initial=1))), dtype=np.intp)
    index[np.arange(index.shape[1]) < lengths[:, None]] = np.fromiter(
        chain.from_iterable(rows), dtype=np.intp
    )
    return index


def _source(predicate: Predicate) -> Hashable:
    """Return a key for the column or the tokens that a predicate reads."""
    source = predicate.tokenizer if isinstance(predicate, Contains) else predicate.column
    return predicate.op, source


class _PredicateTable:
    """A cache of one packed bitset per predicate on a sample, of bounded size.

    Row 0 has all bits set, for the empty rule.
    """

    def __init__(self, sample: Sample) -> None:
        self._X = sample.instances("a rule's scope")
        self._n = len(sample)
        self._capacity = max(64, PREDICATE_BYTES // (8 * max(1, n_words(self._n))))
        self._row_by_predicate: dict[Predicate, int] = {}
        self._rows_by_tokenizer: dict[str, dict[str, list[int]]] = {}
        self.bits = ones(self._n)[None, :]

    def find_rows(self, rules: Sequence[Rule]) -> NDArray[np.intp]:
        """Return the table rows of the predicates of each rule, for as many rules as fit."""
        rows_by_rule: list[list[Any]] = []
        for rule in rules:
            rows = list(map(self._row_by_predicate.get, rule.predicates))
            if None in rows:
                is_full = len(self._row_by_predicate) + rows.count(None) > self._capacity
                if is_full and rows_by_rule:
                    break
                if is_full:
                    self._row_by_predicate.clear()
                    self.bits = self.bits[:1]
                new_row = self._row_by_predicate.setdefault
                rows = [new_row(predicate, len(self._row_by_predicate) + 1) for predicate in rule.predicates]
            rows_by_rule.append(rows)
        self._fill()
        return _pad_rows(rows_by_rule)

    def _fill(self) -> None:
        """Compute the bitsets of predicates that have a row but no bits yet."""
        new = list(self._row_by_predicate)[len(self.bits) - 1 :]
        if not new:
            return
        new_bits = np.empty((len(new), self.bits.shape[1]), dtype=np.uint64)
        positions_by_source: dict[Hashable, list[int]] = {}
        for position, predicate in enumerate(new):
            positions_by_source.setdefault(_source(predicate), []).append(position)
        position_groups = list(positions_by_source.values())

        def compute(start: int, stop: int) -> None:
            for positions in position_groups[start:stop]:
                new_bits[positions] = self._compute_bits([new[position] for position in positions])

        try:
            each_batch(compute, len(position_groups), 1)
        except BaseException:
            for predicate in new:  # a rule that fails must not break other rules on this sample
                del self._row_by_predicate[predicate]
            raise
        self.bits = np.concatenate([self.bits, new_bits])

    def _compute_bits(self, predicates: list[Any]) -> list[Bits]:
        """Return the bitsets of predicates on the same column, which is read once."""
        first = predicates[0]
        if isinstance(first, Contains):
            rows_by_token = self._rows_by_token(first.tokenizer)
            masks = (self._to_mask(rows_by_token.get(predicate.token, [])) for predicate in predicates)
        else:
            values = first.read_column(self._X)
            masks = (predicate.satisfied_by(values) for predicate in predicates)
        return [pack_bits(mask[None, :])[0] for mask in masks]

    def _to_mask(self, rows: list[int]) -> NDArray[np.bool_]:
        mask = np.zeros(self._n, dtype=bool)
        mask[rows] = True
        return mask

    def _rows_by_token(self, tokenizer: str) -> dict[str, list[int]]:
        """Return the rows that contain each token; texts are split once for all rules."""
        if tokenizer not in self._rows_by_tokenizer:
            index: dict[str, list[int]] = {}
            for row, text in enumerate(check_texts(self._X)):
                for token in set(tokenize(text, tokenizer)) if isinstance(text, str) else ():
                    index.setdefault(token, []).append(row)
            self._rows_by_tokenizer[tokenizer] = index
        return self._rows_by_tokenizer[tokenizer]
