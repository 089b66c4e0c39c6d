"""Explanations in the forms in which people have them: tables, lists, dicts, objects of other libraries."""

from collections.abc import Iterable, Mapping
from numbers import Real
from typing import Any

import attrs
import numpy as np
import pandas as pd
from numpy.typing import NDArray

from faithkit.errors import ContractError, InputError
from faithkit.extension.entries import Entry
from faithkit.extension.registry import registry
from faithkit.foreign import foreign
from faithkit.inputs.objects.adapters import About, adapted_by, adapter_for, takes
from faithkit.inputs.objects.conversion import as_column, as_rows
from faithkit.inputs.objects.vectors import vectors_of_dicts
from faithkit.measure.containers import n_rows, unmasked
from faithkit.measure.explanations import Explanations, check_unmasked
from faithkit.measure.rules import Rule
from faithkit.wording import few, listing


def adapt(
    explanations: Any,
    *,
    predictions: Any = None,
    X: Any = None,
    classes: Any = None,
    adapter: str | None = None,
    **params: Any,
) -> Explanations:
    """Take explanations in any form that is known: what `score` does, with a word on how.

    Parameters
    ----------
    explanations : object
        A 2-D array, a table, a list (of texts, tuples, vectors, {feature: weight} or lists of (feature,
        weight)), or an object of another library for which there is an adapter, such as a `shap.Explanation`.
    predictions : sequence, optional
        One for each row, for adapters that choose by the predicted class.
    X : array or table, optional
        The rows, for the names of their columns.
    classes : sequence, optional
        The labels in the order of the model's scores.
    adapter : str, optional
        By default the one that takes objects of this type.
    **params
        Parameters of the adapter.

    Returns
    -------
    Explanations

    Examples
    --------
    >>> import faithkit
    >>> found = faithkit.adapt([{"age": 0.4}, {"age": 0.1, "job": -0.3}])
    >>> found.kind, found.shared["names"], found.values.tolist()
    ('vector', ['age', 'job'], [[0.4, 0.0], [0.1, -0.3]])
    """
    rows = as_rows(X)
    about = About(
        n=None if rows is None else n_rows(rows),
        predict=None if predictions is None else lambda: as_column(predictions),
        classes=classes,
        features=[str(name) for name in rows.columns] if isinstance(rows, pd.DataFrame) else None,
        X=rows,
    )
    entry = adapter_for(explanations) if adapter is None else registry().find("adapter", adapter)
    if entry is not None and not takes(entry, explanations):
        raise InputError(f"{entry} takes {listing(entry.component.types)}, no {type(explanations).__name__}.")
    if entry is not None:
        return _adapted(entry, explanations, about, params)
    if params:
        raise InputError(
            f"explanations of type {type(explanations).__name__} need no adapter, which {few(params)} would "
            "be for."
        )
    return as_explanations(explanations, about)


def as_explanations(given: Any, about: About | None = None) -> Explanations:
    """Take explanations as people have them: a table, a list of hashables or of dicts, an adapter's object.

    A row without any value, such as one of nothing but NaN, has no explanation.

    Examples
    --------
    >>> as_explanations([("age", "sex"), ("age",)]).kind
    'value'
    >>> as_explanations([[0.5, np.nan], [np.nan, np.nan]]).missing
    array([False,  True])
    """
    if isinstance(given, Explanations):
        return given
    entry = adapter_for(given)
    if entry is not None:
        return _adapted(entry, given, about or About(), {})
    found = _understood(given, about)
    return attrs.evolve(found, missing=found.missing | _without_value(found.values))


def _without_value(values: Any) -> NDArray[np.bool_]:
    if values.ndim == 1:
        return np.asarray(pd.isna(values))
    cells = pd.DataFrame(values, copy=False)
    if not cells.shape[1]:
        return np.zeros(len(cells), dtype=bool)
    first: NDArray[np.bool_] = cells.iloc[:, 0].isna().to_numpy()
    return cells.isna().all(axis=1).to_numpy() if first.any() else first


def _understood(given: Any, about: About | None) -> Explanations:
    given = unmasked(as_rows(given, texts=False), "the explanations")
    if isinstance(given, pd.Series):
        plain = isinstance(given.dtype, np.dtype) and given.dtype.kind in "biuf"
        given = given.to_numpy() if plain else given.to_numpy(dtype=object, na_value=None)
    if isinstance(given, pd.DataFrame):
        return _from_frame(given)
    if isinstance(given, np.ndarray):
        return _from_array(given)
    if not isinstance(given, Iterable) or isinstance(given, str | bytes | dict | set | frozenset):
        raise InputError(
            f"explanations of type {type(given).__name__} are not understood: give a 2-D array, a DataFrame, "
            "a list of hashable values, of {feature: weight} or of (feature, weight) pairs, or Explanations."
        )
    with foreign("going through the explanations"):
        values = list(given)
    return _from_list(values, about)


def _adapted(entry: Entry, given: Any, about: About, params: dict[str, Any]) -> Explanations:
    """Let an adapter take an object, or those of a list that are there."""
    given = given.tolist() if isinstance(given, np.ndarray | pd.Series) else given
    rows = [row for row, one in enumerate(given) if one is not None] if isinstance(given, list) else None
    if rows is not None and about.n not in (None, len(given)):
        raise InputError(f"{len(given)} explanations for {about.n} rows of X: give one of each per row.")
    there = [given[row] for row in rows] if rows is not None else given
    known = about if rows is None or len(rows) == len(given) else about.at(rows)
    found = adapted_by(entry, there, "explanations", known, params)
    if not isinstance(found, Explanations):
        raise InputError(
            f"{entry} does not take a {type(given).__name__} as explanations: give what it says of each row."
        )
    wanted = about.n if rows is None else len(rows)
    if wanted is not None and len(found) != wanted:
        raise ContractError(f"{entry} made {len(found)} explanations for {wanted} rows; expected one each.")
    if rows is None or len(rows) == len(given):
        return found
    return found.spread(np.array(rows), len(given), np.full(len(given), None))


def _from_list(values: list[Any], about: About | None = None) -> Explanations:
    values = [as_rows(one, texts=False) if _is_tensor(one) else one for one in values]
    first = next((value for value in values if value is not None and _is_told(value)), None)
    if isinstance(first, Mapping):
        return _from_dicts(values, about)
    if isinstance(first, list) and all(map(_is_pair, first)):
        return _from_dicts([_as_dict(row, value) for row, value in enumerate(values)], about)
    if any(isinstance(value, list | np.ndarray) for value in values):
        return _from_rows(values)
    return _from_values(values)


def _from_values(values: list[Any]) -> Explanations:
    """Take any values; rules say where they apply."""
    if {type(value) for value in values} - {type(None)} == {Rule}:
        return Explanations.of(values, kind="rule", relation="in-scope")
    return Explanations.of(values)


def _is_tensor(value: Any) -> bool:
    """Whether it is an array of another library: compared as it is, it would equal nothing but itself."""
    return hasattr(value, "__array__") and not isinstance(value, np.ndarray | np.generic)


def _is_told(value: Any) -> bool:
    """Whether it tells its form: an empty list does not."""
    return not isinstance(value, list) or bool(value)


def _is_pair(value: Any) -> bool:
    return isinstance(value, tuple | list) and len(value) == 2 and isinstance(value[0], str)


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


def _from_dicts(rows: list[Any], about: About | None) -> Explanations:
    """Take {feature: weight} of each row; what is not named weighs 0; where nothing is, all is missing."""
    for row, one in enumerate(rows):
        _check_weights(row, one)
    table = vectors_of_dicts(rows)
    named = list(table.columns)
    known = None if about is None or about.features is None else list(about.features)
    names = known if known is not None and set(named) <= set(known) else named
    values = table.reindex(columns=names, fill_value=0.0).to_numpy()
    gone = np.array([not row for row in rows], dtype=bool)
    return Explanations.vectors(values, missing=gone, shared={"names": names})


def _check_weights(row: int, one: Any) -> None:
    if one is None:
        return
    if not isinstance(one, Mapping):
        raise InputError(f"explanation {row} is a {type(one).__name__} among dicts: give one dict per row.")
    for name, weight in one.items():
        if not isinstance(name, str):
            raise InputError(f"explanation {row} names the feature {name!r}: give names as texts.")
        if not isinstance(weight, Real | np.bool_):
            raise InputError(f"explanation {row}: the weight of {name!r} is {weight!r:.40}; give a number.")


def _from_rows(rows: list[Any]) -> Explanations:
    """Take a list of vectors, in which None is a missing one."""
    check_unmasked(rows)
    gone = np.array([row is None for row in rows], dtype=bool)
    width = len(next(row for row in rows if isinstance(row, list | np.ndarray)))
    filled = [[np.nan] * width if row is None else row for row in rows]
    return Explanations.vectors(filled, missing=gone)


def _from_frame(frame: pd.DataFrame) -> Explanations:
    _check_names(frame)
    shared = {"names": [str(name) for name in frame.columns]}
    if all(pd.api.types.is_numeric_dtype(dtype) for dtype in frame.dtypes):
        return _from_numbers(frame, shared)
    if frame.shape[1] == 1:
        return attrs.evolve(as_explanations(frame.iloc[:, 0]), shared=shared)
    return Explanations(kind="value", values=frame.reset_index(drop=True), shared=shared)


def _check_names(frame: pd.DataFrame) -> None:
    """Refuse columns that nobody could tell apart: in words, the last one would stand for all."""
    names = pd.Index([str(name) for name in frame.columns])
    if not names.is_unique:
        twice = few(repr(name) for name in names[names.duplicated()].unique())
        raise InputError(
            f"the explanations have more than one column named {twice}; expected distinct names. "
            "Rename or drop them."
        )


def _from_numbers(frame: pd.DataFrame, shared: dict[str, Any]) -> Explanations:
    dtypes = set(frame.dtypes)
    if len(dtypes) == 1 and isinstance(dtype := dtypes.pop(), np.dtype):
        return Explanations(kind="vector", values=frame.to_numpy(dtype=dtype), shared=shared)
    values = frame.to_numpy(dtype=np.float64, na_value=np.nan)
    # integers beyond 2**53 would fall together as floats: equality then compares the columns as they are
    exact = None if not (np.abs(values) >= 2.0**53).any() else frame.reset_index(drop=True)
    return Explanations(kind="vector", values=values, identity=exact, shared=shared)


def _from_array(array: NDArray[Any]) -> Explanations:
    if array.ndim == 2 and array.dtype.kind in "biuf":
        return Explanations.vectors(array)
    if array.ndim == 2:
        return _from_frame(pd.DataFrame(array).infer_objects())
    if array.ndim == 1:
        return _from_values(array.tolist())
    raise InputError(f"explanations in a {array.ndim}-D array are not understood: give one row per instance.")
