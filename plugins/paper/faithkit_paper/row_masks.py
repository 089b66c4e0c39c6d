"""Scores of boosted trees for unrelated rows, which LIME and anchors ask for by the thousand.

Trees compare a column with few distinct thresholds: the 2,100 trees of Covtype have 1,912. For each of them a
mask has a bit for each row, whether it is at most the threshold. So one instruction takes 64 rows to the
children of a node.
"""

from typing import Any

import numba
import numpy as np

MAX_DEPTH = 64
BITS = 64
MAX_WORDS = 64  # of a mask: the masks of 4,096 rows fit into the processor's cache
FEW = 6  # rows of a word that are faster to add one by one
BIT_NUMBER = np.zeros(67, np.int64)  # divided by 67, powers of two have different remainders
BIT_NUMBER[[2**bit % 67 for bit in range(BITS)]] = np.arange(BITS)


@numba.njit(cache=True)
def add_scores(rows: np.ndarray, trees: Any, scores: np.ndarray) -> None:
    """Add the scores of all trees to those of the rows."""
    n_words = min(MAX_WORDS, (len(rows) + BITS - 1) // BITS)
    masks = np.empty((len(trees.thresholds), n_words), np.uint64)
    all_rows, sums = np.empty(n_words, np.uint64), np.empty(n_words * BITS)
    waiting = np.empty((MAX_DEPTH, n_words), np.uint64)
    for begin in range(0, len(rows), MAX_WORDS * BITS):
        block = rows[begin : begin + MAX_WORDS * BITS]
        fill_masks(block, trees, masks)
        all_rows[:] = 0
        for row in range(len(block)):
            set_bit(all_rows, row)
        first_tree = 0
        for label in range(len(trees.ends)):
            sums[:] = 0.0
            for tree in range(first_tree, trees.ends[label]):
                waiting[0] = all_rows
                add_tree(trees.roots[tree], trees, masks, waiting, sums)
            for row in range(len(block)):
                scores[begin + row, label] += sums[row]
            first_tree = trees.ends[label]


@numba.njit(cache=True)
def set_bit(mask: np.ndarray, row: int) -> None:
    """Add a row to a mask."""
    mask[row // BITS] |= np.uint64(1) << np.uint64(row % BITS)


@numba.njit(cache=True)
def fill_masks(rows: np.ndarray, trees: Any, masks: np.ndarray) -> None:
    """Fill in for each threshold the mask of the rows that have at most its value."""
    masks[:] = 0
    for j in range(rows.shape[1]):
        thresholds = trees.thresholds[trees.first_split[j] : trees.first_split[j + 1]]
        column_masks = masks[trees.first_split[j] : trees.first_split[j + 1]]
        for row, position in enumerate(np.searchsorted(thresholds, rows[:, j])):
            if position < len(thresholds):
                set_bit(column_masks[position], row)
        for position in range(1, len(thresholds)):
            column_masks[position] |= column_masks[position - 1]


@numba.njit(cache=True)
def add_tree(root: int, trees: Any, masks: np.ndarray, waiting: np.ndarray, sums: np.ndarray) -> None:
    """Add the scores of the leaves of a tree to the sums of its rows, which are in `waiting[0]`."""
    nodes, n_waiting = np.empty(MAX_DEPTH, np.int64), 1
    nodes[0] = root
    while n_waiting:
        n_waiting -= 1
        node, mask = nodes[n_waiting], waiting[n_waiting]
        while trees.left[node] >= 0:
            split_mask, left_mask = masks[trees.split[node]], waiting[n_waiting + 1]
            any_left, any_right = np.uint64(0), np.uint64(0)
            for word in range(len(mask)):
                left_mask[word] = mask[word] & split_mask[word]
                mask[word] &= ~split_mask[word]
                any_left |= left_mask[word]
                any_right |= mask[word]
            if any_left == 0:
                node = np.int64(trees.right[node])
            elif any_right == 0:
                mask[:] = left_mask
                node = np.int64(trees.left[node])
            else:
                nodes[n_waiting] = trees.right[node]
                n_waiting += 1
                node, mask = np.int64(trees.left[node]), left_mask
        add_to_rows(trees.value[node], mask, sums)


@numba.njit(cache=True)
def add_to_rows(score: float, mask: np.ndarray, sums: np.ndarray) -> None:
    """Add a score to the sums of the rows of a mask."""
    for word in range(len(mask)):
        remaining, beyond_few = mask[word], mask[word]
        if remaining == 0:
            continue
        for _ in range(FEW):
            beyond_few &= beyond_few - np.uint64(beyond_few > 0)
        if beyond_few:
            word_sums = sums[word * BITS : (word + 1) * BITS]
            for bit in range(BITS):
                word_sums[bit] += score if remaining >> np.uint64(bit) & np.uint64(1) else 0.0
        else:
            while remaining:
                others = remaining & (remaining - np.uint64(1))
                sums[word * BITS + BIT_NUMBER[(remaining ^ others) % np.uint64(67)]] += score
                remaining = others
