"""A result as a plan takes it: one measure of one system, with all that a forecast reads."""

from typing import Any

from faithkit.errors import InputError
from faithkit.measure.planning.forecast import Pilot
from faithkit.measure.planning.plans import check_measure
from faithkit.run.comparisons.comparison import Comparison
from faithkit.run.evaluation import Evaluation


def pilot_of(result: Any, measure: str) -> Pilot:
    """Return what a plan takes of a result, or say why it has none.

    Examples
    --------
    >>> import faithkit
    >>> pilot_of(faithkit.score([0, 0, 1], ["a", "a", "b"]), "consistency").others.number
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
    found = result.measures.get(measure)
    if found is None:
        reason = f" ({result.why_no_sufficiency})" if result.why_no_sufficiency else ""
        raise InputError(f"the pilot has no {measure}{reason}: plan another measure, or take another pilot.")
    if result.effective is not None:
        raise InputError(
            "the rows of the pilot have weights or clusters: a plan is for independent rows that count alike."
        )
    if result.pool is not None and measure == "sufficiency":
        raise InputError(
            "the pilot's sufficiency was checked against a pool: evaluate or score its rows without one "
            "(CLI: --pool none)."
        )
    if found.others is None or found.moments is None:
        raise InputError(
            "the pilot was loaded from a file of an older version, which did not write what a plan takes. "
            "Evaluate or score the rows again."
        )
    return Pilot(found.others, found.moments, found.confidence)
