"""The sampling design that users give: the weights, clusters and blocks of rows."""

from typing import Any

import numpy as np
import pandas as pd

from faithkit.arrays.containers import as_objects, as_series, n_rows
from faithkit.errors import InputError
from faithkit.inputs.pools import PoolRows
from faithkit.inputs.rows import Rows
from faithkit.measure.counting.design import Design, read_clusters
from faithkit.measure.counting.owners import Counts
from faithkit.wording import suggest


def build_design(
    weights: Any,
    clusters: Any,
    blocks: Any,
    X: Rows | None,
    n: int,
    pool: PoolRows | None = None,
    uninformative: bool = False,
) -> Design | None:
    """Build the design from weights, clusters and blocks; None where there are none of them.

    Each is one value per row, or the name of a column of X. With a pool, the values of its rows come last.

    Examples
    --------
    >>> build_design(None, None, ["q1", "q2", "q1"], None, 3).block
    array([0, 1, 0])
    """
    if weights is None and clusters is None:
        check_declared(uninformative)
    given = {"weights": weights, "clusters": clusters, "blocks": blocks}
    if all(values is None for values in given.values()):
        return None
    n_pool = count_pool_rows(pool)
    values_by_role = {
        role: None if values is None else row_values(values, role, X, pool) for role, values in given.items()
    }
    for role, values in values_by_role.items():
        if n_pool and values is not None and hasattr(values, "__len__") and len(values) == n:
            raise InputError(
                f"{n} {role}, and the pool has {n_pool} rows more: give {n + n_pool}, those of its rows last."
            )
    block = None if blocks is None else _read_blocks(values_by_role["blocks"], n, n + n_pool)
    return Design.of(values_by_role["weights"], values_by_role["clusters"], n + n_pool, uninformative, block)


def _read_blocks(values: Any, n: int, n_with_pool: int) -> Counts:
    """Return the number of each row's block, of n explained rows and a pool."""
    codes, names = read_clusters(values, n_with_pool, role="blocks")
    if len(names) == n_with_pool:
        raise InputError(
            f"each of the {n_with_pool:,} rows is a block of its own, so none can be checked against "
            "another: give a column in which rows share values, or leave the blocks out."
        )
    if len(np.unique(codes[:n])) == 1:
        raise InputError(
            "all rows are of one block, so blocks divide nothing: give a column with several values, or "
            "leave the blocks out."
        )
    return codes


def check_declared(uninformative: bool) -> None:
    """Refuse the declaration `uninformative` where there are no weights and no clusters."""
    if uninformative:
        raise InputError(
            "uninformative is said of weights and clusters, and there are none: give weights= or clusters= "
            "(CLI: --weights, --clusters), or leave it out."
        )


def row_values(values: Any, role: str, X: Rows | None, pool: PoolRows | None) -> Any:
    """Return the weights, clusters, blocks or ids of the sample's rows, followed by those of the pool's rows.

    `values` is one value per row, or the name of a column of X. The pool's values are left out if they are
    unknown.
    """
    if pd.api.types.is_scalar(values):
        pieces = [] if pool is None else pool.pieces()
        return _concat_columns([find_column(values, rows, f"of {role}") for rows in (X, *pieces)])
    pool_values = getattr(pool, role, None)
    return values if pool_values is None else _concat_columns([values, pool_values])


def find_column(name: Any, X: Rows | None, purpose: str) -> Any:
    """Return the column of X with a name, which is a text or any other label of a DataFrame's column."""
    if not isinstance(X, pd.DataFrame):
        raise InputError(
            f"there is no column {name!r} {purpose}, for X is no table with named columns: "
            "give one value per row."
        )
    if name not in X.columns:
        raise InputError(
            f"there is no column {name!r} {purpose} in X. {suggest(str(name), map(str, X.columns))} "
            "Give such a name, or one value per row."
        )
    return X[name]


def count_pool_rows(pool: PoolRows | None) -> int:
    """Return the number of rows of a pool."""
    return 0 if pool is None else sum(n_rows(piece) for piece in pool.pieces())


def _concat_columns(columns: list[Any]) -> "pd.Series[Any]":
    """Concatenate columns as objects, so that no value changes where their dtypes differ."""
    values = as_series(np.concatenate([as_objects(column) for column in columns]))
    return values.rename(getattr(columns[0], "name", None))
