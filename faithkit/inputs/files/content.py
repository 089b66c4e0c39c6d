"""What a file holds, before anybody has said what its columns mean: each is read as its role asks."""

from collections import Counter
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import attrs
import numpy as np
import pandas as pd
import pyarrow as pa

from faithkit.errors import InputError
from faithkit.inputs.files.typed import Gaps, as_frame, check_flat
from faithkit.inputs.files.written import READ
from faithkit.inputs.objects.vectors import vectors_of
from faithkit.inputs.predictions.outcome import LABELS, NUMBERS, SCORES
from faithkit.wording import few


@attrs.frozen(eq=False)
class Content:
    """The columns of a table, or of a part of one.

    Parameters
    ----------
    cells : pyarrow.Table
        With the types that a Parquet file gives to its columns, or the texts of a CSV.
    written : bool
        Whether these are the texts of a CSV.
    gaps : Gaps, optional
        Of the whole table, where this is a part of one.

    Examples
    --------
    >>> table = Content(pa.table({"month": ["01", "1", None]}), written=True)
    >>> table.frame(["month"])["month"].tolist()
    [1.0, 1.0, nan]
    >>> table.labels("month").dropna().tolist()
    ['01', '1']
    """

    cells: Any
    written: bool
    gaps: Gaps | None = None

    def __len__(self) -> int:
        return int(self.cells.num_rows)

    @property
    def names(self) -> list[str]:
        """The names of the columns."""
        return list(self.cells.column_names)

    def frame(
        self, names: Sequence[str] | None = None, role: str = "features", categories: bool = False
    ) -> pd.DataFrame:
        """Return columns as "features", as an "explanation", as "labels" (groups), or as "predictions"."""
        cells = self.cells if names is None else self.cells.select(list(names))
        if (
            role == "explanation"
            and cells.num_columns == 1
            and pa.types.is_nested(cells.schema.field(0).type)
        ):
            return vectors_of(cells.column_names[0], cells.column(0))
        if self.written:
            columns = zip(cells.column_names, cells.columns, strict=True)
            cells = pa.table({name: READ[role](column) for name, column in columns})
        gaps = Gaps.of(cells) if self.gaps is None else self.gaps
        return as_frame(cells, gaps, role in ("labels", "predictions"), categories)

    def labels(self, name: str) -> pd.Series:
        """Return a column of names."""
        check_flat(self.cells.schema, [name])
        return self.frame([name], "labels")[name]

    def predictions(self, names: Sequence[str], kind: str | None = None) -> Any:
        """Return a column of predictions, or several as a table; `kind` is what they are, if somebody said.

        Examples
        --------
        >>> table = Content(pa.table({"p": ["0.50", "0.5"]}), written=True)
        >>> table.predictions(["p"]).tolist(), table.predictions(["p"], "labels").tolist()
        ([0.5, 0.5], ['0.50', '0.5'])
        """
        check_flat(self.cells.schema, names)
        role = {LABELS: "labels", NUMBERS: "features", SCORES: "features"}.get(kind or "", "predictions")
        found = self.frame(names, role)
        exact = [name for name in names if kind != LABELS and _is_decimal(self.cells.schema.field(name).type)]
        found = found.astype(dict.fromkeys(exact, np.float64))
        return found[names[0]] if len(names) == 1 else found

    def texts(self, name: str) -> pd.Series:
        """Return a column as the texts that were written, where that is known."""
        return self.cells.column(name).to_pandas() if self.written else self.frame([name])[name]


def _is_decimal(kind: Any) -> bool:
    """Whether a type of Arrow's is that of exact fractions, which databases write."""
    held = kind.value_type if pa.types.is_dictionary(kind) else kind
    return bool(pa.types.is_decimal(held) and held.scale > 0)


def check_none_only(
    first: Path, second: Path, owner: Path, mine: Sequence[str], theirs: Sequence[str]
) -> None:
    """Refuse two files where one of them, the owner, has columns that the other has not."""
    known = set(theirs)
    only = [name for name in mine if name not in known]
    if only:
        raise InputError(
            f"{first.name} and {second.name} have different columns: only {owner.name} has {few(only)}. "
            "Give all files of a folder the same columns."
        )


def check_distinct(path: Path, names: Sequence[str]) -> None:
    """Refuse a file with several columns of one name: nobody could tell which of them is meant."""
    twice = next((name for name, times in Counter(names).items() if times > 1), None)
    if twice is not None:
        raise InputError(f"{path} has several columns {twice!r}: give each column a name of its own.")
