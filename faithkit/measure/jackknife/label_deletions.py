"""The jackknife of each label for equal rows: its owners are compared with all rows.

A row of another label owns nothing here, but it is compared with. So every row is a unit: the measure of a
label changes also without a row of another label. As for the whole measure, groups have a closed form, and
other relations need one more pass over the relation's matrix, for all labels at once.
"""

from collections.abc import Sequence

import attrs
import numpy as np

from faithkit.arrays import Floats, Ints, divide_safely
from faithkit.arrays.batches import spans
from faithkit.arrays.bitsets import column_sums
from faithkit.measure.agreement.same_label import SAME_LABEL
from faithkit.measure.counting.owners import Owners
from faithkit.measure.counting.tally import Count, RowCount
from faithkit.measure.intervals import MeasureStatistics, SamplingUnits
from faithkit.measure.jackknife.central_moments import CentralMoments
from faithkit.measure.jackknife.deletions import Deletions, MeasureTotals
from faithkit.measure.jackknife.merging import PAIRS
from faithkit.measure.jackknife.summary import GroupedJackknife, add_pool_variance

MAX_SUMS = 2**24  # sums over a relation's matrix in one pass: rows × labels

Errors = tuple[float | None, float | None]
"""The standard errors of the estimate and of the disagreement."""


def _label_totals(owners: Owners, label: int) -> MeasureTotals:
    """Return the totals of a label; rows without comparison count as disagreeing."""
    return MeasureTotals.of(owners.of_label(label), SAME_LABEL)


def _standard_errors(totals: MeasureTotals, deletions: Deletions) -> Errors:
    """Return the standard errors of the estimate and of the disagreement."""
    pseudo_values = deletions.pseudo_values(totals, int(deletions.times.sum()))
    estimate, disagreement = (CentralMoments.of(values, deletions.times) for values in pseudo_values)
    return estimate.standard_error, disagreement.standard_error


def _build_statistics(
    n: int,
    totals: MeasureTotals,
    merged_totals: MeasureTotals,
    errors: Errors,
    trials: float,
    merging: str | None = None,
) -> MeasureStatistics:
    return MeasureStatistics.of_rows(
        n,
        totals.agreeing,
        errors[0],
        totals.compared,
        estimate=merged_totals.estimate,
        disagreement=totals.disagreement,
        compared=merged_totals.compared,
        agreed=merged_totals.agreeing,
        se_disagreement=errors[1],
        units=SamplingUnits.equal(n, trials),
        merging=merging,
    )


# -- relations that group rows: from the owners alone --


def grouped_label_statistics(counts: Count, labels: Sequence[int]) -> list[MeasureStatistics]:
    """Return the statistics of each label for a relation that groups rows.

    Examples
    --------
    Four rows share an explanation, three of them with the label 0:

    >>> from faithkit.explanations.explanations import Explanations, Sample
    >>> from faithkit.explanations.relations import SameExplanation
    >>> from faithkit.measure.counting.tally import count
    >>> counts = count(SameExplanation(), Sample(None, Explanations.of(["a"] * 4)), np.array([0, 0, 0, 1]), 2)
    >>> round(grouped_label_statistics(counts, [0])[0].estimate, 4)
    0.6667
    """
    jackknife = GroupedJackknife.of(counts, None)
    owners, merged_owners = jackknife.rows.owners, jackknife.merged_rows.owners
    method = None if jackknife.merging is None else jackknife.merging.method
    first_pair = jackknife.merging.first_block if jackknife.merging and method == PAIRS else None
    statistics = []
    for label in labels:
        totals, merged_totals = _label_totals(owners, label), _label_totals(merged_owners, label)
        _, se_disagreement = _standard_errors(totals, _group_deletions(owners, label))
        se, _ = _standard_errors(merged_totals, _group_deletions(merged_owners, label, first_pair))
        n = int(totals.total_weight)
        errors = se, se_disagreement
        statistics.append(_build_statistics(n, totals, merged_totals, errors, n / 2, method))
    return statistics


def _group_deletions(owners: Owners, label: int, first_pair: int | None = None) -> Deletions:
    """Return what a label's sums lose without each row; from `first_pair` on, without each matched pair."""
    slots = owners.of_label(label)
    T, N = slots.rows.astype(np.float64), slots.totals[slots.explanation].astype(np.float64)
    n_groups = len(owners.totals)
    first_pair = n_groups if first_pair is None else first_pair
    is_pair = slots.explanation >= first_pair
    before = _group_sums(T, N)
    without_own = np.where(is_pair, 0.0, _group_sums(T - 1, N - 1))
    without_other = _group_sums(T, N - 1)
    nothing = np.zeros((2, 1))
    pair_weight, disagreement = np.concatenate(
        [before - without_own, before - without_other, nothing], axis=1
    )
    own_times, other_times = np.where(is_pair, 1, T), np.where(is_pair, 0, np.maximum(0, N - T))
    n_units = owners.n - (n_groups - first_pair)
    n_unrelated = n_units - own_times.sum() - other_times.sum()
    times = np.concatenate([own_times, other_times, [n_unrelated]]).astype(np.int64)
    weight = np.concatenate([np.where(is_pair, T, 1.0), np.zeros(len(T) + 1)])
    occurs = times > 0  # a group of one label has no row of another
    return Deletions(pair_weight[occurs], disagreement[occurs], times[occurs], weight=weight[occurs])


def _group_sums(T: Floats, N: Floats) -> Floats:
    """Return the compared weight and the disagreement of T rows of a label, in groups of N rows."""
    return np.stack([np.where(N >= 2, T, 0.0), divide_safely(T * (N - T), N - 1)])


# -- other relations: one more pass over the relation's matrix --


@attrs.frozen(eq=False)
class _ScopeSums:
    """What the sums of each label lose without each row, by row and label.

    Attributes
    ----------
    agreeing, compared : (n, k) float
        The loss of agreement and of compared weight.
    influence : (n, k) float
        The share of the row in the values of the label's owners, without its own value.
    """

    agreeing: Floats
    compared: Floats
    influence: Floats

    @classmethod
    def of(cls, piece: RowCount, labels: Sequence[int]) -> "_ScopeSums":
        """Sum over the owners in whose scope each row of a piece is."""
        n, k, column = len(piece.labels), len(labels), _label_columns(labels, piece.n_labels)
        sums, agreed_sums = np.zeros((n, 3 * k)), np.zeros(n)
        one_label, row_columns = np.zeros(n, dtype=np.int64), column[piece.labels]
        for start, stop, bits in piece.batches():
            *tables, agreed = _label_tables(piece.owners, start, stop, column, k)
            weights = np.concatenate([table[:, :k] for table in tables], axis=1)
            sums += column_sums(bits, weights[:, None], one_label)
            agreed[:, k] = 0.0
            agreed_sums += column_sums(bits, agreed[:, :, None], row_columns)[:, 0]
            del bits  # free memory before the next batch
        agreeing, pair_weight, influence = np.split(sums, 3, axis=1)
        rows = np.flatnonzero(row_columns < k)
        agreeing[rows, row_columns[rows]] += agreed_sums[rows]
        return cls(agreeing, pair_weight, influence)

    def with_own(self, counts: RowCount, labels: Sequence[int]) -> "_ScopeSums":
        """Add what each row of the sample loses as an owner, and take out its place in its own scope."""
        owners, place, column = counts.owners, counts.place, _label_columns(labels, counts.n_labels)
        rows = np.flatnonzero(column[counts.labels] < len(labels))
        D, h, s = owners.others[place][rows], owners.scores[place][rows], counts.reflexive[rows]
        own_agreeing = np.where(D >= 2, divide_safely(1.0 - h, D - 1.0), h)
        agreeing, pair_weight, influence = self.agreeing.copy(), self.compared.copy(), self.influence.copy()
        entries = rows, column[counts.labels[rows]]
        agreeing[entries] += h - s * own_agreeing
        pair_weight[entries] += (D > 0) * 1.0 - s * (D == 1)
        influence[entries] -= s * divide_safely(np.ones(len(D)), D)
        return _ScopeSums(agreeing, pair_weight, influence)

    def deletions(self, column: int, weight: Floats) -> Deletions:
        """Return the deletions of the rows for one label; `weight` is 1 for its owners."""
        agreeing, pair_weight = self.agreeing[:, column], self.compared[:, column]
        once = np.ones(len(agreeing), dtype=np.int64)
        return Deletions(pair_weight, pair_weight - agreeing, once, weight=weight)


def _label_columns(labels: Sequence[int], n_labels: int) -> Ints:
    """Return the column of each of `n_labels` labels; all that are not in `labels` share a further one."""
    column = np.full(n_labels, len(labels))
    column[list(labels)] = np.arange(len(labels))
    return column


def _label_tables(owners: Owners, start: int, stop: int, column: Ints, k: int) -> tuple[Floats, ...]:
    """Return, by explanation and label, what owners lose without one row in the scope of the explanation.

    The tables are the loss of agreement, the loss of compared rows, the share of the row in their values, and
    the further loss of agreement if the row has the label. `column` is the column of each label; those in
    column k are left out.
    """
    entries = owners.span(start, stop)
    part, h = owners.part(entries.start, entries.stop), owners.scores[entries]
    D, slots = part.others, (part.explanation - start, column[part.label])
    ones, rest = np.ones(len(h)), np.where(D >= 2, D - 1.0, 0.0)
    changed = np.where(D >= 2, -divide_safely(h, rest), h)

    def sum_by_slot(values: Floats) -> Floats:
        table = np.zeros((stop - start, k + 1))
        np.add.at(table, slots, part.rows * values)
        return table

    values = changed, (D == 1).astype(np.float64), divide_safely(ones, D), divide_safely(ones, rest)
    return tuple(map(sum_by_slot, values))


def relation_label_statistics(counts: RowCount, labels: Sequence[int]) -> list[MeasureStatistics]:
    """Return the statistics of each label for a relation that does not group; a pool is a further stratum."""
    batches = spans(len(labels), max(1, MAX_SUMS // len(counts.labels)))
    return [
        statistics for start, stop in batches for statistics in _batch_statistics(counts, labels[start:stop])
    ]


def _batch_statistics(counts: RowCount, labels: Sequence[int]) -> list[MeasureStatistics]:
    """Return the statistics of labels whose sums are computed in one pass over the matrix."""
    rows = _ScopeSums.of(counts, labels).with_own(counts, labels)
    pool = [_ScopeSums.of(piece, labels) for piece in counts.pooled()]
    statistics = []
    for place, label in enumerate(labels):
        totals, is_owner = _label_totals(counts.owners, label), (counts.labels == label).astype(np.float64)
        errors = _standard_errors(totals, rows.deletions(place, is_owner))
        influence = float((rows.influence[:, place] + is_owner).max())
        if pool:
            errors = _add_pool(errors, totals, [piece.deletions(place, np.zeros(1)) for piece in pool])
            influence = max(influence, *(float(piece.influence[:, place].max()) for piece in pool))
        n = int(totals.total_weight)
        statistics.append(_build_statistics(n, totals, totals, errors, n / max(2.0, influence)))
    return statistics


def _add_pool(errors: Errors, totals: MeasureTotals, pieces: Sequence[Deletions]) -> Errors:
    """Add the variance that comes from the selection of the pool's rows."""
    changes = zip(*(deletions.changes(totals) for deletions in pieces), strict=True)
    estimate, disagreement = (CentralMoments.of(np.concatenate(parts)) for parts in changes)
    return add_pool_variance(errors[0], estimate), add_pool_variance(errors[1], disagreement)
