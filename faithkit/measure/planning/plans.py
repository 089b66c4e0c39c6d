"""How many rows are needed, from the number of explanations or from a pilot, and which number to use."""

from bisect import bisect_left
from collections.abc import Callable
from typing import Any

import attrs

from faithkit.arguments import share, whole_number
from faithkit.display import Displayable
from faithkit.errors import InputError
from faithkit.measure import MEASURES
from faithkit.measure.planning.forecast import FARTHEST, Pilot
from faithkit.measure.planning.theory import bias_sample_size, corollary_sample_size, interval_sample_size

MOST_EXPLAINED = 100  # times the pilot's size
LARGER = "Take a larger pilot."
COARSER = "Coarser explanations would leave less."


@attrs.frozen
class RangePlan:
    """Rows that are enough for consistency, whatever the frequencies of so many explanations.

    Attributes
    ----------
    n_explanations : int
        How many different explanations there can be.
    bias : int
        Rows that make the value too low by at most ε, on average.
    half_width : int
        Rows that make half of the interval's width at most ε.
    corollary : int
        The number of the paper's corollary: rows that make the mean-squared error at most ε.
    """

    n_explanations: int
    bias: int
    half_width: int
    corollary: int


@attrs.frozen
class PilotPlan:
    """Rows that are enough, as far as a pilot can tell.

    Attributes
    ----------
    n : int
        The pilot's rows.
    unverified : tuple of int or None
        (at best, at worst) the rows to check against that leave an unverified share of at most ε on average;
        None for an end that lies beyond eight times the pilot's size.
    half_width : int or None
        Rows to explain that make half of the printed interval's width at most ε for nine pilots of ten, never
        less than the pilot's; None beyond a hundred times those. It counts on merging, where the pilot shows
        what that tells.
    pool : int
        Rows that are checked against and not explained.
    on_average : int or None
        Rows to explain that make it ε on average, judged by the pilot's own interval: the pilot's number
        where that is narrow enough. None beyond eight times those.
    """

    n: int
    unverified: tuple[int | None, int | None]
    half_width: int | None
    pool: int = 0
    on_average: int | None = None


@attrs.frozen(repr=False)
class Plan(Displayable):
    """How many rows to explain, for an error of at most ε.

    Attributes
    ----------
    epsilon : float
        The error to stay under.
    measure : str
        "consistency" or "sufficiency".
    confidence : float
        Of the interval.
    from_range : RangePlan or None
        What the number of explanations says.
    from_pilot : PilotPlan or None
        What a pilot says.
    """

    epsilon: float
    measure: str = "consistency"
    confidence: float = 0.95
    from_range: RangePlan | None = None
    from_pilot: PilotPlan | None = None

    @property
    def to_check(self) -> int | None:
        """The rows to check against, explained ones and a pool's: the fewest that either source promises."""
        by_range = None if self.from_range is None else self.from_range.bias
        by_pilot = None if self.from_pilot is None else self.from_pilot.unverified[1]
        return _fewest(by_range, by_pilot)

    @property
    def to_explain(self) -> int | None:
        """The rows to explain for the interval's sake: the fewest that either source promises."""
        by_range = None if self.from_range is None else self.from_range.half_width
        by_pilot = None if self.from_pilot is None else self.from_pilot.half_width
        return _fewest(by_range, by_pilot)

    @property
    def n(self) -> int | None:
        """The rows to explain, for both; None where the pilot is too small to say."""
        if self.to_check is None or self.to_explain is None:
            return None
        pool = 0 if self.from_pilot is None else self.from_pilot.pool
        return max(self.to_check - pool, self.to_explain)

    @property
    def why(self) -> str:
        """Why to explain that many rows, or why there is no number."""
        if self.to_check is None and self.from_pilot is not None and self.from_pilot.unverified[0] is None:
            far = f"even {FARTHEST} times the pilot would leave more than {self.epsilon:g} unchecked"
            return f"{far}{self._narrow}. {COARSER}"
        if self.to_check is None:
            small = f"the pilot is too small to say what leaves at most {self.epsilon:g} unchecked"
            return f"{small}{self._narrow}. {LARGER}"
        if self.to_explain is None:
            return f"the pilot is too small to say what makes the interval ± {self.epsilon:g}. {LARGER}"
        return (
            f"enough can be checked from {self.to_check:,} rows on, and the interval is narrow enough from "
            f"{self.to_explain:,} on{self._how_sure}; the larger number keeps both promises."
        )

    @property
    def _narrow(self) -> str:
        """Say that the interval needs no more than what is known of near explanations, where that is so."""
        if self.to_explain is None:
            return ""
        return f", though the interval is narrow enough from {self.to_explain:,} rows on{self._how_sure}"

    @property
    def _how_sure(self) -> str:
        """Say that a pilot promises no more than a share, where the number is the pilot's."""
        by_pilot = None if self.from_pilot is None else self.from_pilot.half_width
        return ", in nine cases of ten" if by_pilot is not None and by_pilot == self.to_explain else ""

    def to_dict(self) -> dict[str, Any]:
        """Return JSON values: what `faithkit plan --json` writes."""
        told = attrs.asdict(self)
        if self.from_pilot is not None:
            told["from_pilot"]["unverified"] = list(self.from_pilot.unverified)
        return {"n": self.n, "why": self.why, **told}


def _fewest(*known: int | None) -> int | None:
    return min((rows for rows in known if rows is not None), default=None)


def plan_samples(
    epsilon: float,
    n_explanations: int | None = None,
    pilot: Pilot | None = None,
    measure: str = "consistency",
    pool: int = 0,
) -> Plan:
    """Plan a sample from the number of explanations, from a pilot of the measure, or from both.

    Examples
    --------
    >>> found = plan_samples(0.1, n_explanations=2048)
    >>> found.n, found.from_range.half_width, found.from_range.corollary
    (7535, 5617, 835879)
    """
    epsilon = share(epsilon, "epsilon", usual=0.1)
    pool = whole_number(pool, "pool", least=0)
    _check(n_explanations, pilot, measure, pool)
    confidence = 0.95 if pilot is None else pilot.confidence
    return Plan(
        epsilon,
        measure,
        confidence,
        None if n_explanations is None else _from_range(n_explanations, epsilon, confidence),
        None if pilot is None else _from_pilot(pilot, epsilon, pool),
    )


def check_measure(measure: Any) -> None:
    """Refuse what cannot be planned for.

    Examples
    --------
    >>> check_measure("accuracy")
    Traceback (most recent call last):
    ...
    faithkit.errors.InputError: the measure is 'accuracy'; expected consistency or sufficiency.
    """
    if measure not in MEASURES:
        raise InputError(f"the measure is {measure!r:.60}; expected {' or '.join(MEASURES)}.")


def _check(n_explanations: int | None, pilot: Pilot | None, measure: str, pool: int) -> None:
    check_measure(measure)
    if n_explanations is None and pilot is None:
        raise InputError("nothing to plan from: give the number of explanations (CLI: --range) or a pilot.")
    if n_explanations is not None and measure == "sufficiency":
        raise InputError("a range says nothing about sufficiency: give a pilot alone.")
    if n_explanations is not None and pilot is not None and pilot.moments.span is not None:
        raise InputError(
            "a range promises something about labels, and the pilot's predictions are numbers: give it alone."
        )
    if pool and measure == "consistency":
        raise InputError("consistency needs every row's explanation, so a pool is no help: plan sufficiency.")


def _from_range(n_explanations: int, epsilon: float, confidence: float) -> RangePlan:
    K = whole_number(n_explanations, "the number of explanations", least=1)
    return RangePlan(
        K,
        bias_sample_size(K, epsilon),
        interval_sample_size(K, epsilon, confidence),
        corollary_sample_size(K, epsilon),
    )


def _from_pilot(pilot: Pilot, epsilon: float, pool: int) -> PilotPlan:
    n, farthest = pilot.others.n, pilot.farthest
    best = _first(lambda size: pilot.unverified(size)[0] <= epsilon, 2, farthest)
    worst = _first(lambda size: pilot.unverified(size)[1] <= epsilon, 2, farthest)

    def is_narrow(explained: int) -> bool:
        in_all = max(explained + pool, worst or 0)
        return pilot.half_width(explained, pilot.unverified(in_all)[1]) <= epsilon

    sure = _first(is_narrow, n, MOST_EXPLAINED * n)
    return PilotPlan(n, (best, worst), sure, pool, _fewest(sure, rows_for_width(pilot, epsilon)))


def rows_for_width(pilot: Pilot, epsilon: float) -> int | None:
    """Return about how many rows make half of the interval's width ε; None beyond eight times the pilot's.

    That is on average: a plan's rows are enough for nine pilots of ten.
    """
    return _first(lambda size: pilot.expected_half_width(size) <= epsilon, pilot.others.n, pilot.farthest)


def _first(reaches: Callable[[int], bool], least: int, most: int) -> int | None:
    """Return the smallest size that reaches something, as all larger ones do."""
    sizes = range(least, most + 1)
    found = bisect_left(sizes, True, key=reaches)
    return sizes[found] if found < len(sizes) else None
