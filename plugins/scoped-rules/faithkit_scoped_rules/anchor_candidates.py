"""Candidates for an anchor: some predicates of an instance, with what they cover and what was drawn for them.

A sample that was drawn for a candidate counts for those that extend it, too, where their predicates hold.
It is kept no longer than that, and not as a row: only which predicates hold in it, in bits.
"""

from collections.abc import Sequence

import attrs
import numpy as np
from numpy.typing import NDArray

Bools = NDArray[np.bool_]
Bits = NDArray[np.uint8]
Counts = NDArray[np.int64]


@attrs.frozen(eq=False)
class Samples:
    """Rows that were drawn: which predicates hold in each, and whether it has the instance's label.

    Examples
    --------
    >>> samples = Samples.of(np.array([[True, True], [True, False]]), np.array([False, True]))
    >>> samples.where(1).agree, [counts.tolist() for counts in samples.counts(2)]
    (array([False]), [[2, 1], [1, 0]])
    """

    holds: Bits
    agree: Bools

    @classmethod
    def of(cls, holds: Bools, agree: Bools) -> "Samples":
        """Pack what holds, (rows, predicates), into bits."""
        return cls(np.packbits(holds, axis=1), agree)

    @classmethod
    def joined(cls, parts: Sequence["Samples"]) -> "Samples":
        """Return all samples of some parts."""
        return cls(
            np.concatenate([part.holds for part in parts]), np.concatenate([part.agree for part in parts])
        )

    def where(self, predicate: int) -> "Samples":
        """Return those in which a predicate holds."""
        holding = (self.holds[:, predicate >> 3] & (128 >> (predicate & 7))) > 0
        return Samples(self.holds[holding], self.agree[holding])

    def counts(self, n_predicates: int) -> tuple[Counts, Counts]:
        """Count for each predicate those in which it holds, and how many of them agree."""
        holds = np.unpackbits(self.holds, axis=1, count=n_predicates)
        return holds.sum(axis=0, dtype=np.int64), holds[self.agree].sum(axis=0, dtype=np.int64)


@attrs.frozen(eq=False)
class Coverage:
    """The rows that coverage is counted in: bits of all rows for each predicate.

    Examples
    --------
    >>> coverage = Coverage.of(np.array([[True, True], [True, False], [False, True]]))
    >>> coverage.counts(()), coverage.counts((1,))
    (array([2, 2]), array([1, 2]))
    """

    bits: Bits
    n_rows: int

    @classmethod
    def of(cls, holds: Bools) -> "Coverage":
        """Pack what holds, (rows, predicates), into bits."""
        return cls(np.packbits(holds.T, axis=1), len(holds))

    def counts(self, others: Sequence[int]) -> Counts:
        """Count for each predicate the rows in which it holds, and some others do."""
        both = self.bits & np.bitwise_and.reduce(self.bits[list(others)], axis=0)
        return np.bitwise_count(both).sum(axis=1, dtype=np.int64)


@attrs.define(eq=False)
class Candidate:
    """Some predicates, how many of the coverage's rows they cover, and how many of their samples agree.

    `inherited` are all samples of the candidate that it extends by its last predicate.
    """

    order: tuple[int, ...]  # in which the predicates were added
    coverage: int = 0
    drawn: int = 0
    agreeing: int = 0
    inherited: Samples | None = None
    own: list[Samples] = attrs.field(factory=list)

    @property
    def predicates(self) -> tuple[int, ...]:
        """The predicates by their numbers."""
        return tuple(sorted(self.order))

    @property
    def precision(self) -> float:
        """The share of samples that have the instance's label."""
        return self.agreeing / self.drawn

    def add(self, samples: Samples) -> None:
        """Count samples that were drawn for it."""
        self.own.append(samples)
        self.drawn += len(samples.agree)
        self.agreeing += int(np.count_nonzero(samples.agree))

    def samples(self) -> Samples:
        """Return all that were drawn for it or for what it extends, if its predicates hold in them."""
        inherited = [] if self.inherited is None else [self.inherited.where(self.order[-1])]
        return Samples.joined([*inherited, *self.own])

    def without_samples(self) -> "Candidate":
        """Return the counts alone."""
        return attrs.evolve(self, inherited=None, own=[])


def extensions(candidates: Sequence[Candidate], coverage: Coverage, above: int) -> list[Candidate]:
    """Return the candidates of one predicate more that cover more than `above` rows, in anchor-exp's order.

    Examples
    --------
    >>> coverage = Coverage.of(np.array([[True, True], [True, False], [False, False]]))
    >>> empty = Candidate(())
    >>> empty.add(Samples.of(np.array([[True, False]]), np.array([True])))
    >>> [(one.order, one.coverage, one.drawn) for one in extensions([empty], coverage, above=0)]
    [((0,), 2, 1), ((1,), 1, 0)]
    """
    families = [_Family.of(candidate, coverage) for candidate in candidates]
    extended: dict[tuple[int, ...], Candidate] = {}
    order = set()  # of its own making: anchor-exp tells candidates of equal precision apart by it
    for predicate in range(len(coverage.bits)):
        for family in families:
            predicates = tuple(sorted({*family.predicates, predicate}))
            if len(predicates) > len(family.predicates) and predicates not in order:
                order.add(predicates)
                extended[predicates] = family.child(predicate)
    in_order = order if candidates[0].order else extended
    return [extended[predicates] for predicates in in_order if extended[predicates].coverage > above]


@attrs.frozen(eq=False)
class _Family:
    """A candidate and the counts of those that extend it, by the predicate that they add."""

    parent: Candidate
    predicates: tuple[int, ...]
    samples: Samples
    coverage: list[int]
    drawn: list[int]
    agreeing: list[int]

    @classmethod
    def of(cls, parent: Candidate, coverage: Coverage) -> "_Family":
        samples, predicates = parent.samples(), parent.predicates
        counts = (coverage.counts(predicates), *samples.counts(len(coverage.bits)))
        return cls(parent, predicates, samples, *(of_all.tolist() for of_all in counts))

    def child(self, last: int) -> Candidate:
        order = (*self.parent.order, last)
        return Candidate(order, self.coverage[last], self.drawn[last], self.agreeing[last], self.samples)
