"""Detection of heavy-tailed residuals of numeric predictions, which make approximate intervals too short."""

import numpy as np

from faithkit.arrays import BATCH_SIZE, Floats
from faithkit.arrays.batches import each_batch
from faithkit.measure.agreement.squares import Squares
from faithkit.measure.counting.count import Count
from faithkit.measure.counting.owners import Owners

TAIL_ROWS = 0.01  # share of the rows that form the tail
HEAVY_SHARE = 0.155  # of all disagreement; 0.045 for normal residuals, 0.095 for Student's with 5 df


def tail_share(counts: Count) -> float | None:
    """Return the share of all disagreement that comes from the 1 % of rows that disagree most.

    A row without others is compared with all rows, or in blocks disagrees as much as the average pair. Return
    None where the measure is not a share of variance, and for samples below 100 rows.

    Examples
    --------
    >>> import faithkit
    >>> result = faithkit.score([0.5] * 50 + [1.5] * 50, ["a"] * 100)
    >>> round(tail_share(result.evidence.counts["consistency"]), 3)
    0.01
    """
    agreement = counts.agreement
    if not isinstance(agreement, Squares) or not agreement.is_normalised:
        return None
    owners = counts.owners
    n_tail = int(np.ceil(TAIL_ROWS * owners.total_weight))
    if TAIL_ROWS * owners.total_weight < 1:
        return None  # in a small sample one row is more than that share
    residuals = _compute_residuals(owners, agreement, counts.is_in_blocks)
    total = float(owners.times(residuals).sum())
    values, weights = residuals[owners.weight > 0], owners.weight[owners.weight > 0]
    first = max(0, len(values) - n_tail)
    largest = np.argpartition(values, first)[first:]
    largest = largest[np.argsort(-values[largest], kind="stable")]
    values, weights = values[largest], weights[largest]
    weights_in_tail = np.minimum(weights, np.maximum(0, n_tail - (np.cumsum(weights) - weights)))
    return float((values * weights_in_tail).sum()) / total if total else 0.0


def _compute_residuals(owners: Owners, agreement: Squares, is_in_blocks: bool) -> Floats:
    """Return the disagreement of each owner with its others.

    For a row without others, half the mean squared distance from all rows is the mean of 1 and z².
    """
    residuals = np.empty(len(owners))

    def compute(start: int, stop: int) -> None:
        part, scores = owners.part(start, stop), owners.scores[start:stop]
        alone = 1.0 if is_in_blocks else (1.0 + agreement.squares_of(part.label)) / 2
        residuals[start:stop] = np.where(part.others > 0, np.maximum(0.0, 1.0 - scores), alone)

    each_batch(compute, len(owners), BATCH_SIZE)
    return residuals


def is_heavy(share: float | None) -> bool:
    """Whether the tail's share of the disagreement is so large that an approximate interval may be too short.

    Examples
    --------
    >>> is_heavy(0.05), is_heavy(0.4), is_heavy(None)
    (False, True, False)
    """
    return share is not None and share > HEAVY_SHARE
