"""The rows that a question is about, as the model sees them, and what is known of them beside."""

from typing import Any

import attrs

from faithkit.arrays.containers import n_rows
from faithkit.inputs.models.model_columns import pool_seen_by, seen_by, unused
from faithkit.inputs.objects.conversion import as_column, as_rows
from faithkit.inputs.pools import PoolRows
from faithkit.inputs.rows import Rows, check_columns, check_X
from faithkit.measure.counting.design import Design
from faithkit.run.populations.row_metadata import EMPTY_METADATA, RowIds, RowMetadata
from faithkit.run.populations.sample_design import design_of


@attrs.frozen(eq=False)
class EvaluatedRows:
    """A sample to explain, with all that somebody said about it.

    Parameters
    ----------
    X : rows
        What the model sees of the sample.
    known : rows
        What an explainer may learn from: the background, else the sample itself.
    pool : PoolRows or None
        Rows that are predicted and not explained.
    design : Design or None
        What weights and clusters say.
    beside : RowMetadata
        All columns as they were given, and what people call the rows.

    Examples
    --------
    >>> import numpy as np
    >>> cases = EvaluatedRows.of(len, np.zeros((3, 2)), background=np.ones((5, 2)))
    >>> cases.X.shape, cases.known.shape, cases.pool
    ((3, 2), (5, 2), None)
    """

    X: Rows
    known: Rows
    pool: PoolRows | None = None
    design: Design | None = None
    beside: RowMetadata = EMPTY_METADATA

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
    ) -> "EvaluatedRows":
        """Take rows as people give them, and refuse what does not belong together."""
        table, background = check_X(as_rows(X)), as_rows(background)
        weights, clusters, ids = as_column(weights), as_column(clusters), as_column(ids)
        seen = known = seen_by(model, table)
        if background is not None and background is not table:
            known = seen_by(model, check_X(background, "the background"), "the background")
        check_columns(seen, known)
        whole = None if pool is None else PoolRows.of(pool)
        return cls(
            X=seen,
            known=known,
            pool=None if whole is None else pool_seen_by(model, whole).like(seen),
            design=design_of(weights, clusters, table, n_rows(seen), whole, uninformative),
            beside=RowMetadata(table, None if ids is None else RowIds.of(ids, table, n_rows(seen), whole)),
        )

    @property
    def notes(self) -> tuple[str, ...]:
        """What is to be said about the columns."""
        return unused(self.beside.table, self.X)
