"""The slow truth about rows with weights, clusters and pools: loops straight from the definitions.

The first `explained` rows have explanations, all of them by default; the others are a pool.
"""


def same(first, second):
    return float(first == second)


def estimate(holds, labels, weights, clusters, explained=None, agree=same):
    """Leave-one-out's M, and V; holds[i][j]: does i's explanation hold for instance j?"""
    everybody = range(len(labels))
    rows = everybody[:explained]
    total = verified = 0.0
    for i in rows:
        others = [j for j in everybody if clusters[j] != clusters[i] and holds[i][j]]
        D = sum(weights[j] for j in others)
        if D > 0:
            total += weights[i] * sum(weights[j] * agree(labels[i], labels[j]) for j in others) / D
            verified += weights[i]
    W = sum(weights[i] for i in rows)
    return (total / W, verified / W) if W else (0.0, 0.0)


def divided(holds, values, weights, clusters, explained=None):
    """V less the disagreement divided by that of an explanation which holds for everything, and V."""
    rows = values, weights, clusters, explained, lambda first, second: 1 - (first - second) ** 2 / 2
    M, V = estimate(holds, *rows)
    constant, all_of_it = estimate([[True] * len(values)] * len(values), *rows)
    disagreement = all_of_it - constant
    return (V - (V - M) / disagreement if disagreement > 1e-12 else 0.0), V


def chance(labels, weights, clusters, explained=None):
    """The probability that an explained row and one of another cluster, drawn by weight, have one label."""
    n = len(labels)
    pairs = [(i, j) for i in range(n)[:explained] for j in range(n) if clusters[i] != clusters[j]]
    whole = sum(weights[i] * weights[j] for i, j in pairs)
    return sum(weights[i] * weights[j] for i, j in pairs if labels[i] == labels[j]) / whole
