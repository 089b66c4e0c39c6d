"""A table whose columns get the types that their roles need: features, explanation, labels, predictions."""

from collections import Counter
from collections.abc import Sequence

import attrs
import numpy as np
import pandas as pd
import pyarrow as pa

from faithkit.errors import InputError
from faithkit.inputs.files.arrow_types import MissingValues, as_frame, check_flat, value_type
from faithkit.inputs.files.csv_types import CONVERT, as_labels
from faithkit.inputs.files.discovery import File
from faithkit.inputs.objects.explanation_lists import vectors_of_column
from faithkit.inputs.predictions.outcome import LABELS, NUMBERS, SCORES
from faithkit.wording import join_few

_ROLE_OF_OUTCOME = {LABELS: "labels", NUMBERS: "features", SCORES: "features"}


@attrs.frozen(eq=False)
class Table:
    """The columns of a table, or of a part of one.

    Parameters
    ----------
    values : pyarrow.Table
        The columns with the types of a Parquet file, or as the texts of a CSV.
    untyped : frozenset of str
        The columns that are texts of a CSV; their role decides their type.
    missing_values : MissingValues, optional
        The missing values of the whole table, if this is a part of one.

    Examples
    --------
    >>> table = Table(pa.table({"month": ["01", "1", None]}), frozenset({"month"}))
    >>> table.frame(["month"])["month"].tolist()
    [1.0, 1.0, nan]
    >>> table.labels("month").dropna().tolist()
    ['01', '1']
    """

    values: pa.Table
    untyped: frozenset[str] = frozenset()
    missing_values: MissingValues | None = None

    def __len__(self) -> int:
        return int(self.values.num_rows)

    @property
    def names(self) -> list[str]:
        """The names of the columns."""
        return list(self.values.column_names)

    def frame(
        self, names: Sequence[str] | None = None, role: str = "features", categories: bool = False
    ) -> pd.DataFrame:
        """Return columns in a role: "features", "explanation", "labels" (and groups) or "predictions"."""
        values = self.values if names is None else self.values.select(list(names))
        if role == "explanation" and values.num_columns == 1 and pa.types.is_nested(values.schema.types[0]):
            return vectors_of_column(values.column_names[0], values.column(0))
        if self.untyped:
            columns = zip(values.column_names, values.columns, strict=True)
            values = pa.table(
                {name: CONVERT[role](column) if name in self.untyped else column for name, column in columns}
            )
        missing_values = MissingValues.of(values) if self.missing_values is None else self.missing_values
        return as_frame(values, missing_values, role in ("labels", "predictions"), categories)

    def labels(self, name: str) -> pd.Series:
        """Return a column as labels, such as groups or ids."""
        check_flat(self.values.schema, [name])
        return self.frame([name], "labels")[name]

    def predictions(self, names: Sequence[str], kind: str | None = None) -> pd.Series | pd.DataFrame:
        """Return a column of predictions, or several as a table; `kind` is the declared outcome, if any.

        Examples
        --------
        >>> table = Table(pa.table({"p": ["0.50", "0.5"]}), frozenset({"p"}))
        >>> table.predictions(["p"]).tolist(), table.predictions(["p"], "labels").tolist()
        ([0.5, 0.5], ['0.50', '0.5'])
        """
        check_flat(self.values.schema, names)
        role = _ROLE_OF_OUTCOME.get(kind or "", "predictions" if len(names) == 1 else "features")
        columns = self.frame(names, role)
        if kind != LABELS:
            decimals = [name for name in names if _is_decimal(self.values.schema.field(name).type)]
            columns = columns.astype(dict.fromkeys(decimals, np.float64))
        return columns[names[0]] if len(names) == 1 else columns

    def texts(self, name: str) -> pd.Series:
        """Return a column as the texts in the file, where these are known."""
        return self.values.column(name).to_pandas() if name in self.untyped else self.frame([name])[name]


def partition_values(files: Sequence[File]) -> list[dict[str, pa.Scalar]]:
    """Return the columns that Hive folders add to each file, typed as labels, with one type for all files.

    Examples
    --------
    >>> from pathlib import Path
    >>> files = [File(Path("log.csv"), "CSV", "", {"year": year}) for year in ("2025", "2026")]
    >>> partition_values(files)
    [{'year': <pyarrow.Int64Scalar: 2025>}, {'year': <pyarrow.Int64Scalar: 2026>}]
    """
    texts = {
        name: pa.chunked_array([[file.partition[name] for file in files]], pa.string())
        for name in files[0].partition
    }
    columns = {name: as_labels(column) for name, column in texts.items()}
    return [{name: column[i] for name, column in columns.items()} for i in range(len(files))]


def check_file_columns(file: File, names: Sequence[str]) -> None:
    """Check that column names are distinct, and that the file's Hive folders add none of them."""
    duplicate = next((name for name, count in Counter(names).items() if count > 1), None)
    if duplicate is not None:
        raise InputError(
            f"{file.path} has several columns {duplicate!r}: give each column a name of its own."
        )
    added = next((name for name in file.partition if name in names), None)
    if added is not None:
        raise InputError(
            f"{file.path} has a column {added!r}, and lies in a folder {added}=…: leave one of them out."
        )


def check_same_names(first: File, names: Sequence[str], second: File, second_names: Sequence[str]) -> None:
    """Check that two files of one table have the same columns."""
    only_first, only_second = set(names) - set(second_names), set(second_names) - set(names)
    for file, extra in ((first, only_first), (second, only_second)):
        if extra:
            columns = join_few([name for name in (*names, *second_names) if name in extra])
            raise InputError(
                f"{first.path.name} and {second.path.name} have different columns: only {file.path.name} "
                f"has {columns}. Give all files of a folder the same columns."
            )


def check_texts(values: pd.Series, name: str) -> list[str]:
    """Return a column's values as texts; raise an error if a value is missing."""
    if values.isna().any():
        row = int(values.isna().to_numpy().argmax())
        raise InputError(f"row {row} has no text in {name!r}: drop such rows, or fill them.")
    return [str(value) for value in values]


def _is_decimal(arrow_type: pa.DataType) -> bool:
    """Return whether an Arrow type holds exact decimal fractions, as databases write them."""
    arrow_type = value_type(arrow_type)
    return bool(pa.types.is_decimal(arrow_type) and arrow_type.scale > 0)
