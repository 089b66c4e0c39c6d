"""The permutation test for rows with weights or clusters.

What is exchanged are whole clusters' labels and weights, between clusters of one size: labels alone would
break what ties them to the weights, and rows alone what ties them to their cluster. Both reject truths.
"""

from collections.abc import Iterator
from itertools import islice

import numpy as np
from numpy.typing import NDArray

from faithkit.measure.bitsets import get_bits, unpack_bits
from faithkit.measure.blocks import ranges
from faithkit.measure.content_words import content_words
from faithkit.measure.estimators import ratio
from faithkit.measure.grouping import group, mix
from faithkit.measure.inference import agreement
from faithkit.measure.relations import key_of
from faithkit.measure.slots import Counts
from faithkit.measure.sums import Floats
from faithkit.measure.unequal.counting import UnequalCount

AT_ONCE = 32  # permutations for which a relation is asked once


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
        self.own = _Groups(counted) if counted.relation.groups else _Pairs(counted)

    def of(self, draws: list[Counts]) -> Iterator[float]:
        """Yield the mean of every draw: each says where the row in every place gets label and weight from."""
        pool = np.arange(len(self.place), len(self.weights))
        rows = [np.append(source[self.place], pool) for source in draws]
        labels, weights = [self.counted.labels[r] for r in rows], [self.weights[r] for r in rows]
        for y, w, table in zip(labels, weights, self._tables(labels, weights), strict=True):
            yield self._mean(y, w, table)

    def _mean(self, y: Counts, w: Floats, table: Floats) -> float:
        n = len(self.place)
        owned, own = self.counted.owned[:n], self.own.sums(y, w)
        whole = table.sum(axis=1)[owned]
        D, A = whole - own[0], table[owned, y[:n]] - own[1]
        D[1e-9 * whole > D] = 0.0  # nobody is left but for rounding
        return float((w[:n] * ratio(A, D)).sum() / w[:n].sum())

    def _tables(self, labels: list[Counts], weights: list[Floats]) -> Iterator[Floats]:
        """Yield what the rows of each label weigh for which each explanation holds."""
        counted, k, m = self.counted, self.counted.n_labels, len(self.counted.explanations)
        if not counted.relation.groups:
            yield from self._asked(labels, weights)
            return
        has = ~counted.sample.explanations.missing
        for y, w in zip(labels, weights, strict=True):
            yield _added(counted.owned * k + y, w * has, m * k).reshape(m, k)

    def _asked(self, labels: list[Counts], weights: list[Floats]) -> Iterator[Floats]:
        counted, k = self.counted, self.counted.n_labels
        n, columns = len(counted.owned), np.zeros((len(counted.owned), len(labels) * k))
        for place, (y, w) in enumerate(zip(labels, weights, strict=True)):
            columns[np.arange(n), place * k + y] = w
        tables = np.empty((len(counted.explanations), len(labels) * k))
        for start, stop, bits in counted.blocks():
            tables[start:stop] = unpack_bits(bits, n).astype(np.float64) @ columns
        return (np.ascontiguousarray(tables[:, p * k : (p + 1) * k]) for p in range(len(labels)))


class _Groups:
    """What is no other to a row: those of its cluster that have its explanation."""

    def __init__(self, counted: UnequalCount) -> None:
        self.k, self.has = counted.n_labels, ~counted.sample.explanations.missing
        self.cell = group(np.column_stack([counted.owned, counted.design.unit])).codes

    def sums(self, y: Counts, w: Floats) -> tuple[Floats, Floats]:
        """Return what these weigh, and what those of them weigh that have the row's label."""
        held, codes = w * self.has, self.cell * self.k + y
        return _added(self.cell, held)[self.cell] * self.has, _added(codes, held)[codes] * self.has


class _Pairs:
    """The same for any relation: those of its cluster for which its explanation holds, pair by pair."""

    def __init__(self, counted: UnequalCount) -> None:
        unit, self.n = counted.design.unit, len(counted.place)
        order = np.argsort(unit, kind="stable")
        size = np.bincount(unit)
        times = size[unit[: self.n]]
        i = np.repeat(np.arange(self.n), times)
        j = order[ranges((np.cumsum(size) - size)[unit[: self.n]], times)]
        held = _holds(counted, i, j)
        self.i, self.j = i[held], j[held]

    def sums(self, y: Counts, w: Floats) -> tuple[Floats, Floats]:
        """Return what these weigh, and what those of them weigh that have the row's label."""
        weight, same = w[self.j], y[self.i] == y[self.j]
        return _added(self.i, weight, self.n), _added(self.i, weight * same, self.n)


def _added(codes: Counts, weights: Floats, size: int = 0) -> Floats:
    return np.bincount(codes, weights=weights, minlength=size).astype(np.float64)


def _holds(counted: UnequalCount, i: Counts, j: Counts) -> NDArray[np.bool_]:
    held = np.zeros(len(i), dtype=bool)
    for start, stop, bits in counted.blocks():
        mine = np.flatnonzero((counted.owned[i] >= start) & (counted.owned[i] < stop))
        held[mine] = get_bits(bits, counted.owned[i[mine]] - start, j[mine])
    return held
