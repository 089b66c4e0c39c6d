"""Exceedance: how many instances have a local value under a level, and how many of them surely do.

The share that the sample shows is biased: an instance with one other has 0 or 1, whatever its true value, so
noise alone puts it under the level. Local limits are valid, and so is what they show on average.
"""

from collections.abc import Mapping
from numbers import Real
from typing import Any

import attrs
import numpy as np

from faithkit.errors import InputError
from faithkit.measure.tally import Count
from faithkit.shown import Shown
from faithkit.wording import one_line

LAST_BITS = 1e-12  # of a probability: a limit that is the level itself is not below it, on any machine


@attrs.frozen(repr=False)
class Exceedance(Shown):
    """How many instances have a local value under a level.

    Attributes
    ----------
    measure : str
        Of which the local values are: "consistency" or "sufficiency".
    level : float
        γ, under which a local value counts.
    n, checked : int
        The number of instances, and of those that have at least one other to be checked against.
    share : float or None
        The share of the checked instances whose local value is under the level, in this sample: with few
        others, noise alone puts them there. None where nothing was checked, as of `surely`.
    surely : float or None
        The share of the checked instances whose local interval lies below the level as a whole: their
        one-sided upper limit of this confidence does.
    low, high : float
        What share of *all* instances is under the level: on average over samples, `low` is at most that, and
        `high` at least, but for samples in which they are cut to 0 and 1. Instances that were not checked may
        be under it or not.
    confidence : float
        Of the local limits.

    Examples
    --------
    >>> import faithkit
    >>> result = faithkit.score(["yes", "no"] * 20 + ["yes"] * 60, ["a"] * 40 + ["b"] * 60)
    >>> found = result.exceedance(0.8)
    >>> found.share, found.surely, round(found.low, 3), round(found.high, 3)
    (0.4, 0.4, 0.368, 0.421)
    >>> print(found)
    Of the 100 instances that could be checked, 40 % have a local consistency under
    0.8, and 40 % surely: their whole interval lies below. Of all 100 instances, 36
    – 43 % are under 0.8, on average over samples.
    """

    measure: str
    level: float
    n: int
    checked: int
    share: float | None
    surely: float | None
    low: float
    high: float
    confidence: float

    def to_dict(self) -> dict[str, Any]:
        """Return JSON values."""
        return attrs.asdict(self)

    @classmethod
    def from_dict(cls, told: Mapping[str, Any]) -> "Exceedance":
        """Make it of what `to_dict` told."""
        return cls(**{field.name: told[field.name] for field in attrs.fields(cls)})


def exceedance(
    counted: Count, level: float, confidence: float = 0.95, measure: str = "consistency"
) -> Exceedance:
    """Count the instances whose local value is under a level, from the tally alone.

    A one-sided local limit is wrong with a probability of at most δ = 1 − confidence. With a the share of
    instances whose upper limit is below the level, and θ that of those whose true value is, E[a] is at most
    θ + δ(1 − θ). So (a − δ)/(1 − δ) is at most θ on average, and the same of lower limits bounds 1 − θ.

    Examples
    --------
    >>> from faithkit.measure.explanations import Explanations, Sample
    >>> from faithkit.measure.relations import SameExplanation
    >>> from faithkit.measure.tally import count
    >>> sample = Sample(None, Explanations.of(["a", "a", "b"]))
    >>> found = exceedance(count(SameExplanation(), sample, np.array([0, 1, 1]), 2), 0.5)
    >>> found.checked, found.share, found.surely, found.low, found.high
    (2, 1.0, 0.0, 0.0, 1.0)
    """
    from scipy.special import bdtr, bdtrc

    level = checked_level(level)
    slots = _counts(counted).slots.compact
    D, A, wrong = slots.others, slots.agreeing, 1.0 - confidence
    checked = (D > 0) & (slots.owners > 0)
    D, A, owners = (np.broadcast_to(one, checked.shape)[checked] for one in (D, A, slots.owners))

    def rows(which: Any) -> int:
        return int(owners[which].sum())

    # a limit is on one side of the level where the level's own binomial tail is on that side of δ
    n, most = slots.n, rows(slice(None))
    below, above = (
        rows(bdtr(A, D, level) < wrong - LAST_BITS),
        rows(bdtrc(A - 1, D, level) <= wrong + LAST_BITS),
    )
    low, rest = (max(0.0, (some / n - wrong) / (1.0 - wrong)) for some in (below, above))
    share, surely = (some / most if most else None for some in (rows(level > A / D), below))
    return Exceedance(measure, level, n, most, share, surely, low, 1.0 - rest, confidence)


def checked_level(given: Any) -> float:
    """Return γ as Python's float, or say what was given instead.

    Examples
    --------
    >>> checked_level("high")
    Traceback (most recent call last):
    ...
    faithkit.errors.InputError: the level of exceedance must be a number above 0 and at most 1, got 'high'...
    """
    is_number = isinstance(given, Real) and not isinstance(given, bool | np.bool_)
    if not is_number or not 0 < given <= 1:
        raise InputError(
            "the level of exceedance must be a number above 0 and at most 1, got "
            f"{one_line(repr(given)):.60}: 0.8 asks how many local values are under 0.8."
        )
    return float(given)


def _counts(counted: Count) -> Count:
    """Refuse where those that agree are no count of independent trials: then no local limit is known."""
    if not counted.agreement.is_whole:
        raise InputError(
            "exceedance counts others that agree or do not, and these predictions agree more or less: say "
            "how near numbers must be to agree (agree=, CLI: --agree within:N), or measure labels."
        )
    if counted.slots.rows is not None:
        raise InputError(
            "exceedance takes Clopper and Pearson's interval for every instance, and where rows have weights "
            "or clusters there is none: measure without them."
        )
    return counted
