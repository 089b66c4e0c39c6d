"""A relation other than grouping over a sample that comes in shards: every shard against all explanations.

The first pass has found the distinct explanations (`Cells`). The second tallies each shard against all of
them, and tallies add up; the third goes over the pseudo-values of each shard's instances, of which a
standard error needs only their number, mean and spread.
"""

import math
from collections.abc import Iterable
from functools import reduce
from operator import add

import attrs
import numpy as np
from numpy.typing import NDArray

from faithkit.measure.cells import Cells
from faithkit.measure.explanations import Explanations, Sample
from faithkit.measure.grouping import group
from faithkit.measure.inference import Pseudo, pseudo_values
from faithkit.measure.relations import Relation
from faithkit.measure.rows import concat_rows
from faithkit.measure.tally import Count, Counts, Tally, ask, tabulate


def count_shard(
    relation: Relation, sample: Sample, labels: Counts, n_labels: int, distinct: Explanations
) -> Count:
    """Count the instances of a shard for which each of all explanations holds.

    An instance without an explanation stands at one of the missing ones, whichever: none holds for anything.

    Examples
    --------
    >>> from faithkit.measure.relations import NearExplanation
    >>> distinct = Explanations.vectors([[0.0], [1.0]])
    >>> shard = Sample(None, Explanations.vectors([[1.0], [1.0]]))
    >>> count_shard(NearExplanation(tau=0.5), shard, np.array([0, 1]), 2, distinct).tally.counts
    array([[0, 0],
           [1, 1]])
    """
    shape = (len(distinct), n_labels)
    empty = Tally(np.zeros(shape, np.int64), np.zeros((2, *shape), np.int64))
    owned = _places(relation, distinct, sample.explanations)
    reflexive = ~sample.explanations.missing
    counted = Count(relation, sample, labels, empty, owned, reflexive, distinct)
    counts = ask(counted)
    owners = [tabulate(owned, labels, shape, counted.reflexive == bool(s)) for s in (0, 1)]
    return attrs.evolve(counted, tally=Tally(counts, np.stack(owners)))


def _places(relation: Relation, distinct: Explanations, own: Explanations) -> Counts:
    keys = concat_rows([relation.key(distinct), relation.key(own)])
    groups = group(keys, np.concatenate([distinct.missing, own.missing]))
    places = groups.codes[len(distinct) :].copy()
    places[own.missing] = int(distinct.missing.argmax())
    return places


def add_tallies(parts: Iterable[Tally], cells: Cells) -> Tally:
    """Add the tallies of all shards up; who has no explanation is taken from the cells."""
    total = reduce(add, parts)
    gone = cells.explanations.missing
    owners = total.owners.copy()
    owners[:, gone] = cells.tally.owners[:, gone]
    return Tally(total.counts, owners)


@attrs.frozen
class Spread:
    """How many numbers there are, their mean, the sum of squared deviations from it, and their range.

    Examples
    --------
    >>> both = Spread.of(np.array([0.0, 0.0])) + Spread.of(np.array([1.0, 1.0]))
    >>> both.mean, round(both.standard_error, 4)
    (0.5, 0.2887)
    """

    n: int
    mean: float
    squares: float
    low: float
    high: float

    @classmethod
    def of(cls, values: NDArray[np.float64]) -> "Spread":
        """Measure some numbers."""
        mean = float(values.mean())
        squares = float(np.square(values - mean).sum())
        return cls(len(values), mean, squares, float(values.min()), float(values.max()))

    def __add__(self, other: "Spread") -> "Spread":
        n, apart = self.n + other.n, other.mean - self.mean
        return Spread(
            n,
            self.mean + apart * other.n / n,
            self.squares + other.squares + apart * apart * self.n * other.n / n,
            min(self.low, other.low),
            max(self.high, other.high),
        )

    @property
    def standard_error(self) -> float | None:
        """The standard error of the mean; None where the numbers do not vary."""
        if self.n < 2 or self.high - self.low <= 1e-12:
            return None
        return math.sqrt(self.squares / (self.n - 1) / self.n)


def spreads(counted: Count) -> tuple[Spread, Spread]:
    """Measure the pseudo-values of M and Q of a shard's instances, by the tally of the whole sample."""
    pseudo: Pseudo = pseudo_values(counted)
    return Spread.of(pseudo.value), Spread.of(pseudo.disagreement)
