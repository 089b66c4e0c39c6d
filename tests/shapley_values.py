"""Shapley values by their definition: every coalition of columns, filled in from the reference rows."""

import itertools
import math

import numpy as np


def shapley_values(score, row, reference):
    """Return the values (columns, classes) of one row; `score` takes a list of rows, each a list of cells."""
    d = len(row)
    coalitions = [
        frozenset(coalition) for size in range(d + 1) for coalition in itertools.combinations(range(d), size)
    ]
    mixed = [
        [row[j] if j in coalition else other[j] for j in range(d)]
        for coalition in coalitions
        for other in reference
    ]
    worth = np.asarray(score(mixed)).reshape(len(coalitions), len(reference), -1).mean(axis=1)
    known = dict(zip(coalitions, worth, strict=True))
    values = np.zeros((d, len(known[frozenset()])))
    for coalition, without in known.items():
        for j in set(range(d)) - coalition:
            orders = math.factorial(len(coalition)) * math.factorial(d - len(coalition) - 1)
            values[j] += orders / math.factorial(d) * (known[coalition | {j}] - without)
    return values
