"""The tally: two tables of counts from which every measure is computed.

`counts[u, y]` is the number of instances of label y for which the explanation u holds. `owners[s, u, y]` is
the number of instances of label y that have the explanation u (s = 1 if u holds for the instance itself).
The tables are mostly empty, so the kernel stores a list of owners. It builds tables for estimators, a part of
the explanations at a time.
"""

from bisect import bisect_right
from collections.abc import Iterator
from functools import cached_property, partial
from typing import Any

import attrs
import numpy as np
from numpy.typing import NDArray

from faithkit.arrays import is_broadcast, sum_by
from faithkit.arrays.batches import spans
from faithkit.arrays.bitsets import Bits, column_sums
from faithkit.errors import InputError
from faithkit.explanations.explanations import Explanations, Sample
from faithkit.explanations.relations import Relation, WithinBlock, group_explanations
from faithkit.measure.agreement.base import Agreement, ScopePredictions, chance
from faithkit.measure.agreement.same_label import SAME_LABEL, SameLabel, ScopeLabels
from faithkit.measure.counting import scans
from faithkit.measure.counting.owners import (
    Counts,
    Owners,
    broadcast_ones,
    count_codes,
    find_positions,
    index_codes,
)
from faithkit.measure.counting.scans import Pool, ScanTarget, bit_batches, scan_relation

SELF = np.array([[0], [1]])  # default of `Tally.own`: an owner in its own scope counts as 1
MAX_ENTRIES = 2**25  # limit for a table that is built in one part
NOTHING = 1e-12  # share of a total that counts as a rounding error
PART_ENTRIES = 2**15  # entries of a part of a grouping's table: most are empty, so small parts are faster


def check_size(m: int, k: int) -> None:
    """Refuse to hold a tally that is too large."""
    if m * k > MAX_ENTRIES:
        raise InputError(
            f"the tally of {m:,} explanations × {k:,} labels is too large to be held as a whole: use a "
            "coarser discretizer, or an estimator with whole = False, which is given a part at a time."
        )


@attrs.frozen(eq=False)
class Tally:
    """Counts and owners of m distinct explanations over k labels.

    Attributes
    ----------
    counts : (m, k) int
        The number of instances of each label for which each explanation holds.
    owners : (2, m, k) int
        The number of instances of each label that have each explanation, by s.
    own, own_agreeing : (2, m) int
        The part of an explanation's scope that does not count as *other* instances for an owner, and how much
        of it agrees: by default the owner itself, if s is 1. If rows have weights or clusters, an explanation
        has one row for each kind of owner, and all numbers are sums of weights, which average to 1.
    agreement : Agreement
        Measures how far two labels agree.

    Examples
    --------
    Three instances share one explanation, two of them with label 0:

    >>> tally = Tally(np.array([[2, 1]]), np.array([[[0, 0]], [[2, 1]]]))
    >>> tally.n, tally.others[1, 0, 0], tally.agreeing[1, 0].tolist()
    (3, np.int64(2), [1, 0])
    """

    counts: NDArray[Any]
    owners: NDArray[Any]
    own: NDArray[Any] = SELF
    own_agreeing: NDArray[Any] = SELF
    agreement: Agreement = SAME_LABEL

    def __repr__(self) -> str:
        m, k = self.counts.shape
        return f"<Tally of {self.n:,} instances: {m:,} explanations × {k:,} labels>"

    @property
    def n(self) -> int:
        """The number of instances."""
        return int(self.owners.sum())

    @property
    def alike(self) -> NDArray[Any]:
        """T[u, y]: how many instances in the scope of u agree with label y; for labels, `counts`."""
        row, label = (index.ravel() for index in np.indices(self.counts.shape))
        return self.agreement.sum_over_slots(row, label, self.counts.ravel()).reshape(self.counts.shape)

    @property
    def others(self) -> NDArray[Any]:
        """D[s, u, y]: the number of *other* instances that an owner can be checked against."""
        totals = self.counts.sum(axis=1)[None, :, None]
        others = totals - self.own[..., None]
        if others.dtype.kind == "f":  # weights: remove rounding errors
            others = np.where(others < NOTHING * totals, 0.0, others)
        return np.broadcast_to(others, self.owners.shape)

    @property
    def agreeing(self) -> NDArray[Any]:
        """A[s, u, y]: the number of these instances that agree with the owner."""
        agreeing: NDArray[Any] = self.alike[None] - self.own_agreeing[..., None]
        if agreeing.dtype.kind != "f":
            return agreeing
        lower_bound = 0.0 if self.agreement.is_binary else -np.inf  # removes rounding errors
        clipped: NDArray[Any] = np.clip(agreeing, lower_bound, self.others)
        return clipped

    @property
    def entries(self) -> Owners:
        """The owners as a list, without empty entries."""
        row, label, s = np.nonzero(self.owners.transpose(1, 2, 0))
        rows, alike, totals = self.owners[s, row, label], self.alike[row, label], self.counts.sum(axis=1)
        return Owners(row, label, rows, alike, totals, own=s, own_agreeing=s)


@attrs.frozen(eq=False, kw_only=True)
class Count:
    """The counts of a relation over a population.

    `explanations` are the distinct ones in order of first appearance. `agreement` measures how far two labels
    agree. The kernel computes with `owners`. `table` has the counts by label of a relation other than
    grouping, unless there are too many labels. The counts include the rows of a `pool`, which own no
    explanation.
    """

    relation: Relation
    explanations: Explanations
    n_labels: int
    owners: Owners
    agreement: Agreement = SAME_LABEL
    table: Counts | None = None
    pool: Pool | None = None
    # one `Merging`: to match vectors is slow
    merging_cache: list[Any] = attrs.field(factory=list, init=False)

    @property
    def is_plain(self) -> bool:
        """Whether rows are equal and checked only against each other."""
        return self.pool is None

    @property
    def is_in_blocks(self) -> bool:
        """Whether rows are compared only within blocks."""
        return False

    @property
    def pool_labels(self) -> Counts:
        """The labels of the rows of the pool that have a weight."""
        return scans.NO_SLOTS if self.pool is None else self.pool.codes

    def chance(self) -> float | None:
        """Return the score of a constant explainer on the same rows."""
        if self.agreement.is_normalised:
            return 0.0  # numbers are divided by what it leaves
        return self.label_chance(None)

    def label_chance(self, label: int | None) -> float | None:
        """Return the same for the owners of one label, or of all labels if it is None."""
        sizes = sum_by(self.owners.label, self.owners.weight, self.n_labels)
        owner_sizes = sizes if label is None else np.where(np.arange(self.n_labels) == label, sizes, 0)
        sizes = sizes + np.bincount(self.pool_labels, minlength=self.n_labels)
        return chance(owner_sizes, self.agreement, sizes)

    def lowest_value(self, n_classes: int | None) -> float | None:
        """Return the smallest possible value of the measure, by convexity; None where it is unknown.

        The model declares `n_classes` labels. Rows without an explanation agree with no other.
        """
        if self.agreement.is_normalised:
            return 0.0 if self.relation.groups else None
        if n_classes is None or n_classes < self.n_labels:
            return None
        if not self.relation.groups or self.explanations.missing.any():
            return None
        return 1.0 / n_classes

    def max_disagreement(self, n_classes: int | None) -> float:
        """Return d_max: the largest disagreement of a row that is compared with no other.

        In a group, the mean disagreement of two rows is that of one row from the group's mean. With k labels
        it is at most 1 − 1/k, and for numbers a quarter of the squared range.
        """
        agreement = self.agreement
        if agreement.is_normalised and agreement.is_bounded:
            return agreement.max_disagreement / (2.0 if self.relation.groups else 1.0)
        is_label = isinstance(agreement, SameLabel)
        return 1.0 - (self.lowest_value(n_classes) or 0.0) if is_label else 1.0

    def checked_chance(self) -> float | None:
        """Return the chance level of the rows that can be checked: usually the same."""
        return self.chance()

    @property
    def without_block(self) -> Counts:
        """The number of each explanation; an explanation has the same number in all blocks."""
        return np.arange(len(self.explanations))

    @property
    def n_explanations(self) -> int:
        """The number of distinct explanations; one that occurs in several blocks counts once."""
        return int(self.without_block.max(initial=-1)) + 1

    @property
    def with_sorted_labels(self) -> "Count":
        """The same counts with predictions sorted and each of them once, for access to single predictions."""
        return self

    @property
    def tally(self) -> Tally:
        """The complete tally; an error if it is too large."""
        check_size(len(self.explanations), self.n_labels)
        return self._part(0, len(self.explanations))

    def tallies(self) -> Iterator[Tally]:
        """Yield the tally for estimators: complete, or in parts of explanations if it is large.

        A part has only the labels that occur in it.
        """
        m, k = len(self.explanations), self.n_labels
        if m * k <= scans.DENSE:
            yield self._part(0, m)
        elif self.relation.groups:
            yield from (self._part(*span, only_owner_labels=True) for span in _narrow_spans(self.owners))
        else:
            yield from (_drop_unused_labels(self._part(*span)) for span in spans(m, scans.DENSE // k))

    def label_counts(self, explanations: Counts) -> Counts:
        """Return the number of instances of every label for which each of these explanations holds."""
        if self.relation.groups:
            return np.concatenate([self._part(u, u + 1).counts for u in explanations.tolist()])
        return self.scan_label_counts(explanations) if self.table is None else self.table[explanations]

    def scan_label_counts(self, explanations: Counts) -> Counts:
        """Count the labels of all instances in scope of these explanations, in a second scan."""
        raise NotImplementedError

    def owned_rows(self) -> tuple[Counts, Counts, Counts, Counts]:
        """Return explanation, label, number and count of all explained rows.

        Rows of a log that have the first two in common are one, with the number of the first of them.
        """
        raise NotImplementedError

    def _part(self, start: int, stop: int, only_owner_labels: bool = False) -> Tally:
        """Return the tally of consecutive explanations over all labels, or only those of their owners."""
        span, k, agreement = self.owners.span(start, stop), self.n_labels, self.agreement
        entries = self.owners.part(span.start, span.stop)
        label = entries.label
        if only_owner_labels:
            occurring, label = np.unique(label, return_inverse=True)
            k, agreement = len(occurring), agreement.select_labels(occurring)
        owners = np.zeros((2, stop - start, k), dtype=np.int64)
        owners[entries.own, entries.explanation - start, label] = entries.rows
        if self.relation.groups:
            return Tally(owners[1].copy(), owners, agreement=agreement)
        return Tally(self.label_counts(np.arange(start, stop)), owners, agreement=agreement)


@attrs.frozen(eq=False, kw_only=True)
class RowCount(Count):
    """Counts over a sample in memory, and the entry of each row in them.

    `owned[i]` is the explanation of row i, `reflexive[i]` whether it holds for i itself. Numbers are in units
    of `scale`. If only some rows own their explanation, the sample has these rows, and the pool begins with
    the others; `row_numbers` has the number of each of them in the whole sample.
    """

    sample: Sample
    labels: Counts
    owned: Counts
    reflexive: NDArray[np.bool_]
    scale: float = 1.0
    row_numbers: Counts | None = None
    _owner_index: Counts | None = None

    def pieces(self) -> Iterator[tuple[Sample, Counts]]:
        """Yield the sample and the pieces of its pool, with their labels."""
        yield self.sample, self.labels
        yield from self.pool or ()

    def pooled(self) -> "Iterator[RowCount]":
        """Yield the pieces of the pool as rows that own no explanation, with the counts of all rows."""
        for sample, codes in self.pool or ():
            reflexive = np.zeros(len(codes), dtype=bool)
            owned_explanation = np.full(len(codes), -1)
            yield attrs.evolve(
                self,
                sample=sample,
                labels=codes,
                owned=owned_explanation,
                reflexive=reflexive,
                pool=None,
                owner_index=owned_explanation,
            )

    @cached_property
    def owner_index(self) -> Counts:
        """The entry of every row in `owners`."""
        if self._owner_index is not None:
            return self._owner_index
        own = self.reflexive.astype(np.int64)
        return self.owners.find_entries(self.owned, self.labels, own, self.n_labels)

    def owned_rows(self) -> tuple[Counts, Counts, Counts, Counts]:
        """Return explanation, label, number and count of all explained rows."""
        rows = np.flatnonzero(self.owned >= 0)  # a pool's rows own none
        return self.owned[rows], self.labels[rows], rows, np.ones_like(rows)

    @cached_property
    def sets(self) -> ScopeLabels:
        """The rows of each label."""
        return ScopeLabels(self.labels, self.n_labels)

    def batches(self, explanations: Explanations | None = None) -> Iterator[tuple[int, int, Bits]]:
        """Yield (start, stop, packed bits) of the matrix of all or some explanations, in batches."""
        explanations = self.explanations if explanations is None else explanations
        return bit_batches(self.relation, self.sample, explanations)

    @property
    def instances(self) -> ScopePredictions:
        """The predictions of the rows, for sums over a relation's matrix."""
        return self.agreement.scope_predictions(self.labels, self.n_labels)

    def sums(self, weights: NDArray[Any]) -> NDArray[Any]:
        """Sum, for every row, the weights of the explanations that hold for it, column by column."""
        one_label = np.zeros(len(self.labels), dtype=np.int64)
        sums = np.zeros((len(self.labels), weights.shape[1]), dtype=weights.dtype)
        for start, stop, bits in self.batches():
            sums += column_sums(bits, weights[start:stop, None], one_label)
            del bits  # free memory before the next batch
        return sums

    def scan_label_counts(self, explanations: Counts) -> Counts:
        """Count the labels of all rows in scope of these explanations, in a second scan."""
        batches = self.batches(self.explanations.take(explanations))
        table = np.concatenate([self.sets.table(bits) for _, _, bits in batches])
        for piece in self.pooled():
            table += piece.scan_label_counts(explanations)
        return table


def _narrow_spans(owners: Owners) -> Iterator[tuple[int, int]]:
    """Yield (start, stop) of consecutive explanations whose table over their own labels is small."""
    m = len(owners.totals)
    entry_stops = np.searchsorted(owners.explanation, np.arange(m + 1)).tolist()
    start = 0
    while start < m:
        first = start
        sizes = range(first + 1, m + 1)
        n_fitting = bisect_right(
            sizes, PART_ENTRIES, key=lambda stop: (stop - first) * (entry_stops[stop] - entry_stops[first])
        )
        start = first + max(1, n_fitting)
        yield first, start


def _drop_unused_labels(tally: Tally) -> Tally:
    """Drop labels without owners and without counts."""
    occurs = tally.counts.any(axis=0) | tally.owners.any(axis=(0, 1))
    if occurs.all():
        return tally
    agreement = tally.agreement.select_labels(np.flatnonzero(occurs))
    return Tally(tally.counts[:, occurs], tally.owners[:, :, occurs], agreement=agreement)


def count(
    relation: Relation,
    sample: Sample,
    labels: Counts,
    n_labels: int,
    pool: Pool | None = None,
    agreement: Agreement = SAME_LABEL,
    kind: "type[RowCount]" = RowCount,
) -> RowCount:
    """Tally a relation over a sample.

    `labels` are the predictions, as codes 0 … n_labels − 1. Explanations are also checked against the rows of
    a `pool`. `agreement` measures how far two predictions agree. `kind` is the class of the counts.

    Examples
    --------
    >>> from faithkit.explanations.relations import SameExplanation
    >>> sample = Sample(None, Explanations.of(["a", "a", "b"]))
    >>> count(SameExplanation(), sample, np.array([0, 1, 1]), 2).tally.counts
    array([[1, 1],
           [0, 1]])
    """
    if len(labels) != len(sample):
        raise InputError(
            f"{len(labels)} predictions for {len(sample)} explanations: give one of each per row."
        )
    missing = sample.explanations.missing
    missing_apart = relation.groups or isinstance(relation, WithinBlock)
    groups = group_explanations(relation, sample.explanations, missing_apart)
    distinct = sample.explanations.take(groups.first)
    codes, n_slots = groups.codes * n_labels + labels, len(groups) * n_labels
    slot = None
    if n_slots > 4 * len(codes):
        occurring, n_rows, slot = index_codes(codes)
    else:
        occurring, n_rows = count_codes(codes, n_slots)
    row, label = np.divmod(occurring, n_labels)
    build = partial(
        kind,
        relation=relation,
        sample=sample,
        labels=labels,
        n_labels=n_labels,
        agreement=agreement,
        owned=groups.codes,
        explanations=distinct,
    )
    if relation.groups:
        owners = grouped_owners(row, label, n_rows, ~distinct.missing, agreement)
        return build(reflexive=~missing, owners=owners, owner_index=slot)
    slot = find_positions(occurring, codes, n_slots) if slot is None else slot
    target = ScanTarget(distinct, n_labels, row, label, agreement)
    scan = scan_relation(relation, sample, labels, target, np.where(missing, -1, slot))
    counts = scan if pool is None else scan + pool.scan(relation, target)
    owners = counts.owners(target, n_rows)
    return build(reflexive=scan.reflexive, owners=owners, table=counts.table, pool=pool)


def grouped_owners(
    explanation: Counts,
    label: Counts | None,
    rows: Counts,
    holds: NDArray[np.bool_],
    agreement: Agreement = SAME_LABEL,
) -> Owners:
    """Return the owners of a grouping relation: an explanation holds for its owners unless it is missing."""
    own = broadcast_ones(len(rows)) if holds.all() else holds[explanation].astype(np.int64)
    holding_rows = rows if holds.all() else rows * own
    totals = sum_by(explanation, holding_rows, len(holds))
    # numbers that do not repeat have one row per entry: a view takes no memory
    if not is_broadcast(rows) and (rows == 1).all():
        rows = broadcast_ones(len(rows))
    alike = agreement.sum_over_slots(explanation, label, holding_rows, totals)
    return Owners(explanation, label, rows, alike, totals, own, own_agreeing=own)
