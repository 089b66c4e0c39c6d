"""The measure by its definition: comparison matrices, loops, and every unit left out by counting anew.

It shares no code with the package. Rows are compared as the theory page says: `K` is a matrix of how much each
pair of rows counts, and all else are sums over it.
"""

import math

import numpy as np


def comparison_matrix(holds, unit, weights, owns, thinning=None):
    """Return K: row i is compared with rows of other units for which its explanation holds.

    `holds[i, j]` says whether the explanation of i holds for j; `owns[i]` is 0 for rows of a pool. With
    `thinning`, that weight is added to all others but the two units.
    """
    n = len(unit)
    K = np.zeros((n, n))
    for i in range(n):
        for j in range(n):
            if not (owns[i] and weights[i] and weights[j] and holds[i, j]) or unit[i] == unit[j]:
                continue
            if thinning is None:
                others = [k for k in range(n) if holds[i, k] and unit[k] != unit[i]]
            else:
                others = [k for k in range(n) if holds[i, k] and unit[k] not in (unit[i], unit[j])]
            K[i, j] = weights[i] * weights[j] / ((thinning or 0.0) + sum(weights[k] for k in others))
    return K


class Sums:
    """Estimate, disagreement and share compared of some rows, from matrices K by their definitions.

    `matrices(alive)` returns K of the relation and K of merged rows among the rows that are left, and
    `constant(alive)` that of one explanation for all rows. `apart[i, j]` is the disagreement of two rows.
    """

    def __init__(self, matrices, constant, apart, weights, owns, unchecked, divided=False, bounded=True):
        self.matrices, self.constant, self.apart = matrices, constant, apart
        self.weights, self.owns, self.unchecked = weights, owns, unchecked
        self.divided, self.bounded = divided, bounded

    def of(self, alive):
        """Return x, R_v and the share compared."""
        K, merged = self.matrices(alive)
        whole = (self.weights * self.owns)[alive].sum()
        unit = 1.0
        if self.divided:
            constant = self.constant(alive)
            if not (constant * self.apart).sum() > 1e-12:
                return 0.0, 1.0, 0.0
            unit = (constant * self.apart).sum() / constant.sum()
        lost, every = ((matrix * self.apart).sum() / whole / unit for matrix in (K, K + merged))
        compared = (K + merged).sum() / whole
        free = self.unchecked(unit) if callable(self.unchecked) else self.unchecked
        return 1.0 - every - free * (1.0 - compared), lost, compared


def jackknife(sums, unit, weights, owns):
    """Return the standard errors of x and R_v, by leaving out every unit; pools are a stratum of their own."""
    n = len(unit)
    owning = sorted({unit[i] for i in range(n) if owns[i] and weights[i]})
    pool = sorted({unit[i] for i in range(n) if weights[i]} - set(owning))
    errors = []
    for which in (0, 1):
        of_owners = np.array([sums.of(unit != u)[which] for u in owning])
        C = len(of_owners)
        variance = (C - 1) / C * ((of_owners - of_owners.mean()) ** 2).sum()
        if pool:
            of_pool = np.array([sums.of(unit != u)[which] for u in pool])
            variance += ((of_pool - of_pool.mean()) ** 2).sum()
        errors.append(math.sqrt(variance))
    return errors
