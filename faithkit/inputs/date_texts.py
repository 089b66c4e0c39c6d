"""Dates in files that only have texts: CSV and JSON Lines.

Nothing in such a file says which texts are dates. The model decides: a column whose texts are all dates is
read as dates where the model takes dates, and does not answer otherwise for texts.
"""

import contextlib
import warnings
from typing import Any

import pandas as pd

from faithkit.errors import InputError
from faithkit.explanations.dates import holds_dates
from faithkit.inputs.models.model_columns import seen_by
from faithkit.inputs.models.predictor import Predictor

ROWS = 200  # that the model is asked about in both forms
_ISO = r"[0-9]{4}-[0-9]{2}-[0-9]{2}(?:[ T][0-9]{2}:[0-9]{2}(?::[0-9]{2}(?:\.[0-9]{1,9})?)?)?"


def parse_dates(texts: Any) -> Any:
    """Return a column of texts as dates, or None if one of them is no date as ISO 8601 writes it.

    Texts with a time zone are no dates here: one column may have several offsets.

    Examples
    --------
    >>> parse_dates(pd.Series(["2024-01-05", None])).tolist()
    [Timestamp('2024-01-05 00:00:00'), NaT]
    >>> parse_dates(pd.Series(["2024-01-05", "soon"]))
    """
    there = texts.dropna()
    is_text = pd.api.types.infer_dtype(there) == "string"
    if not is_text or not there.astype(str).str.fullmatch(_ISO).all():
        return None
    try:
        return pd.to_datetime(texts, format="ISO8601")
    except ValueError:  # the 30th of February
        return None


def with_dates(X: Any, model: Any) -> Any:
    """Return a table with texts as dates where the model takes dates; without a model, all that are dates.

    A model that takes both must predict the same from both. Else the texts stay: it was trained on them.

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
    shown = seen_by(model, X)
    parsed = {name: parse_dates(shown[name]) for name in shown.columns if not shown[name].isna().all()}
    parsed = {name: dates for name, dates in parsed.items() if dates is not None}
    if not parsed:
        return X
    dated = X.assign(**parsed)
    if model is None:
        return dated
    by_dates, by_texts = (_answers(model, seen_by(model, table.head(ROWS))) for table in (dated, X))
    return dated if by_dates is not None and by_texts in (None, by_dates) else X


def dates_like(X: pd.DataFrame, frame: pd.DataFrame, path: str) -> pd.DataFrame:
    """Return the rows of a file with texts as dates where X has dates."""
    names = [name for name in X.columns if holds_dates(X[name]) and not holds_dates(frame[name])]
    parsed = {name: parse_dates(frame[name]) for name in names}
    for name, dates in parsed.items():
        if dates is None:
            raise InputError(
                f"column {str(name)!r} of {path} does not hold dates, as that of the data does: write "
                "them as 2024-01-05, or 2024-01-05 13:14:15."
            )
    return frame.assign(**parsed)


def _answers(model: Any, rows: pd.DataFrame) -> list[Any] | None:
    """Return what a model predicts, or None if it does not take the rows."""
    with warnings.catch_warnings(), contextlib.suppress(Exception):
        warnings.simplefilter("ignore")
        return list(Predictor(model).predict(rows).tolist())
    return None
