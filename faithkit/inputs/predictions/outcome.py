"""The outcome: whether predictions are labels, numbers or scores. It is decided once for a result."""

from collections.abc import Iterable, Mapping, Sequence, Set
from decimal import Decimal
from fractions import Fraction
from typing import Any

import attrs
import numpy as np
import pandas as pd
from numpy.typing import NDArray

from faithkit.arrays.containers import EXACT_LIMIT, as_series, strip_mask
from faithkit.errors import InputError
from faithkit.measure.agreement.base import Agreement
from faithkit.measure.agreement.same_label import SAME_LABEL
from faithkit.measure.agreement.squares import Squares
from faithkit.measure.agreement.within_tolerance import Within
from faithkit.measure.counting.owners import Counts
from faithkit.measure.words import Words, choose_words
from faithkit.wording import join_words

LABELS, NUMBERS, SCORES = KINDS = ("labels", "numbers", "scores")
_ROUNDED, _EXACT = 0.005, 1e-6  # how far probabilities of two decimals, and those of models, may be off


def _as_pair(limits: Sequence[float] | None) -> tuple[float, float] | None:
    """Return a range as a pair of floats; saved results have lists."""
    return None if limits is None else (float(limits[0]), float(limits[1]))


@attrs.frozen
class Outcome:
    """The kind of predictions and, for numbers, the largest difference of two that count as equal.

    `range` has the smallest and the largest possible number, if the user declares them. `unasked` says that
    the kind was inferred from the predictions, and not declared.

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
    range: tuple[float, float] | None = attrs.field(default=None, converter=_as_pair)
    unasked: bool = attrs.field(default=False, eq=False, repr=False)

    @classmethod
    def of(
        cls,
        outcome: str | None,
        agree: str | None,
        predictions: Any,
        range: str | Sequence[float] | None = None,
    ) -> "Outcome":
        """Use the declared outcome, or else infer it from the predictions."""
        declared_kind, within, limits = parse_outcome(outcome, agree, range)
        if within is not None:
            return cls(NUMBERS, within)
        kind = declared_kind or _infer_kind(predictions)
        return cls(kind, range=limits, unasked=declared_kind is None)

    @property
    def has_labels(self) -> bool:
        """Whether predictions are labels, which agree or do not."""
        return self.kind == LABELS

    @property
    def is_normalised(self) -> bool:
        """Whether the share of variance is measured."""
        return self.kind == NUMBERS and self.within is None

    @property
    def is_numeric(self) -> bool:
        """Whether predictions are numbers, with or without a tolerance."""
        return self.kind == NUMBERS

    @property
    def is_a_guess(self) -> bool:
        """Whether labels were inferred; later predictions may turn out to be numbers."""
        return self.kind == LABELS and self.unasked

    @property
    def words(self) -> Words:
        """The words in which reports speak of agreement."""
        return choose_words(self.kind, self.within)

    def agreement(self, classes: Any, times: Counts, pool: Counts | None = None) -> Agreement:
        """Return how far distinct predictions agree with each other.

        `times` counts the rows with each prediction, and `pool` those in the pool, if there is one.
        """
        if self.kind == LABELS:
            return SAME_LABEL
        values = np.asarray(classes, dtype=np.float64)
        if self.within is not None:
            return Within(values, self.within)
        points = values.reshape(len(classes), -1)
        if self.kind == SCORES:
            return Squares.of_scores(points, times, pool)
        self._check_range(points)
        return Squares.of_numbers(points, times, pool, self.range)

    def _check_range(self, points: NDArray[np.float64]) -> None:
        """Check that predictions lie in the declared range."""
        if self.range is None:
            return
        low, high = self.range
        for extreme in (points.min(), points.max()):
            if not low <= extreme <= high:
                raise InputError(
                    f"the prediction {extreme:g} lies outside the declared range, {low:g} to {high:g}: "
                    "declare one that all predictions lie in (range=, CLI: --range)."
                )

    def to_dict(self) -> dict[str, Any]:
        """Return JSON values."""
        return attrs.asdict(self)

    def __str__(self) -> str:
        return self.kind if self.within is None else f"{self.kind}, within {self.within:g}"


LABEL_OUTCOME = Outcome()


def outcome_option(kind: str) -> str:
    """Return the argument that declares an outcome, in Python and on the command line.

    >>> outcome_option("labels")
    "outcome='labels' (CLI: --outcome labels)"
    """
    return f"outcome={kind!r} (CLI: --outcome {kind})"


def parse_outcome(
    outcome: str | None, agree: str | None, range: str | Sequence[float] | None = None
) -> tuple[str | None, float | None, tuple[float, float] | None]:
    """Check the arguments that declare the outcome; return its kind, its tolerance and its range."""
    if outcome is not None and outcome not in KINDS:
        raise InputError(f"the outcome is {outcome!r}; expected {join_words(map(repr, KINDS), 'or')}.")
    if range is not None:
        if agree is not None or outcome not in (None, NUMBERS):
            conflict = f"the tolerance {agree!r}" if agree is not None else f"the outcome {outcome!r}"
            raise InputError(
                f"the range {range!r} is for the variance of numbers, not for {conflict}: leave one out."
            )
        return NUMBERS, None, _parse_range(range)
    if agree is None:
        return outcome, None, None
    if outcome not in (None, NUMBERS):
        raise InputError(
            f"the tolerance {agree!r} is for numbers, and the outcome is {outcome!r}: leave one out."
        )
    return NUMBERS, _parse_tolerance(agree), None


def _parse_range(value: str | Sequence[float]) -> tuple[float, float]:
    """Parse a range: a pair of numbers, or 'low:high'."""
    limits = value.split(":") if isinstance(value, str) else value
    try:
        low, high = map(float, limits)
    except (TypeError, ValueError):
        low = high = np.nan
    if not -np.inf < low < high < np.inf:
        raise InputError(
            f"the range {value!r} is not understood; expected the smallest and the largest prediction that "
            "there can be, such as (0, 500000), or '0:500000'."
        )
    return low, high


def _parse_tolerance(agree: str) -> float:
    word, _, number = str(agree).partition(":")
    try:
        epsilon = float(number)
    except ValueError:
        epsilon = np.nan
    if word.strip() != "within" or not 0 <= epsilon < np.inf:
        raise InputError(
            f"the tolerance {agree!r} is not understood; expected 'within:ε', such as 'within:0.05': how far "
            "two predictions may be apart, 0 or more, and still agree."
        )
    return epsilon


def _infer_kind(predictions: Any) -> str:
    """Return scores for rows of probabilities, numbers for other rows and for fractions, else labels."""
    if getattr(predictions, "ndim", 1) == 2 or _are_number_rows(predictions):
        return SCORES if are_probabilities(as_numbers(predictions)) else NUMBERS
    if not isinstance(predictions, Iterable) or isinstance(predictions, str | bytes | Mapping | Set):
        return LABELS  # encoding reports what is wrong
    column = as_series(predictions)
    if column.dtype.kind in "cm":
        raise no_predictions("complex numbers" if column.dtype.kind == "c" else "durations")
    if column.dtype.kind == "f":
        numbers = column.dropna().to_numpy(np.float64)
        # floats beyond the limit are all whole numbers, and therefore no labels; nor is infinity
        is_whole = (numbers == np.floor(numbers)) & (np.abs(numbers) < EXACT_LIMIT)
        return LABELS if is_whole.all() else NUMBERS
    if column.dtype.kind != "O" or isinstance(column.dtype, pd.StringDtype):
        return LABELS
    fractions = [value for value in column if _has_fraction(value)]
    words = [value for value in column if isinstance(value, str)] if fractions else []
    if words:
        raise InputError(
            f"predictions are both numbers, such as {fractions[0]!r}, and words, such as {words[0]!r}: give "
            "labels or numbers."
        )
    return NUMBERS if fractions else LABELS


def _has_fraction(value: Any) -> bool:
    return isinstance(value, float | np.floating | Decimal | Fraction) and float(value) % 1 > 0


def _are_number_rows(predictions: Any) -> bool:
    """Return whether predictions are rows of numbers: lists, or tuples with at least one fraction."""
    if not isinstance(predictions, list | tuple) or not predictions:
        return False
    are_rows = all(isinstance(row, list | tuple | np.ndarray) for row in predictions)
    if not are_rows or len(set(map(len, predictions))) != 1:
        return False
    values = [value for row in predictions for value in row]
    are_numbers = all(
        isinstance(value, int | float | np.number) and not isinstance(value, bool) for value in values
    )
    may_be_labels = isinstance(predictions[0], tuple)  # a tuple of whole numbers may be a label
    return are_numbers and not (may_be_labels and all(float(value).is_integer() for value in values))


def no_predictions(type_name: str) -> InputError:
    """Return the error for predictions that are neither labels nor plain numbers."""
    return InputError(
        f"predictions are {type_name}: give labels, or plain numbers, such as parts or seconds."
    )


def materialise(predictions: Any) -> Any:
    """Return predictions that can be read twice: a generator or a deque becomes a list.

    A table, an array or a list of lists with a single column becomes that column.

    >>> materialise(number / 2 for number in range(3))
    [0.0, 0.5, 1.0]
    >>> materialise([[0], [1]]), materialise(np.array([["no"], ["yes"]])).tolist()
    ([0, 1], ['no', 'yes'])
    """
    is_container = isinstance(predictions, str | bytes | Mapping | Set | list)
    if is_container or hasattr(predictions, "__array__") or not isinstance(predictions, Iterable):
        return _squeeze_column(predictions)
    return _squeeze_column(list(predictions))


def _squeeze_column(predictions: Any) -> Any:
    """Return the only column of a table, an array or a list of lists; anything else unchanged."""
    if isinstance(predictions, list):
        has_one_column = all(isinstance(row, list | np.ndarray) and len(row) == 1 for row in predictions)
        return [value for (value,) in predictions] if has_one_column else predictions
    if getattr(predictions, "ndim", 1) != 2 or predictions.shape[1] != 1:
        return predictions
    return predictions.iloc[:, 0] if isinstance(predictions, pd.DataFrame) else predictions[:, 0]


def as_numbers(predictions: Any) -> NDArray[np.float64]:
    """Return predictions as one or several floats per row; a missing or infinite one is an error."""
    predictions = strip_mask(predictions, "the predictions")
    try:
        numbers = np.asarray(predictions, dtype=np.float64)
    except (TypeError, ValueError, OverflowError) as error:
        if np.asarray(predictions, dtype=object).ndim > 1:
            raise InputError(
                f"predictions in several columns must be numbers, and a value is none ({error}): "
                "correct it, or give one column of labels."
            ) from None
        raise InputError(
            f"predictions that are no numbers cannot be measured as numbers: say {outcome_option(LABELS)}, "
            "and declare no tolerance and no range (agree=, range=, CLI: --agree, --range)."
        ) from None
    if numbers.ndim not in (1, 2) or not numbers.size:
        raise InputError(
            f"predictions of shape {numbers.shape}: give one number, or one row of them, per row."
        )
    is_invalid = ~np.isfinite(numbers).reshape(len(numbers), -1).all(axis=1)
    if is_invalid.any():
        raise InputError(
            f"{int(is_invalid.sum())} of {len(numbers)} predictions are missing or infinite (the first in "
            f"row {int(is_invalid.argmax())}): drop those rows."
        )
    return numbers + 0.0  # -0.0 becomes 0.0


def are_probabilities(scores: NDArray[np.float64]) -> bool:
    """Return whether every row has no negative number and sums to 1, apart from rounding to two decimals."""
    if scores.ndim != 2 or not (scores >= 0).all():
        return False
    return bool((np.abs(scores.sum(axis=1) - 1) <= _ROUNDED * scores.shape[1]).all())


def normalise(probabilities: NDArray[np.float64]) -> NDArray[np.float64]:
    """Let rows of rounded probabilities add up to 1; leave other rows as they are.

    >>> normalise(np.array([[0.5, 0.5], [0.66, 0.33]])).round(3).tolist()
    [[0.5, 0.5], [0.667, 0.333]]
    """
    sums = probabilities.sum(axis=1, keepdims=True)
    return probabilities / np.where(np.abs(sums - 1) <= _EXACT, 1.0, sums)
