"""Distances between rows, learnt from a background and shared by explainers and relations.

A distance converts rows to coordinates, and computes the distance of two coordinates. Differences are taken
column by column before they are scaled, so that equal distances stay equal after rounding.
"""

from collections.abc import Callable
from numbers import Real
from typing import Any, Protocol

import attrs
import numpy as np
from numpy.typing import NDArray

import faithkit

Floats = NDArray[np.float64]
NAMES = ("euclidean", "standardized", "manhattan", "gower")
ROOTED = ("euclidean", "standardized")  # the root of a sum of squares; the others are plain sums


class Distance(Protocol):
    """The interface of a distance."""

    def coordinates(self, X: Any) -> NDArray[Any]:
        """Return the rows as an array that `between` reads; its first axis is the rows."""

    def between(self, a: NDArray[Any], b: NDArray[Any]) -> Floats:
        """Return the distances of coordinates, broadcast against each other."""

    def parts(self, a: NDArray[Any], b: NDArray[Any]) -> Floats:
        """Return the contribution of each column to the distance of two rows, up to a monotone function."""

    def to_shared(self) -> dict[str, Any]:
        """Serialise the distance as arrays and JSON values."""


def check_distance(component: str, distance: Any) -> Any:
    """Check the parameter `distance`: None for the default, a name, or a function of two rows."""
    if distance is None or distance in NAMES or callable(distance):
        return distance
    raise faithkit.errors.ParameterError(
        f"{component}: distance must be one of {', '.join(NAMES)} or a function of two rows, got "
        f"{distance!r}."
    )


def learn_distance(distance: Any, background: Any) -> "Distance":
    """Learn a distance from the background: its columns, their categories and their scales.

    Examples
    --------
    >>> import pandas as pd
    >>> people = pd.DataFrame({"age": [20, 60, 40], "job": ["cook", "smith", None]})
    >>> distance = learn_distance(None, people)
    >>> x = distance.coordinates(people)
    >>> distance.name, distance.between(x[:1], x)
    ('gower', array([0.  , 1.  , 0.75]))
    """
    if isinstance(background, list) or hasattr(background, "tocsr"):
        raise faithkit.errors.InputError(
            f"examples are rows of a table, and the background is a {type(background).__name__}: "
            "give a 2-D array or a DataFrame."
        )
    return UserDistance(distance) if callable(distance) else TableDistance.learn(distance, background)


def shared_distance(shared: dict[str, Any]) -> "TableDistance":
    """Rebuild a distance that an explainer stored in `Explanations.shared`."""
    return TableDistance(
        shared["name"],
        faithkit.plugin.Encoder(shared["table"]),
        np.asarray(shared["scale"], dtype=np.float64),
    )


@attrs.frozen(eq=False)
class TableDistance:
    """One of the four named distances, fitted to a table's columns.

    Parameters
    ----------
    name : str
        euclidean, standardized, manhattan or gower.
    encoder : Encoder
        It has the columns and their categories.
    scale : (n_columns,) float
        The divisor of the difference of two numbers; a column of scale 0 is ignored.
    """

    name: str
    encoder: faithkit.plugin.Encoder
    scale: Floats
    categorical: frozenset[int] = attrs.field(init=False)

    @categorical.default
    def _categorical(self) -> frozenset[int]:
        return frozenset(self.encoder.categorical)

    @classmethod
    def learn(cls, name: str | None, background: Any) -> "TableDistance":
        """Learn columns and scales; by default gower with categories or missing values, else standardized."""
        encoder = faithkit.plugin.Encoder(background)
        codes = encoder.encode(background)
        if name is None:
            name = "gower" if encoder.categorical or np.isnan(codes).any() else "standardized"
        _check_columns(name, encoder)
        _check_values(name, encoder, codes)
        return cls(name, encoder, _scale(name, codes))

    def to_shared(self) -> dict[str, Any]:
        """Return name, scales, and the smallest table from which an Encoder learns the same categories."""
        n_rows = max(map(len, self.encoder.categories.values()), default=1)
        codes = np.zeros((max(1, n_rows), self.encoder.n_columns))
        for j, values in self.encoder.categories.items():
            codes[:, j] = np.minimum(np.arange(len(codes)), max(0, len(values) - 1))
        return {"name": self.name, "table": self.encoder.decode(codes), "scale": self.scale}

    def coordinates(self, X: Any) -> Floats:
        """Return the codes of the rows; categories that the background lacks get codes by their content."""
        codes = self.encoder.encode(X, unseen="keep")
        _check_values(self.name, self.encoder, codes)
        for j, values in self.encoder.categories.items():
            unseen = codes[:, j] == len(values) + 1
            if unseen.any():
                codes[unseen, j] = len(values) + 1 + _content_codes(self._column(X, j), unseen)
        return codes

    def between(self, a: NDArray[Any], b: NDArray[Any]) -> Floats:
        """Return the distances, each summed in the order of the columns."""
        total = np.zeros(np.broadcast_shapes(a.shape[:-1], b.shape[:-1]))
        with np.errstate(over="ignore"):  # a distance that overflows is infinite
            for j in range(len(self.scale)):
                total += self._column_part(j, a[..., j], b[..., j])
        if self.name in ROOTED:
            return np.sqrt(total)
        return total / len(self.scale) if self.name == "gower" else total

    def parts(self, a: NDArray[Any], b: NDArray[Any]) -> Floats:
        """Return the summands of the distance, column by column."""
        shape = a.shape[:-1]
        columns = range(len(self.scale))
        parts = [np.broadcast_to(self._column_part(j, a[..., j], b[..., j]), shape) for j in columns]
        return np.stack(parts, axis=-1)

    def _column_part(self, j: int, a: Floats, b: Floats) -> Any:
        if j in self.categorical:
            return (a != b).astype(np.float64)
        difference = np.abs(a - b) / self.scale[j] if self.scale[j] else 0.0
        if self.name in ROOTED:
            return difference * difference
        if self.name == "manhattan":
            return difference
        missing_a, missing_b = np.isnan(a), np.isnan(b)
        return np.where(missing_a | missing_b, missing_a != missing_b, difference)

    def _column(self, X: Any, j: int) -> Any:
        if not hasattr(X, "iloc"):
            return X[:, [j]]
        names = [str(name) for name in X.columns]
        return X.iloc[:, [names.index(self.encoder.names[j])]]


@attrs.frozen(eq=False)
class UserDistance:
    """A user's function of two rows, called for every pair: slow and simple.

    The function receives a row of a DataFrame as a Series, and a row of an array as a 1-D array. It must be
    symmetric.

    Examples
    --------
    >>> hamming = UserDistance(lambda a, b: int((a != b).sum()))
    >>> X = hamming.coordinates(np.array([[1, 2], [1, 3]]))
    >>> hamming.between(X[:1], X)
    array([0., 1.])
    """

    function: Callable[[Any, Any], float]

    @property
    def name(self) -> str:
        """The name of the function."""
        return getattr(self.function, "__name__", type(self.function).__name__)

    def to_shared(self) -> dict[str, Any]:
        """Return the name only, because a function is no JSON value."""
        return {"name": self.name, "function": True}

    def coordinates(self, X: Any) -> NDArray[Any]:
        """Return the rows themselves, as objects."""
        rows = np.empty(len(X), dtype=object)
        for i in range(len(X)):
            rows[i] = X.iloc[i] if hasattr(X, "iloc") else X[i]
        return rows

    def between(self, a: NDArray[Any], b: NDArray[Any]) -> Floats:
        """Compute the user's distance for every pair of rows."""
        pairs = np.broadcast(a, b)
        return np.array([self._call(x, y) for x, y in pairs], dtype=np.float64).reshape(pairs.shape)

    def parts(self, a: NDArray[Any], b: NDArray[Any]) -> Floats:
        """Return zeros: the contribution of each column is unknown."""
        width = len(a[0]) if len(a) else 0
        return np.zeros((len(a), width))

    def _call(self, x: Any, y: Any) -> float:
        distance = self.function(x, y)
        if not isinstance(distance, Real) or not distance >= 0:
            raise faithkit.errors.InputError(
                f"the distance {self.name} gave {distance!r} for two rows; expected a number of at least 0."
            )
        return float(distance)


def _scale(name: str, codes: Floats) -> Floats:
    """Return the divisors of differences; values are sorted first, so that row order changes no bit."""
    if name in ("euclidean", "manhattan"):
        return np.ones(codes.shape[1])
    ordered = np.sort(codes, axis=0)
    with np.errstate(invalid="ignore"):
        low, high = np.fmin.reduce(ordered, axis=0), np.fmax.reduce(ordered, axis=0)
        spread = high - low if name == "gower" else ordered.std(axis=0)
    return np.where(high > low, spread, 0.0)  # rounding may give a constant column a tiny deviation


def _check_columns(name: str, encoder: faithkit.plugin.Encoder) -> None:
    if name != "gower" and encoder.categorical:
        column = encoder.names[encoder.categorical[0]]
        raise faithkit.errors.InputError(
            f"the distance {name} needs numbers, and column {column!r} holds categories: "
            "use distance=gower, or encode the categories first."
        )


def _check_values(name: str, encoder: faithkit.plugin.Encoder, codes: Floats) -> None:
    is_invalid = np.isinf(codes) if name == "gower" else ~np.isfinite(codes)
    if is_invalid.any():
        row, j = np.unravel_index(int(is_invalid.argmax()), is_invalid.shape)
        kind, advice = ("an infinite", "give finite numbers")
        if np.isnan(codes[row, j]):
            kind, advice = ("a missing", "use distance=gower, or impute it")
        raise faithkit.errors.InputError(
            f"column {encoder.names[j]!r} has {kind} value, and the distance {name} takes none: {advice}."
        )


def _content_codes(column: Any, rows: NDArray[np.bool_]) -> Floats:
    """Return numbers from the content of the values (52 bits), so that different new values differ."""
    values = faithkit.plugin.take_rows(column, rows)
    high, low = (faithkit.plugin.row_seeds(values, seed).astype(np.uint64) for seed in (0, 1))
    return 1.0 + ((high << np.uint64(20)) | (low >> np.uint64(12))).astype(np.float64)
