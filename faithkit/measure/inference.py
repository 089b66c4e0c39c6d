"""Standard errors, intervals and the permutation test, for any relation.

The jackknife is exact: every delete-one value is computed, from the tally and one more pass over the
relation's matrix (none for grouping). The theory page derives each formula.
"""

import math
from collections.abc import Callable
from typing import Any

import attrs
import numpy as np
from numpy.typing import NDArray

from faithkit.measure.bitsets import column_sums, count_labels, pack_bits
from faithkit.measure.estimators import LeaveOneOut, mean_score, ratio
from faithkit.measure.tally import Count, Tally, tabulate

Floats = NDArray[np.float64]


@attrs.frozen(eq=False)
class Pseudo:
    """Jackknife pseudo-values with their multiplicities, and the smallest number of trials to assume.

    Grouping has one value per cell of the tally, other relations one per instance. `few` is a function:
    it takes another pass, and most intervals do not depend on it.
    """

    value: Floats
    verified: Floats
    weight: Floats
    few: Callable[[], float]

    @property
    def disagreement(self) -> Floats:
        """Pseudo-values of Q, the verified disagreement."""
        return self.verified - self.value


@attrs.frozen(eq=False)
class _Influence:
    """What each explanation's owners lose or gain when an instance it holds for is left out."""

    by_label: Floats  # (m, k): G[u] − E[u, y]
    verified: Floats  # (m,): Z[u]
    share: Floats  # (m,): r[u]


def _influence(tally: Tally) -> _Influence:
    D, h = tally.others, ratio(tally.agreeing, tally.others)
    o = tally.owners
    gain = (o * np.where(D >= 2, ratio(h, D - 1.0), -h)).sum(axis=(0, 2))
    loss = (o * ratio(np.ones_like(h), np.where(D >= 2, D - 1.0, 0.0))).sum(axis=0)
    lone = (o * (D == 1)).sum(axis=(0, 2)).astype(np.float64)
    share = (o * ratio(np.ones_like(h), D)).sum(axis=(0, 2))
    return _Influence(gain[:, None] - loss, lone, share)


def _assemble(cells: tuple[NDArray[Any], ...], sums: tuple[Floats, Floats]) -> tuple[Floats, Floats]:
    """Put pseudo-values of M and V together from a cell's own D, A, s and the sums over explanations."""
    D, A, s = cells
    S, Z = sums
    h = ratio(A, D)
    own = np.where(D >= 2, ratio(h - 1.0, D - 1.0), -h)
    return h - S + s * own, (D > 0) + Z - s * (D == 1)


def pseudo_values(counted: Count) -> Pseudo:
    """Compute every delete-one jackknife pseudo-value of M and V.

    Examples
    --------
    >>> from faithkit.measure.explanations import Explanations, Sample
    >>> from faithkit.measure.relations import SameExplanation
    >>> from faithkit.measure.tally import count
    >>> sample = Sample(None, Explanations.of(["a", "a", "a"]))
    >>> pseudo_values(count(SameExplanation(), sample, np.array([0, 0, 1]), 2)).value.round(3)
    array([ 1., -1.])
    """
    if counted.relation.groups:
        return grouped_pseudo_values(counted.tally)
    influence = _influence(counted.tally)
    s, u, y = counted.cell
    D, A = counted.tally.others[s, u, y], counted.tally.agreeing[s, u, y]
    S, Z = _sums_over_explanations(counted, influence.by_label, influence.verified[:, None])
    value, verified = _assemble((D, A, s), (S, Z))

    def few() -> float:
        return float(len(D) / (1.0 + largest_share(counted)))

    return Pseudo(value, verified, np.ones(len(D)), few)


def largest_share(counted: Count) -> float:
    """Return the largest w of an instance: the shares that it has in the values of others, added up."""
    s, u, y = counted.cell
    (shares,) = _sums_over_explanations(counted, _influence(counted.tally).share[:, None])
    own = s * ratio(np.ones(len(s)), counted.tally.others[s, u, y])
    return float((shares - own).max(initial=0.0))


def grouped_pseudo_values(tally: Tally) -> Pseudo:
    """Compute the same for grouping, from the tally alone: one value for each of its cells."""
    influence = _influence(tally)
    held = np.array([0.0, 1.0]).reshape(2, 1, 1)  # a missing explanation holds for nothing
    sums = (held * influence.by_label, held * influence.verified[:, None])
    value, verified = _assemble((tally.others, tally.agreeing, held), sums)
    used = tally.owners > 0
    return Pseudo(value[used], verified[used], tally.owners[used].astype(np.float64), lambda: tally.n / 2)


def _sums_over_explanations(counted: Count, *weights: Floats) -> Floats:
    """Sum each of the weights (by explanation and label) over the explanations that hold for an instance."""
    sums = np.zeros((len(weights), len(counted.labels)))
    some = [i for i, weight in enumerate(weights) if weight.any()]  # Z is seldom anything but 0
    if not some:
        return sums
    wide = np.stack([np.broadcast_to(weights[i], counted.tally.counts.shape) for i in some], axis=2)
    for start, stop, bits in counted.blocks():
        sums[some] += column_sums(bits, wide[start:stop], counted.labels).T
        del bits  # before the next block is made
    return sums


def per_row(counted: Count, pseudo: Pseudo) -> tuple[Floats, Floats]:
    """Return the pseudo-values of M and Q for every instance, in the sample's order."""
    if not counted.relation.groups:
        return pseudo.value, pseudo.disagreement
    used = counted.tally.owners > 0
    place = np.cumsum(used).reshape(used.shape) - 1
    rows = place[counted.cell]
    return pseudo.value[rows], pseudo.disagreement[rows]


def standard_error(values: Floats, weight: Floats) -> float | None:
    """Return the standard error of a mean of pseudo-values; None where the sample shows no variation.

    Examples
    --------
    >>> round(standard_error(np.array([0.0, 1.0]), np.array([2.0, 2.0])), 4)
    0.2887
    >>> standard_error(np.array([1.0]), np.array([4.0])) is None
    True
    """
    n = weight.sum()
    if n < 2 or np.ptp(values) <= 1e-12:
        return None
    mean = np.average(values, weights=weight)
    variance = np.dot(weight, (values - mean) ** 2) / (n - 1)
    return float(math.sqrt(variance / n))


@attrs.frozen
class Moments:
    """All that an interval needs: M, V, their errors, and the smallest number of trials."""

    n: int
    value: float
    verified: float
    se: float | None
    se_disagreement: float | None
    few: float

    @property
    def disagreement(self) -> float:
        """Q = V − M, what was checked and found to disagree; never a rounding error below 0."""
        return max(0.0, self.verified - self.value)


def moments(tally: Tally, pseudo: Pseudo) -> Moments:
    """Summarise a tally and its pseudo-values."""
    se, se_disagreement = (standard_error(x, pseudo.weight) for x in (pseudo.value, pseudo.disagreement))
    return moments_of(tally, se, se_disagreement, pseudo.few)


def moments_of(
    tally: Tally, se: float | None, se_disagreement: float | None, few: Callable[[], float]
) -> Moments:
    """Summarise a tally whose standard errors are known; `few` is asked only where it decides something."""
    n = tally.n
    D = tally.others
    verified = float((tally.owners * (D > 0)).sum() / n)
    disagree = (tally.owners * (D > 0) * (tally.agreeing < D)).any()
    summary = Moments(
        n=n,
        # no disagreement at all must give Q = 0 exactly
        value=mean_score(LeaveOneOut().scores(tally), tally) or 0.0 if disagree else verified,
        verified=verified,
        se=se,
        se_disagreement=se_disagreement,
        few=n / (1.0 + verified),
    )
    # the weights w average to V, so few is at most n / (1 + V): where that decides nothing, few does not
    return attrs.evolve(summary, few=few()) if _few_decides(summary) else summary


def _few_decides(moments: Moments) -> bool:
    shares = (moments.value, moments.se), (moments.disagreement, moments.se_disagreement)
    return any(_is_unsure(moments, se) or _trials(x, se) < moments.few for x, se in shares)


def _is_unsure(moments: Moments, se: float | None) -> bool:
    return moments.value == 0 or moments.disagreement == 0 or se is None


def _trials(x: float, se: float | None) -> float:
    """Return how many independent trials would have this standard error."""
    return x * (1 - x) / se**2 if se else math.inf


def interval(moments: Moments, confidence: float = 0.95) -> tuple[float, float]:
    """Return the confidence interval: Clopper–Pearson with the jackknife's effective number of trials.

    Examples
    --------
    Everything agrees, in three instances and in a thousand:

    >>> [round(end, 3) for end in interval(Moments(3, 1.0, 1.0, None, None, 1.5))]
    [0.085, 1.0]
    >>> [round(end, 3) for end in interval(Moments(1000, 1.0, 1.0, None, None, 500.0))]
    [0.993, 1.0]
    """
    if moments.n < 2 or moments.verified == 0:
        return 0.0, 1.0
    Q = moments.disagreement
    z = _normal_quantile(confidence)
    low = _lower(moments, moments.value, moments.se, confidence)
    slack = 2 * (z * z + 1) * Q * (1 - Q) / moments.n
    high = min(1.0, 1.0 - _lower(moments, Q, moments.se_disagreement, confidence) + slack)
    return low, high


def _lower(moments: Moments, x: float, se: float | None, confidence: float) -> float:
    """Return the lower limit for a share x with standard error se."""
    from scipy.special import betaincinv

    if x <= 0:
        return 0.0
    half, few = (1 - confidence) / 2, moments.few
    effective = _trials(x, se)
    trials = few if _is_unsure(moments, se) else max(effective, few)
    limit = half ** (1 / trials) if x >= 1 else float(betaincinv(trials * x, trials * (1 - x) + 1, half))
    if se is not None and effective < few:
        limit = max(0.0, min(limit, x - _normal_quantile(confidence) * se))
    return limit


def _normal_quantile(confidence: float) -> float:
    from scipy.special import ndtri

    return float(ndtri(0.5 + confidence / 2))


def chance(label_counts: NDArray[np.int64]) -> float | None:
    """Return the probability that two instances agree by chance: what a constant explainer gets.

    Examples
    --------
    >>> chance(np.array([2, 2]))
    0.3333333333333333
    """
    n = int(label_counts.sum())
    if n < 2:
        return None
    pairs = sum(int(c) * (int(c) - 1) for c in label_counts)
    return pairs / (n * (n - 1))


PERMUTATIONS_AT_ONCE = 64


def permutation_p_value(counted: Count, permutations: int, seed: int = 0) -> float:
    """Return the one-sided p-value of M under labels unrelated to explanations.

    Labels are permuted with the explanations fixed, so who can be checked does not change.
    """
    observed = _mean_agreement(counted, counted.labels, counted.tally.counts)
    rng = np.random.default_rng(seed)
    at_least = 0
    for start in range(0, permutations, PERMUTATIONS_AT_ONCE):
        batch = [
            rng.permutation(counted.labels) for _ in range(min(PERMUTATIONS_AT_ONCE, permutations - start))
        ]
        tables = _count_permuted(counted, batch)
        drawn = [_mean_agreement(counted, y, T) for y, T in zip(batch, tables, strict=True)]
        at_least += sum(value >= observed - 1e-12 for value in drawn)
    return (1 + at_least) / (1 + permutations)


def _count_permuted(counted: Count, batch: list[NDArray[np.int64]]) -> list[NDArray[np.int64]]:
    m, k = counted.tally.counts.shape
    if counted.relation.groups:
        return [tabulate(counted.owned, y, (m, k), counted.reflexive) for y in batch]
    label_bits = np.concatenate([pack_bits(np.arange(k)[:, None] == y[None, :]) for y in batch])
    tables = np.empty((m, len(batch) * k), dtype=np.int64)
    for start, stop, bits in counted.blocks():
        tables[start:stop] = count_labels(bits, label_bits)
    return list(tables.reshape(m, len(batch), k).transpose(1, 0, 2))


def _mean_agreement(counted: Count, labels: NDArray[np.int64], counts: NDArray[np.int64]) -> float:
    s, u, y = counted.reflexive.astype(np.int64), counted.owned, labels
    return float(ratio(counts[u, y] - s, counts.sum(axis=1)[u] - s).mean())
