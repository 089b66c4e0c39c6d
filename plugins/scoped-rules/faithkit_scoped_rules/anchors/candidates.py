"""Candidates for an anchor: predicates of an instance, with their coverage and their samples.

A sample of a candidate also counts for the extensions of the candidate whose predicates hold in it. After
that it is dropped.
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
    """The predicates that hold in each sample, as bits, and whether it has the instance's label.

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
        """Pack a Boolean matrix (samples, predicates) into bits."""
        return cls(np.packbits(holds, axis=1), agree)

    def concatenate(self, samples: "Samples") -> "Samples":
        """Return these samples, followed by `samples`."""
        return Samples(
            np.concatenate([self.holds, samples.holds]), np.concatenate([self.agree, samples.agree])
        )

    def where(self, predicate: int) -> "Samples":
        """Return the samples in which a predicate holds."""
        is_holding = (self.holds[:, predicate >> 3] & (128 >> (predicate & 7))) > 0
        return Samples(self.holds[is_holding], self.agree[is_holding])

    def counts(self, n_predicates: int) -> tuple[Counts, Counts]:
        """Count for each predicate the samples in which it holds, and how many of them agree."""
        holds = np.unpackbits(self.holds, axis=1, count=n_predicates)
        return holds.sum(axis=0, dtype=np.int64), holds[self.agree].sum(axis=0, dtype=np.int64)


@attrs.frozen(eq=False)
class Coverage:
    """The rows that coverage is counted in, as bits for each predicate.

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
        """Pack a Boolean matrix (rows, predicates) into bits."""
        return cls(np.packbits(holds.T, axis=1), len(holds))

    def counts(self, predicates: Sequence[int]) -> Counts:
        """Count for each predicate the rows in which it and all of `predicates` hold."""
        scope_bits = self.bits & np.bitwise_and.reduce(self.bits[list(predicates)], axis=0)
        return np.bitwise_count(scope_bits).sum(axis=1, dtype=np.int64)


@attrs.define(eq=False)
class Candidate:
    """A set of predicates, the number of rows that they cover, and the number of samples that agree.

    `inherited` holds all samples of the candidate that this one extends by its last predicate.
    """

    order: tuple[int, ...]  # the predicates, in the order in which they were added
    coverage: int = 0
    drawn: int = 0
    agreeing: int = 0
    inherited: Samples | None = None
    batches: list[tuple[NDArray[Any], Bools]] = attrs.field(factory=list)

    @property
    def predicates(self) -> tuple[int, ...]:
        """The numbers of the predicates, sorted."""
        return tuple(sorted(self.order))

    @property
    def precision(self) -> float:
        """The share of samples that have the instance's label."""
        return self.agreeing / self.drawn

    def add(self, rows: NDArray[Any], agree: Bools) -> None:
        """Add rows that were drawn for this candidate."""
        self.batches.append((rows, agree))
        self.drawn += len(agree)
        self.agreeing += int(np.count_nonzero(agree))

    def samples(self, holds: Holds) -> Samples:
        """Return its own samples, and the inherited ones in which its predicates hold."""
        inherited = None if self.inherited is None else self.inherited.where(self.order[-1])
        if not self.batches and inherited is not None:
            return inherited
        rows, agree = (np.concatenate(arrays) for arrays in zip(*self.batches, strict=True))
        new_samples = Samples.of(holds(rows), agree)
        return new_samples if inherited is None else inherited.concatenate(new_samples)

    def without_samples(self) -> "Candidate":
        """Return a copy with the counts only."""
        return attrs.evolve(self, inherited=None, batches=[])


def extend_candidates(
    candidates: Sequence[Candidate], coverage: Coverage, min_coverage: int, holds: Holds
) -> list[Candidate]:
    """Return the extensions by one predicate that cover more than `min_coverage` rows, in anchor-exp's order.

    `holds` returns which predicates hold in drawn rows.

    Examples
    --------
    >>> coverage = Coverage.of(np.array([[True, True], [True, False], [False, False]]))
    >>> empty = Candidate(())
    >>> empty.add(np.array([[1, -1]]), np.array([True]))
    >>> candidates = extend_candidates([empty], coverage, min_coverage=0, holds=lambda rows: rows > 0)
    >>> [(candidate.order, candidate.coverage, candidate.drawn) for candidate in candidates]
    [((0,), 2, 1), ((1,), 1, 0)]
    """
    families = [_Family.of(candidate, coverage, holds) for candidate in candidates]
    extended: dict[tuple[int, ...], Candidate] = {}
    # the iteration order of a set decides between candidates of equal precision in anchor-exp
    distinct = set()
    for predicate in range(len(coverage.bits)):
        for family in families:
            predicates = tuple(sorted({*family.predicates, predicate}))
            if len(predicates) > len(family.predicates) and predicates not in distinct:
                distinct.add(predicates)
                extended[predicates] = family.child(predicate)
    order = distinct if candidates[0].order else extended
    return [extended[predicates] for predicates in order if extended[predicates].coverage > min_coverage]


@attrs.frozen(eq=False)
class _Family:
    """A candidate, and the counts of its extensions by the predicate that they add."""

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
        return cls(parent, predicates, samples, *(per_predicate.tolist() for per_predicate in counts))

    def child(self, predicate: int) -> Candidate:
        order = (*self.parent.order, predicate)
        return Candidate(
            order, self.coverage[predicate], self.drawn[predicate], self.agreeing[predicate], self.samples
        )
