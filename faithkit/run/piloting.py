"""A result as a plan takes it: one measure of one system, with all that a forecast reads."""

from typing import Any

from faithkit.errors import InputError
from faithkit.measure.forecast import Pilot
from faithkit.measure.others import Others
from faithkit.measure.planning import check_measure
from faithkit.run.comparison import Comparison
from faithkit.run.evaluation import Evaluation

ROUNDED = 1.1  # times the rows: large numbers of others are kept with two digits


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
    if found.others is None or found.moments is None:
        raise InputError(
            "the pilot was loaded from a file of an older version, which did not write what a plan takes. "
            "Evaluate or score the rows again."
        )
    _check_rows(found.others, measure)
    return Pilot(found.others, found.moments, found.confidence)


def _check_rows(others: Others, measure: str) -> None:
    """Refuse rows that are weighted, and rows that more were checked against than there are."""
    if not all(isinstance(one, int) for one in (*others.number, *others.rows)):
        raise InputError(
            f"the rows of the pilot's {measure} are no whole numbers: plans take unweighted rows."
        )
    if max(others.number) > ROUNDED * others.n:
        raise InputError(
            f"the pilot's {measure} was checked against a pool: evaluate or score its rows without one."
        )
