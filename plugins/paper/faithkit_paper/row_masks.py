"""Scores of boosted trees for many rows, which LIME and anchors ask for by the thousand.

A mask has a bit for each row. For each distinct threshold of the trees, one says which rows have at most that
value, so that one instruction takes 64 rows to the children of a node. For each level of a tree, another says
which rows go to the right: read across the levels, the bits of a row are the number of its leaf.
"""

from typing import Any

import numba
import numpy as np

MAX_DEPTH = 8  # the number of a leaf is a byte
BITS = 64
MAX_WORDS = 64  # of a mask: the masks of 4,096 rows fit into the processor's cache


@numba.njit(cache=True)
def add_scores(rows: np.ndarray, trees: Any, scores: np.ndarray) -> None:
    """Add the scores of all trees to those of the rows."""
    n_words = min(MAX_WORDS, (len(rows) + BITS - 1) // BITS)
    threshold_masks = np.empty((len(trees.thresholds), n_words), np.uint64)
    waiting = np.empty((MAX_DEPTH + 1, n_words), np.uint64)
    right_masks, leaf_scores = np.empty((MAX_DEPTH, n_words), np.uint64), np.empty(1 << MAX_DEPTH)
    leaf_numbers, sums = np.empty(8 * n_words, np.uint64), np.empty(n_words * BITS)
    for begin in range(0, len(rows), MAX_WORDS * BITS):
        block = rows[begin : begin + MAX_WORDS * BITS]
        fill_masks(block, trees, threshold_masks)
        first_tree = 0
        for label in range(len(trees.ends)):
            sums[:] = 0.0
            for tree in range(first_tree, trees.ends[label]):
                depth = find_leaves(
                    trees.roots[tree], trees, threshold_masks, waiting, right_masks, leaf_scores
                )
                add_leaves(right_masks[:depth], leaf_scores, leaf_numbers, sums)
            for row in range(len(block)):
                scores[begin + row, label] += sums[row]
            first_tree = trees.ends[label]


@numba.njit(cache=True)
def fill_masks(rows: np.ndarray, trees: Any, masks: np.ndarray) -> None:
    """Fill in for each threshold the mask of the rows that have at most its value."""
    masks[:] = 0
    for j in range(rows.shape[1]):
        thresholds = trees.thresholds[trees.first_split[j] : trees.first_split[j + 1]]
        column_masks = masks[trees.first_split[j] : trees.first_split[j + 1]]
        for row, position in enumerate(np.searchsorted(thresholds, rows[:, j])):
            if position < len(thresholds):
                column_masks[position, row // BITS] |= np.uint64(1) << np.uint64(row % BITS)
        for position in range(1, len(thresholds)):
            column_masks[position] |= column_masks[position - 1]


@numba.njit(cache=True)
def find_leaves(
    root: int,
    trees: Any,
    threshold_masks: np.ndarray,
    waiting: np.ndarray,
    right_masks: np.ndarray,
    leaf_scores: np.ndarray,
) -> int:
    """Return the depth of a tree.

    Fills in for each level the mask of the rows that go to the right, and the scores of the leaves by number.
    `waiting` has space for the rows of nodes that wait.
    """
    nodes, levels, numbers = np.zeros((3, MAX_DEPTH + 1), np.int64)
    nodes[0], n_waiting, depth = root, 1, 0
    waiting[0], right_masks[:] = ~np.uint64(0), 0
    while n_waiting:
        n_waiting -= 1
        node, level, number = nodes[n_waiting], levels[n_waiting], numbers[n_waiting]
        while trees.left[node] >= 0:
            threshold_mask, right_mask = threshold_masks[trees.split[node]], right_masks[level]
            rows, left_rows = waiting[n_waiting], waiting[n_waiting + 1]
            for word in range(len(rows)):
                left_rows[word] = rows[word] & threshold_mask[word]
                rows[word] &= ~threshold_mask[word]
                right_mask[word] |= rows[word]
            nodes[n_waiting], numbers[n_waiting] = trees.right[node], number | 1 << level
            node, level, n_waiting = np.int64(trees.left[node]), level + 1, n_waiting + 1
            levels[n_waiting - 1] = level
        leaf_scores[number], depth = trees.value[node], max(depth, level)
    return depth


@numba.njit(cache=True)
def add_leaves(
    right_masks: np.ndarray, leaf_scores: np.ndarray, leaf_numbers: np.ndarray, sums: np.ndarray
) -> None:
    """Add the score of its leaf to the sum of each row.

    `leaf_numbers` has space for the bytes of eight rows in each item.
    """
    leaf_numbers[:] = 0
    bits_of_8_rows = right_masks.view(np.uint8)
    for level in range(len(bits_of_8_rows)):
        for eight in range(len(leaf_numbers)):
            leaf_numbers[eight] |= np.uint64(bits_of_8_rows[level, eight]) << np.uint64(8 * level)
    for eight in range(len(leaf_numbers)):
        leaf_numbers[eight] = transpose(leaf_numbers[eight])
    leaf_of_row = leaf_numbers.view(np.uint8)
    for row in range(len(sums)):
        sums[row] += leaf_scores[leaf_of_row[row]]


@numba.njit(cache=True)
def transpose(bits: np.uint64) -> np.uint64:
    """Transpose a matrix of 8 × 8 bits: swap single bits, then squares of two bits, then of four."""
    swapped = (bits ^ bits >> np.uint64(7)) & np.uint64(0x00AA00AA00AA00AA)
    bits ^= swapped ^ swapped << np.uint64(7)
    swapped = (bits ^ bits >> np.uint64(14)) & np.uint64(0x0000CCCC0000CCCC)
    bits ^= swapped ^ swapped << np.uint64(14)
    swapped = (bits ^ bits >> np.uint64(28)) & np.uint64(0x00000000F0F0F0F0)
    return bits ^ swapped ^ swapped << np.uint64(28)
