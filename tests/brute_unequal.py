"""The slow truth about rows with weights, clusters and pools: loops straight from the definitions.

The first `explained` rows have explanations, all of them by default; the others are a pool.
"""


def same(one, other):
    return float(one == other)


def estimate(holds, labels, weights, clusters, explained=None, left=None, agree=same):
    """M and V; holds[i][j]: does i's explanation hold for instance j? `left` is a cluster that is left out."""
    everybody = [i for i in range(len(labels)) if clusters[i] != left]
    rows = [i for i in everybody if explained is None or i < explained]
    total = verified = 0.0
    for i in rows:
        others = [j for j in everybody if clusters[j] != clusters[i] and holds[i][j]]
        D = sum(weights[j] for j in others)
        if D > 0:
            total += weights[i] * sum(weights[j] * agree(labels[i], labels[j]) for j in others) / D
            verified += weights[i]
    W = sum(weights[i] for i in rows)
    return (total / W, verified / W) if W else (0.0, 0.0)


def divided(holds, values, weights, clusters, explained=None, left=None):
    """V less the disagreement divided by that of an explanation which holds for everything, and V."""
    rows = values, weights, clusters, explained, left, lambda one, other: 1 - (one - other) ** 2 / 2
    M, V = estimate(holds, *rows)
    constant, all_of_it = estimate([[True] * len(values)] * len(values), *rows)
    disagreement = all_of_it - constant
    return (V - (V - M) / disagreement if disagreement > 1e-12 else 0.0), V


def standard_errors(holds, labels, weights, clusters, explained=None, estimate=estimate):
    """Of M and of Q = V − M, by really leaving out every cluster.

    Those of explained rows are left out as in a jackknife, (C − 1)/C Σ (x − mean)²; what the others of the
    pool do is added, Σ (x − mean)².
    """
    mine = list(dict.fromkeys(clusters[:explained]))
    theirs = [c for c in dict.fromkeys(clusters) if c not in mine]
    errors = []
    for pick in (lambda mv: mv[0], lambda mv: mv[1] - mv[0]):
        xs, ys = (
            [pick(estimate(holds, labels, weights, clusters, explained, c)) for c in some]
            for some in (mine, theirs)
        )
        x, y = sum(xs) / len(xs), sum(ys) / max(1, len(ys))
        variance = (len(xs) - 1) / len(xs) * sum((one - x) ** 2 for one in xs)
        errors.append((variance + sum((one - y) ** 2 for one in ys)) ** 0.5)
    return errors


def chance(labels, weights, clusters, explained=None):
    """The probability that an explained row and one of another cluster, drawn by weight, have one label."""
    n = len(labels)
    pairs = [(i, j) for i in range(n)[:explained] for j in range(n) if clusters[i] != clusters[j]]
    whole = sum(weights[i] * weights[j] for i, j in pairs)
    return sum(weights[i] * weights[j] for i, j in pairs if labels[i] == labels[j]) / whole


def share(holds, labels, weights, clusters):
    """max_c of (what others are checked against is c's, in weight) over c's own weight."""
    n = len(labels)
    found = []
    for c in dict.fromkeys(clusters):
        taken = 0.0
        for i in range(n):
            if clusters[i] == c:
                continue
            D = sum(weights[j] for j in range(n) if clusters[j] != clusters[i] and holds[i][j])
            if D > 0:
                mine = sum(weights[j] for j in range(n) if clusters[j] == c and holds[i][j])
                taken += weights[i] * mine / D
        own = sum(weights[i] for i in range(n) if clusters[i] == c)
        found.append(taken / own if own else 0.0)
    return max(found)
