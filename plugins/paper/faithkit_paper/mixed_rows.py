"""Scores of boosted trees for mixtures of two rows, which Permutation SHAP asks for by the thousand.

Consecutive rows in which each column has one of two values form a block. Within a block, a node of a tree
divides the rows only if its column has both values, one on each side of the threshold. So the rows that reach
a leaf have the first value in some columns and the second in some others. The sums of the leaves for all
combinations of values make a table, in which each row is looked up.
"""

from typing import Any

import numba
import numpy as np

MAX_PLAYERS = 14  # columns with two values: a table of 16,384 combinations
MAX_DEPTH = 64
MANY = 64  # mixtures of two rows, from which a table is faster than masks


def start_with_mixtures(rows: np.ndarray) -> bool:
    """Return whether so many rows mix the same two rows that a table of all their mixtures is worth it."""
    second, bit = np.empty(rows.shape[1], rows.dtype), np.empty(rows.shape[1], np.int64)
    end, _ = find_block(rows[:MANY], 0, second, bit, np.empty(MANY, np.int64))
    is_large: bool = end >= MANY
    return is_large


@numba.njit(cache=True)
def add_scores(rows: np.ndarray, trees: Any, scores: np.ndarray) -> None:
    """Add the scores of all trees to those of the rows, block by block."""
    n_rows, n_columns = rows.shape
    second, bit = np.empty(n_columns, rows.dtype), np.empty(n_columns, np.int64)
    coalitions, table = np.empty(n_rows, np.int64), np.empty(1 << MAX_PLAYERS)
    begin = 0
    while begin < n_rows:
        end, n_players = find_block(rows, begin, second, bit, coalitions)
        block_table, first_tree = table[: 1 << n_players], 0
        for label in range(len(trees.ends)):
            fill_table(rows[begin], second, bit, trees, range(first_tree, trees.ends[label]), block_table)
            sum_over_subsets(block_table)
            for row in range(begin, end):
                scores[row, label] += block_table[coalitions[row]]
            first_tree = trees.ends[label]
        begin = end


@numba.njit(cache=True)
def find_block(
    rows: np.ndarray, begin: int, second: np.ndarray, bit: np.ndarray, coalitions: np.ndarray
) -> tuple[int, int]:
    """Return the end of the block that starts at a row, and the number of columns with two values.

    Fills in the second value of each column, its bit (0 for columns with one value), and for each row its
    coalition: the bits of the columns in which it has the second value.
    """
    n_rows, n_columns = rows.shape
    second[:], bit[:], coalitions[begin], n_players = rows[begin], 0, 0, 0
    for end in range(begin + 1, n_rows):
        coalition, n_new = 0, 0
        for j in range(n_columns):
            if rows[end, j] != rows[begin, j]:
                if bit[j] == 0:
                    n_new += 1
                elif rows[end, j] != second[j]:
                    return end, n_players
                coalition |= bit[j]
        if n_players + n_new > MAX_PLAYERS:
            return end, n_players
        for j in range(n_columns if n_new else 0):
            if rows[end, j] != rows[begin, j] and bit[j] == 0:
                second[j], bit[j] = rows[end, j], 1 << n_players
                coalition |= bit[j]
                n_players += 1
        coalitions[end] = coalition
    return n_rows, n_players


@numba.njit(cache=True)
def fill_table(
    first: np.ndarray,
    second: np.ndarray,
    bit: np.ndarray,
    trees: Any,
    tree_numbers: range,
    table: np.ndarray,
) -> None:
    """Fill a table with the terms of each set of columns, which `sum_over_subsets` makes scores.

    Let s be 1 for columns with their second value and 0 for others. Then a leaf adds its score times the
    product of s over the columns `inside` and of 1 − s over the columns `outside`. Each term of that product
    belongs to one set of columns, and is the score or its negative. It is negative in the table if the set is
    odd: then all terms of a leaf have the same sign.
    """
    table[:] = 0.0
    waiting = np.empty((MAX_DEPTH, 4), np.int64)
    for tree in tree_numbers:
        waiting[0], n_waiting = (trees.roots[tree], 0, 0, 1), 1
        while n_waiting:
            n_waiting -= 1
            node, inside, outside, sign = waiting[n_waiting]
            while trees.left[node] >= 0:
                left, right = np.int64(trees.left[node]), np.int64(trees.right[node])
                j, threshold = trees.column[node], trees.value[node]
                for_first = left if first[j] <= threshold else right
                for_second = left if second[j] <= threshold else right
                if for_first == for_second or outside & bit[j]:
                    node = for_first
                elif inside & bit[j]:
                    node = for_second
                else:
                    waiting[n_waiting] = for_second, inside | bit[j], outside, -sign
                    n_waiting += 1
                    node, outside = for_first, outside | bit[j]
            subset, term = outside, sign * trees.value[node]
            while True:
                table[inside | subset] += term
                if subset == 0:
                    break
                subset = (subset - 1) & outside


@numba.njit(cache=True)
def sum_over_subsets(table: np.ndarray) -> None:
    """Replace the terms of each set by the sum over its subsets, of which odd ones have the wrong sign.

    Each round adds a column. Two rounds at a time read and write half as often.
    """
    size, quarter = len(table), 1
    if size >= 4:
        for begin in range(0, size, 4):
            block = table[begin : begin + 4]
            block[1], block[3] = block[0] - block[1], block[2] - block[3]
            block[2], block[3] = block[0] - block[2], block[1] - block[3]
        quarter = 4
    while 4 * quarter <= size:
        for begin in range(0, size, 4 * quarter):
            without, with_first = table[begin : begin + quarter], table[begin + quarter : begin + 2 * quarter]
            with_second = table[begin + 2 * quarter : begin + 3 * quarter]
            with_both = table[begin + 3 * quarter : begin + 4 * quarter]
            for i in range(quarter):
                first = without[i] - with_first[i]
                with_both[i] = first - (with_second[i] - with_both[i])
                with_second[i] = without[i] - with_second[i]
                with_first[i] = first
        quarter *= 4
    if quarter < size:
        table[quarter:] = table[:quarter] - table[quarter:]
