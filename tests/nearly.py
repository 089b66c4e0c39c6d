"""Comparison up to the last bits of floats, which another order of sums may change."""

import json
from collections.abc import Mapping, Sequence
from typing import Any

import attrs
import numpy as np

TOLERANCE = 1e-12


def assert_nearly(first: Any, second: Any, where: str = "the value") -> None:
    """Compare texts of JSON, mappings, sequences, arrays and classes of attrs, place by place."""
    if isinstance(first, str) and isinstance(second, str) and first[:1] == "{":
        first, second = json.loads(first), json.loads(second)
    if attrs.has(type(first)):
        assert type(first) is type(second), where
        names = [field.name for field in attrs.fields(type(first))]
        first, second = ({name: getattr(side, name) for name in names} for side in (first, second))
    if isinstance(first, np.ndarray):
        first, second = first.tolist(), np.asarray(second).tolist()
    if isinstance(first, Mapping):
        assert list(first) == list(second), where
        for name in first:
            assert_nearly(first[name], second[name], f"{where}, {name}")
    elif isinstance(first, Sequence) and not isinstance(first, str | bytes):
        assert len(first) == len(second), where
        for place, (left, right) in enumerate(zip(first, second, strict=True)):
            assert_nearly(left, right, f"{where}, {place}")
    elif isinstance(first, float) and isinstance(second, float) and first != second:
        assert abs(first - second) <= TOLERANCE * max(1.0, abs(first)), f"{where}: {first!r} and {second!r}"
    else:
        assert first == second or (first != first and second != second), f"{where}: {first!r} and {second!r}"
