"""Discretizers of counterfactuals by the changed columns (paper's appendix, "Explainers discretization").

They compare the example with the instance that it explains, column by column.
"""

from collections.abc import Callable
from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import NDArray

import faithkit
from faithkit_example_based.examples import align_columns, example_rows, explained_rows, find_differences

SAME = "same"


class Delta:
    """The changes and their sizes: x′ − x for numbers, the new value for categories.

    An unchanged category is "same". The change is +∞ for a number that is missing in the instance, and −∞ for
    one that is missing in the example.

    Examples
    --------
    >>> X = pd.DataFrame({"age": [30.0, 40.0], "job": ["cook", "smith"]})
    >>> counterfactuals = pd.DataFrame({"age": [35.0, 40.0], "job": ["cook", "clerk"]})
    >>> examples = faithkit.Explanations(kind="example", values=counterfactuals, instances=X)
    >>> Delta().discretize(examples)
       age      job
    0  5.0     same
    1  0.0  → clerk
    """

    phrase = "by what the example changes"

    def discretize(self, explanations: faithkit.Explanations) -> Any:
        """Return the differences, in the form of the examples."""
        return _compare_columns("delta", explanations, _difference, _new_value)


class DeltaSign:
    """The direction in which each number changes (−1, 0, 1), and which categories change (0, 1).

    A number that is missing in the instance counts as raised, one missing in the example as lowered.

    Examples
    --------
    >>> X = np.array([[1.0, 5.0], [2.0, 5.0]])
    >>> counterfactuals = np.array([[3.0, 5.0], [0.5, 6.0]])
    >>> examples = faithkit.Explanations(kind="example", values=counterfactuals, instances=X)
    >>> DeltaSign().discretize(examples)
    array([[ 1.,  0.],
           [-1.,  1.]])
    """

    phrase = "by the direction of each change"

    def discretize(self, explanations: faithkit.Explanations) -> Any:
        """Return the signs of the differences, in the form of the examples."""
        return _compare_columns("delta-sign", explanations, _sign_of_difference, _has_changed)


class IsFeatureModified:
    """Which columns change: 1, or 0 where the example has the value of the instance.

    The paper swaps 0 and 1, which gives the same classes.

    Examples
    --------
    >>> X = np.array([[1.0, 5.0], [2.0, 5.0]])
    >>> counterfactuals = np.array([[3.0, 5.0], [0.5, 6.0]])
    >>> examples = faithkit.Explanations(kind="example", values=counterfactuals, instances=X)
    >>> IsFeatureModified().discretize(examples)
    array([[1., 0.],
           [1., 1.]])
    """

    phrase = "by the columns that the example changes"

    def discretize(self, explanations: faithkit.Explanations) -> Any:
        """Return 1 for each changed column and 0 for the others."""
        return _compare_columns("is-feature-modified", explanations, _has_changed, _has_changed)


Comparison = Callable[["pd.Series[Any]", "pd.Series[Any]"], NDArray[Any]]


def _compare_columns(
    name: str,
    explanations: faithkit.Explanations,
    compare_numbers: Comparison,
    compare_categories: Comparison,
) -> Any:
    """Compare instances and examples, one column after the other."""
    examples = example_rows(name, explanations)
    y = _as_frame(examples)
    x = align_columns(name, _as_frame(explained_rows(name, explanations)), y)
    changes = {}
    for j in range(y.shape[1]):
        columns = x.iloc[:, j], y.iloc[:, j]
        are_numbers = all(pd.api.types.is_numeric_dtype(column.dtype) for column in columns)
        changes[j] = (compare_numbers if are_numbers else compare_categories)(*columns)
    frame = pd.DataFrame(changes, index=range(len(y))).set_axis(y.columns, axis="columns")
    return frame if isinstance(examples, pd.DataFrame) else frame.to_numpy()


def _as_frame(rows: Any) -> pd.DataFrame:
    return rows if isinstance(rows, pd.DataFrame) else pd.DataFrame(rows).infer_objects()


def _difference(x: pd.Series, y: pd.Series) -> NDArray[np.float64]:
    a, b = (column.to_numpy(dtype=np.float64, na_value=np.nan) for column in (x, y))
    missing_a, missing_b = np.isnan(a), np.isnan(b)
    difference = np.select([missing_a & missing_b, missing_a, missing_b], [0.0, np.inf, -np.inf], b - a)
    return difference + 0.0  # turns −0.0 into 0.0


def _sign_of_difference(x: pd.Series, y: pd.Series) -> NDArray[np.float64]:
    return np.sign(_difference(x, y))


def _new_value(x: pd.Series, y: pd.Series) -> NDArray[Any]:
    """Return "→ value" where the value changes, and an arrow alone if it becomes missing."""
    values = y.to_numpy(dtype=object)
    texts = ["→" if is_missing else f"→ {value}" for value, is_missing in zip(values, y.isna(), strict=True)]
    return np.where(find_differences(x, y), np.array(texts, dtype=object), SAME)


def _has_changed(x: pd.Series, y: pd.Series) -> NDArray[np.float64]:
    return find_differences(x, y).astype(np.float64)
