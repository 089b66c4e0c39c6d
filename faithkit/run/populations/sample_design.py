"""The sampling design that users give: weights, clusters, blocks, and a pool of rows without explanations."""

import warnings
from collections.abc import Iterable
from typing import Any

import attrs
import numpy as np
import pandas as pd

from faithkit.arrays import Floats
from faithkit.arrays.containers import as_objects, as_series, n_rows
from faithkit.errors import FaithkitWarning, InputError
from faithkit.inputs.pools import PoolRows
from faithkit.inputs.predictions.labels import Labels, encode, encode_labels
from faithkit.inputs.predictions.outcome import LABEL_OUTCOME, LABELS, Outcome, as_numbers, materialise
from faithkit.measure.counting.design import Design, read_clusters
from faithkit.measure.counting.owners import Counts
from faithkit.measure.counting.pool import Pool
from faithkit.run.components.setup import Applicability
from faithkit.run.explaining.job import Job
from faithkit.run.populations.row_groups import find_column
from faithkit.wording import join_few

# --- weights, clusters and blocks -----------------------------------------------------------------------


def build_design(
    weights: Any,
    clusters: Any,
    X: Any,
    n: int,
    pool: PoolRows | None = None,
    uninformative: bool = False,
) -> Design | None:
    """Build the design from weights and clusters; None where there are neither.

    Each is one value per row, or the name of a column of X. With a pool, the values of its rows come last.
    """
    if weights is None and clusters is None:
        check_declared(uninformative)
        return None
    n_pool = count_pool_rows(pool)
    values_by_role = {
        role: None if values is None else row_values(values, role, X, pool)
        for role, values in (("weights", weights), ("clusters", clusters))
    }
    for role, values in values_by_role.items():
        if n_pool and values is not None and hasattr(values, "__len__") and len(values) == n:
            raise InputError(
                f"{n} {role}, and the pool has {n_pool} rows more: give {n + n_pool}, those of its rows last."
            )
    return Design.of(values_by_role["weights"], values_by_role["clusters"], n + n_pool, uninformative)


def build_blocks(
    blocks: Any, X: Any, n: int, weights: Any = None, clusters: Any = None, pool: PoolRows | None = None
) -> Counts | None:
    """Return the number of each row's block; None where there are no blocks.

    They are one value per row, or the name of a column of X. Rows in blocks have no weights, no clusters and
    no pool, except an optional one, which is ignored.

    Examples
    --------
    >>> build_blocks(["q1", "q2", "q1"], None, 3)
    array([0, 1, 0])
    """
    if blocks is None:
        return None
    _check_blocks_alone(weights, clusters, pool)
    codes, names = read_clusters(row_values(blocks, "blocks", X, None), n, role="blocks")
    if len(names) == n:
        raise InputError(
            f"each of the {n:,} rows is a block of its own, so none can be checked against another: give a "
            "column in which rows share values, or leave the blocks out."
        )
    if len(names) == 1:
        raise InputError(
            "all rows are of one block, so blocks divide nothing: give a column that tells several blocks "
            "apart, or leave the blocks out."
        )
    return codes


def _check_blocks_alone(weights: Any, clusters: Any, pool: PoolRows | None) -> None:
    """Refuse blocks together with clusters, weights or a requested pool."""
    if clusters is not None:
        raise InputError(
            "rows of one block are compared only with each other, and rows of one cluster never: give either "
            "blocks or clusters."
        )
    if weights is not None:
        raise InputError("rows in blocks count alike: leave out the weights, or the blocks.")
    if pool is not None and not pool.is_optional:
        raise InputError(
            "rows are compared only within their block, and the rows of a pool have none: leave out the "
            "pool, or the blocks."
        )


def check_declared(uninformative: bool) -> None:
    """Refuse the declaration `uninformative` where there are no weights and no clusters."""
    if uninformative:
        raise InputError(
            "uninformative is said of weights and clusters, and there are none: give weights= or clusters= "
            "(CLI: --weights, --clusters), or leave it out."
        )


def row_values(values: Any, role: str, X: Any, pool: PoolRows | None) -> Any:
    """Return the weights, clusters, blocks or ids of the sample's rows, followed by those of the pool's rows.

    `values` is one value per row, or the name of a column of X. The pool's values are left out if they are
    unknown.
    """
    if pd.api.types.is_scalar(values):
        pieces = [] if pool is None else pool.pieces()
        return _concat_columns([find_column(values, rows, f"of {role}") for rows in (X, *pieces)])
    pool_values = getattr(pool, role, None)
    return values if pool_values is None else _concat_columns([values, pool_values])


def count_pool_rows(pool: PoolRows | None) -> int:
    """Return the number of rows of a pool."""
    return 0 if pool is None else sum(n_rows(piece) for piece in pool.pieces())


def _concat_columns(columns: list[Any]) -> "pd.Series[Any]":
    """Concatenate columns as objects, so that no value changes where their dtypes differ."""
    values = as_series(np.concatenate([as_objects(column) for column in columns]))
    return values.rename(getattr(columns[0], "name", None))


def restrict_design(design: Design | None, n: int, pool: Pool | None) -> Design | None:
    """Return the design of the explained rows alone, where an optional pool is not used."""
    return design if design is None or pool is not None or len(design) == n else design.take(np.arange(n))


# --- pools ----------------------------------------------------------------------------------------------


def as_optional_pool(pool: Any) -> PoolRows | None:
    """Return an optional pool: it is used where possible, and ignored elsewhere."""
    return None if pool is None else attrs.evolve(PoolRows.of(pool), is_optional=True)


def as_logged_pool(pool: Any, X: Any) -> PoolRows:
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


def require_sufficiency(applicability: Applicability, pool: PoolRows | None) -> Applicability:
    """Mark sufficiency as requested if the user gave a pool, because a pool has no other use."""
    return (
        applicability if pool is None or pool.is_optional else attrs.evolve(applicability, is_requested=True)
    )


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


def encode_predictions(
    predictions: Any,
    pool: PoolRows | None,
    applicability: Applicability,
    outcome: Outcome = LABEL_OUTCOME,
    job: Job | None = None,
) -> tuple[Labels, Pool | None]:
    """Encode the predictions of the sample, and those of the pool if it can be used.

    The pool's predictions are those of the job's model, or without a job those that were given with it.
    """
    pool_rows = check_pool(pool, applicability)
    if pool_rows is None:
        return encode(predictions, outcome), None
    pool_predictions = pool_rows.labels(None if job is None else job.predictor, outcome)
    if outcome.kind == LABELS:
        return _encode_labels_with_pool(predictions, pool_rows, pool_predictions, outcome)
    return _encode_numbers_with_pool(predictions, pool_rows, pool_predictions, outcome)


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
        warnings.warn(f"{problem}: are both written alike?", FaithkitWarning, stacklevel=5)


def _check_ranges_overlap(numbers: Floats, pool_numbers: Floats) -> None:
    """Warn if all numbers of the pool are outside the sample's range, as with prices in two currencies."""
    if numbers.ndim > 1 or len(numbers) < 2:
        return
    low, high, pool_low, pool_high = numbers.min(), numbers.max(), pool_numbers.min(), pool_numbers.max()
    if pool_low > high or pool_high < low:
        warnings.warn(
            f"none of the pool's predictions ({pool_low:g} to {pool_high:g}) lies among the sample's "
            f"({low:g} to {high:g}): are both in the same unit?",
            FaithkitWarning,
            stacklevel=5,
        )
