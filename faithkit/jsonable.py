"""Results as JSON that any parser reads: no NaN, no infinity, nothing of NumPy's, and no two keys alike."""

import json
from collections import Counter
from collections.abc import Iterable
from datetime import datetime
from typing import Any

import numpy as np
import pandas as pd


def plain(value: Any) -> Any:
    """Return a JSON value: a number, a truth, a text, or None for what is missing; infinity is a text.

    Examples
    --------
    >>> plain(np.float32(0.5)), plain(float("-inf")), plain(float("nan")), plain(("a", 1))
    (0.5, '-inf', None, "('a', 1)")
    >>> plain(pd.Timestamp("2024-01-05")), plain(pd.Timestamp("2024-01-05 12:00"))
    ('2024-01-05', '2024-01-05 12:00:00')
    """
    if pd.api.types.is_scalar(value) and pd.isna(value):
        return None
    if isinstance(value, np.datetime64 | datetime):
        return str(pd.Timestamp(value)).removesuffix(" 00:00:00")
    simple = value.item() if isinstance(value, np.generic) else value
    if isinstance(simple, float) and not np.isfinite(simple):
        return str(simple)
    return simple if isinstance(simple, bool | int | float | str) else str(simple)


def names(values: Iterable[Any]) -> list[str]:
    """Return what values are called as keys: their texts, or where two have the same, as Python writes them.

    Examples
    --------
    >>> names(["yes", 1, "1"])
    ['yes', '1', "'1'"]
    """
    every = list(values)
    times = Counter(map(str, every))
    return [repr(value) if times[str(value)] > 1 else str(value) for value in every]


def json_text(value: Any) -> str:
    """Return a result as JSON text; halves of characters, which no file can hold, become question marks."""
    text = json.dumps(value, indent=2, ensure_ascii=False, allow_nan=False)
    return text.encode("utf-8", "replace").decode("utf-8") + "\n"
