"""How the rows of a sample were drawn, as people say it: weights, clusters, and a pool beside it."""

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
from faithkit.inputs.predictions.outcome import LABELS, OF_LABELS, Outcome, as_numbers, gone_through
from faithkit.measure.counting.design import Design
from faithkit.measure.counting.pool import Pool
from faithkit.run.components.setup import Applicability
from faithkit.run.explaining.job import Job
from faithkit.run.populations.row_groups import column
from faithkit.wording import few


def offered(pool: Any) -> PoolRows | None:
    """Return a pool that is used where it can be, and no fault where it cannot."""
    return None if pool is None else attrs.evolve(PoolRows.of(pool), offered=True)


def design_of(
    weights: Any,
    clusters: Any,
    X: Any,
    n: int,
    pool: PoolRows | None = None,
    uninformative: bool = False,
) -> Design | None:
    """Return what weights and clusters say, each one value per row or the name of a column of X.

    With a pool, the values of its rows come last.
    """
    if weights is None and clusters is None:
        check_declared(uninformative)
        return None
    n_pool = 0 if pool is None else sum(n_rows(piece) for piece in pool.pieces())
    given = [
        None if one is None else values_of(one, what, X, pool)
        for one, what in ((weights, "weights"), (clusters, "clusters"))
    ]
    for one, what in zip(given, ("weights", "clusters"), strict=True):
        if n_pool and one is not None and hasattr(one, "__len__") and len(one) == n:
            raise InputError(
                f"{n} {what}, and the pool has {n_pool} rows more: give {n + n_pool}, those of its rows last."
            )
    return Design.of(given[0], given[1], n + n_pool, uninformative)


def check_declared(uninformative: bool) -> None:
    """Refuse what is declared of weights and clusters that nobody gave."""
    if uninformative:
        raise InputError(
            "uninformative is said of weights and clusters, and there are none: give weights= or clusters= "
            "(CLI: --weights, --clusters), or leave it out."
        )


def values_of(given: Any, what: str, X: Any, pool: PoolRows | None) -> Any:
    """Return weights, clusters or ids of the sample's rows, and of a pool's behind them if they are known."""
    if pd.api.types.is_scalar(given):
        pieces = [] if pool is None else pool.pieces()
        return _joined([column(given, rows, f"of {what}") for rows in (X, *pieces)])
    pool_values = getattr(pool, what, None)
    return given if pool_values is None else _joined([given, pool_values])


def _joined(columns: list[Any]) -> "pd.Series[Any]":
    """Put columns below each other; their dtypes may differ, and no value changes."""
    values = as_series(np.concatenate([as_objects(one) for one in columns]))
    return values.rename(getattr(columns[0], "name", None))


def usable(pool: PoolRows | None, applies: Applicability) -> PoolRows | None:
    """Return the pool if explanations can be checked against it; refuse one that was asked for and cannot."""
    if pool is None:
        return None
    relation, why_not = applies.relation, None
    if relation is None:
        why_not = f"sufficiency is what it is for, and {applies.why_not}"
    elif not relation.instance_only:
        why_not = (
            f"{relation} reads the explanations of the rows that it is asked about, and a pool has none; "
            "leave the pool out, or name a relation that reads the instance only"
        )
    if why_not is None:
        return pool
    if pool.offered:
        return None
    raise InputError(f"the pool cannot be used: {why_not}.")


def logged(pool: Any, X: Any) -> PoolRows:
    """Take a pool with its predictions, as `score` is given it."""
    if X is None:
        raise InputError("a pool is checked by its instances: give those of the sample, too, as X.")
    if isinstance(pool, PoolRows):
        return pool.like(X)
    if not isinstance(pool, tuple) or len(pool) != 2:
        raise InputError(
            f"the pool is a {type(pool).__name__}: a score has no model, so give a pair, "
            "pool=(X_more, predictions)."
        )
    rows, predictions = pool[0], gone_through(pool[1])
    if not hasattr(predictions, "__len__"):
        raise InputError(f"the pool's predictions are a {type(predictions).__name__}: give a list of labels.")
    found = PoolRows.of(rows, predictions).like(X)
    if n_rows(rows) != len(predictions):
        raise InputError(
            f"{len(predictions)} predictions for {n_rows(rows)} rows of the pool: give one per row."
        )
    return found


def pooled(
    predictions: Any, rows: PoolRows, theirs: Iterable[Any], outcome: Outcome = OF_LABELS
) -> tuple[Labels, Pool]:
    """Give the predictions of the sample and of the pool common codes."""
    mine, others = encode_labels(predictions), [_pool_labels(one, outcome) for one in theirs]
    parts = [_decoded(one) for one in (mine, *others)]
    n, size = len(parts[0]), sum(map(len, parts))
    if size == n:
        raise InputError("the pool is empty: give at least one row, or leave it out.")
    found = encode_labels(pd.concat(parts))
    _check_shared(mine.classes, [label for one in others for label in one.classes])
    return Labels(found.codes[:n], found.classes), Pool(found.codes[n:], rows.pieces)


def pooled_numbers(
    predictions: Any, rows: PoolRows, theirs: Iterable[Any], outcome: Outcome
) -> tuple[Labels, Pool]:
    """Give numbers or scores of the sample and of the pool common codes."""
    mine = as_numbers(predictions)
    try:
        others = [as_numbers(one) for one in theirs]
    except InputError as error:
        raise InputError(f"the pool: {error}") from None
    if not sum(map(len, others)):
        raise InputError("the pool is empty: give at least one row, or leave it out.")
    if {one.shape[1:] for one in others} != {mine.shape[1:]}:
        raise InputError(
            "predictions of the sample and of the pool are of different shapes: write both alike."
        )
    _check_range(mine, np.concatenate(others))
    found, n = encode(np.concatenate([mine, *others]), outcome), len(mine)
    return Labels(found.codes[:n], found.classes, outcome), Pool(found.codes[n:], rows.pieces)


def _pool_labels(predictions: Any, outcome: Outcome) -> Labels:
    if outcome.unasked and Outcome.of(None, None, predictions).kind != LABELS:
        raise InputError(
            "the pool's predictions are numbers, and those of the sample labels: say outcome='numbers' or "
            "outcome='labels' (CLI: --outcome)."
        )
    try:
        return encode_labels(predictions)
    except InputError as error:
        raise InputError(f"the pool: {error}") from None


def _decoded(labels: Labels) -> pd.Series:
    classes = np.fromiter(labels.classes, dtype=object, count=len(labels.classes))
    return pd.Series(classes[labels.codes], dtype=object)


def _check_shared(mine: list[Any], theirs: list[Any]) -> None:
    """Refuse, or where it may be so say, that the pool has none of the sample's predictions."""
    if set(mine) & set(theirs):
        return
    said = (
        f"none of the pool's predictions ({few(map(repr, theirs))}) is one of the sample's "
        f"({few(map(repr, mine))})"
    )
    if {type(label) for label in mine} != {type(label) for label in theirs}:
        raise InputError(f"{said}: write both alike.")
    warnings.warn(f"{said}: are both written alike?", FaithkitWarning, stacklevel=5)


def _check_range(mine: Floats, theirs: Floats) -> None:
    """Say that no number of the pool lies among those of the sample, as with prices in another currency."""
    ends = [(f"{one.min():g}", f"{one.max():g}") for one in (theirs, mine)]
    if mine.ndim == 1 and len(mine) > 1 and (theirs.min() > mine.max() or theirs.max() < mine.min()):
        said = "none of the pool's predictions ({} to {}) lies among the sample's ({} to {})"
        warnings.warn(
            f"{said.format(*ends[0], *ends[1])}: are both in the same unit?", FaithkitWarning, stacklevel=5
        )


def labelled(
    predictions: Any,
    pool: PoolRows | None,
    applies: Applicability,
    outcome: Outcome = OF_LABELS,
    job: Job | None = None,
) -> tuple[Labels, Pool | None]:
    """Encode the predictions, and those of a pool that can be used: logged ones, or by the job's model."""
    rows = usable(pool, applies)
    if rows is None:
        return encode(predictions, outcome), None
    theirs = rows.labels(None if job is None else job.predictor, outcome)
    if outcome.kind == LABELS:
        return pooled(predictions, rows, theirs, outcome)
    return pooled_numbers(predictions, rows, theirs, outcome)


def needed(applies: Applicability, pool: PoolRows | None) -> Applicability:
    """Let sufficiency be asked for where somebody gave a pool, which is of no other use."""
    return applies if pool is None or pool.offered else attrs.evolve(applies, asked_for=True)


def of_sample(design: Design | None, n: int, pool: Pool | None) -> Design | None:
    """Return the design of the explained rows alone, where a pool that was offered is not used."""
    return design if design is None or pool is not None or len(design) == n else design.take(np.arange(n))
