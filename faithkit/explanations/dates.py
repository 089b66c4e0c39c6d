"""Conversion between dates and numbers.

A date becomes the number of days since 1970 in UTC. Explainers can perturb that number, and rules can compare
it.
"""

import math
from datetime import UTC, datetime, timedelta, tzinfo
from typing import Any
from zoneinfo import ZoneInfo

import numpy as np
import pandas as pd

from faithkit.arrays import Floats

MICROSECONDS_PER_DAY = 86_400_000_000  # finer parts of a date are dropped
_EPOCH = datetime(1970, 1, 1)


def _is_object_dtype(dtype: Any) -> bool:
    return isinstance(dtype, np.dtype) and dtype.kind == "O"


def is_date_column(column: "pd.Series[Any]") -> bool:
    """Return whether a column has a date dtype, or objects that are dates without a time.

    Examples
    --------
    >>> from datetime import date
    >>> is_date_column(pd.Series([date(2024, 1, 5), None])), is_date_column(pd.Series(["2024-01-05"]))
    (True, False)
    """
    if _is_object_dtype(column.dtype):  # pandas reads the dates of a Parquet file as objects
        return bool(pd.api.types.infer_dtype(column, skipna=True) == "date")
    return bool(column.dtype.kind == "M")


def dates_to_days(column: "pd.Series[Any]") -> Floats:
    """Convert dates to days; a missing date becomes NaN.

    Examples
    --------
    >>> dates_to_days(pd.Series(pd.to_datetime(["1970-01-02 12:00", None])))
    array([1.5, nan])
    """
    if _is_object_dtype(column.dtype):
        column = pd.Series(column.to_numpy(dtype=object, na_value=None).astype("M8[D]").astype("M8[s]"))
    if isinstance(column.dtype, pd.ArrowDtype):
        import pyarrow as pa

        column = pd.Series(pa.array(column.array).cast(pa.timestamp("us")).to_numpy(zero_copy_only=False))
    elif getattr(column.dtype, "tz", None) is not None:
        column = column.dt.tz_convert(None)
    times = column.to_numpy().astype("M8[us]")
    return np.where(np.isnat(times), np.nan, times.astype(np.int64) / MICROSECONDS_PER_DAY)


def days_to_dates(days: Floats, dtype: Any) -> Any:
    """Convert days to dates of a dtype, to the microsecond.

    Examples
    --------
    >>> days_to_dates(np.array([1.5, np.nan]), np.dtype("M8[s]"))
    array(['1970-01-02T12:00:00', 'NaT'], dtype='datetime64[s]')
    """
    is_arrow = isinstance(dtype, pd.ArrowDtype)
    if _is_object_dtype(dtype) or (is_arrow and str(dtype).startswith("date")):  # these have no time of day
        days = np.floor(days)
    is_missing = np.isnan(days)
    times = np.rint(np.where(is_missing, 0.0, days) * MICROSECONDS_PER_DAY).astype(np.int64).astype("M8[us]")
    times[is_missing] = np.datetime64("NaT")
    if _is_object_dtype(dtype):
        return times.astype("M8[D]").astype(object)
    if isinstance(dtype, np.dtype):
        return times.astype(dtype)
    series = pd.Series(times)
    zone = dtype.pyarrow_dtype.tz if is_arrow and hasattr(dtype.pyarrow_dtype, "tz") else None
    if zone is not None or not is_arrow:
        series = series.dt.tz_localize("UTC")
    return series.astype(dtype).array


def get_zone(dtype: Any) -> str:
    """Return the time zone of a date dtype, or "" if it has none.

    Examples
    --------
    >>> get_zone(pd.DatetimeTZDtype("us", "Europe/Berlin")), get_zone(np.dtype("M8[us]"))
    ('Europe/Berlin', '')
    """
    dated_type = getattr(dtype, "pyarrow_dtype", dtype)
    return str(getattr(dated_type, "tz", None) or "")


def format_date(days: float, zone: str = "") -> str:
    """Format days as a date, with a time unless it is midnight; with a zone, always with time and offset.

    Examples
    --------
    >>> format_date(1.0), format_date(1.5), format_date(1.0, "Europe/Berlin")
    ('1970-01-02', '1970-01-02 12:00:00', '1970-01-02 01:00:00+01:00')
    """
    date = _EPOCH + timedelta(microseconds=round(days * MICROSECONDS_PER_DAY))
    if zone:
        return str(date.replace(tzinfo=UTC).astimezone(_load_zone(zone)))
    return str(date).removesuffix(" 00:00:00")


def _load_zone(name: str) -> tzinfo:
    """Return a time zone by name, or UTC for an unknown name such as that of a fixed offset."""
    try:
        return ZoneInfo(name)
    except (KeyError, ValueError, OSError):
        return UTC


def floor_to_microsecond(days: float) -> float:
    """Round days down to a microsecond: every date compares alike with both numbers.

    Examples
    --------
    >>> floor_to_microsecond(1.5), floor_to_microsecond(1.5 + 1e-9) > 1.5
    (1.5, True)
    """
    if not math.isfinite(days):
        return days
    ticks = round(days * MICROSECONDS_PER_DAY)
    return (ticks - (ticks / MICROSECONDS_PER_DAY > days)) / MICROSECONDS_PER_DAY
