"""Relations given by a matrix, and tallies of them: any relation at all, small enough to check by hand."""

import numpy as np

from faithkit.explanations.explanations import Explanations, Sample
from faithkit.explanations.relations import Relation, SameExplanation
from faithkit.measure.baselines.permutation import permutation_p_value
from faithkit.measure.counting.count import Count, count
from faithkit.measure.counting.design import Design
from faithkit.measure.counting.groups import Groups
from faithkit.measure.counting.tally import Tally
from faithkit.measure.estimate import estimate
from faithkit.measure.jackknife.summary import JackknifeEstimate


class Matrix(Relation):
    """Explanation u holds for an instance explained by v where matrix[u, v]."""

    def __init__(self, matrix):
        self.matrix = np.asarray(matrix, dtype=bool)

    def key(self, explanations):
        return explanations.values

    def holds(self, sample, explanations):
        return self.matrix[explanations.values.astype(int)][:, sample.explanations.values.astype(int)]


def counted(relation, owned, labels, k=None):
    """Tally a relation over instances explained by the numbers in `owned`."""
    labels = np.asarray(labels, dtype=np.int64)
    explanations = Explanations(kind="number", values=np.asarray(owned, dtype=np.int64))
    return count(relation, Sample(None, explanations), labels, k or int(labels.max()) + 1)


def grouped(table):
    """The tally of a grouping relation with these counts."""
    table = np.asarray(table, dtype=np.int64)
    return Tally(table, np.stack([np.zeros_like(table), table]))


def count_of(tally):
    """The count of a tally whose explanations group rows."""
    m, k = tally.counts.shape
    explanations, no_rows = Explanations(kind="number", values=np.arange(m)), np.zeros(0, dtype=np.int64)
    return Count(
        relation=SameExplanation(),
        explanations=explanations,
        n_labels=k,
        design=Design.equal(0),
        owners=tally.entries,
        source=Groups.of_owners(tally.entries),
        sample=Sample(None, explanations.take(no_rows)),
        labels=no_rows,
        owned=no_rows,
        agreement=tally.agreement,
    )


def facts_of(table):
    """The moments of a grouping with these counts; explanations that occur once form one block."""
    return JackknifeEstimate.of(count_of(grouped(table))).statistics


def facts_of_pairs(table):
    """The moments of the same as a relation that is asked pair by pair: nothing is merged."""
    table = np.asarray(table)
    owned, labels = (np.repeat(codes.ravel(), table.ravel()) for codes in np.indices(table.shape))
    return JackknifeEstimate.of(counted(Matrix(np.eye(len(table))), owned, labels, table.shape[1])).statistics


def estimated(counted, estimator, confidence, permutations=0, seed=0):
    """The estimate of a count: its moments, and a permutation test where one is asked for."""
    facts = JackknifeEstimate.of(counted).statistics
    p_value = permutation_p_value(counted, facts, permutations, seed) if permutations else None
    return estimate(counted, facts, estimator, confidence, p_value)
