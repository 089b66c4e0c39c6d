"""Exceedance and the encoding gap by double loops straight from the definitions, and samples to try them on."""

import math

import numpy as np
import pandas as pd
from scipy import stats

import faithkit
from faithkit.measure.explanations import Explanations


def local(holds, agrees):
    """(A, D) of every instance, itself left out; agrees[i][j]: do the predictions of i and j agree?"""
    n = len(holds)
    others = [[j for j in range(n) if j != i and holds[i][j]] for i in range(n)]
    return [(sum(bool(agrees[i][j]) for j in some), len(some)) for i, some in enumerate(others)]


def exceedance(holds, agrees, level, delta=0.05):
    """Checked, share, surely, low and high: Clopper and Pearson's one-sided limits for every instance."""
    n, found = len(holds), [(A, D) for A, D in local(holds, agrees) if D]
    A, D = np.array(found, dtype=float).reshape(-1, 2).T
    upper = np.where(A == D, 1.0, stats.beta.ppf(1 - delta, A + 1, D - A))
    lower = np.where(A == 0, 0.0, stats.beta.ppf(delta, A, D - A + 1))
    a, b = sum(upper < level) / n, sum(lower >= level) / n
    low, high = max(0, (a - delta) / (1 - delta)), 1 - max(0, (b - delta) / (1 - delta))
    if not found:
        return 0, None, None, low, high
    return len(found), sum(level > A / D for A, D in found) / len(found), a * n / len(found), low, high


def kinds(holds, same):
    """Who is of the same explanation among those for whom it holds, and who is not."""
    n = range(len(holds))
    return tuple([[bool(holds[i][j]) and same[i][j] is kind for j in n] for i in n] for kind in (True, False))


def gap(holds, same, agrees):
    """|B|, how many lack either kind, M_O and M_R, and the influence of every instance on both."""
    n, sides = len(holds), kinds(holds, same)
    counts = [local(side, agrees) for side in sides]
    B = [i for i in range(n) if counts[0][i][1] and counts[1][i][1]]
    empty = [sum(D == 0 for _, D in one) for one in counts]
    if not B:
        return 0, empty, None, None
    h = [{i: A / D for i, (A, D) in enumerate(one) if D} for one in counts]
    means = [sum(one[i] for i in B) / len(B) for one in h]
    influences = []
    for side, counted, score, mean in zip(sides, counts, h, means, strict=True):
        rows = []
        for j in range(n):
            total = score[j] - mean if j in B else 0.0
            for i in B:
                if i != j and side[i][j]:
                    total += (bool(agrees[i][j]) - score[i]) / max(counted[i][1] - 1, 1)
            rows.append(total / len(B))
        influences.append(rows)
    return len(B), empty, means, influences


def gap_interval(compared, means, influences, confidence=0.95):
    """The written interval: limits of both means with |B|/2 trials at least, and their correlation."""
    n, few = len(influences[0]), compared / 2
    errors = [math.sqrt(n / (n - 1) * sum((x - np.mean(one)) ** 2 for x in one)) for one in influences]
    rho = np.corrcoef(*influences)[0, 1]
    (a, b), (c, d) = (_limits(x, se, few, confidence) for x, se in zip(means, errors, strict=True))
    (x, y), ends = means, []
    for p, q in ((x - a, d - y), (b - x, y - c)):
        ends.append(math.sqrt(p * p + q * q - 2 * rho * p * q))
    return x - y - ends[0], x - y + ends[1]


def _limits(x, se, few, confidence):
    return _lower(x, se, few, confidence), 1 - _lower(1 - x, se, few, confidence)


def _lower(x, se, few, confidence):
    half, z = (1 - confidence) / 2, stats.norm.ppf(0.5 + confidence / 2)
    t = x * (1 - x) / se**2
    trials = max(t, few)
    limit = stats.beta.ppf(half, trials * x, trials * (1 - x) + 1)
    return max(0, min(limit, x - z * se)) if t < few else limit


def below(x, explanation):
    """Whether somebody is at most as old as an explanation says."""
    return bool(x["age"] <= explanation[0])


def is_near(mine, theirs):
    return theirs is not None and abs(mine - theirs) <= 1


def near():
    return faithkit.relation("near-explanation:tau=1")


FUNCTION = faithkit.relation(below)
SAME = faithkit.relation("same-explanation")
RELATIONS = {
    "near explanations": (near(), lambda age, mine, theirs: is_near(mine, theirs)),
    "a function": (FUNCTION, lambda age, mine, theirs: age <= mine),
    "rules": ("in-scope", lambda age, mine, theirs: age <= mine),
    "both": (FUNCTION & near(), lambda age, mine, theirs: age <= mine and is_near(mine, theirs)),
    "one and not the other": (
        FUNCTION & ~near(),
        lambda age, mine, theirs: age <= mine and not is_near(mine, theirs),
    ),
    "either": (FUNCTION | SAME, lambda age, mine, theirs: age <= mine or mine == theirs),
    "the same twice": (SAME & SAME, lambda age, mine, theirs: mine == theirs),
}
"""Relations by their kind, and whether an explanation holds for somebody of an age whose own is `theirs`."""


class Trial:
    """A random sample, some of whose rows have no explanation: three classes, or numbers with a tolerance."""

    def __init__(self, name, seed, n=30, within=None):
        relation, applies = RELATIONS[name]
        rng = np.random.default_rng(seed)
        ages, limits, gone = rng.integers(0, 5, n), rng.integers(0, 4, n).astype(float), rng.random(n) < 0.15
        told = [None if no else limit for limit, no in zip(limits.tolist(), gone, strict=True)]
        y = rng.integers(0, 3, n) if within is None else np.round(rng.normal(0, 3, n), 1)
        self.agrees = [[bool(abs(a - b) <= (within or 0) + 1e-9) for b in y] for a in y]
        self.same = [[a is not None and a == b for b in told] for a in told]
        self.holds = [
            [mine is not None and applies(age, mine, theirs) for age, theirs in zip(ages, told, strict=True)]
            for mine in told
        ]
        if name == "rules":
            rules = [
                faithkit.Rule([faithkit.Interval("age", high=one)]) if one is not None else None
                for one in told
            ]
            explanations = Explanations.of(rules, kind="rule")
        else:
            explanations = Explanations.vectors(limits[:, None], missing=gone)
        outcome = {} if within is None else {"outcome": "numbers", "agree": f"within:{within}"}
        X = pd.DataFrame({"age": ages})
        self.result = faithkit.score(y, explanations, X=X, relation=relation, **outcome)
