"""Merging by its definition: blocks as lists of rows, and every delete-one value by starting anew."""

import numpy as np


def blocks_of(identities, clusters=None):
    """Return groups as they are, and all rows that are alone in one block; None is no explanation."""
    groups = {}
    for row, identity in enumerate(identities):
        if identity is not None:
            groups.setdefault(identity, []).append(row)
    unit = range(len(identities)) if clusters is None else clusters
    alone = [rows for rows in groups.values() if len({unit[row] for row in rows}) == 1]
    shared = [rows for rows in groups.values() if len({unit[row] for row in rows}) > 1]
    return [*shared, [row for rows in alone for row in rows]]


def merged_share(blocks, labels, weights=None, clusters=None):
    """Return x: what rows of different clusters count that agree, over the most that a row has of others."""
    n = len(labels)
    w = np.ones(n) if weights is None else np.asarray(weights, dtype=float)
    unit = list(range(n)) if clusters is None else list(clusters)
    total = 0.0
    for rows in blocks:
        rows = [row for row in rows if w[row] > 0]
        others = [sum(w[j] for j in rows if unit[j] != unit[i]) for i in rows]
        agreeing = sum(
            w[i] * w[j] for i in rows for j in rows if unit[i] != unit[j] and labels[i] == labels[j]
        )
        if others and max(others) > 0:
            total += agreeing / max(others)
    return total / w.sum()


def without(values, gone):
    """Return a list without some places."""
    return [value for place, value in enumerate(values) if place not in gone]


def pseudo_values(identities, labels, weights=None, clusters=None):
    """Return ψ for every row, or for every cluster in order of first appearance, by merging anew."""
    n = len(labels)
    w = [1.0] * n if weights is None else list(weights)
    unit = list(range(n)) if clusters is None else list(clusters)
    names = list(dict.fromkeys(unit))

    def share(gone):
        some = [without(values, gone) for values in (identities, labels, w, unit)]
        counting = [
            identity if weight > 0 else None for identity, weight in zip(some[0], some[2], strict=True)
        ]
        blocks = blocks_of(counting, some[3])
        return merged_share(blocks, some[1], some[2], some[3]) if sum(some[2]) > 0 else 0.0

    whole, C = share(set()), len(names)
    leave = [{row for row in range(n) if unit[row] == name} for name in names]
    return whole, [C * whole - (C - 1) * share(gone) for gone in leave]
