"""Join the two files of one log by an id, one row to one row."""

from pathlib import Path
from typing import Any

import pandas as pd

from faithkit.errors import InputError
from faithkit.inputs.files.column_patterns import match_name, suggest_column
from faithkit.inputs.files.table import Table
from faithkit.inputs.files.table_files import open_table
from faithkit.wording import join_few


def join_tables(path: str, other_path: str, id_pattern: str) -> Table:
    r"""Read two files into memory, and add the columns of the second to the rows of the first.

    Every id occurs once in each file. No other column is in both.

    Examples
    --------
    >>> import tempfile
    >>> folder = Path(tempfile.mkdtemp())
    >>> _ = (folder / "predictions.csv").write_text("id,label\n7,yes\n8,no\n")
    >>> _ = (folder / "shap.csv").write_text("id,phi\n8,-0.1\n7,0.2\n")
    >>> table = join_tables(str(folder / "predictions.csv"), str(folder / "shap.csv"), "id")
    >>> table.frame(["label", "phi"]).to_numpy().tolist()
    [['yes', 0.2], ['no', -0.1]]
    """
    table, other_table = open_table(path), open_table(other_path)
    file, other_file = Path(path).name, Path(other_path).name
    name = match_name(table.names, id_pattern, "--id")
    if name not in other_table.names:
        raise InputError(
            f"{other_file} has no column {name!r}, by which --with joins it to {file}. "
            f"{suggest_column(name, other_table.names)} Give the ids one name in both files."
        )
    shared = [column for column in other_table.names if column in table.names and column != name]
    if shared:
        raise InputError(
            f"{file} and {other_file} both have {join_few(map(repr, shared))}; expected {name!r} only. "
            f"Rename these columns in one of them, such as to 'phi_{shared[0]}', or drop them there."
        )
    ids, other_ids = _read_ids(table, name, file), _read_ids(other_table, name, other_file)
    _check_found(ids, other_ids, name, file, other_file)
    _check_found(other_ids, ids, name, other_file, file)
    cells = table.cells
    other_cells = other_table.cells.drop_columns([name]).take(other_ids.get_indexer(ids))
    for field, column in zip(other_cells.schema, other_cells.columns, strict=True):
        cells = cells.append_column(field, column)
    return Table(cells, table.untyped | other_table.untyped - {name})


def _read_ids(table: Table, name: str, file: str) -> "pd.Index[Any]":
    """Return the ids as texts, which are the same in all formats; each occurs once."""
    column = table.labels(name)
    if column.isna().any():
        row = int(column.isna().to_numpy().argmax())
        raise InputError(f"row {row} of {file} has no {name!r}: give every row an id, or drop the row.")
    ids = pd.Index([str(cell).strip() for cell in column])
    if not ids.is_unique:
        repeated = ids[ids.duplicated()].unique()
        first, second, *_ = (ids == repeated[0]).nonzero()[0]
        raise InputError(
            f"{file} has {len(repeated):,} values of {name!r} more than once, such as {repeated[0]!r} in "
            f"rows {first} and {second}; expected one row for each. Drop the others, or join the files "
            "before by a column that is unique."
        )
    return ids


def _check_found(ids: Any, other_ids: Any, name: str, file: str, other_file: str) -> None:
    lacking = ids[~ids.isin(other_ids)]
    if len(lacking):
        raise InputError(
            f"{len(lacking):,} of {len(ids):,} values of {name!r} in {file} are not in {other_file}: "
            f"{join_few(map(repr, lacking))}. Expected the same ids in both, written alike ({other_file} has "
            f"{other_ids[0]!r}): drop these rows, or add them to {other_file}."
        )
