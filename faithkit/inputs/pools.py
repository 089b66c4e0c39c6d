"""Pools: rows with predictions and without explanations, which are read in pieces."""

from collections.abc import Callable, Iterable, Iterator
from functools import partial
from pathlib import Path
from typing import Any

import attrs
import numpy as np
import pandas as pd

from faithkit.errors import InputError
from faithkit.explanations.dates import is_date_column
from faithkit.inputs.column_codes import holds_words
from faithkit.inputs.date_texts import dates_like
from faithkit.inputs.files.column_patterns import match_name, match_names
from faithkit.inputs.files.parquet import ParquetTable, is_parquet
from faithkit.inputs.files.table import Table
from faithkit.inputs.files.table_files import open_table
from faithkit.inputs.models.predictor import Predictor
from faithkit.inputs.objects.conversion import as_column, as_rows
from faithkit.inputs.predictions.outcome import Outcome
from faithkit.inputs.rows import Rows, check_columns, check_X, input_kind
from faithkit.wording import join_few

FLAGS = {
    "groups": "--by",
    "weights": "--weights",
    "clusters": "--clusters",
    "ids": "--id",
    "blocks": "--blocks",
}
"""The option that names the column of each role of row metadata."""


@attrs.frozen(eq=False)
class PoolRows:
    """The rows of a pool, in pieces that can be read repeatedly, with optional predictions and metadata.

    An optional pool (`is_optional`), such as the rows that were not sampled, is ignored if explanations
    cannot be checked against it. For a pool that the user asked for, that is an error.

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
    blocks: Any = None
    ids: Any = None
    is_optional: bool = False

    @classmethod
    def of(cls, pool: Any, predictions: Any = None, **metadata: Any) -> "PoolRows":
        """Return a pool of the given rows, in any supported container; a pool is returned unchanged."""
        if isinstance(pool, PoolRows):
            return pool
        rows = check_X(as_rows(pool), "the pool")
        return cls(partial(list, [rows]), None if predictions is None else as_column(predictions), **metadata)

    def like(self, X: Rows) -> "PoolRows":
        """Return a pool with the columns of X, in its order; other columns are an error at once."""
        for piece in self.pieces():
            _align(piece, X)
            break
        return self.map(partial(_align, X=X))

    def map(self, function: Callable[[Rows], Rows]) -> "PoolRows":
        """Return a pool whose pieces pass through a function when they are read."""
        return attrs.evolve(self, pieces=partial(_map_pieces, self.pieces, function))

    def labels(self, predictor: Predictor | None, outcome: Outcome | None = None) -> Iterator[Any]:
        """Yield the predictions of the pieces; without a predictor, the stored ones."""
        if predictor is None:
            yield self.predictions
            return
        for X in self.pieces():
            yield predictor.answers(X, outcome)


def _map_pieces(pieces: Callable[[], Iterable[Rows]], function: Callable[[Rows], Rows]) -> Iterator[Rows]:
    return map(function, pieces())


def _align(piece: Rows, X: Rows) -> Rows:
    """Return a piece with the columns of X, in its order, and check that the columns hold the same kinds."""
    kinds = input_kind(piece, "the pool"), input_kind(X)
    are_arrays = isinstance(piece, np.ndarray) and isinstance(X, np.ndarray)  # shapes are compared below
    are_frames = [isinstance(rows, pd.DataFrame) for rows in (piece, X)]
    if not are_arrays and (kinds[0] != kinds[1] or are_frames[0] != are_frames[1]):
        raise InputError(
            f"the pool is a {type(piece).__name__} and X a {type(X).__name__}: give both in one form."
        )
    check_columns(piece, X, "the pool", "X")
    if not isinstance(X, pd.DataFrame):
        return piece
    piece = dates_like(X, piece, "the pool")
    for name in X.columns:
        expected, kind = (_content_kind(frame[name]) for frame in (X, piece))
        if kind != expected:
            raise InputError(
                f"the pool's column {name!r} has {kind}, and that of X {expected}: write both alike."
            )
    return piece[list(X.columns)]


def _content_kind(column: pd.Series) -> str:
    """Return the content of a column as a model sees it: dates, words or numbers."""
    if is_date_column(column):
        return "dates"
    return "words" if holds_words(column) else "numbers"


def read_logged_pool(
    path: str,
    prediction: str,
    features: tuple[str, ...],
    outcome: str | None = None,
    **metadata: str | None,
) -> PoolRows:
    """Read rows and their logged predictions; `metadata` names the columns of weights, clusters and ids."""
    if not features:
        raise InputError("a pool is read by its instances: name their columns with --features.")
    patterns = {role: pattern for role, pattern in metadata.items() if pattern is not None}
    if is_parquet(path) and not patterns:
        table_on_disk = ParquetTable.open(Path(path))
        names = match_names(table_on_disk.columns, prediction)
        check_has_columns(path, features, table_on_disk.columns)
        parts = [part.predictions(names, outcome) for part in table_on_disk.select(names).parts()]
        return PoolRows(
            table_on_disk.select(features).frames,
            pd.concat(parts, ignore_index=True),
        )
    table = open_table(path)
    check_has_columns(path, features, table.names)
    names = match_names(table.names, prediction)
    columns = {role: read_metadata(table, role, pattern) for role, pattern in patterns.items()}
    return PoolRows.of(table.frame(features), table.predictions(names, outcome), **columns)


def read_metadata(table: Table, role: str, pattern: str) -> pd.Series:
    """Return a column of row metadata: weights as numbers, others as they were written."""
    name = match_name(table.names, pattern, FLAGS[role])
    return table.frame([name])[name] if role == "weights" else table.labels(name)


def check_has_columns(path: str, expected: Iterable[Any], names: Iterable[Any]) -> None:
    """Check that a file has all expected columns."""
    available = set(names)
    lacking = [name for name in expected if name not in available]
    if lacking:
        raise InputError(f"{path} lacks columns of the data: {join_few(map(str, lacking))}.")
