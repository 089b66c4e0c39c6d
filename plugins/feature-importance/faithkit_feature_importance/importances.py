"""What discretizers and relations read of feature importances, checked; and which of them are the largest."""

from typing import Any

import numpy as np
from numpy.typing import NDArray

import faithkit

BLOCK = 16_384  # rows: a block of them then stays in the cache


def default_relation(X: Any) -> str | None:
    """Return the relation by which importances of these rows apply to others; only tables have one.

    Examples
    --------
    >>> default_relation(np.zeros((5, 3))), default_relation(np.zeros((5, 8, 8))), default_relation(["a"])
    ('same-top-features', None, None)
    """
    is_table = getattr(X, "ndim", None) == 2 and not hasattr(X, "tocsr")
    return "same-top-features" if is_table else None


def importances(
    who: str, explanations: faithkit.Explanations, *, offsets: bool = True
) -> NDArray[np.float64]:
    """Return the importances of all rows as float64, with or without the offsets behind them.

    Examples
    --------
    >>> phi = faithkit.Explanations.vectors([[1, 2, 9]], shared={"offsets": 1})
    >>> importances("rank", phi, offsets=False)
    array([[1., 2.]])
    """
    if explanations.kind != "vector":
        raise faithkit.errors.InputError(
            f"{who} reads feature importances (kind 'vector'), and these explanations are of kind "
            f"{explanations.kind!r}: leave it out, or choose an explainer such as shap or lime."
        )
    values = np.asarray(explanations.values, dtype=np.float64)
    if not offsets:
        values = values[:, : values.shape[1] - explanations.shared.get("offsets", 0)]
    infinite = np.isinf(values)
    if infinite.any() and (rows := infinite.any(axis=1) & ~explanations.missing).any():
        raise faithkit.errors.InputError(
            f"{who}: row {int(rows.argmax())} has an infinite importance, which says nothing about the "
            "model: mend the explainer, or drop the row."
        )
    return values


def ascending(values: NDArray[np.float64]) -> NDArray[np.unsignedinteger]:
    """Return the columns of every row from the smallest value to the largest: a stable argsort.

    Equal values stand in the order of their columns, −0.0 equals 0.0, and NaN comes last.

    Examples
    --------
    >>> ascending(np.array([[0.3, np.nan, -0.2, 0.3]]))
    array([[2, 0, 3, 1]], dtype=uint8)
    """
    order = np.empty(values.shape, dtype=np.min_scalar_type(max(values.shape[1] - 1, 0)))
    for start in range(0, len(values), BLOCK):
        part = slice(start, start + BLOCK)
        order[part] = np.argsort(values[part], axis=1, kind="stable")
    return order


def largest(values: NDArray[np.float64], k: int) -> NDArray[np.bool_]:
    """Mark the k values of largest absolute value in every row; zeros and NaN are never among them.

    Absolute values are ranked as `ascending` orders them, and the k highest ranks are taken: of equal ones at
    the edge the later columns.

    Examples
    --------
    >>> largest(np.array([[0.1, -0.3, np.nan, 0.1], [0.0, 0.2, 0.0, 0.0]]), k=2)
    array([[False,  True, False,  True],
           [False,  True, False, False]])
    """
    found = np.empty(values.shape, dtype=bool)
    for start in range(0, len(values), BLOCK):
        part = slice(start, start + BLOCK)
        found[part] = _largest(np.abs(values[part]), k)
    return found


def _largest(size: NDArray[np.float64], k: int) -> NDArray[np.bool_]:
    size[np.isnan(size)] = 0.0
    edge = size.shape[1] - k
    found = (size >= np.partition(size, edge, axis=1)[:, edge, None]) & (size > 0)
    # a partition is twice as fast as sorting, and says nothing about the order of equals
    tied = np.flatnonzero(np.count_nonzero(found, axis=1) > k)
    if len(tied):
        found[tied] = False
        found[tied[:, None], ascending(size[tied])[:, edge:]] = True
    return found
