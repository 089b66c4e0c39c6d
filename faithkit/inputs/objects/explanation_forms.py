"""Read explanations in any supported form: tables, lists, dicts, objects of other libraries."""

from collections.abc import Iterable
from typing import Any

import attrs
import numpy as np
import pandas as pd
from numpy.typing import NDArray
from scipy.sparse import issparse

from faithkit.arrays.containers import as_objects, as_table, n_rows, strip_mask
from faithkit.errors import ContractError, InputError
from faithkit.explanations.explanations import Explanations
from faithkit.extension.entries import Entry
from faithkit.extension.registry import registry
from faithkit.extension.spec import parse_spec
from faithkit.inputs.objects.adapters import RowContext, adapt_with, find_adapter, is_missing, takes
from faithkit.inputs.objects.conversion import as_column, as_rows
from faithkit.inputs.objects.explanation_lists import are_numbers, from_list, from_numbers
from faithkit.inputs.objects.text_adapters import NO_ADAPTER, TextAdapter, distinct_texts, is_text_adapter
from faithkit.inputs.rows import check_distinct_names, check_row_order, feature_names_or_none
from faithkit.wording import join_few, join_words


def adapt(
    explanations: Any,
    *,
    predictions: Any = None,
    X: Any = None,
    classes: Any = None,
    adapter: str | None = None,
    **params: Any,
) -> Explanations:
    """Convert explanations in any supported form, as `score` does, with control over the adapter.

    Parameters
    ----------
    explanations : object
        A 2-D array, an array with the shape of X (such as one saliency map per image), a table, a list or
        column (of texts, lists of texts, tuples, vectors, {feature: weight} or lists of (feature, weight)),
        or an object of another library that has an adapter, such as a `shap.Explanation`.
    predictions : sequence, optional
        One per row, for adapters that select the predicted class.
    X : array or table, optional
        The rows, for the names of their columns.
    classes : sequence, optional
        The labels in the order of the model's scores.
    adapter : str, optional
        The name of an adapter, or "name:param=value,…". By default the adapter for objects of this type; an
        adapter of texts or codes, such as "rule-texts", is used only if it is named.
    **params
        Parameters of the adapter.

    Returns
    -------
    Explanations

    Examples
    --------
    >>> import faithkit
    >>> explanations = faithkit.plugin.adapt([{"age": 0.4}, {"age": 0.1, "job": -0.3}])
    >>> explanations.kind, explanations.shared["names"], explanations.values.tolist()
    ('vector', ['age', 'job'], [[0.4, 0.0], [0.1, -0.3]])
    """
    check_row_order({"explanations": explanations, "predictions": predictions, "X": X})
    rows = as_rows(X)
    context = RowContext(
        n=None if rows is None else n_rows(rows),
        predict=None if predictions is None else lambda: as_column(predictions),
        classes=classes,
        features=feature_names_or_none(rows),
        X=rows,
    )
    if adapter is None or adapter == NO_ADAPTER:
        entry = find_adapter(explanations)
    else:
        name, written_params = parse_spec(adapter)
        entry, params = registry().find("adapter", name), {**written_params, **params}
    if entry is not None and is_text_adapter(entry):
        return read_with(TextAdapter.of(entry, params), explanations, context)
    if entry is not None and not takes(entry, explanations):
        raise InputError(
            f"{entry} takes {join_words(entry.component.types)}, no {type(explanations).__name__}."
        )
    if entry is not None:
        return _adapt_explanations(entry, explanations, context, params)
    if params:
        raise InputError(
            f"explanations of type {type(explanations).__name__} need no adapter, which {join_few(params)} "
            "would be for."
        )
    return as_explanations(explanations, context)


def read_with(adapter: TextAdapter, values: Any, context: RowContext) -> Explanations:
    """Read the texts or codes of all rows with an adapter of texts.

    Parameters
    ----------
    adapter : TextAdapter
    values : object
        Columns of texts or codes, in a form that `adapt` takes.
    context : RowContext
    """
    columns = _as_columns(values.values if isinstance(values, Explanations) else values)
    n = len(columns)
    if context.n not in (None, n):
        raise InputError(f"{n} explanations for {context.n} rows of X: give one of each per row.")
    if not adapter.reads_distinct_texts:
        return adapter.read(columns, attrs.evolve(context, n=n))
    explanations = as_explanations(values, context)
    if distinct_texts(explanations) is None:
        raise InputError(
            f"{adapter.entry} reads one column of texts, and these explanations are of kind "
            f"{explanations.kind!r}: name the column that has the texts."
        )
    learnt = adapter if context.X is None else adapter.learn_from([context.X])
    return learnt.read_texts(explanations, context.X)


def _as_columns(values: Any) -> list[Any] | pd.DataFrame:
    """Return one column as a list, with None for missing values, or several as a table."""
    values = as_rows(values, texts=False)
    if isinstance(values, np.ndarray) and values.ndim == 2:
        values = as_table(values)
    if isinstance(values, pd.DataFrame) and values.shape[1] > 1:
        return values
    return list(as_objects(values.iloc[:, 0] if isinstance(values, pd.DataFrame) else values))


def as_explanations(values: Any, context: RowContext | None = None) -> Explanations:
    """Convert a table, a list of hashables or of dicts, or an adapter's object to explanations.

    A row without any value, such as a row of NaN, has no explanation.

    Examples
    --------
    >>> as_explanations([("age", "sex"), ("age",)]).kind
    'value'
    >>> as_explanations([[0.5, np.nan], [np.nan, np.nan]]).missing
    array([False,  True])
    """
    if isinstance(values, Explanations):
        return values
    entry = find_adapter(values)
    if entry is not None:
        return _adapt_explanations(entry, values, context or RowContext(), {})
    explanations = _convert(values, context)
    if 0 in explanations.values.shape[1:] and not explanations.missing.all():
        raise InputError(
            f"the explanations have shape {explanations.values.shape}: no columns; expected at least one."
        )
    return explanations


def _convert(values: Any, context: RowContext | None) -> Explanations:
    values = strip_mask(as_rows(values, texts=False), "the explanations")
    values = values.toarray() if issparse(values) else values
    if isinstance(values, pd.Series):
        is_numeric = isinstance(values.dtype, np.dtype) and values.dtype.kind in "biuf"
        values = values.to_numpy() if is_numeric else as_objects(values)
    if isinstance(values, pd.DataFrame):
        return _from_frame(values, context)
    if isinstance(values, np.ndarray):
        return _from_array(values, context)
    if not isinstance(values, Iterable) or isinstance(values, str | bytes | dict | set | frozenset):
        raise InputError(
            f"explanations of type {type(values).__name__} are not understood: give a 2-D array, a "
            "DataFrame, a list of hashable values, of {feature: weight} or of (feature, weight) pairs, or "
            "Explanations."
        )
    items = list(values)
    shapes = {item.shape if isinstance(item, np.ndarray) else () for item in items}
    if len(shapes) == 1 and len(min(shapes)) > 1:  # a list of maps
        return _from_array(np.stack(items), context)
    return from_list(items, context)


def _adapt_explanations(
    entry: Entry, values: Any, context: RowContext, params: dict[str, Any]
) -> Explanations:
    """Convert an object, or the items of a list that are not missing, with an adapter."""
    values = values.tolist() if isinstance(values, np.ndarray | pd.Series) else values
    if not isinstance(values, list):
        return _adapt_present(entry, values, context, params)
    if context.n not in (None, len(values)):
        raise InputError(f"{len(values)} explanations for {context.n} rows of X: give one of each per row.")
    rows = [row for row, item in enumerate(values) if not is_missing(item)]
    if len(rows) == len(values):
        return _adapt_present(entry, values, attrs.evolve(context, n=len(values)), params)
    explanations = _adapt_present(entry, [values[row] for row in rows], context.at(rows), params)
    return explanations.spread(np.array(rows), len(values), np.full(len(values), None))


def _adapt_present(entry: Entry, values: Any, context: RowContext, params: dict[str, Any]) -> Explanations:
    """Convert an object, or a list without missing items, and check that there is one explanation per row."""
    explanations = adapt_with(entry, values, "explanations", context, params)
    if not isinstance(explanations, Explanations):
        raise InputError(
            f"{entry} does not take a {type(values).__name__} as explanations: give what it says of each row."
        )
    if context.n is not None and len(explanations) != context.n:
        raise ContractError(
            f"{entry} made {len(explanations)} explanations for {context.n} rows; expected one each."
        )
    return explanations


def _from_frame(frame: pd.DataFrame, context: RowContext | None = None) -> Explanations:
    check_distinct_names(frame, "the table of explanations")
    shared = {"names": [str(name) for name in frame.columns]}
    if are_numbers(frame):
        return from_numbers(frame, shared)
    if frame.shape[1] == 1:
        explanations = as_explanations(frame.iloc[:, 0], context)
        is_vector = explanations.kind == "vector"
        return explanations if is_vector else attrs.evolve(explanations, shared=shared)
    values = frame.reset_index(drop=True)
    return Explanations(kind="value", values=values, missing=values.isna().all(axis=1), shared=shared)


def _from_array(array: NDArray[Any], context: RowContext | None = None) -> Explanations:
    if array.ndim == 2 and array.dtype.kind in "biuf":
        return Explanations.vectors(array)
    if array.ndim == 2:
        return _from_frame(as_table(array))
    if array.ndim == 1:
        return from_list(array.tolist(), context)
    X = context.X if context is not None else None
    if isinstance(X, np.ndarray) and X.shape == array.shape and array.dtype.kind in "biuf":  # a map per image
        return Explanations.vectors(array.reshape(len(array), -1), shared={"names": feature_names_or_none(X)})
    if isinstance(X, np.ndarray) and X.ndim > 2:
        raise InputError(
            f"explanations of shape {array.shape} for an X of shape {X.shape} are not understood: give a "
            "number for each value of X, or a row of numbers for each image, maps.reshape(len(maps), -1); of "
            "several classes, those of the predicted one."
        )
    class_hint = " Of several classes, give the numbers of one: values[:, :, k]." if array.ndim == 3 else ""
    raise InputError(
        f"explanations in a {array.ndim}-D array are not understood: give one row per instance.{class_hint}"
    )
