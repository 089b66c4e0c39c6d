"""The slow truth: double loops straight from the definitions, sharing no code with the package."""

import math


def same(a, b):
    """Equality of explanations by the written rules: NaN equals NaN, −0.0 equals 0.0."""
    if isinstance(a, (list, tuple)) and isinstance(b, (list, tuple)):
        return len(a) == len(b) and all(same(x, y) for x, y in zip(a, b, strict=True))
    if isinstance(a, float) and isinstance(b, float) and math.isnan(a) and math.isnan(b):
        return True
    return a == b


def counts(holds, labels):
    """N_i and A_i, with the instance itself; holds[i][j]: does i's explanation hold for instance j?"""
    n = len(labels)
    N = [sum(bool(holds[i][j]) for j in range(n)) for i in range(n)]
    A = [sum(bool(holds[i][j]) and labels[j] == labels[i] for j in range(n)) for i in range(n)]
    return N, A


def estimate(holds, labels):
    """M̂ and the verified share, leaving the instance itself out where it is counted."""
    n = len(labels)
    if n == 0:
        return 0.0, 0.0
    total, verified = 0.0, 0
    for i in range(n):
        D = sum(bool(holds[i][j]) for j in range(n) if j != i)
        A = sum(bool(holds[i][j]) and labels[j] == labels[i] for j in range(n) if j != i)
        if D:
            total += A / D
            verified += 1
    return total / n, verified / n


def without(holds, labels, j):
    """The same sample, without instance j."""
    keep = [i for i in range(len(labels)) if i != j]
    return [[holds[a][b] for b in keep] for a in keep], [labels[a] for a in keep]


def pseudo_values(holds, labels):
    """n·M − (n−1)·M_(without j), for M and V, by really leaving every instance out."""
    n = len(labels)
    M, V = estimate(holds, labels)
    psi = []
    for j in range(n):
        m, v = estimate(*without(holds, labels, j))
        psi.append((n * M - (n - 1) * m, n * V - (n - 1) * v))
    return psi


def most_weight(holds, labels):
    """max_j Σ_{i ≠ j, j in i's scope} 1/D_i."""
    n = len(labels)
    D = [sum(bool(holds[i][j]) for j in range(n) if j != i) for i in range(n)]
    return max(sum(1 / D[i] for i in range(n) if i != j and holds[i][j]) for j in range(n))
