"""The relation `in-scope`: a rule holds for the instances that it covers.

The control of a rule about words has as many other words of the same text, each about as frequent as those of
the rule. A text without such words has no control. For rules about columns the kernel draws scopes.
"""

import math
from collections.abc import Sequence
from itertools import chain
from typing import Any

import attrs
import numpy as np
from numpy.typing import NDArray

from faithkit.arrays import Ints
from faithkit.arrays.row_random import uniforms_at
from faithkit.errors import InputError
from faithkit.explanations.explanations import Explanations, Sample
from faithkit.explanations.predicates import (
    Contains,
    Predicate,
    check_texts,
    tokenize,
)
from faithkit.explanations.relations import Relation
from faithkit.explanations.rules import Rule, scope_bits
from faithkit.wording import join_words


class InScope(Relation):
    """The instance satisfies every predicate of the rule.

    Examples
    --------
    >>> import faithkit, pandas as pd
    >>> rule = faithkit.Rule([faithkit.plugin.Interval("age", high=40)])
    >>> young = faithkit.Explanations.of([rule], kind="rule")
    >>> explanations = faithkit.Explanations.of(["a", "b"])
    >>> sample = faithkit.plugin.Sample(pd.DataFrame({"age": [30, None]}), explanations)
    >>> faithkit.relation("in-scope").holds(sample, young)
    array([[ True, False]])
    """

    name = "in-scope"
    instance_only = True
    states_scope = True
    phrase = "rows that satisfy the rule"
    declared_kinds = ("rule",)

    def key(self, explanations: Explanations) -> Any:
        """Return the rules."""
        return explanations.values

    def holds(self, sample: Sample, explanations: Explanations) -> NDArray[np.bool_]:
        """Evaluate every rule on every instance."""
        X = sample.instances("in-scope")
        scopes = [
            np.zeros(len(sample), dtype=bool) if is_missing else rule.covers(X)
            for rule, is_missing in zip(self.key(explanations), explanations.missing, strict=True)
        ]
        return np.array(scopes, dtype=bool).reshape(len(explanations), len(sample))

    def packed(self, sample: Sample, explanations: Explanations) -> NDArray[np.uint64]:
        """Combine one bitset per distinct predicate."""
        return scope_bits(self._list_rules(sample, explanations), sample)

    def control(self, sample: Sample, explanations: Explanations, seeds: NDArray[Any]) -> Explanations | None:
        """Draw as many other words of each text; None where the instances are no texts."""
        if not isinstance(sample.instances("a control rule"), list):
            return None
        rules = sample.once(self._list_rules, explanations)
        if not any(rule.predicates for rule in rules):
            return explanations
        values, has_none = draw_words(rules, sample, seeds)
        return attrs.evolve(
            explanations, values=values, identity=None, missing=explanations.missing | has_none
        )

    def _list_rules(self, sample: Sample, explanations: Explanations) -> list[Rule]:
        """Return the rules, an empty one for each missing explanation."""
        empty_rule = Rule()
        return [
            empty_rule if is_missing else rule
            for rule, is_missing in zip(self.key(explanations), explanations.missing, strict=True)
        ]


SIMILAR = 4.0  # two words are similarly frequent up to this factor

Seeds = NDArray[np.uint32]
_Rules = Sequence[Rule]


@attrs.frozen(eq=False)
class _Words:
    """The distinct words of all texts, one text after the other.

    `row` is the row of each word, `number` its number in the vocabulary, `is_own` whether the row's rule
    names it, and `is_similar` whether it is about as frequent as the words of the rule. A rule has `sizes`
    words.
    """

    vocabulary: list[Contains]
    row: Ints
    number: Ints
    is_own: NDArray[np.bool_]
    is_similar: NDArray[np.bool_]
    sizes: Ints

    @classmethod
    def of(cls, sample: Sample, rules: _Rules) -> "_Words":
        """Split the texts with the tokenizer of the rules."""
        conditions: list[Any] = [rule.predicates for rule in rules]
        tokenizers = sorted({word.tokenizer for word in chain.from_iterable(conditions)})
        if len(tokenizers) > 1:
            raise InputError(f"rules about words of several tokenizers, {join_words(tokenizers)}, have none")
        tokenizer = tokenizers[0]
        texts = check_texts(sample.X)
        words = [sorted(set(tokenize(text, tokenizer))) if isinstance(text, str) else [] for text in texts]
        vocabulary = sorted(set(chain.from_iterable(words)))
        number_by_word = {word: number for number, word in enumerate(vocabulary)}
        row = np.repeat(np.arange(len(words)), [len(text_words) for text_words in words])
        numbers = np.array([number_by_word[word] for word in chain.from_iterable(words)], dtype=np.int64)
        own_row, _ = _enumerate_conditions(conditions)
        own_words = chain.from_iterable(conditions)
        own_number = np.array([number_by_word.get(word.token, -1) for word in own_words], dtype=np.int64)
        n_words = len(vocabulary) + 1  # the last number stands for a word that is in no text
        is_own = np.isin(row * n_words + numbers, own_row * n_words + own_number % n_words)
        sizes = np.array([len(rule_conditions) for rule_conditions in conditions])
        log_counts = np.log(np.maximum(np.bincount(numbers, minlength=n_words), 1))
        own_mean = np.bincount(own_row, log_counts[own_number], len(words)) / np.maximum(sizes, 1)
        is_similar = np.abs(log_counts[numbers] - own_mean[row]) <= math.log(SIMILAR) + 1e-9
        predicates = [Contains(word, tokenizer) for word in vocabulary]
        return cls(predicates, row, numbers, is_own, is_similar, sizes)


def draw_words(rules: _Rules, sample: Sample, seeds: Seeds) -> tuple[NDArray[Any], NDArray[np.bool_]]:
    """Return a control rule for each text, and which texts have too few other words of similar frequency.

    Examples
    --------
    >>> texts = ["good film", "good plot", "a film", "a"]
    >>> rules = [Rule([Contains(word)]) for word in ("good", "good", "film", "a")]
    >>> sample, seeds = Sample(texts, Explanations.of(rules)), np.arange(4, dtype=np.uint32)
    >>> drawn, has_none = draw_words(rules, sample, seeds)
    >>> [rule.predicates[0].token for rule in drawn[:3]], has_none
    (['film', 'plot', 'a'], array([False, False, False,  True]))
    """
    words = sample.once(_Words.of, rules)
    candidates = np.flatnonzero(words.is_similar & ~words.is_own)
    row = words.row[candidates]
    position = candidates - np.searchsorted(words.row, row)  # of the word in its text
    order = np.lexsort((uniforms_at(seeds[row], position), row))
    rank = np.arange(len(row)) - np.searchsorted(row, row)
    has_none = np.bincount(row, minlength=len(rules)) < words.sizes
    is_chosen = rank < words.sizes[row]  # the first words of each text in that order
    numbers = words.number[candidates[order]][is_chosen]
    return _build_rules(len(rules), row[is_chosen], rank[is_chosen], numbers, words.vocabulary), has_none


def _enumerate_conditions(conditions: Sequence[Sequence[Predicate]]) -> tuple[Ints, Ints]:
    """Return the row of each condition, and its rank among the conditions of its row."""
    sizes = np.array([len(rule_conditions) for rule_conditions in conditions], dtype=np.int64)
    row = np.repeat(np.arange(len(sizes)), sizes)
    return row, np.arange(len(row)) - np.repeat(np.cumsum(sizes) - sizes, sizes)


def _build_rules(
    n: int, row: Ints, rank: Ints, number: Ints, predicates: Sequence[Predicate]
) -> NDArray[Any]:
    """Return the rule of each row from the numbers of its predicates; equal rules are one object."""
    table = np.full((n, int(rank.max(initial=0)) + 1), -1)
    table[row, rank] = number
    distinct, rule_number = np.unique(np.sort(table, axis=1), axis=0, return_inverse=True)
    rules = [Rule([predicates[i] for i in numbers if i >= 0]) for numbers in distinct.tolist()]
    return np.fromiter(rules, dtype=object, count=len(rules))[rule_number.ravel()]
