"""Rows that are predicted and never explained, against which explanations are checked all the same.

Where a relation reads nothing of an instance but the instance itself, an explanation can be held against rows
that nobody explained: predictions are cheap. The rows of a pool are witnesses, and own nothing.
"""

from collections.abc import Callable, Iterable, Iterator
from functools import reduce
from operator import add
from typing import Any

import attrs
import numpy as np

from faithkit.arrays.blocks import spans
from faithkit.arrays.containers import n_rows, take_rows
from faithkit.errors import InputError
from faithkit.explanations.explanations import Explanations, Sample
from faithkit.explanations.relations import Relation
from faithkit.measure.counting.owners import Counts
from faithkit.measure.counting.scans import ScanCounts, ScanTarget, ask

PIECE = 2**18  # rows of a pool in memory that are asked about together


@attrs.frozen(eq=False)
class Pool:
    """Instances without explanations, in pieces that can be had again and again, and their labels.

    Examples
    --------
    >>> pool = Pool.of(np.array([[1.0], [2.0]]), np.array([0, 1]))
    >>> len(pool), [codes.tolist() for _, codes in pool]
    (2, [[0, 1]])
    """

    codes: Counts
    pieces: Callable[[], Iterable[Any]]

    @classmethod
    def of(cls, X: Any, codes: Counts) -> "Pool":
        """Make a pool of rows in memory."""
        n = n_rows(X)
        return cls(codes, lambda: (take_rows(X, slice(*span)) for span in spans(n, PIECE)))

    def __len__(self) -> int:
        return len(self.codes)

    def __iter__(self) -> Iterator[tuple[Sample, Counts]]:
        start = 0
        for X in self.pieces():
            rows = n_rows(X)
            yield unexplained(X), self.codes[start : start + rows]
            start += rows

    def asked(self, relation: Relation, whole: ScanTarget) -> ScanCounts:
        """Ask a relation about all explanations and every row of the pool."""
        if not relation.instance_only:
            raise InputError(
                f"{relation} reads the explanations of the rows that it is asked about, and the rows of a "
                "pool have none: leave the pool out, or use a relation that reads the instance only."
            )
        return reduce(add, (ask(relation, *one, whole, np.full(len(one[1]), -1)) for one in self))


def unexplained(X: Any) -> Sample:
    """Return a sample of instances without explanations."""
    rows = n_rows(X)
    nothing = Explanations(kind="value", values=np.full(rows, None), missing=np.ones(rows, dtype=bool))
    return Sample(X, nothing)
