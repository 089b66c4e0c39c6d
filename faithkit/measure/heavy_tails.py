"""Detection of heavy-tailed residuals of numeric predictions, which make approximate intervals too short."""

import numpy as np

from faithkit.arrays import BATCH_SIZE, Floats, Ints
from faithkit.arrays.batches import map_batches
from faithkit.measure.agreement.squares import Squares
from faithkit.measure.counting.block_count import BlockCount
from faithkit.measure.counting.owners import Owners
from faithkit.measure.counting.tally import Count

TAIL_ROWS = 0.01  # share of the rows that form the tail
SAMPLE_SIZE = 2**16  # owners from which the tail's threshold is guessed
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
    n = owners.total_weight
    n_tail = int(np.ceil(TAIL_ROWS * n))
    if TAIL_ROWS * n < 1:
        return None  # in a small sample one row is more than that share
    residuals = _Residuals(owners, agreement, isinstance(counts, BlockCount))
    (values, weights), total = residuals.largest(n_tail), residuals.total()
    order = np.argsort(-values, kind="stable")
    values, weights = values[order], weights[order]
    weights_in_tail = np.minimum(weights, np.maximum(0, n_tail - (np.cumsum(weights) - weights)))
    return float((values * weights_in_tail).sum()) / total if total else 0.0


class _Residuals:
    """The disagreement of each owner with its others."""

    def __init__(self, owners: Owners, agreement: Squares, is_in_blocks: bool) -> None:
        self.owners, self.agreement, self.weight = owners, agreement, owners.weight
        self.is_in_blocks = is_in_blocks

    def at(self, entries: slice) -> Floats:
        """Return the disagreement of some entries.

        For a row without others, half the mean squared distance from all rows is the mean of 1 and z².
        """
        owners = self.owners
        others = owners.totals.take(owners.explanation[entries]) - owners.own[entries]
        alone: Floats | float = 1.0
        if not self.is_in_blocks:
            alone = (1.0 + self.agreement.squares_of(owners.labels(entries))) / 2
        return np.where(others > 0, np.maximum(0.0, 1.0 - owners.scores[entries]), alone)

    def total(self) -> float:
        """Return the sum over all rows."""

        def add(start: int, stop: int) -> float:
            return float((self.at(slice(start, stop)) * self.weight[start:stop]).sum())

        return sum(map_batches(add, len(self.owners), BATCH_SIZE))

    def largest(self, n: int) -> tuple[Floats, Ints]:
        """Return the n largest values or a few more, and the weight of each.

        A systematic sample gives a threshold, so that most values need not be sorted.
        """
        n_entries = len(self.owners)
        sample = self.at(slice(None, None, max(1, n_entries // SAMPLE_SIZE)))
        rank = min(len(sample), 1 + 2 * n * len(sample) // n_entries)
        values, weights = self._at_least(np.partition(sample, -rank)[-rank])
        return (values, weights) if len(values) >= min(n, n_entries) else self._at_least(0.0)

    def _at_least(self, threshold: float) -> tuple[Floats, Ints]:
        """Return all values from the threshold on, and the weight of each."""

        def select(start: int, stop: int) -> tuple[Floats, Ints]:
            values = self.at(slice(start, stop))
            positions = np.flatnonzero(values >= threshold)
            return values[positions], self.weight[start:stop][positions]

        batches = map_batches(select, len(self.owners), BATCH_SIZE)
        values, weights = (np.concatenate(arrays) for arrays in zip(*batches, strict=True))
        return values, weights


def is_heavy(share: float | None) -> bool:
    """Whether the tail's share of the disagreement is so large that an approximate interval may be too short.

    Examples
    --------
    >>> is_heavy(0.05), is_heavy(0.4), is_heavy(None)
    (False, True, False)
    """
    return share is not None and share > HEAVY_SHARE
