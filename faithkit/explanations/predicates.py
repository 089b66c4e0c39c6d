"""Predicates: single conditions on a column or a text, each saying whether it takes missing values."""

import math
import re
from collections.abc import Callable, Iterable, Sequence
from functools import partial
from typing import Any, ClassVar

import attrs
import numpy as np
import pandas as pd
from numpy.typing import NDArray

from faithkit.arrays.containers import WHOLE, as_objects, as_series, may_be_rounded
from faithkit.errors import InputError
from faithkit.explanations.dates import days_of, holds_dates, last_microsecond, write_date
from faithkit.wording import exact, few, one_line

TOKENIZERS: dict[str, Callable[[str], list[str]]] = {
    "whitespace": str.split,
    # CountVectorizer's default: lower case, words of two characters or more
    "word": lambda text: re.findall(r"(?u)\b\w\w+\b", text.lower()),
}

CONTAINS = {"whitespace": "contains ", "word": "contains the word "}  # as a rule says it, by tokenizer

_CONNECTIVE = re.compile(r"(?<=\s)(?:and|or|&&?)(?=\s)|&&|∧", re.IGNORECASE)


def tokens(text: str, tokenizer: str = "whitespace") -> list[str]:
    """Split a text as the named tokenizer does.

    Examples
    --------
    >>> tokens("A fine, FINE film", "word")
    ['fine', 'fine', 'film']
    """
    if tokenizer not in TOKENIZERS:
        raise InputError(f"no tokenizer {tokenizer!r}: choose one of {', '.join(TOKENIZERS)}.")
    return TOKENIZERS[tokenizer](text)


def _plain(value: Any) -> Any:
    """Turn NumPy scalars into Python's, and whole floats into integers: equal rules are written alike."""
    value = value.item() if isinstance(value, np.generic) else value
    return int(value) if isinstance(value, float) and value.is_integer() else value


def _word(value: Any, listed: bool = False) -> str:
    """Write a value, in quotes where its words could be taken for the next condition, or the next value."""
    text = str(value)
    if not isinstance(value, str) or not (_CONNECTIVE.search(text) or (listed and "," in text)):
        return text
    return f'"{text}"' if "'" in text else f"'{text}'"


def _chosen(values: Sequence[Any]) -> str:
    return f"{{{', '.join(_word(value, listed=True) for value in values)}}}"


def _nothing_but_missing(predicate: "Interval | _Listed") -> str:
    return f"{predicate.column} is missing" if predicate.missing else f"no value of {predicate.column}"


def _end(number: Any) -> float:
    """Return the end of an interval as a float, or as an integer that floats would round."""
    near = float(number)
    return int(number) if isinstance(number, int | np.integer) and int(number) != near else near


def _limit(number: float, spec: str) -> tuple[str, bool]:
    """Write a limit, and say whether it is the last float before what is written."""
    if isinstance(number, int):
        return str(number), False
    after = math.nextafter(number, math.inf)
    if not spec:
        before_it = abs(after) < WHOLE and len(exact(after)) < len(exact(number))
        return _all_digits(after if before_it else number), before_it
    before_it = float(format(number, spec)) != number and float(format(after, spec)) == after
    return format(after if before_it else number, spec), before_it


def _all_digits(number: float) -> str:
    """Write a float so that it is read back: beyond 2**53 the shortest text may be another integer."""
    return str(int(number)) if WHOLE <= abs(number) < math.inf else exact(number)


def _date_limit(days: float, zone: str) -> tuple[str, bool]:
    return write_date(days, zone) if math.isfinite(days) else "", False


@attrs.frozen(order=False, cache_hash=True)
class Interval:
    """The column's value lies in (low, high]; with one end infinite it reads `≤` or `>`.

    Parameters
    ----------
    column : str or int
        A frame's column name, or an array's column number.
    low, high : float
        The value must be greater than `low` and at most `high`.
    missing : bool
        Whether a missing value satisfies the predicate.
    dates : bool
        Whether the column holds dates. Limits are then days since 1970 in UTC, and written as dates.
    zone : str
        The time zone in which dates are written, where they have one.

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
    column: str | int = attrs.field(converter=_plain)
    low: float = attrs.field(default=-math.inf, converter=_end)
    high: float = attrs.field(default=math.inf, converter=_end)
    missing: bool = attrs.field(default=False, converter=bool)
    dates: bool = attrs.field(default=False, converter=bool)
    zone: str = attrs.field(default="", converter=str)

    def __attrs_post_init__(self) -> None:
        if math.isnan(self.low) or math.isnan(self.high):
            raise InputError(f"an interval on {self.column!r} has NaN as a limit: leave it out for no limit.")
        # −0.0 and 0.0 are one number, and all empty intervals one interval: let them be written alike
        low, high = (self.low or 0.0, self.high or 0.0) if self.low < self.high else (math.inf, -math.inf)
        if self.dates:  # so that a rule which is read back is the same rule
            low, high = last_microsecond(low), last_microsecond(high)
        object.__setattr__(self, "low", low)
        object.__setattr__(self, "high", high)

    def meet(self, other: "Interval") -> "Interval":
        """Return the predicate that holds where both do."""
        low, high = max(self.low, other.low), min(self.high, other.high)
        missing, dates = self.missing and other.missing, self.dates or other.dates
        return Interval(self.column, low, high, missing, dates, self.zone or other.zone)

    def read(self, X: Any) -> NDArray[Any]:
        """Return what predicates of this kind on this column compare: its numbers, side by side in memory.

        They are floats, or objects where floats would round an integer.
        """
        return np.ascontiguousarray(_numbers(X, self.column))

    def takes(self, values: NDArray[Any]) -> NDArray[np.bool_]:
        """Return which of the values that were read satisfy the predicate."""
        low, high = self.low, self.high
        if values.dtype != object:
            low, high = _float_up_to(low), _float_up_to(high)
        if low == -math.inf:  # −inf itself lies inside
            inside = values <= high
        else:
            inside = values > low
            if high < math.inf:
                inside &= values <= high
        return inside | (values != values) if self.missing else inside

    def mask(self, X: Any) -> NDArray[np.bool_]:
        """Return which rows satisfy the predicate."""
        return self.takes(_numbers(X, self.column))

    def to_json(self) -> dict[str, Any]:
        """Return a JSON value; ends that limit nothing are left out, since JSON has no infinity."""
        if self.low > self.high:
            ends: dict[str, Any] = {"low": "inf", "high": "-inf"}
        else:
            ends = {"low": self.low, "high": self.high}
            ends = {name: end for name, end in ends.items() if math.isfinite(end)}
        dates = {"dates": True} if self.dates else {}
        zone = {"zone": self.zone} if self.zone else {}
        return {"op": self.op, "column": self.column, **ends, "missing": self.missing, **dates, **zone}

    def __str__(self) -> str:
        return format(self)

    def __format__(self, spec: str) -> str:
        if self.low > self.high:
            return _nothing_but_missing(self)
        write = partial(_date_limit, zone=self.zone) if self.dates else partial(_limit, spec=spec)
        (low, over), (high, below) = write(self.low), write(self.high)
        if self.low == -math.inf:
            text = "any value of {}" if self.high == math.inf else f"{{}} {'<' if below else '≤'} {high}"
        elif self.high == math.inf:
            text = f"{{}} {'≥' if over else '>'} {low}"
        else:
            text = f"{low} {'≤' if over else '<'} {{}} {'<' if below else '≤'} {high}"
        return text.replace("{}", str(self.column)) + (" (or missing)" if self.missing else "")


def _float_up_to(number: float) -> float:
    """Return the largest float that is at most a number."""
    near = float(number)
    return math.nextafter(near, -math.inf) if near > number else near


def _ordered(values: Iterable[Any]) -> tuple[Any, ...]:
    if isinstance(values, str):
        raise InputError(f"the values of a predicate are the text {values!r}: give a list, [{values!r}].")

    def order(value: Any) -> tuple[str, Any]:  # numbers of all types can be ordered with each other
        return "" if isinstance(value, int | float) else type(value).__name__, value

    return tuple(sorted({_plain(value) for value in values}, key=order))


@attrs.frozen(order=False)
class _Listed:
    """A condition on whether a column's value is listed: it has to be, or must not be."""

    op: ClassVar[str]
    excludes: ClassVar[bool]
    column: str | int = attrs.field(converter=_plain)
    values: tuple[Any, ...] = attrs.field(converter=_ordered)
    missing: bool = attrs.field(default=False, converter=bool)

    def __attrs_post_init__(self) -> None:
        if any(pd.isna(value) for value in self.values):
            raise InputError(f"a missing value in the values of {self.column!r}: say missing=True instead.")

    def read(self, X: Any) -> tuple[NDArray[np.intp], pd.Index]:
        """Return what predicates of this kind on this column compare: codes (−1 if missing), and values."""
        codes, distinct = pd.factorize(_column(X, self.column))
        return codes, pd.Index(distinct)

    def takes(self, values: tuple[NDArray[np.intp], pd.Index]) -> NDArray[np.bool_]:
        """Return which of the values that were read satisfy the predicate."""
        codes, distinct = values
        values_in_list = as_series(self.values)
        exact = values_in_list.to_numpy() if values_in_list.dtype == object else list(self.values)
        listed = distinct.isin(exact)
        chosen: NDArray[np.bool_] = np.append(listed != self.excludes, self.missing)
        return chosen.take(codes, mode="wrap")  # the code −1 finds the last one

    def mask(self, X: Any) -> NDArray[np.bool_]:
        """Return which rows satisfy the predicate."""
        return self.takes(self.read(X))

    def to_json(self) -> dict[str, Any]:
        """Return a JSON value."""
        return {"op": self.op, "column": self.column, "values": list(self.values), "missing": self.missing}

    def __str__(self) -> str:
        return format(self)

    def __format__(self, spec: str) -> str:
        if not self.values and not self.excludes:
            return _nothing_but_missing(self)
        if not self.values:
            text = f"any value of {self.column}"
        elif len(self.values) == 1:
            text = f"{self.column} {'≠' if self.excludes else '='} {_word(self.values[0])}"
        else:
            text = f"{self.column} {'not in' if self.excludes else 'in'} {_chosen(self.values)}"
        return text + (" (or missing)" if self.missing else "")


@attrs.frozen(order=False, cache_hash=True)
class OneOf(_Listed):
    """The column's value is one of `values`: equality for one value, membership for more.

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
        return OneOf(self.column, common, self.missing and other.missing)


@attrs.frozen(order=False, cache_hash=True)
class NoneOf(_Listed):
    """The column's value is none of `values`.

    Examples
    --------
    >>> print(NoneOf("sex", ["Male"]), "|", NoneOf("job", ["clerk", "farmer"], missing=True))
    sex ≠ Male | job not in {clerk, farmer} (or missing)
    """

    op: ClassVar[str] = "none-of"
    excludes: ClassVar[bool] = True

    def meet(self, other: "NoneOf") -> "NoneOf":
        """Return the predicate that holds where both do."""
        return NoneOf(self.column, (*self.values, *other.values), self.missing and other.missing)


@attrs.frozen(order=False, cache_hash=True)
class Contains:
    """The text contains the token, as the named tokenizer splits it; a missing text contains none.

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
        tokens("", self.tokenizer)

    def to_json(self) -> dict[str, Any]:
        """Return a JSON value."""
        return {"op": self.op, "token": self.token, "tokenizer": self.tokenizer}

    def mask(self, X: Any) -> NDArray[np.bool_]:
        """Return which texts contain the token."""
        found = [isinstance(text, str) and self.token in tokens(text, self.tokenizer) for text in texts(X)]
        return np.array(found, dtype=bool)

    def __str__(self) -> str:
        return format(self)

    def __format__(self, spec: str) -> str:
        return f"{CONTAINS[self.tokenizer]}{self.token!r}"


Predicate = Interval | OneOf | NoneOf | Contains
_PREDICATES: dict[str, type[Predicate]] = {kind.op: kind for kind in (Interval, OneOf, NoneOf, Contains)}


def _is_plain(predicate: Predicate) -> bool:
    if isinstance(predicate, Contains):
        return isinstance(predicate.token, str)
    column = predicate.column
    return isinstance(column, str | int) or (isinstance(column, float) and math.isfinite(column))


def predicate_from_json(item: Any) -> Predicate:
    """Read a predicate back from its JSON value."""
    fields = dict(item) if isinstance(item, dict) else {}
    op = fields.pop("op", None)
    kind = _PREDICATES.get(op) if isinstance(op, str) else None
    try:
        if kind is None:
            raise TypeError(f"its op must be one of {', '.join(_PREDICATES)}")
        predicate = kind(**fields)
        if not _is_plain(predicate):
            raise TypeError("a column is a name or a number, and a token is a text")
        hash(predicate)  # a list where a value belongs is none
    except (TypeError, ValueError, OverflowError) as error:
        raise InputError(f"no predicate in JSON form: {item!r:.80}: {one_line(str(error))}") from None
    return predicate


def texts(X: Any) -> Sequence[str]:
    """Return a sample of texts as it is, and refuse anything else."""
    if not isinstance(X, list):
        raise InputError(f"a rule about words reads a list of texts, not a {type(X).__name__} (CLI: --text).")
    return X


def _column(X: Any, column: str | int) -> pd.Series:
    if isinstance(X, pd.DataFrame):
        if column not in X.columns:
            raise InputError(f"a rule reads the column {column!r}; the table has {few(map(str, X.columns))}.")
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


_NUMERIC = ("integer", "floating", "mixed-integer-float", "boolean", "empty")


def _numbers(X: Any, column: str | int) -> NDArray[Any]:
    """Return the numbers of a column: as floats, or as objects where floats would round an integer."""
    if isinstance(X, np.ndarray) and X.dtype == np.float64 and X.ndim == 2 and column in range(X.shape[1]):
        return X[:, int(column)]
    cells = _column(X, column)
    if holds_dates(cells):
        return days_of(cells)
    values = as_series(as_objects(cells) if isinstance(cells.dtype, pd.CategoricalDtype) else cells)
    numeric = pd.api.types.is_numeric_dtype(values.dtype)
    if not numeric and pd.api.types.infer_dtype(values, skipna=True) not in _NUMERIC:
        raise InputError(
            f"a rule compares the column {column!r} with a number; its values are of type {values.dtype}."
        )
    floats = np.asarray(values.to_numpy(dtype=np.float64, na_value=np.nan))
    if values.dtype.kind == "f" or not may_be_rounded(floats):
        return floats
    objects = as_objects(values)
    objects[values.isna()] = np.nan
    return objects
