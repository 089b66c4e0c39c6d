"""Merging by its definition: blocks are lists of rows, and a deleted row leaves its block; nothing is merged anew."""

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


def merged_share(blocks, labels, weights=None, clusters=None, gone=(), heaviest=None):
    """Return x: rows of different clusters that agree, w_i w_j over M + W − (their two cells), by a double loop.

    M is the block's largest cell, or `heaviest`; it stays as it is when some rows are `gone`.
    """
    n = len(labels)
    w = np.ones(n) if weights is None else np.asarray(weights, dtype=float)
    unit = list(range(n)) if clusters is None else list(clusters)
    left = np.array([0.0 if row in gone else w[row] for row in range(n)])
    total = 0.0
    for rows in blocks:
        cells = {c: sum(w[row] for row in rows if unit[row] == c) for c in {unit[row] for row in rows}}
        most = max(cells.values(), default=0.0) if heaviest is None else heaviest
        cell = {c: sum(left[row] for row in rows if unit[row] == c) for c in cells}
        total += sum(
            left[i] * left[j] / (most + sum(cell.values()) - cell[unit[i]] - cell[unit[j]])
            for i in rows
            for j in rows
            if unit[i] != unit[j] and labels[i] == labels[j] and left[i] and left[j]
        )
    return total / left.sum()


def pseudo_values(blocks, labels):
    """Return x of equal rows, and n·x − (n − 1)·x without each of them, the blocks being what they are."""
    n, x = len(labels), merged_share(blocks, labels)
    return x, [n * x - (n - 1) * merged_share(blocks, labels, gone=(row,)) for row in range(n)]


def paired_error(blocks, pairs, labels):
    """Return the standard error of x of equal rows where each of some pairs goes as one; others go by row.

    By how much x falls without a unit, times the rows that are left, is what the unit adds. These are taken
    around their mean by row, and divided by n.
    """
    n, x = len(labels), merged_share([*blocks, *pairs], labels)
    paired = {row for pair in pairs for row in pair}
    units = [*([row] for row in range(n) if row not in paired), *pairs]
    adds = [
        (n - len(unit)) * (x - merged_share([*blocks, *pairs], labels, gone=unit)) if len(unit) < n else 0.0
        for unit in units
    ]
    mean = sum(adds) / n
    apart = np.array([addition - mean * len(unit) for addition, unit in zip(adds, units, strict=True)])
    J = len(units)
    return float(np.sqrt(J / (J - 1) * (apart**2).sum())) / n


def linked_error(blocks, pairs, labels, clusters):
    """Return the same where clusters are units, which pairs link: Σ_c (e_c + Σ_d E_cd)² − Σ_{c<d} E_cd².

    e_c is what a cluster adds without pairs, and E_cd what all pairs of two clusters add, around the mean by row.
    """
    n = len(labels)
    paired = {row for pair in pairs for row in pair}
    names = list(dict.fromkeys(clusters))
    shared = n * merged_share(blocks, labels, clusters=clusters)
    rows = [[row for row in range(n) if clusters[row] == name] for name in names]
    lost = [
        shared - (n - len(gone)) * merged_share(blocks, labels, clusters=clusters, gone=gone) for gone in rows
    ]
    by_pair = [n * merged_share([pair], labels, clusters=clusters) for pair in pairs]
    mean = (sum(lost) + sum(by_pair)) / n
    unpaired = [sum(row not in paired for row in gone) for gone in rows]
    own = [loss - mean * size for loss, size in zip(lost, unpaired, strict=True)]
    by_pair = [loss - mean * len(pair) for loss, pair in zip(by_pair, pairs, strict=True)]
    by_link = {}
    for e, pair in zip(by_pair, pairs, strict=True):
        link = frozenset(names.index(clusters[row]) for row in pair)
        by_link[link] = by_link.get(link, 0.0) + e
    together = [loss + sum(e for link, e in by_link.items() if c in link) for c, loss in enumerate(own)]
    twice = sum(e**2 for e in by_link.values())
    linked, apart = sum(e**2 for e in together) - twice, sum(e**2 for e in own) + twice
    unlinked = sum(not any(c in link for link in by_link) for c in range(len(names)))
    J = min(len(names), len(by_link) + unlinked)
    return float(np.sqrt(J / (J - 1) * max(linked, apart))) / n
