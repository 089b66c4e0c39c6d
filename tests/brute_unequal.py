"""The slow truth about rows with weights, clusters and pools: loops straight from the definitions."""


def estimate(holds, labels, weights, clusters, left=None):
    """M and V; holds[i][j]: does i's explanation hold for instance j? `left` is a cluster that is left out."""
    n = len(labels)
    rows = [i for i in range(n) if clusters[i] != left]
    total = verified = 0.0
    for i in rows:
        others = [j for j in rows if clusters[j] != clusters[i] and holds[i][j]]
        D = sum(weights[j] for j in others)
        if D > 0:
            total += weights[i] * sum(weights[j] for j in others if labels[j] == labels[i]) / D
            verified += weights[i]
    W = sum(weights[i] for i in rows)
    return (total / W, verified / W) if W else (0.0, 0.0)


def left_out(holds, labels, weights, clusters):
    """(M, V) without each cluster, in order of their first row, by really leaving it out."""
    return [estimate(holds, labels, weights, clusters, left) for left in dict.fromkeys(clusters)]


def standard_errors(holds, labels, weights, clusters):
    """√((C − 1)/C Σ (x − mean)²) of M and of Q = V − M, over all clusters left out."""
    without = left_out(holds, labels, weights, clusters)
    C = len(without)
    errors = []
    for values in ([m for m, _ in without], [v - m for m, v in without]):
        mean = sum(values) / C
        errors.append(((C - 1) / C * sum((x - mean) ** 2 for x in values)) ** 0.5)
    return errors


def chance(labels, weights, clusters):
    """The probability that two rows of different clusters, drawn by weight, have one label."""
    n = len(labels)
    pairs = [(i, j) for i in range(n) for j in range(n) if clusters[i] != clusters[j]]
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


def pooled(holds, labels, n_explained):
    """M and V where only the first rows are explained, and all are witnesses."""
    total, verified = 0.0, 0
    for i in range(n_explained):
        others = [j for j in range(len(labels)) if j != i and holds[i][j]]
        if others:
            total += sum(labels[j] == labels[i] for j in others) / len(others)
            verified += 1
    return total / n_explained, verified / n_explained


def pooled_standard_errors(holds, labels, n_explained):
    """Of M and Q: pseudo-values of explained rows, and what each row of the pool takes with it."""
    everybody = range(len(labels))
    M, V = pooled(holds, labels, n_explained)
    explained, pool = [], []
    for j in everybody:
        keep = [i for i in everybody if i != j]
        less = [[holds[a][b] for b in keep] for a in keep], [labels[a] for a in keep]
        if j < n_explained:
            m, v = pooled(*less, n_explained - 1)
            n = n_explained
            explained.append((n * M - (n - 1) * m, n * V - (n - 1) * v))
        else:
            m, v = pooled(*less, n_explained)
            pool.append((n_explained * (M - m), n_explained * (V - v)))
    errors = []
    for pick in (lambda mv: mv[0], lambda mv: mv[1] - mv[0]):
        xs, ys = [pick(one) for one in explained], [pick(one) for one in pool]
        x, y = sum(xs) / len(xs), sum(ys) / max(1, len(ys))
        variance = sum((one - x) ** 2 for one in xs) / (len(xs) - 1) / len(xs)
        errors.append((variance + sum((one - y) ** 2 for one in ys) / n_explained**2) ** 0.5)
    return errors


def pooled_estimate(holds, labels, weights, clusters, n_explained, left=None):
    """M and V over explained rows, against rows of other clusters, the pool's included."""
    everybody = [i for i in range(len(labels)) if clusters[i] != left]
    rows = [i for i in everybody if i < n_explained]
    total = verified = 0.0
    for i in rows:
        others = [j for j in everybody if clusters[j] != clusters[i] and holds[i][j]]
        D = sum(weights[j] for j in others)
        if D > 0:
            total += weights[i] * sum(weights[j] for j in others if labels[j] == labels[i]) / D
            verified += weights[i]
    W = sum(weights[i] for i in rows)
    return (total / W, verified / W) if W else (0.0, 0.0)


def pooled_unequal_errors(holds, labels, weights, clusters, n_explained):
    """Of M and Q: clusters with explained rows are left out as in a jackknife, those of the pool added."""
    mine = list(dict.fromkeys(clusters[:n_explained]))
    theirs = [c for c in dict.fromkeys(clusters[n_explained:]) if c not in mine]
    errors = []
    for pick in (lambda mv: mv[0], lambda mv: mv[1] - mv[0]):
        xs, ys = (
            [pick(pooled_estimate(holds, labels, weights, clusters, n_explained, c)) for c in some]
            for some in (mine, theirs)
        )
        x, y = sum(xs) / len(xs), sum(ys) / max(1, len(ys))
        variance = (len(xs) - 1) / len(xs) * sum((one - x) ** 2 for one in xs)
        errors.append((variance + sum((one - y) ** 2 for one in ys)) ** 0.5)
    return errors


def pooled_chance(labels, weights, clusters, n_explained):
    """The probability that an explained row and one of another cluster, drawn by weight, have one label."""
    pairs = [(i, j) for i in range(n_explained) for j in range(len(labels)) if clusters[i] != clusters[j]]
    whole = sum(weights[i] * weights[j] for i, j in pairs)
    return sum(weights[i] * weights[j] for i, j in pairs if labels[i] == labels[j]) / whole
