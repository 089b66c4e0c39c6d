"""Merging by its definition: blocks as lists of rows, and every delete-one value by starting anew."""

import numpy as np

from faithkit.measure.matching import divide_rows, match_rows


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


def near_blocks(vectors, alone, clusters, weights):
    """Return blocks of rows that are alone: matched explanations, or where they weigh differently, near ones."""
    identities = np.array([vectors[rows[0]] for rows in alone], dtype=float)
    if len({round(sum(weights[row] for row in rows), 9) for rows in alone}) > 1:
        place = divide_rows(identities, 32).tolist()
    else:
        place = match_rows(identities, np.array([clusters[rows[0]] for rows in alone])).tolist()
        place = [-1 - i if p < 0 else p for i, p in enumerate(place)]
    return [[rows for rows, p in zip(alone, place, strict=True) if p == b] for b in sorted(set(place))]


def near_share(block, labels, weights, clusters, alone):
    """Return what rows of different clusters agree in, w_i w_j over M + W − (their two clusters), by a double loop."""
    rows = [row for explanation in block for row in explanation]
    cell = {
        c: sum(weights[row] for row in rows if clusters[row] == c) for c in {clusters[row] for row in rows}
    }
    heaviest = max(sum(weights[row] for row in explanation) for explanation in alone)
    most = heaviest * max(sum(clusters[explanation[0]] == c for explanation in block) for c in cell)
    return sum(
        weights[i] * weights[j] / (most + sum(cell.values()) - cell[clusters[i]] - cell[clusters[j]])
        for i in rows
        for j in rows
        if clusters[i] != clusters[j] and labels[i] == labels[j]
    )


def merged_near(vectors, labels, weights=None, clusters=None):
    """Return x, its reach, its standard error and the pseudo-values of clusters; None where one block is made."""
    n = len(labels)
    w = np.ones(n) if weights is None else np.asarray(weights, dtype=float)
    w = w / w.mean()
    unit = list(range(n)) if clusters is None else list(clusters)
    groups = {}
    for row, vector in enumerate(vectors):
        if w[row] > 0:
            groups.setdefault(tuple(vector), []).append(row)
    known = sorted(groups.values())
    alone = [rows for rows in known if len({unit[row] for row in rows}) == 1]
    shared = [rows for rows in known if len({unit[row] for row in rows}) > 1]
    blocks = near_blocks(vectors, alone, unit, w) if len(alone) > 1 else None
    if blocks is None:
        return None
    found = [near_share(block, labels, w, unit, alone) for block in blocks]
    most = [near_share(block, [0] * n, w, unit, alone) for block in blocks]
    x = merged_share(shared, labels, w, unit) + sum(found) / n
    whole = merged_share(shared, [0] * n, w, unit)
    others = sum(w[row] for block in blocks if _several(block, unit) for rows in block for row in rows)
    se, psi = _errors(shared, blocks, found, labels, w, unit)
    return x, whole + others / n, se if 1e-12 < x < whole + sum(most) / n - 1e-12 else None, psi


def _several(block, unit):
    return len({unit[rows[0]] for rows in block}) > 1


def _errors(shared, blocks, found, labels, w, unit):
    """Compare every unit with every other one: a cluster's rows in groups, and each block of near ones."""
    n, names = len(labels), list(dict.fromkeys(unit))

    def grouped(gone):
        return n * merged_share(
            [[row for row in rows if unit[row] != gone] for rows in shared], labels, w, unit
        )

    rows_of = [[row for explanation in block for row in explanation] for block in blocks]
    near = {row for rows in rows_of for row in rows}
    lost = [grouped(None) - grouped(name) for name in names]
    mean = (sum(lost) + sum(found)) / n
    own = [
        lost[c] - mean * sum(w[row] for row in range(n) if unit[row] == name and row not in near)
        for c, name in enumerate(names)
    ]
    apart = [share - mean * sum(w[row] for row in rows) for share, rows in zip(found, rows_of, strict=True)]
    held = [{names.index(unit[row]) for row in rows} for rows in rows_of]
    linked = sum(value**2 for value in own) + sum(
        apart[a] * apart[b] * (1 if a == b else len(held[a] & held[b]))
        for a in range(len(apart))
        for b in range(len(apart))
    )
    linked += 2 * sum(own[c] * value for value, cells in zip(apart, held, strict=True) for c in cells)
    variance = max(linked, sum(value**2 for value in own + apart)) / n**2
    J = len(apart) + sum(
        1
        for c, name in enumerate(names)
        if not any(c in cells for cells in held) and any(w[row] > 0 for row in range(n) if unit[row] == name)
    )
    psi = []
    for c, name in enumerate(names):
        parts = sum(
            value * sum(w[row] for row in rows if unit[row] == name) / sum(w[row] for row in rows)
            for value, rows in zip(apart, rows_of, strict=True)
        )
        psi.append(mean + len(names) / n * (own[c] + parts))
    se = None if J < 2 or np.ptp(psi) <= 1e-12 else (J / (J - 1) * variance) ** 0.5
    return se, psi


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
