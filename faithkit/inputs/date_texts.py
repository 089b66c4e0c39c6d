"""Find dates among the texts of CSV and JSON Lines files.

Such a file does not say which texts are dates, so the model decides. A column whose texts are all dates is
read as dates if the model accepts dates and does not predict otherwise for texts.
"""

import contextlib
import warnings
from typing import Any

import pandas as pd

from faithkit.errors import InputError
from faithkit.explanations.dates import is_date_column
from faithkit.inputs.models.model_columns import select_model_columns
from faithkit.inputs.models.predictor import Predictor
from faithkit.inputs.rows import Rows

ROWS = 200  # rows that the model predicts in both forms
_ISO = r"[0-9]{4}-[0-9]{2}-[0-9]{2}(?:[ T][0-9]{2}:[0-9]{2}(?::[0-9]{2}(?:\.[0-9]{1,9})?)?)?"


def parse_dates(texts: pd.Series) -> pd.Series | None:
    """Return a column of texts as dates, or None if one of them is not an ISO 8601 date.

    Texts with a time zone do not count as dates, because one column may have several offsets.

    Examples
    --------
    >>> parse_dates(pd.Series(["2024-01-05", None])).tolist()
    [Timestamp('2024-01-05 00:00:00'), NaT]
    >>> parse_dates(pd.Series(["2024-01-05", "soon"]))
    """
    present = texts.dropna()
    is_text = pd.api.types.infer_dtype(present) == "string"
    if not is_text or not present.astype(str).str.fullmatch(_ISO).all():
        return None
    try:
        return pd.to_datetime(texts, format="ISO8601")
    except ValueError:  # the 30th of February
        return None


def with_dates(X: Rows, model: Any) -> Rows:
    """Parse the columns of dates if the model accepts dates; without a model, parse all of them.

    If a model accepts both forms and predicts differently, the texts stay: it was trained on them.

    Examples
    --------
    >>> X = pd.DataFrame({"since": ["2024-01-05", "2023-07-01"]})
    >>> with_dates(X, lambda X: X["since"].dt.year > 2023).dtypes["since"].kind
    'M'
    >>> with_dates(X, lambda X: X["since"].str[:4]) is X
    True
    """
    if not isinstance(X, pd.DataFrame):
        return X
    used = select_model_columns(model, X)
    parsed = {name: parse_dates(used[name]) for name in used.columns if not used[name].isna().all()}
    parsed = {name: dates for name, dates in parsed.items() if dates is not None}
    if not parsed:
        return X
    with_parsed = X.assign(**parsed)
    if model is None:
        return with_parsed
    by_dates, by_texts = (
        _predict(model, select_model_columns(model, table.head(ROWS))) for table in (with_parsed, X)
    )
    return with_parsed if by_dates is not None and by_texts in (None, by_dates) else X


def dates_like(X: pd.DataFrame, frame: pd.DataFrame, path: str) -> pd.DataFrame:
    """Parse the columns of a file that hold dates in X."""
    names = [name for name in X.columns if is_date_column(X[name]) and not is_date_column(frame[name])]
    parsed = {name: parse_dates(frame[name]) for name in names}
    for name, dates in parsed.items():
        if dates is None:
            raise InputError(
                f"column {str(name)!r} of {path} does not hold dates, as that of the data does: write "
                "them as 2024-01-05, or 2024-01-05 13:14:15."
            )
    return frame.assign(**parsed)


def _predict(model: Any, rows: pd.DataFrame) -> list[Any] | None:
    """Return a model's predictions, or None if it fails on the rows."""
    with warnings.catch_warnings(), contextlib.suppress(Exception):
        warnings.simplefilter("ignore")
        return list(Predictor(model).predict(rows).tolist())
    return None
