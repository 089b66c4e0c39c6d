"""The tally: two integer tables from which everything else is computed.

`counts[u, y]` says how many instances of label y the explanation u holds for; `owners[s, u, y]` how
many instances of label y are explained by u (s = 1 where u holds for the instance itself). Tallies of
two pieces of instances over one list of explanations add up. Most of the tables may be empty: the kernel
keeps a list of owners, and makes tables of them for estimators, of some explanations at a time.
"""

from bisect import bisect_right
from collections.abc import Iterator
from functools import cached_property, partial
from typing import Any

import attrs
import numpy as np
from numpy.typing import NDArray

from faithkit.arrays import is_view, sum_by
from faithkit.arrays.bitsets import Bits, column_sums
from faithkit.arrays.blocks import spans
from faithkit.arrays.grouping import group
from faithkit.errors import InputError
from faithkit.explanations.explanations import Explanations, Sample
from faithkit.explanations.relations import Relation, key_of
from faithkit.measure.agreement.base import Agreement, ScopePredictions, chance, toward
from faithkit.measure.agreement.same_label import SAME_LABEL
from faithkit.measure.counting import scans
from faithkit.measure.counting.label_sets import LabelSets
from faithkit.measure.counting.owners import Counts, Owners, constant, numbered, placed, places
from faithkit.measure.counting.pool import Pool
from faithkit.measure.counting.scans import ScanTarget, ask, bit_blocks

SELF = np.array([[0], [1]])  # what is no other to an owner: itself, where its explanation holds for it
MOST = 2**25  # entries of a table that somebody asks for as a whole
NOTHING = 1e-12  # of all that an explanation holds for
NARROW = 2**15  # entries of a part of a grouping's table: most are empty, so small parts waste less time


@attrs.frozen(eq=False)
class Tally:
    """Counts and owners of m distinct explanations over k labels.

    Attributes
    ----------
    counts : (m, k) int
        The instances of each label for which each explanation holds.
    owners : (2, m, k) int
        The instances of each label that it explains, by s.
    own, own_agreeing : (2, m) int
        What is no *other* to an owner among those for whom its explanation holds, and what of it agrees: by
        default the owner itself, where s is 1. Where rows have weights or clusters, an explanation has a row
        for each kind of owner, and all numbers are sums of weights, which average to 1.
    agreement : Agreement
        How far two labels agree.

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
        """T[u, y]: how many agree with a label of those an explanation holds for; of labels, `counts`."""
        row, label = (place.ravel() for place in np.indices(self.counts.shape))
        return self.agreement.over_slots(row, label, self.counts.ravel()).reshape(self.counts.shape)

    @property
    def others(self) -> NDArray[Any]:
        """D[s, u, y]: how many *other* instances an owner can be checked against."""
        totals = self.counts.sum(axis=1)[None, :, None]
        left = totals - self.own[..., None]
        if left.dtype.kind == "f":  # of weights: what rounding leaves of nothing is nothing
            left = np.where(left < NOTHING * totals, 0.0, left)
        return np.broadcast_to(left, self.owners.shape)

    @property
    def agreeing(self) -> NDArray[Any]:
        """A[s, u, y]: how many of those agree with the owner."""
        agreeing = self.alike[None] - self.own_agreeing[..., None]
        if agreeing.dtype.kind != "f":
            return agreeing
        least = 0.0 if self.agreement.is_whole else -np.inf  # what rounding leaves of nothing is nothing
        return np.clip(agreeing, least, self.others)

    @property
    def entries(self) -> Owners:
        """The owners one after the other, without what nobody owns."""
        row, label, s = np.nonzero(self.owners.transpose(1, 2, 0))
        return Owners(
            row, label, self.owners[s, row, label], self.alike[row, label], self.counts.sum(axis=1), own=s
        )

    def __add__(self, other: "Tally") -> "Tally":
        if self.counts.shape != other.counts.shape:
            raise InputError(
                f"tallies of {self.counts.shape} and {other.counts.shape} explanations × labels do not add: "
                "tally both pieces against one list of explanations and labels."
            )
        return Tally(self.counts + other.counts, self.owners + other.owners, agreement=self.agreement)


@attrs.frozen(eq=False, kw_only=True)
class Count:
    """A relation's counts over a population.

    `explanations` are the distinct ones in order of first appearance; `agreement` says how far two labels
    agree. `owners` is all that the kernel computes
    with; `table` has the counts of a relation that was asked over all labels, if not too many.
    """

    relation: Relation
    explanations: Explanations
    n_labels: int
    owners: Owners
    agreement: Agreement = SAME_LABEL
    table: Counts | None = None

    @property
    def is_plain(self) -> bool:
        """Whether rows are equal and are checked against each other alone."""
        return True

    def chance(self) -> float | None:
        """Return what a constant explainer would get on the same rows."""
        if self.agreement.is_divided:
            return 0.0  # by which it was divided
        return chance(self.owners.by_label(), self.agreement)

    @property
    def settled(self) -> "Count":
        """The same with every prediction once, and in order: for whoever looks at single ones."""
        return self

    @property
    def tally(self) -> Tally:
        """The tally as a whole; refused where it is too large."""
        m, k = len(self.explanations), self.n_labels
        if m * k > MOST:
            raise InputError(
                f"the tally of {m:,} explanations × {k:,} labels is too large to be held as a whole: "
                "write an estimator, which is given a part of it at a time."
            )
        return self._part(0, m)

    def tallies(self) -> Iterator[Tally]:
        """Yield the tally as estimators get it: whole, or where it is large, some explanations at a time.

        Such a part has the labels that occur in it, and no others.
        """
        m, k = len(self.explanations), self.n_labels
        if m * k <= scans.DENSE:
            yield self._part(0, m)
        elif self.relation.groups:
            yield from (self._part(*span, narrow=True) for span in _narrow_spans(self.owners))
        else:
            yield from (_occurring(self._part(*span)) for span in spans(m, max(1, scans.DENSE // k)))

    def label_counts(self, some: Counts) -> Counts:
        """Count the instances of every label for which some explanations hold: one row for each of these."""
        if self.relation.groups:
            return np.concatenate([self._part(u, u + 1).counts for u in some.tolist()])
        return self.asked(some) if self.table is None else self.table[some]

    def asked(self, some: Counts) -> Counts:
        """Ask the relation once more, about some explanations and everybody."""
        raise NotImplementedError

    def _part(self, start: int, stop: int, narrow: bool = False) -> Tally:
        """Return the tally of consecutive explanations over all labels; if `narrow`, those of its owners."""
        span, k, agreement = self.owners.span(start, stop), self.n_labels, self.agreement
        entries = self.owners.part(span.start, span.stop)
        label = entries.label
        if narrow:
            known, label = np.unique(label, return_inverse=True)
            k, agreement = len(known), agreement.taken(known)
        owners = np.zeros((2, stop - start, k), dtype=np.int64)
        owners[entries.own, entries.explanation - start, label] = entries.rows
        if self.relation.groups:
            return Tally(owners[1].copy(), owners, agreement=agreement)
        return Tally(self.label_counts(np.arange(start, stop)), owners, agreement=agreement)


@attrs.frozen(eq=False, kw_only=True)
class RowCount(Count):
    """Counts over a sample in memory, and where each row stands in them.

    `owned[i]` is the explanation of row i, `reflexive[i]` whether it holds for i itself. The rows of a `pool`
    are counted, too, and own nothing. Numbers are in units of `scale`.
    """

    sample: Sample
    labels: Counts
    owned: Counts
    reflexive: NDArray[np.bool_]
    pool: Pool | None = None
    scale: float = 1.0
    _place: Counts | None = None

    @property
    def is_plain(self) -> bool:
        """Whether rows are checked against each other alone: there is no pool."""
        return self.pool is None

    def chance(self) -> float | None:
        """Return what a constant explainer would get: an explained row and another one, maybe of the pool."""
        if self.pool is None or self.agreement.is_divided:
            return Count.chance(self)
        mine = np.bincount(self.labels, minlength=self.n_labels)
        theirs = np.bincount(self.pool.codes, minlength=self.n_labels)
        agreeing = (mine * (toward(self.agreement, mine + theirs) - 1)).sum().item()
        return float(agreeing / (mine.sum() * (mine.sum() + theirs.sum() - 1)))

    def pieces(self) -> Iterator[tuple[Sample, Counts]]:
        """Yield the sample, and the pieces of its pool, with their labels."""
        yield self.sample, self.labels
        yield from self.pool or ()

    def pooled(self) -> "Iterator[RowCount]":
        """Yield the pieces of the pool: rows that own nothing, beside the counts of all."""
        for sample, codes in self.pool or ():
            nothing = np.zeros(len(codes), dtype=bool)
            owned = np.full(len(codes), -1)
            yield attrs.evolve(
                self, sample=sample, labels=codes, owned=owned, reflexive=nothing, pool=None, place=owned
            )

    @cached_property
    def place(self) -> Counts:
        """Where every row stands among the owners."""
        if self._place is not None:
            return self._place
        return self.owners.places(self.owned, self.labels, self.reflexive.astype(np.int64), self.n_labels)

    @cached_property
    def sets(self) -> LabelSets:
        """Who has which label."""
        return LabelSets(self.labels, self.n_labels)

    def blocks(self) -> Iterator[tuple[int, int, Bits]]:
        """Yield the relation's matrix in blocks of explanations: start, stop and packed bits."""
        return bit_blocks(self.relation, self.sample, self.explanations)

    @property
    def instances(self) -> ScopePredictions:
        """The rows, for a relation's matrix over them."""
        return self.agreement.held(self.labels, self.n_labels)

    def sums(self, weights: NDArray[Any]) -> NDArray[Any]:
        """Add up, for every row, the weights of the explanations that hold for it."""
        everybody = np.zeros(len(self.labels), dtype=np.int64)
        sums = np.zeros(len(self.labels), dtype=weights.dtype)
        for start, stop, bits in self.blocks():
            sums += column_sums(bits, weights[start:stop, None, None], everybody)[:, 0]
            del bits  # before the next block is made
        return sums

    def asked(self, some: Counts) -> Counts:
        """Ask the relation once more, about some explanations and all rows."""
        explanations = self.explanations.take(some)
        blocks = bit_blocks(self.relation, self.sample, explanations)
        table = np.concatenate([self.sets.table(bits) for _, _, bits in blocks])
        for piece in self.pooled():
            table += piece.asked(some)
        return table


def _narrow_spans(owners: Owners) -> Iterator[tuple[int, int]]:
    """Yield (start, stop) of explanations that make a small table, since they have few labels together."""
    m = len(owners.totals)
    ends = np.searchsorted(owners.explanation, np.arange(m + 1)).tolist()
    start = 0
    while start < m:
        first = start
        sizes = range(first + 1, m + 1)
        fit = bisect_right(sizes, NARROW, key=lambda stop: (stop - first) * (ends[stop] - ends[first]))
        start = first + max(1, fit)
        yield first, start


def _occurring(tally: Tally) -> Tally:
    """Leave out the labels that nobody has and that nothing holds for."""
    used = tally.counts.any(axis=0) | tally.owners.any(axis=(0, 1))
    if used.all():
        return tally
    agreement = tally.agreement.taken(np.flatnonzero(used))
    return Tally(tally.counts[:, used], tally.owners[:, :, used], agreement=agreement)


def count(
    relation: Relation,
    sample: Sample,
    labels: Counts,
    n_labels: int,
    pool: Pool | None = None,
    agreement: Agreement = SAME_LABEL,
) -> RowCount:
    """Tally a relation over a sample.

    Parameters
    ----------
    relation : Relation
    sample : Sample
    labels : (n,) int
        The predictions, as codes 0 … n_labels − 1.
    n_labels : int
    pool : Pool, optional
        Rows that explanations are checked against beside the sample's own.
    agreement : Agreement
        How far two of the predictions agree.

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
    groups = group(key_of(relation, sample.explanations), missing)
    distinct = sample.explanations.take(groups.first)
    codes, size = groups.codes * n_labels + labels, len(groups) * n_labels
    place = None
    if size > 4 * len(codes):
        occurring, times, place = placed(codes)
    else:
        occurring, times = numbered(codes, size)
    row, label = np.divmod(occurring, n_labels)
    counted = partial(
        RowCount,
        relation=relation,
        sample=sample,
        labels=labels,
        n_labels=n_labels,
        agreement=agreement,
        owned=groups.codes,
        explanations=distinct,
    )
    if relation.groups:
        owners = grouped_owners(row, label, times, ~distinct.missing, agreement)
        return counted(reflexive=~missing, owners=owners, place=place)
    place = places(occurring, codes, size) if place is None else place
    whole = ScanTarget(distinct, n_labels, row, label, agreement)
    asked = ask(relation, sample, labels, whole, np.where(missing, -1, place))
    every = asked if pool is None else asked + pool.asked(relation, whole)
    owners = every.owners(whole, times)
    return counted(reflexive=asked.reflexive, owners=owners, table=every.table, pool=pool)


def grouped_owners(
    explanation: Counts,
    label: Counts | None,
    rows: Counts,
    held: NDArray[np.bool_],
    agreement: Agreement = SAME_LABEL,
) -> Owners:
    """Return the owners of grouping, in which an explanation holds for its owners, where there is one."""
    own = constant(1, len(rows)) if held.all() else held[explanation].astype(np.int64)
    itself = rows if held.all() else rows * own
    totals = sum_by(explanation, itself, len(held))
    # where numbers do not repeat, each entry is one row: then a view takes no memory
    if not is_view(rows) and (rows == 1).all():
        rows = constant(1, len(rows))
    return Owners(
        explanation, label, rows, agreement.over_slots(explanation, label, itself, totals), totals, own
    )
