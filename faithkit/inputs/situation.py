"""What a person wants evaluated, put together from files and names: a model, a sample, a background."""

from pathlib import Path
from typing import Any

import attrs
import numpy as np

from faithkit.errors import InputError
from faithkit.inputs.datasets import dataset_names, load_dataset
from faithkit.inputs.models import default_model_names, load_model, train_default
from faithkit.inputs.rows import n_rows, take_rows
from faithkit.inputs.tables import read_table, select_columns, split_target
from faithkit.wording import few, suggest


@attrs.frozen(eq=False)
class Situation:
    """A model, the sample to judge it on, and the rows that explainers may learn from."""

    model: Any
    X: Any
    background: Any


def prepare(
    data: str,
    target: str | None = None,
    columns: str | None = None,
    text: str | None = None,
    model: str = "gradient-boosting",
    trust_pickle: bool = False,
    background: str | None = None,
    samples: int | None = None,
    seed: int = 0,
) -> Situation:
    """Load the data and the model; a default model is trained on a part, and judged on the rest.

    Examples
    --------
    >>> found = prepare("iris", samples=10)
    >>> type(found.model).__name__, len(found.X), len(found.background)
    ('GradientBoostingClassifier', 10, 99)
    """
    if columns and text:
        raise InputError("--columns and --text exclude each other: the instances are a table, or texts.")
    X, y = _load(data, target)
    if columns:
        X = select_columns(X, columns)
    if text:
        X = _texts(X, text)
    known = read_like(X, background, text) if background else None
    if model in default_model_names():
        if y is None:
            raise InputError(
                f"the default model {model} must be trained, and nobody says on what: "
                "name the column to predict with --target, or give your own --model."
            )
        fitted, learnt, X = train_default(model, X, y, seed)
        known = learnt if known is None else known
    else:
        fitted = load_model(model, trust_pickle)
    return Situation(fitted, _sampled(X, samples, seed), known)


def _load(data: str, target: str | None) -> tuple[Any, Any]:
    if data in dataset_names() and not Path(data).exists():
        dataset = load_dataset(data)
        return dataset.X, dataset.y
    if not Path(data).exists() and not Path(data).suffix:
        raise InputError(
            f"there is neither a file nor a dataset {data!r}: give a CSV or Parquet file, or one of "
            f"{few(dataset_names())}."
        )
    frame = read_table(data)
    return (frame, None) if target is None else split_target(frame, target)


def _texts(frame: Any, column: str) -> list[str]:
    if isinstance(frame, list):
        raise InputError(f"this dataset has texts only: leave --text {column} out.")
    if column not in frame.columns:
        raise InputError(f"the table has no column {column!r}. {suggest(column, map(str, frame.columns))}")
    cells = frame[column]
    if cells.isna().any():
        row = int(cells.isna().to_numpy().argmax())
        raise InputError(f"row {row} has no text in {column!r}: drop such rows, or fill them.")
    return [str(cell) for cell in cells]


def read_like(X: Any, path: str, text: str | None = None) -> Any:
    """Read another sample of the same columns as X: a background, or a reference."""
    frame = read_table(path)
    if text is not None or isinstance(X, list):
        return _texts(frame, text or "text")
    absent = [name for name in X.columns if name not in frame.columns]
    if absent:
        raise InputError(f"{path} lacks columns of the data: {few(map(str, absent))}.")
    return frame[list(X.columns)]


def _sampled(X: Any, samples: int | None, seed: int) -> Any:
    n = n_rows(X)
    if samples is None or samples >= n:
        return X
    rows = np.random.default_rng(seed).choice(n, samples, replace=False)
    return take_rows(X, np.sort(rows))
