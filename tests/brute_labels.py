"""The slow truth about one label: its owners are compared with everybody, by loops straight from the definitions.

The first `explained` rows have explanations, all of them by default; the others are a pool.
"""

import math


def shares(holds, labels, label, weights=None, clusters=None, explained=None, gone=()):
    """Return x_y and R_y: by weight, how far the label's owners agree with others, and how far they do not.

    holds[i][j] says whether i's explanation holds for j. Rows in `gone` are left out.
    """
    n = len(labels)
    weights = [1.0] * n if weights is None else weights
    clusters = list(range(n)) if clusters is None else clusters
    left = [row for row in range(n) if row not in gone]
    owners = [row for row in left if row < (n if explained is None else explained) and labels[row] == label]
    agreeing = disagreeing = 0.0
    for i in owners:
        others = [j for j in left if holds[i][j] and clusters[j] != clusters[i]]
        for j in others:
            whole = sum(weights[k] for k in others)
            if weights[j] and labels[j] == label:
                agreeing += weights[i] * weights[j] / whole
            elif weights[j]:
                disagreeing += weights[i] * weights[j] / whole
    total = sum(weights[i] for i in owners)
    return (agreeing / total, disagreeing / total) if total else (0.0, 0.0)


def standard_errors(holds, labels, label, weights=None, clusters=None, explained=None, units=None):
    """Return the standard errors of x_y and R_y by leaving every unit out; those of the pool are a stratum.

    Units are the rows of a cluster, or `units`: lists of rows.
    """
    n = len(labels)
    weights = [1.0] * n if weights is None else weights
    clusters = list(range(n)) if clusters is None else clusters
    if units is None:
        units = [[row for row in range(n) if clusters[row] == cluster] for cluster in dict.fromkeys(clusters)]
    units = [rows for rows in units if any(weights[row] for row in rows)]
    first = n if explained is None else explained
    strata = {is_pool: [rows for rows in units if (rows[0] >= first) == is_pool] for is_pool in (False, True)}
    case = holds, labels, label, weights, clusters, explained
    C = len(strata[False])

    def spread(place, stratum):
        values = [shares(*case, gone=rows)[place] for rows in stratum]
        return sum((value - sum(values) / len(values)) ** 2 for value in values)

    return [
        math.sqrt((C - 1) / C * spread(place, strata[False]) + spread(place, strata[True]))
        for place in (0, 1)
    ]


def influence(holds, labels, label):
    """Return max over rows of what a row has in the values of the label's owners, its own value being 1."""
    n = len(labels)
    owners = [i for i in range(n) if labels[i] == label]
    D = {i: sum(bool(holds[i][j]) for j in range(n) if j != i) for i in owners}
    return max(
        (labels[j] == label) + sum(1 / D[i] for i in owners if i != j and holds[i][j]) for j in range(n)
    )
