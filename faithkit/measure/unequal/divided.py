"""Numbers of rows with weights or clusters: they are divided by what a constant explanation leaves.

That is counted by the same means as any other explanation, so a constant one gets 0 exactly.
"""

from typing import Any

import numpy as np
from numpy.typing import NDArray

from faithkit.errors import InputError
from faithkit.measure.agreement.base import Agreement
from faithkit.measure.agreement.squares import NOTHING, Squares
from faithkit.measure.estimators import ratio
from faithkit.measure.explanations import Explanations, Sample
from faithkit.measure.inference import agreement as agreement_of
from faithkit.measure.pool import Pool
from faithkit.measure.relations import Relation
from faithkit.measure.slots import Counts
from faithkit.measure.unequal.counting import Divisor, UnequalCount, count_unequal
from faithkit.measure.unequal.deletion import Deletion, without_each
from faithkit.measure.unequal.design import Design


class _Everywhere(Relation):
    """Every explanation holds for everything."""

    instance_only = True

    def key(self, explanations: Explanations) -> Any:
        return explanations.values

    def holds(self, sample: Sample, explanations: Explanations) -> NDArray[np.bool_]:
        return np.ones((len(explanations), len(sample)), dtype=bool)


def count_divided(
    relation: Relation,
    sample: Sample,
    labels: Counts,
    n_labels: int,
    design: Design,
    pool: Pool | None,
    agreement: Agreement,
) -> UnequalCount:
    """Tally a relation over rows with weights or clusters, whose predictions may be numbers.

    How far these agree is said as if rows were equal.

    Examples
    --------
    >>> from faithkit.measure.relations import SameExplanation
    >>> y = np.array([0, 1, 1])
    >>> numbers = Squares.divided(np.array([[1.0], [3.0]]), np.bincount(y))
    >>> sample, design = Sample(None, Explanations.of(["a", "a", "a"])), Design.of([1, 1, 2], None, n=3)
    >>> found = count_divided(SameExplanation(), sample, y, 2, design, None, numbers)
    >>> abs(round(agreement_of(found.slots)[0], 12))
    0.0
    """
    if not isinstance(agreement, Squares) or not agreement.is_divided:
        return count_unequal(relation, sample, labels, n_labels, design, pool, agreement)
    divisor = _divisor(labels, n_labels, design, pool, agreement)
    scaled = agreement.scaled(divisor.level)
    return count_unequal(relation, sample, labels, n_labels, design, pool, scaled, divisor)


def _divisor(
    labels: Counts, n_labels: int, design: Design, pool: Pool | None, agreement: Agreement
) -> Divisor:
    """Count a constant explanation, all of whose disagreement is what others are divided by."""
    sample = Sample(None, Explanations(kind="value", values=np.zeros(len(labels))))
    counted = count_unequal(_Everywhere(), sample, labels, n_labels, design, pool, agreement)
    level = agreement_of(counted.slots)
    value, verified = without_each(counted, Deletion(counted), level)
    disagreement = level[1] - level[0]
    if disagreement <= NOTHING:
        raise InputError(
            "there is nothing to explain: all predictions of rows that count are the same number, or of one "
            "cluster. Of numbers the share of their variance is measured, and they have none."
        )
    left = ratio(disagreement - (verified - value), np.full(len(value), disagreement))
    return Divisor(disagreement, np.where(left > NOTHING, left, 0.0))
