"""The permutation test: how often labels that are unrelated to the explanations agree as well.

Units exchange their labels and weights, while the explanations stay fixed. A unit is a row, or a cluster of
rows. Only units of the same size in the same block are exchanged, and rows of a pool keep their labels. To
permute labels alone would break their dependence on the weights, and to permute rows alone would break their
dependence on the cluster. Both would reject true null hypotheses.

Units are exchanged in an order of their content, so neither the order of the rows nor the names of the labels
matter.
"""

from collections.abc import Callable, Iterable, Iterator
from functools import partial
from itertools import islice
from typing import Any

import attrs
import numpy as np

from faithkit.arrays import Floats, Ints, divide_safely, sum_by
from faithkit.arrays.batches import concatenate_ranges, spans
from faithkit.arrays.bitsets import column_sums, get_bits, unpack_bits
from faithkit.arrays.grouping import Words, hash_content, hash_rows
from faithkit.arrays.row_random import create_generator
from faithkit.explanations.relations import WithinBlock, key_of
from faithkit.measure.agreement.base import Batch, agreeing_weights
from faithkit.measure.counting.bits import Piece, Slots, bit_batches, count_piece
from faithkit.measure.counting.cells import mark_run_starts
from faithkit.measure.counting.count import Count
from faithkit.measure.counting.owners import count_codes, index_codes, sort_runs
from faithkit.measure.intervals import MeasureStatistics

BATCH_SIZE = 64  # permutations per pass over the relation's matrix
MAX_VALUES = 2**26  # numbers in memory per batch of permutations
TABLE_SIZE = 2**22  # entries of an unpacked matrix; a larger one is slower
FEW_LABELS = 16  # up to this number of labels, a dense matrix product is faster than a sparse one
ROUNDING = 1e-9
MISSING = np.uint64(2**64 - 1)  # the hash of a missing explanation

Batches = Callable[[], Iterable[Batch]]


def permutation_p_value(
    count: Count, statistics: MeasureStatistics, permutations: int, seed: int = 0
) -> float | None:
    """Return the one-sided p-value of the agreement of rows with those that they are compared with.

    Under the null hypothesis, labels are unrelated to explanations. Blocks of merged rows do not depend on
    labels, so they are permuted like groups. With weights, clusters or blocks, the p-value is None if no two
    units can be exchanged.

    Parameters
    ----------
    count : Count
        The counts of rows in memory.
    statistics : MeasureStatistics
        Those of the same count.
    permutations : int
    seed : int

    Examples
    --------
    >>> from faithkit.explanations.explanations import Explanations, Sample
    >>> from faithkit.explanations.relations import SameExplanation
    >>> from faithkit.measure.counting.count import count
    >>> from faithkit.measure.jackknife.summary import JackknifeEstimate
    >>> y = np.arange(100) % 2
    >>> counts = count(SameExplanation(), Sample(None, Explanations.of(y.tolist())), y, 2)
    >>> permutation_p_value(counts, JackknifeEstimate.of(counts).statistics, 99)
    0.01
    """
    exchange = _Exchange.of(count)
    if not count.design.is_equal and not exchange.is_possible:
        return None
    observed = statistics.agreed if count.design.is_equal else count.owners.mean_agreement[0]
    sources = exchange.permute(permutations, seed)
    means = permuted_means(count, statistics, exchange.order, sources)
    n_as_high = sum(mean >= observed - ROUNDING for mean in means)
    return (1 + n_as_high) / (1 + permutations)


def permuted_means(
    count: Count, statistics: MeasureStatistics, order: Ints, sources: Iterable[Ints]
) -> Iterator[float]:
    """Return the agreement of rows with those that they are compared with, under each permutation.

    Row `order[i]` takes the label and the weight of row `order[source[i]]`.

    Examples
    --------
    >>> from faithkit.explanations.explanations import Explanations, Sample
    >>> from faithkit.explanations.relations import SameExplanation
    >>> from faithkit.measure.counting.count import count
    >>> from faithkit.measure.jackknife.summary import JackknifeEstimate
    >>> sample, y = Sample(None, Explanations.of(["a", "a", "b", "b"])), np.array([0, 0, 1, 1])
    >>> counts = count(SameExplanation(), sample, y, 2)
    >>> sources = [np.array([0, 1, 2, 3]), np.array([0, 2, 1, 3])]
    >>> list(permuted_means(counts, JackknifeEstimate.of(counts).statistics, np.arange(4), sources))
    [1.0, 0.0]
    """
    if count.has_classes:
        group = count.owned if statistics.merging is None else count.merging_cache[0].key[count.owned]
        return _means_of_groups(count, group[order], count.labels[order], sources)
    if count.design.is_equal:
        return _means_of_bits(count, _move_rows(count.n_explained, order, sources))
    moved_rows = _move_rows(len(count.labels), order, sources)
    return (_means_of_cells if count.relation.groups else _means_of_tables)(count, moved_rows)


def _move_rows(n: int, order: Ints, sources: Iterable[Ints]) -> Iterator[Ints]:
    """Yield the row from which each row takes its label and its weight; the rows of a pool keep theirs."""
    for source in sources:
        rows = np.arange(n)
        rows[order] = order[source]
        yield rows


# -- permutations --


@attrs.frozen(eq=False)
class _Exchange:
    """Units that can be exchanged: those of one size in one block.

    Of a cluster with rows in several blocks, the rows of each block are a unit.

    Attributes
    ----------
    order : (n,) int
        The explained rows, unit by unit, in an order of their content.
    start, size, kind : (u,) int
        The position of each unit's first row in that order, its number of rows, and its kind. Units of the
        same kind are next to each other, and can be exchanged.
    """

    order: Ints
    start: Ints
    size: Ints
    kind: Ints

    @classmethod
    def of(cls, count: Count) -> "_Exchange":
        """Order the explained rows of a count."""
        n, design = count.n_explained, count.design
        if not design.is_clustered and design.block is None:
            _, row_word = _hash_rows(count)
            return cls(np.argsort(row_word), np.arange(n), np.ones(n, np.int64), np.zeros(n, np.int64))
        block = np.zeros(n, dtype=np.int64) if design.block is None else design.block[:n]
        _, n_rows, unit = index_codes(block * design.n_units + design.unit[:n])
        word, row_word = _hash_rows(count, unit, block)
        size, unit_word, block_word = n_rows[unit], sum_by(unit, row_word), sum_by(block, row_word)
        # in a unit, labels only decide between rows that are alike to the relation: the test stays valid
        order = np.lexsort((row_word, word, unit, unit_word[unit], size, block, block_word[block]))
        start = np.flatnonzero(mark_run_starts(unit[order]))
        first = order[start]
        kind = np.cumsum(mark_run_starts(block[first], size[first])) - 1
        return cls(order, start, size[first], kind)

    @property
    def is_possible(self) -> bool:
        """Whether any two units can be exchanged."""
        return bool(self.kind[-1] + 1 < len(self.kind))

    def permute(self, permutations: int, seed: int) -> Iterator[Ints]:
        """Yield the position of the row from which each row in the order takes its label and its weight."""
        rng, are_rows = create_generator(seed), len(self.kind) == len(self.order)
        for _ in range(permutations):
            unit = rng.permutation(len(self.kind))
            if self.kind[-1] > 0:
                unit = unit[sort_runs(self.kind[unit])[0]]
            yield unit if are_rows else concatenate_ranges(self.start[unit], self.size[unit])


def _hash_rows(count: Count, *parts: Ints) -> tuple[Words, Words]:
    """Return hashes of the explained rows: of what is fixed, and of that with the label and the weight.

    A row's explanation is fixed, and so are those that hold for it. Rows that have both in common can be
    exchanged. `parts` are the units and the blocks of the rows, if any.
    """
    n, words, labels = count.n_explained, _hash_explanations(count), count.labels
    steps, held = count.design.steps.view(np.uint64), np.zeros(n, dtype=np.uint64)
    if count.relation.groups:
        held = np.where(count.explanations.missing, held[0], words)[count.owned]
    else:
        for start, stop, bits in bit_batches(count.relation, count.sample, count.explanations):
            # sums are modulo 2**64
            held += column_sums(bits, words[start:stop, None, None], np.zeros(n, dtype=np.int64))[:, 0]
    word = hash_rows(np.column_stack([words[count.owned[:n]], held]))
    weighted_word = hash_rows(np.column_stack([word, steps[:n]]))
    neighbours = (sum_by(part, weighted_word)[part] for part in parts)
    unlabelled_word = hash_rows(np.column_stack([weighted_word, *neighbours]))
    # a label is known by its rows
    label_word = sum_by(labels, np.append(unlabelled_word, steps[n:]), count.n_labels)
    rank = np.argsort(np.argsort(label_word, kind="stable")).view(np.uint64)
    return word, hash_rows(np.column_stack([unlabelled_word, rank[labels[:n]]]))


def _hash_explanations(count: Count) -> Words:
    """Return a hash of each distinct explanation, whatever its block; all missing ones have the same."""
    relation, owners = count.relation, count.owners
    relation = relation.relation if isinstance(relation, WithinBlock) else relation
    content = hash_content(key_of(relation, count.explanations))
    content = np.where(count.explanations.missing, MISSING, content)
    return hash_rows(np.column_stack([content, owners.totals.view(np.uint64), owners.sizes.view(np.uint64)]))


# -- equal rows in groups --


def _means_of_groups(count: Count, group: Ints, labels: Ints, sources: Iterable[Ints]) -> Iterator[float]:
    """Yield the agreement of equal rows with others of their group."""
    n, k = len(group), count.n_labels
    is_alone = np.bincount(group)[group] == 1
    # all rows that are alone are one group, which does not count
    code, size, group = index_codes(np.where(is_alone, 0, group + 1))
    first_slot, share = group * k, divide_safely(code > 0, size - 1)
    labels = labels.astype(np.min_scalar_type(k))  # fits in the cache
    for source in sources:
        slots, n_rows = count_codes(first_slot + labels[source], len(size) * k)
        row, label = np.divmod(slots, k)
        agreeing = count.agreement.sum_over_slots(row, label, n_rows, size) - 1
        yield float((n_rows * agreeing * share[row]).sum()) / n


# -- groups of rows with weights, clusters or blocks --


def _means_of_cells(count: Count, moved_rows: Iterable[Ints]) -> Iterator[float]:
    """Yield the agreement of rows with those of their group that are in other units."""
    cell = index_codes(count.owned * count.design.n_units + count.design.unit)[2]
    is_missing, all_weights = count.explanations.missing[count.owned], count.design.weights
    for rows in moved_rows:
        labels, weights = count.labels[rows], all_weights[rows]
        held = np.where(is_missing, 0.0, weights)
        group_sums, own_sums = (
            np.array([sum_by(key, held)[key], agreeing_weights(count.agreement, key, labels, held)])
            for key in (count.owned, cell)
        )
        yield _mean(weights, group_sums, own_sums)


def _mean(weights: Floats, sums: Floats, own_sums: Floats) -> float:
    """Return the weighted mean of the agreement of each row with rows of other units.

    `sums` has the weight in the scope of each row, and how much of it agrees: (2, n). `own_sums` has the part
    that is in the row's own unit.
    """
    others, agreeing = sums - own_sums
    others[others < ROUNDING * sums[0]] = 0.0
    return float((weights * divide_safely(agreeing, others)).sum() / weights.sum())


# -- other relations between equal rows: 64 rows at a time --


def _means_of_bits(count: Count, moved_rows: Iterator[Ints]) -> Iterator[float]:
    """Yield the agreement of rows with the other rows in their scopes."""
    n, k, agreement, totals = count.n_explained, count.n_labels, count.agreement, count.owners.totals
    own, (pool_column, pool_sums) = count.owners.own[count.owner_index], _sum_pool(count)
    others = totals[count.owned[:n]] - own
    batches = _reuse(partial(bit_batches, count.relation, count.sample, count.explanations))
    batch_size = max(1, min(BATCH_SIZE, MAX_VALUES // n))
    while labels := [count.labels[rows] for rows in islice(moved_rows, batch_size)]:
        scopes, scores = [agreement.scope_predictions(y, k) for y in labels], np.zeros(len(labels))
        for start, stop, bits in batches():
            rows, explanation = _find_owners(count, start, stop)
            for number, scope in enumerate(scopes):
                y = labels[number][rows]
                sums = scope.sums(bits, explanation, y)
                if pool_sums is not None:
                    key = (explanation, pool_column[y]) if agreement.is_binary else ...
                    sums = sums + pool_sums[start:stop][key]
                agreeing = agreement.counts(sums, totals[start:stop], explanation, y) - own[rows]
                scores[number] += divide_safely(agreeing, others[rows]).sum()
        yield from (scores / n).tolist()


def _sum_pool(count: Count) -> tuple[Ints, Any]:
    """Return the column of each label, and the sums of the pool, which no permutation changes.

    They have a column for each label of the sample, or what `Agreement.counts` needs.
    """
    m, label, sums = len(count.explanations), np.unique(count.labels[: count.n_explained]), None
    keys = np.repeat(np.arange(m), len(label)), np.tile(label, m)
    slots = Slots(count.explanations, count.n_labels, count.agreement, *keys)
    for sample, labels in islice(count.pieces(), 1, None):
        no_rows = np.full(len(labels), -1)
        piece_counts, _ = count_piece(count.relation, Piece(sample, labels, no_rows, 0, no_rows), slots)
        piece_sums = piece_counts.sums.reshape(m, -1)
        sums = piece_sums if sums is None else sums + piece_sums
    return np.searchsorted(label, np.arange(count.n_labels)), sums


def _reuse(batches: Batches) -> Batches:
    """Return the same batches of a relation's matrix; a single one is computed only once."""
    first = list(islice(batches(), 2))
    return batches if len(first) > 1 else lambda: first


def _find_owners(count: Count, start: int, stop: int) -> tuple[Ints, Ints]:
    """Return the rows that own the explanations from `start` to `stop`, and which of these each row owns."""
    rows = np.flatnonzero((count.owned >= start) & (count.owned < stop))
    rows = rows[np.argsort(count.owned[rows], kind="stable")]
    return rows, count.owned[rows] - start


# -- other relations between rows with weights, clusters or blocks --


def _means_of_tables(count: Count, moved_rows: Iterator[Ints]) -> Iterator[float]:
    """Yield the agreement of rows with the rows of other units in their scopes."""
    n, all_weights, batches = count.n_explained, count.design.weights, _reuse(count.batches)
    i, j = _pair_units(count, batches)
    batch_size = max(1, min(BATCH_SIZE, MAX_VALUES // (len(all_weights) * min(count.n_labels, FEW_LABELS))))
    while batch := list(islice(moved_rows, batch_size)):
        labels, weights = count.labels[batch], all_weights[batch]
        all_sums = _sum_tables(count, batches, labels, weights)
        for y, w, sums in zip(labels, weights, all_sums, strict=True):
            agreement = 1.0 - count.agreement.disagreement(y[i], y[j])
            own_sums = np.array([sum_by(i, values, n) for values in (w[j], w[j] * agreement)])
            yield _mean(w[:n], sums, own_sums)


def _pair_units(count: Count, batches: Batches) -> tuple[Ints, Ints]:
    """Return pairs of rows of the same unit, where the explanation of the first holds for the second."""
    unit, n = count.design.unit, count.n_explained
    order, size = np.argsort(unit, kind="stable"), np.bincount(unit)
    times, first = size[unit[:n]], (np.cumsum(size) - size)[unit[:n]]
    i, j = np.repeat(np.arange(n), times), order[concatenate_ranges(first, times)]
    owned, holds = count.owned[i], np.zeros(len(i), dtype=bool)
    for start, stop, bits in batches():
        pairs = np.flatnonzero((owned >= start) & (owned < stop))
        holds[pairs] = get_bits(bits, owned[pairs] - start, j[pairs])
    return i[holds], j[holds]


def _sum_tables(count: Count, batches: Batches, labels: Ints, weights: Floats) -> Floats:
    """Return the sums in the scope of each row under each permutation, as `_mean` takes them.

    They come from tables: the weight of each label in the scope of each explanation.
    """
    k, (n_permutations, n) = count.n_labels, labels.shape
    columns, sums = _label_columns(labels, weights, k), np.empty((n_permutations, 2, count.n_explained))
    size = TABLE_SIZE // max(n, n_permutations * k)
    for start, stop, bits in batches():
        for first, last in spans(stop - start, size):
            tables = unpack_bits(bits[first:last], n).astype(np.float64) @ columns
            rows, explanation = _find_owners(count, start + first, start + last)
            for number, table in enumerate(np.split(tables, n_permutations, axis=1)):
                weight, slot = table.ravel(), explanation * k + labels[number, rows]
                is_used = weight > 0
                is_used[slot] = True
                used, agreeing = np.flatnonzero(is_used), np.empty(len(weight))
                agreeing[used] = count.agreement.sum_over_slots(*np.divmod(used, k), weight[used])
                sums[number][:, rows] = table.sum(axis=1)[explanation], agreeing[slot]
    return sums


def _label_columns(labels: Ints, weights: Floats, k: int) -> Any:
    """Return a column for each permutation and label: the weights of the rows with that label."""
    from scipy import sparse

    permutation, row = np.indices(labels.shape).reshape(2, -1)
    keys = row, permutation * k + labels.ravel()
    columns = sparse.csr_array((weights.ravel(), keys), shape=(labels.shape[1], len(labels) * k))
    return columns.toarray() if k <= FEW_LABELS else columns
