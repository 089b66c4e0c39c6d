"""Which rows are near each other."""

from typing import Any

import numpy as np

from faithkit.measure.grouping import mix, words
from faithkit.measure.slots import Counts


def near_pairs(vectors: Any) -> Counts:
    """Return the block of each row."""
    rank = mix(words(vectors))
    values = np.nan_to_num(vectors.astype(np.float64))
    block, left, done = np.zeros(len(values), dtype=np.int64), [np.arange(len(values))], 0
    while left:
        rows = left.pop()
        if len(rows) <= 3:
            block[rows], done = done, done + 1
            continue
        some = values[rows]
        rows = rows[np.lexsort((rank[rows], some[:, np.ptp(some, axis=0).argmax()]))]
        half = len(rows) // 4 * 2
        left += [rows[:half], rows[half:]]
    return block
