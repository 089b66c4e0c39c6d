"""Logs of predictions and explanations: what an audit has when the model is out of reach."""

from pathlib import Path

import attrs
import numpy as np

from faithkit.inputs.data_warnings import FIRST_ROWS, warn_about_base_values, warn_about_long_format
from faithkit.inputs.files.arrow_types import check_flat
from faithkit.inputs.files.column_roles import Table
from faithkit.inputs.files.parquet import is_parquet
from faithkit.inputs.files.table_files import open_table
from faithkit.inputs.logs.log import ColumnRoles, Log
from faithkit.inputs.logs.parquet_log import ParquetLog
from faithkit.inputs.logs.rule_columns import all_json


def open_log(
    path: str,
    prediction: str,
    explanation: tuple[str, ...],
    features: tuple[str, ...] = (),
    by: str | None = None,
    weights: str | None = None,
    clusters: str | None = None,
    outcome: str | None = None,
    id: str | None = None,
    text: str | None = None,
) -> Log | ParquetLog:
    """Read a log in CSV, or look at one in Parquet: a file, or a folder of files.

    Labels and groups are names: in a CSV they stay as they were written, so `01` and `1` are two. In an
    explanation 0.50 is 0.5, but codes such as `01` stay texts. A column of predictions that has fractions is
    numbers, unless the `outcome` says what predictions are.

    A single column of text in which every value is a rule's JSON form is read as rules; in words
    ("age ≤ 37 and sex = Male") where they are all about the `features`. Where the instances are the texts of
    a column, all rows are read at once.
    """
    roles = ColumnRoles(
        (prediction,), explanation, features, by, weights, clusters, kind=outcome, id=id, text=text
    )
    if is_parquet(path) and text is None:
        on_disk = ParquetLog.open(Path(path), roles)
        _warn_about_rows(*on_disk.head(FIRST_ROWS))
        return on_disk
    table = open_table(path)
    roles = roles.among(table.names)
    check_flat(table.cells.schema, roles.features if len(roles.explanation) == 1 else roles.columns)
    is_rules = len(roles.explanation) == 1 and all_json([table.texts(roles.explanation[0])])
    log = attrs.evolve(roles, rules=is_rules).log(table)
    head = attrs.evolve(table, cells=table.cells.slice(0, FIRST_ROWS))
    _warn_about_rows(head, log.take(np.arange(len(head))))
    return log


def _warn_about_rows(table: Table, log: Log) -> None:
    warn_about_long_format(table, log)
    warn_about_base_values(log.explanations)
