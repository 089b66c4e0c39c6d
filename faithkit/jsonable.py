"""Conversion to JSON that any parser reads: no NaN, no infinity, no NumPy types, no duplicate keys."""

import json
from collections import Counter
from collections.abc import Iterable
from datetime import datetime
from typing import Any

import numpy as np
import pandas as pd

from faithkit.arguments import to_python
from faithkit.wording import escape_json

SCHEMA = 1
"""The version of the JSON format of results, raised when released versions could no longer read them."""


def to_json_value(value: Any) -> bool | int | float | str | None:
    """Return a JSON value: a number, a boolean, a text, or None for a missing value; infinity is a text.

    Examples
    --------
    >>> [to_json_value(value) for value in (np.float32(0.5), float("-inf"), float("nan"), ("a", 1))]
    [0.5, '-inf', None, "('a', 1)"]
    >>> to_json_value(pd.Timestamp("2024-01-05")), to_json_value(pd.Timestamp("2024-01-05 12:00"))
    ('2024-01-05', '2024-01-05 12:00:00')
    """
    if pd.api.types.is_scalar(value) and pd.isna(value):
        return None
    if isinstance(value, np.datetime64 | datetime):
        return str(pd.Timestamp(value)).removesuffix(" 00:00:00")
    scalar = to_python(value)
    if isinstance(scalar, float) and not np.isfinite(scalar):
        return str(scalar)
    return scalar if isinstance(scalar, bool | int | float | str) else str(scalar)


def unique_keys(values: Iterable[Any]) -> list[str]:
    """Return values as distinct keys: their `str`, or their `repr` if two have the same `str`.

    Examples
    --------
    >>> unique_keys(["yes", 1, "1"])
    ['yes', '1', "'1'"]
    """
    values = list(values)
    counts = Counter(map(str, values))
    return [repr(value) if counts[str(value)] > 1 else str(value) for value in values]


def json_text(value: Any) -> str:
    """Return a result as JSON text, with escapes for control characters.

    Unpaired surrogates, which no file can hold, become question marks.
    """
    text = json.dumps(value, indent=2, ensure_ascii=False, allow_nan=False)
    return escape_json(text.encode("utf-8", "replace").decode("utf-8") + "\n")
