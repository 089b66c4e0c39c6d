"""The permutation test: how often labels that have nothing to do with the explanations agree as well.

Labels are permuted with the explanations fixed, so who can be checked does not change; a pool keeps its own.
Instances are put into an order of their content before labels are drawn for them, so the order of the rows
decides nothing.
"""

from collections.abc import Iterator
from itertools import islice
from typing import Any

import numpy as np
from numpy.typing import NDArray

from faithkit.arrays import Ints, ratio
from faithkit.arrays.bitsets import Bits, n_words
from faithkit.arrays.content_words import content_words
from faithkit.arrays.grouping import mix
from faithkit.explanations.relations import key_of
from faithkit.measure.agreement.base import ScopePredictions
from faithkit.measure.counting.cell_count import CellCount
from faithkit.measure.counting.label_sets import COMMON
from faithkit.measure.counting.owners import Counts, Owners, numbered
from faithkit.measure.counting.tally import RowCount
from faithkit.measure.intervals import MeasureStatistics
from faithkit.measure.jackknife.merging import BLOCK, PAIRS
from faithkit.measure.unit_permutation import unit_p_value

AT_ONCE = 64  # permutations for which a relation is asked once
AT_ONCE_BYTES = 64 * 2**20  # of bits that say who has which label in them

Draws = Iterator[Counts]


def permutation_p_value(
    counted: RowCount, facts: MeasureStatistics, permutations: int, seed: int = 0
) -> float | None:
    """Return the one-sided p-value of how far rows agree with those that they are compared with.

    Labels are unrelated to explanations under the null. With clusters it is None where no two of them are of
    one size.

    Blocks of rows that were alone are permuted as groups are: they do not depend on labels.

    Examples
    --------
    >>> from faithkit.explanations.explanations import Explanations, Sample
    >>> from faithkit.explanations.relations import SameExplanation
    >>> from faithkit.measure.jackknife.summary import JackknifeEstimate
    >>> from faithkit.measure.counting.tally import count
    >>> y = np.arange(100) % 2
    >>> good = count(SameExplanation(), Sample(None, Explanations.of(y.tolist())), y, 2)
    >>> permutation_p_value(good, JackknifeEstimate.of(good).facts, 99)
    0.01
    """
    if isinstance(counted, CellCount):
        return unit_p_value(counted, permutations, seed)
    draws = _draws(counted.owners.by_label(), permutations, seed)
    groups = counted.relation.groups
    means = _grouped_means(counted, facts, draws) if groups else _asked_means(counted, draws)
    as_high = sum(mean >= facts.agreed - 1e-12 for mean in means)
    return (1 + as_high) / (1 + permutations)


def _draws(label_counts: Counts, permutations: int, seed: int) -> Draws:
    """Yield permuted labels; the most frequent comes first, so that what they are called does not matter."""
    rng = np.random.default_rng([-seed, 1] if seed < 0 else seed)
    order = np.argsort(-label_counts, kind="stable")
    labels = np.repeat(order, label_counts[order])
    for _ in range(permutations):
        yield rng.permutation(labels)


def _grouped_means(counted: RowCount, facts: MeasureStatistics, draws: Draws) -> Iterator[float]:
    """Yield x of every draw: blocks of one size are alike, so the largest come first."""
    owners, agreement = counted.owners, counted.agreement
    n, sizes = owners.n, _block_sizes(owners, facts)
    k = int(owners.label.max(initial=0)) + 1
    first_code = np.repeat(np.arange(len(sizes)) * k, sizes)
    for labels in draws:
        occurring, T = numbered(first_code + labels[: len(first_code)], len(sizes) * k)
        block, label = np.divmod(occurring, k)
        yield float((T * (agreement.over_slots(block, label, T) - 1) / (sizes[block] - 1)).sum() / n)


def _asked_means(counted: RowCount, draws: Draws) -> Iterator[float]:
    """Yield M of every draw, asking the relation once for many of them."""
    order = _content_order(counted)
    place = np.argsort(order)  # of every instance in it
    s = counted.reflexive.astype(np.int64)
    D = counted.owners.totals[counted.owned] - s
    bits = 8 * n_words(len(order)) * min(counted.n_labels, COMMON)  # of one draw, at most
    size = max(1, min(AT_ONCE, AT_ONCE_BYTES // bits))
    pooled = _Pooled(counted)
    while batch := [labels[place] for labels in islice(draws, size)]:
        for A in _agreeing(counted, batch, pooled):
            yield float(ratio(A - s, D)[order].sum() / len(order))


def _block_sizes(owners: Owners, facts: MeasureStatistics) -> Counts:
    """Return the sizes of all groups of more than one row, merged ones included, the largest first."""
    merged = round((facts.compared - facts.verified) * facts.n)
    sizes = {PAIRS: [2] * (merged // 2), BLOCK: [merged]}.get(facts.merging or "", [])
    return np.sort(np.concatenate([owners.totals[owners.totals > 1], np.array(sizes, dtype=np.int64)]))[::-1]


class _Pooled:
    """What the rows of a pool add to the sums of each explanation, whoever has which label: asked once."""

    def __init__(self, counted: RowCount) -> None:
        self.known = np.unique(counted.labels)
        self.by_label = counted.agreement.is_whole  # else sums are those of an explanation
        self.found: Ints | None = None
        for piece in counted.pooled():
            sums = np.concatenate([self._sums(piece.instances, bits) for _, _, bits in piece.blocks()])
            self.found = sums if self.found is None else self.found + sums

    def _sums(self, held: ScopePredictions, bits: Bits) -> Ints:
        row, label = np.repeat(np.arange(len(bits)), len(self.known)), np.tile(self.known, len(bits))
        return held.sums(bits, row, label).reshape(len(bits), -1)

    def added(self, sums: Ints, start: int, stop: int, row: Counts, label: Counts) -> Ints:
        """Return the sums of a sample's slots, or of its explanations, with those of the pool."""
        if self.found is None:
            return sums
        mine = self.found[start:stop]
        return sums + (mine[row, np.searchsorted(self.known, label)] if self.by_label else mine)


def _agreeing(counted: RowCount, batch: list[Counts], pooled: _Pooled) -> NDArray[Any]:
    """Count, for every draw and instance, those that agree with it and for which its explanation holds."""
    agreement, totals = counted.agreement, counted.owners.totals
    held = [agreement.held(labels, counted.n_labels) for labels in batch]
    agreeing = np.empty((len(batch), len(counted.owned)), dtype=counted.owners.alike.dtype)
    for start, stop, bits in counted.blocks():
        members = np.flatnonzero((counted.owned >= start) & (counted.owned < stop))
        members = members[np.argsort(counted.owned[members], kind="stable")]  # as slots are
        row = counted.owned[members] - start
        for A, labels, drawn in zip(agreeing, batch, held, strict=True):
            label = labels[members]
            sums = pooled.added(drawn.sums(bits, row, label), start, stop, row, label)
            A[members] = agreement.counts(sums, totals[start:stop], row, label)
        del bits  # before the next block is made
    return agreeing


def _content_order(counted: RowCount) -> NDArray[np.intp]:
    """Put instances in an order of what they are to the relation, the most widely held explanations first.

    An instance is known by its explanation and by all explanations that hold for it; those that are alike in
    both can be exchanged, whatever their labels.
    """
    owners, owned = counted.owners, counted.owned
    content = content_words(key_of(counted.relation, counted.explanations))
    word = mix(np.column_stack([content, owners.totals.view(np.uint64), owners.sizes.view(np.uint64)]))
    held = counted.sums(word)  # modulo 2**64
    return np.lexsort((held, counted.reflexive, word[owned], -owners.totals[owned]))
