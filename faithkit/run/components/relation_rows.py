"""The rows that relations learn from: a background, or the rows that explanations can hold for."""

from functools import cached_property

import attrs

from faithkit.arrays.containers import concat_rows, n_rows
from faithkit.explanations.relations import Relation, fit_relation
from faithkit.inputs.pools import PoolRows
from faithkit.inputs.rows import Rows


def learns_from_rows(relation: Relation) -> bool:
    """Whether a relation must be fitted, and so needs all rows at once."""
    return type(relation).fit is not Relation.fit


@attrs.frozen(eq=False, slots=False)
class RelationRows:
    """The rows of a measurement, as its relations learn from them.

    Attributes
    ----------
    X : rows or None
        The instances of the sample.
    n : int
        The number of rows of the sample.
    background : rows or None
    pool : PoolRows or None

    Examples
    --------
    >>> import numpy as np
    >>> rows = RelationRows(np.zeros((3, 1)), 3, background=np.ones((2, 1)))
    >>> rows.holds_stand_in, rows.learnt_rows.tolist()
    (True, [[0.0], [0.0], [0.0]])
    """

    X: Rows | None
    n: int
    background: Rows | None = None
    pool: PoolRows | None = None

    def fit(self, relation: Relation) -> Relation:
        """Fit a relation to the background, or to the rows that can be held if there are more of these."""
        if not learns_from_rows(relation):
            return fit_relation(relation, self.background, self.n)
        rows = self.of(relation)
        return fit_relation(relation, rows.learnt_rows, rows.n_held)

    def of(self, relation: Relation) -> "RelationRows":
        """Return the rows for a relation: one that reads explanations holds for no row of a pool."""
        return self if relation.instance_only else attrs.evolve(self, pool=None)

    def describe_source(self, relation: Relation) -> str | None:
        """Return what a relation learns from: "the background" or "the rows themselves"; None for nothing."""
        if self.X is None or not learns_from_rows(relation):
            return None
        return "the rows themselves" if self.of(relation).holds_stand_in else "the background"

    @cached_property
    def n_held(self) -> int:
        """The number of rows that can be held."""
        return self.n + (0 if self.pool is None else sum(map(n_rows, self.pool.pieces())))

    @property
    def holds_stand_in(self) -> bool:
        """Whether the rows that can be held stand in for a background, because it is smaller or absent."""
        is_small = self.background is not None and n_rows(self.background) < self.n_held
        return self.X is not None and (self.background is None or self.background is self.X or is_small)

    @property
    def learnt_rows(self) -> Rows | None:
        """The rows that a relation learns from."""
        if not self.holds_stand_in:
            return self.background
        return self.X if self.pool is None else concat_rows([self.X, *self.pool.pieces()])
