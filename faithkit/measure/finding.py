"""What a measure found, in words that cannot be misread: against chance, and whether anything was tested."""

import numpy as np

from faithkit.measure.counting.tally import Count
from faithkit.measure.intervals import MeasureStatistics, checked_limit, interval

ONE_LABEL = "one label"
NAMES_THE_LABEL = "names the label"
ABOVE, NOT_ABOVE, BELOW = "above chance", "not above chance", "below chance"
UNKNOWN = "unknown"

FINDINGS = (ONE_LABEL, NAMES_THE_LABEL, ABOVE, NOT_ABOVE, BELOW, UNKNOWN)
"""All explained rows have one prediction, or any two of theirs agree, so that nothing was tested; there is
one explanation for each prediction, so that it may be no more than its name; the interval lies above chance,
or does not, or lies below; nothing could be checked, and no bound says more than chance. A permutation test
that was asked for and finds more than chance is enough for the first of these where every row was compared:
it is exact, where the interval is wide. Elsewhere it compares with less than chance."""

ROUNDING = 1e-9


def finding(
    counted: Count,
    facts: MeasureStatistics,
    chance: float | None,
    confidence: float,
    p_value: float | None = None,
) -> str:
    """Say what was found; one of `FINDINGS`.

    Parameters
    ----------
    counted : Count
    facts : MeasureStatistics
    chance : float or None
        What one explanation for all instances would get.
    confidence : float
    p_value : float or None
        Of the permutation test, if it was asked for.

    Examples
    --------
    >>> import faithkit
    >>> faithkit.score(["yes"] * 5, ["a", "a", "b", "b", "b"]).consistency.finding
    'one label'
    >>> faithkit.score(["yes", "no"] * 5, [1, 0] * 5).consistency.finding
    'names the label'
    """
    if facts.disagreement < ROUNDING and _all_agree(counted.settled):
        return ONE_LABEL
    if facts.disagreement < ROUNDING and counted.relation.groups and _names_the_label(counted.settled):
        return NAMES_THE_LABEL
    low, high = interval(facts, confidence)
    shown = chance is not None and low > chance + ROUNDING
    if shown or (facts.compared > 1 - ROUNDING and is_significant(p_value, confidence)):
        return ABOVE
    if facts.verified == 0 or chance is None:
        return UNKNOWN
    return BELOW if high < chance - ROUNDING else NOT_ABOVE


def checked_above_chance(
    facts: MeasureStatistics, chance: float, confidence: float, p_value: float | None = None
) -> bool:
    """Whether rows that could be checked agree more often than chance, whatever the others may do.

    The lower limit of what they agree by exceeds the share checked times chance, or the permutation test says
    so.

    Examples
    --------
    Of 200 rows half could be checked, and of these 95 % agree:

    >>> half = MeasureStatistics.of_rows(200, value=0.475, se=0.04, verified=0.5, se_disagreement=0.01)
    >>> interval(half)[0] > 0.5, checked_above_chance(half, 0.5, 0.95)
    (False, True)
    """
    if facts.verified == 0:
        return False
    above = checked_limit(facts, confidence) > facts.related * chance + ROUNDING
    return above or is_significant(p_value, confidence)


def is_significant(p_value: float | None, confidence: float) -> bool:
    """Whether a permutation test was asked for, and rejects at the level of the intervals.

    Examples
    --------
    >>> is_significant(0.001, 0.95), is_significant(0.1, 0.95), is_significant(None, 0.95)
    (True, False, False)
    """
    return p_value is not None and p_value < 1 - confidence


def _all_agree(counted: Count) -> bool:
    """Whether rows that have an explanation and count, and those of their pool, agree whatever it says."""
    owners, pool = counted.owners, getattr(counted, "pool", None)
    label = owners.label[(owners.weight > 0) & ~counted.explanations.missing[owners.explanation]]
    if pool is not None and len(label):
        label = np.concatenate([label, pool.codes])
    if not len(label):
        return False
    return not counted.agreement.apart(int(label.min()), label.max(keepdims=True)).any()  # the furthest apart


def _names_the_label(counted: Count) -> bool:
    """Whether each explanation has one label, each label one explanation, and some row a second to share it.

    Rows without an explanation have none that could name anything.
    """
    owners = counted.owners
    m = len(owners.totals)
    if (
        counted.explanations.missing.any()
        or owners.n <= m
        or np.count_nonzero(np.bincount(owners.label)) != m
    ):
        return False
    # rows of other weight stand apart
    return len(np.unique(owners.explanation * counted.n_labels + owners.label)) == m
