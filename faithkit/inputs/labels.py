"""Predictions as people and models give them, turned into codes; missing ones are refused."""

from collections.abc import Iterable, Mapping, Set
from typing import Any

import attrs
import numpy as np
import pandas as pd
from numpy.typing import NDArray

from faithkit.errors import InputError
from faithkit.foreign import foreign


@attrs.frozen(eq=False)
class Labels:
    """Predictions as codes 0 … k − 1, and the labels that the codes stand for."""

    codes: NDArray[np.int64]
    classes: list[Any]


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
