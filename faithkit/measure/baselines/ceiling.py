"""The ceiling of every explanation: how far the model agrees with itself on the same instance.

A deterministic model always does, so its ceiling is 1. Other models, such as language models, may answer
differently when the same instance is given again.
"""

import attrs
import numpy as np

from faithkit.arrays import Floats, Ints, divide_safely, sum_by
from faithkit.measure.agreement.base import Agreement, agreeing_weights


@attrs.frozen(eq=False)
class Ceiling:
    """The agreement of predictions of the same instance.

    Attributes
    ----------
    value : float
        1 where no instance was predicted twice: then the model is taken to be deterministic.
    rows : int
        The number of rows whose instance was predicted more than once.
    without : (u,) float
        The value without each unit.
    """

    value: float
    rows: int
    without: Floats


def measure_ceiling(
    instance: Ints, labels: Ints, agreement: Agreement, unit: Ints, weight: Floats
) -> Ceiling:
    """Return the mean agreement of a row with another prediction of its instance.

    Equal instances have one code in `instance`. The sampling `unit` of a row is the row itself, or its
    cluster.

    Examples
    --------
    The first instance was predicted three times, with two labels; the second once:

    >>> from faithkit.measure.agreement.same_label import SAME_LABEL
    >>> row = np.arange(4)
    >>> ceiling = measure_ceiling(np.array([0, 0, 0, 1]), np.array([0, 0, 1, 1]), SAME_LABEL, row, np.ones(4))
    >>> round(ceiling.value, 3), ceiling.rows
    (0.333, 3)
    """
    has_weight = weight > 0
    is_repeated = has_weight & (sum_by(instance, has_weight.astype(np.int64))[instance] > 1)
    n_units = int(unit.max(initial=-1)) + 1
    if not is_repeated.any():
        return Ceiling(1.0, 0, np.ones(n_units))
    rows = np.flatnonzero(is_repeated)
    instance, labels, unit, weight = instance[rows], labels[rows], unit[rows], weight[rows]
    cell = np.unique(instance * n_units + unit, return_inverse=True)[1]
    cell_instance, cell_unit = (np.zeros(int(cell.max()) + 1, dtype=np.int64) for _ in range(2))
    cell_instance[cell], cell_unit[cell] = instance, unit
    by_instance = _disagreeing(instance, labels, agreement, weight)
    within_cell = sum_by(cell, weight * _disagreeing(cell, labels, agreement, weight))
    pairs = sum_by(instance, weight * by_instance)
    pairs_without = pairs[cell_instance] - 2 * sum_by(cell, weight * by_instance) + within_cell
    total, squares = sum_by(instance, weight), sum_by(instance, weight**2)
    total_without = total[cell_instance] - sum_by(cell, weight)
    squares_without = squares[cell_instance] - sum_by(cell, weight**2)
    disagreeing, pair_weight = _instance_means(pairs, total, squares)
    disagreeing_without, compared_without = _instance_means(pairs_without, total_without, squares_without)
    lost_disagreeing = sum_by(cell_unit, disagreeing[cell_instance] - disagreeing_without, n_units)
    lost_compared = sum_by(cell_unit, pair_weight[cell_instance] - compared_without, n_units)
    value = 1.0 - divide_safely(disagreeing.sum(), pair_weight.sum())
    without = 1.0 - divide_safely(disagreeing.sum() - lost_disagreeing, pair_weight.sum() - lost_compared)
    return Ceiling(float(value), len(rows), without)


def _disagreeing(group: Ints, labels: Ints, agreement: Agreement, weight: Floats) -> Floats:
    """Return, for each row, the weight of rows in its group that disagree with it."""
    agreeing = agreeing_weights(agreement, group, labels, weight)
    return np.asarray(np.maximum(0.0, sum_by(group, weight)[group] - agreeing))


def _instance_means(pairs: Floats, total: Floats, squares: Floats) -> tuple[Floats, Floats]:
    """Return the disagreeing and the compared weight of instances; those of one row compare nothing."""
    other_pairs = total**2 - squares
    has_several = other_pairs > 1e-9 * total**2
    share = divide_safely(pairs, np.where(has_several, other_pairs, 0.0))
    return np.where(has_several, total * share, 0.0), np.where(has_several, total, 0.0)
