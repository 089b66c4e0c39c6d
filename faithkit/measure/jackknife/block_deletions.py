"""The jackknife of rows in blocks: the exact value of a measure without each block.

Every explanation holds inside one block only. So the sums of a measure lose the terms of a block with it, and
no others.
"""

import numpy as np

from faithkit.arrays import Floats, ratio, sum_by
from faithkit.measure.counting.block_count import BlockCount
from faithkit.measure.counting.design import effective_number
from faithkit.measure.jackknife.deletions import Deletions
from faithkit.measure.limits import SamplingUnits


def block_deletions(counts: BlockCount) -> Deletions:
    """Return the deletions of all blocks, in the order of their numbers.

    Examples
    --------
    >>> from faithkit.explanations.explanations import Explanations, Sample
    >>> from faithkit.explanations.relations import SameExplanation
    >>> from faithkit.measure.counting.block_count import count_in_blocks
    >>> words = Explanations.of(["a", "a", "a", "a", "b"], block=np.array([0, 0, 1, 1, 1]))
    >>> counts = count_in_blocks(SameExplanation(), Sample(None, words), np.array([0, 0, 0, 1, 1]), 2)
    >>> deletions = block_deletions(counts)
    >>> deletions.compared, deletions.disagreement, deletions.weight
    (array([2., 2.]), array([0., 2.]), array([2., 3.]))
    """
    owners, n_blocks = counts.owners, len(counts.sizes)
    is_checked = owners.others > 0
    compared = owners.rows * is_checked.astype(np.float64)
    disagreement = owners.rows * np.where(is_checked, 1.0 - owners.scores, 0.0)
    return Deletions(
        sum_by(counts.owner_block, compared, n_blocks),
        sum_by(counts.owner_block, disagreement, n_blocks),
        np.ones(n_blocks, dtype=np.int64),
        _divisor_without(counts),
        counts.sizes.astype(np.float64),
    )


def _divisor_without(counts: BlockCount) -> Floats | None:
    """Return the share of the divisor, the variance inside blocks, that is left without each block."""
    if not counts.agreement.is_normalised:
        return None
    comparable = (counts.sizes * (counts.sizes > 1)).astype(np.float64)
    disagreement = comparable * (1.0 - counts.chances)  # divided by the divisor, so that the mean is 1
    return ratio(disagreement.sum() - disagreement, comparable.sum() - comparable)


def block_units(counts: BlockCount) -> SamplingUnits:
    """Return the blocks as the independent units of a sample."""
    sizes = counts.sizes
    effective = effective_number(sizes)
    largest = float(sizes.max() / sizes.sum())
    return SamplingUnits(len(sizes), effective, largest, effective, are_blocks=True)
