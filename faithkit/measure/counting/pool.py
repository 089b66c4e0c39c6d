"""A pool: instances without explanations, which explanations are also checked against.

Predictions are cheap, so if a relation reads only the instance, a pool may have many more rows than the
sample. Its rows own no explanation.
"""

from collections.abc import Callable, Iterable, Iterator
from itertools import chain
from typing import Any

import attrs
import numpy as np

from faithkit.arrays import Ints
from faithkit.arrays.batches import spans
from faithkit.arrays.containers import n_rows, take_rows
from faithkit.explanations.explanations import Explanations, Sample

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

    codes: Ints
    pieces: Callable[[], Iterable[Any]]
    block: Ints | None = None
    _kept_samples: list[Sample] = attrs.field(factory=list, init=False, repr=False)

    @classmethod
    def of(cls, X: Any, codes: Ints) -> "Pool":
        """Build a pool of rows in memory."""
        n = n_rows(X)
        return cls(codes, lambda: (take_rows(X, slice(*span)) for span in spans(n, PIECE_ROWS)))

    def after(self, X: Any, codes: Ints) -> "Pool":
        """Return a pool that begins with further rows in memory."""
        first = Pool.of(X, codes)
        return Pool(np.concatenate([codes, self.codes]), lambda: chain(first.pieces(), self.pieces()))

    def __len__(self) -> int:
        return len(self.codes)

    def __iter__(self) -> Iterator[tuple[Sample, Ints]]:
        start = 0
        for sample in self.samples():
            stop = start + len(sample)
            yield sample, self.codes[start:stop]
            start = stop

    def in_blocks(self, block: Ints) -> "Pool":
        """Return the same rows, each with the number of its block."""
        return Pool(self.codes, self.pieces, block)

    @property
    def is_kept(self) -> bool:
        """Whether the pool is so small that its samples are kept."""
        return len(self) <= PIECE_ROWS

    def samples(self) -> Iterable[Sample]:
        """Return the pieces as samples; a small pool keeps them, with what relations cached there."""
        if not self.is_kept:
            return self._build_samples()
        if not self._kept_samples:
            self._kept_samples.extend(self._build_samples())
        return self._kept_samples

    def _build_samples(self) -> Iterator[Sample]:
        start = 0
        for X in self.pieces():
            stop = start + n_rows(X)
            yield unexplained_sample(X, None if self.block is None else self.block[start:stop])
            start = stop


def unexplained_sample(X: Any, block: Ints | None = None) -> Sample:
    """Return a sample of instances without explanations."""
    n = n_rows(X)
    missing = np.ones(n, dtype=bool)
    return Sample(X, Explanations(kind="value", values=np.full(n, None), missing=missing, block=block))
