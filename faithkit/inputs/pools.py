"""Rows that are predicted and not explained: where they come from, piece by piece."""

from collections.abc import Callable, Iterable, Iterator
from pathlib import Path
from typing import Any

import attrs
import numpy as np
import pandas as pd

from faithkit.errors import InputError
from faithkit.explanations.dates import holds_dates
from faithkit.inputs.column_codes import is_category
from faithkit.inputs.files.column_patterns import match_name, match_names
from faithkit.inputs.files.column_roles import Table
from faithkit.inputs.files.parquet import ParquetTable, is_parquet
from faithkit.inputs.files.table_files import open_table
from faithkit.inputs.models.predictor import Predictor
from faithkit.inputs.objects.conversion import as_column, as_rows
from faithkit.inputs.predictions.outcome import Outcome
from faithkit.inputs.rows import Rows, check_columns, check_X, input_kind
from faithkit.wording import few


@attrs.frozen(eq=False)
class PoolRows:
    """The rows of a pool, in pieces that can be had again and again, and what is known of each of them.

    Rows that are `offered`, such as those that nobody drew, are used where explanations can be checked
    against them; a pool that somebody asked for is refused where they cannot.

    Examples
    --------
    >>> import numpy as np
    >>> [len(X) for X in PoolRows.of(np.zeros((5, 2))).pieces()]
    [5]
    """

    pieces: Callable[[], Iterable[Rows]]
    predictions: Any = None
    weights: Any = None
    clusters: Any = None
    ids: Any = None
    offered: bool = False

    @classmethod
    def of(cls, pool: Any, predictions: Any = None) -> "PoolRows":
        """Take rows as people give them."""
        if isinstance(pool, PoolRows):
            return pool
        rows = check_X(as_rows(pool), "the pool")
        return cls(lambda: [rows], None if predictions is None else as_column(predictions))

    def like(self, X: Rows) -> "PoolRows":
        """Return the same rows with the columns of X, in its order; other ones are refused at once."""
        for piece in self.pieces():
            _aligned(piece, X)
            break
        return attrs.evolve(self, pieces=lambda: (_aligned(piece, X) for piece in self.pieces()))

    def labels(self, predictor: Predictor | None, outcome: Outcome | None = None) -> Iterator[Any]:
        """Yield the predictions, by the model where they are not known."""
        if predictor is None:
            yield self.predictions
            return
        for X in self.pieces():
            yield predictor.answers(X, outcome)


def _aligned(piece: Rows, X: Rows) -> Rows:
    kinds = input_kind(piece, "the pool"), input_kind(X)
    are_arrays = isinstance(piece, np.ndarray) and isinstance(X, np.ndarray)  # these are told by their shapes
    are_frames = [isinstance(rows, pd.DataFrame) for rows in (piece, X)]
    if not are_arrays and (kinds[0] != kinds[1] or are_frames[0] != are_frames[1]):
        raise InputError(
            f"the pool is a {type(piece).__name__} and X a {type(X).__name__}: give both in one form."
        )
    check_columns(piece, X, "the pool", "X")
    if not isinstance(X, pd.DataFrame):
        return piece
    for name in X.columns:
        mine, theirs = (_sort(frame[name]) for frame in (X, piece))
        if mine != theirs:
            raise InputError(
                f"the pool's column {name!r} has {theirs}, and that of X {mine}: write both alike."
            )
    return piece[list(X.columns)]


def _sort(column: Any) -> str:
    """Say what a column holds, as far as a model would mind."""
    if holds_dates(column):
        return "dates"
    return "words" if is_category(column) and column.dtype.kind != "b" else "numbers"


def streamed(table: ParquetTable, categories: bool = True) -> Callable[[], Iterator[pd.DataFrame]]:
    """Return a function that reads a table anew, part by part."""

    def pieces() -> Iterator[pd.DataFrame]:
        for part in table.parts():
            yield part.frame(categories=categories)

    return pieces


def logged_pool(
    path: str,
    prediction: str,
    features: tuple[str, ...],
    outcome: str | None = None,
    **beside: str | None,
) -> PoolRows:
    """Read rows whose predictions were logged beside them, and their weights and clusters if named."""
    if not features:
        raise InputError("a pool is read by its instances: name their columns with --features.")
    rows = _logged_rows(path, prediction, features, outcome)
    named = {k: v for k, v in beside.items() if v is not None}
    if not named:
        return rows
    table = open_table(path)
    return attrs.evolve(rows, **{role: said(table, name, f"--{role}") for role, name in named.items()})


def said(table: Table, name: str, flag: str) -> pd.Series:
    """Return a column that says something about rows: as it is written; weights are numbers."""
    found = match_name(table.names, name, flag)
    return table.frame([found])[found] if flag == "--weights" else table.labels(found)


def _logged_rows(path: str, prediction: str, features: tuple[str, ...], outcome: str | None) -> PoolRows:
    if is_parquet(path):
        whole = ParquetTable.open(Path(path))
        names = match_names(whole.columns, prediction)
        check_names(path, features, whole.columns)
        one = whole.using(names)
        parts = [part.predictions(names, outcome) for part in one.parts()]
        return PoolRows(
            streamed(whole.using(features), categories=False), pd.concat(parts, ignore_index=True)
        )
    table = open_table(path)
    check_names(path, features, table.names)
    names = match_names(table.names, prediction)
    return PoolRows.of(table.frame(features), table.predictions(names, outcome))


def check_names(path: str, wanted: Iterable[Any], known: Iterable[Any]) -> None:
    """Refuse a file that lacks some columns."""
    absent = [name for name in wanted if name not in set(known)]
    if absent:
        raise InputError(f"{path} lacks columns of the data: {few(map(str, absent))}.")
