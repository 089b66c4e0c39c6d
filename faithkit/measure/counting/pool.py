"""Pools: rows with predictions but without explanations.

If a relation reads only the instance, explanations can also be checked against rows of a pool: predictions
are cheap. The rows of a pool are checked against, but own no explanation.
"""

from collections.abc import Callable, Iterable, Iterator
from functools import reduce
from operator import add
from typing import Any

import attrs
import numpy as np

from faithkit.arrays.batches import spans
from faithkit.arrays.containers import n_rows, take_rows
from faithkit.errors import InputError
from faithkit.explanations.explanations import Explanations, Sample
from faithkit.explanations.relations import Relation
from faithkit.measure.counting.owners import Counts
from faithkit.measure.counting.scans import ScanCounts, ScanTarget, scan_relation

PIECE_ROWS = 2**18  # rows of a pool in memory per piece


@attrs.frozen(eq=False)
class Pool:
    """Instances without explanations, in pieces that can be iterated repeatedly, and their label codes.

    Examples
    --------
    >>> pool = Pool.of(np.array([[1.0], [2.0]]), np.array([0, 1]))
    >>> len(pool), [codes.tolist() for _, codes in pool]
    (2, [[0, 1]])
    """

    codes: Counts
    pieces: Callable[[], Iterable[Any]]
    _kept_samples: list[Sample] = attrs.field(factory=list, init=False, repr=False)

    @classmethod
    def of(cls, X: Any, codes: Counts) -> "Pool":
        """Build a pool of rows in memory."""
        n = n_rows(X)
        return cls(codes, lambda: (take_rows(X, slice(*span)) for span in spans(n, PIECE_ROWS)))

    def __len__(self) -> int:
        return len(self.codes)

    def __iter__(self) -> Iterator[tuple[Sample, Counts]]:
        start = 0
        for sample in self._samples():
            stop = start + len(sample)
            yield sample, self.codes[start:stop]
            start = stop

    def _samples(self) -> Iterable[Sample]:
        """Return the pieces as samples; a small pool keeps them, with what relations cached there."""
        if len(self) > PIECE_ROWS:
            return map(unexplained_sample, self.pieces())
        if not self._kept_samples:
            self._kept_samples.extend(map(unexplained_sample, self.pieces()))
        return self._kept_samples

    def scan(self, relation: Relation, target: ScanTarget) -> ScanCounts:
        """Count the relation's matrix of all explanations over the rows of the pool."""
        if not relation.instance_only:
            raise InputError(
                f"{relation} reads the explanations of the rows that it is asked about, and the rows of a "
                "pool have none: leave the pool out, or use a relation that reads the instance only."
            )
        scans = (scan_relation(relation, *piece, target, np.full(len(piece[1]), -1)) for piece in self)
        return reduce(add, scans)


def unexplained_sample(X: Any) -> Sample:
    """Return a sample of instances without explanations."""
    n = n_rows(X)
    explanations = Explanations(kind="value", values=np.full(n, None), missing=np.ones(n, dtype=bool))
    return Sample(X, explanations)
