"""Predicates: single conditions on a column or a text.

Each predicate says whether a missing value satisfies it.
"""

import math
import re
from collections.abc import Callable, Iterable, Sequence
from functools import partial
from typing import Any, ClassVar

import attrs
import numpy as np
import pandas as pd
from numpy.typing import NDArray

from faithkit.arguments import to_python
from faithkit.arrays.containers import EXACT_LIMIT, Rows, as_objects, as_series, may_be_rounded
from faithkit.errors import InputError
from faithkit.explanations.dates import dates_to_days, floor_to_microsecond, format_date, is_date_column
from faithkit.wording import format_exactly, join_few, one_line

TOKENIZERS: dict[str, Callable[[str], list[str]]] = {
    "whitespace": str.split,
    # CountVectorizer's default: lower case, words of two characters or more
    "word": lambda text: re.findall(r"(?u)\b\w\w+\b", text.lower()),
}

CONTAINS = {"whitespace": "contains ", "word": "contains the word "}  # how a rule writes it, by tokenizer

_CONNECTIVE = re.compile(r"(?<=\s)(?:and|or|&&?)(?=\s)|&&|∧", re.IGNORECASE)


def tokenize(text: str, tokenizer: str = "whitespace") -> list[str]:
    """Split a text with the named tokenizer.

    Examples
    --------
    >>> tokenize("A fine, FINE film", "word")
    ['fine', 'fine', 'film']
    """
    if tokenizer not in TOKENIZERS:
        raise InputError(f"no tokenizer {tokenizer!r}: choose one of {', '.join(TOKENIZERS)}.")
    return TOKENIZERS[tokenizer](text)


def _to_plain(value: Any) -> Any:
    """Convert NumPy scalars to Python, and integral floats to integers, so that equal rules print alike."""
    value = to_python(value)
    return int(value) if isinstance(value, float) and value.is_integer() else value


def _quote(value: Any, listed: bool = False) -> str:
    """Format a value, in quotes if it could be misread as the next condition or the next value."""
    text = str(value)
    if not isinstance(value, str) or not (_CONNECTIVE.search(text) or (listed and "," in text)):
        return text
    return f'"{text}"' if "'" in text else f"'{text}'"


def _format_empty(predicate: "Interval | _Listed") -> str:
    return f"{predicate.column} is missing" if predicate.missing else f"no value of {predicate.column}"


def _to_limit(number: Any) -> float:
    """Convert a limit to a float, or to an integer if a float would round it."""
    as_float = float(number)
    return int(number) if isinstance(number, int | np.integer) and int(number) != as_float else as_float


def _format_limit(number: float, spec: str) -> tuple[str, bool]:
    """Format a limit, and return whether it is the last float before the printed number."""
    if isinstance(number, int):
        return str(number), False
    next_float = math.nextafter(number, math.inf)
    if not spec:
        is_just_below = abs(next_float) < EXACT_LIMIT and len(format_exactly(next_float)) < len(
            format_exactly(number)
        )
        return _format_exactly(next_float if is_just_below else number), is_just_below
    is_just_below = float(format(number, spec)) != number and float(format(next_float, spec)) == next_float
    return format(next_float if is_just_below else number, spec), is_just_below


def _format_exactly(number: float) -> str:
    """Format a float so that it can be parsed back: beyond 2**53 the shortest text may be another integer."""
    return str(int(number)) if EXACT_LIMIT <= abs(number) < math.inf else format_exactly(number)


def _format_date_limit(days: float, zone: str) -> tuple[str, bool]:
    return format_date(days, zone) if math.isfinite(days) else "", False


@attrs.frozen(order=False, cache_hash=True)
class Interval:
    """The value of a column lies in (low, high]; with one limit infinite it prints as `≤` or `>`.

    Parameters
    ----------
    column : str or int
        The name of a DataFrame column, or the number of an array column.
    low, high : float
        The value must be greater than `low` and at most `high`.
    missing : bool
        Whether a missing value satisfies the predicate.
    dates : bool
        Whether the column has dates. Limits are then days since 1970 in UTC, and print as dates.
    zone : str
        The time zone in which dates print, if they have one.

    Examples
    --------
    >>> print(Interval("age", high=37.5), "|", Interval("age", 17, 65))
    age ≤ 37.5 | 17 < age ≤ 65
    >>> f"{Interval('debt', high=1 / 3)} | {Interval('debt', high=1 / 3):.2g}"
    'debt ≤ 0.3333333333333333 | debt ≤ 0.33'
    >>> print(Interval("signed", 19723, 19730.5, dates=True))
    2024-01-01 < signed ≤ 2024-01-08 12:00:00
    """

    op: ClassVar[str] = "interval"
    column: str | int = attrs.field(converter=_to_plain)
    low: float = attrs.field(default=-math.inf, converter=_to_limit)
    high: float = attrs.field(default=math.inf, converter=_to_limit)
    missing: bool = attrs.field(default=False, converter=bool, kw_only=True)
    dates: bool = attrs.field(default=False, converter=bool, kw_only=True)
    zone: str = attrs.field(default="", converter=str, kw_only=True)

    def __attrs_post_init__(self) -> None:
        if math.isnan(self.low) or math.isnan(self.high):
            raise InputError(f"an interval on {self.column!r} has NaN as a limit: leave it out for no limit.")
        # −0.0 and 0.0 are one number, and all empty intervals are one interval: they print alike
        low, high = (self.low or 0.0, self.high or 0.0) if self.low < self.high else (math.inf, -math.inf)
        if self.dates:  # a rule that is parsed back is then the same rule
            low, high = floor_to_microsecond(low), floor_to_microsecond(high)
        object.__setattr__(self, "low", low)
        object.__setattr__(self, "high", high)

    def meet(self, other: "Interval") -> "Interval":
        """Return the predicate that holds where both do."""
        low, high = max(self.low, other.low), min(self.high, other.high)
        dates, zone = self.dates or other.dates, self.zone or other.zone
        missing = self.missing and other.missing
        return Interval(self.column, low, high, missing=missing, dates=dates, zone=zone)

    def read_column(self, X: Rows) -> NDArray[Any]:
        """Return the numbers of the column, contiguous in memory, for `satisfied_by`.

        They are floats, or objects if floats would round an integer.
        """
        return np.ascontiguousarray(_read_numbers(X, self.column))

    @np.errstate(invalid="ignore")  # of NaN among objects, which satisfies nothing
    def satisfied_by(self, values: NDArray[Any]) -> NDArray[np.bool_]:
        """Return which of the numbers from `read_column` satisfy the predicate."""
        low, high = self.low, self.high
        if values.dtype != object:
            low, high = _floor_to_float(low), _floor_to_float(high)
        if low == -math.inf:  # −inf itself lies inside
            inside = values <= high
        else:
            inside = values > low
            if high < math.inf:
                inside &= values <= high
        return inside | (values != values) if self.missing else inside

    def mask(self, X: Rows) -> NDArray[np.bool_]:
        """Return which rows satisfy the predicate."""
        return self.satisfied_by(_read_numbers(X, self.column))

    def to_json(self) -> dict[str, Any]:
        """Return a JSON value without infinite limits: JSON has no infinity."""
        if self.low > self.high:
            limits: dict[str, Any] = {"low": "inf", "high": "-inf"}
        else:
            limits = {"low": self.low, "high": self.high}
            limits = {name: limit for name, limit in limits.items() if math.isfinite(limit)}
        dates = {"dates": True} if self.dates else {}
        zone = {"zone": self.zone} if self.zone else {}
        return {"op": self.op, "column": self.column, **limits, "missing": self.missing, **dates, **zone}

    def __str__(self) -> str:
        return format(self)

    def __format__(self, spec: str) -> str:
        if self.low > self.high:
            return _format_empty(self)
        if self.dates:
            format_limit = partial(_format_date_limit, zone=self.zone)
        else:
            format_limit = partial(_format_limit, spec=spec)
        (low, low_is_below), (high, high_is_below) = format_limit(self.low), format_limit(self.high)
        upper = f"{'<' if high_is_below else '≤'} {high}"
        if self.low == -math.inf:
            text = "any value of {}" if self.high == math.inf else f"{{}} {upper}"
        elif self.high == math.inf:
            text = f"{{}} {'≥' if low_is_below else '>'} {low}"
        else:
            text = f"{low} {'≤' if low_is_below else '<'} {{}} {upper}"
        return text.replace("{}", str(self.column)) + (" (or missing)" if self.missing else "")


def _floor_to_float(number: float) -> float:
    """Return the largest float that does not exceed a number."""
    as_float = float(number)
    return math.nextafter(as_float, -math.inf) if as_float > number else as_float


def _sort_values(values: Iterable[Any]) -> tuple[Any, ...]:
    if isinstance(values, str):
        raise InputError(f"the values of a predicate are the text {values!r}: give a list, [{values!r}].")

    def order(value: Any) -> tuple[str, Any]:  # numbers of all types compare with each other
        return "" if isinstance(value, int | float) else type(value).__name__, value

    return tuple(sorted({_to_plain(value) for value in values}, key=order))


@attrs.frozen(order=False)
class _Listed:
    """Base of `OneOf` and `NoneOf`: the value of a column is in a list, or is not."""

    op: ClassVar[str]
    excludes: ClassVar[bool]
    column: str | int = attrs.field(converter=_to_plain)
    values: tuple[Any, ...] = attrs.field(converter=_sort_values)
    missing: bool = attrs.field(default=False, converter=bool, kw_only=True)

    def __attrs_post_init__(self) -> None:
        if any(pd.isna(value) for value in self.values):
            raise InputError(f"a missing value in the values of {self.column!r}: say missing=True instead.")

    def read_column(self, X: Rows) -> tuple[NDArray[np.intp], pd.Index]:
        """Return the column as codes (−1 if missing) and distinct values, for `satisfied_by`."""
        codes, distinct = pd.factorize(read_rule_column(X, self.column))
        return codes, pd.Index(distinct)

    def satisfied_by(self, column: tuple[NDArray[np.intp], pd.Index]) -> NDArray[np.bool_]:
        """Return which of the values from `read_column` satisfy the predicate."""
        codes, distinct = column
        listed_values = as_series(self.values)
        values = listed_values.to_numpy() if listed_values.dtype == object else list(self.values)
        is_listed = distinct.isin(values)
        is_satisfied: NDArray[np.bool_] = np.append(is_listed != self.excludes, self.missing)
        return is_satisfied.take(codes, mode="wrap")  # the code −1 selects the last entry

    def mask(self, X: Rows) -> NDArray[np.bool_]:
        """Return which rows satisfy the predicate."""
        return self.satisfied_by(self.read_column(X))

    def to_json(self) -> dict[str, Any]:
        """Return a JSON value."""
        return {"op": self.op, "column": self.column, "values": list(self.values), "missing": self.missing}

    def __str__(self) -> str:
        return format(self)

    def __format__(self, spec: str) -> str:
        if not self.values and not self.excludes:
            return _format_empty(self)
        if not self.values:
            text = f"any value of {self.column}"
        elif len(self.values) == 1:
            text = f"{self.column} {'≠' if self.excludes else '='} {_quote(self.values[0])}"
        else:
            values = ", ".join(_quote(value, listed=True) for value in self.values)
            text = f"{self.column} {'not in' if self.excludes else 'in'} {{{values}}}"
        return text + (" (or missing)" if self.missing else "")


@attrs.frozen(order=False, cache_hash=True)
class OneOf(_Listed):
    """The value of a column is one of `values`: equality for one value, membership for several.

    Examples
    --------
    >>> print(OneOf("sex", ["Male"]), "|", OneOf("job", ["clerk", "farmer"], missing=True))
    sex = Male | job in {clerk, farmer} (or missing)
    """

    op: ClassVar[str] = "one-of"
    excludes: ClassVar[bool] = False

    def meet(self, other: "OneOf") -> "OneOf":
        """Return the predicate that holds where both do."""
        common = [value for value in self.values if value in other.values]
        return OneOf(self.column, common, missing=self.missing and other.missing)


@attrs.frozen(order=False, cache_hash=True)
class NoneOf(_Listed):
    """The value of a column is none of `values`.

    Examples
    --------
    >>> print(NoneOf("sex", ["Male"]), "|", NoneOf("job", ["clerk", "farmer"], missing=True))
    sex ≠ Male | job not in {clerk, farmer} (or missing)
    """

    op: ClassVar[str] = "none-of"
    excludes: ClassVar[bool] = True

    def meet(self, other: "NoneOf") -> "NoneOf":
        """Return the predicate that holds where both do."""
        return NoneOf(self.column, (*self.values, *other.values), missing=self.missing and other.missing)


@attrs.frozen(order=False, cache_hash=True)
class Contains:
    """The text contains the token, with the named tokenizer; a missing text contains no token.

    Examples
    --------
    >>> print(Contains("zebra"), "|", Contains("zebra", tokenizer="word"))
    contains 'zebra' | contains the word 'zebra'
    """

    op: ClassVar[str] = "contains"
    missing: ClassVar[bool] = False
    token: str
    tokenizer: str = "whitespace"

    def __attrs_post_init__(self) -> None:
        tokenize("", self.tokenizer)

    def to_json(self) -> dict[str, Any]:
        """Return a JSON value."""
        return {"op": self.op, "token": self.token, "tokenizer": self.tokenizer}

    def mask(self, X: Rows) -> NDArray[np.bool_]:
        """Return which texts contain the token."""
        texts = check_texts(X)
        is_inside = [isinstance(text, str) and self.token in tokenize(text, self.tokenizer) for text in texts]
        return np.array(is_inside, dtype=bool)

    def __str__(self) -> str:
        return format(self)

    def __format__(self, spec: str) -> str:
        return f"{CONTAINS[self.tokenizer]}{self.token!r}"


Predicate = Interval | OneOf | NoneOf | Contains
_PREDICATES: dict[str, type[Predicate]] = {kind.op: kind for kind in (Interval, OneOf, NoneOf, Contains)}


def _is_valid(predicate: Predicate) -> bool:
    if isinstance(predicate, Contains):
        return isinstance(predicate.token, str)
    column = predicate.column
    return isinstance(column, str | int) or (isinstance(column, float) and math.isfinite(column))


def predicate_from_json(item: Any) -> Predicate:
    """Rebuild a predicate from its JSON value."""
    fields = dict(item) if isinstance(item, dict) else {}
    op = fields.pop("op", None)
    kind = _PREDICATES.get(op) if isinstance(op, str) else None
    try:
        if kind is None:
            raise TypeError(f"its op must be one of {', '.join(_PREDICATES)}")
        predicate = kind(**fields)
        if not _is_valid(predicate):
            raise TypeError("a column is a name or a number, and a token is a text")
        hash(predicate)  # a value that is a list has no hash
    except (TypeError, ValueError, OverflowError) as error:
        raise InputError(f"no predicate in JSON form: {item!r:.80}: {one_line(str(error))}") from None
    return predicate


def check_texts(X: Rows) -> Sequence[str]:
    """Return the rows if they are a list of texts, or raise an error."""
    if not isinstance(X, list):
        raise InputError(f"a rule about words reads a list of texts, not a {type(X).__name__} (CLI: --text).")
    return X


def read_rule_column(X: Rows, column: str | int) -> pd.Series:
    """Return a column of a table, as rules read it."""
    if isinstance(X, pd.DataFrame):
        if column not in X.columns:
            raise InputError(
                f"a rule reads the column {column!r}; the table has {join_few(map(str, X.columns))}."
            )
        return X[column]
    if isinstance(X, list):
        raise InputError(f"a rule reads the column {column!r} of a table, and the sample is a list of texts.")
    if X.ndim > 2:
        raise InputError(
            f"a rule reads the column {column!r} of a table, and the sample has rows of shape {X.shape[1:]}: "
            "give X.reshape(len(X), -1), or explanations with a relation of their own."
        )
    if not isinstance(column, int) or not 0 <= column < X.shape[1]:
        raise InputError(
            f"a rule reads the column {column!r}; the array has columns 0 to {X.shape[1] - 1}: "
            "name columns by number, or give a DataFrame."
        )
    values = X[:, column]
    return pd.Series(values.toarray().ravel() if hasattr(values, "toarray") else values)


NUMERIC_KINDS = ("integer", "floating", "mixed-integer-float", "decimal", "boolean", "empty")


def _read_numbers(X: Rows, column: str | int) -> NDArray[Any]:
    """Return the numbers of a column as floats, or as objects if floats would round an integer."""
    if isinstance(X, np.ndarray) and X.dtype == np.float64 and X.ndim == 2 and column in range(X.shape[1]):
        return X[:, int(column)]
    values = read_rule_column(X, column)
    if is_date_column(values):
        return dates_to_days(values)
    series = as_series(as_objects(values) if isinstance(values.dtype, pd.CategoricalDtype) else values)
    is_numeric = pd.api.types.is_numeric_dtype(series.dtype)
    if not is_numeric and pd.api.types.infer_dtype(series, skipna=True) not in NUMERIC_KINDS:
        raise InputError(
            f"a rule compares the column {column!r} with a number; its values are of type {series.dtype}."
        )
    floats = np.asarray(series.to_numpy(dtype=np.float64, na_value=np.nan))
    if series.dtype.kind == "f" or not may_be_rounded(floats):
        return floats
    objects = as_objects(series)
    objects[series.isna()] = np.nan
    return objects
