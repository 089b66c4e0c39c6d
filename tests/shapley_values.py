"""Shapley values by their definition: every coalition of columns, filled in from the reference rows."""

import itertools
import math

import numpy as np


def shapley_values(score, row, reference):
    """Return the values (columns, classes) of one row; `score` takes a list of rows, each a list of cells."""
    d = len(row)

    def worth(coalition):
        mixed = [[row[j] if j in coalition else other[j] for j in range(d)] for other in reference]
        return np.asarray(score(mixed)).mean(axis=0)

    known = {
        frozenset(coalition): worth(coalition)
        for size in range(d + 1)
        for coalition in itertools.combinations(range(d), size)
    }
    values = np.zeros((d, len(known[frozenset()])))
    for coalition, without in known.items():
        for j in set(range(d)) - coalition:
            orders = math.factorial(len(coalition)) * math.factorial(d - len(coalition) - 1)
            values[j] += orders / math.factorial(d) * (known[coalition | {j}] - without)
    return values
