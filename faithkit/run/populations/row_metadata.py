"""What is known of rows beside what the model sees: further columns, and what people call them."""

from typing import Any

import attrs
import numpy as np
import pandas as pd

from faithkit.arrays.containers import as_objects, n_rows, take_rows
from faithkit.errors import InputError
from faithkit.inputs.objects.alignment import row_index
from faithkit.inputs.pools import PoolRows
from faithkit.measure.counting.owners import Counts
from faithkit.measure.witnesses import RowId
from faithkit.run.populations.sample_design import values_of
from faithkit.wording import few


@attrs.frozen(eq=False)
class RowIds:
    """What people call each row; a pool's rows come last. Several rows may have one name, or none.

    Examples
    --------
    >>> ids = RowIds.of(pd.Series([4711, 4712, 4711], name="customer"), None, 3)
    >>> str(ids.name(1)), ids.rows("4711")
    ('customer 4712', [0, 2])
    """

    column: str
    values: Any

    @classmethod
    def of(cls, given: Any, X: Any, n: int, pool: PoolRows | None = None) -> "RowIds":
        """Take one value per row, or the name of a column of X."""
        found = values_of(given, "ids", X, pool)
        if not hasattr(found, "__len__") or isinstance(found, set | dict):
            raise InputError(f"the ids are a {type(found).__name__}: give a list of one value per row.")
        if getattr(found, "ndim", 1) != 1:
            raise InputError(f"the ids have shape {found.shape}: give one value per row, such as one column.")
        n_pool = 0 if pool is None else sum(n_rows(piece) for piece in pool.pieces())
        if len(found) not in (n, n + n_pool):
            raise InputError(f"{len(found)} ids for {n} rows: give one per row.")
        name = getattr(found, "name", None)
        values = as_objects(found)
        return cls("id" if name is None or name == "" else str(name), values)

    def name(self, row: int) -> RowId | None:
        """Return what people call a row; None where nobody said."""
        value = self.values[row] if row < len(self.values) else None
        return None if value is None else RowId(self.column, value)

    def rows(self, value: str) -> list[int]:
        """Return the rows that are called so, as a person types it."""
        return [row for row, known in enumerate(self.values) if known is not None and str(known) == value]

    def row(self, value: str) -> int:
        """Return the one row that is called so."""
        found = self.rows(value)
        if not found:
            raise InputError(
                f"the sample has no {self.column} {value!r}; it has {few(map(repr, map(str, self.values)))}. "
                "Rows that a model was trained on, or that were not drawn, are not in it."
            )
        if len(found) > 1:
            raise InputError(
                f"the sample has {len(found)} rows of {self.column} {value!r}: give the number of one of "
                f"them, {few(map(str, found))}."
            )
        return found[0]

    def take(self, rows: Counts) -> "RowIds":
        """Return the names of some rows."""
        return attrs.evolve(self, values=self.values[np.asarray(rows)])


@attrs.frozen(eq=False)
class RowMetadata:
    """All columns of the rows as they were given, and their names; None for what nobody gave.

    `index` is pandas' index of the rows, where it names them: that of the table unless another is given.
    """

    table: Any = None
    ids: RowIds | None = None
    index: pd.Index | None = attrs.field(
        default=attrs.Factory(lambda self: row_index(self.table), takes_self=True)
    )

    def take(self, rows: Counts) -> "RowMetadata":
        """Return what is known of some rows."""
        index = None if self.index is None else self.index[np.asarray(rows)]
        return RowMetadata(
            take_rows(self.table, rows), None if self.ids is None else self.ids.take(rows), index
        )

    def name(self, row: int) -> RowId | None:
        """Return what people call a row; None where nobody said."""
        return None if self.ids is None else self.ids.name(row)


EMPTY_METADATA = RowMetadata()
