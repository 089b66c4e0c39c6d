"""Logs of predictions and explanations: what an audit has when the model is out of reach."""

from pathlib import Path

import attrs
import pyarrow as pa

from faithkit.inputs.files.arrow_types import check_flat
from faithkit.inputs.files.parquet import ParquetTable, is_parquet
from faithkit.inputs.files.tables import open_table
from faithkit.inputs.logs.base_values import vectors_without_base
from faithkit.inputs.logs.log import Log
from faithkit.inputs.logs.long_format import warn_of_long_format
from faithkit.inputs.logs.on_disk import ParquetLog
from faithkit.inputs.logs.roles import Roles
from faithkit.inputs.logs.rules import all_json


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
    ("age ≤ 37 and sex = Male") where they are all about the `features`. Of an explanation's columns that a
    pattern takes, one that is called a bias, a base value or the like and is the same in every row is none of
    its features, and is left out. Where the instances are the texts of a column, all rows are read at once.
    """
    asked = Roles((prediction,), explanation, features, by, weights, clusters, kind=outcome, id=id, text=text)
    file = Path(path)
    if is_parquet(path) and text is None:
        on_disk = ParquetLog.open(file, asked)
        _look_for_long_format(file, on_disk)
        return on_disk
    table = open_table(file)
    found = asked.among(table.names).without_base(table.names, asked.explanation, table)
    check_flat(table.cells.schema, found.features if len(found.explanation) == 1 else found.columns)
    rules = len(found.explanation) == 1 and all_json([table.texts(found.explanation[0])])
    log = attrs.evolve(found, rules=rules).log(table)
    warn_of_long_format(table, log)
    if len(found.explanation) > 1:
        return log
    # features and their weights may stand in one cell
    explanations, said = vectors_without_base(log.explanations, "write lists of numbers")
    return attrs.evolve(log, explanations=explanations, roles=attrs.evolve(log.roles, said=said))


def _look_for_long_format(path: Path, log: ParquetLog) -> None:
    """Read the first rows of a Parquet log to warn where it has several rows for each instance."""
    table = ParquetTable.open(path)
    flat = [name for name in table.columns if not pa.types.is_nested(table.schema.field(name).type)]
    table = table.using(flat)
    first_rows = next(table.parts())
    warn_of_long_format(first_rows, log.roles.log(first_rows, piece=True))
