"""The finding of a measure: how its estimate compares with chance, and whether anything was tested."""

import numpy as np

from faithkit.measure.counting.count import Count
from faithkit.measure.intervals import MeasureStatistics, checked_agreement_limit, compute_interval

ONE_LABEL = "one label"
NAMES_THE_LABEL = "names the label"
ABOVE, NOT_ABOVE, BELOW = "above chance", "not above chance", "below chance"
UNKNOWN = "unknown"

FINDINGS = (ONE_LABEL, NAMES_THE_LABEL, ABOVE, NOT_ABOVE, BELOW, UNKNOWN)
"""All possible findings, in the order in which they are considered.

- one label: any two predictions of explained rows agree, or any two of one block, so nothing was tested.
- names the label: each prediction has exactly one explanation, which may only repeat the prediction.
- above chance: the whole interval lies above chance. Where every row was compared, a significant permutation
  test is enough: it is exact, and the interval is wide. Elsewhere the test compares with less than chance.
- not above chance: the interval includes chance.
- below chance: the whole interval lies below chance.
- unknown: nothing could be checked, and no bound exceeds chance.
"""

ROUNDING = 1e-9


def classify_finding(
    counts: Count,
    statistics: MeasureStatistics,
    chance: float | None,
    confidence: float,
    p_value: float | None = None,
) -> str:
    """Return one of `FINDINGS`.

    `chance` is the baseline: what one explanation for all instances would get. `p_value` is that of the
    permutation test, if it was requested.

    Examples
    --------
    >>> import faithkit
    >>> faithkit.score(["yes"] * 5, ["a", "a", "b", "b", "b"]).consistency.finding
    'one label'
    >>> faithkit.score(["yes", "no"] * 5, [1, 0] * 5).consistency.finding
    'names the label'
    """
    has_disagreement = statistics.disagreement >= ROUNDING
    has_one_label_per_block = statistics.units.are_blocks and chance is not None and chance > 1 - ROUNDING
    if not has_disagreement and (has_one_label_per_block or _all_agree(counts.with_sorted_labels)):
        return ONE_LABEL
    if not has_disagreement and counts.relation.groups and _names_the_label(counts.with_sorted_labels):
        return NAMES_THE_LABEL
    low, high = compute_interval(statistics, confidence)
    is_above = chance is not None and low > chance + ROUNDING
    if is_above or (statistics.compared > 1 - ROUNDING and is_significant(p_value, confidence)):
        return ABOVE
    if statistics.verified == 0 or chance is None:
        return UNKNOWN
    return BELOW if high < chance - ROUNDING else NOT_ABOVE


def checked_above_chance(
    statistics: MeasureStatistics, chance: float, confidence: float, p_value: float | None = None
) -> bool:
    """Whether the rows that could be checked agree more often than chance, whatever the remaining rows do.

    That is so if the lower limit of their agreement exceeds the share of checked rows times chance, or if the
    permutation test is significant.

    Examples
    --------
    Half of 200 rows could be checked, and 95 % of these agree:

    >>> half = MeasureStatistics.of_rows(200, value=0.475, se=0.04, verified=0.5, se_disagreement=0.01)
    >>> compute_interval(half)[0] > 0.5, checked_above_chance(half, 0.5, 0.95)
    (False, True)
    """
    if statistics.verified == 0:
        return False
    limit = checked_agreement_limit(statistics, confidence)
    # chance differs between blocks, and may be higher in those of the rows that could be checked
    is_above = not statistics.units.are_blocks and limit > statistics.related * chance + ROUNDING
    return is_above or is_significant(p_value, confidence)


def is_significant(p_value: float | None, confidence: float) -> bool:
    """Whether a permutation test was requested and rejects at the level of the intervals.

    Examples
    --------
    >>> is_significant(0.001, 0.95), is_significant(0.1, 0.95), is_significant(None, 0.95)
    (True, False, False)
    """
    return p_value is not None and p_value < 1 - confidence


def _all_agree(counts: Count) -> bool:
    """Whether any two rows agree, among those with an explanation and a weight, and those of the pool."""
    owners = counts.owners
    labels = owners.label[(owners.weight > 0) & ~counts.explanations.missing[owners.explanation]]
    if not len(labels):
        return False
    labels = np.concatenate([labels, counts.pool_labels])
    lowest, highest = int(labels.min()), labels.max(keepdims=True)  # no two labels are further apart
    return not counts.agreement.disagreement(lowest, highest).any()


def _names_the_label(counts: Count) -> bool:
    """Whether labels and explanations correspond one to one, and some explanation is shared.

    Rows without an explanation are left out.
    """
    owners = counts.owners
    is_explained = ~counts.explanations.missing[owners.explanation]
    explanations = counts.without_block[owners.explanation[is_explained]]
    labels = owners.label[is_explained]
    n_explanations, n_labels = (np.count_nonzero(np.bincount(codes)) for codes in (explanations, labels))
    if owners.rows[is_explained].sum() <= n_explanations or n_labels != n_explanations:
        return False
    # rows of different weights are separate entries
    return len(np.unique(explanations * counts.n_labels + labels)) == n_explanations
