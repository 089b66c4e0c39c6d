"""Candidates for an anchor: some predicates of an instance, with what they cover and what was drawn for them.

A sample that was drawn for a candidate counts for those that extend it, too, where their predicates hold.
It is kept no longer than that.
"""

from collections.abc import Callable, Sequence
from typing import Any

import attrs
import numpy as np
from numpy.typing import NDArray

Bools = NDArray[np.bool_]
Bits = NDArray[np.uint8]
Counts = NDArray[np.int64]
Holds = Callable[[NDArray[Any]], Bools]


@attrs.frozen(eq=False)
class Samples:
    """Which predicates hold in each sample, in bits, and whether it has the instance's label.

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
        """Pack what holds, (samples, predicates), into bits."""
        return cls(np.packbits(holds, axis=1), agree)

    def and_(self, others: "Samples") -> "Samples":
        """Return these samples and others."""
        return Samples(np.concatenate([self.holds, others.holds]), np.concatenate([self.agree, others.agree]))

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
    own: list[tuple[NDArray[Any], Bools]] = attrs.field(factory=list)

    @property
    def predicates(self) -> tuple[int, ...]:
        """The predicates by their numbers."""
        return tuple(sorted(self.order))

    @property
    def precision(self) -> float:
        """The share of samples that have the instance's label."""
        return self.agreeing / self.drawn

    def add(self, rows: NDArray[Any], agree: Bools) -> None:
        """Count rows that were drawn for it."""
        self.own.append((rows, agree))
        self.drawn += len(agree)
        self.agreeing += int(np.count_nonzero(agree))

    def samples(self, holds: Holds) -> Samples:
        """Return all that were drawn for it or for what it extends, if its predicates hold in them."""
        inherited = None if self.inherited is None else self.inherited.where(self.order[-1])
        if not self.own and inherited is not None:
            return inherited
        rows, agree = (np.concatenate(parts) for parts in zip(*self.own, strict=True))
        own = Samples.of(holds(rows), agree)
        return own if inherited is None else inherited.and_(own)

    def without_samples(self) -> "Candidate":
        """Return the counts alone."""
        return attrs.evolve(self, inherited=None, own=[])


def extensions(
    candidates: Sequence[Candidate], coverage: Coverage, above: int, holds: Holds
) -> list[Candidate]:
    """Return the candidates of one predicate more that cover more than `above` rows, in anchor-exp's order.

    `holds` tells which predicates hold in rows that were drawn.

    Examples
    --------
    >>> coverage = Coverage.of(np.array([[True, True], [True, False], [False, False]]))
    >>> empty = Candidate(())
    >>> empty.add(np.array([[1, -1]]), np.array([True]))
    >>> found = extensions([empty], coverage, above=0, holds=lambda rows: rows > 0)
    >>> [(candidate.order, candidate.coverage, candidate.drawn) for candidate in found]
    [((0,), 2, 1), ((1,), 1, 0)]
    """
    families = [_Family.of(candidate, coverage, holds) for candidate in candidates]
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
    def of(cls, parent: Candidate, coverage: Coverage, holds: Holds) -> "_Family":
        samples, predicates = parent.samples(holds), parent.predicates
        counts = (coverage.counts(predicates), *samples.counts(len(coverage.bits)))
        return cls(parent, predicates, samples, *(of_all.tolist() for of_all in counts))

    def child(self, last: int) -> Candidate:
        order = (*self.parent.order, last)
        return Candidate(order, self.coverage[last], self.drawn[last], self.agreeing[last], self.samples)
