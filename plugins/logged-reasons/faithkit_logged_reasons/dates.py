"""Dates as days since 1970 in UTC, the numbers that conditions on dates have as limits."""

from datetime import UTC, datetime, timedelta
from typing import Any

import numpy as np
import pandas as pd

_EPOCH = datetime(1970, 1, 1)
_DAY = timedelta(days=1)


def is_date_column(column: "pd.Series[Any]") -> bool:
    """Return whether a column has a date dtype, or objects that are dates without a time.

    Examples
    --------
    >>> from datetime import date
    >>> is_date_column(pd.Series([date(2024, 1, 5), None])), is_date_column(pd.Series(["2024-01-05"]))
    (True, False)
    """
    if isinstance(column.dtype, np.dtype) and column.dtype.kind == "O":
        return bool(pd.api.types.infer_dtype(column, skipna=True) == "date")
    return bool(column.dtype.kind == "M")


def get_zone(dtype: Any) -> str:
    """Return the time zone of a date dtype, or "" if it has none.

    Examples
    --------
    >>> get_zone(pd.DatetimeTZDtype("us", "Europe/Berlin")), get_zone(np.dtype("M8[us]"))
    ('Europe/Berlin', '')
    """
    dated_type = getattr(dtype, "pyarrow_dtype", dtype)
    return str(getattr(dated_type, "tz", None) or "")


def parse_date(text: str) -> float | None:
    """Parse a date as days, or return None for a text that is not a date.

    Examples
    --------
    >>> parse_date("1970-01-02 12:00:00"), parse_date("1970-01-02 01:00:00+01:00"), parse_date("soon")
    (1.5, 1.0, None)
    """
    try:
        date = datetime.fromisoformat(text)
    except ValueError:
        return None
    if date.tzinfo is not None:
        date = date.astimezone(UTC).replace(tzinfo=None)
    return (date - _EPOCH) / _DAY
