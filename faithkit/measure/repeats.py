"""Rows that repeat each other: how much could be checked without them."""

import numpy as np

from faithkit.arrays import Ints, sum_by
from faithkit.arrays.batches import concatenate_ranges, spans
from faithkit.arrays.bitsets import get_bits
from faithkit.measure.counting.tally import RowCount

PAIRS = 2**22  # pairs of an explanation and a row per batch


def share_beyond_repeats(count: RowCount, repeats: Ints) -> float:
    """Return the share of the checked rows that can be checked against other rows than their repeats.

    Parameters
    ----------
    count : RowCount
        The counts of equal rows.
    repeats : (n,) int
        Rows that repeat each other have the same number.

    Examples
    --------
    Two cases with two entries each share their explanation; a third case shares it with its own entries only:

    >>> import faithkit
    >>> result = faithkit.score([0, 0, 1, 1, 0, 0], ["a", "a", "a", "a", "b", "b"])
    >>> round(share_beyond_repeats(result.evidence.counts["consistency"], np.array([0, 0, 1, 1, 2, 2])), 3)
    0.667
    """
    others = count.owners.others[count.owner_index]
    is_checked = others > 0
    if not is_checked.any():
        return 1.0
    beyond = others - _count_repeats_in_scope(count, repeats)
    return float((beyond[is_checked] > 0).mean())


def _count_repeats_in_scope(count: RowCount, repeats: Ints) -> Ints:
    """Return for how many of its repeats the explanation of each row holds."""
    n_repeats = int(repeats.max()) + 1
    pairs, pair = np.unique(count.owned * n_repeats + repeats, return_inverse=True)
    explanation, repeat = np.divmod(pairs, n_repeats)
    is_group = count.relation.groups
    holding = np.bincount(pair) if is_group else _scan_pairs(count, explanation, repeat, repeats)
    return holding[pair] - count.reflexive


def _scan_pairs(count: RowCount, explanation: Ints, repeat: Ints, repeats: Ints) -> Ints:
    """Return for how many rows of a repeat group an explanation holds, for each pair of both."""
    rows, sizes = np.argsort(repeats, kind="stable"), np.bincount(repeats)
    starts = np.cumsum(sizes) - sizes
    holding = np.zeros(len(explanation), dtype=np.int64)
    for start, stop, bits in count.batches():
        first, last = np.searchsorted(explanation, [start, stop])
        for low, high in spans(int(last - first), max(1, PAIRS // int(sizes.max()))):
            batch = slice(int(first) + low, int(first) + high)
            members = rows[concatenate_ranges(starts[repeat[batch]], sizes[repeat[batch]])]
            position = np.repeat(np.arange(high - low), sizes[repeat[batch]])
            holds = get_bits(bits, explanation[batch][position] - start, members)
            holding[batch] = sum_by(position, holds.astype(np.int64), high - low)
        del bits  # free memory before the next batch
    return holding
