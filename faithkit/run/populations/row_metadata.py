"""Metadata of rows: columns that the model does not see, ids, the pandas index, and content hashes."""

from functools import cached_property
from typing import Any

import attrs
import numpy as np
import pandas as pd
from numpy.typing import NDArray

from faithkit.arrays.containers import as_objects, take_rows
from faithkit.errors import InputError
from faithkit.inputs.copies import Repeats, find_repeats
from faithkit.inputs.pools import PoolRows
from faithkit.inputs.predictions.labels import Labels
from faithkit.inputs.rows import Rows, input_kind, row_index
from faithkit.inputs.seeds import row_words
from faithkit.measure.counting.design import Design
from faithkit.measure.counting.owners import Counts
from faithkit.measure.instances.rows import RowId
from faithkit.run.populations.sample_design import count_pool_rows, row_values
from faithkit.wording import join_few


@attrs.frozen(eq=False)
class RowIds:
    """The id of each row, such as a customer number; the rows of a pool come last.

    Several rows may share an id, and a row may have none.

    Examples
    --------
    >>> ids = RowIds.of(pd.Series([4711, 4712, 4711], name="customer"), None, 3)
    >>> str(ids.name(1)), ids.rows("4711")
    ('customer 4712', [0, 2])
    """

    column: str
    values: Any

    @classmethod
    def of(cls, ids: Any, X: Rows | None, n: int, pool: PoolRows | None = None) -> "RowIds":
        """Convert one value per row, or the name of a column of X."""
        values = row_values(ids, "ids", X, pool)
        if not hasattr(values, "__len__") or isinstance(values, set | dict):
            raise InputError(f"the ids are a {type(values).__name__}: give a list of one value per row.")
        if getattr(values, "ndim", 1) != 1:
            raise InputError(
                f"the ids have shape {values.shape}: give one value per row, such as one column."
            )
        if len(values) not in (n, n + count_pool_rows(pool)):
            raise InputError(f"{len(values)} ids for {n} rows: give one per row.")
        name = getattr(values, "name", None)
        return cls("id" if name is None or name == "" else str(name), as_objects(values))

    def name(self, row: int) -> RowId | None:
        """Return the id of a row, or None if it has none."""
        value = self.values[row] if row < len(self.values) else None
        return None if value is None else RowId(self.column, value)

    def rows(self, value: str) -> list[int]:
        """Return the rows whose id has this text."""
        return [row for row, id in enumerate(self.values) if id is not None and str(id) == value]

    def row(self, value: str) -> int:
        """Return the only row whose id has this text."""
        rows = self.rows(value)
        if not rows:
            raise InputError(
                f"the sample has no {self.column} {value!r}; it has "
                f"{join_few(map(repr, map(str, self.values)))}. Rows that a model was trained on, or that "
                "were not drawn, are not in it."
            )
        if len(rows) > 1:
            raise InputError(
                f"the sample has {len(rows)} rows of {self.column} {value!r}: give the number of one of "
                f"them, {join_few(map(str, rows))}."
            )
        return rows[0]

    def take(self, rows: Counts) -> "RowIds":
        """Return the ids of selected rows."""
        return attrs.evolve(self, values=self.values[np.asarray(rows)])


@attrs.frozen(eq=False)
class RowMetadata:
    """All columns of the rows, their ids and their pandas index; None where there are none.

    By default `index` is that of the table, if it names rows.
    """

    table: Rows | None = None
    ids: RowIds | None = None
    index: pd.Index | None = attrs.field(
        default=attrs.Factory(lambda self: row_index(self.table), takes_self=True)
    )

    def take(self, rows: Counts) -> "RowMetadata":
        """Return the metadata of selected rows."""
        index = None if self.index is None else self.index[np.asarray(rows)]
        return RowMetadata(
            take_rows(self.table, rows), None if self.ids is None else self.ids.take(rows), index
        )


EMPTY_METADATA = RowMetadata()


@attrs.frozen(eq=False, slots=False)
class RowContent:
    """The content that identifies rows: the instances if there are any, else the predictions.

    A row is its values: column names, dtypes and pandas' index do not count. `design` has the
    weights and clusters, if there are any; blocks count as clusters.
    """

    X: Rows | None
    labels: Labels
    design: Design | None = None

    @cached_property
    def words(self) -> NDArray[np.uint64] | None:
        """A 64-bit hash of each row; None if there are no instances, or they cannot be hashed."""
        try:
            return None if self.X is None else row_words(self.X, seed=0)
        except (TypeError, ValueError):
            return None

    @cached_property
    def repeats(self) -> Repeats | None:
        """The rows that repeat others; None if there are no instances, or they are no table."""
        return None if self.X is None else find_repeats(self.X)

    @property
    def form(self) -> str | None:
        """The kind of container: the same row has another hash in a table, a sparse matrix or an array."""
        return None if self.X is None else input_kind(self.X)

    def prediction(self, row: int) -> str:
        """Return the prediction of a row as text."""
        return str(self.labels.classes[self.labels.codes[row]])
