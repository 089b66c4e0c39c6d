"""The slow truth about distances: single cells and double loops, sharing no code with the package."""

import math

import numpy as np
import pandas as pd


def columns_of(table):
    """Return each column as a list of plain values, None where one is missing, and whether it holds numbers."""
    frame = table if isinstance(table, pd.DataFrame) else pd.DataFrame(table)
    columns = []
    for j in range(frame.shape[1]):
        cells = [None if pd.isna(value) else value for value in frame.iloc[:, j].tolist()]
        is_number = frame.dtypes.iloc[j].kind in "iuf"
        columns.append(([float(c) if is_number and c is not None else c for c in cells], is_number))
    return columns


class Distances:
    """d(x, y) straight from the definitions, with scales from a background.

    The last bit of a standard deviation depends on the order of its sum, so those scales can be given.
    """

    def __init__(self, name, background, deviations=None):
        self.name = name
        self.numbers = [is_number for _, is_number in columns_of(background)]
        self.scales = [1.0 if name in ("euclidean", "manhattan") else 0.0 for _ in self.numbers]
        for j, (cells, is_number) in enumerate(columns_of(background)):
            known = [c for c in cells if c is not None] if is_number else []
            if known and min(known) < max(known) and name == "gower":
                self.scales[j] = max(known) - min(known)
            if known and min(known) < max(known) and name == "standardized":
                self.scales[j] = float(np.std(known)) if deviations is None else deviations[j]

    def __call__(self, x, y):
        total = 0.0
        for a, b, scale, is_number in zip(x, y, self.scales, self.numbers, strict=True):
            if a is None or b is None or not is_number:
                part = 0.0 if a == b else 1.0
            else:
                part = abs(a - b) / scale if scale else 0.0
                if self.name in ("euclidean", "standardized"):
                    part = part * part
            total += part
        if self.name in ("euclidean", "standardized"):
            return math.sqrt(total)
        return total / len(self.scales) if self.name == "gower" else total


def rows_of(table):
    """Return the rows as tuples of plain values."""
    return list(zip(*(cells for cells, _ in columns_of(table)), strict=True))


def in_order(rows):
    """Return distinct rows sorted by content: column after column, a missing value last."""
    return sorted(
        set(rows), key=lambda row: [(cell is None, cell if cell is not None else 0) for cell in row]
    )


def nearest(d, x, prototypes, k=1):
    """Return the k nearest of prototypes that stand in the order of their content: the first wins a tie."""
    ranked = sorted(range(len(prototypes)), key=lambda i: (d(x, prototypes[i]), i))
    return sorted(ranked[:k])
