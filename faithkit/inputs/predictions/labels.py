"""Encode predictions as integer codes; a missing prediction is an error."""

from collections.abc import Iterable, Mapping, Set
from functools import cached_property
from typing import Any

import attrs
import numpy as np
import pandas as pd
from numpy.typing import NDArray

from faithkit.arrays import Floats
from faithkit.arrays.containers import as_series
from faithkit.arrays.grouping import sort_distinct
from faithkit.errors import InputError
from faithkit.inputs.predictions.outcome import (
    LABEL_OUTCOME,
    LABELS,
    NUMBERS,
    SCORES,
    Outcome,
    are_probabilities,
    as_numbers,
    normalise,
    outcome_option,
)
from faithkit.measure.agreement.base import Agreement
from faithkit.third_party import guard


@attrs.frozen(eq=False, slots=False)
class Labels:
    """Predictions as codes 0 … k − 1, and the values of the codes, in order: labels, numbers or vectors.

    `values` is a list, or an array of numbers or of rows of numbers; `classes` is always a list.
    """

    codes: NDArray[np.int64]
    values: Any
    outcome: Outcome = LABEL_OUTCOME

    def __len__(self) -> int:
        return len(self.codes)

    @property
    def k(self) -> int:
        """The number of distinct predictions."""
        return len(self.values)

    @cached_property
    def classes(self) -> list[Any]:
        """The values of the codes as a list; vectors are tuples."""
        return class_list(self.values)

    @property
    def has_no_variance(self) -> bool:
        """Whether all predictions are one number, so that there is no variance to explain."""
        return self.outcome.is_normalised and not np.ptp(self.codes)

    @cached_property
    def agreement(self) -> Agreement:
        """How far two predictions agree."""
        if self.has_no_variance:
            raise no_variance_error(len(self), self.classes[self.codes[0]])
        return self.outcome.agreement(self.values, self._count(self.codes))

    def agreement_with(self, pool: NDArray[np.int64]) -> Agreement:
        """Return the agreement if predictions are also checked against a pool; `pool` has its codes."""
        return self.outcome.agreement(self.values, self._count(self.codes), self._count(pool))

    def _count(self, codes: NDArray[np.int64]) -> NDArray[np.int64]:
        return np.bincount(codes, minlength=self.k)

    def disagreement_with(self, value: Any, pool: NDArray[np.int64] | None = None) -> Floats:
        """Return how far each class disagrees with a prediction, which may be a new one.

        `pool` has the codes of a pool that predictions are also checked against.

        Examples
        --------
        >>> encode([0.5, 2.5, 1.5], Outcome("numbers")).disagreement_with(1.0).round(3)  # the variance is 1
        array([0.125, 0.125, 1.125])
        """
        if self.outcome.kind == LABELS:
            return np.array([label != value for label in self.classes], dtype=np.float64)
        values = sorted({*self.classes, value})
        new_position, class_positions = values.index(value), np.arange(len(values))
        if len(values) > len(self.classes):
            class_positions = np.delete(class_positions, new_position)
        counts = np.zeros((2, len(values)), dtype=np.int64)
        counts[0, class_positions] = self._count(self.codes)
        counts[1, class_positions] = 0 if pool is None else self._count(pool)
        agreement = self.outcome.agreement(values, counts[0], None if pool is None else counts[1])
        return agreement.disagreement(new_position, class_positions)

    def at(self, rows: NDArray[Any]) -> "Labels":
        """Return the predictions of the selected rows, with the same codes."""
        return Labels(self.codes[rows], self.values, self.outcome)

    def take(self, rows: NDArray[Any]) -> "Labels":
        """Return the predictions of the selected rows, with codes for their values only."""
        used_codes, codes = np.unique(self.codes[rows], return_inverse=True)
        is_list = isinstance(self.values, list)
        values = [self.values[code] for code in used_codes] if is_list else self.values[used_codes]
        return Labels(codes, values, self.outcome)


def no_variance_error(n: int, prediction: Any) -> InputError:
    """Return the error for n predictions that are all one number."""
    subject = f"all {n:,} predictions are" if n > 1 else "the only prediction is"
    return InputError(
        f"there is nothing to explain: {subject} {prediction}. Of numbers the share of their variance is "
        "measured, and they have none."
    )


def encode(predictions: Any, outcome: Outcome) -> Labels:
    """Encode predictions of any kind.

    Examples
    --------
    >>> labels = encode([0.5, 0.1, 0.5], Outcome("numbers"))
    >>> labels.codes, labels.classes
    (array([1, 0, 1]), [0.1, 0.5])
    """
    if outcome.kind == LABELS:
        return encode_labels(predictions)
    values, codes = sort_distinct(
        as_checked_numbers(predictions, outcome)
    )  # sorted, so that the order of rows does not matter
    return Labels(codes, values, outcome)


def class_list(values: Any) -> list[Any]:
    """Return the values of codes as a list: labels, numbers, or tuples of numbers."""
    if isinstance(values, list):
        return values
    return values.tolist() if values.ndim == 1 else list(map(tuple, values.tolist()))


def as_checked_numbers(predictions: Any, outcome: Outcome) -> NDArray[np.float64]:
    """Return predictions as numbers or rows of numbers, and check that they fit the outcome."""
    numbers = as_numbers(predictions)
    if outcome.within is not None and numbers.ndim > 1:
        raise InputError(
            f"predictions of {numbers.shape[1]} numbers each do not agree within one tolerance: leave it "
            "out, or give one of the numbers."
        )
    if outcome.kind == SCORES and not are_probabilities(numbers):
        raise InputError(
            "scores are probabilities: one row per instance that adds up to 1, of one number per label. "
            f"Measure others with {outcome_option(NUMBERS)}."
        )
    return normalise(numbers) if outcome.kind == SCORES else numbers


def encode_labels(predictions: Any) -> Labels:
    """Encode labels; a missing label is an error, because it can agree with nothing.

    Examples
    --------
    >>> encode_labels(["yes", "no", "yes"]).codes
    array([1, 0, 1])
    """
    if getattr(predictions, "ndim", 1) != 1:
        raise InputError(f"predictions of shape {np.shape(predictions)}: give one label per row.")
    if not isinstance(predictions, Iterable) or isinstance(predictions, str | bytes | Mapping | Set):
        raise InputError(
            f"predictions of type {type(predictions).__name__} are not understood: give one label per row, "
            "in a list, an array or a Series."
        )
    column = as_series(predictions)
    if not len(column):
        raise InputError("the sample is empty: give at least one row.")
    is_missing = column.isna().to_numpy()
    if is_missing.any():
        raise InputError(
            f"{int(is_missing.sum())} of {len(column)} predictions are missing (the first in row "
            f"{is_missing.argmax()}): drop those rows, or name the label."
        )
    with guard("comparing the predictions", "Give labels that are numbers, truths or texts."):
        codes, distinct = pd.factorize(column.to_numpy() if column.dtype == object else column)
        labels = distinct.tolist()
        order = _sorted_positions(labels)
    return Labels(np.argsort(order)[codes], [labels[position] for position in order])


def find_missing_labels(predictions: Any) -> NDArray[np.bool_]:
    """Return which predictions are missing, if they are labels; none of an unknown form is.

    Examples
    --------
    >>> find_missing_labels(["yes", None, "no"])
    array([False,  True, False])
    """
    is_column = isinstance(predictions, list | tuple | np.ndarray | pd.Series)
    is_masked = isinstance(predictions, np.ma.MaskedArray)  # which is refused later
    if not is_column or is_masked or getattr(predictions, "ndim", 1) != 1:
        return np.zeros(0, dtype=bool)
    return np.asarray(as_series(predictions).isna().to_numpy(), dtype=bool)


def describe_missing_labels(n_missing: int) -> str:
    """Return the note on rows that are left out because they have no prediction.

    >>> describe_missing_labels(1)
    '1 row has no prediction, and is left out.'
    """
    rows = "row has no prediction, and is" if n_missing == 1 else "rows have no prediction, and are"
    return f"{n_missing:,} {rows} left out."


class MissingPredictionError(InputError):
    """A log has rows without a label, which are left out where all rows are read at once."""


def _sorted_positions(labels: list[Any]) -> list[int]:
    try:
        return sorted(range(len(labels)), key=labels.__getitem__)
    except TypeError:  # labels of several types have no order, and need none
        return list(range(len(labels)))
