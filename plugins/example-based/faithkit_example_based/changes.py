"""What a counterfactual changes: the paper's discretizations (appendix, "Explainers discretization").

They compare the example with the instance that it explains, column by column, and forget the rest.
"""

from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import NDArray

import faithkit
from faithkit_example_based.cells import aligned, unlike
from faithkit_example_based.examples import example_rows, explained_rows

SAME = "same"


class Delta:
    """What was changed and by how much: x′ − x for numbers, the new value for categories.

    A category that is not changed is "same". A number that was missing is changed by +∞, one that is
    missing in the example by −∞.

    Examples
    --------
    >>> X = pd.DataFrame({"age": [30.0, 40.0], "job": ["cook", "smith"]})
    >>> other = pd.DataFrame({"age": [35.0, 40.0], "job": ["cook", "clerk"]})
    >>> found = faithkit.Explanations(kind="example", values=other, instances=X)
    >>> Delta().discretize(found)
       age      job
    0  5.0     same
    1  0.0  → clerk
    """

    def discretize(self, explanations: faithkit.Explanations) -> Any:
        """Return the differences, in the form of the examples."""
        return _compared("delta", explanations, _gap, _new_value)


class DeltaSign:
    """In which direction numbers were changed (−1, 0, 1), and which categories were (0, 1).

    A number that was missing counts as raised, one that is missing in the example as lowered.

    Examples
    --------
    >>> X = np.array([[1.0, 5.0], [2.0, 5.0]])
    >>> found = faithkit.Explanations(kind="example", values=np.array([[3.0, 5.0], [0.5, 6.0]]), instances=X)
    >>> DeltaSign().discretize(found)
    array([[ 1.,  0.],
           [-1.,  1.]])
    """

    def discretize(self, explanations: faithkit.Explanations) -> Any:
        """Return the signs of the differences, in the form of the examples."""
        return _compared("delta-sign", explanations, lambda x, y: np.sign(_gap(x, y)), _changed)


class IsFeatureModified:
    """Which columns were changed: 1, or 0 where the example has the instance's own value.

    The paper prints it the other way round, which makes the same classes.

    Examples
    --------
    >>> X = np.array([[1.0, 5.0], [2.0, 5.0]])
    >>> found = faithkit.Explanations(kind="example", values=np.array([[3.0, 5.0], [0.5, 6.0]]), instances=X)
    >>> IsFeatureModified().discretize(found)
    array([[1., 0.],
           [1., 1.]])
    """

    def discretize(self, explanations: faithkit.Explanations) -> Any:
        """Return ones and zeros, in the form of the examples."""
        return _compared("is-feature-modified", explanations, _changed, _changed)


def _compared(who: str, explanations: faithkit.Explanations, numbers: Any, categories: Any) -> Any:
    """Compare examples and instances, one column after the other."""
    examples = example_rows(who, explanations)
    y = _frame(examples)
    x = aligned(who, _frame(explained_rows(who, explanations)), y)
    compared = {}
    for j in range(y.shape[1]):
        mine, other = x.iloc[:, j], y.iloc[:, j]
        are_numbers = all(pd.api.types.is_numeric_dtype(column.dtype) for column in (mine, other))
        compared[j] = (numbers if are_numbers else categories)(mine, other)
    frame = pd.DataFrame(compared, index=range(len(y))).set_axis(y.columns, axis="columns")
    return frame if isinstance(examples, pd.DataFrame) else frame.to_numpy()


def _frame(rows: Any) -> pd.DataFrame:
    return rows if isinstance(rows, pd.DataFrame) else pd.DataFrame(rows).infer_objects()


def _gap(x: pd.Series, y: pd.Series) -> NDArray[np.float64]:
    a, b = (column.to_numpy(dtype=np.float64, na_value=np.nan) for column in (x, y))
    gone_a, gone_b = np.isnan(a), np.isnan(b)
    gap = np.select([gone_a & gone_b, gone_a, gone_b], [0.0, np.inf, -np.inf], b - a)
    return gap + 0.0  # no −0.0 among the identities


def _new_value(x: pd.Series, y: pd.Series) -> NDArray[Any]:
    """Write "→ value" where it changed; an arrow alone leads to a missing value."""
    values = y.to_numpy(dtype=object)
    texts = ["→" if gone else f"→ {value}" for value, gone in zip(values, y.isna(), strict=True)]
    return np.where(unlike(x, y), np.array(texts, dtype=object), SAME)


def _changed(x: pd.Series, y: pd.Series) -> NDArray[np.float64]:
    return unlike(x, y).astype(np.float64)
