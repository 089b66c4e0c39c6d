"""What the background says for a rule: how many rows it covers, and how many of these agree with an instance.

Labels are equal or not, so rows are counted by label. Numbers agree that are near; with the rows in the order
of their predictions those near one are a range, and all ranges are read off the same running counts.
"""

from collections.abc import Sequence
from typing import Any, Protocol

import numpy as np
from numpy.typing import NDArray

import faithkit
from faithkit_scoped_rules.vocabulary import NONE

Conjunction = tuple[int, ...]
Ints = NDArray[np.int64]
Bits = NDArray[np.uint64]
CACHE_BYTES = 256 * 2**20
WORD = 64  # bits


class Evidence(Protocol):
    """Counts in the background; `keys` say what an instance's prediction agrees with."""

    def keys(self, predictions: NDArray[Any]) -> Ints:
        """Return what each prediction agrees with, in whole numbers: (n, width)."""

    def alone(self, keys: Ints) -> Ints:
        """Count the rows that agree, whatever the rule."""

    def extended(self, parents: Sequence[Conjunction], keys: Ints, words: Ints) -> tuple[Ints, Ints]:
        """Count the rows that agree, and all, where a conjunction is extended by each of some predicates.

        Parameters
        ----------
        parents : conjunctions
        keys : (conjunctions, width)
        words : (conjunctions, slots)
            The predicates to add; what is counted for `NONE` means nothing.

        Returns
        -------
        agreeing, covered : (conjunctions, slots)
        """


def evidence(
    predicates: Sequence[Any],
    background: Any,
    predictions: NDArray[Any],
    tolerance: faithkit.plugin.Tolerance,
) -> Evidence:
    """Count in a background, by label or by nearness.

    Examples
    --------
    >>> X = np.array([[1.0], [2.0], [3.0]])
    >>> small = [faithkit.Interval(0, high=2.5)]
    >>> found = evidence(small, X, np.array([0.5, 9.5, 0.75]), faithkit.plugin.Tolerance(within=0.25))
    >>> keys = found.keys(np.array([0.5]))
    >>> found.alone(keys), found.extended([()], keys, np.array([[0]]))
    (array([2]), (array([[1]]), array([[2]])))
    """
    single = [faithkit.Rule([predicate]) for predicate in predicates]
    if tolerance.within is None:
        return ByLabel(_bits(single, background), predictions)
    order = np.argsort(predictions, kind="stable")
    bits = _bits(single, faithkit.plugin.take_rows(background, order))
    return ByNearness(bits, predictions[order], tolerance)


def _bits(rules: Sequence[faithkit.Rule], rows: Any) -> Bits:
    return faithkit.plugin.scope_bits(
        rules, faithkit.plugin.Sample(rows, faithkit.Explanations.of([0] * faithkit.plugin.n_rows(rows)))
    )


class ByLabel:
    """How many background rows of each label a conjunction covers, together with each further predicate."""

    def __init__(self, bits: Bits, predictions: NDArray[Any]) -> None:
        self.labels, codes = np.unique(predictions, return_inverse=True)
        self.bits = bits
        self.label_bits = faithkit.plugin.pack_bits(np.arange(len(self.labels))[:, None] == codes[None, :])
        self.of_label = np.bincount(codes, minlength=len(self.labels))
        self._known: dict[Conjunction, NDArray[np.int32]] = {}
        self._room = max(1, CACHE_BYTES // max(1, 4 * len(bits) * len(self.labels)))

    def keys(self, predictions: NDArray[Any]) -> Ints:
        """Give labels the background's numbers; one that it lacks agrees with nothing there."""
        known = {label: i for i, label in enumerate(self.labels.tolist())}
        return np.array([known.get(label, NONE) for label in predictions.tolist()], dtype=np.int64)[:, None]

    def alone(self, keys: Ints) -> Ints:
        """Count the rows of each label."""
        return np.where(keys[:, 0] == NONE, 0, self.of_label[keys[:, 0]])

    def extended(self, parents: Sequence[Conjunction], keys: Ints, words: Ints) -> tuple[Ints, Ints]:
        """Look up what was counted, whoever asked."""
        distinct = {parent: i for i, parent in enumerate(dict.fromkeys(parents))}
        tables = np.stack([self._with_each(parent) for parent in distinct])
        row = np.array([distinct[parent] for parent in parents])
        found = tables[row[:, None], words]  # (asked, slots, labels)
        agree = np.take_along_axis(found, np.maximum(keys, 0)[:, :, None], axis=2)[..., 0]
        return np.where(keys == NONE, 0, agree), found.sum(axis=2)

    def _with_each(self, conjunction: Conjunction) -> NDArray[np.int32]:
        """Return counts (predicates, labels) of the conjunction extended by every predicate."""
        found = self._known.get(conjunction)
        if found is None:
            covered = _covered(self.bits, conjunction)
            found = faithkit.plugin.count_labels(covered, self.label_bits, partition=True).astype(np.int32)
            if len(self._known) >= self._room:
                self._known.clear()
            self._known[conjunction] = found
        return found


class ByNearness:
    """How many background rows with a prediction near an instance's a conjunction covers.

    The rows, and with them the bits, are in the order of their predictions.
    """

    def __init__(
        self, bits: Bits, predictions: NDArray[np.float64], tolerance: faithkit.plugin.Tolerance
    ) -> None:
        self.bits, self.predictions, self.tolerance = bits, predictions, tolerance
        self.first = faithkit.plugin.pack_bits(np.arange(WORD)[None, :] < np.arange(WORD)[:, None])[:, 0]

    def keys(self, predictions: NDArray[Any]) -> Ints:
        """Return the range of rows whose predictions are near each."""
        reach = self.tolerance.reach(predictions, predictions)
        starts = np.searchsorted(self.predictions, predictions - reach)
        return np.column_stack([starts, np.searchsorted(self.predictions, predictions + reach, side="right")])

    def alone(self, keys: Ints) -> Ints:
        """Count the rows of each range."""
        return keys[:, 1] - keys[:, 0]

    def extended(self, parents: Sequence[Conjunction], keys: Ints, words: Ints) -> tuple[Ints, Ints]:
        """Count up to every row once for each conjunction, and read both ends of all ranges off that."""
        agree, covered = np.empty(words.shape, dtype=np.int64), np.empty(words.shape, dtype=np.int64)
        asked: dict[Conjunction, list[int]] = {}
        for place, parent in enumerate(parents):
            asked.setdefault(parent, []).append(place)
        for parent, places in asked.items():
            held = _covered(self.bits, parent)
            sums = np.zeros((len(held), held.shape[1] + 1), dtype=np.int64)
            np.cumsum(np.bitwise_count(held), axis=1, out=sums[:, 1:])
            chosen = words[places]
            low, high = (self._before(held, sums, chosen, ends[:, None]) for ends in keys[places].T)
            agree[places], covered[places] = high - low, sums[chosen, -1]
        return agree, covered

    def _before(self, held: Bits, sums: Ints, words: Ints, row: Ints) -> Ints:
        """Count the rows before each row that predicates hold for."""
        word, bit = np.divmod(row, WORD)
        last = np.minimum(word, held.shape[1] - 1)  # a range may end where the last word does
        part = np.bitwise_count(held[words, last] & self.first[bit])
        return sums[words, word] + part


def _covered(bits: Bits, conjunction: Conjunction) -> Bits:
    """Return what each predicate covers together with a conjunction."""
    if not conjunction:
        return bits
    return bits & np.bitwise_and.reduce(bits[list(conjunction)], axis=0)
