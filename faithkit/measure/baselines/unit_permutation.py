"""The permutation test for rows with weights or clusters.

It exchanges the labels and weights of whole clusters, between clusters of the same size. To permute labels
alone would break their dependence on the weights, and to permute rows alone would break their dependence on
the cluster. Both would reject true null hypotheses.
"""

from collections.abc import Iterable, Iterator
from itertools import islice

import numpy as np
from numpy.typing import NDArray

from faithkit.arrays import Floats, divide_safely
from faithkit.arrays.batches import concatenate_ranges
from faithkit.arrays.bitsets import get_bits, unpack_bits
from faithkit.arrays.grouping import group, hash_content, hash_rows
from faithkit.explanations.relations import key_of
from faithkit.measure.agreement.same_label import SAME_LABEL
from faithkit.measure.counting.cell_count import CellCount
from faithkit.measure.counting.owners import Counts

BATCH_SIZE = 32  # permutations per pass over the relation's matrix


def unit_p_value(counts: CellCount, permutations: int, seed: int = 0) -> float | None:
    """Return the one-sided p-value of M; None where no two clusters have the same size.

    Examples
    --------
    >>> from faithkit.explanations.explanations import Explanations, Sample
    >>> from faithkit.explanations.relations import SameExplanation
    >>> from faithkit.measure.counting.cell_count import count_cells
    >>> from faithkit.measure.counting.design import Design
    >>> cluster = np.arange(60) // 2  # thirty clusters of two rows
    >>> y, design = cluster % 2, Design.of(None, cluster, n=60)
    >>> counts = count_cells(SameExplanation(), Sample(None, Explanations.of(y.tolist())), y, 2, design)
    >>> unit_p_value(counts, 99)
    0.01
    """
    order = _content_order(counts)
    unit = counts.design.unit[order]
    size = np.bincount(unit)  # of explained rows, because a pool keeps its labels
    if np.bincount(size[size > 0]).max() < 2:
        return None
    observed, _ = counts.owners.mean_agreement
    sources = (order[source] for source in _permute_units(unit, size, permutations, seed))
    means = _GroupedMeans(counts, order) if counts.relation.groups else _RelationMeans(counts, order)
    n_as_high = 0
    while batch := list(islice(sources, BATCH_SIZE)):
        n_as_high += sum(mean >= observed - 1e-9 for mean in means.of(batch))
    return (1 + n_as_high) / (1 + permutations)


def _permute_units(unit: Counts, size: Counts, permutations: int, seed: int) -> Iterator[Counts]:
    """Yield the source row of each row's label and weight; the rows of a cluster must be consecutive."""
    rng = np.random.default_rng([-seed, 1] if seed < 0 else seed)
    starts = np.flatnonzero(np.diff(unit, prepend=-1))
    sizes = size[unit[starts]]
    for _ in range(permutations):
        source = np.empty(len(unit), dtype=np.int64)
        for cluster_size in np.unique(sizes).tolist():
            cluster_starts = starts[sizes == cluster_size]
            offset = np.arange(cluster_size)
            source[cluster_starts[:, None] + offset] = rng.permutation(cluster_starts)[:, None] + offset
        yield source


def _content_order(counts: CellCount) -> Counts:
    """Order rows by content, cluster by cluster, so that the order of the rows does not matter."""
    n, words = len(counts.place), hash_content(key_of(counts.relation, counts.explanations))
    unit, content = counts.design.unit[:n], words[counts.owned[:n]]
    # in a group, a row's own explanation is its whole content; sums are modulo 2**64
    scope_word = np.zeros_like(content) if counts.relation.groups else counts.sums(words)[:n]
    label, weight = counts.labels[:n].view(np.uint64), counts.design.steps[:n].view(np.uint64)
    word = hash_rows(np.column_stack([content, scope_word]))
    row_word = hash_rows(np.column_stack([word, label, weight]))
    unit_word = np.zeros(counts.design.n_units, dtype=np.uint64)
    np.add.at(unit_word, unit, row_word)
    return np.lexsort((row_word, word, unit, unit_word[unit]))


class _GroupedMeans:
    """M under permutations, where explanations group rows.

    `order` are the rows in the order of a permutation. A permutation is an array of source rows, from which
    the row in each place takes its label and weight.
    """

    def __init__(self, counts: CellCount, order: Counts) -> None:
        self.counts, self.place = counts, np.argsort(order)
        self.has_explanation = ~counts.explanations.missing[counts.owned]
        self.cell = group(np.column_stack([counts.owned, counts.design.unit])).codes

    def of(self, batch: list[Counts]) -> Iterator[float]:
        """Yield the mean under each permutation of the batch."""
        for source in batch:
            rows = source[self.place]
            labels, weights = self.counts.labels[rows], self.counts.design.weights[rows]
            total, agreeing = self._sum_by(self.counts.owned, labels, weights)
            own, own_agreeing = self._sum_by(self.cell, labels, weights)
            yield _mean_score(weights, total, total - own, agreeing - own_agreeing)

    def _sum_by(self, key: Counts, labels: Counts, weights: Floats) -> tuple[Floats, Floats]:
        """Return, for every row, the weight of the rows with the same key, and how much of it agrees."""
        weights, k = weights * self.has_explanation, self.counts.n_labels
        codes, place = np.unique(key * k + labels, return_inverse=True)
        slot_weights = _sum_weights(place, weights)
        agreeing = self.counts.agreement.sum_over_slots(codes // k, codes % k, slot_weights)
        total = _sum_weights(key, weights)[key]
        return total * self.has_explanation, agreeing[place] * self.has_explanation


class _RelationMeans:
    """M under permutations, for any relation; see `_GroupedMeans` for the format of permutations."""

    def __init__(self, counts: CellCount, order: Counts) -> None:
        self.counts, self.place = counts, np.argsort(order)
        self.weights, self.own_pairs = counts.design.weights, _OwnClusterPairs(counts)

    def of(self, batch: list[Counts]) -> Iterator[float]:
        """Yield the mean under each permutation of the batch."""
        n, pool = len(self.place), np.arange(len(self.place), len(self.weights))
        rows = [np.append(source[self.place], pool) for source in batch]
        labels, weights = [self.counts.labels[r] for r in rows], [self.weights[r] for r in rows]
        owned_explanation = self.counts.owned[:n]
        sums: Iterable[tuple[Floats, Floats]]
        if self.counts.agreement is SAME_LABEL:
            tables = self._label_tables(labels, weights)
            sums = (
                (table.sum(axis=1)[owned_explanation], table[owned_explanation, y[:n]])
                for y, table in zip(labels, tables, strict=True)
            )
        else:
            sums = self._sum_scopes(labels, weights)
        for y, w, (total, agreeing) in zip(labels, weights, sums, strict=True):
            own, own_agreeing = self.own_pairs.sums(y, w)
            yield _mean_score(w[:n], total, total - own, agreeing - own_agreeing)

    def _sum_scopes(self, labels: list[Counts], weights: list[Floats]) -> list[tuple[Floats, Floats]]:
        """Return the weight in the scope of each row's explanation, and how much of it agrees."""
        counts, k = self.counts, self.counts.n_labels
        n, n_rows = len(self.place), len(counts.owned)
        sums = [(np.zeros(n), np.zeros(n)) for _ in labels]
        for start, stop, bits in counts.batches():
            explanation, instance = np.nonzero(unpack_bits(bits, n_rows))
            owners = np.flatnonzero((counts.owned[:n] >= start) & (counts.owned[:n] < stop))
            owned_explanation = counts.owned[owners] - start
            for y, w, (total, agreeing) in zip(labels, weights, sums, strict=True):
                codes = np.concatenate([explanation * k + y[instance], owned_explanation * k + y[owners]])
                slots, place = np.unique(codes, return_inverse=True)
                slot_weights = _sum_weights(place, np.concatenate([w[instance], np.zeros(len(owners))]))
                slot_agreeing = counts.agreement.sum_over_slots(slots // k, slots % k, slot_weights)
                total[owners] = _sum_weights(explanation, w[instance], stop - start)[owned_explanation]
                agreeing[owners] = slot_agreeing[place[len(instance) :]]
        return sums

    def _label_tables(self, labels: list[Counts], weights: list[Floats]) -> Iterator[Floats]:
        """Yield, for each permutation, the weight of each label in the scope of each explanation."""
        counts, k = self.counts, self.counts.n_labels
        n, columns = len(counts.owned), np.zeros((len(counts.owned), len(labels) * k))
        for place, (y, w) in enumerate(zip(labels, weights, strict=True)):
            columns[np.arange(n), place * k + y] = w
        tables = np.empty((len(counts.explanations), len(labels) * k))
        for start, stop, bits in counts.batches():
            tables[start:stop] = unpack_bits(bits, n).astype(np.float64) @ columns
        return (np.ascontiguousarray(tables[:, p * k : (p + 1) * k]) for p in range(len(labels)))


def _mean_score(weights: Floats, total: Floats, D: Floats, A: Floats) -> float:
    """Return the weighted mean of A/D; a D that is tiny compared with the total is rounding."""
    D[1e-9 * total > D] = 0.0
    return float((weights * divide_safely(A, D)).sum() / weights.sum())


class _OwnClusterPairs:
    """Pairs of a row with the rows of its own cluster for which its explanation holds."""

    def __init__(self, counts: CellCount) -> None:
        unit, self.n, self.agreement = counts.design.unit, len(counts.place), counts.agreement
        order = np.argsort(unit, kind="stable")
        size = np.bincount(unit)
        times = size[unit[: self.n]]
        i = np.repeat(np.arange(self.n), times)
        j = order[concatenate_ranges((np.cumsum(size) - size)[unit[: self.n]], times)]
        holds = _holds(counts, i, j)
        self.i, self.j = i[holds], j[holds]

    def sums(self, labels: Counts, weights: Floats) -> tuple[Floats, Floats]:
        """Return the weight of each row's pairs, and how much of it agrees with the row."""
        weight = weights[self.j]
        agreement = 1.0 - self.agreement.disagreement(labels[self.i], labels[self.j])
        return _sum_weights(self.i, weight, self.n), _sum_weights(self.i, weight * agreement, self.n)


def _sum_weights(codes: Counts, weights: Floats, size: int = 0) -> Floats:
    return np.bincount(codes, weights=weights, minlength=size).astype(np.float64)


def _holds(counts: CellCount, i: Counts, j: Counts) -> NDArray[np.bool_]:
    """Return whether the explanation of row i holds for row j, for each pair."""
    holds = np.zeros(len(i), dtype=bool)
    for start, stop, bits in counts.batches():
        pairs = np.flatnonzero((counts.owned[i] >= start) & (counts.owned[i] < stop))
        holds[pairs] = get_bits(bits, counts.owned[i[pairs]] - start, j[pairs])
    return holds
