"""The input of an evaluation: rows to explain, background, pool, sampling design and row metadata."""

from typing import Any

import attrs

from faithkit.arrays.containers import n_rows
from faithkit.inputs.models.model_columns import (
    describe_unused_columns,
    select_model_columns,
    select_pool_columns,
)
from faithkit.inputs.objects.conversion import as_column, as_rows
from faithkit.inputs.pools import PoolRows
from faithkit.inputs.rows import Rows, check_columns, check_X
from faithkit.measure.counting.design import Design
from faithkit.measure.counting.owners import Counts
from faithkit.run.populations.row_metadata import EMPTY_METADATA, RowIds, RowMetadata
from faithkit.run.populations.sample_design import build_blocks, build_design


@attrs.frozen(eq=False)
class EvaluatedRows:
    """A sample to explain, and everything that belongs to its rows.

    Parameters
    ----------
    X : rows
        The columns of the sample that the model uses.
    background : rows
        What an explainer may learn from: the background, else the sample itself.
    pool : PoolRows or None
        Rows that are predicted and not explained.
    design : Design or None
        The weights and clusters of the rows.
    block : array or None
        The block of each row.
    beside : RowMetadata
        All columns of the input, and the ids of the rows.

    Examples
    --------
    >>> import numpy as np
    >>> rows = EvaluatedRows.of(len, np.zeros((3, 2)), background=np.ones((5, 2)))
    >>> rows.X.shape, rows.background.shape, rows.pool
    ((3, 2), (5, 2), None)
    """

    X: Rows
    background: Rows
    pool: PoolRows | None = None
    design: Design | None = None
    block: Counts | None = None
    metadata: RowMetadata = EMPTY_METADATA

    @classmethod
    def of(
        cls,
        model: Any,
        X: Any,
        background: Any = None,
        pool: Any = None,
        weights: Any = None,
        clusters: Any = None,
        ids: Any = None,
        uninformative: bool = False,
        blocks: Any = None,
    ) -> "EvaluatedRows":
        """Convert the arguments of `evaluate`, and check that they belong together."""
        table, background = check_X(as_rows(X)), as_rows(background)
        weights, clusters, ids = as_column(weights), as_column(clusters), as_column(ids)
        model_X = model_background = select_model_columns(model, table)
        if background is not None and background is not table:
            model_background = select_model_columns(
                model, check_X(background, "the background"), "the background"
            )
        check_columns(model_X, model_background)
        pool_rows, n = None if pool is None else PoolRows.of(pool), n_rows(model_X)
        block = build_blocks(as_column(blocks), table, n, weights, clusters, pool_rows)
        if block is not None:
            pool_rows = None
        return cls(
            X=model_X,
            background=model_background,
            pool=None if pool_rows is None else select_pool_columns(model, pool_rows).like(model_X),
            design=build_design(weights, clusters, table, n, pool_rows, uninformative),
            block=block,
            metadata=RowMetadata(table, None if ids is None else RowIds.of(ids, table, n, pool_rows)),
        )

    @property
    def notes(self) -> tuple[str, ...]:
        """Notes about columns that the model does not use."""
        return describe_unused_columns(self.metadata.table, self.X)
