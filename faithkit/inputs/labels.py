"""Predictions as people and models give them, turned into codes; missing ones are refused."""

from collections.abc import Iterable, Mapping, Set
from functools import cached_property
from typing import Any

import attrs
import numpy as np
import pandas as pd
from numpy.typing import NDArray

from faithkit.errors import InputError
from faithkit.foreign import foreign
from faithkit.inputs.outcome import LABELS, OF_LABELS, SCORES, Outcome, are_probabilities, as_numbers
from faithkit.measure.agreement.base import Agreement
from faithkit.measure.grouping import group
from faithkit.measure.sums import Floats


@attrs.frozen(eq=False, slots=False)
class Labels:
    """Predictions as codes 0 … k − 1, and what the codes stand for, in order: labels, numbers or vectors."""

    codes: NDArray[np.int64]
    classes: list[Any]
    outcome: Outcome = OF_LABELS

    def __len__(self) -> int:
        return len(self.codes)

    @property
    def says_nothing(self) -> bool:
        """Whether they are numbers without any variance, of which no share can be measured."""
        return self.outcome.is_divided and len(self.classes) < 2

    @cached_property
    def agreement(self) -> Agreement:
        """How far two of them agree."""
        if self.says_nothing:
            raise InputError(
                f"there is nothing to explain: all {len(self):,} predictions are {self.classes[0]}. Of "
                "numbers the share of their variance is measured, and they have none."
            )
        return self.outcome.agreement(self.classes, np.bincount(self.codes, minlength=len(self.classes)))

    def apart_from(self, value: Any) -> Floats:
        """Return how far each of the classes disagrees with a prediction, which need not be one of them.

        Examples
        --------
        >>> encode([0.5, 2.5, 1.5], Outcome("numbers")).apart_from(1.0).round(3)  # the variance is 1
        array([0.125, 0.125, 1.125])
        """
        if self.outcome.kind == LABELS:
            return np.array([known != value for known in self.classes], dtype=np.float64)
        times = dict(zip(self.classes, np.bincount(self.codes, minlength=len(self.classes)), strict=True))
        known = sorted({*self.classes, value})
        agreement = self.outcome.agreement(known, np.array([times.get(one, 0) for one in known]))
        place = np.array([i for i, one in enumerate(known) if one in times])
        return agreement.apart(known.index(value), place)

    def taken(self, some: NDArray[Any]) -> "Labels":
        """Return the predictions of some rows, as if there were no others."""
        known, codes = np.unique(self.codes[some], return_inverse=True)
        return Labels(codes, [self.classes[code] for code in known], self.outcome)


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
    found = as_numbers(predictions)
    _check_shape(found, outcome)
    if found.ndim == 1:
        values, codes = np.unique(found, return_inverse=True)
        return Labels(codes, values.tolist(), outcome)
    groups = group(found, np.zeros(len(found), dtype=bool))
    rows = found[groups.first]
    order = np.lexsort(rows.T[::-1])  # by content: what comes first decides nothing
    return Labels(np.argsort(order)[groups.codes], list(map(tuple, rows[order].tolist())), outcome)


def _check_shape(found: NDArray[np.float64], outcome: Outcome) -> None:
    if outcome.within is not None and found.ndim > 1:
        raise InputError(
            f"predictions of {found.shape[1]} numbers each do not agree within one tolerance: leave it out, "
            "or give one of the numbers."
        )
    if outcome.kind == SCORES and not are_probabilities(found):
        raise InputError(
            "scores are probabilities: one row per instance that adds up to 1, of one number per label. "
            "Measure others with outcome='numbers'."
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
        is_column = isinstance(predictions, pd.Series | np.ndarray)
        column = pd.Series(predictions if is_column else list(predictions))
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
