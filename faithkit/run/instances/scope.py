"""Which rows in memory an explanation holds for."""

import numpy as np
from numpy.typing import NDArray

from faithkit.arrays import Ints
from faithkit.arrays.bitsets import unpack_bits
from faithkit.explanations.explanations import Explanations, Sample
from faithkit.explanations.relations import Relation, holds_bits
from faithkit.measure.counting.tally import RowCount


def held(relation: Relation, sample: Sample, one: Explanations) -> NDArray[np.intp]:
    """Return the rows of a sample for which one explanation holds.

    Examples
    --------
    >>> from faithkit.explanations.relations import SameExplanation
    >>> sample = Sample(None, Explanations.of(["a", "b", "a"]))
    >>> held(SameExplanation(), sample, Explanations.of(["a"]))
    array([0, 2])
    """
    return np.flatnonzero(unpack_bits(holds_bits(relation, sample, one), len(sample))[0])


def all_held(counted: RowCount, one: Explanations) -> tuple[Ints, Ints]:
    """Return the rows for which one explanation holds, those of a pool last, and their labels."""
    rows, labels, start = [], [], 0
    for sample, codes in counted.pieces():
        some = held(counted.relation, sample, one)
        rows.append(start + some)
        labels.append(codes[some])
        start += len(sample)
    return np.concatenate(rows), np.concatenate(labels)
