"""Rows with their own scopes and with those of a control, compared where both could be checked.

Each row is deleted from the measure and from all draws of the control at once.
"""

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from faithkit.arrays import Floats, Ints, divide_safely, sum_by
from faithkit.arrays.bitsets import get_bits, row_sums
from faithkit.measure.agreement.base import Agreement, Influence
from faithkit.measure.baselines.ceiling import Ceiling
from faithkit.measure.counting.tally import RowCount


class PairedRows:
    """The agreement of each row with those in the scope of its explanation, and in those of its control.

    Attributes
    ----------
    measure : RowCount
    draws : sequence of RowCount
        The same rows and pool with scopes of the control.
    agreement, control : (n,) float
        The agreement of each row, and the mean of the draws that could check it; 0 where nothing could.
    n_draws : (n,) int
        The number of these draws.
    is_checked : (n,) bool
        Whether both could check the row.
    """

    def __init__(self, measure: RowCount, draws: Sequence[RowCount]) -> None:
        self.measure, self.draws = measure, draws
        self.agreement, self.others = _read_rows(measure)
        by_draw = [_read_rows(draw) for draw in draws]
        self.draw_agreements = np.array([agreement for agreement, _ in by_draw])
        self.draw_others = np.array([others for _, others in by_draw])
        self.n_draws = (self.draw_others > 0).sum(axis=0)
        self.control = self.draw_agreements.sum(axis=0) / np.maximum(self.n_draws, 1)
        self.is_checked = (self.others > 0) & (self.n_draws > 0)

    @property
    def verified(self) -> float:
        """The share of the rows that the measure checked which have a control."""
        return float(self.is_checked.sum() / max(1, (self.others > 0).sum()))

    def means(self) -> tuple[float, float]:
        """Return the mean agreement of the measure and of the control over the rows that both could check."""
        return float(self.agreement[self.is_checked].mean()), float(self.control[self.is_checked].mean())

    def control_by_label(self) -> dict[int, float]:
        """Return the mean of the control over the rows of each label that both could check."""
        labels = self.measure.labels[self.is_checked]
        means = divide_safely(sum_by(labels, self.control[self.is_checked]), np.bincount(labels))
        return {label: float(means[label]) for label in np.unique(labels).tolist()}

    def means_without(self, ceiling: Ceiling) -> tuple[Floats, Floats]:
        """Return both means and the ceiling without each row of the sample, and without each row of the pool.

        A scope with several other rows loses one of them. Rows with one other row in a scope are corrected:
        without it that scope, and perhaps the row, is unchecked.
        """
        is_checked, n = self.is_checked.astype(np.float64), len(self.agreement)
        sums = np.column_stack([is_checked, self.agreement * is_checked, self.control * is_checked])
        own = np.zeros((n + len(self.measure.pool_labels), 3))
        own[:n] = sums
        left = sums.sum(axis=0) - own
        left[:, 1] += _linear_changes(self.measure, is_checked)
        for draw, others in zip(self.draws, self.draw_others, strict=True):
            weight = divide_safely(is_checked * (others > 0), self.n_draws)
            left[:, 2] += _linear_changes(draw, weight)
        row, corrections = self._correct_single_rows()
        np.add.at(left, row, corrections)
        ceilings = np.append(ceiling.without, np.full(len(self.measure.pool_labels), ceiling.value))
        means = np.column_stack([divide_safely(left[:, 1:], left[:, :1]), ceilings])
        sample = _divide_by_variance(self.measure.agreement, means[:n], self.measure.labels)
        return sample, _divide_by_variance(
            self.measure.agreement, means[n:], self.measure.pool_labels, in_pool=True
        )

    def _correct_single_rows(self) -> tuple[Ints, Floats]:
        """Return deleted rows, and how they change the number of rows and both sums beside linear changes."""
        counts, size = (self.measure, *self.draws), len(self.agreement) + len(self.measure.pool_labels)
        others = np.vstack([self.others[None], self.draw_others])
        agreements = np.vstack([self.agreement[None], self.draw_agreements])
        single = np.full(others.shape, -1)
        for place, count in enumerate(counts):
            rows = np.flatnonzero(self.is_checked & (others[place] == 1))
            single[place, rows] = _find_single_others(count, rows)
        pairs = np.unique((np.arange(len(self.agreement)) * size + single)[single >= 0])
        row, other = np.divmod(pairs, size)
        is_empty = single[:, row] == other  # the scopes without the other row
        change = np.array(
            [
                _change_pairs(count, row, other, others[place, row], agreements[place, row])
                for place, count in enumerate(counts)
            ]
        )
        n_draws, lost = self.n_draws[row], (is_empty * agreements[:, row])[1:].sum(axis=0)
        n_left = n_draws - is_empty[1:].sum(axis=0)
        measure, control = (
            self.agreement[row] + change[0],
            self.control[row] + change[1:].sum(axis=0) / n_draws,
        )
        left = divide_safely(control * n_draws - lost, n_left)
        unchecked = -np.column_stack([np.ones(len(row)), measure, control])
        still_checked = np.column_stack([np.zeros((len(row), 2)), left - control])
        return other, np.where((is_empty[0] | (n_left == 0))[:, None], unchecked, still_checked)


def _divide_by_variance(agreement: Agreement, means: Floats, labels: Ints, in_pool: bool = False) -> Floats:
    """Divide the disagreement of numbers by the share of their variance that is left without each row."""
    left = agreement.divisor_left(labels, in_pool)
    if left is None:
        return means
    return np.where(left[:, None] > 0, 1.0 - divide_safely(1.0 - means, left[:, None]), 0.0)


def _read_rows(count: RowCount) -> tuple[Floats, Ints]:
    """Return the agreement of each row of the sample, and how many other rows are in its scope."""
    index, owners = count.owner_index, count.owners
    return owners.scores[index], np.asarray(owners.others[index])


def _linear_changes(count: RowCount, weight: Floats) -> Floats:
    """Return how much Σ weight × agreement changes without each row of the sample and of the pool.

    Rows with one other row in their scope are left out, and so is the agreement of the deleted row itself.
    """
    owners, index = count.owners, count.owner_index
    others, scores = owners.others, owners.scores
    loss = divide_safely(sum_by(index, weight, len(owners)), others - 1.0)
    gain = owners.by_explanation(loss * scores)
    influence = Influence(owners, gain, loss, np.zeros(len(owners.totals)))
    changes = [_sum_changes(piece, influence) for piece in (count, *count.pooled())]
    own = count.reflexive * divide_safely(weight, others[index] - 1.0) * (scores[index] - 1.0)
    changes[0] = changes[0] - own
    return np.concatenate(changes)


def _sum_changes(count: RowCount, influence: Influence) -> Floats:
    instances, changes = count.instances, np.zeros(len(count.labels))
    for batch in count.batches():
        changes += instances.sum_influence(batch, influence)[:, 0]
        del batch  # free memory before the next batch
    return changes


def _find_single_others(count: RowCount, rows: Ints) -> Ints:
    """Return the only other row in the scope of each of these rows; those of a pool come last."""
    explanations, explanation = np.unique(count.owned[rows], return_inverse=True)
    total, first = np.zeros(len(explanations), dtype=np.int64), 0
    for piece in (count, *count.pooled()):
        numbers = np.arange(first, first + len(piece.labels))[:, None]
        for start, stop, bits in piece.batches(count.explanations.take(explanations)):
            total[start:stop] += row_sums(bits, numbers)[:, 0]
        first += len(piece.labels)
    return np.asarray(total[explanation] - np.where(count.reflexive[rows], rows, 0))


def _change_pairs(count: RowCount, row: Ints, other: Ints, others: Ints, agreement: Floats) -> Floats:
    """Return how much the agreement of each row changes without another one; 0 if it has no further ones.

    A row has so many `others` in its scope, and such an agreement with them.
    """
    several = np.flatnonzero(others > 1)
    row, other, agreement = row[several], other[several], agreement[several]
    labels = np.concatenate([count.labels, count.pool_labels])
    agrees = 1.0 - count.agreement.disagreement(labels[row], labels[other])
    change = np.zeros(len(others))
    change[several] = _hold_pairs(count, row, other) * (agreement - agrees) / (others[several] - 1)
    return change


def _hold_pairs(count: RowCount, rows: Ints, others: Ints) -> NDArray[np.bool_]:
    """Return whether the explanation of each row holds for another one; those of a pool come last."""
    holds, first = np.zeros(len(rows), dtype=bool), 0
    explanations, explanation = np.unique(count.owned[rows], return_inverse=True)
    for piece in (count, *count.pooled()) if len(rows) else ():
        stop_row = first + len(piece.labels)
        for start, stop, bits in piece.batches(count.explanations.take(explanations)):
            is_here = (explanation >= start) & (explanation < stop) & (others >= first) & (others < stop_row)
            here = np.flatnonzero(is_here)
            holds[here] = get_bits(bits, explanation[here] - start, others[here] - first)
        first = stop_row
    return holds
