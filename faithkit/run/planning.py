"""Planning: how many rows to explain, from the number of possible explanations or from a pilot result."""

from typing import Any

from faithkit.errors import InputError, warn
from faithkit.measure.planning.forecast import Pilot
from faithkit.measure.planning.plans import Plan, check_measure, plan_samples
from faithkit.run.comparisons.comparison import Comparison
from faithkit.run.evaluation import Evaluation
from faithkit.run.next_steps import has_many_unexplained


def plan(
    epsilon: float,
    n_explanations: int | None = None,
    pilot: Any = None,
    *,
    measure: str = "consistency",
    pool: int = 0,
) -> Plan:
    """Compute how many rows to explain for few unchecked rows and a narrow interval.

    Parameters
    ----------
    epsilon : float
        The largest bias or unverified share, and half of the interval's largest width.
    n_explanations : int, optional
        The size of the explainer's range; for consistency only.
    pilot : Evaluation, optional
        A first, small evaluation to extrapolate from.
    measure : str
        "consistency" or "sufficiency".
    pool : int
        The number of rows that sufficiency is also checked against, without being explained.

    Returns
    -------
    Plan

    Examples
    --------
    >>> import faithkit
    >>> faithkit.plan(0.1, n_explanations=2048).n
    7535
    """
    if isinstance(epsilon, Evaluation):
        raise InputError("epsilon is a result: give that as the pilot, as in plan(0.1, pilot=result).")
    first_sample = None if pilot is None else extract_pilot(pilot, measure)
    return plan_samples(epsilon, n_explanations, first_sample, measure, pool)


def extract_pilot(result: Any, measure: str) -> Pilot:
    """Return the pilot of a result; raise an error if the result lacks the data for it.

    Examples
    --------
    >>> import faithkit
    >>> extract_pilot(faithkit.score([0, 0, 1], ["a", "a", "b"]), "consistency").checkable_counts.number
    (0, 1)
    """
    check_measure(measure)
    if isinstance(result, Comparison):
        names = ", ".join(result.results)
        raise InputError(
            f"the pilot is a comparison of {names:.200}: give the result of one system, of evaluate or score."
        )
    if not isinstance(result, Evaluation):
        raise InputError(
            f"the pilot is a {type(result).__name__}: give what evaluate, score or load returned."
        )
    estimate = result.measures.get(measure)
    if estimate is None:
        reason = f" ({result.why_no_sufficiency})" if result.why_no_sufficiency else ""
        raise InputError(f"the pilot has no {measure}{reason}: plan another measure, or take another pilot.")
    if result.design.effective is not None or result.design.blocks is not None:
        raise InputError(
            "the rows of the pilot have weights, clusters or blocks: a plan is for independent rows that "
            "count alike."
        )
    if result.design.pool is not None and measure == "sufficiency":
        raise InputError(
            "the pilot's sufficiency was checked against a pool: evaluate or score its rows without one "
            "(CLI: --pool none)."
        )
    if has_many_unexplained(result):
        warn(
            f"{result.unexplained:,} of {result.n:,} rows of the pilot have no explanation, and count as "
            "rows with rare explanations: explain them too, or evaluate or score the others alone."
        )
    if estimate.checkable_counts is None or estimate.statistics is None:
        raise InputError(
            f"the file of the pilot lacks the counts of its {measure}: evaluate or score the rows again."
        )
    return Pilot(estimate.checkable_counts, estimate.statistics, estimate.confidence)
