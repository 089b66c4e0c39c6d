"""Scopes of the same sizes as those of explanations, chosen without the model: the control of any relation.

A control scope of s rows lies around a random near row, in a few random columns: take the s rows nearest to
the owner of the explanation, draw one of them or the owner as the centre, and take the s rows nearest to it.
"""

from collections.abc import Iterator, Sequence
from typing import Any

import attrs
import numpy as np
import pandas as pd
from numpy.typing import NDArray

from faithkit.arrays import Ints
from faithkit.arrays.batches import each_batch, spans
from faithkit.arrays.bitsets import Bits, n_words, pack_bits
from faithkit.arrays.containers import Rows
from faithkit.arrays.row_random import GAMMA, Words, mix, row_uniforms, uniforms_at
from faithkit.explanations.dates import dates_to_days, is_date_column
from faithkit.explanations.explanations import Explanations

UNNAMED_WIDTH = 3  # columns of the control of an explanation that names none
BATCH_ELEMENTS = 2**16  # distances of a batch: they fit in the cache
UNIFORMS = 2**22  # random numbers at once
LARGEST = np.iinfo(np.uint64).max


@attrs.frozen(eq=False)
class ScopeColumns:
    """The columns of all rows that can be held, for distances between them.

    The distance of two rows in a column is min(difference of their places, `unit`) / `unit`.

    Attributes
    ----------
    places : (d + 1, n) int
        Twice the mid-rank of each number; for categories, numbers that are a unit apart. Missing values have
        a place a unit below all others. The last column is empty: no two rows differ in it.
    unit : int
        The largest distance in a column.

    Examples
    --------
    >>> columns = ScopeColumns.of(pd.DataFrame({"age": [20, 30, 30], "sex": ["f", None, "f"]}))
    >>> columns.places.tolist(), columns.unit
    ([[1, 4, 4], [0, -6, 0], [0, 0, 0]], 6)
    """

    places: NDArray[Any]
    unit: int

    @classmethod
    def of(cls, X: Rows) -> "ScopeColumns":
        """Read the columns of an array or a DataFrame."""
        table = pd.DataFrame(X, copy=False)
        n, d = table.shape
        unit = 2 * n
        places = np.zeros((d + 1, n), dtype=np.int32 if unit * (max(n, d) + 1) < 2**31 else np.int64)
        for position in range(d):
            places[position] = _find_places(table.iloc[:, position], unit)
        return cls(places, unit)

    @property
    def n(self) -> int:
        """The number of rows."""
        return int(self.places.shape[1])

    @property
    def width(self) -> int:
        """The number of columns."""
        return len(self.places) - 1

    def measure(self, columns: Ints, rows: Ints) -> NDArray[Any]:
        """Return the distances of all rows from each of `rows`, in as many units, in the columns of each."""
        total = np.zeros((len(rows), self.n), dtype=self.places.dtype)
        for column in columns.T:
            gap = self.places[column]
            gap -= self.places[column, rows][:, None]
            np.abs(gap, out=gap)
            total += np.minimum(gap, self.unit, out=gap)
        return total


def _find_places(column: "pd.Series[Any]", unit: int) -> NDArray[Any]:
    if is_date_column(column):
        column = pd.Series(dates_to_days(column))
    elif column.dtype == object and pd.api.types.infer_dtype(column, skipna=True) in _NUMBERS:
        column = pd.Series(column.to_numpy(dtype=np.float64, na_value=np.nan))
    if column.dtype.kind in "iufm" and not isinstance(column.dtype, pd.CategoricalDtype):
        ranks = column.rank().to_numpy(dtype=np.float64, na_value=np.nan)
        is_missing = np.isnan(ranks)
        share = unit / 2 / max(1, int((~is_missing).sum()))
        return np.where(is_missing, -unit, np.rint((2 * np.where(is_missing, 0.0, ranks) - 1) * share))
    return np.asarray(pd.factorize(column)[0].astype(np.int64) * unit)  # the code of a missing value is −1


_NUMBERS = ("integer", "floating", "mixed-integer-float", "decimal")


@attrs.frozen(eq=False)
class ScopeOwners:
    """The rows whose explanations get control scopes; they are the first of all rows that can be held.

    Attributes
    ----------
    sizes : (n,) int
        The number of other rows in the scope of each row's explanation.
    named_row, named_column : (p,) int
        The columns that each explanation names, as distinct pairs of a row and a column.
    """

    sizes: Ints
    named_row: Ints
    named_column: Ints

    @classmethod
    def of(cls, explanations: Explanations, names: Sequence[Any], sizes: Ints) -> "ScopeOwners":
        """Read which of the columns with these names each rule names; other explanations name none.

        Examples
        --------
        >>> from faithkit import Rule
        >>> from faithkit.plugin import OneOf
        >>> rules = Explanations.of([Rule([OneOf("b", [1])]), Rule()], kind="rule")
        >>> ScopeOwners.of(rules, ["a", "b"], np.array([5, 5])).named_column
        array([1])
        """
        position = {name: place for place, name in enumerate(names)}
        pairs = (
            {
                (row, position[predicate.column])
                for row in np.flatnonzero(~explanations.missing).tolist()
                for predicate in getattr(explanations.values[row], "predicates", ())
                if getattr(predicate, "column", None) in position
            }
            if explanations.kind == "rule"
            else set()
        )
        named = np.array(sorted(pairs), dtype=np.int64).reshape(-1, 2)
        return cls(sizes, named[:, 0], named[:, 1])

    def choose_columns(self, width: int, seeds: NDArray[np.uint32]) -> Ints:
        """Return random columns for each row, of `width` columns in all.

        There are as many as the explanation names, which are others where there are enough; each row is
        padded with the number `width`.
        """
        n = len(self.sizes)
        n_named = np.bincount(self.named_row, minlength=n)
        n_chosen = np.minimum(np.where(n_named > 0, n_named, UNNAMED_WIDTH), width)
        has_others = width - n_named >= n_chosen
        chosen = np.full((n, int(n_chosen.max(initial=1))), width)
        for start, stop in spans(n, UNIFORMS // max(1, width)):
            keys = row_uniforms(seeds[start:stop], width)
            pairs = slice(*np.searchsorted(self.named_row, [start, stop]))
            rows, columns = self.named_row[pairs], self.named_column[pairs]
            keys[rows[has_others[rows]] - start, columns[has_others[rows]]] += 1.0
            first = np.argsort(keys, axis=1)[:, : chosen.shape[1]]
            is_chosen = np.arange(first.shape[1]) < n_chosen[start:stop, None]
            chosen[start:stop, : first.shape[1]][is_chosen] = first[is_chosen]
        return chosen


def draw_scopes(
    owners: ScopeOwners,
    columns: ScopeColumns,
    seeds: NDArray[np.uint32],
    keys: Words,
    parts: Sequence[int],
) -> list[Bits]:
    """Draw one scope for each owner, and return them as packed bits, one matrix for each part of all rows.

    Parameters
    ----------
    owners : ScopeOwners
    columns : ScopeColumns
    seeds : (m,) uint32
        The seeds of the owners, one for each draw.
    keys : (n,) uint64
        Random bits for each row that can be held, from its content: they and the seed of the owner order rows
        at equal distances.
    parts : sequence of int
        The number of rows in each part.

    Examples
    --------
    >>> from faithkit.arrays.bitsets import popcount
    >>> owners = ScopeOwners(np.array([1, 2, 0, 3]), *np.zeros((2, 0), dtype=np.int64))
    >>> columns, seeds = ScopeColumns.of(np.arange(8.0).reshape(4, 2)), np.arange(4, dtype=np.uint32)
    >>> popcount(draw_scopes(owners, columns, seeds, np.arange(4, dtype=np.uint64), [4])[0])
    array([1, 2, 0, 3])
    """
    drawn = [np.zeros((len(owners.sizes), n_words(part)), dtype=np.uint64) for part in parts]
    chosen = owners.choose_columns(columns.width, seeds)
    place = uniforms_at(seeds, np.full(len(seeds), columns.width))  # of the centre among the nearest rows
    words = mix(seeds.astype(np.uint64) + GAMMA)
    n_chosen = (chosen < columns.width).sum(axis=1)
    rows = np.flatnonzero(owners.sizes > 0)
    rows = rows[np.argsort(n_chosen[rows], kind="stable")]  # a batch is as wide as its widest row

    def draw(start: int, stop: int) -> None:
        batch = rows[start:stop]
        selected = chosen[batch, : n_chosen[batch[-1]]]
        noise = keys ^ words[batch, None]
        noise *= GAMMA
        noise >>= np.uint64(32)
        rank = np.floor(place[batch] * (owners.sizes[batch] + 1)).astype(np.int64)
        nearest = _order(columns.measure(selected, batch), noise, batch)
        centres = np.array(list(_find_ranked(nearest, batch, rank)))
        around = _order(columns.measure(selected, centres), noise, batch)
        limits = [
            np.partition(row, size - 1)[size - 1]
            for row, size in zip(around, owners.sizes[batch].tolist(), strict=True)
        ]
        holds, stop_column = around <= np.array(limits)[:, None], 0
        for bits, part in zip(drawn, parts, strict=True):
            bits[batch] = pack_bits(holds[:, stop_column : stop_column + part])
            stop_column += part

    each_batch(draw, len(rows), BATCH_ELEMENTS // max(1, columns.n))
    return drawn


def _order(distances: NDArray[Any], noise: Words, owners: Ints) -> Words:
    """Return numbers in the order of the distances, then of the noise; owners come last."""
    order = distances.astype(np.uint64)
    order <<= np.uint64(32)
    order |= noise
    order[np.arange(len(owners)), owners] = LARGEST
    return order


def _find_ranked(order: Words, owners: Ints, ranks: Ints) -> Iterator[int]:
    """Yield, for each owner, the row of this rank among the others; itself for rank 0."""
    for row, owner, rank in zip(order, owners.tolist(), ranks.tolist(), strict=True):
        yield int((row == np.partition(row, rank - 1)[rank - 1]).argmax()) if rank else owner
