"""Dates as numbers: days since 1970 in UTC, which explainers can perturb and rules can compare."""

import math
from datetime import UTC, datetime, timedelta, tzinfo
from typing import Any
from zoneinfo import ZoneInfo

import numpy as np
import pandas as pd

from faithkit.arrays import Floats

PER_DAY = 86_400_000_000  # microseconds: finer parts of a date are lost
_EPOCH = datetime(1970, 1, 1)


def _is_object(dtype: Any) -> bool:
    return isinstance(dtype, np.dtype) and dtype.kind == "O"


def holds_dates(column: "pd.Series[Any]") -> bool:
    """Return whether a column holds dates: of a dtype of dates, or objects that are dates without hours.

    Examples
    --------
    >>> from datetime import date
    >>> holds_dates(pd.Series([date(2024, 1, 5), None])), holds_dates(pd.Series(["2024-01-05"]))
    (True, False)
    """
    if _is_object(column.dtype):  # so pandas reads the days of a Parquet file
        return bool(pd.api.types.infer_dtype(column, skipna=True) == "date")
    return bool(column.dtype.kind == "M")


def days_of(column: "pd.Series[Any]") -> Floats:
    """Return dates as days, NaN where one is missing.

    Examples
    --------
    >>> days_of(pd.Series(pd.to_datetime(["1970-01-02 12:00", None])))
    array([1.5, nan])
    """
    if _is_object(column.dtype):
        column = pd.Series(column.to_numpy(dtype=object, na_value=None).astype("M8[D]").astype("M8[s]"))
    if isinstance(column.dtype, pd.ArrowDtype):
        import pyarrow as pa

        column = pd.Series(pa.array(column.array).cast(pa.timestamp("us")).to_numpy(zero_copy_only=False))
    elif getattr(column.dtype, "tz", None) is not None:
        column = column.dt.tz_convert(None)
    times = column.to_numpy().astype("M8[us]")
    return np.where(np.isnat(times), np.nan, times.astype(np.int64) / PER_DAY)


def dates_of(days: Floats, dtype: Any) -> Any:
    """Return days as dates of a dtype, to the microsecond.

    Examples
    --------
    >>> dates_of(np.array([1.5, np.nan]), np.dtype("M8[s]"))
    array(['1970-01-02T12:00:00', 'NaT'], dtype='datetime64[s]')
    """
    is_arrow = isinstance(dtype, pd.ArrowDtype)
    if _is_object(dtype) or (is_arrow and str(dtype).startswith("date")):  # has no hours
        days = np.floor(days)
    gone = np.isnan(days)
    times = np.rint(np.where(gone, 0.0, days) * PER_DAY).astype(np.int64).astype("M8[us]")
    times[gone] = np.datetime64("NaT")
    if _is_object(dtype):
        return times.astype("M8[D]").astype(object)
    if isinstance(dtype, np.dtype):
        return times.astype(dtype)
    series = pd.Series(times)
    zone = dtype.pyarrow_dtype.tz if is_arrow and hasattr(dtype.pyarrow_dtype, "tz") else None
    if zone is not None or not is_arrow:
        series = series.dt.tz_localize("UTC")
    return series.astype(dtype).array


def zone_of(dtype: Any) -> str:
    """Return the time zone of a dtype of dates, "" where they have none.

    Examples
    --------
    >>> zone_of(pd.DatetimeTZDtype("us", "Europe/Berlin")), zone_of(np.dtype("M8[us]"))
    ('Europe/Berlin', '')
    """
    kept = getattr(dtype, "pyarrow_dtype", dtype)
    return str(getattr(kept, "tz", None) or "")


def write_date(days: float, zone: str = "") -> str:
    """Write days as a date, with hours where it has some; with a time zone, with hours and offset.

    Examples
    --------
    >>> write_date(1.0), write_date(1.5), write_date(1.0, "Europe/Berlin")
    ('1970-01-02', '1970-01-02 12:00:00', '1970-01-02 01:00:00+01:00')
    """
    date = _EPOCH + timedelta(microseconds=round(days * PER_DAY))
    if zone:
        return str(date.replace(tzinfo=UTC).astimezone(_zone(zone)))
    return str(date).removesuffix(" 00:00:00")


def _zone(name: str) -> tzinfo:
    """Return a time zone by name; UTC where nobody knows the name, as that of a fixed offset."""
    try:
        return ZoneInfo(name)
    except (KeyError, ValueError, OSError):
        return UTC


def read_date(text: str) -> float | None:
    """Read a date back; None for a text that is none.

    Examples
    --------
    >>> read_date("1970-01-02 12:00:00"), read_date("1970-01-02 01:00:00+01:00"), read_date("soon")
    (1.5, 1.0, None)
    """
    try:
        date = datetime.fromisoformat(text)
    except ValueError:
        return None
    if date.tzinfo is not None:
        date = date.astimezone(UTC).replace(tzinfo=None)
    return (date - _EPOCH) // timedelta(microseconds=1) / PER_DAY


def last_microsecond(days: float) -> float:
    """Return the last date up to a limit: a date is beyond both of them, or beyond none.

    Examples
    --------
    >>> last_microsecond(1.5), last_microsecond(1.5 + 1e-9) > 1.5
    (1.5, True)
    """
    if not math.isfinite(days):
        return days
    ticks = round(days * PER_DAY)
    return (ticks - (ticks / PER_DAY > days)) / PER_DAY
