"""Predictions as people and models give them, turned into codes; missing ones are refused."""

from collections.abc import Iterable, Mapping, Set
from functools import cached_property
from typing import Any

import attrs
import numpy as np
import pandas as pd
from numpy.typing import NDArray

from faithkit.arrays import Floats
from faithkit.arrays.containers import as_series
from faithkit.arrays.grouping import ordered
from faithkit.errors import InputError
from faithkit.foreign import foreign
from faithkit.inputs.predictions.outcome import (
    LABELS,
    NUMBERS,
    OF_LABELS,
    SCORES,
    Outcome,
    are_probabilities,
    as_numbers,
    asked_as,
)
from faithkit.measure.agreement.base import Agreement


@attrs.frozen(eq=False, slots=False)
class Labels:
    """Predictions as codes 0 … k − 1, and what the codes stand for, in order: labels, numbers or vectors.

    `values` is a list, or an array of numbers or of rows of them; `classes` is always a list.
    """

    codes: NDArray[np.int64]
    values: Any
    outcome: Outcome = OF_LABELS

    def __len__(self) -> int:
        return len(self.codes)

    def __repr__(self) -> str:
        return f"<Labels of {len(self):,} rows, {self.k:,} of them different>"

    @property
    def k(self) -> int:
        """How many there are."""
        return len(self.values)

    @cached_property
    def classes(self) -> list[Any]:
        """What the codes stand for; vectors are tuples."""
        return listed(self.values)

    @property
    def says_nothing(self) -> bool:
        """Whether they are numbers without any variance, of which no share can be measured."""
        return self.outcome.is_divided and not np.ptp(self.codes)

    @cached_property
    def agreement(self) -> Agreement:
        """How far two of them agree."""
        if self.says_nothing:
            raise nothing_to_explain(len(self), self.classes[self.codes[0]])
        return self.outcome.agreement(self.values, self._times(self.codes))

    def agreement_with(self, pool: NDArray[np.int64]) -> Agreement:
        """Return the same where these are checked against a pool of others, too; `pool` are their codes."""
        return self.outcome.agreement(self.values, self._times(self.codes), self._times(pool))

    def _times(self, codes: NDArray[np.int64]) -> NDArray[np.int64]:
        return np.bincount(codes, minlength=self.k)

    def apart_from(self, value: Any, pool: NDArray[np.int64] | None = None) -> Floats:
        """Return how far each of the classes disagrees with a prediction, which need not be one of them.

        `pool` are the codes of others that these are checked against, too.

        Examples
        --------
        >>> encode([0.5, 2.5, 1.5], Outcome("numbers")).apart_from(1.0).round(3)  # the variance is 1
        array([0.125, 0.125, 1.125])
        """
        if self.outcome.kind == LABELS:
            return np.array([known != value for known in self.classes], dtype=np.float64)
        known = sorted({*self.classes, value})
        new, places = known.index(value), np.arange(len(known))
        if len(known) > len(self.classes):
            places = np.delete(places, new)
        times = np.zeros((2, len(known)), dtype=np.int64)
        times[0, places] = self._times(self.codes)
        times[1, places] = 0 if pool is None else self._times(pool)
        return self.outcome.agreement(known, times[0], None if pool is None else times[1]).apart(new, places)

    def taken(self, some: NDArray[Any]) -> "Labels":
        """Return the predictions of some rows, as if there were no others."""
        known, codes = np.unique(self.codes[some], return_inverse=True)
        is_list = isinstance(self.values, list)
        values = [self.values[code] for code in known] if is_list else self.values[known]
        return Labels(codes, values, self.outcome)


def nothing_to_explain(n: int, prediction: Any) -> InputError:
    """Say that all n predictions are one number."""
    all_of_them = f"all {n:,} predictions are" if n > 1 else "the only prediction is"
    return InputError(
        f"there is nothing to explain: {all_of_them} {prediction}. Of numbers the share of their variance is "
        "measured, and they have none."
    )


def encode(predictions: Any, outcome: Outcome) -> Labels:
    """Turn predictions of any kind into codes.

    Examples
    --------
    >>> found = encode([0.5, 0.1, 0.5], Outcome("numbers"))
    >>> found.codes, found.classes
    (array([1, 0, 1]), [0.1, 0.5])
    """
    if outcome.kind == LABELS:
        return encode_labels(predictions)
    values, codes = ordered(checked_numbers(predictions, outcome))  # what comes first decides nothing
    return Labels(codes, values, outcome)


def listed(values: Any) -> list[Any]:
    """Return what codes stand for as a list: labels, numbers, or tuples of them."""
    if isinstance(values, list):
        return values
    return values.tolist() if values.ndim == 1 else list(map(tuple, values.tolist()))


def checked_numbers(predictions: Any, outcome: Outcome) -> NDArray[np.float64]:
    """Return predictions as numbers, or as rows of them, that are what the outcome says."""
    found = as_numbers(predictions)
    _check_shape(found, outcome)
    return found


def _check_shape(found: NDArray[np.float64], outcome: Outcome) -> None:
    if outcome.within is not None and found.ndim > 1:
        raise InputError(
            f"predictions of {found.shape[1]} numbers each do not agree within one tolerance: leave it out, "
            "or give one of the numbers."
        )
    if outcome.kind == SCORES and not are_probabilities(found):
        raise InputError(
            "scores are probabilities: one row per instance that adds up to 1, of one number per label. "
            f"Measure others with {asked_as(NUMBERS)}."
        )


def encode_labels(predictions: Any) -> Labels:
    """Turn predictions into codes; missing ones are refused, for they can agree with nothing.

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
    with foreign("going through the predictions", "Give one label per row."):
        column = as_series(predictions)
    if not len(column):
        raise InputError("the sample is empty: give at least one row.")
    gone = column.isna().to_numpy()
    if gone.any():
        raise InputError(
            f"{int(gone.sum())} of {len(column)} predictions are missing (the first in row {gone.argmax()}): "
            "drop those rows, or name the label."
        )
    with foreign("comparing the predictions", "Give labels that are numbers, truths or texts."):
        codes, found = pd.factorize(column.to_numpy() if column.dtype == object else column)
        labels = found.tolist()
        dict(zip(labels, map(str, labels), strict=True))  # what would fail in a report fails here
        order = _sorted_places(labels)
    return Labels(np.argsort(order)[codes], [labels[place] for place in order])


def _sorted_places(labels: list[Any]) -> list[int]:
    try:
        return sorted(range(len(labels)), key=labels.__getitem__)
    except TypeError:  # labels of several types have no order; none is needed
        return list(range(len(labels)))
