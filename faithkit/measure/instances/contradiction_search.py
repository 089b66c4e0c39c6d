"""Search the labels of two rows that contradict an explanation."""

import numpy as np
from numpy.typing import NDArray

from faithkit.measure.agreement.base import Agreement, agreement_by_label
from faithkit.measure.counting.owners import Counts


def find_contradiction(
    agreement: Agreement, owner_labels: Counts, label_counts: Counts
) -> tuple[int, NDArray[np.bool_]]:
    """Return a contradicted owner of an explanation, and the labels that contradict it.

    It is the first owner with any disagreement, and all labels that disagree with it. Where predictions agree
    by degrees, it is the owner and the label in the explanation's scope that agree least.

    Parameters
    ----------
    agreement : Agreement
    owner_labels : (m,) int
        The labels of the rows with this explanation, in the order of rows.
    label_counts : (k,) int
        The number of instances of each label for which the explanation holds.

    Examples
    --------
    >>> from faithkit.measure.agreement.same_label import SAME_LABEL
    >>> find_contradiction(SAME_LABEL, np.array([1, 0]), np.array([1, 1, 0]))
    (0, array([ True, False,  True]))
    """
    labels = np.arange(len(label_counts))
    if agreement.is_binary:
        has_disagreement = agreement_by_label(agreement, label_counts)[owner_labels] < label_counts.sum()
        position = int(has_disagreement.argmax())
        return position, agreement.disagreement(int(owner_labels[position]), labels) > 0
    owner_label, scope_label = _most_distant_labels(
        agreement, np.unique(owner_labels), np.flatnonzero(label_counts)
    )
    return int((owner_labels == owner_label).argmax()), labels == scope_label


def _most_distant_labels(agreement: Agreement, owner_labels: Counts, scope_labels: Counts) -> tuple[int, int]:
    """Return a label of the owners and a label in the explanation's scope that agree least.

    Labels are in order. So for numbers, the label in scope is the first or the last. For vectors, a search
    goes back and forth between the most distant labels. It may miss a more distant pair, but a search of all
    pairs would take too long.

    Examples
    --------
    >>> from faithkit.measure.agreement.squares import Squares
    >>> numbers = Squares.of_numbers(np.array([[1.0], [2.0], [5.0], [6.0]]), np.array([1, 1, 1, 1]))
    >>> _most_distant_labels(numbers, np.array([1, 2]), np.array([0, 1, 2, 3]))
    (1, 3)
    """
    starts = {scope_labels[0], scope_labels[-1]}
    pairs = [_search_distant_pair(agreement, int(start), owner_labels, scope_labels) for start in starts]
    owner_label, scope_label, _ = max(pairs, key=lambda pair: (pair[2], -pair[0], -pair[1]))
    return owner_label, scope_label


def _search_distant_pair(
    agreement: Agreement, scope_label: int, owner_labels: Counts, scope_labels: Counts
) -> tuple[int, int, float]:
    """Alternate between most distant labels while the distance grows; return the pair and the distance."""
    distance = -1.0
    while True:
        owner_label = int(owner_labels[agreement.disagreement(scope_label, owner_labels).argmax()])
        distances = agreement.disagreement(owner_label, scope_labels)
        if distances.max() <= distance:
            return owner_label, scope_label, distance
        scope_label, distance = int(scope_labels[distances.argmax()]), float(distances.max())
