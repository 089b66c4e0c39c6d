"""Explanations in the forms in which people have them: tables, lists, dicts, objects of other libraries."""

from collections.abc import Iterable
from typing import Any

import attrs
import numpy as np
import pandas as pd
from numpy.typing import NDArray
from scipy.sparse import issparse

from faithkit.arrays.containers import as_objects, as_table, n_rows, unmasked
from faithkit.errors import ContractError, InputError
from faithkit.explanations.explanations import Explanations
from faithkit.extension.entries import Entry
from faithkit.extension.registry import registry
from faithkit.foreign import foreign
from faithkit.inputs.objects.adapters import RowContext, adapted_by, adapter_for, is_gone, takes
from faithkit.inputs.objects.conversion import as_column, as_rows
from faithkit.inputs.objects.explanation_lists import from_list
from faithkit.inputs.objects.vectors import are_numbers, from_numbers
from faithkit.inputs.preparation import flat
from faithkit.inputs.rows import known_names
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
        A 2-D array, an array of the shape of X (such as a map of each image), a table, a list or column (of
        texts, lists of texts, tuples, vectors, {feature: weight} or lists of (feature, weight)), or an object
        of another library for which there is an adapter, such as a `shap.Explanation`.
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
    about = RowContext(
        n=None if rows is None else n_rows(rows),
        predict=None if predictions is None else lambda: as_column(predictions),
        classes=classes,
        features=known_names(rows),
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


def as_explanations(given: Any, about: RowContext | None = None) -> Explanations:
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
        return _adapted(entry, given, about or RowContext(), {})
    return _marked(_understood(given, about))


def _marked(found: Explanations) -> Explanations:
    """Let rows without any value be missing ones."""
    return attrs.evolve(found, missing=found.missing | _without_value(found.values))


def _without_value(values: Any) -> NDArray[np.bool_]:
    if values.ndim == 1:
        return np.asarray(pd.isna(values))
    cells = pd.DataFrame(values, copy=False)
    if not cells.shape[1]:
        return np.zeros(len(cells), dtype=bool)
    first: NDArray[np.bool_] = cells.iloc[:, 0].isna().to_numpy()
    return cells.isna().all(axis=1).to_numpy() if first.any() else first


def _understood(given: Any, about: RowContext | None) -> Explanations:
    given = unmasked(as_rows(given, texts=False), "the explanations")
    given = given.toarray() if issparse(given) else given
    if isinstance(given, pd.Series):
        plain = isinstance(given.dtype, np.dtype) and given.dtype.kind in "biuf"
        given = given.to_numpy() if plain else as_objects(given)
    if isinstance(given, pd.DataFrame):
        return _from_frame(given, about)
    if isinstance(given, np.ndarray):
        return _from_array(given, about)
    if not isinstance(given, Iterable) or isinstance(given, str | bytes | dict | set | frozenset):
        raise InputError(
            f"explanations of type {type(given).__name__} are not understood: give a 2-D array, a DataFrame, "
            "a list of hashable values, of {feature: weight} or of (feature, weight) pairs, or Explanations."
        )
    with foreign("going through the explanations"):
        values = list(given)
    shapes = {value.shape if isinstance(value, np.ndarray) else () for value in values}
    if len(shapes) == 1 and len(min(shapes)) > 1:  # a list of maps
        return _from_array(np.stack(values), about)
    return from_list(values, about)


def _adapted(entry: Entry, given: Any, about: RowContext, params: dict[str, Any]) -> Explanations:
    """Let an adapter take an object, or those of a list that are there."""
    given = given.tolist() if isinstance(given, np.ndarray | pd.Series) else given
    rows = [row for row, one in enumerate(given) if not is_gone(one)] if isinstance(given, list) else None
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
    found = _marked(found) if found.kind == "vector" else found
    if rows is None or len(rows) == len(given):
        return found
    return found.spread(np.array(rows), len(given), np.full(len(given), None))


def _from_frame(frame: pd.DataFrame, about: RowContext | None = None) -> Explanations:
    _check_names(frame)
    shared = {"names": [str(name) for name in frame.columns]}
    if are_numbers(frame):
        return from_numbers(frame, shared)
    if frame.shape[1] == 1:
        found = as_explanations(frame.iloc[:, 0], about)
        return found if found.kind == "vector" else attrs.evolve(found, shared=shared)
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


def _from_maps(maps: NDArray[Any], X: NDArray[Any]) -> Explanations:
    """Take a number for each cell of rows of several axes, such as a saliency map for each image."""
    if maps.shape != X.shape or maps.dtype.kind not in "biuf":
        raise InputError(
            f"explanations of shape {maps.shape} for an X of shape {X.shape} are not understood: give a "
            "number for each cell of X, or a row of numbers for each image, maps.reshape(len(maps), -1); of "
            "several classes, those of the predicted one."
        )
    return Explanations.vectors(flat(maps), shared={"names": known_names(X)})


def _from_array(array: NDArray[Any], about: RowContext | None = None) -> Explanations:
    if array.ndim == 2 and array.dtype.kind in "biuf":
        return Explanations.vectors(array)
    if array.ndim == 2:
        return _from_frame(as_table(array))
    if array.ndim == 1:
        return from_list(array.tolist(), about)
    X = about.X if about is not None else None
    if isinstance(X, np.ndarray) and X.ndim > 2:
        return _from_maps(array, X)
    of_classes = " Of several classes, give the numbers of one: values[:, :, k]." if array.ndim == 3 else ""
    raise InputError(
        f"explanations in a {array.ndim}-D array are not understood: give one row per instance.{of_classes}"
    )
