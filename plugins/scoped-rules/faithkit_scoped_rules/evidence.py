"""Count how many rows of the background a rule covers, and how many of these agree with an instance.

Labels agree if they are equal, so rows are counted by label. Numbers agree if they are near each other. With
the rows sorted by prediction, the rows near an instance are a range, and cumulative counts give all ranges.
Confidence bounds of a share use the Kullback–Leibler divergence.
"""

from collections.abc import Sequence
from typing import Any, Protocol

import numpy as np
from numpy.typing import NDArray

import faithkit
from faithkit_scoped_rules.predicate_vocabulary import NONE

Floats = NDArray[np.float64]
ITERATIONS = 30  # of bisection: the bound is then known to a billionth
Conjunction = tuple[int, ...]
Ints = NDArray[np.int64]
Bits = NDArray[np.uint64]
CACHE_BYTES = 256 * 2**20
WORD = 64  # bits


def divergence(p: Floats, q: Floats) -> Floats:
    """Return KL(p ‖ q) of two coins, elementwise.

    Examples
    --------
    >>> divergence(np.array([0.5, 1.0]), np.array([0.5, 0.5])).round(4)
    array([0.    , 0.6931])
    """
    with np.errstate(divide="ignore", invalid="ignore"):
        ones = np.where(p > 0, p * np.log(p / q), 0.0)
        zeros = np.where(p < 1, (1 - p) * np.log((1 - p) / (1 - q)), 0.0)
    return ones + zeros


def lower_bound(successes: NDArray[np.int64], trials: NDArray[np.int64], level: float) -> Floats:
    """Return the smallest q ≤ successes/trials with trials · KL(p ‖ q) ≤ level; 0 without trials.

    Examples
    --------
    >>> lower_bound(np.array([10, 100, 0]), np.array([10, 100, 0]), level=3.0).round(3)
    array([0.741, 0.97 , 0.   ])
    """
    p = np.divide(successes, trials, out=np.zeros(np.shape(trials)), where=np.asarray(trials) > 0)
    room = level / np.maximum(trials, 1)
    low, high = np.zeros_like(p), p.copy()
    for _ in range(ITERATIONS):
        middle = (low + high) / 2
        outside = divergence(p, middle) > room
        low, high = np.where(outside, middle, low), np.where(outside, high, middle)
    return low


class Evidence(Protocol):
    """Counts in the background; a key stands for the rows that agree with a prediction."""

    def keys(self, predictions: NDArray[Any]) -> Ints:
        """Return the key of each prediction, in whole numbers: (n, width)."""

    def count_agreeing(self, keys: Ints) -> Ints:
        """Count the rows of the background that agree with each key."""

    def count_extensions(
        self, parents: Sequence[Conjunction], keys: Ints, predicates: Ints
    ) -> tuple[Ints, Ints]:
        """Count the rows that each conjunction covers together with each further predicate.

        Parameters
        ----------
        parents : conjunctions
        keys : (conjunctions, width)
        predicates : (conjunctions, slots)
            The predicates to add; counts for `NONE` are meaningless.

        Returns
        -------
        agreeing, covered : (conjunctions, slots)
            The covered rows that agree, and all covered rows.
        """


def build_evidence(
    predicates: Sequence[Any],
    background: Any,
    predictions: NDArray[Any],
    tolerance: faithkit.plugin.Tolerance,
) -> Evidence:
    """Prepare counts in a background, by label, or by nearness for numbers.

    Examples
    --------
    >>> X = np.array([[1.0], [2.0], [3.0]])
    >>> small = [faithkit.plugin.Interval(0, high=2.5)]
    >>> tolerance = faithkit.plugin.Tolerance(within=0.25)
    >>> evidence = build_evidence(small, X, np.array([0.5, 9.5, 0.75]), tolerance)
    >>> keys = evidence.keys(np.array([0.5]))
    >>> evidence.count_agreeing(keys), evidence.count_extensions([()], keys, np.array([[0]]))
    (array([2]), (array([[1]]), array([[2]])))
    """
    rules = [faithkit.Rule([predicate]) for predicate in predicates]
    if tolerance.within is None:
        return ByLabel(_pack_scopes(rules, background), predictions)
    order = np.argsort(predictions, kind="stable")
    bits = _pack_scopes(rules, faithkit.plugin.take_rows(background, order))
    return ByNearness(bits, predictions[order], tolerance)


def _pack_scopes(rules: Sequence[faithkit.Rule], rows: Any) -> Bits:
    return faithkit.plugin.scope_bits(
        rules, faithkit.plugin.Sample(rows, faithkit.Explanations.of([0] * faithkit.plugin.n_rows(rows)))
    )


class ByLabel:
    """Counts of background rows by label."""

    def __init__(self, bits: Bits, predictions: NDArray[Any]) -> None:
        self.labels, codes = np.unique(predictions, return_inverse=True)
        self.bits = bits
        self.label_bits = faithkit.plugin.pack_bits(np.arange(len(self.labels))[:, None] == codes[None, :])
        self.label_counts = np.bincount(codes, minlength=len(self.labels))
        self._cache: dict[Conjunction, NDArray[np.int32]] = {}
        self._cache_size = max(1, CACHE_BYTES // max(1, 4 * len(bits) * len(self.labels)))

    def keys(self, predictions: NDArray[Any]) -> Ints:
        """Return the codes of labels; a label that the background does not have agrees with no row."""
        codes = {label: code for code, label in enumerate(self.labels.tolist())}
        return np.array([codes.get(label, NONE) for label in predictions.tolist()], dtype=np.int64)[:, None]

    def count_agreeing(self, keys: Ints) -> Ints:
        """Count the rows of each label."""
        return np.where(keys[:, 0] == NONE, 0, self.label_counts[keys[:, 0]])

    def count_extensions(
        self, parents: Sequence[Conjunction], keys: Ints, predicates: Ints
    ) -> tuple[Ints, Ints]:
        """Count for each distinct conjunction once, and look the counts up."""
        distinct = {parent: i for i, parent in enumerate(dict.fromkeys(parents))}
        tables = np.stack([self._count_with_each(parent) for parent in distinct])
        row = np.array([distinct[parent] for parent in parents])
        counts = tables[row[:, None], predicates]  # (conjunctions, slots, labels)
        agreeing = np.take_along_axis(counts, np.maximum(keys, 0)[:, :, None], axis=2)[..., 0]
        return np.where(keys == NONE, 0, agreeing), counts.sum(axis=2)

    def _count_with_each(self, conjunction: Conjunction) -> NDArray[np.int32]:
        """Return counts (predicates, labels) of the conjunction together with each predicate."""
        counts = self._cache.get(conjunction)
        if counts is None:
            scopes = _extend_scopes(self.bits, conjunction)
            counts = faithkit.plugin.count_labels(scopes, self.label_bits, partition=True).astype(np.int32)
            if len(self._cache) >= self._cache_size:
                self._cache.clear()
            self._cache[conjunction] = counts
        return counts


class ByNearness:
    """Counts of background rows whose prediction is near that of an instance.

    The rows, and with them the bits, are sorted by prediction.
    """

    def __init__(
        self, bits: Bits, predictions: NDArray[np.float64], tolerance: faithkit.plugin.Tolerance
    ) -> None:
        self.bits, self.predictions, self.tolerance = bits, predictions, tolerance
        self.masks = faithkit.plugin.pack_bits(np.arange(WORD)[None, :] < np.arange(WORD)[:, None])[:, 0]

    def keys(self, predictions: NDArray[Any]) -> Ints:
        """Return the range of rows whose predictions are near each prediction: start and stop."""
        reach = self.tolerance.reach(predictions, predictions)
        starts = np.searchsorted(self.predictions, predictions - reach)
        return np.column_stack([starts, np.searchsorted(self.predictions, predictions + reach, side="right")])

    def count_agreeing(self, keys: Ints) -> Ints:
        """Count the rows of each range."""
        return keys[:, 1] - keys[:, 0]

    def count_extensions(
        self, parents: Sequence[Conjunction], keys: Ints, predicates: Ints
    ) -> tuple[Ints, Ints]:
        """Compute cumulative counts once for each conjunction, and subtract them at the ends of ranges."""
        agreeing, n_in_scope = (np.empty(predicates.shape, dtype=np.int64) for _ in range(2))
        positions_by_parent: dict[Conjunction, list[int]] = {}
        for position, parent in enumerate(parents):
            positions_by_parent.setdefault(parent, []).append(position)
        for parent, positions in positions_by_parent.items():
            bits = _extend_scopes(self.bits, parent)
            sums = np.zeros((len(bits), bits.shape[1] + 1), dtype=np.int64)
            np.cumsum(np.bitwise_count(bits), axis=1, out=sums[:, 1:])
            added = predicates[positions]
            low, high = (self._count_before(bits, sums, added, ends[:, None]) for ends in keys[positions].T)
            agreeing[positions], n_in_scope[positions] = high - low, sums[added, -1]
        return agreeing, n_in_scope

    def _count_before(self, bits: Bits, sums: Ints, predicates: Ints, row: Ints) -> Ints:
        """Count the covered rows before each row."""
        word, bit = np.divmod(row, WORD)
        last_word = np.minimum(word, bits.shape[1] - 1)  # a range may end where the last word does
        return sums[predicates, word] + np.bitwise_count(bits[predicates, last_word] & self.masks[bit])


def _extend_scopes(bits: Bits, conjunction: Conjunction) -> Bits:
    """Return the rows that each predicate covers together with a conjunction."""
    if not conjunction:
        return bits
    return bits & np.bitwise_and.reduce(bits[list(conjunction)], axis=0)
