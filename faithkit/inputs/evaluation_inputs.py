"""What a person wants evaluated, put together from files and names: a model, a sample, a background."""

import os
import warnings
from pathlib import Path
from typing import Any

import attrs
import numpy as np
import pandas as pd

from faithkit.arrays.containers import n_rows, take_rows
from faithkit.errors import FaithkitWarning, InputError, UnknownComponentError
from faithkit.inputs.column_codes import is_category
from faithkit.inputs.datasets import load_dataset
from faithkit.inputs.date_texts import dates_like, with_dates
from faithkit.inputs.files.array_files import is_array, read_array
from faithkit.inputs.files.column_patterns import match_name, match_names, split_target, suggest_column
from faithkit.inputs.files.column_roles import Table, check_texts
from faithkit.inputs.files.discovery import is_pattern
from faithkit.inputs.files.parquet import ParquetTable, is_parquet
from faithkit.inputs.files.table_files import open_table
from faithkit.inputs.models.default_models import DEFAULTS, train_default
from faithkit.inputs.models.model_columns import names_of, seen_by
from faithkit.inputs.models.model_loading import load_model
from faithkit.inputs.pools import PoolRows, check_names, said, streamed
from faithkit.inputs.predictions.outcome import NUMBERS

FEWEST_IDS = 20  # rows: of fewer, words may well all differ
_ROLES = {"--weights": "weights", "--clusters": "clusters", "--id": "ids"}


@attrs.frozen(eq=False)
class EvaluationInputs:
    """A model, the sample to judge it on, and the rows that explainers may learn from.

    `groups`, `weights`, `clusters` and `ids` have a value for every row of the sample, where they were asked
    for, and `pool` has further rows: those of a file, or those that were not drawn.
    """

    model: Any
    X: Any
    background: Any
    groups: Any = None
    seed: int = 0
    weights: Any = None
    uninformative: bool = False
    clusters: Any = None
    ids: Any = None
    pool: PoolRows | None = None

    def question(self) -> dict[str, Any]:
        """Return what `evaluate` and `compare` are asked about."""
        names = ("model", "X", "background", "seed", "weights", "clusters", "uninformative", "pool")
        return {name: getattr(self, name) for name in names}

    def read_like(self, path: str, text: str | None = None) -> Any:
        """Read another sample with the columns that the model sees."""
        return read_like(seen_by(self.model, self.X), path, text)


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
    uninformative: bool = False,
    pool: str | None = None,
    outcome: str | None = None,
    drop: str | None = None,
    id: str | None = None,
) -> EvaluationInputs:
    """Load the data and the model; a default model is trained on a part, and judged on the rest.

    The groups `by` may come from any column of the data, shown to the model or not. A model that knows its
    columns sees these. Any other sees all but those that it is to `drop`; those of weights, clusters and ids
    only if `columns` names them. Rows that could have been drawn and were not
    are offered as a pool, unless `pool` is a file, or "none". The `outcome` says what the target is, where
    that is not left to its values: see `train_default`.

    Examples
    --------
    >>> found = prepare("iris", samples=10)
    >>> type(found.model).__name__, len(found.X), len(found.background)
    ('GradientBoostingClassifier', 10, 99)
    """
    if columns and text:
        raise InputError("--columns and --text exclude each other: the instances are a table, or texts.")
    X, y, table = _load(data, target, outcome)
    groups = None if by is None else _column(table, by, "--by")
    named = {"--weights": weights, "--clusters": clusters, "--id": id}
    beside = {flag: None if name is None else _column(table, name, flag) for flag, name in named.items()}
    loaded = None if model in DEFAULTS else load_model(model, trust_pickle, trust_types, _split(classes))
    others = [one.name for one in beside.values() if one is not None] if names_of(loaded) is None else []
    X = _shown(X, columns, drop, others)
    X = _texts(X, text, table) if text else with_dates(X, loaded)
    if loaded is None and classes:
        raise InputError("--classes names the scores of a model of your own: leave it out without --model.")
    known = read_like(seen_by(loaded, X), background, text) if background else None
    fitted, rows = loaded, np.arange(n_rows(X))
    if loaded is None:
        _warn_of_ids(X)
        fitted, train, rows = _trained(model, X, y, seed, outcome)
        known = take_rows(X, train) if known is None else known
    drawn = _drawn(rows, samples, seed)
    sample = X if len(drawn) == n_rows(X) else take_rows(X, drawn)
    more = None
    if pool is None:
        more = _rest(X, np.setdiff1d(rows, drawn), beside)
    elif pool != "none":
        more = _from_file(pool, seen_by(fitted, sample), text, named)
    mine = {_ROLES[flag]: _at(one, drawn) for flag, one in beside.items()}
    mine["uninformative"] = uninformative
    return EvaluationInputs(fitted, sample, known, _at(groups, drawn), seed, pool=more, **mine)


def _warn_of_ids(X: Any) -> None:
    """Say which columns of words have another word in every row: no model learns from names of rows."""
    if not isinstance(X, pd.DataFrame) or len(X) < FEWEST_IDS:
        return
    for name, column in X.items():
        if column.dtype.kind in "OU" and is_category(column) and column.nunique() == len(X):
            warnings.warn(
                f"column {str(name)!r} has another value in every row: no model learns from it, and "
                f"explainers do not know the values of other rows. "
                f"If it names the rows write --id {name}, else --drop "
                f"{name}.",
                FaithkitWarning,
                stacklevel=3,
            )


def _split(classes: str | None) -> list[str] | None:
    """Return labels that were written with commas between."""
    return None if classes is None else [label.strip() for label in classes.split(",")]


def _trained(
    model: str, X: Any, y: Any, seed: int, outcome: str | None
) -> tuple[Any, np.ndarray, np.ndarray]:
    if y is None:
        named = "" if isinstance(X, np.ndarray) else "name the column to predict with --target, or "
        raise InputError(
            f"the default model {model} must be trained, and nobody says on what: "
            f"{named}give your own --model."
        )
    numbers = isinstance(y, np.ndarray) and y.dtype.kind == "f"  # a dataset says what its target is
    return train_default(model, X, y, seed, outcome or (NUMBERS if numbers else None))


def _load(data: str, target: str | None, outcome: str | None) -> tuple[Any, Any, Any]:
    """Return the features, the target where there is one, and all columns as they were read."""
    if not os.path.exists(data) and not Path(data).suffix and not is_pattern(data):
        try:
            dataset = load_dataset(data)
        except UnknownComponentError as error:
            raise InputError(f"there is no file {data!r}, and {error}") from None
        return dataset.X, dataset.y, dataset.X
    if is_array(data):
        X = read_array(data)
        if target is not None:
            raise _nameless(X, f"--target {target}")
        return X, None, X
    table = open_table(data)
    frame = table.frame(categories=True)
    if target is None:
        return frame, None, table
    X, _ = split_target(frame, target)
    return X, table.predictions([target], outcome), table


def _shown(X: Any, columns: str | None, drop: str | None, beside: list[str]) -> Any:
    """Return what the model sees: the columns that were asked for, or all but what is said beside of rows."""
    if not isinstance(X, pd.DataFrame):
        for flag, given in (("--columns", columns), ("--drop", drop)):
            if given:
                raise _nameless(X, f"{flag} {given}")
        return X
    every = list(X.columns)
    shown = match_names(every, columns) if columns else [name for name in every if name not in beside]
    dropped = set(match_names(every, drop)) if drop else set()
    kept = [name for name in shown if name not in dropped]
    if not kept:
        raise InputError("no column is left for the model: take fewer out (--drop, --weights, --clusters).")
    return X if kept == every else X[kept]


def _nameless(X: Any, option: str) -> InputError:
    what = "texts only" if isinstance(X, list) else f"rows of shape {X.shape[1:]}"
    return InputError(f"this data has {what}, and no columns with names: leave {option} out.")


def _column(table: Any, name: str, flag: str) -> Any:
    if isinstance(table, list | np.ndarray):
        raise _nameless(table, f"{flag} {name}")
    if not isinstance(table, Table):
        return table[match_name(list(table.columns), name, flag)]
    return said(table, name, flag)


def _rest(X: Any, rows: np.ndarray, beside: dict[str, Any]) -> PoolRows | None:
    """Offer the rows that nobody drew as a pool."""
    if not len(rows):
        return None
    theirs = {_ROLES[flag]: _at(column, rows) for flag, column in beside.items()}
    return attrs.evolve(PoolRows.of(take_rows(X, rows)), offered=True, **theirs)


def _from_file(pool: str, sample: Any, text: str | None, named: dict[str, str | None]) -> PoolRows:
    """Read a pool, and its weights and clusters where the sample has some."""
    asked = {flag: name for flag, name in named.items() if name is not None}
    table = open_table(pool) if asked else None
    theirs = {_ROLES[flag]: _column(table, name, flag) for flag, name in asked.items()}
    return attrs.evolve(read_pool(pool, sample, text), **theirs)


def _at(column: Any, rows: np.ndarray) -> Any:
    return None if column is None else column.iloc[rows]


def _texts(frame: Any, column: str, table: Any) -> list[str]:
    if not isinstance(frame, pd.DataFrame):
        raise _nameless(frame, f"--text {column}")
    if column not in frame.columns:
        raise InputError(f"the table has no column {column!r}. {suggest_column(column, frame.columns)}")
    return check_texts(table.texts(column) if isinstance(table, Table) else frame[column], column)


def read_like(X: Any, path: str, text: str | None = None) -> Any:
    """Read another sample of the same columns as X: a background, or a reference."""
    if is_array(path):
        return read_array(path)
    if isinstance(X, np.ndarray):
        raise InputError(
            f"the data has rows of shape {X.shape[1:]}, and {path} is no array: give a .npy file."
        )
    table = open_table(path)
    frame = table.frame(categories=True)
    if text is not None or isinstance(X, list):
        return _texts(frame, text or "text", table)
    check_names(path, X.columns, frame.columns)
    return dates_like(X, frame[list(X.columns)], path)


def read_pool(path: str, X: Any, text: str | None = None) -> PoolRows:
    """Read a pool with the columns of X: Parquet in pieces, however long, and all else at once."""
    if text is not None or not isinstance(X, pd.DataFrame) or not is_parquet(path):
        return PoolRows.of(read_like(X, path, text))
    whole = ParquetTable.open(Path(path))
    check_names(path, X.columns, whole.columns)
    return PoolRows(streamed(whole.using(list(X.columns))))


def _drawn(rows: np.ndarray, samples: int | None, seed: int) -> np.ndarray:
    n = len(rows)
    if samples is None or samples >= n:
        return rows
    return rows[np.sort(np.random.default_rng(seed).choice(n, samples, replace=False))]
