"""The permutation test for rows with weights or clusters.

What is exchanged are whole clusters' labels and weights, between clusters of one size: labels alone would
break what ties them to the weights, and rows alone what ties them to their cluster. Both reject truths.
"""

from collections.abc import Iterator
from itertools import islice

import numpy as np

from faithkit.measure.bitsets import get_bits, unpack_bits
from faithkit.measure.blocks import spans
from faithkit.measure.content_words import content_words
from faithkit.measure.estimators import ratio
from faithkit.measure.grouping import mix
from faithkit.measure.inference import agreement
from faithkit.measure.relations import key_of
from faithkit.measure.slots import Counts
from faithkit.measure.sums import Floats
from faithkit.measure.unequal.counting import UnequalCount

AT_ONCE = 32  # permutations for which a relation is asked once
ENTRIES = 2**22  # of an unpacked matrix


def unequal_p_value(counted: UnequalCount, permutations: int, seed: int = 0) -> float | None:
    """Return the one-sided p-value of M; None where no two clusters are of one size.

    Examples
    --------
    >>> from faithkit.measure.explanations import Explanations, Sample
    >>> from faithkit.measure.relations import SameExplanation
    >>> from faithkit.measure.unequal.counting import count_unequal
    >>> from faithkit.measure.unequal.design import Design
    >>> case = np.arange(60) // 2  # thirty of them, each seen twice
    >>> y, design = case % 2, Design.of(None, case, n=60)
    >>> good = count_unequal(SameExplanation(), Sample(None, Explanations.of(y.tolist())), y, 2, design)
    >>> unequal_p_value(good, 99)
    0.01
    """
    order = _content_order(counted)
    unit = counted.design.unit[order]
    size = np.bincount(unit)  # of explained rows: a pool keeps its own labels
    if np.bincount(size[size > 0]).max() < 2:
        return None
    observed, _ = agreement(counted.slots)
    draws = (order[source] for source in _draws(unit, size, permutations, seed))
    means = _Means(counted, order)
    at_least = 0
    while batch := list(islice(draws, AT_ONCE)):
        at_least += sum(mean >= observed - 1e-9 for mean in means.of(batch))
    return (1 + at_least) / (1 + permutations)


def _draws(unit: Counts, size: Counts, permutations: int, seed: int) -> Iterator[Counts]:
    """Yield, for rows whose clusters stand together, which row each gets its label and weight from."""
    rng = np.random.default_rng([-seed, 1] if seed < 0 else seed)
    starts = np.flatnonzero(np.diff(unit, prepend=-1))
    sizes = size[unit[starts]]
    for _ in range(permutations):
        source = np.empty(len(unit), dtype=np.int64)
        for one in np.unique(sizes).tolist():
            mine = starts[sizes == one]
            offset = np.arange(one)
            source[mine[:, None] + offset] = rng.permutation(mine)[:, None] + offset
        yield source


def _content_order(counted: UnequalCount) -> Counts:
    """Put rows in an order of content, cluster by cluster, that the order of rows does not change."""
    n, words = len(counted.place), content_words(key_of(counted.relation, counted.explanations))
    unit, content = counted.design.unit[:n], words[counted.owned[:n]]
    # in a group, own explanations say all; sums are modulo 2**64
    held = np.zeros_like(content) if counted.relation.groups else counted.sums(words)[:n]
    beside = [counted.labels[:n].view(np.uint64), counted.design.steps[:n].view(np.uint64)]
    word = mix(np.column_stack([content, held]))
    rows = mix(np.column_stack([word, *beside]))
    of_unit = np.zeros(counted.design.n_units, dtype=np.uint64)
    np.add.at(of_unit, unit, rows)
    return np.lexsort((rows, word, unit, of_unit[unit]))


class _Means:
    """M of many draws at once; `order` says which rows stand where in a draw."""

    def __init__(self, counted: UnequalCount, order: Counts) -> None:
        self.counted, self.place = counted, np.argsort(order)
        self.weights = counted.design.weights
        self.pairs = _pairs_within(counted)

    def of(self, draws: list[Counts]) -> Iterator[float]:
        """Yield the mean of every draw: each says where the row in every place gets label and weight from."""
        pool = np.arange(len(self.place), len(self.weights))
        rows = [np.append(source[self.place], pool) for source in draws]
        labels, weights = [self.counted.labels[r] for r in rows], [self.weights[r] for r in rows]
        for y, w, held in zip(labels, weights, self._held(labels, weights), strict=True):
            yield self._mean(y, w, held)

    def _mean(self, y: Counts, w: Floats, held: tuple[Floats, Floats]) -> float:
        i, j = self.pairs
        own = np.bincount(i, weights=w[j], minlength=len(y))
        own_agreeing = np.bincount(i, weights=w[j] * (y[i] == y[j]), minlength=len(y))
        D, A = held[0] - own, held[1] - own_agreeing
        D[1e-9 * held[0] > D] = 0.0  # nobody is left but for rounding
        n = len(self.place)
        return float((w * ratio(A, D))[:n].sum() / w[:n].sum())

    def _held(self, labels: list[Counts], weights: list[Floats]) -> Iterator[tuple[Floats, Floats]]:
        """Yield what all weigh for whom each row's explanation holds, and those of them with its label."""
        counted, k, m = self.counted, self.counted.n_labels, len(self.counted.explanations)
        tables = self._grouped(labels, weights) if counted.relation.groups else self._asked(labels, weights)
        for y, table in zip(labels, tables, strict=True):
            mine = table.reshape(m, k)[counted.owned]  # a pool's rows own nothing, and are left out later
            yield mine.sum(axis=1), mine[np.arange(len(y)), y]

    def _grouped(self, labels: list[Counts], weights: list[Floats]) -> Iterator[Floats]:
        counted = self.counted
        has = ~counted.sample.explanations.missing
        size = len(counted.explanations) * counted.n_labels
        for y, w in zip(labels, weights, strict=True):
            codes = counted.owned * counted.n_labels + y
            yield np.bincount(codes, weights=w * has, minlength=size).astype(np.float64)

    def _asked(self, labels: list[Counts], weights: list[Floats]) -> Iterator[Floats]:
        counted, k = self.counted, self.counted.n_labels
        n, columns = len(counted.owned), np.zeros((len(counted.owned), len(labels) * k))
        for place, (y, w) in enumerate(zip(labels, weights, strict=True)):
            columns[np.arange(n), place * k + y] = w
        tables = np.empty((len(counted.explanations), len(labels) * k))
        for start, _, bits in counted.blocks():
            for first, last in spans(len(bits), max(1, ENTRIES // n)):
                held = unpack_bits(bits[first:last], n).astype(np.float64)
                tables[start + first : start + last] = held @ columns
        return (np.ascontiguousarray(tables[:, p * k : (p + 1) * k]) for p in range(len(labels)))


def _pairs_within(counted: UnequalCount) -> tuple[Counts, Counts]:
    """Return all pairs of rows of one cluster in which the explanation of the first holds for the second."""
    unit = counted.design.unit
    order = np.argsort(unit, kind="stable")
    size = np.bincount(unit)
    first = np.repeat(np.cumsum(size) - size, size)  # where the cluster of each row begins, in that order
    times = np.repeat(size, size)
    i = np.repeat(order, times)
    offset = np.arange(len(i)) - np.repeat(np.cumsum(times) - times, times)
    j = order[np.repeat(first, times) + offset]
    held = _holds(counted, i, j)
    return i[held], j[held]


def _holds(counted: UnequalCount, i: Counts, j: Counts) -> np.ndarray:
    if counted.relation.groups:
        return (counted.owned[i] == counted.owned[j]) & ~counted.sample.explanations.missing[i]
    held = np.zeros(len(i), dtype=bool)
    for start, stop, bits in counted.blocks():
        mine = np.flatnonzero((counted.owned[i] >= start) & (counted.owned[i] < stop))
        held[mine] = get_bits(bits, counted.owned[i[mine]] - start, j[mine])
    return held
