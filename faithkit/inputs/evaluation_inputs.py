"""Prepare the inputs of an evaluation from files and names: a model, a sample, a background, a pool."""

import os
from functools import partial
from pathlib import Path
from typing import Any

import attrs
import numpy as np
import pandas as pd

from faithkit.arrays.containers import Rows, n_rows, take_rows
from faithkit.arrays.row_random import create_generator
from faithkit.errors import InputError, UnknownComponentError, warn
from faithkit.inputs.column_codes import holds_words
from faithkit.inputs.datasets import load_dataset
from faithkit.inputs.date_texts import dates_like, with_dates
from faithkit.inputs.files.column_patterns import match_name, match_names
from faithkit.inputs.files.discovery import is_pattern
from faithkit.inputs.files.parquet import ParquetTable, is_parquet
from faithkit.inputs.files.table import Table, check_texts
from faithkit.inputs.files.table_files import is_array, open_table, read_array
from faithkit.inputs.models.default_models import DEFAULTS, train_default
from faithkit.inputs.models.model_columns import fitted_columns, select_model_columns
from faithkit.inputs.models.model_loading import load_model
from faithkit.inputs.pools import FLAGS, PoolRows, check_has_columns, read_metadata
from faithkit.inputs.predictions.outcome import NUMBERS

FEWEST_IDS = 20  # rows; in fewer rows, words may all differ by chance
_POOL_ROLES = ("weights", "clusters", "blocks", "ids")


@attrs.frozen(eq=False)
class EvaluationInputs:
    """A model, the sample whose explanations are evaluated, and the background for explainers.

    `groups`, `weights`, `clusters`, `blocks` and `ids` have one value per row of the sample, or are None.
    `pool` has further rows: those of a file, or those that were not sampled. `target` is what the model
    should predict, if that is known. `is_held_out` tells whether the model was trained here, on other rows.
    """

    model: Any
    X: Rows
    background: Rows
    groups: pd.Series | None = None
    seed: int = 0
    weights: pd.Series | None = None
    uninformative: bool = False
    clusters: pd.Series | None = None
    blocks: pd.Series | None = None
    ids: pd.Series | None = None
    pool: PoolRows | None = None
    target: Any = None
    is_held_out: bool = False

    def evaluation_arguments(self) -> dict[str, Any]:
        """Return the arguments for `evaluate` and `compare`."""
        names = ("model", "X", "background", "seed", "weights", "clusters", "blocks", "uninformative", "pool")
        return {name: getattr(self, name) for name in names}


def prepare(
    data: str,
    target: str | None = None,
    columns: str | None = None,
    text: str | None = None,
    model: str = "gradient-boosting",
    trust_pickle: bool = False,
    trust_types: str = "",
    classes: str | None = None,
    background: str | None = None,
    samples: int | None = None,
    seed: int = 0,
    by: str | None = None,
    weights: str | None = None,
    clusters: str | None = None,
    blocks: str | None = None,
    uninformative: bool = False,
    pool: str | None = None,
    outcome: str | None = None,
    drop: str | None = None,
    id: str | None = None,
) -> EvaluationInputs:
    """Load the data and the model; a default model is trained on some rows and evaluated on the others.

    The groups `by` may be any column of the data, even one that the model does not use. A model that names
    its columns gets these. Any other model gets all columns except those in `drop`; it gets the columns of
    weights, clusters, blocks and ids only if `columns` names them. Rows that were not sampled become an
    optional pool, unless `pool` is a file, or "none", or there are blocks. The `outcome` declares the kind of
    the target; by default its values decide, see `train_default`.

    Examples
    --------
    >>> inputs = prepare("iris", samples=10)
    >>> type(inputs.model).__name__, len(inputs.X), len(inputs.background)
    ('GradientBoostingClassifier', 10, 99)
    """
    if columns and text:
        raise InputError("--columns and --text exclude each other: the instances are a table, or texts.")
    X, y, table = _load(data, target, outcome)
    options = {"groups": by, "weights": weights, "clusters": clusters, "ids": id, "blocks": blocks}
    patterns = {role: pattern for role, pattern in options.items() if pattern is not None}
    metadata = {role: _read_column(table, role, pattern) for role, pattern in patterns.items()}
    user_model = (
        None
        if model in DEFAULTS
        else load_model(model, trust_pickle=trust_pickle, trust_types=trust_types, classes=_split(classes))
    )
    metadata_columns = [column.name for role, column in metadata.items() if role != "groups"]
    X = _select_columns(X, columns, drop, metadata_columns if fitted_columns(user_model) is None else [])
    X = _read_texts(X, text, table) if text else with_dates(X, user_model)
    if user_model is None and classes:
        raise InputError("--classes names the scores of a model of your own: leave it out without --model.")
    background_rows = read_like(select_model_columns(user_model, X), background, text) if background else None
    fitted_model, candidates = user_model, np.arange(n_rows(X))
    if user_model is None:
        _warn_about_ids(X)
        fitted_model, training_rows, candidates = _train(model, X, y, seed, outcome)
        background_rows = take_rows(X, training_rows) if background_rows is None else background_rows
    rows = _draw(candidates, samples, seed)
    sample = X if len(rows) == n_rows(X) else take_rows(X, rows)
    pool_rows = None
    if pool is None and blocks is None:
        pool_rows = _offer_pool(X, np.setdiff1d(candidates, rows), metadata)
    elif pool not in (None, "none"):
        pool_rows = _read_pool(pool, select_model_columns(fitted_model, sample), text, patterns)
    return EvaluationInputs(
        fitted_model,
        sample,
        background_rows,
        seed=seed,
        uninformative=uninformative,
        pool=pool_rows,
        target=None if y is None else np.asarray(y)[rows],
        is_held_out=user_model is None,
        **{role: column.iloc[rows] for role, column in metadata.items()},
    )


def _warn_about_ids(X: Rows) -> None:
    """Warn about columns with a different word in every row: no model learns from ids."""
    if not isinstance(X, pd.DataFrame) or len(X) < FEWEST_IDS:
        return
    for name, column in X.items():
        if holds_words(column) and column.nunique() == len(X):
            warn(
                f"column {str(name)!r} has another value in every row: no model learns from it, and "
                "explainers do not know the values of other rows. "
                f"If it names the rows write --id {name}, else --drop {name}.",
            )


def _split(classes: str | None) -> list[str] | None:
    """Split labels at commas."""
    return None if classes is None else [label.strip() for label in classes.split(",")]


def _train(model: str, X: Rows, y: Any, seed: int, outcome: str | None) -> tuple[Any, np.ndarray, np.ndarray]:
    if y is None:
        advice = "" if isinstance(X, np.ndarray) else "name the column to predict with --target, or "
        raise InputError(
            f"the default model {model} must be trained, and there is no target: {advice}give your own "
            "--model."
        )
    is_number = isinstance(y, np.ndarray) and y.dtype.kind == "f"  # a dataset declares its target
    return train_default(model, X, y, seed, outcome or (NUMBERS if is_number else None))


def _load(data: str, target: str | None, outcome: str | None) -> tuple[Any, Any, Any]:
    """Return the features, the target or None, and all columns as they were read."""
    if not os.path.exists(data) and not Path(data).suffix and not is_pattern(data):
        try:
            dataset = load_dataset(data)
        except UnknownComponentError as error:
            raise InputError(f"there is no file {data!r}, and {error}") from None
        return dataset.X, dataset.y, dataset.X
    if is_array(data):
        X = read_array(data)
        if target is not None:
            raise _no_names_error(X, f"--target {target}")
        return X, None, X
    table = open_table(data)
    frame = table.frame(categories=True)
    if target is None:
        return frame, None, table
    name = match_name(table.names, target, "--target")
    return frame.drop(columns=name), table.predictions([name], outcome), table


def _select_columns(X: Rows, columns: str | None, drop: str | None, metadata_columns: list[str]) -> Rows:
    """Return the model's columns: those in `columns` or all except metadata, minus those in `drop`."""
    if not isinstance(X, pd.DataFrame):
        for flag, patterns in (("--columns", columns), ("--drop", drop)):
            if patterns:
                raise _no_names_error(X, f"{flag} {patterns}")
        return X
    names = list(X.columns)
    default = [name for name in names if name not in metadata_columns]
    included = set(match_names(names, columns) if columns else default)
    dropped = set(match_names(names, drop)) if drop else set()
    model_columns = [name for name in names if name in included - dropped]
    if not model_columns:
        raise InputError(
            "no column is left for the model: take fewer out (--drop, --weights, --clusters, --blocks)."
        )
    return X if model_columns == names else X[model_columns]


def _no_names_error(X: Rows, option: str) -> InputError:
    content = "texts only" if isinstance(X, list) else f"rows of shape {X.shape[1:]}"
    return InputError(f"this data has {content}, and no columns with names: leave {option} out.")


def _read_column(table: Any, role: str, pattern: str) -> "pd.Series[Any]":
    if isinstance(table, list | np.ndarray):
        raise _no_names_error(table, f"{FLAGS[role]} {pattern}")
    if isinstance(table, Table):
        return read_metadata(table, role, pattern)
    return table[match_name(list(table.columns), pattern, FLAGS[role])]


def _offer_pool(X: Rows, rows: np.ndarray, metadata: dict[str, Any]) -> PoolRows | None:
    """Return the rows that were not sampled as an optional pool."""
    if not len(rows):
        return None
    columns = {role: metadata[role].iloc[rows] for role in _POOL_ROLES if role in metadata}
    return PoolRows.of(take_rows(X, rows), is_optional=True, **columns)


def _read_pool(path: str, X: Rows, text: str | None, patterns: dict[str, str]) -> PoolRows:
    """Read a pool with the columns of X and the metadata of the sample; Parquet is read in pieces."""
    pool_patterns = {role: patterns[role] for role in _POOL_ROLES if role in patterns}
    table = open_table(path) if pool_patterns else None
    metadata = {role: _read_column(table, role, pattern) for role, pattern in pool_patterns.items()}
    if text is not None or not isinstance(X, pd.DataFrame) or not is_parquet(path):
        return PoolRows.of(read_like(X, path, text), **metadata)
    table_on_disk = ParquetTable.open(Path(path))
    check_has_columns(path, X.columns, table_on_disk.columns)
    return PoolRows(partial(table_on_disk.select(list(X.columns)).frames, categories=True), **metadata)


def _read_texts(frame: Any, column: str, table: Any) -> list[str]:
    if not isinstance(frame, pd.DataFrame):
        raise _no_names_error(frame, f"--text {column}")
    name = match_name(list(frame.columns), column, "--text")
    return check_texts(table.texts(name) if isinstance(table, Table) else frame[name], name)


def read_like(X: Rows, path: str, text: str | None = None) -> Rows:
    """Read another sample with the columns of X: a background or a pool."""
    if is_array(path):
        return read_array(path)
    if isinstance(X, np.ndarray):
        raise InputError(
            f"the data has rows of shape {X.shape[1:]}, and {path} is no array: give a .npy file."
        )
    table = open_table(path)
    frame = table.frame(categories=True)
    if text is not None or isinstance(X, list):
        return _read_texts(frame, text or "text", table)
    check_has_columns(path, X.columns, frame.columns)
    return dates_like(X, frame[list(X.columns)], path)


def _draw(rows: np.ndarray, samples: int | None, seed: int) -> np.ndarray:
    """Draw a random sample of rows, in their order; return all rows if there are no more."""
    n = len(rows)
    if samples is None or samples >= n:
        return rows
    return rows[np.sort(create_generator(seed).choice(n, samples, replace=False))]
