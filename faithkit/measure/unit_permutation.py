"""The permutation test for rows with weights or clusters.

What is exchanged are whole clusters' labels and weights, between clusters of one size: labels alone would
break what ties them to the weights, and rows alone what ties them to their cluster. Both reject truths.
"""

from collections.abc import Iterable, Iterator
from itertools import islice

import numpy as np
from numpy.typing import NDArray

from faithkit.arrays import Floats, ratio
from faithkit.arrays.bitsets import get_bits, unpack_bits
from faithkit.arrays.blocks import ranges
from faithkit.arrays.content_words import content_words
from faithkit.arrays.grouping import group, mix
from faithkit.explanations.relations import key_of
from faithkit.measure.agreement.same_label import SAME_LABEL
from faithkit.measure.counting.cell_count import CellCount
from faithkit.measure.counting.owners import Counts
from faithkit.measure.intervals import agreement

AT_ONCE = 32  # permutations for which a relation is asked once


def unit_p_value(counted: CellCount, permutations: int, seed: int = 0) -> float | None:
    """Return the one-sided p-value of M; None where no two clusters are of one size.

    Examples
    --------
    >>> from faithkit.explanations.explanations import Explanations, Sample
    >>> from faithkit.explanations.relations import SameExplanation
    >>> from faithkit.measure.counting.cell_count import count_cells
    >>> from faithkit.measure.counting.design import Design
    >>> case = np.arange(60) // 2  # thirty of them, each seen twice
    >>> y, design = case % 2, Design.of(None, case, n=60)
    >>> good = count_cells(SameExplanation(), Sample(None, Explanations.of(y.tolist())), y, 2, design)
    >>> unit_p_value(good, 99)
    0.01
    """
    order = _content_order(counted)
    unit = counted.design.unit[order]
    size = np.bincount(unit)  # of explained rows: a pool keeps its own labels
    if np.bincount(size[size > 0]).max() < 2:
        return None
    observed, _ = agreement(counted.owners)
    draws = (order[source] for source in _draws(unit, size, permutations, seed))
    means = _GroupedMeans(counted, order) if counted.relation.groups else _Means(counted, order)
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


def _content_order(counted: CellCount) -> Counts:
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


class _GroupedMeans:
    """M of draws where explanations group rows; `order` says which rows stand where in a draw."""

    def __init__(self, counted: CellCount, order: Counts) -> None:
        self.counted, self.place = counted, np.argsort(order)
        self.has = ~counted.explanations.missing[counted.owned]
        self.cell = group(np.column_stack([counted.owned, counted.design.unit])).codes

    def of(self, draws: list[Counts]) -> Iterator[float]:
        """Yield the mean of every draw: each says where the row in every place gets label and weight from."""
        for source in draws:
            rows = source[self.place]
            y, w = self.counted.labels[rows], self.counted.design.weights[rows]
            whole, agreeing = self._summed(self.counted.owned, y, w)
            own, own_agreeing = self._summed(self.cell, y, w)
            yield _mean(w, whole, whole - own, agreeing - own_agreeing)

    def _summed(self, row: Counts, y: Counts, w: Floats) -> tuple[Floats, Floats]:
        """Return, for every instance, what those weigh that are in its row, and what agrees with it."""
        held, k = w * self.has, self.counted.n_labels
        codes, place = np.unique(row * k + y, return_inverse=True)
        agreeing = self.counted.agreement.over_slots(codes // k, codes % k, _added(place, held))
        return _added(row, held)[row] * self.has, agreeing[place] * self.has


class _Means:
    """M of many draws at once, for any relation."""

    def __init__(self, counted: CellCount, order: Counts) -> None:
        self.counted, self.place = counted, np.argsort(order)
        self.weights, self.own = counted.design.weights, _Pairs(counted)

    def of(self, draws: list[Counts]) -> Iterator[float]:
        """Yield the mean of every draw: each says where the row in every place gets label and weight from."""
        n, pool = len(self.place), np.arange(len(self.place), len(self.weights))
        rows = [np.append(source[self.place], pool) for source in draws]
        labels, weights = [self.counted.labels[r] for r in rows], [self.weights[r] for r in rows]
        owned = self.counted.owned[:n]
        sums: Iterable[tuple[Floats, Floats]]
        if self.counted.agreement is SAME_LABEL:
            tables = self._tables(labels, weights)
            sums = (
                (table.sum(axis=1)[owned], table[owned, y[:n]])
                for y, table in zip(labels, tables, strict=True)
            )
        else:
            sums = self._sums(labels, weights)
        for y, w, (whole, agreeing) in zip(labels, weights, sums, strict=True):
            own, own_agreeing = self.own.sums(y, w)
            yield _mean(w[:n], whole, whole - own, agreeing - own_agreeing)

    def _sums(self, labels: list[Counts], weights: list[Floats]) -> list[tuple[Floats, Floats]]:
        """Return what those weigh for whom each row's explanation holds, and what of them agrees with it."""
        counted, k = self.counted, self.counted.n_labels
        n, n_rows = len(self.place), len(counted.owned)
        found = [(np.zeros(n), np.zeros(n)) for _ in labels]
        for start, stop, bits in counted.blocks():
            explanation, instance = np.nonzero(unpack_bits(bits, n_rows))
            mine = np.flatnonzero((counted.owned[:n] >= start) & (counted.owned[:n] < stop))
            owned = counted.owned[mine] - start
            for y, w, (whole, agreeing) in zip(labels, weights, found, strict=True):
                codes = np.concatenate([explanation * k + y[instance], owned * k + y[mine]])
                known, place = np.unique(codes, return_inverse=True)
                held = _added(place, np.concatenate([w[instance], np.zeros(len(mine))]))
                toward = counted.agreement.over_slots(known // k, known % k, held)
                whole[mine] = _added(explanation, w[instance], stop - start)[owned]
                agreeing[mine] = toward[place[len(instance) :]]
        return found

    def _tables(self, labels: list[Counts], weights: list[Floats]) -> Iterator[Floats]:
        """Yield what the rows of each label weigh for which each explanation holds."""
        counted, k = self.counted, self.counted.n_labels
        n, columns = len(counted.owned), np.zeros((len(counted.owned), len(labels) * k))
        for place, (y, w) in enumerate(zip(labels, weights, strict=True)):
            columns[np.arange(n), place * k + y] = w
        tables = np.empty((len(counted.explanations), len(labels) * k))
        for start, stop, bits in counted.blocks():
            tables[start:stop] = unpack_bits(bits, n).astype(np.float64) @ columns
        return (np.ascontiguousarray(tables[:, p * k : (p + 1) * k]) for p in range(len(labels)))


def _mean(w: Floats, whole: Floats, D: Floats, A: Floats) -> float:
    D[1e-9 * whole > D] = 0.0  # nobody is left but for rounding
    return float((w * ratio(A, D)).sum() / w.sum())


class _Pairs:
    """What is no other to a row: those of its cluster for which its explanation holds, pair by pair."""

    def __init__(self, counted: CellCount) -> None:
        unit, self.n, self.agreement = counted.design.unit, len(counted.place), counted.agreement
        order = np.argsort(unit, kind="stable")
        size = np.bincount(unit)
        times = size[unit[: self.n]]
        i = np.repeat(np.arange(self.n), times)
        j = order[ranges((np.cumsum(size) - size)[unit[: self.n]], times)]
        held = _holds(counted, i, j)
        self.i, self.j = i[held], j[held]

    def sums(self, y: Counts, w: Floats) -> tuple[Floats, Floats]:
        """Return what these weigh, and how much of that agrees with the row."""
        weight, same = w[self.j], 1.0 - self.agreement.apart(y[self.i], y[self.j])
        return _added(self.i, weight, self.n), _added(self.i, weight * same, self.n)


def _added(codes: Counts, weights: Floats, size: int = 0) -> Floats:
    return np.bincount(codes, weights=weights, minlength=size).astype(np.float64)


def _holds(counted: CellCount, i: Counts, j: Counts) -> NDArray[np.bool_]:
    held = np.zeros(len(i), dtype=bool)
    for start, stop, bits in counted.blocks():
        mine = np.flatnonzero((counted.owned[i] >= start) & (counted.owned[i] < stop))
        held[mine] = get_bits(bits, counted.owned[i[mine]] - start, j[mine])
    return held
