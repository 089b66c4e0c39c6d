"""Which rows in memory an explanation holds for."""

import numpy as np
from numpy.typing import NDArray

from faithkit.measure.bitsets import unpack_bits
from faithkit.measure.counting import CellCount
from faithkit.measure.explanations import Explanations, Sample
from faithkit.measure.owners import Counts
from faithkit.measure.relations import Relation, holds_bits
from faithkit.measure.tally import RowCount


def held(relation: Relation, sample: Sample, one: Explanations) -> NDArray[np.intp]:
    """Return the rows of a sample for which one explanation holds.

    Examples
    --------
    >>> from faithkit.measure.relations import SameExplanation
    >>> sample = Sample(None, Explanations.of(["a", "b", "a"]))
    >>> held(SameExplanation(), sample, Explanations.of(["a"]))
    array([0, 2])
    """
    return np.flatnonzero(unpack_bits(holds_bits(relation, sample, one), len(sample))[0])


def all_held(counted: CellCount, one: Explanations) -> NDArray[np.intp]:
    """Return the rows of the sample, and of a pool behind it, for which one explanation holds."""
    samples = (counted.sample, *counted.more)
    starts = np.cumsum([0, *map(len, samples)])
    found = [
        start + held(counted.relation, sample, one) for start, sample in zip(starts, samples, strict=False)
    ]
    return np.concatenate(found)


def held_labels(counted: RowCount, one: Explanations, but: int | None = None) -> Counts:
    """Return the labels of the rows, and of those of a pool, for which one explanation holds.

    `but` is a row of the sample to leave out.
    """
    rows = held(counted.relation, counted.sample, one)
    found = [counted.labels[rows if but is None else rows[rows != but]]]
    found += [codes[held(counted.relation, sample, one)] for sample, codes in counted.pool or ()]
    return np.concatenate(found)
