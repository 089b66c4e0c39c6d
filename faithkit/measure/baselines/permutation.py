"""The permutation test: how often labels that are unrelated to the explanations agree as well.

Labels are permuted while the explanations stay fixed, so the rows that can be checked do not change. Rows of
a pool keep their labels. Labels are assigned to instances in an order of their content, so the order of the
rows does not matter.

With weights, clusters or blocks, the labels and weights of whole clusters are exchanged, between clusters of
the same size in the same block. To permute labels alone would break their dependence on the weights, and to
permute rows alone would break their dependence on the cluster. Both would reject true null hypotheses.
"""

from collections.abc import Callable, Iterable, Iterator
from functools import partial
from itertools import islice
from typing import Any

import numpy as np
from numpy.typing import NDArray

from faithkit.arrays import Floats, Ints, divide_safely, sum_by
from faithkit.arrays.batches import concatenate_ranges
from faithkit.arrays.bitsets import Bits, get_bits, n_words, unpack_bits
from faithkit.arrays.grouping import group, hash_content, hash_rows
from faithkit.arrays.row_random import create_generator
from faithkit.explanations.relations import WithinBlock, key_of
from faithkit.measure.agreement.base import Agreement, ScopePredictions, agreeing_weights
from faithkit.measure.agreement.same_label import COMMON, SAME_LABEL
from faithkit.measure.counting.cell_count import CellCount
from faithkit.measure.counting.cells import mark_run_starts
from faithkit.measure.counting.owners import Counts, Owners, count_codes
from faithkit.measure.counting.tally import RowCount
from faithkit.measure.intervals import MeasureStatistics
from faithkit.measure.jackknife.merging import ONE_BLOCK, PAIRS

BATCH_SIZE = 64  # permutations per pass over the relation's matrix
UNIT_BATCH_SIZE = 32  # the same with weights or clusters
BATCH_BYTES = 64 * 2**20  # of the label bitsets of a batch
MISSING = np.uint64(2**64 - 1)  # the hash of a missing explanation

Permutations = Iterator[Counts]
RowSums = tuple[Floats, Floats]
"""The weight that each row is compared with, and how much of it agrees."""


def permutation_p_value(
    counts: RowCount, statistics: MeasureStatistics, permutations: int, seed: int = 0
) -> float | None:
    """Return the one-sided p-value of the agreement of rows with those that they are compared with.

    Under the null hypothesis, labels are unrelated to explanations. Blocks of merged rows do not depend on
    labels, so they are permuted like groups. With clusters, the p-value is None if no two of them have the
    same size.

    Examples
    --------
    >>> from faithkit.explanations.explanations import Explanations, Sample
    >>> from faithkit.explanations.relations import SameExplanation
    >>> from faithkit.measure.jackknife.summary import JackknifeEstimate
    >>> from faithkit.measure.counting.tally import count
    >>> y = np.arange(100) % 2
    >>> counts = count(SameExplanation(), Sample(None, Explanations.of(y.tolist())), y, 2)
    >>> permutation_p_value(counts, JackknifeEstimate.of(counts).statistics, 99)
    0.01
    """
    if isinstance(counts, CellCount):
        return unit_p_value(counts, permutations, seed)
    permuted = _permute_labels(counts.owners.by_label(), permutations, seed)
    if counts.relation.groups:
        means = _means_of_groups(counts, statistics, permuted)
    else:
        means = _means_of_relation(counts, permuted, _content_order(counts))
    return _compute_p_value(means, statistics.agreed - 1e-12, permutations)


def _compute_p_value(means: Iterable[float], observed: float, permutations: int) -> float:
    """Return the share of permutations whose mean is at least as high as the observed one."""
    n_as_high = sum(mean >= observed for mean in means)
    return (1 + n_as_high) / (1 + permutations)


def _permute_labels(label_counts: Counts, permutations: int, seed: int) -> Permutations:
    """Yield permuted labels, which start in order of frequency, so that their names do not matter."""
    rng = create_generator(seed)
    order = np.argsort(-label_counts, kind="stable")
    labels = np.repeat(order, label_counts[order])
    for _ in range(permutations):
        yield rng.permutation(labels)


def _means_of_groups(
    counts: RowCount, statistics: MeasureStatistics, permuted: Permutations
) -> Iterator[float]:
    """Yield the agreement under each permutation; groups are in descending order of size."""
    owners, agreement = counts.owners, counts.agreement
    n, sizes = owners.n, _group_sizes(owners, statistics)
    k = int(owners.label.max(initial=0)) + 1
    first_code = np.repeat(np.arange(len(sizes)) * k, sizes)
    for labels in permuted:
        yield _sum_scores(first_code + labels[: len(first_code)], sizes, agreement, k) / n


def _sum_scores(codes: Counts, sizes: Counts, agreement: Agreement, k: int) -> float:
    """Sum the scores of rows in groups of these sizes; the code of a row is its group × k + its label."""
    slots, T = count_codes(codes, len(sizes) * k)
    group, label = np.divmod(slots, k)
    return float((T * (agreement.sum_over_slots(group, label, T) - 1) / (sizes[group] - 1)).sum())


def _means_of_relation(counts: RowCount, permuted: Permutations, order: NDArray[np.intp]) -> Iterator[float]:
    """Yield M under each permutation, with one pass over the relation's matrix for each batch."""
    position = np.argsort(order)  # the position of every instance in that order
    s = counts.reflexive.astype(np.int64)
    D = counts.owners.totals[counts.owned] - s
    max_bytes = 8 * n_words(len(order)) * min(counts.n_labels, COMMON)  # of one permutation
    batch_size = max(1, min(BATCH_SIZE, BATCH_BYTES // max_bytes))
    pool_sums = _PoolSums(counts)
    while batch := [labels[position] for labels in islice(permuted, batch_size)]:
        for A in _count_agreeing(counts, batch, pool_sums):
            yield float(divide_safely(A - s, D)[order].sum() / len(order))


def _group_sizes(owners: Owners, statistics: MeasureStatistics) -> Counts:
    """Return the sizes of all groups of more than one row, merged rows included, in descending order."""
    n_merged = round((statistics.compared - statistics.verified) * statistics.n)
    merged_sizes = {PAIRS: [2] * (n_merged // 2), ONE_BLOCK: [n_merged]}.get(statistics.merging or "", [])
    sizes = [owners.totals[owners.totals > 1], np.array(merged_sizes, dtype=np.int64)]
    return np.sort(np.concatenate(sizes))[::-1]


class _PoolSums:
    """The part of each explanation's sums that comes from the pool, which no permutation changes."""

    def __init__(self, counts: RowCount) -> None:
        self.labels = np.unique(counts.labels)
        self.by_label = counts.agreement.is_binary  # otherwise there is one sum for each explanation
        self.sums: Ints | None = None
        for piece in counts.pooled():
            sums = np.concatenate([self._sum_batch(piece.instances, bits) for _, _, bits in piece.batches()])
            self.sums = sums if self.sums is None else self.sums + sums

    def _sum_batch(self, instances: ScopePredictions, bits: Bits) -> Ints:
        row, label = np.repeat(np.arange(len(bits)), len(self.labels)), np.tile(self.labels, len(bits))
        return instances.sums(bits, row, label).reshape(len(bits), -1)

    def add_to(self, sums: Ints, start: int, stop: int, row: Counts, label: Counts) -> Ints:
        """Return the sums of a sample's slots, or of its explanations, plus those of the pool."""
        if self.sums is None:
            return sums
        batch_sums = self.sums[start:stop]
        return sums + (batch_sums[row, np.searchsorted(self.labels, label)] if self.by_label else batch_sums)


def _count_agreeing(counts: RowCount, batch: list[Counts], pool_sums: _PoolSums) -> NDArray[Any]:
    """Count, for every permutation and instance, the instances in its scope that agree with it."""
    agreement, totals = counts.agreement, counts.owners.totals
    predictions = [agreement.scope_predictions(labels, counts.n_labels) for labels in batch]
    agreeing = np.empty((len(batch), len(counts.owned)), dtype=counts.owners.alike.dtype)
    for start, stop, bits in counts.batches():
        members = np.flatnonzero((counts.owned >= start) & (counts.owned < stop))
        members = members[np.argsort(counts.owned[members], kind="stable")]  # in the order of slots
        row = counts.owned[members] - start
        for A, labels, instances in zip(agreeing, batch, predictions, strict=True):
            label = labels[members]
            sums = pool_sums.add_to(instances.sums(bits, row, label), start, stop, row, label)
            A[members] = agreement.counts(sums, totals[start:stop], row, label)
        del bits  # before the next batch is computed
    return agreeing


def _content_order(counts: RowCount) -> NDArray[np.intp]:
    """Order instances by their content for the relation; those with the widest explanations come first.

    The content of an instance is its explanation and all explanations that hold for it. Instances that are
    equal in both can be exchanged, whatever their labels.
    """
    owners, content = counts.owners, _hash_explanations(counts)
    word = hash_rows(np.column_stack([content, owners.totals.view(np.uint64), owners.sizes.view(np.uint64)]))
    scope_word = counts.sums(word[:, None])[:, 0]  # modulo 2**64
    return np.lexsort((scope_word, counts.reflexive, word[counts.owned], -owners.totals[counts.owned]))


def _hash_explanations(counts: RowCount) -> NDArray[np.uint64]:
    """Return a hash of each distinct explanation, whatever its block; all missing ones have the same."""
    relation = counts.relation
    relation = relation.relation if isinstance(relation, WithinBlock) else relation
    words = hash_content(key_of(relation, counts.explanations))
    return np.where(counts.explanations.missing, MISSING, words)


# -- rows with weights, clusters or blocks --


def unit_p_value(counts: CellCount, permutations: int, seed: int = 0) -> float | None:
    """Return the one-sided p-value of M; None where no two clusters of a block have the same size.

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
    exchange = _Exchange(counts)
    if not exchange.is_possible:
        return None
    means = _means_of_units(counts, exchange.sources(permutations, seed))
    observed, _ = counts.owners.mean_agreement
    return _compute_p_value(means, observed - 1e-9, permutations)


class _Exchange:
    """Clusters whose labels and weights can be exchanged: those of one size in one block.

    Of a cluster with rows in several blocks, the rows of each block are exchanged. The rows of a pool keep
    their labels.
    """

    def __init__(self, counts: CellCount) -> None:
        n, design = counts.n_explained, counts.design
        self.n_rows = len(counts.labels)
        self.order = _content_order_in_units(counts)
        block = np.zeros(n, dtype=np.int64) if design.block is None else design.block[:n]
        block, unit = block[self.order], design.unit[self.order]
        self.starts = np.flatnonzero(mark_run_starts(block, unit))
        self.sizes = np.diff(self.starts, append=n)
        kinds = np.column_stack([block[self.starts], self.sizes])
        self.kind = np.unique(kinds, axis=0, return_inverse=True)[1].reshape(-1)
        self.by_kind = np.argsort(self.kind, kind="stable")

    @property
    def is_possible(self) -> bool:
        """Whether any two clusters can be exchanged."""
        return len(np.unique(self.kind)) < len(self.kind)

    def sources(self, permutations: int, seed: int) -> Iterator[Counts]:
        """Yield the source row of each row's label and weight."""
        rng = create_generator(seed)
        source, all_sources = np.empty_like(self.kind), np.arange(self.n_rows)
        for _ in range(permutations):
            source[self.by_kind] = np.lexsort((rng.random(len(self.kind)), self.kind))
            rows = concatenate_ranges(self.starts[source], self.sizes)
            sources = all_sources.copy()
            sources[self.order] = self.order[rows]
            yield sources


def _content_order_in_units(counts: CellCount) -> Counts:
    """Order rows by content, block by block and cluster by cluster, so that their order does not matter."""
    n, words, design = counts.n_explained, _hash_explanations(counts), counts.design
    unit, content = design.unit[:n], words[counts.owned[:n]]
    block = np.zeros(n, dtype=np.int64) if design.block is None else design.block[:n]
    # in a group, a row's own explanation is its whole content; sums are modulo 2**64
    scope_word = np.zeros_like(content) if counts.relation.groups else counts.sums(words[:, None])[:n, 0]
    frequency_rank = np.argsort(
        np.argsort(-np.bincount(counts.labels[:n], minlength=counts.n_labels), kind="stable")
    )
    label, weight = frequency_rank[counts.labels[:n]].view(np.uint64), design.steps[:n].view(np.uint64)
    word = hash_rows(np.column_stack([content, scope_word]))
    row_word = hash_rows(
        np.column_stack([word, label, weight])
    )  # by frequency: names of labels do not matter
    unit_word, block_word = sum_by(unit, row_word), sum_by(block, row_word)
    return np.lexsort((row_word, word, unit, unit_word[unit], block, block_word[block]))


def _means_of_units(counts: CellCount, sources: Iterable[Counts]) -> Iterator[float]:
    """Yield M under each permutation: an array of source rows, from which rows take labels and weights.

    Relations other than grouping need one pass over the relation's matrix for each batch.
    """
    n, all_weights, sources = counts.n_explained, counts.design.weights, iter(sources)
    sum_own: Callable[[Counts, Floats], RowSums]
    if counts.relation.groups:
        cell = group(np.column_stack([counts.owned, counts.design.unit])).codes
        sum_scopes, sum_own = _sum_groups, partial(_sum_by_key, counts, cell)
    else:
        sum_scopes = _sum_label_scopes if counts.agreement is SAME_LABEL else _sum_scopes
        sum_own = _OwnClusterPairs(counts).sums
    while batch := list(islice(sources, UNIT_BATCH_SIZE)):
        labels = [counts.labels[rows] for rows in batch]
        weights = [all_weights[rows] for rows in batch]
        sums = sum_scopes(counts, labels, weights)
        for y, w, (total, agreeing) in zip(labels, weights, sums, strict=True):
            own, own_agreeing = sum_own(y, w)
            D = total - own
            D[1e-9 * total > D] = 0.0  # rounding
            yield float((w[:n] * divide_safely(agreeing - own_agreeing, D)).sum() / w[:n].sum())


def _sum_groups(counts: CellCount, labels: list[Counts], weights: list[Floats]) -> Iterable[RowSums]:
    """Return the weight of the group of each row, and how much of it agrees."""
    return (_sum_by_key(counts, counts.owned, y, w) for y, w in zip(labels, weights, strict=True))


def _sum_by_key(counts: CellCount, key: Counts, labels: Counts, weights: Floats) -> RowSums:
    """Return the weight of the rows with the key of each row, and how much of it agrees."""
    has_explanation = ~counts.explanations.missing[counts.owned]
    weights = weights * has_explanation
    agreeing = agreeing_weights(counts.agreement, key, labels, weights)
    return sum_by(key, weights)[key] * has_explanation, agreeing * has_explanation


def _sum_scopes(counts: CellCount, labels: list[Counts], weights: list[Floats]) -> Iterable[RowSums]:
    """Return the weight in the scope of each row's explanation, and how much of it agrees."""
    n = counts.n_explained
    sums = [(np.zeros(n), np.zeros(n)) for _ in labels]
    for start, stop, bits in counts.batches():
        explanation, instance = np.nonzero(unpack_bits(bits, len(counts.owned)))
        owners = np.flatnonzero((counts.owned[:n] >= start) & (counts.owned[:n] < stop))
        owned_explanation = counts.owned[owners] - start
        scope, rows = np.append(explanation, owned_explanation), np.append(instance, owners)
        for y, w, (total, agreeing) in zip(labels, weights, sums, strict=True):
            scope_weight = np.append(w[instance], np.zeros(len(owners)))
            total[owners] = sum_by(scope, scope_weight, stop - start)[owned_explanation]
            agreeing_by_row = agreeing_weights(counts.agreement, scope, y[rows], scope_weight)
            agreeing[owners] = agreeing_by_row[len(instance) :]
    return sums


def _sum_label_scopes(counts: CellCount, labels: list[Counts], weights: list[Floats]) -> Iterable[RowSums]:
    """Return the same for labels, from a table of the weight of each label in each scope: much faster."""
    n, n_rows, k = counts.n_explained, len(counts.owned), counts.n_labels
    columns = np.zeros((n_rows, len(labels) * k))
    for position, (y, w) in enumerate(zip(labels, weights, strict=True)):
        columns[np.arange(n_rows), position * k + y] = w
    tables = np.empty((len(counts.explanations), len(labels) * k))
    for start, stop, bits in counts.batches():
        tables[start:stop] = unpack_bits(bits, n_rows).astype(np.float64) @ columns
    owned_explanation = counts.owned[:n]
    for position, y in enumerate(labels):
        table = np.ascontiguousarray(tables[:, position * k : (position + 1) * k])
        yield table.sum(axis=1)[owned_explanation], table[owned_explanation, y[:n]]


class _OwnClusterPairs:
    """Pairs of a row with the rows of its own cluster for which its explanation holds."""

    def __init__(self, counts: CellCount) -> None:
        unit, self.n, self.agreement = counts.design.unit, counts.n_explained, counts.agreement
        order = np.argsort(unit, kind="stable")
        size = np.bincount(unit)
        times = size[unit[: self.n]]
        i = np.repeat(np.arange(self.n), times)
        j = order[concatenate_ranges((np.cumsum(size) - size)[unit[: self.n]], times)]
        holds = _holds(counts, i, j)
        self.i, self.j = i[holds], j[holds]

    def sums(self, labels: Counts, weights: Floats) -> RowSums:
        """Return the weight of each row's pairs, and how much of it agrees with the row."""
        weight = weights[self.j]
        agreement = 1.0 - self.agreement.disagreement(labels[self.i], labels[self.j])
        return sum_by(self.i, weight, self.n), sum_by(self.i, weight * agreement, self.n)


def _holds(counts: CellCount, i: Counts, j: Counts) -> NDArray[np.bool_]:
    """Return whether the explanation of row i holds for row j, for each pair."""
    holds = np.zeros(len(i), dtype=bool)
    for start, stop, bits in counts.batches():
        pairs = np.flatnonzero((counts.owned[i] >= start) & (counts.owned[i] < stop))
        holds[pairs] = get_bits(bits, counts.owned[i[pairs]] - start, j[pairs])
    return holds
