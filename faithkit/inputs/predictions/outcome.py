"""What predictions are: labels, numbers or score vectors. It is decided once, and said in the result."""

from collections.abc import Iterable, Mapping, Sequence, Set
from decimal import Decimal
from fractions import Fraction
from typing import Any

import attrs
import numpy as np
import pandas as pd
from numpy.typing import NDArray

from faithkit.arrays.containers import unmasked
from faithkit.errors import InputError
from faithkit.foreign import foreign
from faithkit.measure.agreement.base import Agreement
from faithkit.measure.agreement.same_label import SAME_LABEL
from faithkit.measure.agreement.squares import Squares
from faithkit.measure.agreement.within import Within
from faithkit.measure.counting.owners import Counts
from faithkit.wording import listing

WHOLE = 2.0**53  # beyond it every float is a whole number, and none of them a label
LABELS, NUMBERS, SCORES = KINDS = ("labels", "numbers", "scores")


def _ends(given: Sequence[float] | None) -> tuple[float, float] | None:
    """Return a range as a pair of floats: files have lists."""
    return None if given is None else (float(given[0]), float(given[1]))


@attrs.frozen
class Outcome:
    """What predictions are, and, for numbers, by how much two may differ that count as equal.

    `range` has the smallest and the largest number that there can be, where people declare them. `unasked`
    where nobody said what predictions are, and it was decided by the model or the predictions.

    Examples
    --------
    >>> Outcome.of(None, None, [0.31, 0.28])
    Outcome(kind='numbers', within=None, range=None)
    >>> Outcome.of(None, None, [0, 1]).kind, Outcome.of(None, None, [1.0, 2.0]).kind
    ('labels', 'labels')
    >>> str(Outcome.of(None, "within:0.05", [0.31, 0.28]))
    'numbers, within 0.05'
    """

    kind: str = LABELS
    within: float | None = None
    range: tuple[float, float] | None = attrs.field(default=None, converter=_ends)
    unasked: bool = attrs.field(default=False, eq=False, repr=False)

    @classmethod
    def of(
        cls,
        outcome: str | None,
        agree: str | None,
        predictions: Any,
        is_regressor: bool = False,
        range: Any = None,
    ) -> "Outcome":
        """Decide by what somebody asked for, or else by the predictions."""
        kind, within, ends = checked(outcome, agree, range)
        if within is not None:
            return cls(NUMBERS, within)
        known = kind or (NUMBERS if is_regressor else _kind_of(predictions))
        return cls(known, range=ends, unasked=kind is None)

    @property
    def is_divided(self) -> bool:
        """Whether it is the share of a variance that is measured."""
        return self.kind == NUMBERS and self.within is None

    @property
    def is_numeric(self) -> bool:
        """Whether predictions are numbers, whatever of them counts as equal."""
        return self.kind == NUMBERS

    @property
    def is_a_guess(self) -> bool:
        """Whether they were taken for labels without a word: others may show that they are none."""
        return self.kind == LABELS and self.unasked

    def agreement(self, classes: Any, times: Counts, pool: Counts | None = None) -> Agreement:
        """Say how far distinct predictions agree, in their order.

        `times` is how often each occurs, and `pool` how often in the pool, if there is one.
        """
        if self.kind == LABELS:
            return SAME_LABEL
        values = np.asarray(classes, dtype=np.float64)
        if self.within is not None:
            return Within(values, self.within)
        points = values.reshape(len(classes), -1)
        if self.kind == SCORES:
            return Squares.scores(points, times, pool)
        self._check_range(points)
        return Squares.divided(points, times, pool, self.range)

    def _check_range(self, points: NDArray[np.float64]) -> None:
        """Refuse predictions that lie outside the range that was declared."""
        if self.range is None:
            return
        low, high = self.range
        for found in (points.min(), points.max()):
            if not low <= found <= high:
                raise InputError(
                    f"the prediction {found:g} lies outside the declared range, {low:g} to {high:g}: declare "
                    "one that all predictions lie in (range=, CLI: --range)."
                )

    def to_dict(self) -> dict[str, Any]:
        """Return JSON values."""
        return attrs.asdict(self)

    def __str__(self) -> str:
        return self.kind if self.within is None else f"{self.kind}, within {self.within:g}"


OF_LABELS = Outcome()


def asked_as(kind: str) -> str:
    """Return how to say what predictions are, in Python and on the command line.

    >>> asked_as("labels")
    "outcome='labels' (CLI: --outcome labels)"
    """
    return f"outcome={kind!r} (CLI: --outcome {kind})"


def checked(
    outcome: str | None, agree: str | None, range: Any = None
) -> tuple[str | None, float | None, tuple[float, float] | None]:
    """Refuse what cannot be meant; return the kind, the tolerance and the range that were asked for."""
    if outcome is not None and outcome not in KINDS:
        raise InputError(f"the outcome is {outcome!r}; expected {listing(map(repr, KINDS), 'or')}.")
    if range is not None:
        if agree is not None or outcome not in (None, NUMBERS):
            other = f"the tolerance {agree!r}" if agree is not None else f"the outcome {outcome!r}"
            raise InputError(
                f"the range {range!r} is for the variance of numbers, not for {other}: leave one out."
            )
        return NUMBERS, None, _range(range)
    if agree is None:
        return outcome, None, None
    if outcome not in (None, NUMBERS):
        raise InputError(
            f"the tolerance {agree!r} is for numbers, and the outcome is {outcome!r}: leave one out."
        )
    return NUMBERS, _tolerance(agree), None


def _range(given: Any) -> tuple[float, float]:
    """Read the ends of a range: a pair of numbers, or 'low:high'."""
    ends = given.split(":") if isinstance(given, str) else given
    try:
        low, high = map(float, ends)
    except (TypeError, ValueError):
        low = high = np.nan
    if not -np.inf < low < high < np.inf:
        raise InputError(
            f"the range {given!r} is not understood; expected the smallest and the largest prediction that "
            "there can be, such as (0, 500000), or '0:500000'."
        )
    return low, high


def _tolerance(agree: Any) -> float:
    way, _, given = str(agree).partition(":")
    try:
        epsilon = float(given)
    except ValueError:
        epsilon = np.nan
    if way.strip() != "within" or not 0 <= epsilon < np.inf:
        raise InputError(
            f"the tolerance {agree!r} is not understood; expected 'within:ε', such as 'within:0.05': how far "
            "two predictions may be apart, 0 or more, and still agree."
        )
    return epsilon


def _kind_of(predictions: Any) -> str:
    """Tell floats that are not whole from labels, and probabilities from other rows of numbers."""
    if getattr(predictions, "ndim", 1) == 2 or _are_rows(predictions):
        found = as_numbers(predictions)
        return SCORES if are_probabilities(found) else NUMBERS
    column = predictions if isinstance(predictions, np.ndarray) else _column(predictions)
    if column is None or column.dtype.kind in "biuUSM":
        return LABELS
    if column.dtype.kind in "cm":
        raise no_predictions("complex numbers" if column.dtype.kind == "c" else "durations")
    if column.dtype.kind == "f":
        known = column[~np.isnan(column)]
        whole = (known == np.floor(known)) & (np.abs(known) < WHOLE)  # no label is infinite
        return LABELS if whole.all() else NUMBERS
    fractions = [_has_fraction(one) for one in column]
    if not any(fractions):
        return LABELS
    words = [one for one in column if isinstance(one, str)]
    if words:
        raise InputError(
            f"predictions are both numbers, such as {column[int(np.argmax(fractions))]!r}, and words, such "
            f"as {words[0]!r}: give labels or numbers."
        )
    return NUMBERS


def _has_fraction(one: Any) -> bool:
    """Whether something is a number that is not whole; a decimal may have more digits than can be divided."""
    if isinstance(one, Decimal):
        return one.is_finite() and one != one.to_integral_value()
    return isinstance(one, float | np.floating | Fraction) and bool(one % 1 != 0 and one == one)


def _are_rows(predictions: Any) -> bool:
    """Whether predictions are a list of rows of numbers: lists, or tuples with numbers that are not whole."""
    if not isinstance(predictions, list | tuple) or not predictions:
        return False
    rows = all(isinstance(one, list | tuple | np.ndarray) for one in predictions)
    if not rows or len(set(map(len, predictions))) != 1:
        return False
    cells = [cell for one in predictions for cell in one]
    numbers = all(isinstance(cell, int | float | np.number) and not isinstance(cell, bool) for cell in cells)
    hashable = isinstance(predictions[0], tuple)  # a tuple of whole numbers may be a label
    return numbers and not (hashable and all(float(cell).is_integer() for cell in cells))


def _column(predictions: Any) -> NDArray[Any] | None:
    """Return predictions as an array where they are a sequence; who encodes them says what else is wrong."""
    if isinstance(predictions, pd.Index | pd.api.extensions.ExtensionArray):
        predictions = pd.Series(predictions)
    if isinstance(predictions, pd.Series):
        floats = pd.api.types.is_float_dtype(predictions.dtype)
        return predictions.to_numpy(np.float64, na_value=np.nan) if floats else predictions.to_numpy()
    if not isinstance(predictions, list | tuple):
        if not hasattr(predictions, "__array__"):
            return None
        with foreign("reading the predictions", "Give them as an array of NumPy's."):  # Arrow's, PyTorch's
            found = np.asarray(predictions)
        return found if found.ndim == 1 else None
    if all(isinstance(one, float) for one in predictions):
        return np.array(predictions, dtype=np.float64)
    return np.fromiter(predictions, dtype=object, count=len(predictions))


def no_predictions(what: str) -> InputError:
    """Say that predictions are neither labels nor plain numbers."""
    return InputError(f"predictions are {what}: give labels, or plain numbers, such as parts or seconds.")


def gone_through(predictions: Any) -> Any:
    """Return predictions that can be looked at twice: what a generator or a deque gives as a list.

    Those in a table, an array or lists of one column are that column.

    >>> gone_through(number / 2 for number in range(3))
    [0.0, 0.5, 1.0]
    >>> gone_through([[0], [1]]), gone_through(np.array([["no"], ["yes"]])).tolist()
    ([0, 1], ['no', 'yes'])
    """
    known = isinstance(predictions, str | bytes | Mapping | Set | list) or hasattr(predictions, "__array__")
    if known or not isinstance(predictions, Iterable):
        return _out_of_one_column(predictions)
    with foreign("going through the predictions", "Give one prediction per row."):
        return _out_of_one_column(list(predictions))


def _out_of_one_column(predictions: Any) -> Any:
    if isinstance(predictions, list):
        single = all(isinstance(one, list | np.ndarray) and len(one) == 1 for one in predictions)
        return [one for (one,) in predictions] if single else predictions
    if getattr(predictions, "ndim", 1) != 2 or predictions.shape[1] != 1:
        return predictions
    return predictions.iloc[:, 0] if isinstance(predictions, pd.DataFrame) else predictions[:, 0]


def as_numbers(predictions: Any) -> NDArray[np.float64]:
    """Return predictions as one or several floats per row; what is missing or infinite is refused."""
    predictions = unmasked(predictions, "the predictions")
    try:
        found = np.asarray(predictions, dtype=np.float64)
    except (TypeError, ValueError, OverflowError):
        raise InputError(
            f"predictions that are no numbers cannot be measured as numbers: say {asked_as(LABELS)}, and "
            "declare no range (range=, CLI: --range)."
        ) from None
    if found.ndim not in (1, 2) or not found.size:
        raise InputError(f"predictions of shape {found.shape}: give one number, or one row of them, per row.")
    bad = ~np.isfinite(found).reshape(len(found), -1).all(axis=1)
    if bad.any():
        raise InputError(
            f"{int(bad.sum())} of {len(found)} predictions are missing or infinite (the first in row "
            f"{int(bad.argmax())}): drop those rows."
        )
    return found + 0.0  # -0.0 is 0.0


def are_probabilities(found: NDArray[np.float64]) -> bool:
    """Whether every row has no number below 0, and adds up to 1."""
    return found.ndim == 2 and bool((found >= 0).all() and (np.abs(found.sum(axis=1) - 1) <= 1e-6).all())
