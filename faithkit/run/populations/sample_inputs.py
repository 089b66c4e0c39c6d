"""The input of a measurement: rows with their design, background, pool and metadata.

`evaluate` and `score` convert their arguments to it. Predictions and explanations make it a population.
"""

from collections.abc import Iterable
from functools import partial
from typing import Any

import attrs
import numpy as np
import pandas as pd

from faithkit.arrays import Floats
from faithkit.arrays.containers import n_rows
from faithkit.errors import InputError, warn
from faithkit.explanations.explanations import Explanations, Sample
from faithkit.inputs.copies import MAX_COPIES, share_of_copies
from faithkit.inputs.models.model_columns import describe_unused_columns, select_model_columns
from faithkit.inputs.models.predictor import Predictor
from faithkit.inputs.objects.conversion import as_column, as_rows
from faithkit.inputs.pools import PoolRows
from faithkit.inputs.predictions.labels import Labels, encode, encode_labels
from faithkit.inputs.predictions.outcome import LABELS, Outcome, as_numbers, materialise
from faithkit.inputs.rows import Rows, check_columns, check_X
from faithkit.measure.counting.design import Design
from faithkit.measure.counting.pool import Pool
from faithkit.run.components.relation_rows import RelationRows
from faithkit.run.components.setup import Applicability
from faithkit.run.populations.in_memory import InMemory
from faithkit.run.populations.row_metadata import EMPTY_METADATA, RowIds, RowMetadata
from faithkit.run.populations.sample_design import build_design
from faithkit.wording import join_few


@attrs.frozen(eq=False)
class SampleInputs:
    """The rows of a sample, and everything that belongs to them but predictions and explanations.

    Attributes
    ----------
    X : rows or None
        The columns of the sample that the model uses; None for a log without instances.
    background : rows or None
        What components may learn from: the background, else the sample itself.
    pool : PoolRows or None
        Rows that are not explained.
    design : Design or None
        The weights, clusters and blocks of the rows, those of the pool last.
    metadata : RowMetadata
        All columns of the input, the ids of the rows, and their index.
    has_units : bool
        Whether the user named clusters or blocks, so that repeated rows are expected.

    Examples
    --------
    >>> import numpy as np
    >>> inputs = SampleInputs.of_model(len, np.zeros((3, 2)), background=np.ones((5, 2)))
    >>> inputs.X.shape, inputs.background.shape, inputs.pool
    ((3, 2), (5, 2), None)
    """

    X: Rows | None
    background: Rows | None
    pool: PoolRows | None = None
    design: Design | None = None
    metadata: RowMetadata = EMPTY_METADATA
    has_units: bool = False

    @classmethod
    def of_model(
        cls, model: Any, X: Any, background: Any = None, pool: Any = None, **columns: Any
    ) -> "SampleInputs":
        """Convert the arguments of `evaluate`; `columns` are those of `with_columns`."""
        table, background = check_X(as_rows(X)), as_rows(background)
        model_X = model_background = select_model_columns(model, table)
        if background is not None and background is not table:
            model_background = select_model_columns(
                model, check_X(background, "the background"), "the background"
            )
        check_columns(model_X, model_background)
        model_background = _in_form_of(model_X, model_background)
        pool_rows = None if pool is None else PoolRows.of(pool)
        inputs = cls(model_X, model_background, pool_rows, metadata=RowMetadata(table))
        inputs = inputs.with_columns(n_rows(model_X), **columns)
        if inputs.pool is None:
            return inputs
        columns_of_model = partial(select_model_columns, model, sample_name="the pool")
        inputs = attrs.evolve(inputs, pool=inputs.pool.map(columns_of_model).like(model_X))
        return inputs.check_copies()

    @classmethod
    def of_log(
        cls, X: Rows | None, n: int, pool: Any = None, index: pd.Index | None = None, **columns: Any
    ) -> "SampleInputs":
        """Convert the arguments of `score` for n rows; `columns` are those of `with_columns`."""
        pool_rows = None if pool is None else _as_logged_pool(pool, X)
        inputs = cls(X, X, pool_rows, metadata=RowMetadata(X, index=index))
        return inputs.with_columns(n, **columns).check_copies()

    def with_columns(
        self,
        n: int,
        weights: Any = None,
        clusters: Any = None,
        blocks: Any = None,
        ids: Any = None,
        uninformative: bool = False,
    ) -> "SampleInputs":
        """Add per-row arguments of the user: one value for each of n rows, or the name of a column."""
        weights, clusters, blocks, ids = map(as_column, (weights, clusters, blocks, ids))
        table, pool = self.metadata.table, self.pool
        if blocks is not None and pool is not None and pool.is_optional:
            pool = None  # its rows may have no blocks
        return attrs.evolve(
            self,
            pool=pool,
            design=build_design(weights, clusters, blocks, table, n, pool, uninformative),
            metadata=attrs.evolve(self.metadata, ids=None if ids is None else RowIds.of(ids, table, n, pool)),
            has_units=clusters is not None or blocks is not None,
        )

    def check_copies(self) -> "SampleInputs":
        """Refuse a pool that has all explained rows, and warn about one that has some of them."""
        if self.pool is None or self.has_units:  # rows of one cluster are not checked against each other
            return self
        share = share_of_copies([self.X], self.pool.pieces())
        remedy = "leave them out of the pool (pool=, CLI: --pool)"
        if share == 1 and not self.pool.is_optional:
            raise InputError(
                "all explained rows are also in the pool, where each would be checked against its own copy: "
                f"{remedy}."
            )
        if share > MAX_COPIES:
            warn(
                f"{round(100 * share)} % of the explained rows are also in the pool, so they are checked "
                f"against their own copies, and results are optimistic: {remedy}."
            )
        return self

    def relation_rows(self, n: int) -> RelationRows:
        """Return what relations learn from, for n rows of the sample."""
        return RelationRows(self.X, n, self.background, self.pool)

    @property
    def notes(self) -> tuple[str, ...]:
        """Notes about columns that the model does not use."""
        return describe_unused_columns(self.metadata.table, self.X)

    def build_population(
        self,
        predictions: Any,
        explanations: Explanations,
        applicability: Applicability,
        outcome: Outcome,
        predictor: Predictor | None = None,
    ) -> InMemory:
        """Combine the rows with their predictions and explanations.

        The pool is left out where sufficiency's relation cannot use it. Its predictions are those of the
        predictor, or without one those that were given with it.
        """
        pool_rows = check_pool(self.pool, applicability)
        if pool_rows is None:
            labels, pool = encode(predictions, outcome), None
        else:
            encode_both = _encode_labels_with_pool if outcome.kind == LABELS else _encode_numbers_with_pool
            labels, pool = encode_both(predictions, pool_rows, pool_rows.labels(predictor, outcome), outcome)
        sizes = {"explanations": len(explanations)}
        if self.X is not None:
            sizes["rows of X"] = n_rows(self.X)
        for name, size in sizes.items():
            if size != len(labels):
                raise InputError(f"{size} {name} for {len(labels)} predictions: give one of each per row.")
        instances = self.X if explanations.instances is None else explanations.instances
        block = None if self.design is None or self.design.block is None else self.design.block[: len(labels)]
        sample = Sample(self.X, attrs.evolve(explanations, instances=instances, block=block))
        return InMemory(sample, labels, self.design, pool, self.metadata, self.has_units)


def _in_form_of(X: Rows, background: Rows) -> Rows:
    """Return the background as a DataFrame or an array, as X is one; columns go by position."""
    if isinstance(X, pd.DataFrame) and isinstance(background, np.ndarray):
        return pd.DataFrame(background, columns=X.columns).infer_objects()
    if isinstance(X, np.ndarray) and isinstance(background, pd.DataFrame):
        return background.to_numpy()
    return background


# --- pools ----------------------------------------------------------------------------------------------


def as_optional_pool(pool: Any) -> PoolRows | None:
    """Return an optional pool, which is used if possible and otherwise ignored."""
    return None if pool is None else attrs.evolve(PoolRows.of(pool), is_optional=True)


def _as_logged_pool(pool: Any, X: Rows | None) -> PoolRows:
    """Convert the `pool` argument of `score`: rows with their predictions."""
    if X is None:
        raise InputError("a pool is compared with the rows of the sample, which are missing: give them as X.")
    if isinstance(pool, PoolRows):
        return pool.like(X)
    if not isinstance(pool, tuple) or len(pool) != 2:
        raise InputError(
            f"the pool is a {type(pool).__name__}: a score has no model, so give a pair, "
            "pool=(X_more, predictions)."
        )
    rows, predictions = pool[0], materialise(pool[1])
    if not hasattr(predictions, "__len__"):
        raise InputError(f"the pool's predictions are a {type(predictions).__name__}: give a list of labels.")
    pool_rows = PoolRows.of(rows, predictions).like(X)
    if n_rows(rows) != len(predictions):
        raise InputError(
            f"{len(predictions)} predictions for {n_rows(rows)} rows of the pool: give one per row."
        )
    return pool_rows


def check_pool(pool: PoolRows | None, applicability: Applicability) -> PoolRows | None:
    """Return the pool if the relation of sufficiency can use it.

    Otherwise return None for an optional pool, and raise an error for a requested one.
    """
    if pool is None:
        return None
    relation = applicability.relation
    if relation is not None and relation.instance_only:
        return pool
    if pool.is_optional:
        return None
    if relation is None:
        obstacle = f"sufficiency is what it is for, and {applicability.why_not}"
    else:
        obstacle = (
            f"{relation} reads the explanations of the rows that it is asked about, and a pool has none; "
            "leave the pool out, or name a relation that reads the instance only"
        )
    raise InputError(f"the pool cannot be used: {obstacle}.")


# --- predictions of the sample and of the pool ----------------------------------------------------------


def _encode_labels_with_pool(
    predictions: Any, pool: PoolRows, pool_predictions: Iterable[Any], outcome: Outcome
) -> tuple[Labels, Pool]:
    """Encode the labels of the sample and of the pool with common codes."""
    labels = encode_labels(predictions)
    pool_labels = [_encode_pool_labels(piece, outcome) for piece in pool_predictions]
    decoded = [_decode(piece) for piece in (labels, *pool_labels)]
    n = len(labels)
    if sum(map(len, decoded)) == n:
        raise InputError("the pool is empty: give at least one row, or leave it out.")
    common = encode_labels(pd.concat(decoded))
    _check_common_labels(labels.classes, [label for piece in pool_labels for label in piece.classes])
    return Labels(common.codes[:n], common.classes), Pool(common.codes[n:], pool.pieces)


def _encode_numbers_with_pool(
    predictions: Any, pool: PoolRows, pool_predictions: Iterable[Any], outcome: Outcome
) -> tuple[Labels, Pool]:
    """Encode the numbers or scores of the sample and of the pool with common codes."""
    numbers = as_numbers(predictions)
    try:
        pieces = [as_numbers(piece) for piece in pool_predictions]
    except InputError as error:
        raise InputError(f"the pool: {error}") from None
    if not sum(map(len, pieces)):
        raise InputError("the pool is empty: give at least one row, or leave it out.")
    if {piece.shape[1:] for piece in pieces} != {numbers.shape[1:]}:
        raise InputError(
            "predictions of the sample and of the pool are of different shapes: write both alike."
        )
    pool_numbers = np.concatenate(pieces)
    _check_ranges_overlap(numbers, pool_numbers)
    common, n = encode(np.concatenate([numbers, pool_numbers]), outcome), len(numbers)
    return Labels(common.codes[:n], common.classes, outcome), Pool(common.codes[n:], pool.pieces)


def _encode_pool_labels(predictions: Any, outcome: Outcome) -> Labels:
    if outcome.unasked and Outcome.of(None, None, predictions).kind != LABELS:
        raise InputError(
            "the pool's predictions are numbers, and those of the sample labels: say outcome='numbers' or "
            "outcome='labels' (CLI: --outcome)."
        )
    try:
        return encode_labels(predictions)
    except InputError as error:
        raise InputError(f"the pool: {error}") from None


def _decode(labels: Labels) -> pd.Series:
    classes = np.fromiter(labels.classes, dtype=object, count=len(labels.classes))
    return pd.Series(classes[labels.codes], dtype=object)


def _check_common_labels(labels: list[Any], pool_labels: list[Any]) -> None:
    """Check that sample and pool have a label in common: raise if their types differ, else warn.

    A sample of one label, such as explained refusals, may well have a pool of other labels.
    """
    if set(labels) & set(pool_labels):
        return
    problem = (
        f"none of the pool's predictions ({join_few(map(repr, pool_labels))}) is one of the sample's "
        f"({join_few(map(repr, labels))})"
    )
    if {type(label) for label in labels} != {type(label) for label in pool_labels}:
        raise InputError(f"{problem}: write both alike.")
    if len(labels) > 1:
        warn(f"{problem}: are both written alike?")


def _check_ranges_overlap(numbers: Floats, pool_numbers: Floats) -> None:
    """Warn if all numbers of the pool are outside the sample's range, as with prices in two currencies."""
    if numbers.ndim > 1 or len(numbers) < 2:
        return
    low, high, pool_low, pool_high = numbers.min(), numbers.max(), pool_numbers.min(), pool_numbers.max()
    if pool_low > high or pool_high < low:
        warn(
            f"none of the pool's predictions ({pool_low:g} to {pool_high:g}) lies among the sample's "
            f"({low:g} to {high:g}): are both in the same unit?",
        )
