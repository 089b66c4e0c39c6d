"""The slow truth about rows with weights, clusters and pools: loops straight from the definitions.

The first `explained` rows have explanations, all of them by default; the others are a pool.
"""

import numpy as np

from tests.definition import Rows


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


def constant(apart, weights, clusters, explained=None):
    """The mean disagreement that one explanation for all rows leaves, as the definition has it."""
    n = len(weights)
    one = np.zeros(n, dtype=int)
    rows = Rows(
        explanation=one,
        holds=np.ones((n, n), dtype=bool),
        apart=np.array([[apart(i, j) for j in range(n)] for i in range(n)]),
        weights=np.asarray(weights, dtype=float),
        unit=np.asarray(clusters),
        block=one,
        owns=np.arange(n) < (n if explained is None else explained),
        merged=one - 1,
    )
    return rows.constant(one == 0)


def divided(holds, values, weights, clusters, explained=None):
    """V less the disagreement divided by that of an explanation which holds for everything, and V."""
    M, V = estimate(
        holds, values, weights, clusters, explained, lambda first, second: 1 - (first - second) ** 2 / 2
    )
    disagreement = constant(lambda i, j: (values[i] - values[j]) ** 2 / 2, weights, clusters, explained)
    return (V - (V - M) / disagreement if disagreement > 1e-12 else 0.0), V


def chance(labels, weights, clusters, explained=None):
    """How far the label of an explained row agrees with those of other clusters."""
    return 1 - constant(lambda i, j: float(labels[i] != labels[j]), weights, clusters, explained)
