"""What is the same but for the last bits of floats, which another order of sums may change."""

import json
from collections.abc import Mapping, Sequence
from typing import Any

import attrs
import numpy as np

TOLERANCE = 1e-12


def assert_nearly(one: Any, two: Any, where: str = "it") -> None:
    """Compare texts of JSON, mappings, sequences, arrays and classes of attrs, place by place."""
    if isinstance(one, str) and isinstance(two, str) and one[:1] == "{":
        one, two = json.loads(one), json.loads(two)
    if attrs.has(type(one)):
        assert type(one) is type(two), where
        names = [field.name for field in attrs.fields(type(one))]
        one, two = ({name: getattr(side, name) for name in names} for side in (one, two))
    if isinstance(one, np.ndarray):
        one, two = one.tolist(), np.asarray(two).tolist()
    if isinstance(one, Mapping):
        assert list(one) == list(two), where
        for name in one:
            assert_nearly(one[name], two[name], f"{where}, {name}")
    elif isinstance(one, Sequence) and not isinstance(one, str | bytes):
        assert len(one) == len(two), where
        for place, (first, second) in enumerate(zip(one, two, strict=True)):
            assert_nearly(first, second, f"{where}, {place}")
    elif isinstance(one, float) and isinstance(two, float) and one != two:
        assert abs(one - two) <= TOLERANCE * max(1.0, abs(one)), f"{where}: {one!r} and {two!r}"
    else:
        assert one == two or (one != one and two != two), f"{where}: {one!r} and {two!r}"
