"""The relation `in-scope`: a rule holds for the instances that it covers. Its control draws random rules.

A control rule has as many conditions as the rule, true of the row, and chosen without the model. A condition
on a number is a window of neighbouring values, which has the row's own and covers about as many rows as the
condition it replaces. A condition on a category is the row's category, preferably one that covers about as
many rows. A rule about words gets other words of the same text.
"""

import math
from collections.abc import Sequence
from functools import cached_property
from itertools import chain
from typing import Any

import attrs
import numpy as np
import pandas as pd
from numpy.typing import NDArray

from faithkit.arrays import BATCH_SIZE, Floats, Ints, divide_safely
from faithkit.arrays.batches import spans
from faithkit.arrays.bitsets import popcount
from faithkit.arrays.row_random import row_uniforms, uniforms_at
from faithkit.errors import InputError
from faithkit.explanations.explanations import Explanations, Sample
from faithkit.explanations.predicates import (
    Contains,
    Interval,
    OneOf,
    Predicate,
    check_texts,
    read_rule_column,
    tokenize,
)
from faithkit.explanations.relations import Relation
from faithkit.explanations.rules import Rule, scope_bits
from faithkit.explanations.vocabulary import Column
from faithkit.wording import join_words


class InScope(Relation):
    """The instance satisfies every predicate of the rule.

    Examples
    --------
    >>> import faithkit, pandas as pd
    >>> rule = faithkit.Rule([faithkit.Interval("age", high=40)])
    >>> young = faithkit.Explanations.of([rule], kind="rule")
    >>> explanations = faithkit.Explanations.of(["a", "b"])
    >>> sample = faithkit.plugin.Sample(pd.DataFrame({"age": [30, None]}), explanations)
    >>> faithkit.relation("in-scope").holds(sample, young)
    array([[ True, False]])
    """

    name = "in-scope"
    instance_only = True
    states_scope = True
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

    def control(self, sample: Sample, explanations: Explanations, seeds: NDArray[Any]) -> Explanations:
        """Draw as many conditions on other columns, true of the row; or as many other words of its text."""
        rules = draw_rules(sample.once(self._list_rules, explanations), sample, seeds)
        return attrs.evolve(explanations, values=rules, identity=None)

    def _list_rules(self, sample: Sample, explanations: Explanations) -> list[Rule]:
        """Return the rules, an empty one for each missing explanation."""
        empty_rule = Rule()
        return [
            empty_rule if is_missing else rule
            for rule, is_missing in zip(self.key(explanations), explanations.missing, strict=True)
        ]


MAX_WINDOWS = 20  # windows of a numeric column start and end at these quantiles
SIMILAR = 2.0  # two coverages are similar up to this factor

Seeds = NDArray[np.uint32]
_Rules = Sequence[Rule]


def draw_rules(rules: _Rules, sample: Sample, seeds: Seeds) -> NDArray[Any]:
    """Return a control rule for each row of the sample, whose rules are given.

    Each row has a rule, the empty rule if it has no explanation, and a seed.

    Examples
    --------
    >>> from faithkit.explanations.explanations import Explanations
    >>> X = pd.DataFrame({"age": [20, 30, 40, 50], "sex": ["f", "m", "f", "m"]})
    >>> rules = [Rule([OneOf("sex", [sex])]) for sex in X["sex"]]
    >>> sample = Sample(X, Explanations.of(rules, kind="rule"))
    >>> [str(rule) for rule in draw_rules(rules, sample, np.arange(4, dtype=np.uint32))]
    ['age ≤ 30', 'age ≤ 30', 'age > 30', 'age > 30']
    """
    if not any(rule.predicates for rule in rules):
        return np.fromiter(rules, dtype=object, count=len(rules))
    is_text = isinstance(sample.instances("a control rule"), list)
    return _draw_words(rules, sample, seeds) if is_text else _draw_conditions(rules, sample, seeds)


# -- rules about columns --


@attrs.frozen(eq=False, slots=False)
class _ControlColumn:
    """The conditions that rows satisfy on one column.

    Attributes
    ----------
    column : Column
    code : (n,) int
        The bin or the category of each row; −1 for a missing value.
    edges : (b + 1,) float, or None
        The share of rows below each bin, for numbers; None for categories.
    limits : list of float
        The limits of the bins.
    categories : sequence
    """

    column: Column
    code: Ints
    edges: Floats | None
    limits: list[float]
    categories: Sequence[Any]

    @cached_property
    def own_share(self) -> Floats:
        """The share of rows with the category of each row, or with its missing value; NaN for other numbers.

        A window of numbers can have any coverage.
        """
        counts = np.bincount(self.code + 1)
        share = counts[self.code + 1] / len(self.code)
        return share if self.edges is None else np.where(self.code < 0, share, np.nan)

    @classmethod
    def of(cls, column: Column, sample: Sample) -> "_ControlColumn":
        """Divide the values of a column."""
        is_number = column.is_numeric and not column.values_by_text  # the texts are those of booleans
        if not is_number:
            codes, categories = pd.factorize(read_rule_column(sample.X, column.name))
            return cls(column, codes.astype(np.int64), None, [], list(categories))
        values = np.asarray(Interval(column.name).read_column(sample.X), dtype=np.float64)
        present = np.sort(values[~np.isnan(values)])
        cuts = np.unique(present)
        if len(cuts) > MAX_WINDOWS:
            shares = np.arange(1, MAX_WINDOWS) / MAX_WINDOWS
            cuts = np.unique(np.quantile(present, shares, method="inverted_cdf"))
        else:
            cuts = cuts[:-1]  # the largest value needs no upper limit
        code = np.where(np.isnan(values), -1, np.searchsorted(cuts, values))
        below = np.searchsorted(present, cuts, side="right")
        edges = np.concatenate([[0], below, [len(present)]]) / len(values)
        return cls(column, code, edges, [-math.inf, *cuts.tolist(), math.inf], [])

    def find_windows(self, rows: Ints, coverage: Floats) -> Ints:
        """Return the first and the last bin of each row's window; for categories they are equal.

        Windows of one coverage divide the column, so that rows with near values share a window.
        """
        code = self.code[rows]
        if self.edges is None:
            return np.column_stack([code, code])
        inside = np.maximum(code, 0)
        middle = (self.edges[inside] + self.edges[inside + 1]) / 2
        start = np.floor(divide_safely(middle, coverage)) * coverage
        start = np.minimum(start, np.maximum(0.0, self.edges[-1] - coverage))
        first = np.minimum(_nearest(self.edges, start), inside)
        last = np.maximum(_nearest(self.edges, start + coverage) - 1, inside)
        return np.where(code[:, None] < 0, -1, np.column_stack([first, last]))

    def predicate(self, first: int, last: int) -> Predicate:
        """Return the condition that a value lies in these bins, or has this category."""
        column = self.column
        if first < 0:
            return OneOf(column.name, [], missing=True)
        if self.edges is None:
            return OneOf(column.name, [self.categories[first]])
        return column.interval(self.limits[first], self.limits[last + 1])


def _nearest(edges: Floats, values: Floats) -> Ints:
    """Return the position of the edge nearest to each value."""
    after = np.searchsorted(edges, values).clip(1, len(edges) - 1)
    return np.where(values - edges[after - 1] <= edges[after] - values, after - 1, after)


@attrs.frozen(eq=False)
class _Conditions:
    """The conditions of all rules of a sample, concatenated, and the columns that could replace them.

    `row` is the row of each condition, `rank` its place in the rule, `own_column` its column (−1 for one that
    is no number, category or date), and `coverage` the share of rows that satisfy it.
    """

    columns: list[_ControlColumn]
    row: Ints
    rank: Ints
    own_column: Ints
    coverage: Floats

    @classmethod
    def of(cls, sample: Sample, rules: _Rules) -> "_Conditions":
        """Read the rules; a rule has at most as many conditions as there are columns."""
        X = sample.X
        names = list(X.columns) if isinstance(X, pd.DataFrame) else range(X.shape[1])
        known_columns = (Column.of(name, read_rule_column(X, name)) for name in names)
        columns = [_ControlColumn.of(column, sample) for column in known_columns if column is not None]
        if not columns:
            raise InputError("no column has numbers, categories or dates for conditions of a control rule")
        position_by_name = {control.column.name: position for position, control in enumerate(columns)}
        conditions = [rule.predicates[: len(columns)] for rule in rules]
        row, rank = _enumerate_conditions(conditions)
        replaced: list[Any] = list(chain.from_iterable(conditions))
        own_column = np.array([position_by_name.get(condition.column, -1) for condition in replaced])
        return cls(columns, row, rank, own_column, _coverage(replaced, sample))


def _draw_conditions(rules: _Rules, sample: Sample, seeds: Seeds) -> NDArray[Any]:
    conditions = sample.once(_Conditions.of, rules)
    columns, row, rank = conditions.columns, conditions.row, conditions.rank
    chosen_columns = _choose_columns(conditions, seeds)[row, rank]
    codes = np.empty((len(row), 3), dtype=np.int64)
    for position in np.unique(chosen_columns).tolist():
        pairs = np.flatnonzero(chosen_columns == position)
        codes[pairs, 0] = position
        codes[pairs, 1:] = columns[position].find_windows(row[pairs], conditions.coverage[pairs])
    distinct, number = np.unique(codes, axis=0, return_inverse=True)
    predicates = [columns[column].predicate(first, last) for column, first, last in distinct.tolist()]
    return _build_rules(len(rules), row, rank, number.ravel(), predicates)


def _choose_columns(conditions: _Conditions, seeds: Seeds) -> Ints:
    """Return columns in random order for each row, as many as rules need.

    Columns come first whose condition can cover about as many rows as those of the rule, then the others,
    then those that the rule names. Last come values that no other row has: nothing could be checked by them.
    """
    row, own, columns, n = conditions.row, conditions.own_column, conditions.columns, len(seeds)
    width = int(np.bincount(row).max())
    n_conditions = np.maximum(np.bincount(row, minlength=n), 1)
    coverage = np.exp(np.bincount(row, np.log(np.maximum(conditions.coverage, 1 / n)), n) / n_conditions)
    chosen_columns = np.empty((n, width), dtype=np.int64)
    for start, stop in spans(n, BATCH_SIZE // len(columns)):
        keys = row_uniforms(seeds[start:stop], len(columns))
        share = np.column_stack([column.own_share[start:stop] for column in columns])
        ratios = share / coverage[start:stop, None]
        keys += (ratios < 1 / SIMILAR) | (ratios > SIMILAR)
        pairs = slice(*np.searchsorted(row, [start, stop]))
        is_known = own[pairs] >= 0
        keys[row[pairs][is_known] - start, own[pairs][is_known]] += 2.0
        keys += 4.0 * (share * n < 1.5)
        first = np.argpartition(keys, min(width, len(columns) - 1), axis=1)[:, :width]
        order = np.argsort(np.take_along_axis(keys, first, axis=1), axis=1)
        chosen_columns[start:stop] = np.take_along_axis(first, order, axis=1)
    return chosen_columns


def _coverage(predicates: Sequence[Predicate], sample: Sample) -> Floats:
    """Return the share of rows that satisfy each predicate."""
    distinct = list(dict.fromkeys(predicates))
    counts = popcount(scope_bits([Rule([predicate]) for predicate in distinct], sample))
    share_by_predicate = dict(zip(distinct, counts / len(sample), strict=True))
    return np.array([share_by_predicate[predicate] for predicate in predicates])


# -- rules about words --


@attrs.frozen(eq=False)
class _Words:
    """The distinct words of all texts, one text after the other.

    `row` is the row of each word, `number` its number in the vocabulary, and `is_own` whether the row's rule
    names it. A rule has `sizes` words.
    """

    vocabulary: list[Contains]
    row: Ints
    number: Ints
    is_own: NDArray[np.bool_]
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
        return cls([Contains(word, tokenizer) for word in vocabulary], row, numbers, is_own, sizes)


def _draw_words(rules: _Rules, sample: Sample, seeds: Seeds) -> NDArray[Any]:
    words = sample.once(_Words.of, rules)
    row = words.row
    position = np.arange(len(row)) - np.searchsorted(row, row)
    # the rule's own words come last
    order = np.lexsort((uniforms_at(seeds[row], position), words.is_own, row))
    is_chosen = position < words.sizes[row]  # the first words of each text in that order
    numbers = words.number[order][is_chosen]
    return _build_rules(len(rules), row[is_chosen], position[is_chosen], numbers, words.vocabulary)


# -- both --


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
