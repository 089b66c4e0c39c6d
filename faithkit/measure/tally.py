"""The tally: two integer tables from which everything else is computed.

`counts[u, y]` says how many instances of label y the explanation u holds for; `owners[s, u, y]` how
many instances of label y are explained by u (s = 1 where u holds for the instance itself). Tallies of
two shards of instances over one list of explanations add up.
"""

from collections.abc import Iterator

import attrs
import numpy as np
from numpy.typing import NDArray

from faithkit.errors import InputError
from faithkit.measure.bitsets import Bits, count_labels, get_bits, n_words, pack_bits
from faithkit.measure.blocks import spans
from faithkit.measure.explanations import Explanations, Sample
from faithkit.measure.grouping import group
from faithkit.measure.relations import Relation, holds_bits
from faithkit.measure.rows import n_rows

BLOCK_BYTES = 32 * 2**20  # of packed bits at a time, whatever the number of explanations

Counts = NDArray[np.int64]


@attrs.frozen(eq=False)
class Tally:
    """Counts and owners of m distinct explanations over k labels.

    Examples
    --------
    Three instances share one explanation, two of them with label 0:

    >>> tally = Tally(np.array([[2, 1]]), np.array([[[0, 0]], [[2, 1]]]))
    >>> tally.n, tally.others[1, 0, 0], tally.agreeing[1, 0].tolist()
    (3, np.int64(2), [1, 0])
    """

    counts: Counts
    owners: Counts

    @property
    def n(self) -> int:
        """The number of instances."""
        return int(self.owners.sum())

    @property
    def others(self) -> Counts:
        """D[s, u, y]: how many *other* instances an owner can be checked against."""
        totals = self.counts.sum(axis=1)
        return np.broadcast_to(totals[None, :, None] - _self_counted(), self.owners.shape)

    @property
    def agreeing(self) -> Counts:
        """A[s, u, y]: how many of those have the owner's label."""
        return self.counts[None] - _self_counted()

    def __add__(self, other: "Tally") -> "Tally":
        if self.counts.shape != other.counts.shape:
            raise InputError(
                f"tallies of {self.counts.shape} and {other.counts.shape} explanations × labels do not add: "
                "tally both shards against one list of explanations and labels."
            )
        return Tally(self.counts + other.counts, self.owners + other.owners)


def _self_counted() -> Counts:
    return np.array([0, 1]).reshape(2, 1, 1)


@attrs.frozen(eq=False)
class Count:
    """A tally and where each instance stands in it.

    `owned[i]` is the explanation of instance i, `reflexive[i]` whether it holds for i itself, and
    `explanations` the distinct explanations in the tally's order.
    """

    relation: Relation
    sample: Sample
    labels: Counts
    tally: Tally
    owned: Counts
    reflexive: NDArray[np.bool_]
    explanations: Explanations

    @property
    def cell(self) -> tuple[Counts, Counts, Counts]:
        """The index (s, u, y) of every instance into the tables."""
        return self.reflexive.astype(np.int64), self.owned, self.labels

    def blocks(self) -> Iterator[tuple[int, int, Bits]]:
        """Yield the relation's matrix in blocks of explanations: start, stop and packed bits."""
        size = max(1, BLOCK_BYTES // max(1, 8 * n_words(len(self.sample))))
        for start, stop in spans(len(self.explanations), size):
            yield (
                start,
                stop,
                holds_bits(self.relation, self.sample, self.explanations.take(slice(start, stop))),
            )


def count(relation: Relation, sample: Sample, labels: Counts, n_labels: int) -> Count:
    """Tally a relation over a sample.

    Parameters
    ----------
    relation : Relation
    sample : Sample
    labels : (n,) int
        The predictions, as codes 0 … n_labels − 1.
    n_labels : int

    Examples
    --------
    >>> from faithkit.measure.relations import SameExplanation
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
    key = relation.key(sample.explanations)
    if n_rows(key) != len(sample):
        raise InputError(f"{relation}.key gave {n_rows(key)} rows for {len(sample)} explanations.")
    groups = group(key, missing)
    distinct = sample.explanations.take(groups.first)
    shape = (len(groups), n_labels)
    empty = Tally(np.zeros(shape, np.int64), np.zeros((2, *shape), np.int64))
    counted = Count(relation, sample, labels, empty, groups.codes, ~missing, distinct)
    counts = tabulate(groups.codes, labels, shape, ~missing) if relation.groups else ask(counted)
    owners = [tabulate(groups.codes, labels, shape, counted.reflexive == bool(s)) for s in (0, 1)]
    return attrs.evolve(counted, tally=Tally(counts, np.stack(owners)))


def tabulate(codes: Counts, labels: Counts, shape: tuple[int, int], where: NDArray[np.bool_]) -> Counts:
    """Count how often each explanation meets each label, among the instances `where` says so."""
    cells = codes * shape[1] + labels
    if not where.all():
        cells = cells[where]
    return np.bincount(cells, minlength=shape[0] * shape[1]).reshape(shape)


def ask(counted: Count) -> Counts:
    """Count every block of the relation's matrix, and note (in place) who is covered by its own."""
    labels, n_labels = counted.labels, counted.tally.counts.shape[1]
    label_bits = pack_bits(np.arange(n_labels)[:, None] == labels[None, :])
    counts = counted.tally.counts
    for start, stop, bits in counted.blocks():
        counts[start:stop] = count_labels(bits, label_bits, partition=True)
        members = np.flatnonzero((counted.owned >= start) & (counted.owned < stop))
        counted.reflexive[members] = get_bits(bits, counted.owned[members] - start, members)
        del bits  # or two blocks would be held while the next one is made
    return counts
