"""Conditions on rows that occur in the trees of an ensemble, and which rows meet them."""

from collections.abc import Iterable

import attrs
import numpy as np
from numpy.typing import NDArray

Floats = NDArray[np.float64]
Bools = NDArray[np.bool_]
Split = tuple[int, float, bool, frozenset[float] | None]  # column, threshold, missing to the left, categories
Answers = tuple[int, ...]  # at splits: 2 · split for "to the left", 2 · split + 1 for "to the right"


@attrs.frozen(eq=False)
class Conditions:
    """All conditions that occur: each a conjunction of answers at splits.

    Parameters
    ----------
    columns, thresholds, missing_left : (splits,)
        The distinct splits of the ensemble.
    categories : dict
        For each split by category: those that go to the left.
    answers : list of array
        For the first, second, … answer of every condition that has so many: which it is. Conditions with more
        answers come first.

    Examples
    --------
    A column at least 1 and at most 2, and the same column at most 2, for cells 0, 2 and NaN.

    >>> splits = {(0, 1.0, False, None): 0, (0, 2.0, True, None): 1}
    >>> conditions, place = Conditions.told_apart(splits, [(1, 2), (2,)])
    >>> conditions.met(np.array([[0.0, 2.0, np.nan]]))[place[1, 2]]
    array([False,  True,  True])
    """

    columns: NDArray[np.int64]
    thresholds: Floats
    missing_left: Bools
    categories: dict[int, Floats]
    answers: list[NDArray[np.int64]]

    @classmethod
    def told_apart(
        cls, splits: dict[Split, int], told: Iterable[Answers]
    ) -> "tuple[Conditions, dict[Answers, int]]":
        """Return the distinct conditions among those told, and the place of each."""
        ordered = sorted(set(told), key=lambda answers: (-len(answers), answers))
        most = len(ordered[0]) if ordered else 0
        conditions = cls(
            np.array([column for column, _, _, _ in splits], dtype=np.int64),
            np.array([threshold for _, threshold, _, _ in splits]),
            np.array([missing for _, _, missing, _ in splits], dtype=bool),
            {i: np.array(sorted(sets)) for (_, _, _, sets), i in splits.items() if sets is not None},
            [np.array([answers[i] for answers in ordered if len(answers) > i]) for i in range(most)],
        )
        return conditions, {answers: i for i, answers in enumerate(ordered)}

    def met(self, cells: Floats) -> Bools:
        """Return which conditions each row meets, (conditions, n); `cells` has a row for each column."""
        if not self.answers:
            return np.zeros((0, cells.shape[1]), dtype=bool)
        asked = cells[self.columns]
        left = asked <= self.thresholds[:, None]
        for split, categories in self.categories.items():
            left[split] = np.isin(asked[split], categories)
        left |= np.isnan(asked) & self.missing_left[:, None]
        answers = np.stack([left, ~left], axis=1).reshape(2 * len(left), -1)
        found = answers[self.answers[0]]
        for more in self.answers[1:]:
            found[: len(more)] &= answers[more]
        return found
