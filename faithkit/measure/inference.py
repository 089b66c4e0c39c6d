"""Intervals for any relation, from its tally and the jackknife; the theory page derives each formula."""

import math
from collections.abc import Callable, Mapping
from typing import Any

import attrs
import numpy as np
from numpy.typing import NDArray

from faithkit.measure.agreement.base import Agreement, Sums, toward
from faithkit.measure.agreement.same_label import SAME_LABEL
from faithkit.measure.blocks import spans
from faithkit.measure.estimators import mean_score
from faithkit.measure.merging.merged import Merged
from faithkit.measure.slots import Slots
from faithkit.measure.spread import Pseudo, Spread
from faithkit.measure.sums import AT_ONCE, exact_sum, quotient

ROUNDING = 1e-14  # what is left of 0


@attrs.frozen
class Moments:
    """All that an interval needs, by leave-one-out: M, V, the errors of M and Q, and the number of trials.

    `trials` is the smallest number of independent trials that the sample may be worth, `most` the largest
    that an interval may assume, and `effective` how many independent rows of one weight it is worth. Grouping
    has a lower end of its own, `merged`. Where predictions are numbers, `span` is the largest disagreement
    that two of them have, in units of what a constant explanation leaves, and `skew` the skewness of what M
    is the mean of.
    """

    n: int
    value: float
    verified: float
    se: float | None
    se_disagreement: float | None
    trials: float
    effective: float | None = None
    most: float | None = None
    merged: Merged | None = None
    span: float | None = None
    skew: float = 0.0

    @property
    def estimate(self) -> float:
        """The point estimate that the interval is around; in the mean it is at most the measure.

        What could not be checked may disagree wholly, which for numbers is more than by chance.
        """
        if self.merged is not None:
            return self.merged.value
        return self.value - (1.0 - self.verified) * ((self.span or 1.0) - 1.0)

    @property
    def reach(self) -> float:
        """The share of rows that were compared with others, merged ones included."""
        return self.verified if self.merged is None else self.merged.reach

    @property
    def disagreement(self) -> float:
        """Q = V − M, what was checked and found to disagree; never a rounding error below 0."""
        return max(0.0, self.verified - self.value)

    def to_dict(self) -> dict[str, Any]:
        """Return JSON values, without what an estimate tells beside them."""
        names = (
            "value",
            "se",
            "disagreement",
            "se_disagreement",
            "trials",
            "effective",
            "most",
            "span",
            "skew",
        )
        told = {name: getattr(self, name) for name in names}
        return told | {"merged": None if self.merged is None else self.merged.to_dict()}

    @classmethod
    def from_dict(cls, told: Mapping[str, Any], n: int, verified: float) -> "Moments":
        """Make moments of what `to_dict` told, and of what stands beside it."""
        limits = (told.get("effective"), told.get("most"))  # older versions wrote none
        merged = None if told.get("merged") is None else Merged.from_dict(told["merged"])
        errors = told["se"], told["se_disagreement"]
        numbers = told.get("span"), told.get("skew", 0.0)
        return cls(n, told["value"], verified, *errors, told["trials"], *limits, merged, *numbers)


def span_of(agreement: Agreement) -> float | None:
    """Return the largest disagreement, where it is one of numbers."""
    return agreement.most if agreement.is_divided else None


def moments(
    slots: Slots, pseudo: Pseudo, span: float | None = None, level: tuple[float, float] | None = None
) -> Moments:
    """Summarise a tally and its pseudo-values; `level` is what `agreement` says of it, if that is known."""
    level = agreement(slots) if level is None else level
    found = moments_of(slots.n, level, pseudo.spreads(*level), pseudo.few, pseudo.pool, span)
    if pseudo.effective is None:
        return found
    most = pseudo.most if span is None else None  # numbers vary less than trials that succeed or fail
    return attrs.evolve(found, trials=pseudo.few(), effective=pseudo.effective, most=most)


def moments_of(
    n: int,
    level: tuple[float, float],
    spreads: tuple[Spread, Spread],
    few: Callable[[], float],
    pool: tuple[Spread, Spread] | None = None,
    span: float | None = None,
) -> Moments:
    """Put together what is known: M and V, and how pseudo-values of M and Q spread, of a pool's rows, too.

    The function `few` is asked only where it decides something.
    """
    value, verified = level
    errors = [spread.standard_error for spread in spreads]
    # the weights w average to V, so few is at most n / (1 + V): where that decides nothing, few does not
    trials = n / (1.0 + verified)
    if pool is not None:
        errors = [_with_pool(se, spread, n) for se, spread in zip(errors, pool, strict=True)]
        trials = float(n)  # many rows share the weights then
    skew = 0.0 if span is None else spreads[0].skewness
    summary = Moments(n, value, verified, errors[0], errors[1], trials, span=span, skew=skew)
    return attrs.evolve(summary, trials=few()) if _few_decides(summary) else summary


def _with_pool(se: float | None, pool: Spread, n: int) -> float | None:
    """Add the variance that comes from the choice of the pool's rows, Σ (S − S̄)² / n²."""
    if se is None and pool.high - pool.low <= 1e-12:
        return None
    return math.sqrt((se or 0.0) ** 2 + pool.n * pool.variance / n**2)


def agreement(slots: Slots) -> tuple[float, float]:
    """Return M, the mean agreement with others, and V, the share of instances that have others.

    Examples
    --------
    >>> from faithkit.measure.tally import Tally
    >>> agreement(Tally(np.array([[2, 1], [0, 1]]), np.array([[[0, 0], [0, 0]], [[2, 1], [0, 1]]])).slots)
    (0.25, 0.75)
    """
    slots = slots.compact
    verified = slots.checked / slots.weight
    if not any(_disagree(slots, *span) for span in spans(len(slots), AT_ONCE)):
        return verified, verified  # no disagreement at all must give Q = 0 exactly
    value = mean_score(slots.scores, slots) or 0.0
    return 0.0 if abs(value) < ROUNDING else value, verified


def _disagree(slots: Slots, start: int, stop: int) -> bool:
    """Whether any of some slots' owners have others that disagree; most often the first ones do."""
    part, scores = slots.part(start, stop), slots.scores[:, start:stop]
    return bool(((scores < 1.0) & (part.others > 0) & (part.owners > 0)).any())


def _few_decides(moments: Moments) -> bool:
    shares = _agreeing(moments), _disagreeing(moments)
    return any(one.is_unsure or _trials(one.x, one.se) < moments.trials for one in shares)


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
    if moments.n < 2:
        return 0.0, 1.0
    Q, span, z = moments.disagreement, moments.span, _normal_quantile(confidence)
    variation = Q * (1 - Q) if span is None else Q
    slack = 2 * (z * z + 1) * variation / (moments.effective or moments.n)
    low, lost = (_lower(share(moments), confidence) for share in (_agreeing, _disagreeing))
    if span is not None:
        low, lost = 1.0 - span * (1.0 - low), span * lost
        low = 0.0 if abs(low) < ROUNDING else low
    return low, min(1.0, 1.0 - lost + slack)


@attrs.frozen
class _Share:
    """A share with its standard error, the fewest and most trials it may be worth, and whether the former.

    `lean` is the skewness to the left of what it is the mean of, over the root of their number.
    """

    x: float
    se: float | None
    few: float
    most: float
    is_unsure: bool
    lean: float = 0.0


def _agreeing(moments: Moments) -> _Share:
    """Return the estimate, as a share of what two predictions can disagree by."""
    merged, span, x = moments.merged, moments.span, moments.estimate
    if span is not None:
        x = 1.0 - (1.0 - x) / span
    lean = max(0.0, -(moments if merged is None else merged).skew) / math.sqrt(moments.effective or moments.n)
    if merged is None:
        return attrs.evolve(_share(moments, x, moments.se), lean=lean)
    se = None if merged.se is None else merged.se / (span or 1.0)
    unsure = merged.is_unsure if span is None else se is None
    return _Share(x, se, merged.trials, moments.most or math.inf, unsure, lean)


def _disagreeing(moments: Moments) -> _Share:
    """Return the disagreement, as such a share."""
    return _share(moments, moments.disagreement / (moments.span or 1.0), moments.se_disagreement)


def _share(moments: Moments, x: float, se: float | None) -> _Share:
    scaled = None if se is None else se / (moments.span or 1.0)
    nothing = moments.value == 0 and moments.span is None
    unsure = nothing or moments.disagreement == 0 or se is None
    return _Share(x, scaled, moments.trials, moments.most or math.inf, unsure)


def _lower(share: _Share, confidence: float) -> float:
    """Return the lower limit of a share."""
    from scipy.special import betaincinv

    x, se, few, z = share.x, share.se, share.few, _normal_quantile(confidence)
    if x <= 0:
        return 0.0
    if se is not None:
        se *= 1.0 + share.lean * (2 * z * z + 1) / (6 * max(1.0, z))
    half, effective = (1 - confidence) / 2, _trials(x, se)
    trials = few if share.is_unsure else max(min(effective, share.most), few)
    limit = half ** (1 / trials) if x >= 1 else float(betaincinv(trials * x, trials * (1 - x) + 1, half))
    if se is not None and effective < few * (1 - 1e-9):  # not where they are equal but for the last bits
        limit = max(0.0, min(limit, x - z * se))
    return limit


def _normal_quantile(confidence: float) -> float:
    from scipy.special import ndtri

    return float(ndtri(0.5 + confidence / 2))


def chance(label_counts: NDArray[np.int64], agreement: Sums = SAME_LABEL) -> float | None:
    """Return the probability that two instances agree by chance: what a constant explainer gets.

    Examples
    --------
    >>> chance(np.array([2, 2]))
    0.3333333333333333
    """
    n = int(label_counts.sum())
    if n < 2:
        return None
    agreeing = toward(agreement, label_counts) - 1
    if agreeing.dtype.kind == "f":
        return quotient(exact_sum(label_counts * agreeing), n * (n - 1))
    pairs = sum(c * a for c, a in zip(label_counts.tolist(), agreeing.tolist(), strict=True))
    return pairs / (n * (n - 1))
