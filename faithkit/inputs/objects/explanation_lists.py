"""Explanations in a list, one for each row: texts, tuples, rules, vectors, or features with their weights."""

from collections.abc import Mapping
from numbers import Real
from typing import Any

import attrs
import numpy as np
import pandas as pd

from faithkit.arrays.containers import as_table, may_be_rounded
from faithkit.errors import InputError
from faithkit.explanations.explanations import Explanations, check_unmasked, object_array
from faithkit.explanations.rules import Rule
from faithkit.inputs.objects.adapters import RowContext
from faithkit.inputs.objects.conversion import as_rows
from faithkit.inputs.objects.vectors import are_numbers, from_numbers, vectors_of_dicts
from faithkit.wording import few

_WHOLE = {str, tuple, bool, int, float, Rule, type(None)}  # types of values that are what they seem


def from_list(given: list[Any], about: RowContext | None = None) -> Explanations:
    """Take what is said of each row; None, NaN and the like are rows of which nothing is.

    Examples
    --------
    >>> from_list([["age > 40", "sex = Male"], []]).values.tolist()
    [('age > 40', 'sex = Male'), None]
    >>> from_list([[0.5, None], [], np.nan]).missing
    array([False,  True,  True])
    """
    if set(map(type, given)) <= _WHOLE:  # as of most logs, which can be long
        return _from_values(given)
    column = object_array(map(_plain, given))
    column[pd.isna(column)] = None
    values = column.tolist()
    first = next((value for value in values if value is not None and not _is_empty(value)), None)
    if isinstance(first, Mapping):
        return _from_dicts(values, about)
    if isinstance(first, list) and all(map(_is_pair, first)):
        return _from_dicts([_as_dict(row, value) for row, value in enumerate(values)], about)
    if isinstance(first, list) and all(isinstance(part, str) for part in first):
        return _from_values([_as_tuple(row, value) for row, value in enumerate(values)])
    if any(isinstance(value, list | np.ndarray) for value in values):
        return _from_rows(values)
    return _from_values(values)


def _from_values(values: list[Any]) -> Explanations:
    """Take any values; rules say where they apply."""
    if {type(value) for value in values} - {type(None)} == {Rule}:
        return Explanations.of(values, kind="rule", relation="in-scope")
    return Explanations.of(values)


def _plain(value: Any) -> Any:
    """Return an array of another library as NumPy's, and a Series as what it names: neither has a hash."""
    if not hasattr(value, "__array__") or isinstance(value, np.ndarray | np.generic):
        return value
    return value.to_dict() if isinstance(value, pd.Series) else as_rows(value, texts=False)


def _is_empty(value: Any) -> bool:
    """Whether it is a list or an array of nothing, which is no explanation, as in a log."""
    return (isinstance(value, list) and not value) or (isinstance(value, np.ndarray) and not value.size)


def _is_pair(value: Any) -> bool:
    return isinstance(value, tuple | list) and len(value) == 2 and isinstance(value[0], str)


def _as_tuple(row: int, texts: Any) -> Any:
    """Take a list of texts as a whole, such as the conditions of a rule."""
    if texts is None or _is_empty(texts):
        return None
    if not isinstance(texts, list) or not all(isinstance(text, str) for text in texts):
        raise InputError(f"explanation {row} is {texts!r:.60}; expected a list of texts, as for the others.")
    return tuple(texts)


def _as_dict(row: int, pairs: Any) -> Any:
    """Turn (feature, weight) pairs into a dict; none is named twice."""
    if pairs is None:
        return None
    if not isinstance(pairs, list) or not all(map(_is_pair, pairs)):
        raise InputError(f"explanation {row} is {pairs!r:.60}; expected pairs of a feature and its weight.")
    found = dict(pairs)
    if len(found) < len(pairs):
        names = [name for name, _ in pairs]
        twice = few(repr(name) for name in found if names.count(name) > 1)
        raise InputError(f"explanation {row} has more than one weight of {twice}: add them up, or rename.")
    return found


def _from_dicts(rows: list[Any], about: RowContext | None) -> Explanations:
    """Take {feature: weight} of each row; what is not named weighs 0; where nothing is, all is missing."""
    for row, one in enumerate(rows):
        _check_weights(row, one)
    table = vectors_of_dicts(rows)
    named = list(table.columns)
    known = None if about is None or about.features is None else list(about.features)
    names = known if known is not None and set(named) <= set(known) else named
    found = from_numbers(table.reindex(columns=names, fill_value=0.0), {"names": names})
    return attrs.evolve(found, missing=np.array([not row for row in rows], dtype=bool))


def _check_weights(row: int, one: Any) -> None:
    if one is None:
        return
    if not isinstance(one, Mapping):
        raise InputError(f"explanation {row} is a {type(one).__name__} among dicts: give one dict per row.")
    for name, weight in one.items():
        if not isinstance(name, str):
            raise InputError(f"explanation {row} names the feature {name!r}: give names as texts.")
        if weight is not None and not isinstance(weight, Real | np.bool_):
            raise InputError(f"explanation {row}: the weight of {name!r} is {weight!r:.40}; give a number.")


def _from_rows(rows: list[Any]) -> Explanations:
    """Take a list of vectors, in which None is a missing one, and so is one of no numbers."""
    check_unmasked(rows)
    gone = np.array([row is None or _is_empty(row) for row in rows], dtype=bool)
    told = (row for row, empty in zip(rows, gone, strict=True) if not empty)
    width = len(next((row for row in told if isinstance(row, list | np.ndarray)), ()))
    filled = [[np.nan] * width if empty else row for row, empty in zip(rows, gone, strict=True)]
    try:
        cells: Any = np.asarray(filled)
    except ValueError:  # of different lengths
        cells = np.empty(0)
    if cells.ndim == 2 and (cells.dtype == object or may_be_rounded(cells)):
        frame = as_table(filled)
        if are_numbers(frame):
            return attrs.evolve(from_numbers(frame, {}), missing=gone)
    return Explanations.vectors(filled, missing=gone)
