"""The conditions on rows in the trees of an ensemble, and which rows meet them."""

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
    """The distinct conditions of an ensemble. Each is a conjunction of answers at splits.

    Parameters
    ----------
    columns, thresholds, missing_left : (splits,)
        The distinct splits of the ensemble.
    categories : dict
        The categories that go to the left, for each split by category.
    answers : list of array
        Element i has answer number i of every condition with more than i answers. Conditions with more
        answers come first.

    Examples
    --------
    A column at least 1 and at most 2, and the same column at most 2, for values 0, 2 and NaN.

    >>> splits = {(0, 1.0, False, None): 0, (0, 2.0, True, None): 1}
    >>> conditions, numbers = Conditions.deduplicate(splits, [(1, 2), (2,)])
    >>> conditions.evaluate(np.array([[0.0, 2.0, np.nan]]))[numbers[1, 2]]
    array([False,  True,  True])
    """

    columns: NDArray[np.int64]
    thresholds: Floats
    missing_left: Bools
    categories: dict[int, Floats]
    answers: list[NDArray[np.int64]]

    @classmethod
    def deduplicate(
        cls, splits: dict[Split, int], answers_of_conditions: Iterable[Answers]
    ) -> "tuple[Conditions, dict[Answers, int]]":
        """Return the distinct conditions, and the number of each."""
        ordered = sorted(set(answers_of_conditions), key=lambda answers: (-len(answers), answers))
        max_answers = len(ordered[0]) if ordered else 0
        conditions = cls(
            np.array([column for column, _, _, _ in splits], dtype=np.int64),
            np.array([threshold for _, threshold, _, _ in splits]),
            np.array([missing for _, _, missing, _ in splits], dtype=bool),
            {
                i: np.array(sorted(left_categories))
                for (_, _, _, left_categories), i in splits.items()
                if left_categories is not None
            },
            [np.array([answers[i] for answers in ordered if len(answers) > i]) for i in range(max_answers)],
        )
        return conditions, {answers: i for i, answers in enumerate(ordered)}

    def evaluate(self, values: Floats) -> Bools:
        """Return which conditions each row meets, (conditions, n), from values (columns, n)."""
        if not self.answers:
            return np.zeros((0, values.shape[1]), dtype=bool)
        split_values = values[self.columns]
        goes_left = split_values <= self.thresholds[:, None]
        for split, categories in self.categories.items():
            goes_left[split] = np.isin(split_values[split], categories)
        goes_left |= np.isnan(split_values) & self.missing_left[:, None]
        answers = np.stack([goes_left, ~goes_left], axis=1).reshape(2 * len(goes_left), -1)
        is_met = answers[self.answers[0]]
        for answer_numbers in self.answers[1:]:
            is_met[: len(answer_numbers)] &= answers[answer_numbers]
        return is_met
