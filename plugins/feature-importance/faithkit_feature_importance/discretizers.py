"""Discretizers: which vectors of importances count as equal (the appendix of the paper).

`rank` keeps the order of importances, `sign` and `sign-of-top` keep signs, `quantile` keeps bins that are
learnt on the background, and `fp`, `1fp` and `2fp` keep few decimals: the paper's 1-FP and 2-FP.
"""

from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

import faithkit
from faithkit_feature_importance.importances import (
    ROWS_PER_BATCH,
    argsort_rows,
    mark_largest,
    read_importances,
)

_SYMBOLS = {1: "+", -1: "−"}
VALUES_PER_BATCH = 2**15  # so that a batch stays in the processor's cache
NO_DECIMALS = 2.0**53  # from here on, floats are integers: there are no decimals to drop
SAFE_PRODUCT = 2.0**49  # below it, the correction that `_floor_values` adds is less than a quarter


def learn_cuts(numbers: NDArray[np.float64], bins: int) -> NDArray[np.float64]:
    """Return the cuts between bins. A bin reaches from above one cut up to and including the next.

    The cuts are quantiles that occur among the numbers. If there are no more distinct numbers than bins,
    every number gets its own bin. If one number is so frequent that quantiles coincide, there are fewer bins.
    NaN is ignored.

    Examples
    --------
    >>> learn_cuts(np.arange(8.0), bins=4)
    array([1., 3., 5.])
    >>> learn_cuts(np.array([7.0, 0.0, 0.0, 0.0, 0.0, 3.0]), bins=4)
    array([0., 3.])
    """
    ordered = np.sort(numbers[~np.isnan(numbers)]) + 0.0
    distinct = np.unique(ordered)
    if len(distinct) <= bins:
        return distinct[:-1]
    cuts = np.unique(np.quantile(ordered, np.arange(1, bins) / bins, method="inverted_cdf"))
    return cuts[cuts < distinct[-1]]


def find_bins(numbers: NDArray[np.float64], cuts: NDArray[np.float64]) -> NDArray[np.float64]:
    """Return the bin of each number, counted from 0. NaN stays NaN.

    Examples
    --------
    >>> find_bins(np.array([-9.0, 1.0, 1.5, np.nan]), np.array([1.0, 3.0]))
    array([ 0.,  0.,  1., nan])
    """
    bin_numbers = np.searchsorted(cuts, numbers, side="left").astype(np.float64)
    bin_numbers[np.isnan(numbers)] = np.nan
    return bin_numbers


class Rank:
    """Keep the order of the importances: argsort(φ), the columns from the smallest importance to the largest.

    Equal importances keep the order of their columns. NaN comes last. With target=all, the importances of all
    classes are ordered together. An offset after the importances is dropped.

    Examples
    --------
    >>> Rank().discretize(faithkit.Explanations.vectors([[0.3, -0.2, 0.1]]))
    array([[1, 2, 0]], dtype=uint8)
    """

    phrase = "by the order of importances"

    def discretize(self, explanations: faithkit.Explanations) -> NDArray[np.unsignedinteger]:
        """Return the columns in the order of their importances."""
        return argsort_rows(read_importances("rank", explanations, offsets=False))

    def describe(self, identity: NDArray[np.unsignedinteger], names: list[str] | None) -> str:
        """Describe one order, from the smallest importance to the largest."""
        return " ≤ ".join(str(j) if names is None else names[j] for j in identity.tolist())


class Sign:
    """Keep the sign of every importance: −1, 0 or 1.

    Zeros occur, for example for a feature that a tree never uses, so there are three values. NaN stays NaN.
    An offset after the importances is treated like an importance.

    Examples
    --------
    >>> Sign().discretize(faithkit.Explanations.vectors([[0.3, -0.2, -0.0]]))
    array([[ 1., -1.,  0.]])
    """

    keeps_signs = True
    phrase = "by the signs of importances"

    def discretize(self, explanations: faithkit.Explanations) -> NDArray[np.float64]:
        """Return the signs."""
        signs: NDArray[np.float64] = np.sign(read_importances("sign", explanations))
        return signs

    def describe(self, identity: NDArray[np.float64], names: list[str] | None) -> str:
        """Describe one row of signs; columns with sign 0 are left out."""
        return describe_signs(identity, names)


class SignOfTop:
    """Keep the sign of the k largest absolute importances, and 0 for all others.

    Importances are ranked by absolute value, and equal ones by column, so that of equal importances the later
    columns are kept. NaN ranks lowest. With target=all, the importances of all classes are ranked together.
    An offset after the importances is dropped.

    Parameters
    ----------
    k : int
        How many importances to keep.

    Examples
    --------
    >>> SignOfTop(k=2).discretize(faithkit.Explanations.vectors([[0.1, -0.3, 0.2]]))
    array([[ 0, -1,  1]], dtype=int8)
    """

    keeps_signs = True
    tries: ClassVar = {"k": range(1, 6)}

    def __init__(self, k: int = 5) -> None:
        self.k = faithkit.plugin.check_integer(
            k, "sign-of-top: k", minimum=1, error=faithkit.errors.ParameterError
        )

    @property
    def phrase(self) -> str:
        """The effect of the discretizer on explanations, in words."""
        return (
            f"by the sign of the {'largest importance' if self.k == 1 else f'{self.k} largest importances'}"
        )

    def discretize(self, explanations: faithkit.Explanations) -> NDArray[np.int8]:
        """Return the signs of the largest importances, 0 elsewhere."""
        values = read_importances("sign-of-top", explanations, offsets=False)
        if self.k > values.shape[1]:
            raise faithkit.errors.InputError(
                f"sign-of-top: k is {self.k}, and the explanations have {values.shape[1]} importances: "
                "choose a smaller k, or the discretizer 'sign'."
            )
        signs = (values > 0).view(np.int8) - (values < 0).view(np.int8)
        signs *= mark_largest(values, self.k).view(np.int8)
        return signs

    def describe(self, identity: NDArray[np.int8], names: list[str] | None) -> str:
        """Describe the signs of the largest importances."""
        return describe_signs(identity, names)


def describe_signs(signs: NDArray[Any], names: list[str] | None) -> str:
    """Return the names and signs of the columns whose sign is not 0.

    Examples
    --------
    >>> describe_signs(np.array([0, -1, 1]), ["age", "sex", "job"])
    'sex −, job +'
    """
    column_names = names or [str(j) for j in range(len(signs))]
    signed_columns = zip(column_names, signs.tolist(), strict=False)
    descriptions = (f"{name} {_SYMBOLS.get(sign, 'missing')}" for name, sign in signed_columns if sign)
    return ", ".join(descriptions) or "0 everywhere"


class Quantile:
    """Keep the quantile bin of every importance. It suits explanations of unknown scale.

    The bins of a column are learnt from the explanations of the background, so that they do not depend on the
    sample. Logs have no background: their bins are learnt from the logged explanations, with a warning. In a
    column with few distinct values, each value has its own bin. NaN stays NaN. Not in the paper.

    Parameters
    ----------
    bins : int
        The number of quantile bins of a column.

    Examples
    --------
    >>> background = faithkit.Explanations.vectors([[1.0], [20.0], [300.0], [4000.0]])
    >>> halves = Quantile(bins=2).fit(background)
    >>> halves.discretize(faithkit.Explanations.vectors([[-5.0], [20.0], [21.0]])).ravel()
    array([0., 0., 1.])
    """

    tries: ClassVar = {"bins": range(2, 9)}

    def __init__(self, bins: int = 4) -> None:
        self.bins = faithkit.plugin.check_integer(
            bins, "quantile: bins", minimum=2, error=faithkit.errors.ParameterError
        )

    def fit(self, explanations: faithkit.Explanations) -> "Quantile":
        """Learn the bins of every column from explanations of the background."""
        rows = read_importances("quantile", explanations)[~explanations.missing]
        self.cuts_ = [learn_cuts(column, self.bins) for column in rows.T]
        return self

    @property
    def phrase(self) -> str:
        """The effect of the discretizer on explanations, in words."""
        return f"by {self.bins} bins of each importance"

    def discretize(self, explanations: faithkit.Explanations) -> NDArray[np.float64]:
        """Return the bin of every importance, counted from 0."""
        values = read_importances("quantile", explanations)
        cuts = getattr(self, "cuts_", None)
        if cuts is None:
            raise faithkit.errors.InputError(
                "quantile has not learnt its bins: call fit with explanations of the background first."
            )
        if len(cuts) != values.shape[1]:
            raise faithkit.errors.InputError(
                f"quantile learnt the bins of {len(cuts)} importances, and these explanations have "
                f"{values.shape[1]}: give both the same columns."
            )
        bin_numbers = np.empty_like(values)
        for start in range(0, len(values), ROWS_PER_BATCH):
            batch = slice(start, start + ROWS_PER_BATCH)
            for j, column_cuts in enumerate(cuts):
                bin_numbers[batch, j] = find_bins(values[batch, j], column_cuts)
        return bin_numbers

    def describe(self, identity: NDArray[np.float64], names: list[str] | None) -> str:
        """Describe one row of bins, counted from 1."""
        column_names = names or [str(j) for j in range(len(identity))]
        bins = ["missing" if np.isnan(number) else f"{int(number) + 1}" for number in identity.tolist()]
        return ", ".join(f"{name} in bin {bin_}" for name, bin_ in zip(column_names, bins, strict=False))


class FixedPoint:
    """Keep `digits` decimals of every importance: ⌊10^digits · φ⌋ / 10^digits.

    A number with no more decimals stays as it is written: 0.29 stays 0.29. NaN stays NaN, which equals NaN.
    −0.0 becomes 0.0. An offset after the importances is treated like an importance.

    Parameters
    ----------
    digits : int
        How many decimals to keep.
    how : str
        "floor", as the paper prints it, or "round" to the nearest.

    Examples
    --------
    >>> phi = faithkit.Explanations.vectors([[0.19, -0.01, 0.0]])
    >>> FixedPoint(digits=1).discretize(phi)
    array([[ 0.1, -0.1,  0. ]])
    >>> FixedPoint(digits=1, how="round").discretize(phi)
    array([[0.2, 0. , 0. ]])
    """

    keeps_signs = True
    tries: ClassVar = {"digits": range(5)}

    def __init__(self, digits: int = 1, how: str = "floor") -> None:
        error = faithkit.errors.ParameterError
        self.digits = faithkit.plugin.check_integer(digits, "fp: digits", minimum=0, maximum=15, error=error)
        if how not in ("floor", "round"):
            raise faithkit.errors.ParameterError(f"fp: how must be 'floor' or 'round', got {how!r}.")
        self.how = how

    @property
    def phrase(self) -> str:
        """The effect of the discretizer on explanations, in words."""
        how = "down" if self.how == "floor" else "to the nearest"
        return f"rounded {how} to {self.digits} decimal{'' if self.digits == 1 else 's'}"

    def discretize(self, explanations: faithkit.Explanations) -> NDArray[np.float64]:
        """Return the importances with few decimals."""
        values, scale = read_importances("fp", explanations), 10.0**self.digits
        drop_decimals = _floor_values if self.how == "floor" else _round_values
        discretized = np.empty_like(values)
        rows_per_batch = max(1, VALUES_PER_BATCH // max(1, values.shape[1]))
        for start in range(0, len(values), rows_per_batch):
            batch = slice(start, start + rows_per_batch)
            discretized[batch] = drop_decimals(values[batch], scale)
        discretized += 0.0  # turns −0.0 into 0.0
        return discretized


def _floor_values(values: NDArray[np.float64], scale: float) -> NDArray[np.float64]:
    """Return the largest n / scale, for integers n, that is not above each value in float comparison.

    The product value · scale is rounded, so its floor is one too small for 0.29 · 100 = 28.999…96. A slightly
    larger product has the right floor or one that is too large by one. Comparing n / scale with the value
    shows which, since division rounds exactly.
    """
    floored, largest = _scale_values(values, scale)
    if not largest < SAFE_PRODUCT:
        return _search_floor(values, scale)
    floored += 2.0**-51 * largest
    np.floor(floored, out=floored)
    floored /= scale
    is_above = floored > values
    if is_above.any():
        floored[is_above] = _search_floor(values[is_above], scale)
    return floored


def _search_floor(values: NDArray[np.float64], scale: float) -> NDArray[np.float64]:
    """Try the integers around each product. NaN and numbers without decimals stay as they are."""
    scaled, _ = _scale_values(values, scale)
    nearest, has_decimals = np.rint(scaled), np.abs(scaled) < NO_DECIMALS
    floored = np.where(has_decimals, (nearest - 1) / scale, values)
    for step in (0.0, 1.0):
        candidate = (nearest + step) / scale
        floored = np.where(has_decimals & (candidate <= values), candidate, floored)
    return floored


def _round_values(values: NDArray[np.float64], scale: float) -> NDArray[np.float64]:
    """Return the n / scale nearest to each value."""
    scaled, largest = _scale_values(values, scale)
    rounded = np.rint(scaled)
    rounded /= scale
    return rounded if largest < NO_DECIMALS else np.where(np.abs(scaled) < NO_DECIMALS, rounded, values)


def _scale_values(values: NDArray[np.float64], scale: float) -> tuple[NDArray[np.float64], float]:
    """Return value · scale, and the largest absolute product."""
    with np.errstate(over="ignore"):  # such numbers have no decimals and stay as they are
        scaled = values * scale
    largest = max(scaled.max(initial=0.0), -scaled.min(initial=0.0))
    return scaled, float(np.nanmax(np.abs(scaled), initial=0.0) if np.isnan(largest) else largest)
